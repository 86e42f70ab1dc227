// SPDX-License-Identifier: MIT
/* An address space, and what it has to be; see va_space.h. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "va_space.h"

void space_init(struct space *space)
{
	unsigned int i;

	memset(space, 0, sizeof(*space));
	fake_live = 0;
	space->vm.adev = &space->adev;
	INIT_LIST_HEAD(&space->vm.mm.nodes);
	space->vm.mm.start = SPACE_START;
	space->vm.mm.end = SPACE_START + SPACE_PAGES;
	for (i = 0; i < SPACE_BOS; i++) {
		struct agate_vm_bo *record = &space->records[i];

		INIT_LIST_HEAD(&space->bos[i].vm_bos);
		INIT_LIST_HEAD(&record->mappings);
		record->vm = &space->vm;
		record->bo = &space->bos[i];
		record->ref.refs = 1;	/* this file's own */
		list_add(&record->link, &space->bos[i].vm_bos);
	}
}

void space_fini(struct space *space)
{
	space_unmap(space, 0, SPACE_PAGES);
	assert_int_equal(fake_live, 0);
}

struct agate_mapping *space_mapping(struct space *space, unsigned int page)
{
	struct drm_mm_node *node = fake_first_node(&space->vm.mm, SPACE_START + page);

	if (!node || node->start > SPACE_START + page)
		return NULL;
	return container_of(node, struct agate_mapping, node);
}

/* ---- Is everything as it has to be? ------------------------------------ */

static unsigned int count_of(const struct list_head *head)
{
	const struct list_head *entry;
	unsigned int count = 0;

	list_for_each(entry, head)
		count++;
	return count;
}

static bool is_in(const struct list_head *link, const struct list_head *head)
{
	const struct list_head *entry;

	list_for_each(entry, head) {
		if (entry == link)
			return true;
	}
	return false;
}

/* The mapping of @page, which begins there, has @count pages. */
static void check_mapping(struct space *space, unsigned int page, unsigned int count)
{
	const struct space_page *is = &space->pages[page];
	struct agate_mapping *mapping = space_mapping(space, page);

	assert_non_null(mapping);
	assert_int_equal(mapping->node.start, SPACE_START + page);
	assert_int_equal(mapping->node.size, count);
	assert_int_equal(mapping->size, (u64)count << PAGE_SHIFT);
	assert_ptr_equal(mapping->vm_bo, &space->records[is->bo]);
	assert_int_equal(mapping->offset, is->offset << PAGE_SHIFT);
	assert_int_equal(mapping->prot, is->prot);
	assert_int_equal(mapping->active, is->active);
	assert_true(is_in(&mapping->link, &mapping->vm_bo->mappings));
}

static void check_records(struct space *space, unsigned int mappings)
{
	unsigned int listed = 0;
	unsigned int i;

	for (i = 0; i < SPACE_BOS; i++) {
		const unsigned int count = count_of(&space->records[i].mappings);

		assert_int_equal(space->records[i].ref.refs, 1 + count);
		assert_false(space->bos[i].mappings_lock.locked);
		listed += count;
	}
	assert_int_equal(listed, mappings);
}

static void check(struct space *space)
{
	const struct space_page *pages = space->pages;
	unsigned int mappings = 0;
	unsigned int page, end;

	for (page = 0; page < SPACE_PAGES; page = end) {
		for (end = page + 1; end < SPACE_PAGES && pages[end].id == pages[page].id; end++)
			;
		if (pages[page].id) {
			check_mapping(space, page, end - page);
			mappings++;
		}
	}
	assert_int_equal(count_of(&space->vm.mm.nodes), mappings);
	assert_int_equal(space->adev.stats.v[AGATE_STAT_VA_NODES].counter, mappings);
	assert_int_equal(fake_live, mappings);
	check_records(space, mappings);
}

/* ---- Changes ------------------------------------------------------------ */

/* All that agate_va_split() must not change of the mappings, which is all but their steps. */
static unsigned int copy_mappings(struct space *space, struct agate_mapping *copies)
{
	struct drm_mm_node *node;
	unsigned int count = 0;

	list_for_each_entry(node, &space->vm.mm.nodes, node_list) {
		memcpy(&copies[count], container_of(node, struct agate_mapping, node),
		       sizeof(copies[0]));
		memset(&copies[count++].step, 0, sizeof(copies[0].step));
	}
	return count;
}

static struct agate_mapping *make_mapping(struct space *space, const struct space_change *change)
{
	struct agate_mapping *mapping = fake_alloc(sizeof(*mapping));

	mapping->vm_bo = &space->records[change->to.bo];
	mapping->vm_bo->ref.refs++;
	mapping->node.start = SPACE_START + change->page;
	mapping->node.size = change->count;
	mapping->offset = change->to.offset << PAGE_SHIFT;
	mapping->size = (u64)change->count << PAGE_SHIFT;
	mapping->prot = change->to.prot;
	mapping->active = change->to.active;
	return mapping;
}

/* The lowest one first, each once, and no other. */
static void check_drop(struct space *space, const struct space_change *change)
{
	struct drm_mm_node *node = fake_first_node(&space->vm.mm, SPACE_START + change->page);
	const u64 end = SPACE_START + change->page + change->count;
	struct agate_mapping *mapping;

	list_for_each_entry(mapping, &space->steps.drop, step) {
		assert_ptr_equal(&mapping->node, node);
		assert_true(node->start < end);
		node = fake_next_node(&space->vm.mm, node);
	}
	assert_true(!node || node->start >= end);
}

void space_begin(struct space *space, const struct space_change *change)
{
	struct agate_mapping before[SPACE_PAGES], after[SPACE_PAGES];
	struct agate_va_steps *steps = &space->steps;
	unsigned int count = copy_mappings(space, before);

	INIT_LIST_HEAD(&steps->drop);
	steps->left = fake_alloc(sizeof(*steps->left));
	steps->right = fake_alloc(sizeof(*steps->right));
	space->vm.lock.written = true;
	agate_va_split(&space->vm, (SPACE_START + change->page) << PAGE_SHIFT,
		       (u64)change->count << PAGE_SHIFT, steps);
	assert_int_equal(copy_mappings(space, after), count);
	assert_memory_equal(before, after, count * sizeof(before[0]));
	check_records(space, count);
	check_drop(space, change);
	steps->add = change->to.id ? make_mapping(space, change) : NULL;
}

/* As VM_BIND does it, a mapping that went leaves its record, and is freed later. */
static void drop_all(struct agate_va_steps *steps)
{
	struct agate_mapping *mapping, *next;

	list_for_each_entry_safe(mapping, next, &steps->drop, step) {
		assert_false(is_in(&mapping->link, &mapping->vm_bo->mappings));
		assert_false(drm_mm_node_allocated(&mapping->node));
		mapping->vm_bo->ref.refs--;
		kfree(mapping);
	}
}

void space_commit(struct space *space, const struct space_change *change)
{
	struct agate_va_steps *steps = &space->steps;
	unsigned int i;

	agate_va_apply(&space->vm, steps);
	drop_all(steps);
	assert_null(steps->left);
	assert_null(steps->right);
	space->vm.lock.written = false;
	space->changes++;
	for (i = 0; i < change->count; i++) {
		struct space_page *page = &space->pages[change->page + i];

		*page = change->to;
		page->id = change->to.id ? space->changes : 0;
		page->offset += i;
	}
	check(space);
}

void space_give_up(struct space *space)
{
	struct agate_va_steps *steps = &space->steps;

	if (steps->add)
		steps->add->vm_bo->ref.refs--;
	kfree(steps->add);
	kfree(steps->left);
	kfree(steps->right);
	space->vm.lock.written = false;
	check(space);
}

void space_set_active(struct space *space, unsigned int page, bool active)
{
	const unsigned int bo = space->pages[page].bo;
	struct agate_mapping *mapping;
	unsigned int i;

	if (!space->pages[page].id)
		return;
	list_for_each_entry(mapping, &space->records[bo].mappings, link)
		mapping->active = active;
	for (i = 0; i < SPACE_PAGES; i++) {
		if (space->pages[i].id && space->pages[i].bo == bo)
			space->pages[i].active = active;
	}
}

void space_map(struct space *space, unsigned int page, unsigned int count, unsigned int bo,
	       u64 offset)
{
	const struct space_change change = {
		.page = page, .count = count,
		.to = { .id = 1, .bo = bo, .offset = offset, .prot = 1 + bo, .active = true },
	};

	space_begin(space, &change);
	space_commit(space, &change);
}

void space_unmap(struct space *space, unsigned int page, unsigned int count)
{
	const struct space_change change = { .page = page, .count = count };

	space_begin(space, &change);
	space_commit(space, &change);
}
