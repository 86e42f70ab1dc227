// SPDX-License-Identifier: GPL-2.0-only
/*
 * GPU address spaces, and the BOs that own their ranges.
 *
 * A record ties a BO to an address space, and a mapping puts a part of the BO at a range
 * of addresses there.  All handles that one file has for the BO hold one reference to the
 * mapping, and so does each job that lists the BO; when the last reference goes, the
 * driver removes the page-table entries, then the range, and then the BO may die.
 */
#include <linux/memcontrol.h>
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
	if (agate_vm_is_bound(vm))
		agate_bind_close(vm);
	if (vm->as.pgt.root)
		agate_mmu_vm_fini(vm);
	drm_mm_takedown(&vm->mm);
	mutex_destroy(&vm->pt_lock);
	agate_stat_dec(&vm->adev->stats, AGATE_STAT_VMS);
	mem_cgroup_put(vm->memcg);
	kfree_rcu(vm, rcu);
}

/* Free the tables only when the GPU cannot walk them. */
static void vm_release(struct kref *ref)
{
	struct agate_vm *vm = container_of(ref, struct agate_vm, ref);
	struct dma_fence *reset = NULL;

	if (vm->as.pgt.root && agate_mmu_vm_leave(vm))
		reset = agate_reset_fence(vm->adev);
	if (reset)
		agate_park(&vm->adev->park, &vm->parked, reset, vm_free);
	else
		vm_free(&vm->parked);
}

void agate_vm_put(struct agate_vm *vm)
{
	kref_put(&vm->ref, vm_release);
}

static struct agate_vm *vm_create(struct agate_device *adev, bool bound)
{
	struct agate_vm *vm;
	int ret;

	vm = kzalloc(sizeof(*vm), GFP_KERNEL_ACCOUNT);
	if (!vm)
		return ERR_PTR(-ENOMEM);
	kref_init(&vm->ref);
	vm->adev = adev;
	vm->as.staged = bound;
	if (agate_topic_present(adev, AGATE_FEATURE_MMU)) {
		ret = agate_mmu_vm_init(vm);
		if (ret) {
			kfree(vm);
			return ERR_PTR(ret);
		}
	}
	vm->memcg = get_mem_cgroup_from_mm(current->mm);
	init_rwsem(&vm->lock);
	agate_lock_class(&vm->lock, AGATE_LOCK_VM);
	mutex_init(&vm->pt_lock);
	agate_lock_class(&vm->pt_lock, AGATE_LOCK_PT);
	drm_mm_init(&vm->mm, AGATE_VA_START >> PAGE_SHIFT,
		    (AGATE_VA_END - AGATE_VA_START) >> PAGE_SHIFT);
	agate_stat_inc(&adev->stats, AGATE_STAT_VMS);
	return vm;
}

struct agate_vm *agate_vm_create(struct agate_device *adev)
{
	return vm_create(adev, false);
}

struct agate_vm *agate_vm_create_bound(struct agate_device *adev, u32 flags)
{
	struct agate_vm *vm = vm_create(adev, true);
	int ret;

	if (IS_ERR(vm))
		return vm;
	ret = agate_bind_open(vm, flags);
	if (!ret)
		return vm;
	agate_vm_put(vm);
	return ERR_PTR(ret);
}

struct agate_vm *agate_vm_get(struct agate_vm *vm)
{
	kref_get(&vm->ref);
	return vm;
}

/* ---- A BO in an address space ------------------------------------------ */

/* Of a file's own address space. */
static void vm_bo_release(struct kref *ref)
{
	struct agate_vm_bo *vm_bo = container_of(ref, struct agate_vm_bo, ref);
	struct agate_bo *bo = vm_bo->bo;

	list_del(&vm_bo->link);
	mutex_unlock(&bo->mappings_lock);
	agate_vm_put(vm_bo->vm);
	kfree(vm_bo);
	drm_gem_object_put(&bo->base);
}

static void vm_bo_put(struct agate_vm_bo *vm_bo)
{
	kref_put_mutex(&vm_bo->ref, vm_bo_release, &vm_bo->bo->mappings_lock);
}

static struct agate_vm_bo *vm_bo_find(struct agate_vm *vm, struct agate_bo *bo)
{
	struct agate_vm_bo *vm_bo;

	lockdep_assert_held(&bo->mappings_lock);
	list_for_each_entry(vm_bo, &bo->vm_bos, link) {
		if (vm_bo->vm == vm)
			return vm_bo;
	}
	return NULL;
}

/* Nobody finds the record before it is on the BO's list. */
static struct agate_vm_bo *vm_bo_create(struct agate_vm *vm, struct agate_bo *bo)
{
	struct agate_vm_bo *vm_bo;

	lockdep_assert_held_write(&vm->lock);
	vm_bo = kzalloc(sizeof(*vm_bo), GFP_KERNEL_ACCOUNT);
	if (!vm_bo)
		return NULL;
	kref_init(&vm_bo->ref);
	vm_bo->vm = agate_vm_get(vm);
	vm_bo->bo = bo;
	drm_gem_object_get(&bo->base);
	INIT_LIST_HEAD(&vm_bo->link);
	INIT_LIST_HEAD(&vm_bo->mappings);
	INIT_LIST_HEAD(&vm_bo->external);
	INIT_LIST_HEAD(&vm_bo->userptr);
	INIT_LIST_HEAD(&vm_bo->evicted);
	return vm_bo;
}

struct agate_vm_bo *agate_vm_bo_obtain(struct agate_vm *vm, struct agate_bo *bo)
{
	const bool external = bo->base.resv != vm->bound.root->resv;
	struct agate_vm_bo *vm_bo;

	lockdep_assert_held_write(&vm->lock);

	mutex_lock(&bo->mappings_lock);
	vm_bo = vm_bo_find(vm, bo);
	if (vm_bo)
		kref_get(&vm_bo->ref);
	mutex_unlock(&bo->mappings_lock);
	if (vm_bo)
		return vm_bo;
	if (external && vm->bound.external_count == AGATE_SUBMIT_MAX_BOS)
		return ERR_PTR(-ENOSPC);
	if (agate_is_userptr(bo) && vm->bound.userptr_count == AGATE_SUBMIT_MAX_BOS)
		return ERR_PTR(-ENOSPC);
	vm_bo = vm_bo_create(vm, bo);
	if (!vm_bo)
		return ERR_PTR(-ENOMEM);
	/* The address space owns the record, and not the other way round. */
	agate_vm_put(vm);
	if (external) {
		list_add_tail(&vm_bo->external, &vm->bound.externals);
		vm->bound.external_count++;
	}
	if (agate_is_userptr(bo)) {
		list_add_tail(&vm_bo->userptr, &vm->bound.userptrs);
		vm->bound.userptr_count++;
	}
	mutex_lock(&bo->mappings_lock);
	list_add(&vm_bo->link, &bo->vm_bos);
	mutex_unlock(&bo->mappings_lock);
	return vm_bo;
}

static void bound_vm_bo_release(struct kref *ref)
{
	struct agate_vm_bo *vm_bo = container_of(ref, struct agate_vm_bo, ref);
	struct agate_bound *bound = &vm_bo->vm->bound;

	list_del(&vm_bo->link);
	mutex_unlock(&vm_bo->bo->mappings_lock);
	if (!list_empty(&vm_bo->external)) {
		list_del(&vm_bo->external);
		bound->external_count--;
	}
	if (!list_empty(&vm_bo->userptr)) {
		list_del(&vm_bo->userptr);
		bound->userptr_count--;
	}
	spin_lock(&bound->evicted_lock);
	list_del(&vm_bo->evicted);
	spin_unlock(&bound->evicted_lock);
	kfree(vm_bo);
}

/* If the record goes, its reference to the BO becomes the caller's. */
struct agate_bo *agate_vm_bo_leave(struct agate_vm_bo *vm_bo)
{
	struct agate_bo *bo = vm_bo->bo;

	lockdep_assert_held_write(&vm_bo->vm->lock);

	if (!kref_put_mutex(&vm_bo->ref, bound_vm_bo_release, &bo->mappings_lock))
		drm_gem_object_get(&bo->base);
	return bo;
}

void agate_vm_bo_put(struct agate_vm_bo *vm_bo)
{
	struct agate_vm *vm = vm_bo->vm;
	struct agate_bo *bo;

	down_write(&vm->lock);
	bo = agate_vm_bo_leave(vm_bo);
	up_write(&vm->lock);
	drm_gem_object_put(&bo->base);
}

/* ---- Mappings --------------------------------------------------------- */

u32 agate_bo_prot(const struct agate_bo *bo)
{
	u32 prot = AGATE_PROT_READ;

	if (!(bo->flags & AGATE_BO_GPU_READONLY))
		prot |= AGATE_PROT_WRITE;
	if (bo->flags & AGATE_BO_NOEXEC)
		prot |= AGATE_PROT_NOEXEC;
	return prot;
}

/* Align large BOs so that the page table can use 2 MiB leaves. */
static u64 alignment_in_pages(const struct agate_bo *bo)
{
	return (agate_bo_size(bo) >= SZ_2M ? SZ_2M : PAGE_SIZE) >> PAGE_SHIFT;
}

static int range_take(struct agate_vm *vm, struct agate_mapping *mapping)
{
	int ret;

	lockdep_assert_held_write(&vm->lock);
	ret = drm_mm_insert_node_generic(&vm->mm, &mapping->node, mapping->size >> PAGE_SHIFT,
					 alignment_in_pages(mapping->vm_bo->bo), 0,
					 DRM_MM_INSERT_BEST);
	if (!ret)
		agate_stat_inc(&vm->adev->stats, AGATE_STAT_VA_NODES);
	return ret;
}

static void range_give_back(struct agate_vm *vm, struct agate_mapping *mapping)
{
	down_write(&vm->lock);
	drm_mm_remove_node(&mapping->node);
	up_write(&vm->lock);
	agate_stat_dec(&vm->adev->stats, AGATE_STAT_VA_NODES);
}

/* The GPU cannot reach the memory when this returns 0. */
static int mapping_unmap(struct agate_mapping *mapping)
{
	struct agate_vm *vm = mapping->vm_bo->vm;
	int ret;

	mutex_lock(&vm->pt_lock);
	ret = agate_mmu_unmap(vm, agate_mapping_va(mapping), mapping->size);
	mutex_unlock(&vm->pt_lock);
	return ret;
}

/* The first mapping of a record is a part of it, and freed with it. */
static void mapping_free_memory(struct agate_mapping *mapping)
{
	if (mapping != &mapping->vm_bo->first)
		kfree(mapping);
}

static void mapping_free(struct agate_parked *parked)
{
	struct agate_mapping *mapping = container_of(parked, struct agate_mapping, parked);
	struct agate_vm_bo *vm_bo = mapping->vm_bo;

	range_give_back(vm_bo->vm, mapping);
	agate_table_reserve_drain(vm_bo->vm, &mapping->tables);
	mapping_free_memory(mapping);
	vm_bo_put(vm_bo);
}

/* Free the pages, and hand the range to another BO, only when the GPU cannot reach them. */
static void mapping_release(struct kref *ref)
{
	struct agate_mapping *mapping = container_of(ref, struct agate_mapping, ref);
	struct agate_vm_bo *vm_bo = mapping->vm_bo;
	struct dma_fence *reset = NULL;
	int ret = 0;

	mutex_lock(&vm_bo->bo->mappings_lock);
	list_del(&mapping->link);
	if (mapping->active)
		ret = mapping_unmap(mapping);
	mutex_unlock(&vm_bo->bo->mappings_lock);

	if (ret)
		reset = agate_reset_fence(vm_bo->vm->adev);
	if (reset)
		agate_park(&vm_bo->vm->adev->park, &mapping->parked, reset, mapping_free);
	else
		mapping_free(&mapping->parked);
}

/*
 * Map the whole BO; the page-table entries come with its first use.  The mapping takes over
 * the caller's reference to the record.
 */
static int mapping_init(struct agate_mapping *mapping, struct agate_vm_bo *vm_bo)
{
	kref_init(&mapping->ref);
	mapping->vm_bo = vm_bo;
	mapping->size = agate_bo_size(vm_bo->bo);
	mapping->prot = agate_bo_prot(vm_bo->bo);
	agate_table_reserve_init(&mapping->tables);
	return range_take(vm_bo->vm, mapping);
}

void agate_mapping_put(struct agate_mapping *mapping)
{
	kref_put(&mapping->ref, mapping_release);
}

/* A mapping that still lives, with a reference. */
static struct agate_mapping *mapping_find(struct agate_vm_bo *vm_bo)
{
	struct agate_mapping *mapping;

	lockdep_assert_held(&vm_bo->bo->mappings_lock);
	list_for_each_entry(mapping, &vm_bo->mappings, link) {
		if (kref_get_unless_zero(&mapping->ref))
			return mapping;
	}
	return NULL;
}

/*
 * Count a handle, if there is a mapping for it.  The first handle's reference to the mapping
 * counts for all handles: a later one leaves a reference in @extra, which the caller puts.
 */
static bool vm_bo_count_handle(struct agate_vm_bo *vm_bo, struct agate_mapping **extra)
{
	struct agate_mapping *mapping = mapping_find(vm_bo);

	if (mapping && vm_bo->handles)
		*extra = mapping;
	if (mapping)
		vm_bo->handles++;
	return mapping;
}

/*
 * The first handle: nobody has found the BO in this address space so far, unless @old, of
 * which the caller has a reference, still keeps a mapping that ends.
 */
static int vm_bo_first_handle(struct agate_vm *vm, struct agate_bo *bo, struct agate_vm_bo *old)
{
	struct agate_vm_bo *vm_bo = old ? old : vm_bo_create(vm, bo);
	struct agate_mapping *mapping;
	int ret = -ENOMEM;

	if (!vm_bo)
		return -ENOMEM;
	mapping = old ? kzalloc(sizeof(*mapping), GFP_KERNEL_ACCOUNT) : &vm_bo->first;
	if (mapping)
		ret = mapping_init(mapping, vm_bo);
	if (ret) {
		if (mapping)
			mapping_free_memory(mapping);
		vm_bo_put(vm_bo);
		return ret;
	}
	mutex_lock(&bo->mappings_lock);
	if (!old)
		list_add(&vm_bo->link, &bo->vm_bos);
	list_add(&mapping->link, &vm_bo->mappings);
	vm_bo->handles++;
	mutex_unlock(&bo->mappings_lock);
	return 0;
}

/*
 * Count a handle if the BO has a mapping.  Otherwise return false, and in @old the record of
 * one that ends, if there is one, with a reference.
 *
 * vm->lock keeps others from making a record for this address space: if the list is empty, as
 * it is for each new BO, there is none to look for.
 */
static bool vm_bo_count_again(struct agate_vm *vm, struct agate_bo *bo, struct agate_vm_bo **old,
			      struct agate_mapping **extra)
{
	struct agate_vm_bo *vm_bo;
	bool counted;

	lockdep_assert_held_write(&vm->lock);

	*old = NULL;
	if (list_empty(&bo->vm_bos))
		return false;
	mutex_lock(&bo->mappings_lock);
	vm_bo = vm_bo_find(vm, bo);
	counted = vm_bo && vm_bo_count_handle(vm_bo, extra);
	if (vm_bo && !counted) {
		kref_get(&vm_bo->ref);
		*old = vm_bo;
	}
	mutex_unlock(&bo->mappings_lock);
	return counted;
}

/* vm->lock keeps others from making a second record. */
int agate_vm_open_bo(struct agate_vm *vm, struct agate_bo *bo)
{
	struct agate_mapping *extra = NULL;
	struct agate_vm_bo *old;
	int ret = 0;

	if (bo->flags & AGATE_BO_NO_VA)
		return 0;
	down_write(&vm->lock);
	if (!vm_bo_count_again(vm, bo, &old, &extra))
		ret = vm_bo_first_handle(vm, bo, old);
	up_write(&vm->lock);
	if (extra)
		agate_mapping_put(extra);
	return ret;
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
	struct agate_bo *bo = mapping->vm_bo->bo;

	lockdep_assert_held(&bo->mappings_lock);
	if (!mapping->active || atomic_read(&bo->gpu_users))
		return;
	if (!mapping_unmap(mapping))
		mapping->active = false;
}

void agate_vm_close_bo(struct agate_vm *vm, struct agate_bo *bo)
{
	struct agate_mapping *mapping = NULL;
	struct agate_vm_bo *vm_bo;
	bool last = false;

	if (bo->flags & AGATE_BO_NO_VA)
		return;
	mutex_lock(&bo->mappings_lock);
	vm_bo = vm_bo_find(vm, bo);
	if (vm_bo)
		mapping = mapping_find(vm_bo);
	if (mapping)
		last = --vm_bo->handles == 0;
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
	struct agate_mapping *mapping = NULL;
	struct agate_vm_bo *vm_bo;

	mutex_lock(&bo->mappings_lock);
	vm_bo = vm_bo_find(vm, bo);
	/* Without a handle only jobs hold the mapping: for the file it is gone. */
	if (vm_bo && vm_bo->handles)
		mapping = mapping_find(vm_bo);
	mutex_unlock(&bo->mappings_lock);
	return mapping;
}
