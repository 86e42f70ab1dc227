// SPDX-License-Identifier: GPL-2.0-only
/*
 * A long-running chain comes to the slot: as in SUBMIT, what moved is brought back first.  See
 * agate_long.h.
 */
#include <linux/dma-resv.h>
#include <linux/kthread.h>
#include <linux/sched/mm.h>

#include "agate_device.h"
#include "agate_exec.h"
#include "agate_fault_vm.h"
#include "agate_hand_over.h"
#include "agate_listed.h"
#include "agate_long_ops.h"
#include "agate_pm.h"
#include "agate_slot.h"
#include "agate_userptr.h"
#include "agate_vm.h"
#include "agate_vm_bind.h"

static struct dma_fence *first_unsignalled(struct dma_resv *resv)
{
	struct dma_resv_iter cursor;
	struct dma_fence *fence;

	dma_resv_for_each_fence(&cursor, resv, DMA_RESV_USAGE_KERNEL, fence) {
		if (!dma_fence_is_signaled(fence))
			return dma_fence_get(fence);
	}
	return NULL;
}

/* The first of the moves that a chain has to wait for: in fault mode the entries come later. */
static struct dma_fence *first_move(struct agate_vm *vm)
{
	struct agate_bound *bound = &vm->bound;
	struct agate_vm_bo *vm_bo;
	struct dma_fence *fence;

	if (agate_vm_faults(vm))
		return NULL;
	fence = first_unsignalled(bound->root->resv);
	list_for_each_entry(vm_bo, &bound->externals, external) {
		if (fence)
			break;
		fence = first_unsignalled(vm_bo->bo->base.resv);
	}
	return fence;
}

/* The first of what a chain has to wait for, with a reference: moves, and the last change. */
static struct dma_fence *first_change(struct agate_vm *vm)
{
	struct agate_bound *bound = &vm->bound;
	struct dma_fence *fence = first_move(vm);

	if (!fence && bound->last && !dma_fence_is_signaled(bound->last))
		fence = dma_fence_get(bound->last);
	return fence;
}

/*
 * From here on somebody may ask for the end of the chain, before it has begun.  Nobody does in
 * fault mode: memory goes while the chain runs.
 */
static void publish(struct agate_exec *exec, struct agate_vm *vm, struct agate_preempt *preempt)
{
	struct agate_long *lng = &vm->adev->lng;

	dma_fence_get(&preempt->base);
	spin_lock(&lng->lock);
	lng->preempt = preempt;
	lng->slice_over = false;
	lng->others_since = 0;
	lng->hogs = false;
	spin_unlock(&lng->lock);
	if (!agate_vm_faults(vm))
		agate_exec_add_fence(exec, &preempt->base, DMA_RESV_USAGE_BOOKKEEP);
}

/* Return: 0, also if the chain has to wait for a reset, or for whoever asked; or its error. */
static int start(struct agate_job *job, struct agate_preempt *preempt)
{
	struct agate_long *lng = &job->adev->lng;
	struct dma_fence *fence = NULL;
	bool cookie = dma_fence_begin_signalling();

	agate_job_to_device(job);
	agate_listed_tell(job);
	spin_lock(&lng->lock);
	if (lng->preempt == preempt && !READ_ONCE(preempt->asked) && !lng->held)
		fence = agate_slot_run(job);
	if (!IS_ERR_OR_NULL(fence)) {
		kref_get(&job->ref);
		lng->job = job;
	}
	spin_unlock(&lng->lock);
	if (!IS_ERR_OR_NULL(fence)) {
		dma_fence_put(fence);
		mod_delayed_work(lng->wq, &lng->slice, agate_long_slice());
	} else {
		agate_preempt_signal(lng, preempt);
	}
	dma_fence_end_signalling(cookie);
	return PTR_ERR_OR_ZERO(fence);
}

static int lock_and_rebind(struct agate_vm *vm, struct agate_exec *exec)
{
	int ret;

	if (agate_vm_faults(vm))
		return agate_exec_lock(exec, vm->bound.root);
	ret = agate_vm_lock_all(vm, exec);
	if (!ret)
		ret = agate_vm_rebind(vm, exec);
	return ret ? ret : agate_userptr_rebind(vm);
}

static int hold(struct agate_vm *vm)
{
	return agate_vm_faults(vm) ? 0 : agate_userptr_hold(vm);
}

static void let_go(struct agate_vm *vm)
{
	if (!agate_vm_faults(vm))
		agate_userptr_let_go(vm);
}

/* Return: -EINPROGRESS: chains.moved has to signal first. */
static int lock_and_start(struct agate_job *job, struct agate_preempt *preempt)
{
	struct agate_vm *vm = job->vm;
	struct agate_exec exec;
	int ret;

	agate_exec_init(&exec, 0);
	do {
		ret = lock_and_rebind(vm, &exec);
	} while (agate_exec_retry(&exec, &ret));
	if (!ret)
		ret = agate_exec_reserve(&exec, 1);
	if (!ret) {
		vm->bound.chains.moved = first_change(vm);
		ret = vm->bound.chains.moved ? -EINPROGRESS : hold(vm);
	}
	if (!ret) {
		publish(&exec, vm, preempt);
		ret = start(job, preempt);
		let_go(vm);
	}
	agate_exec_fini(&exec);
	return ret;
}

/* The wait may be over at once.  Return: -ENODATA; or the error of touching: nothing waits then. */
static int touch_first(struct agate_job *job)
{
	struct agate_vm *vm = job->vm;
	int ret;

	WRITE_ONCE(vm->bound.chains.waits, true);
	ret = agate_userptr_touch_later(job);
	if (!ret)
		return -ENODATA;
	WRITE_ONCE(vm->bound.chains.waits, false);
	return ret;
}

/* The pages are found as if the process that bound them accessed them. */
static int collect_all(struct agate_job *job)
{
	struct agate_vm *vm = job->vm;
	struct mm_struct *mm;
	int ret;

	if (agate_vm_faults(vm) || list_empty(&vm->bound.userptrs))
		return 0;
	mm = agate_userptr_mm(vm);
	if (!mm)
		return -EFAULT;
	kthread_use_mm(mm);
	ret = agate_userptr_collect(vm);
	if (ret == -ENODATA)
		ret = touch_first(job);
	kthread_unuse_mm(mm);
	/* The process may have ended meanwhile, and the end of its memory take any lock. */
	mmput_async(mm);
	return ret;
}

static int collect_and_start(struct agate_job *job, struct agate_preempt *preempt)
{
	struct agate_vm *vm = job->vm;
	int ret;

	down_read(&vm->lock);
	ret = agate_userptr_begin(vm);
	if (!ret) {
		ret = collect_all(job);
		if (!ret)
			ret = lock_and_start(job, preempt);
		agate_userptr_end(vm);
	}
	up_read(&vm->lock);
	return ret;
}

static int prepare_and_start(struct agate_job *job)
{
	struct agate_preempt *preempt = agate_preempt_create(job->adev);
	int ret;

	if (!preempt)
		return -ENOMEM;
	ret = agate_pm_get(job->adev, job->domains);
	if (!ret) {
		ret = collect_and_start(job, preempt);
		agate_pm_put(job->adev);
	}
	dma_fence_put(&preempt->base);
	return ret;
}

int agate_long_start(struct agate_job *job)
{
	struct mem_cgroup *memcg = set_active_memcg(job->vm->memcg);
	int ret = prepare_and_start(job);

	set_active_memcg(memcg);
	return ret;
}
