// SPDX-License-Identifier: GPL-2.0-only
/*
 * Slot 2, and the long-running chains that share it: see agate_long.h.
 *
 * One worker puts chains on the slot (agate_long_start.c), and one takes them off
 * (agate_long_stop.c).  The first may wait for memory and for locks under which others wait for a
 * chain's end, so the second takes none of these.
 */
#include <linux/delay.h>
#include <drm/drm_drv.h>

#include "agate_device.h"
#include "agate_fault_vm.h"
#include "agate_lock_order.h"
#include "agate_long_ops.h"
#include "agate_queue.h"
#include "agate_slot.h"
#include "agate_vm.h"

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

int agate_long_must_end(const struct agate_job *job)
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
	return !READ_ONCE(chains->waits) && !agate_long_must_end(first_job(chains));
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

bool agate_long_others_ready(struct agate_long *lng)
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
	agate_fault_vm_drop(job);
	if (listed)
		agate_job_put(job);
}

static void end_job(struct agate_job *job, int error)
{
	agate_job_refuse(job, error);
	leave(job);
}

/* ---- Has it left? ------------------------------------------------------ */

bool agate_long_on_slot(struct agate_job *job, bool *ended)
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
	if (job && agate_long_on_slot(job, &ended))
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
		agate_preempt_signal(lng, preempt);
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

/* ---- The worker -------------------------------------------------------- */

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

void agate_long_back_off(void)
{
	fsleep(1000);
}

void agate_long_touched(struct agate_vm *vm)
{
	if (agate_vm_faults(vm)) {
		agate_fault_vm_touched(vm);
		return;
	}
	WRITE_ONCE(vm->bound.chains.waits, false);
	agate_long_kick(vm->adev);
}

static void begin(struct agate_job *job)
{
	struct agate_chains *chains = &job->vm->bound.chains;
	int ret = agate_long_must_end(job);
	int idx;

	chains_wait_no_more(chains);
	WRITE_ONCE(chains->waits, false);
	if (!ret && !drm_dev_enter(&job->adev->drm, &idx))
		ret = -ENODEV;
	if (ret) {
		end_job(job, ret);
		return;
	}
	ret = agate_long_start(job);
	drm_dev_exit(idx);
	if (ret == -EINPROGRESS)
		wait_for_moves(chains);
	else if (ret == -EAGAIN)
		agate_long_back_off();
	else if (ret && ret != -ENODATA)
		end_job(job, ret);
}

static bool is_running(struct agate_long *lng)
{
	bool running, ended;

	spin_lock(&lng->lock);
	running = lng->job && agate_long_on_slot(lng->job, &ended);
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
			if (!found && job != lng->job && agate_long_must_end(job))
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
		end_job(job, agate_long_must_end(job));
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
	agate_fault_vm_forget(adev);
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
	INIT_LIST_HEAD(&lng->faults);
	INIT_WORK(&lng->run, run_work);
	INIT_DELAYED_WORK(&lng->slice, agate_long_slice_work);
	INIT_WORK(&lng->stop, agate_long_stop_work);
	INIT_WORK(&lng->behind_reset, agate_long_behind_reset_work);
	lng->wq = alloc_ordered_workqueue("agate-long", WQ_FREEZABLE);
	if (!lng->wq)
		return -ENOMEM;
	lng->stop_wq = alloc_ordered_workqueue("agate-preempt", WQ_MEM_RECLAIM | WQ_HIGHPRI);
	if (!lng->stop_wq)
		goto no_stop_wq;
	lng->fault_wq = alloc_workqueue("agate-fault", WQ_UNBOUND | WQ_FREEZABLE, 0);
	if (!lng->fault_wq)
		goto no_fault_wq;
	return 0;

no_fault_wq:
	destroy_workqueue(lng->stop_wq);
no_stop_wq:
	destroy_workqueue(lng->wq);
	return -ENOMEM;
}

void agate_long_release(struct agate_device *adev)
{
	struct agate_long *lng = &adev->lng;

	cancel_delayed_work_sync(&lng->slice);
	destroy_workqueue(lng->fault_wq);
	destroy_workqueue(lng->stop_wq);
	/* It kicks the queue that comes next. */
	cancel_work_sync(&lng->behind_reset);
	destroy_workqueue(lng->wq);
}
