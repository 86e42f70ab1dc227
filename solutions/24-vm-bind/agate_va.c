// SPDX-License-Identifier: GPL-2.0-only
/*
 * The records of an address space whose owner chooses the ranges: what a change takes away,
 * what stays beside it, and what it adds.
 *
 * The contract is agate_vm_bind.h.  The same source compiles for host tests.
 */
#include <linux/slab.h>
#include <drm/drm_mm.h>

#include "agate_bind.h"
#include "agate_device.h"
#include "agate_gem.h"
#include "agate_vm.h"
#include "agate_vm_bind.h"

static u64 end_of(const struct agate_mapping *mapping)
{
	return agate_mapping_va(mapping) + mapping->size;
}

/* @part becomes what @whole has from @addr to @end. */
static void cut(struct agate_mapping *part, const struct agate_mapping *whole, u64 addr, u64 end)
{
	part->vm_bo = whole->vm_bo;
	part->node.start = addr >> PAGE_SHIFT;
	part->node.size = (end - addr) >> PAGE_SHIFT;
	part->offset = whole->offset + (addr - agate_mapping_va(whole));
	part->size = end - addr;
	part->prot = whole->prot;
}

void agate_va_split(struct agate_vm *vm, u64 addr, u64 range, struct agate_va_steps *steps)
{
	u64 end = addr + range;
	struct drm_mm_node *node;

	lockdep_assert_held_write(&vm->lock);

	drm_mm_for_each_node_in_range(node, &vm->mm, addr >> PAGE_SHIFT, end >> PAGE_SHIFT) {
		struct agate_mapping *old = container_of(node, struct agate_mapping, node);

		list_add_tail(&old->step, &steps->drop);
		if (agate_mapping_va(old) < addr)
			cut(steps->left, old, agate_mapping_va(old), addr);
		if (end_of(old) > end)
			cut(steps->right, old, end, end_of(old));
	}
}

/* Nothing is there, so the range is free. */
static void range_insert(struct agate_vm *vm, struct agate_mapping *mapping)
{
	WARN_ON(drm_mm_reserve_node(&vm->mm, &mapping->node));
	agate_stat_inc(&vm->adev->stats, AGATE_STAT_VA_NODES);
}

static void range_remove(struct agate_vm *vm, struct agate_mapping *mapping)
{
	drm_mm_remove_node(&mapping->node);
	agate_stat_dec(&vm->adev->stats, AGATE_STAT_VA_NODES);
}

static void record_insert(struct agate_mapping *mapping)
{
	struct agate_bo *bo = mapping->vm_bo->bo;

	mutex_lock(&bo->mappings_lock);
	list_add(&mapping->link, &mapping->vm_bo->mappings);
	mutex_unlock(&bo->mappings_lock);
}

/*
 * A part keeps its BO's record as the whole did, and has entries if the whole has.  An eviction, or
 * the notifier of a process's memory, may take them from the whole until both are exchanged.
 */
static void part_take_over(struct agate_mapping *part, const struct agate_mapping *whole)
{
	if (!part->vm_bo)
		return;
	kref_get(&part->vm_bo->ref);
	part->active = whole->active;
	list_add(&part->link, &part->vm_bo->mappings);
}

static void record_replace(struct agate_mapping *whole, struct agate_va_steps *steps)
{
	struct agate_bo *bo = whole->vm_bo->bo;

	mutex_lock(&bo->mappings_lock);
	list_del(&whole->link);
	if (list_is_first(&whole->step, &steps->drop))
		part_take_over(steps->left, whole);
	if (list_is_last(&whole->step, &steps->drop))
		part_take_over(steps->right, whole);
	mutex_unlock(&bo->mappings_lock);
}

static void part_insert(struct agate_vm *vm, struct agate_mapping **part)
{
	if ((*part)->vm_bo)
		range_insert(vm, *part);
	else
		kfree(*part);
	*part = NULL;
}

void agate_va_apply(struct agate_vm *vm, struct agate_va_steps *steps)
{
	struct agate_mapping *mapping;

	lockdep_assert_held_write(&vm->lock);

	list_for_each_entry(mapping, &steps->drop, step) {
		range_remove(vm, mapping);
		record_replace(mapping, steps);
	}
	part_insert(vm, &steps->left);
	part_insert(vm, &steps->right);
	if (steps->add) {
		range_insert(vm, steps->add);
		record_insert(steps->add);
	}
}
