// SPDX-License-Identifier: GPL-2.0-only
/*
 * VM_CREATE, VM_DESTROY and VM_BIND.
 *
 * A change works in the order of a SUBMIT: lock, validate, depend, and then the records change
 * and the job is armed, which cannot fail.
 */
#include <linux/dma-resv.h>
#include <linux/slab.h>
#include <drm/drm_drv.h>

#include "agate_backing.h"
#include "agate_bind.h"
#include "agate_device.h"
#include "agate_exec.h"
#include "agate_gem.h"
#include "agate_long.h"
#include "agate_syncs.h"
#include "agate_userptr.h"
#include "agate_vm.h"
#include "agate_vm_bind.h"
#include "agate_vm_ioctl.h"

/* ---- Names ------------------------------------------------------------- */

struct agate_vm *agate_vm_lookup(struct agate_file *afile, u32 id)
{
	struct agate_vm *vm;

	xa_lock(&afile->vms);
	vm = xa_load(&afile->vms, id);
	if (vm)
		agate_vm_get(vm);
	xa_unlock(&afile->vms);
	return vm;
}

/* Only a job without a fence may wait for its faults. */
static bool flags_valid(u32 flags)
{
	if (flags & ~(AGATE_VM_LONG_RUNNING | AGATE_VM_FAULT_MODE))
		return false;
	return !(flags & AGATE_VM_FAULT_MODE) || flags & AGATE_VM_LONG_RUNNING;
}

int agate_vm_create_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct agate_file *afile = to_agate_file(file);
	struct drm_agate_vm_create *args = data;
	struct agate_vm *vm;
	int ret, idx;

	if (!flags_valid(args->flags))
		return -EINVAL;
	/* The root of the page table is mapped for DMA. */
	if (!drm_dev_enter(dev, &idx))
		return -ENODEV;
	vm = agate_vm_create_bound(afile->adev, args->flags);
	drm_dev_exit(idx);
	if (IS_ERR(vm))
		return PTR_ERR(vm);
	vm->id = afile->id;
	/* Even when VM_DESTROY of 0 has taken away what XA_FLAGS_ALLOC1 keeps there. */
	ret = xa_alloc(&afile->vms, &args->vm_id, vm, XA_LIMIT(1, INT_MAX), GFP_KERNEL_ACCOUNT);
	if (ret) {
		agate_vm_put(vm);
		return ret;
	}
	args->va_start = AGATE_VA_START;
	args->va_end = AGATE_VA_END;
	return 0;
}

int agate_vm_destroy_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	const struct drm_agate_vm_destroy *args = data;
	struct agate_vm *vm;

	if (args->pad)
		return -EINVAL;
	vm = xa_erase(&to_agate_file(file)->vms, args->vm_id);
	if (!vm)
		return -ENOENT;
	if (agate_vm_is_long(vm))
		agate_long_end_vm(vm);
	agate_vm_put(vm);
	return 0;
}

void agate_vms_close(struct agate_file *afile)
{
	struct agate_vm *vm;
	unsigned long id;

	xa_for_each(&afile->vms, id, vm)
		agate_vm_put(vm);
	xa_destroy(&afile->vms);
}

/* ---- VM_BIND ----------------------------------------------------------- */

/**
 * struct bind - a call of VM_BIND
 * @args: its arguments
 * @vm: the address space, with a reference
 * @bo: with a reference, or NULL
 * @job: the change
 * @syncs: its sync objects
 */
struct bind {
	const struct drm_agate_vm_bind *args;
	struct agate_vm *vm;
	struct agate_bo *bo;
	struct agate_bind_job *job;
	struct agate_syncs syncs;
};

static bool args_valid(const struct drm_agate_vm_bind *args)
{
	if (args->op > AGATE_VM_BIND_UNMAP ||
	    args->flags & ~(AGATE_VM_BIND_READONLY | AGATE_VM_BIND_NOEXEC | AGATE_VM_BIND_USERPTR))
		return false;
	if (args->flags & AGATE_VM_BIND_USERPTR && args->handle)
		return false;
	if (args->op == AGATE_VM_BIND_UNMAP && (args->flags || args->handle || args->offset))
		return false;
	if (!args->range || !PAGE_ALIGNED(args->addr | args->range | args->offset))
		return false;
	return args->addr >= AGATE_VA_START && args->addr < AGATE_VA_END &&
	       args->range <= AGATE_VA_END - args->addr;
}

static int find_bo(struct bind *bind, struct drm_file *file)
{
	const struct drm_agate_vm_bind *args = bind->args;
	size_t size;

	bind->bo = agate_gem_lookup(file, args->handle);
	if (!bind->bo)
		return -ENOENT;
	size = agate_bo_size(bind->bo);
	if (args->offset >= size || args->range > size - args->offset)
		return -EINVAL;
	return agate_vm_may_bind(bind->vm, bind->bo);
}

static bool is_userptr(const struct bind *bind)
{
	return bind->args->flags & AGATE_VM_BIND_USERPTR;
}

/* It may come late: nothing but the caller's references is held meanwhile. */
static int touch_userptr(const struct drm_agate_vm_bind *args)
{
	return agate_userptr_touch_new(args->offset, args->range,
				       args->flags & AGATE_VM_BIND_READONLY);
}

/* A worker looks for all of its memory at a time, as if that process accessed it. */
static bool has_one_process(const struct agate_vm *vm)
{
	return agate_vm_is_long(vm) && !agate_vm_faults(vm);
}

static int make_userptr(struct bind *bind)
{
	const struct drm_agate_vm_bind *args = bind->args;
	struct agate_bo *bo = agate_userptr_create(bind->vm, args->offset, args->range,
						   args->flags & AGATE_VM_BIND_READONLY);

	if (IS_ERR(bo))
		return PTR_ERR(bo);
	bind->bo = bo;
	return 0;
}

/* Do the entries come with the job?  If not, with the next SUBMIT, or when the GPU needs them. */
static bool maps_now(const struct bind *bind)
{
	return bind->bo && !is_userptr(bind) && !agate_vm_faults(bind->vm);
}

static u32 prot_of(const struct bind *bind)
{
	u32 prot = agate_bo_prot(bind->bo);

	if (bind->args->flags & AGATE_VM_BIND_READONLY)
		prot &= ~AGATE_PROT_WRITE;
	if (bind->args->flags & AGATE_VM_BIND_NOEXEC)
		prot |= AGATE_PROT_NOEXEC;
	return prot;
}

/* The record of the new mapping. */
static int make_mapping(struct bind *bind)
{
	const struct drm_agate_vm_bind *args = bind->args;
	struct agate_mapping *mapping = kzalloc(sizeof(*mapping), GFP_KERNEL_ACCOUNT);
	struct agate_vm_bo *vm_bo;

	if (!mapping)
		return -ENOMEM;
	vm_bo = agate_vm_bo_obtain(bind->vm, bind->bo);
	if (IS_ERR(vm_bo)) {
		kfree(mapping);
		return PTR_ERR(vm_bo);
	}
	bind->job->steps.add = mapping;
	kref_init(&mapping->ref);
	mapping->node.start = args->addr >> PAGE_SHIFT;
	mapping->node.size = args->range >> PAGE_SHIFT;
	mapping->offset = is_userptr(bind) ? 0 : args->offset;
	mapping->size = args->range;
	mapping->prot = prot_of(bind);
	mapping->active = maps_now(bind);
	agate_table_reserve_init(&mapping->tables);
	mapping->vm_bo = vm_bo;
	return 0;
}

/* The new BO, and those that are replaced: their memory stays until the job has run. */
static int lock_all(struct bind *bind, struct agate_exec *exec)
{
	struct agate_mapping *mapping;
	int ret;

	ret = agate_exec_lock(exec, bind->vm->bound.root);
	if (!ret && bind->bo)
		ret = agate_exec_lock(exec, &bind->bo->base);
	list_for_each_entry(mapping, &bind->job->steps.drop, step) {
		if (ret)
			break;
		ret = agate_exec_lock(exec, &mapping->vm_bo->bo->base);
	}
	if (!ret && maps_now(bind))
		ret = agate_backing_validate(bind->bo, exec);
	return ret;
}

/* Jobs of the address space still use what goes: their fences are in the root. */
static int add_dependencies(struct bind *bind)
{
	struct dma_resv *resv = bind->vm->bound.root->resv;
	struct dma_resv_iter cursor;
	struct dma_fence *fence;
	int ret = 0;

	if (list_empty(&bind->job->steps.drop))
		return 0;
	dma_resv_for_each_fence(&cursor, resv, DMA_RESV_USAGE_BOOKKEEP, fence) {
		/* It takes over the reference even when it fails. */
		ret = drm_sched_job_add_dependency(&bind->job->base, dma_fence_get(fence));
		if (ret)
			break;
	}
	return ret;
}

/* A range whose entries come later is empty until then. */
static int stage(struct bind *bind)
{
	const struct drm_agate_vm_bind *args = bind->args;
	struct agate_pgtable *pgt = &bind->vm->as.pgt;
	struct agate_bind_job *job = bind->job;
	struct agate_runs runs;
	int ret;

	if (maps_now(bind)) {
		ret = agate_backing_populate(bind->bo, args->offset, args->range, &runs);
		if (!ret)
			ret = agate_pt_stage_map(&job->stage, pgt, args->addr, runs,
						 job->steps.add->prot);
	} else {
		ret = agate_pt_stage_unmap(&job->stage, pgt, args->addr, args->range);
	}
	job->staged = !ret;
	return ret;
}

static int prepare(struct bind *bind, struct agate_exec *exec)
{
	int ret = stage(bind);

	if (!ret)
		ret = add_dependencies(bind);
	if (!ret)
		ret = agate_bind_plan_write(bind->job);
	return ret ? ret : agate_exec_reserve(exec, 1);
}

/*
 * A mapping that goes has no record from here on, so that no SUBMIT brings its BO back.  The job
 * keeps the BO.  It needs no vm->lock when it is freed: one worker frees the jobs of all clients,
 * and the holder of a vm->lock may wait for long.
 */
static void leave_records(struct agate_va_steps *steps)
{
	struct agate_mapping *mapping;

	list_for_each_entry(mapping, &steps->drop, step) {
		mapping->bo = agate_vm_bo_leave(mapping->vm_bo);
		mapping->vm_bo = NULL;
	}
}

/* From here on nothing fails. */
static void commit(struct bind *bind, struct agate_exec *exec)
{
	struct dma_fence *fence = agate_bind_arm(bind->job);

	agate_va_apply(bind->vm, &bind->job->steps);
	leave_records(&bind->job->steps);
	agate_exec_add_fence(exec, fence, DMA_RESV_USAGE_BOOKKEEP);
	agate_syncs_publish(&bind->syncs, fence);
	agate_bind_push(bind->job);
	/* A chain may have waited for memory that is bound no more. */
	if (agate_vm_is_long(bind->vm))
		agate_long_touched(bind->vm);
}

static int lock_and_commit(struct bind *bind)
{
	struct agate_exec exec;
	int ret;

	if (is_userptr(bind) && has_one_process(bind->vm) && agate_userptr_of_others(bind->vm))
		return -EPERM;
	ret = agate_fault_vm_empty(bind->vm, bind->args->addr, bind->args->range);
	if (ret)
		return ret;
	agate_va_split(bind->vm, bind->args->addr, bind->args->range, &bind->job->steps);
	if (bind->bo) {
		ret = make_mapping(bind);
		if (ret)
			return ret;
	}
	agate_exec_init(&exec, AGATE_EXEC_INTERRUPTIBLE);
	do {
		ret = lock_all(bind, &exec);
	} while (agate_exec_retry(&exec, &ret));
	if (!ret)
		ret = prepare(bind, &exec);
	if (!ret)
		commit(bind, &exec);
	agate_exec_fini(&exec);
	return ret;
}

/* A record that was made for nothing goes without vm->lock. */
static void abandon(struct bind *bind)
{
	struct agate_mapping *add = bind->job->steps.add;

	if (add)
		agate_vm_bo_put(add->vm_bo);
	agate_bind_job_abandon(bind->job);
}

/* Inside drm_dev_enter(), so that unplugging waits for the push. */
static int change(struct bind *bind, struct drm_file *file)
{
	int ret = agate_syncs_gather(&bind->syncs, &bind->job->base, file);

	bind->job->addr = bind->args->addr;
	bind->job->range = bind->args->range;
	if (!ret && is_userptr(bind))
		ret = make_userptr(bind);
	if (!ret)
		ret = down_write_killable(&bind->vm->lock);
	if (!ret) {
		ret = lock_and_commit(bind);
		up_write(&bind->vm->lock);
	}
	if (ret)
		abandon(bind);
	return ret;
}

static int enter_and_change(struct bind *bind, struct drm_file *file)
{
	struct agate_file *afile = to_agate_file(file);
	int ret, idx;

	ret = agate_queues_reserve(afile);
	if (ret)
		return ret;
	if (!drm_dev_enter(&afile->adev->drm, &idx)) {
		agate_queues_unreserve(afile);
		return -ENODEV;
	}
	bind->job = agate_bind_job_create(afile, bind->vm);
	ret = IS_ERR(bind->job) ? PTR_ERR(bind->job) : change(bind, file);
	drm_dev_exit(idx);
	return ret;
}

int agate_vm_bind_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct bind bind = { .args = data };
	int ret;

	if (!args_valid(bind.args))
		return -EINVAL;
	ret = agate_syncs_copy(&bind.syncs, bind.args->in_syncs, bind.args->in_sync_count,
			       bind.args->out_syncs, bind.args->out_sync_count);
	if (!ret) {
		bind.vm = agate_vm_lookup(to_agate_file(file), bind.args->vm_id);
		ret = bind.vm ? agate_vm_banned(bind.vm) : -ENOENT;
	}
	if (!ret && is_userptr(&bind))
		ret = touch_userptr(bind.args);
	else if (!ret && bind.args->op == AGATE_VM_BIND_MAP)
		ret = find_bo(&bind, file);
	if (!ret)
		ret = enter_and_change(&bind, file);
	if (bind.bo)
		agate_bo_put(bind.bo);
	if (bind.vm)
		agate_vm_put(bind.vm);
	agate_syncs_free(&bind.syncs);
	return ret;
}
