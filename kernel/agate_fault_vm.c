// SPDX-License-Identifier: GPL-2.0-only
/*
 * Address spaces in fault mode: see agate_fault_vm.h.
 */
#include <linux/dma-resv.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <drm/drm_drv.h>

#include "agate_backing.h"
#include "agate_bind.h"
#include "agate_device.h"
#include "agate_exec.h"
#include "agate_gem.h"
#include "agate_long_ops.h"
#include "agate_queue.h"
#include "agate_slot.h"
#include "agate_userptr.h"
#include "agate_vm.h"

bool agate_vm_faults(const struct agate_vm *vm)
{
	return vm->bound.faults.on;
}

/* ---- Notes ------------------------------------------------------------- */

/* The caller has the lock.  Return: the job that was noted, whose reference is the caller's. */
static struct agate_job *note_set(struct agate_long *lng, struct agate_faults *faults,
				  struct agate_job *job, u64 va)
{
	struct agate_job *old = faults->job;

	lockdep_assert_held(&lng->lock);
	faults->job = job;
	faults->va = va;
	if (!job)
		list_del_init(&faults->link);
	else if (!old)
		list_add_tail(&faults->link, &lng->faults);
	return old;
}

void agate_fault_vm_note(struct agate_job *job, u64 va)
{
	struct agate_long *lng = &job->adev->lng;
	struct agate_faults *faults = &job->vm->bound.faults;
	struct agate_job *old;

	kref_get(&job->ref);
	spin_lock(&lng->lock);
	old = note_set(lng, faults, job, va);
	/*
	 * Once for each note: its job is all that keeps the address space, and with it the work.
	 * Nobody may need any more what an earlier fault waits for.
	 */
	if (!old || faults->touching)
		queue_work(lng->fault_wq, &faults->work);
	faults->touching = false;
	spin_unlock(&lng->lock);
	if (old)
		agate_job_put(old);
}

/*
 * Let go of a note.  Its job is all that keeps the address space, so the worker may come to it no
 * more.  Return: the job; or NULL: there is no note, or the worker is on its way to take it.
 */
static struct agate_job *note_drop(struct agate_long *lng, struct agate_faults *faults)
{
	lockdep_assert_held(&lng->lock);
	if (!faults->job || (!faults->touching && !cancel_work(&faults->work)))
		return NULL;
	faults->touching = false;
	return note_set(lng, faults, NULL, 0);
}

static struct agate_job *note_take(struct agate_long *lng, struct agate_faults *faults, u64 *va)
{
	struct agate_job *job;

	spin_lock(&lng->lock);
	*va = faults->va;
	job = note_set(lng, faults, NULL, 0);
	faults->touching = false;
	spin_unlock(&lng->lock);
	return job;
}

/* ---- What is missing --------------------------------------------------- */

static struct agate_mapping *find(struct agate_vm *vm, u64 va)
{
	const u64 page = va >> PAGE_SHIFT;
	struct drm_mm_node *node;

	lockdep_assert_held(&vm->lock);
	/* Where drm_mm finds no node it answers with its own, which begins at the end. */
	if (va >= AGATE_VA_END)
		return NULL;
	drm_mm_for_each_node_in_range(node, &vm->mm, page, page + 1)
		return container_of(node, struct agate_mapping, node);
	return NULL;
}

/* A fault brings back what it needs, and locks no more. */
static int lock_and_bind(struct agate_vm *vm, struct agate_mapping *mapping)
{
	struct agate_bo *bo = mapping->vm_bo->bo;
	struct agate_exec exec;
	int ret;

	agate_exec_init(&exec, 0);
	do {
		ret = agate_exec_lock(&exec, vm->bound.root);
		if (!ret)
			ret = agate_exec_lock(&exec, &bo->base);
		if (!ret)
			ret = agate_backing_validate(bo, &exec);
	} while (agate_exec_retry(&exec, &ret));
	if (!ret)
		ret = agate_bind_for_fault(mapping);
	agate_exec_fini(&exec);
	return ret;
}

/*
 * Return: false: there is another note by now, and the worker comes to that; or the job has ended
 * meanwhile, and nobody would forget the note.
 */
static bool note_put_back(struct agate_job *job, u64 va)
{
	struct agate_long *lng = &job->adev->lng;
	struct agate_faults *faults = &job->vm->bound.faults;
	bool back;

	spin_lock(&lng->lock);
	back = !faults->job && !list_empty(&job->turn);
	if (back) {
		kref_get(&job->ref);
		note_set(lng, faults, job, va);
		faults->touching = true;
	}
	spin_unlock(&lng->lock);
	return back;
}

/* The note comes first, because the pages may be there at once.  Return: -EINPROGRESS. */
static int put_back_and_touch(struct agate_vm_bo *vm_bo, struct agate_job *job, u64 va)
{
	int ret;

	if (!note_put_back(job, va))
		return -EINPROGRESS;
	ret = agate_userptr_touch_one_later(job, vm_bo);
	if (!ret)
		return -EINPROGRESS;
	agate_fault_vm_drop(job);
	return ret;
}

/* The pages are found as if the process that bound them accessed them. */
static int collect_one(struct agate_vm_bo *vm_bo, struct agate_job *job, u64 va)
{
	struct mm_struct *mm = vm_bo->bo->userptr.notifier.mm;
	int ret;

	if (!mmget_not_zero(mm))
		return -EFAULT;
	kthread_use_mm(mm);
	ret = agate_userptr_collect_one(vm_bo);
	if (ret == -ENODATA)
		ret = put_back_and_touch(vm_bo, job, va);
	kthread_unuse_mm(mm);
	/* The process may have ended meanwhile, and the end of its memory take any lock. */
	mmput_async(mm);
	return ret;
}

static int collect_and_bind(struct agate_vm *vm, struct agate_mapping *mapping,
			    struct agate_job *job, u64 va)
{
	int ret = agate_userptr_begin(vm);

	if (ret)
		return ret;
	ret = collect_one(mapping->vm_bo, job, va);
	if (!ret)
		ret = lock_and_bind(vm, mapping);
	agate_userptr_end(vm);
	return ret;
}

static int bring(struct agate_job *job, u64 va)
{
	struct agate_vm *vm = job->vm;
	struct mem_cgroup *memcg = set_active_memcg(vm->memcg);
	struct agate_mapping *mapping;
	int ret = -EFAULT;

	down_read(&vm->lock);
	mapping = find(vm, va);
	if (mapping && agate_is_userptr(mapping->vm_bo->bo))
		ret = collect_and_bind(vm, mapping, job, va);
	else if (mapping)
		ret = lock_and_bind(vm, mapping);
	up_read(&vm->lock);
	set_active_memcg(memcg);
	return ret;
}

/* ---- The worker -------------------------------------------------------- */

static void give_up(struct agate_job *job, u64 va, int error)
{
	dev_err_ratelimited(&job->adev->pdev->dev,
			    "chain 0x%llx: nothing to bring for 0x%012llx (%d)\n", job->jc, va,
			    error);
	agate_slot_kill(job, error);
}

/* A chain that has to end needs nothing any more. */
static void serve(struct agate_job *job, u64 va)
{
	int ret = 0;
	int idx;

	if (agate_long_must_end(job) || !drm_dev_enter(&job->adev->drm, &idx))
		return;
	ret = bring(job, va);
	if (ret == -EAGAIN) {
		agate_long_back_off();
		agate_fault_vm_note(job, va);
	} else if (ret && ret != -EINPROGRESS) {
		give_up(job, va, ret);
	}
	drm_dev_exit(idx);
}

/* The note's reference keeps the address space, and with it the work. */
static void serve_work(struct work_struct *work)
{
	struct agate_faults *faults = container_of(work, struct agate_faults, work);
	struct agate_vm *vm = container_of(faults, struct agate_vm, bound.faults);
	struct agate_long *lng = &vm->adev->lng;
	struct agate_job *job;
	u64 va;

	job = note_take(lng, faults, &va);
	serve(job, va);
	agate_job_put(job);
}

/* ---- VM_BIND ----------------------------------------------------------- */

int agate_fault_vm_empty(struct agate_vm *vm, u64 addr, u64 range)
{
	struct drm_mm_node *node;
	bool waited = false;

	lockdep_assert_held_write(&vm->lock);

	if (!agate_vm_faults(vm))
		return 0;
	drm_mm_for_each_node_in_range(node, &vm->mm, addr >> PAGE_SHIFT,
				      (addr + range) >> PAGE_SHIFT) {
		struct agate_bo *bo = container_of(node, struct agate_mapping, node)->vm_bo->bo;
		long left = 0;

		if (!agate_is_userptr(bo))
			continue;
		if (!waited)
			left = dma_resv_wait_timeout(vm->bound.root->resv, DMA_RESV_USAGE_BOOKKEEP,
						     true, MAX_SCHEDULE_TIMEOUT);
		if (left < 0)
			return left;
		waited = true;
		agate_vm_zap_userptr(bo);
	}
	return 0;
}

/* ---- Life -------------------------------------------------------------- */

void agate_faults_init(struct agate_faults *faults, bool on)
{
	faults->on = on;
	INIT_LIST_HEAD(&faults->link);
	INIT_WORK(&faults->work, serve_work);
}

void agate_fault_vm_touched(struct agate_vm *vm)
{
	struct agate_long *lng = &vm->adev->lng;
	struct agate_faults *faults = &vm->bound.faults;

	spin_lock(&lng->lock);
	if (faults->job && faults->touching)
		queue_work(lng->fault_wq, &faults->work);
	faults->touching = false;
	spin_unlock(&lng->lock);
}

void agate_fault_vm_drop(struct agate_job *job)
{
	struct agate_long *lng = &job->adev->lng;
	struct agate_faults *faults = &job->vm->bound.faults;
	struct agate_job *noted = NULL;

	spin_lock(&lng->lock);
	if (faults->job == job)
		noted = note_drop(lng, faults);
	spin_unlock(&lng->lock);
	if (noted)
		agate_job_put(noted);
}

/* A note to which no worker comes any more: one that has begun takes its own. */
static struct agate_job *forget_one(struct agate_long *lng)
{
	struct agate_faults *faults;
	struct agate_job *job = NULL;

	spin_lock(&lng->lock);
	list_for_each_entry(faults, &lng->faults, link) {
		job = note_drop(lng, faults);
		if (job)
			break;
	}
	spin_unlock(&lng->lock);
	return job;
}

void agate_fault_vm_forget(struct agate_device *adev)
{
	struct agate_job *job;

	while ((job = forget_one(&adev->lng)))
		agate_job_put(job);
}
