// SPDX-License-Identifier: GPL-2.0-only
/*
 * GPU address spaces, and the BOs that own their ranges.
 *
 * A mapping ties a BO to an address space.  All handles that one file has for
 * the BO hold one reference to it, and so does each job that lists the BO; when the
 * last reference goes, the driver removes the page-table entries, then the range,
 * and then the BO may die.
 */
#include <linux/slab.h>
#include <drm/drm_drv.h>

#include "agate_backing.h"
#include "agate_device.h"
#include "agate_gem.h"
#include "agate_lock_order.h"
#include "agate_mmu.h"
#include "agate_reset.h"
#include "agate_vm.h"

static void vm_free(struct agate_parked *parked)
{
	struct agate_vm *vm = container_of(parked, struct agate_vm, parked);

	/*
	 * Check the table, not the topic: the topic may have ended since, but the
	 * table remains.
	 */
	if (vm->as.pgt.root)
		agate_mmu_vm_fini(vm);
	drm_mm_takedown(&vm->mm);
	mutex_destroy(&vm->lock);
	agate_stat_dec(&vm->adev->stats, AGATE_STAT_VMS);
	kfree(vm);
}

/* Free the tables only when the GPU cannot walk them. */
static void vm_release(struct kref *ref)
{
	struct agate_vm *vm = container_of(ref, struct agate_vm, ref);
	struct dma_fence *reset = NULL;

	if (vm->as.pgt.root && agate_mmu_vm_leave(vm))
		reset = agate_reset_fence(vm->adev);
	if (reset)
		agate_park(vm->adev, &vm->parked, reset, vm_free);
	else
		vm_free(&vm->parked);
}

void agate_vm_put(struct agate_vm *vm)
{
	kref_put(&vm->ref, vm_release);
}

struct agate_vm *agate_vm_create(struct agate_device *adev)
{
	struct agate_vm *vm;
	int ret;

	vm = kzalloc(sizeof(*vm), GFP_KERNEL_ACCOUNT);
	if (!vm)
		return ERR_PTR(-ENOMEM);
	kref_init(&vm->ref);
	vm->adev = adev;
	if (agate_topic_present(adev, AGATE_FEATURE_MMU)) {
		ret = agate_mmu_vm_init(vm);
		if (ret) {
			kfree(vm);
			return ERR_PTR(ret);
		}
	}
	mutex_init(&vm->lock);
	agate_lock_class(&vm->lock, AGATE_LOCK_VM);
	drm_mm_init(&vm->mm, AGATE_VA_START >> PAGE_SHIFT,
		    (AGATE_VA_END - AGATE_VA_START) >> PAGE_SHIFT);
	agate_stat_inc(&adev->stats, AGATE_STAT_VMS);
	return vm;
}

struct agate_vm *agate_vm_get(struct agate_vm *vm)
{
	kref_get(&vm->ref);
	return vm;
}

/* ---- Mappings --------------------------------------------------------- */

u32 agate_mapping_prot(const struct agate_mapping *mapping)
{
	u32 prot = AGATE_PROT_READ;

	if (!(mapping->bo->flags & AGATE_BO_GPU_READONLY))
		prot |= AGATE_PROT_WRITE;
	if (mapping->bo->flags & AGATE_BO_NOEXEC)
		prot |= AGATE_PROT_NOEXEC;
	return prot;
}

/* Align large BOs so that the page table can use 2 MiB leaves. */
static u64 alignment_in_pages(const struct agate_bo *bo)
{
	return (agate_bo_size(bo) >= SZ_2M ? SZ_2M : PAGE_SIZE) >> PAGE_SHIFT;
}

static void mapping_free(struct agate_parked *parked)
{
	struct agate_mapping *mapping = container_of(parked, struct agate_mapping, parked);
	struct agate_bo *bo = mapping->bo;
	struct agate_vm *vm = mapping->vm;

	mutex_lock(&vm->lock);
	drm_mm_remove_node(&mapping->node);
	mutex_unlock(&vm->lock);

	agate_stat_dec(&vm->adev->stats, AGATE_STAT_VA_NODES);
	kfree(mapping);
	agate_vm_put(vm);
	agate_bo_put(bo);
}

/* Free the pages, and hand the range to another BO, only when the GPU cannot reach them. */
static void mapping_release(struct kref *ref)
{
	struct agate_mapping *mapping = container_of(ref, struct agate_mapping, ref);
	struct agate_bo *bo = mapping->bo;
	struct agate_vm *vm = mapping->vm;
	struct dma_fence *reset = NULL;
	int ret = 0;

	mutex_lock(&bo->mappings_lock);
	list_del(&mapping->link);
	if (mapping->active) {
		mutex_lock(&vm->lock);
		ret = agate_mmu_unmap(vm, agate_mapping_va(mapping), agate_bo_size(bo));
		mutex_unlock(&vm->lock);
	}
	mutex_unlock(&bo->mappings_lock);

	if (ret)
		reset = agate_reset_fence(vm->adev);
	if (reset)
		agate_park(vm->adev, &mapping->parked, reset, mapping_free);
	else
		mapping_free(&mapping->parked);
}

static struct agate_mapping *mapping_create(struct agate_vm *vm, struct agate_bo *bo)
{
	struct agate_mapping *mapping;
	int ret;

	mapping = kzalloc(sizeof(*mapping), GFP_KERNEL_ACCOUNT);
	if (!mapping)
		return ERR_PTR(-ENOMEM);
	kref_init(&mapping->ref);

	mutex_lock(&vm->lock);
	ret = drm_mm_insert_node_generic(&vm->mm, &mapping->node,
					 agate_bo_size(bo) >> PAGE_SHIFT,
					 alignment_in_pages(bo), 0, DRM_MM_INSERT_BEST);
	if (!ret) {
		mapping->vm = agate_vm_get(vm);
		mapping->bo = bo;
		drm_gem_object_get(&bo->base);
	}
	mutex_unlock(&vm->lock);
	if (ret) {
		kfree(mapping);
		return ERR_PTR(ret);
	}
	agate_stat_inc(&vm->adev->stats, AGATE_STAT_VA_NODES);
	return mapping;
}

void agate_mapping_put(struct agate_mapping *mapping)
{
	kref_put(&mapping->ref, mapping_release);
}

/* A mapping that still lives, with a reference. */
static struct agate_mapping *mapping_find(struct agate_vm *vm, struct agate_bo *bo)
{
	struct agate_mapping *mapping;

	lockdep_assert_held(&bo->mappings_lock);
	list_for_each_entry(mapping, &bo->mappings, link) {
		if (mapping->vm == vm && kref_get_unless_zero(&mapping->ref))
			return mapping;
	}
	return NULL;
}

int agate_vm_open_bo(struct agate_vm *vm, struct agate_bo *bo)
{
	struct agate_mapping *mapping;
	struct agate_mapping *extra = NULL;

	mutex_lock(&bo->mappings_lock);
	mapping = mapping_find(vm, bo);
	if (!mapping) {
		mapping = mapping_create(vm, bo);
		if (IS_ERR(mapping)) {
			mutex_unlock(&bo->mappings_lock);
			return PTR_ERR(mapping);
		}
		list_add(&mapping->link, &bo->mappings);
	} else if (mapping->handles) {
		/* The first handle's reference counts for all handles. */
		extra = mapping;
	}
	mapping->handles++;
	mutex_unlock(&bo->mappings_lock);
	if (extra)
		agate_mapping_put(extra);
	return 0;
}

/*
 * The file has closed its last handle.  Jobs that have ended may still hold the
 * mapping, so do not wait for its release: remove the entries now, so that no later
 * job reaches the BO.  While a job uses the BO, or when the removal fails, the
 * entries stay until mapping_free().  A submit that found the mapping before the
 * close, and does not yet count in gpu_users, maps the BO again.
 */
static void mapping_deactivate(struct agate_mapping *mapping)
{
	struct agate_bo *bo = mapping->bo;
	struct agate_vm *vm = mapping->vm;

	lockdep_assert_held(&bo->mappings_lock);
	if (!mapping->active || atomic_read(&bo->gpu_users))
		return;
	mutex_lock(&vm->lock);
	if (!agate_mmu_unmap(vm, agate_mapping_va(mapping), agate_bo_size(bo)))
		mapping->active = false;
	mutex_unlock(&vm->lock);
}

void agate_vm_close_bo(struct agate_vm *vm, struct agate_bo *bo)
{
	struct agate_mapping *mapping;
	bool last = false;

	mutex_lock(&bo->mappings_lock);
	mapping = mapping_find(vm, bo);
	if (mapping)
		last = --mapping->handles == 0;
	if (last)
		mapping_deactivate(mapping);
	mutex_unlock(&bo->mappings_lock);
	if (WARN_ON(!mapping))
		return;
	if (last)
		agate_mapping_put(mapping);
	agate_mapping_put(mapping);
}

struct agate_mapping *agate_vm_find(struct agate_vm *vm, struct agate_bo *bo)
{
	struct agate_mapping *mapping;
	bool closed = false;

	mutex_lock(&bo->mappings_lock);
	mapping = mapping_find(vm, bo);
	if (mapping)
		closed = !mapping->handles;
	mutex_unlock(&bo->mappings_lock);
	if (closed) {
		/* Only jobs hold the mapping: for the file it is gone. */
		agate_mapping_put(mapping);
		mapping = NULL;
	}
	return mapping;
}

/* ---- Entries ---------------------------------------------------------- */

static int mapping_activate(struct agate_mapping *mapping)
{
	struct agate_bo *bo = mapping->bo;
	struct agate_vm *vm = mapping->vm;
	struct agate_runs runs;
	int ret;

	ret = agate_backing_populate(bo, 0, agate_bo_size(bo), &runs);
	if (ret)
		return ret;

	mutex_lock(&bo->mappings_lock);
	if (!mapping->active) {
		mutex_lock(&vm->lock);
		ret = agate_mmu_map_runs(vm, agate_mapping_va(mapping), runs,
					 agate_mapping_prot(mapping));
		mutex_unlock(&vm->lock);
		mapping->active = !ret;
	}
	mutex_unlock(&bo->mappings_lock);
	return ret;
}

int agate_mapping_populate(struct agate_mapping *mapping)
{
	int ret;
	int idx;

	/* Its memory comes later, but not after a purge. */
	if (agate_backing_is(mapping->bo, AGATE_BACKING_GROWS))
		return agate_backing_check(mapping->bo);
	if (!drm_dev_enter(&mapping->vm->adev->drm, &idx))
		return -ENODEV;
	ret = mapping_activate(mapping);
	drm_dev_exit(idx);
	return ret;
}

bool agate_vm_try_teardown_bo(struct agate_bo *bo)
{
	struct agate_device *adev = to_agate_device(bo->base.dev);
	struct agate_mapping *mapping;
	int ret;

	lockdep_assert_held(&bo->mappings_lock);
	if (atomic_read(&adev->reset.pending))
		return false;
	list_for_each_entry(mapping, &bo->mappings, link) {
		if (!mapping->active)
			continue;
		if (!mutex_trylock(&mapping->vm->lock))
			return false;
		ret = agate_mmu_unmap(mapping->vm, agate_mapping_va(mapping), agate_bo_size(bo));
		mutex_unlock(&mapping->vm->lock);
		if (ret == -ENOMEM)
			return false;
		mapping->active = false;
		if (ret)
			return false;
	}
	return true;
}
