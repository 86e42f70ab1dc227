// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address spaces whose owner chooses the ranges.
 *
 * The contract is agate_vm_bind.h.
 */
#include <linux/dma-resv.h>

#include "agate_bind.h"
#include "agate_device.h"
#include "agate_exec.h"
#include "agate_gem.h"
#include "agate_vm.h"
#include "agate_vm_bind.h"

int agate_vm_may_bind(const struct agate_vm *vm, const struct agate_bo *bo)
{
	/* It stays where the other driver keeps it.  Jobs list no BOs, so nobody could sync it. */
	if (bo->flags & AGATE_BO_IMPORTED)
		return bo->backing.bounced ? -EOPNOTSUPP : 0;
	if (!(bo->flags & AGATE_BO_PLACED))
		return -EINVAL;
	return bo->ttm.root && bo->ttm.root != vm->bound.root ? -EPERM : 0;
}

/* ---- Jobs -------------------------------------------------------------- */

int agate_vm_lock_all(struct agate_vm *vm, struct agate_exec *exec)
{
	struct agate_vm_bo *vm_bo;
	int ret;

	lockdep_assert_held(&vm->lock);

	ret = agate_exec_lock(exec, vm->bound.root);
	list_for_each_entry(vm_bo, &vm->bound.externals, external) {
		if (ret)
			break;
		ret = agate_exec_lock(exec, &vm_bo->bo->base);
	}
	return ret;
}

void agate_vm_bo_moved(struct agate_vm_bo *vm_bo)
{
	struct agate_bound *bound = &vm_bo->vm->bound;

	dma_resv_assert_held(vm_bo->bo->base.resv);

	spin_lock(&bound->evicted_lock);
	if (list_empty(&vm_bo->evicted))
		list_add_tail(&vm_bo->evicted, &bound->evicted);
	spin_unlock(&bound->evicted_lock);
}

/*
 * vm->lock keeps the list of mappings as it is.  A mapping that was dropped is in no list, and
 * one that a queued change adds is active.
 */
static int rebind_one(struct agate_vm_bo *vm_bo, struct agate_exec *exec)
{
	struct agate_mapping *mapping;
	int ret;

	ret = agate_backing_validate(vm_bo->bo, exec);
	list_for_each_entry(mapping, &vm_bo->mappings, link) {
		if (ret)
			break;
		if (!mapping->active)
			ret = agate_bind_again(mapping);
	}
	return ret;
}

static struct agate_vm_bo *first_evicted(struct agate_bound *bound)
{
	struct agate_vm_bo *vm_bo;

	spin_lock(&bound->evicted_lock);
	vm_bo = list_first_entry_or_null(&bound->evicted, struct agate_vm_bo, evicted);
	spin_unlock(&bound->evicted_lock);
	return vm_bo;
}

/* All reservations are held, so nobody adds to the list, and what was brought back stays. */
int agate_vm_rebind(struct agate_vm *vm, struct agate_exec *exec)
{
	struct agate_bound *bound = &vm->bound;
	struct agate_vm_bo *vm_bo;
	int ret = 0;

	lockdep_assert_held(&vm->lock);

	while (!ret && (vm_bo = first_evicted(bound))) {
		ret = rebind_one(vm_bo, exec);
		if (ret)
			break;
		spin_lock(&bound->evicted_lock);
		list_del_init(&vm_bo->evicted);
		spin_unlock(&bound->evicted_lock);
	}
	return ret;
}

static bool is_written(const struct agate_vm_bo *vm_bo)
{
	const struct agate_mapping *mapping;

	list_for_each_entry(mapping, &vm_bo->mappings, link) {
		if (mapping->prot & AGATE_PROT_WRITE)
			return true;
	}
	return false;
}

static int wait_for(struct agate_job *job, struct dma_resv *resv, enum dma_resv_usage usage)
{
	struct dma_resv_iter cursor;
	struct dma_fence *fence;
	int ret = 0;

	dma_resv_for_each_fence(&cursor, resv, usage, fence) {
		/* It takes over the reference even when it fails. */
		ret = drm_sched_job_add_dependency(&job->base, dma_fence_get(fence));
		if (ret)
			break;
	}
	return ret;
}

int agate_vm_add_dependencies(struct agate_job *job)
{
	struct agate_bound *bound = &job->vm->bound;
	struct agate_vm_bo *vm_bo;
	int ret;

	ret = wait_for(job, bound->root->resv, DMA_RESV_USAGE_KERNEL);
	list_for_each_entry(vm_bo, &bound->externals, external) {
		if (ret)
			break;
		ret = wait_for(job, vm_bo->bo->base.resv, dma_resv_usage_rw(is_written(vm_bo)));
	}
	if (!ret && bound->last)
		ret = drm_sched_job_add_dependency(&job->base, dma_fence_get(bound->last));
	return ret;
}

void agate_vm_publish(struct agate_vm *vm, struct dma_fence *fence)
{
	struct agate_vm_bo *vm_bo;

	dma_resv_add_fence(vm->bound.root->resv, fence, DMA_RESV_USAGE_WRITE);
	list_for_each_entry(vm_bo, &vm->bound.externals, external)
		dma_resv_add_fence(vm_bo->bo->base.resv, fence,
				   is_written(vm_bo) ? DMA_RESV_USAGE_WRITE : DMA_RESV_USAGE_READ);
}

/* ---- Topic ------------------------------------------------------------- */

int agate_vm_bind_topic_init(struct agate_device *adev)
{
	return agate_bind_init(adev);
}

/* The queues end with the device: see agate_bind_init(). */
void agate_vm_bind_topic_fini(struct agate_device *adev)
{
}
