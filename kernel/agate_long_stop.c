// SPDX-License-Identifier: GPL-2.0-only
/*
 * Long-running chains leave the slot: see agate_long.h.
 *
 * Others wait for that, perhaps while memory is short.  So nothing here waits for memory, nor for
 * a lock under which somebody does.
 */
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/moduleparam.h>

#include "agate_device.h"
#include "agate_long_ops.h"
#include "agate_queue.h"
#include "agate_reset.h"
#include "agate_slot.h"

static unsigned int slice_ms = 10;
module_param(slice_ms, uint, 0444);
MODULE_PARM_DESC(slice_ms, "How long a long-running chain keeps its slot from others, in milliseconds (default 10)");

static unsigned int preempt_ms = 500;
module_param(preempt_ms, uint, 0444);
MODULE_PARM_DESC(preempt_ms, "How long others wait for a job of a long-running chain to end, in milliseconds (default 500)");

static unsigned int yield_ms = 10000;
module_param(yield_ms, uint, 0444);
MODULE_PARM_DESC(yield_ms, "How long a job of a long-running chain may keep its slot when others wait for it, in milliseconds (default 10000, 0 for ever)");

unsigned long agate_long_slice(void)
{
	return msecs_to_jiffies(slice_ms);
}

/* How to stop the chain on the slot, whose fence and job come with a reference. */
static bool has_to_stop(struct agate_long *lng, struct agate_preempt **preempt,
			struct agate_job **job, bool *end, bool *wait)
{
	bool stop;

	spin_lock(&lng->lock);
	*preempt = lng->preempt;
	*job = lng->job;
	*end = *job && (agate_long_must_end(*job) || lng->hogs);
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

/* Again and again: on a busy machine a GPU that is simulated does little meanwhile. */
static bool stop_in_time(struct agate_job *job, bool hard, int error)
{
	const ktime_t end = ktime_add_ms(ktime_get(), preempt_ms);
	bool stopped;

	do {
		stopped = agate_slot_stop(job, hard, error);
	} while (!stopped && ktime_before(ktime_get(), end));
	return stopped;
}

/* Return: has it left the slot? */
static bool stop_chain(struct agate_job *job, bool end, bool wait)
{
	/* If only its slice is over, it leaves when it comes to the end of a job. */
	if (!end && !wait)
		return agate_slot_stop(job, false, 0);
	if (!end && stop_in_time(job, false, 0))
		return true;
	if (stop_in_time(job, true, -ECANCELED))
		return true;
	agate_reset_schedule(job->adev);
	queue_work(job->adev->queues.timeout_wq, &job->adev->lng.behind_reset);
	return false;
}

void agate_long_stop_work(struct work_struct *work)
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
			agate_preempt_signal(lng, preempt);
		agate_long_kick(adev);
	}
	dma_fence_end_signalling(cookie);
	if (preempt)
		dma_fence_put(&preempt->base);
	if (job)
		agate_job_put(job);
}

/* The queue is ordered, so the reset is over. */
void agate_long_behind_reset_work(struct work_struct *work)
{
	struct agate_long *lng = container_of(work, struct agate_long, behind_reset);
	struct agate_device *adev = container_of(lng, struct agate_device, lng);
	struct agate_preempt *preempt = NULL;
	bool cookie = dma_fence_begin_signalling();
	bool ended;

	spin_lock(&lng->lock);
	if (lng->preempt && lng->job && !agate_long_on_slot(lng->job, &ended)) {
		preempt = lng->preempt;
		dma_fence_get(&preempt->base);
	}
	spin_unlock(&lng->lock);
	if (preempt) {
		agate_preempt_signal(lng, preempt);
		dma_fence_put(&preempt->base);
	}
	agate_long_kick(adev);
	dma_fence_end_signalling(cookie);
}

/* The others have waited for long enough.  A fault that nobody serves looks the same. */
static bool yields_too_late(struct agate_long *lng)
{
	const ktime_t now = ktime_get();

	lockdep_assert_held(&lng->lock);
	if (!lng->others_since)
		lng->others_since = now;
	return yield_ms && ktime_ms_delta(now, lng->others_since) >= yield_ms;
}

/* Return: when to look again, in jiffies; 0: there is no chain. */
static unsigned long slice_over(struct agate_long *lng, bool *stop)
{
	lockdep_assert_held(&lng->lock);
	if (!lng->job)
		return 0;
	*stop = agate_long_others_ready(lng);
	lng->slice_over = *stop;
	if (*stop)
		lng->hogs = yields_too_late(lng);
	else
		lng->others_since = 0;
	return *stop ? max(msecs_to_jiffies(yield_ms / 4), agate_long_slice()) :
	       agate_long_slice();
}

void agate_long_slice_work(struct work_struct *work)
{
	struct agate_long *lng = container_of(to_delayed_work(work), struct agate_long, slice);
	unsigned long again;
	bool stop = false;

	spin_lock(&lng->lock);
	again = slice_over(lng, &stop);
	spin_unlock(&lng->lock);
	if (stop)
		queue_work(lng->stop_wq, &lng->stop);
	if (again)
		queue_delayed_work(lng->wq, &lng->slice, again);
}
