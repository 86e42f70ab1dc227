// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slot 2, and the long-running chains that share it: see agate_long.h.
 *
 * One worker puts chains on the slot, and one takes them off.  The first may wait for memory and
 * for locks under which others wait for a chain's end, so the second takes none of these.
 */
#include <linux/dma-resv.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <drm/drm_drv.h>

#include "agate_device.h"
#include "agate_exec.h"
#include "agate_hand_over.h"
#include "agate_listed.h"
#include "agate_lock_order.h"
#include "agate_long.h"
#include "agate_pm.h"
#include "agate_queue.h"
#include "agate_reset.h"
#include "agate_slot.h"
#include "agate_userptr.h"
#include "agate_vm.h"
#include "agate_vm_bind.h"

static unsigned int slice_ms = 10;
module_param(slice_ms, uint, 0444);
MODULE_PARM_DESC(slice_ms, "How long a long-running chain keeps its slot from others, in milliseconds (default 10)");

/* ---- The preempt fence ------------------------------------------------- */

/**
 * struct agate_preempt - a chain that is on the slot, or about to be
 * @base: the fence
 * @lock: its lock
 * @adev: the device, which ends the chain, and so the fence, before it goes
 * @asked: somebody waits for it
 */
struct agate_preempt {
	struct dma_fence base;
	spinlock_t lock;	/* the fence's callbacks */
	struct agate_device *adev;
	bool asked;
};

static struct agate_preempt *to_preempt(struct dma_fence *fence)
{
	return container_of(fence, struct agate_preempt, base);
}

static const char *preempt_driver_name(struct dma_fence *fence)
{
	return "agate";
}

static const char *preempt_timeline_name(struct dma_fence *fence)
{
	return "preempt";
}

static bool preempt_enable_signaling(struct dma_fence *fence)
{
	struct agate_preempt *preempt = to_preempt(fence);
	struct agate_long *lng = &preempt->adev->lng;

	WRITE_ONCE(preempt->asked, true);
	queue_work(lng->stop_wq, &lng->stop);
	return true;
}

static void preempt_free(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct agate_preempt, base.rcu));
}

/* As fence_release() in agate_fence.c. */
static void preempt_release(struct dma_fence *fence)
{
	call_rcu(&fence->rcu, preempt_free);
	module_put(THIS_MODULE);
}

static const struct dma_fence_ops preempt_ops = {
	.get_driver_name = preempt_driver_name,
	.get_timeline_name = preempt_timeline_name,
	.enable_signaling = preempt_enable_signaling,
	.release = preempt_release,
};

static struct agate_preempt *preempt_create(struct agate_device *adev)
{
	struct agate_preempt *preempt = kzalloc(sizeof(*preempt), GFP_KERNEL);

	if (!preempt)
		return NULL;
	/* The job's file holds a reference to the module, too. */
	__module_get(THIS_MODULE);
	preempt->adev = adev;
	spin_lock_init(&preempt->lock);
	dma_fence_init(&preempt->base, &preempt_ops, &preempt->lock,
		       dma_fence_context_alloc(1), 1);
	return preempt;
}

/* The chain that it stands for is off the slot, or never gets there. */
static void preempt_signal(struct agate_long *lng, struct agate_preempt *preempt)
{
	bool cookie = dma_fence_begin_signalling();
	bool ours;

	spin_lock(&lng->lock);
	ours = lng->preempt == preempt;
	if (ours)
		lng->preempt = NULL;
	spin_unlock(&lng->lock);
	if (ours) {
		dma_fence_signal(&preempt->base);
		dma_fence_put(&preempt->base);
	}
	dma_fence_end_signalling(cookie);
}

/* ---- Address spaces ---------------------------------------------------- */

static struct agate_vm *vm_of(struct agate_chains *chains)
{
	return container_of(chains, struct agate_vm, bound.chains);
}

void agate_chains_init(struct agate_chains *chains, bool on)
{
	chains->on = on;
	INIT_LIST_HEAD(&chains->jobs);
	INIT_LIST_HEAD(&chains->turn);
}

/* Forget for what the address space waited, if it did. */
static void chains_wait_no_more(struct agate_chains *chains)
{
	if (!chains->moved)
		return;
	dma_fence_remove_callback(chains->moved, &chains->moved_cb);
	dma_fence_put(chains->moved);
	chains->moved = NULL;
}

void agate_chains_fini(struct agate_chains *chains)
{
	chains_wait_no_more(chains);
}

bool agate_vm_is_long(const struct agate_vm *vm)
{
	return vm->bound.chains.on;
}

int agate_vm_banned(const struct agate_vm *vm)
{
	return READ_ONCE(vm->bound.chains.banned);
}

static void ban(struct agate_vm *vm)
{
	struct agate_long *lng = &vm->adev->lng;

	spin_lock(&lng->lock);
	WRITE_ONCE(vm->bound.chains.banned, -ECANCELED);
	spin_unlock(&lng->lock);
}

/* Are its chains to end, whatever they do? */
static int must_end(const struct agate_job *job)
{
	if (drm_dev_is_unplugged(&job->adev->drm))
		return -ENODEV;
	return READ_ONCE(job->entities->closing) ? -ECANCELED : agate_vm_banned(job->vm);
}

/* ---- Whose turn it is -------------------------------------------------- */

static struct agate_job *first_job(struct agate_chains *chains)
{
	return list_first_entry(&chains->jobs, struct agate_job, turn);
}

static bool is_ready(struct agate_chains *chains)
{
	return !READ_ONCE(chains->waits) && !must_end(first_job(chains));
}

/* The job whose turn it is, with a reference, or NULL. */
static struct agate_job *next_job(struct agate_long *lng)
{
	struct agate_chains *chains;
	struct agate_job *job = NULL;

	spin_lock(&lng->lock);
	list_for_each_entry(chains, &lng->turns, turn) {
		if (lng->job || !is_ready(chains))
			continue;
		job = first_job(chains);
		kref_get(&job->ref);
		break;
	}
	spin_unlock(&lng->lock);
	return job;
}

static bool others_are_ready(struct agate_long *lng)
{
	struct agate_chains *chains;

	lockdep_assert_held(&lng->lock);
	list_for_each_entry(chains, &lng->turns, turn) {
		if (chains != &lng->job->vm->bound.chains && is_ready(chains))
			return true;
	}
	return false;
}

void agate_long_kick(struct agate_device *adev)
{
	queue_work(adev->lng.wq, &adev->lng.run);
}

void agate_long_add(struct agate_job *job)
{
	struct agate_long *lng = &job->adev->lng;
	struct agate_chains *chains = &job->vm->bound.chains;

	kref_get(&job->ref);
	spin_lock(&lng->lock);
	list_add_tail(&job->turn, &chains->jobs);
	if (list_empty(&chains->turn))
		list_add_tail(&chains->turn, &lng->turns);
	spin_unlock(&lng->lock);
	agate_long_kick(job->adev);
}

/* The others come first now. */
static void pass_turn(struct agate_long *lng, struct agate_job *job)
{
	struct agate_chains *chains = &job->vm->bound.chains;

	spin_lock(&lng->lock);
	if (!list_empty(&chains->turn))
		list_move_tail(&chains->turn, &lng->turns);
	spin_unlock(&lng->lock);
}

/* A job has ended.  If it failed, nobody but its address space can say so. */
static void leave(struct agate_job *job)
{
	struct agate_long *lng = &job->adev->lng;
	struct agate_chains *chains = &job->vm->bound.chains;
	bool listed;

	if (dma_fence_get_status(job->done) < 0)
		ban(job->vm);
	spin_lock(&lng->lock);
	listed = !list_empty(&job->turn);
	list_del_init(&job->turn);
	if (list_empty(&chains->jobs))
		list_del_init(&chains->turn);
	spin_unlock(&lng->lock);
	if (listed)
		agate_job_put(job);
}

static void end_job(struct agate_job *job, int error)
{
	agate_job_refuse(job, error);
	leave(job);
}

/* ---- Off the slot ------------------------------------------------------ */

static bool is_on_slot(struct agate_job *job, bool *ended)
{
	struct agate_slots *slots = &job->adev->slots;
	bool on;

	spin_lock(&slots->lock);
	on = job->on_slot;
	*ended = job->ended;
	spin_unlock(&slots->lock);
	return on;
}

/* See whether the chain has left the slot.  Its error is in its fence before @ended is. */
static void reap(struct agate_device *adev)
{
	struct agate_long *lng = &adev->lng;
	struct agate_preempt *preempt;
	struct agate_job *job;
	bool ended = false;

	spin_lock(&lng->lock);
	job = lng->job;
	if (job && is_on_slot(job, &ended))
		job = NULL;
	preempt = lng->preempt;
	if (job) {
		lng->job = NULL;
		if (preempt)
			dma_fence_get(&preempt->base);
	}
	spin_unlock(&lng->lock);
	if (!job)
		return;
	if (preempt) {
		preempt_signal(lng, preempt);
		dma_fence_put(&preempt->base);
	}
	if (ended) {
		/* The thread that took it off may be about to signal it. */
		dma_fence_wait(job->done, false);
		leave(job);
	}
	pass_turn(lng, job);
	agate_job_put(job);
}

/* How to stop the chain on the slot, whose fence and job come with a reference. */
static bool has_to_stop(struct agate_long *lng, struct agate_preempt **preempt,
			struct agate_job **job, bool *end, bool *wait)
{
	bool stop;

	spin_lock(&lng->lock);
	*preempt = lng->preempt;
	*job = lng->job;
	*end = *job && must_end(*job);
	*wait = *preempt && READ_ONCE((*preempt)->asked);
	stop = *end || *wait || (*job && lng->slice_over);
	lng->slice_over = false;
	if (stop && *preempt)
		dma_fence_get(&(*preempt)->base);
	if (stop && *job)
		kref_get(&(*job)->ref);
	spin_unlock(&lng->lock);
	return stop;
}

/* Return: has it left the slot? */
static bool stop_chain(struct agate_job *job, bool end, bool wait)
{
	if (!end && agate_slot_stop(job, false, 0))
		return true;
	/* If only its slice is over, it leaves when it comes to the end of a job. */
	if (!end && !wait)
		return false;
	if (agate_slot_stop(job, true, -ECANCELED))
		return true;
	agate_reset_schedule(job->adev);
	queue_work(job->adev->queues.timeout_wq, &job->adev->lng.behind_reset);
	return false;
}

static void stop_work(struct work_struct *work)
{
	struct agate_long *lng = container_of(work, struct agate_long, stop);
	struct agate_device *adev = container_of(lng, struct agate_device, lng);
	struct agate_preempt *preempt;
	struct agate_job *job;
	bool end, wait, cookie;

	if (!has_to_stop(lng, &preempt, &job, &end, &wait))
		return;
	cookie = dma_fence_begin_signalling();
	if (!job || stop_chain(job, end, wait)) {
		if (preempt)
			preempt_signal(lng, preempt);
		agate_long_kick(adev);
	}
	dma_fence_end_signalling(cookie);
	if (preempt)
		dma_fence_put(&preempt->base);
	if (job)
		agate_job_put(job);
}

/* The queue is ordered, so the reset is over. */
static void behind_reset_work(struct work_struct *work)
{
	struct agate_long *lng = container_of(work, struct agate_long, behind_reset);
	struct agate_device *adev = container_of(lng, struct agate_device, lng);
	struct agate_preempt *preempt = NULL;
	bool cookie = dma_fence_begin_signalling();
	bool ended;

	spin_lock(&lng->lock);
	if (lng->preempt && lng->job && !is_on_slot(lng->job, &ended)) {
		preempt = lng->preempt;
		dma_fence_get(&preempt->base);
	}
	spin_unlock(&lng->lock);
	if (preempt) {
		preempt_signal(lng, preempt);
		dma_fence_put(&preempt->base);
	}
	agate_long_kick(adev);
	dma_fence_end_signalling(cookie);
}

static void slice_work(struct work_struct *work)
{
	struct agate_long *lng = container_of(to_delayed_work(work), struct agate_long, slice);
	bool stop = false, again = false;

	spin_lock(&lng->lock);
	if (lng->job) {
		stop = others_are_ready(lng);
		again = !stop;
		lng->slice_over = stop;
	}
	spin_unlock(&lng->lock);
	if (stop)
		queue_work(lng->stop_wq, &lng->stop);
	if (again)
		queue_delayed_work(lng->wq, &lng->slice, msecs_to_jiffies(slice_ms));
}

/* ---- On the slot ------------------------------------------------------- */

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

/* The first of what a chain has to wait for, with a reference: moves, and the last change. */
static struct dma_fence *first_change(struct agate_vm *vm)
{
	struct agate_bound *bound = &vm->bound;
	struct agate_vm_bo *vm_bo;
	struct dma_fence *fence;

	fence = first_unsignalled(bound->root->resv);
	list_for_each_entry(vm_bo, &bound->externals, external) {
		if (fence)
			break;
		fence = first_unsignalled(vm_bo->bo->base.resv);
	}
	if (!fence && bound->last && !dma_fence_is_signaled(bound->last))
		fence = dma_fence_get(bound->last);
	return fence;
}

/* From here on somebody may ask for the end of the chain, before it has begun. */
static void publish(struct agate_exec *exec, struct agate_long *lng,
		    struct agate_preempt *preempt)
{
	dma_fence_get(&preempt->base);
	spin_lock(&lng->lock);
	lng->preempt = preempt;
	lng->slice_over = false;
	spin_unlock(&lng->lock);
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
		queue_delayed_work(lng->wq, &lng->slice, msecs_to_jiffies(slice_ms));
	} else {
		preempt_signal(lng, preempt);
	}
	dma_fence_end_signalling(cookie);
	return PTR_ERR_OR_ZERO(fence);
}

static int lock_and_rebind(struct agate_vm *vm, struct agate_exec *exec)
{
	int ret = agate_vm_lock_all(vm, exec);

	if (!ret)
		ret = agate_vm_rebind(vm, exec);
	return ret ? ret : agate_userptr_rebind(vm);
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
		ret = vm->bound.chains.moved ? -EINPROGRESS : agate_userptr_hold(vm);
	}
	if (!ret) {
		publish(&exec, &job->adev->lng, preempt);
		ret = start(job, preempt);
		agate_userptr_let_go(vm);
	}
	agate_exec_fini(&exec);
	return ret;
}

/* The pages are found as if the process that bound them accessed them. */
static int collect(struct agate_vm *vm)
{
	struct mm_struct *mm;
	int ret;

	if (list_empty(&vm->bound.userptrs))
		return 0;
	mm = agate_userptr_mm(vm);
	if (!mm)
		return -EFAULT;
	kthread_use_mm(mm);
	ret = agate_userptr_collect(vm);
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
		ret = collect(vm);
		if (!ret)
			ret = lock_and_start(job, preempt);
		agate_userptr_end(vm);
	}
	up_read(&vm->lock);
	return ret;
}

/* Inside drm_dev_enter(), so that unplugging waits for the start. */
static int power_and_start(struct agate_job *job)
{
	struct agate_preempt *preempt = preempt_create(job->adev);
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

static void moved(struct dma_fence *fence, struct dma_fence_cb *cb)
{
	struct agate_chains *chains = container_of(cb, struct agate_chains, moved_cb);

	WRITE_ONCE(chains->waits, false);
	agate_long_kick(vm_of(chains)->adev);
}

/* Others may run meanwhile. */
static void wait_for_moves(struct agate_chains *chains)
{
	WRITE_ONCE(chains->waits, true);
	if (dma_fence_add_callback(chains->moved, &chains->moved_cb, moved))
		moved(chains->moved, &chains->moved_cb);
}

static void begin(struct agate_job *job)
{
	struct agate_chains *chains = &job->vm->bound.chains;
	int ret = must_end(job);
	int idx;

	chains_wait_no_more(chains);
	WRITE_ONCE(chains->waits, false);
	if (!ret && !drm_dev_enter(&job->adev->drm, &idx))
		ret = -ENODEV;
	if (ret) {
		end_job(job, ret);
		return;
	}
	ret = power_and_start(job);
	drm_dev_exit(idx);
	if (ret == -EINPROGRESS)
		wait_for_moves(chains);
	else if (ret && ret != -EAGAIN)
		end_job(job, ret);
}

static bool is_running(struct agate_long *lng)
{
	bool running, ended;

	spin_lock(&lng->lock);
	running = lng->job && is_on_slot(lng->job, &ended);
	spin_unlock(&lng->lock);
	return running;
}

/* A job that has to end, and is not on the slot, with a reference, or NULL. */
static struct agate_job *doomed_job(struct agate_long *lng)
{
	struct agate_chains *chains;
	struct agate_job *job, *found = NULL;

	spin_lock(&lng->lock);
	list_for_each_entry(chains, &lng->turns, turn) {
		list_for_each_entry(job, &chains->jobs, turn) {
			if (!found && job != lng->job && must_end(job))
				found = job;
		}
	}
	if (found)
		kref_get(&found->ref);
	spin_unlock(&lng->lock);
	return found;
}

/* They need no slot for that. */
static void end_the_doomed(struct agate_long *lng)
{
	struct agate_job *job;

	while ((job = doomed_job(lng))) {
		end_job(job, must_end(job));
		agate_job_put(job);
	}
}

/*
 * One step at a time: the worker's queue is frozen only between two.  While a reset is pending
 * no chain starts; agate_long_let_go() kicks the worker when it is over.
 */
static void run_work(struct work_struct *work)
{
	struct agate_long *lng = container_of(work, struct agate_long, run);
	struct agate_device *adev = container_of(lng, struct agate_device, lng);
	struct agate_job *job;

	reap(adev);
	end_the_doomed(lng);
	if (READ_ONCE(lng->held) || atomic_read(&adev->reset.pending))
		return;
	job = next_job(lng);
	if (!job)
		return;
	begin(job);
	pass_turn(lng, job);
	agate_job_put(job);
	if (!is_running(lng))
		agate_long_kick(adev);
}

void agate_long_hold(struct agate_device *adev)
{
	spin_lock(&adev->lng.lock);
	WRITE_ONCE(adev->lng.held, true);
	spin_unlock(&adev->lng.lock);
}

void agate_long_let_go(struct agate_device *adev)
{
	spin_lock(&adev->lng.lock);
	WRITE_ONCE(adev->lng.held, false);
	spin_unlock(&adev->lng.lock);
	agate_long_kick(adev);
}

/* ---- Ends -------------------------------------------------------------- */

void agate_long_end_vm(struct agate_vm *vm)
{
	ban(vm);
	queue_work(vm->adev->lng.stop_wq, &vm->adev->lng.stop);
	agate_long_kick(vm->adev);
}

void agate_long_cancel(struct agate_device *adev)
{
	queue_work(adev->lng.stop_wq, &adev->lng.stop);
	agate_long_kick(adev);
}

/* Any of those that are left, with a reference. */
static struct agate_job *any_job(struct agate_long *lng)
{
	struct agate_chains *chains;
	struct agate_job *job = NULL;

	spin_lock(&lng->lock);
	chains = list_first_entry_or_null(&lng->turns, struct agate_chains, turn);
	if (chains) {
		job = first_job(chains);
		kref_get(&job->ref);
	}
	spin_unlock(&lng->lock);
	return job;
}

void agate_long_end_all(struct agate_device *adev)
{
	struct agate_job *job;

	reap(adev);
	while ((job = any_job(&adev->lng))) {
		end_job(job, -ENODEV);
		agate_job_put(job);
	}
}

/* ---- Life -------------------------------------------------------------- */

int agate_long_init(struct agate_device *adev)
{
	struct agate_long *lng = &adev->lng;

	spin_lock_init(&lng->lock);
	agate_lock_class(&lng->lock, AGATE_LOCK_LONG);
	INIT_LIST_HEAD(&lng->turns);
	INIT_WORK(&lng->run, run_work);
	INIT_DELAYED_WORK(&lng->slice, slice_work);
	INIT_WORK(&lng->stop, stop_work);
	INIT_WORK(&lng->behind_reset, behind_reset_work);
	lng->wq = alloc_ordered_workqueue("agate-long", WQ_FREEZABLE);
	if (!lng->wq)
		return -ENOMEM;
	lng->stop_wq = alloc_ordered_workqueue("agate-preempt", WQ_MEM_RECLAIM | WQ_HIGHPRI);
	if (!lng->stop_wq) {
		destroy_workqueue(lng->wq);
		return -ENOMEM;
	}
	return 0;
}

void agate_long_release(struct agate_device *adev)
{
	struct agate_long *lng = &adev->lng;

	cancel_delayed_work_sync(&lng->slice);
	destroy_workqueue(lng->stop_wq);
	destroy_workqueue(lng->wq);
}
