// SPDX-License-Identifier: MIT
/* The kernel around the records; see fake_mm.h. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "agate_vm.h"

int fake_live;

bool fake_warn(bool wrong, const char *what)
{
	if (wrong)
		fail_msg("WARN_ON(%s)", what);
	return wrong;
}

void *fake_alloc(size_t size)
{
	fake_live++;
	return calloc(1, size);
}

void kfree(const void *memory)
{
	fake_live -= memory != NULL;
	free((void *)memory);
}

void kref_get(struct kref *ref)
{
	const struct agate_vm_bo *vm_bo = container_of(ref, struct agate_vm_bo, ref);

	if (!ref->refs)
		fail_msg("a reference to a record that is freed");
	if (!vm_bo->bo->mappings_lock.locked)
		fail_msg("a record gets a mapping without mappings_lock");
	ref->refs++;
}

/* Only the holder of vm->lock for writing changes what is bound. */
static void assert_written(const struct drm_mm *mm)
{
	if (!container_of(mm, struct agate_vm, mm)->lock.written)
		fail_msg("a range changes without vm->lock");
}

int drm_mm_reserve_node(struct drm_mm *mm, struct drm_mm_node *node)
{
	struct drm_mm_node *pos;

	assert_written(mm);
	assert_false(node->allocated);
	if (!node->size || node->start < mm->start || node->size > mm->end - node->start)
		return -ENOSPC;
	list_for_each_entry(pos, &mm->nodes, node_list) {
		if (pos->start >= node->start + node->size)
			break;
		if (pos->start + pos->size > node->start)
			return -ENOSPC;
	}
	list_add_tail(&node->node_list, &pos->node_list);
	node->allocated = true;
	return 0;
}

void drm_mm_remove_node(struct drm_mm_node *node)
{
	if (!node->allocated)
		fail_msg("a range is given back twice");
	list_del(&node->node_list);
	node->allocated = false;
}

static struct drm_mm_node *node_at(const struct drm_mm *mm, struct list_head *link)
{
	return link == &mm->nodes ? NULL : list_entry(link, struct drm_mm_node, node_list);
}

struct drm_mm_node *fake_next_node(const struct drm_mm *mm, struct drm_mm_node *node)
{
	return node_at(mm, node->node_list.next);
}

struct drm_mm_node *fake_first_node(const struct drm_mm *mm, u64 start)
{
	struct drm_mm_node *node = node_at(mm, mm->nodes.next);

	while (node && node->start + node->size <= start)
		node = fake_next_node(mm, node);
	return node;
}
