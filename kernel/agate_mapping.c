// SPDX-License-Identifier: GPL-2.0-only
/*
 * The memory and the page-table entries of a mapping: see agate_vm.h.
 */
#include <linux/minmax.h>
#include <drm/drm_drv.h>

#include "agate_backing.h"
#include "agate_device.h"
#include "agate_fault_vm.h"
#include "agate_gem.h"
#include "agate_mmu.h"
#include "agate_reset.h"
#include "agate_table.h"
#include "agate_vm.h"
#include "agate_vm_bind.h"
#include "agate_vm_pt.h"

static int mapping_insert(struct agate_mapping *mapping, struct agate_runs runs,
			  struct agate_table_reserve *reserve)
{
	struct agate_bo *bo = mapping->vm_bo->bo;
	struct agate_vm *vm = mapping->vm_bo->vm;
	int ret = 0;

	mutex_lock(&bo->mappings_lock);
	if (!mapping->active) {
		mutex_lock(&vm->pt_lock);
		ret = agate_mmu_map_runs(vm, agate_mapping_va(mapping), runs, mapping->prot,
					 reserve);
		mutex_unlock(&vm->pt_lock);
		mapping->active = !ret;
	}
	mutex_unlock(&bo->mappings_lock);
	return ret;
}

/* The kernel had no page at once: wait for all that may be necessary, without a lock. */
static int mapping_insert_patiently(struct agate_mapping *mapping, struct agate_runs runs)
{
	struct agate_vm *vm = mapping->vm_bo->vm;
	struct agate_table_reserve reserve;
	int ret;

	agate_table_reserve_init(&reserve);
	ret = agate_table_reserve_fill(vm, &reserve, agate_mapping_va(mapping), mapping->size);
	if (!ret)
		ret = mapping_insert(mapping, runs, &reserve);
	agate_table_reserve_drain(vm, &reserve);
	return ret;
}

static int mapping_activate(struct agate_mapping *mapping)
{
	struct agate_runs runs;
	int ret;

	ret = agate_backing_populate(mapping->vm_bo->bo, mapping->offset, mapping->size, &runs);
	if (ret)
		return ret;
	ret = mapping_insert(mapping, runs, NULL);
	if (ret == -ENOMEM)
		ret = mapping_insert_patiently(mapping, runs);
	return ret;
}

/* All chunks of a mapping lie at addresses that differ by a multiple of their size. */
static int mapping_reserve(struct agate_mapping *mapping)
{
	int ret;

	ret = agate_backing_reserve(mapping->vm_bo->bo);
	if (ret)
		return ret;
	return agate_table_reserve_fill(mapping->vm_bo->vm, &mapping->tables,
					agate_mapping_va(mapping),
					min_t(u64, mapping->size, AGATE_HEAP_CHUNK));
}

int agate_mapping_populate(struct agate_mapping *mapping)
{
	struct agate_vm_bo *vm_bo = mapping->vm_bo;
	int ret;
	int idx;

	if (!drm_dev_enter(&vm_bo->vm->adev->drm, &idx))
		return -ENODEV;
	if (agate_backing_is(vm_bo->bo, AGATE_BACKING_GROWS))
		ret = mapping_reserve(mapping);
	else
		ret = mapping_activate(mapping);
	drm_dev_exit(idx);
	return ret;
}

static bool mapping_try_teardown(struct agate_mapping *mapping)
{
	struct agate_vm *vm = mapping->vm_bo->vm;
	int ret;

	if (!mapping->active)
		return true;
	if (!mutex_trylock(&vm->pt_lock))
		return false;
	ret = agate_mmu_unmap(vm, agate_mapping_va(mapping), mapping->size);
	mutex_unlock(&vm->pt_lock);
	if (ret != -ENOMEM)
		mapping->active = false;
	return !ret;
}

bool agate_vm_try_teardown_bo(struct agate_bo *bo)
{
	struct agate_device *adev = to_agate_device(bo->base.dev);
	struct agate_mapping *mapping;
	struct agate_vm_bo *vm_bo;

	lockdep_assert_held(&bo->mappings_lock);
	if (atomic_read(&adev->reset.pending))
		return false;
	list_for_each_entry(vm_bo, &bo->vm_bos, link) {
		list_for_each_entry(mapping, &vm_bo->mappings, link) {
			if (!mapping_try_teardown(mapping))
				return false;
		}
	}
	return true;
}

/* The tables stay, for those who bring the entries back, and for changes that wait in a queue. */
static int mapping_zap(struct agate_mapping *mapping)
{
	struct agate_vm *vm = mapping->vm_bo->vm;
	int locked, ret;

	locked = agate_mmu_lock_region(vm, agate_mapping_va(mapping), mapping->size);
	agate_pt_zap(&vm->as.pgt, agate_mapping_va(mapping), mapping->size);
	ret = agate_mmu_unlock_region(vm, AS_COMMAND_FLUSH_MEM);
	return locked ? locked : ret;
}

/* Return: the GPU did not answer: it may still reach the memory, until it is reset. */
static bool mapping_teardown(struct agate_mapping *mapping)
{
	struct agate_vm *vm = mapping->vm_bo->vm;
	int ret;

	if (!mapping->active)
		return false;
	mutex_lock(&vm->pt_lock);
	if (vm->as.staged)
		ret = mapping_zap(mapping);
	else
		ret = agate_mmu_unmap(vm, agate_mapping_va(mapping), mapping->size);
	mutex_unlock(&vm->pt_lock);
	mapping->active = false;
	return ret;
}

static bool teardown_all(struct agate_bo *bo)
{
	struct agate_mapping *mapping;
	struct agate_vm_bo *vm_bo;
	bool left = false;

	mutex_lock(&bo->mappings_lock);
	list_for_each_entry(vm_bo, &bo->vm_bos, link) {
		list_for_each_entry(mapping, &vm_bo->mappings, link)
			left |= mapping_teardown(mapping);
		if (agate_vm_is_bound(vm_bo->vm) && !agate_vm_faults(vm_bo->vm))
			agate_vm_bo_moved(vm_bo);
	}
	mutex_unlock(&bo->mappings_lock);
	return left;
}

static void wait_for_reset(struct agate_bo *bo)
{
	struct dma_fence *reset = agate_reset_fence(to_agate_device(bo->base.dev));

	if (reset)
		dma_fence_wait(reset, false);
	dma_fence_put(reset);
}

void agate_vm_zap_userptr(struct agate_bo *bo)
{
	struct agate_mapping *mapping;
	struct agate_vm_bo *vm_bo;
	bool left = false;

	mutex_lock(&bo->mappings_lock);
	list_for_each_entry(vm_bo, &bo->vm_bos, link) {
		if (!agate_vm_faults(vm_bo->vm))
			continue;
		list_for_each_entry(mapping, &vm_bo->mappings, link)
			left |= mapping_teardown(mapping);
	}
	mutex_unlock(&bo->mappings_lock);
	if (left)
		wait_for_reset(bo);
}

/*
 * No block lies in two mappings: those that the owner of an address space has cut in two are
 * split by then, because a change has its fence in the BO's reservation.  So this cannot fail.
 */
void agate_vm_teardown_bo(struct agate_bo *bo)
{
	dma_resv_assert_held(bo->base.resv);

	if (teardown_all(bo))
		wait_for_reset(bo);
}
