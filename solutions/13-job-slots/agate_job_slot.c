// SPDX-License-Identifier: GPL-2.0-only
/*
 * Job chains on the slots: start them, detect their end, stop them.
 *
 * slots.lock protects everything about a slot.  Fences are signalled after it is
 * dropped, because their callbacks may take any lock, and one of them may free the
 * job.
 */
#include <linux/bitops.h>
#include <linux/delay.h>

#include "agate_busy.h"
#include "agate_device.h"
#include "agate_fault.h"
#include "agate_hand_over.h"
#include "agate_long.h"
#include "agate_mmu.h"
#include "agate_queue.h"
#include "agate_regs.h"
#include "agate_reset.h"
#include "agate_slot.h"
#include "agate_slot_ops.h"

/* Starts of one job that may fail because the GPU needs a reset. */
#define START_TRIES	3

void agate_slot_signal(struct agate_slot_ends *ends)
{
	unsigned int i;

	for (i = 0; i < ends->count; i++) {
		agate_job_to_cpu(ends->job[i]);
		dma_fence_signal(ends->job[i]->done);
		agate_job_put(ends->job[i]);
	}
	ends->count = 0;
}

/* ---- One job ---------------------------------------------------------- */

/* The hardware has let go of a job: undo job_start(), once. */
static void job_off(struct agate_job *job)
{
	lockdep_assert_held(&job->adev->slots.lock);

	job->on_slot = false;
	agate_mmu_as_put(job->vm);
	agate_busy_end(job->adev);
	if (job->slot == AGATE_SLOT_COMPUTE)
		agate_long_kick(job->adev);
}

/* A chain in NEXT runs only after the chain ahead of it has ended. */
s64 agate_slot_ran_ns(const struct agate_job *job, const struct agate_slot *slot, ktime_t now)
{
	ktime_t since = job->started;

	if (ktime_after(slot->free_since, since))
		since = slot->free_since;
	return ktime_to_ns(ktime_sub(now, since));
}

/* By both clocks. */
static void job_account(struct agate_job *job, struct agate_slot *slot)
{
	ktime_t now = ktime_get();
	u64 cycles = agate_busy_gpu_cycles(job->adev);

	atomic64_add(agate_slot_ran_ns(job, slot, now), &job->entities->busy_ns[job->slot]);
	atomic64_add(cycles - max(slot->free_cycles, job->start_cycles),
		     &job->entities->cycles[job->slot]);
	slot->free_since = now;
	slot->free_cycles = cycles;
}

/* Set the error first: the threads that the fence wakes read it. */
void agate_slot_end_job(struct agate_job *job, int error, struct agate_slot_ends *ends)
{
	lockdep_assert_held(&job->adev->slots.lock);

	job->ended = true;
	if (error)
		agate_job_set_error(job, error);
	kref_get(&job->ref);
	ends->job[ends->count++] = job;
}

static u32 stop_command(const struct agate_job *job, bool hard)
{
	if (hard)
		return job->chain_flag ? JS_COMMAND_HARD_STOP_1 : JS_COMMAND_HARD_STOP_0;
	return job->chain_flag ? JS_COMMAND_SOFT_STOP_1 : JS_COMMAND_SOFT_STOP_0;
}

static int job_write_next(struct agate_job *job, int as)
{
	struct agate_device *adev = job->adev;
	unsigned int n = job->slot;
	const struct agate_reg_write writes[] = {
		agate_write_lo(JS_HEAD_NEXT_LO(n), job->jc),
		agate_write_hi(JS_HEAD_NEXT_LO(n), job->jc),
		agate_write_lo(JS_AFFINITY_NEXT_LO(n), adev->id.shader_present),
		agate_write_hi(JS_AFFINITY_NEXT_LO(n), adev->id.shader_present),
		{ JS_CONFIG_NEXT(n), JS_CONFIG_AS(as) | JS_CONFIG_THREAD_PRI(8) |
		  agate_chain_flushes(adev) | job->chain_flag },
		{ JS_COMMAND_NEXT(n), JS_COMMAND_START },
	};
	int ret = 0;

	/* The chain ahead of this one may still be in NEXT. */
	if (adev->slots.slot[n].job[0])
		ret = gpu_poll(adev, JS_COMMAND_NEXT(n), U32_MAX, JS_COMMAND_NOP);
	if (ret == -ETIMEDOUT) {
		dev_err(&adev->pdev->dev, "slot%u does not take its next chain\n", n);
		agate_reset_schedule(adev);
	}
	if (ret)
		return ret == -ENODEV ? ret : -EIO;

	gpu_write_list(adev, writes, ARRAY_SIZE(writes));
	return 0;
}

static int job_start(struct agate_job *job)
{
	struct agate_device *adev = job->adev;
	struct agate_slot *slot = &adev->slots.slot[job->slot];
	unsigned int place = slot->job[0] ? 1 : 0;
	int ret;

	lockdep_assert_held(&adev->slots.lock);

	if (adev->slots.dead)
		return -ENODEV;
	if (job->entities->closing)
		return -ECANCELED;
	if (atomic_read(&adev->reset.pending))
		return -EAGAIN;
	if (WARN_ON_ONCE(slot->job[place]))
		return -EBUSY;
	ret = agate_mmu_as_get(job->vm);
	if (ret < 0)
		return agate_bus_lost(adev) ? -ENODEV : ret;

	job->chain_flag = 0;
	if (place == 1)
		job->chain_flag = slot->job[0]->chain_flag ^ JS_CONFIG_JOB_CHAIN_FLAG;
	agate_busy_begin(adev, job, place == 0);
	ret = job_write_next(job, ret);
	if (ret) {
		agate_mmu_as_put(job->vm);
		agate_busy_end(adev);
		return ret;
	}
	slot->job[place] = job;
	job->started = ktime_get();
	job->on_slot = true;
	return 0;
}

/*
 * A GPU that does not answer will be reset, and then the job runs again.  Later
 * jobs wait for the reset, too: if they started now, they would overtake this job,
 * or get an address space that another client's chain still uses.
 */
static int job_start_or_wait(struct agate_job *job)
{
	int ret = job_start(job);

	if (ret == -EAGAIN)
		return 0;
	if (ret == -EIO && atomic_read(&job->adev->reset.pending) && ++job->tries < START_TRIES)
		ret = 0;
	return ret;
}

/* ---- One slot --------------------------------------------------------- */

/* The chain at the front has ended, and agate_busy_look() was called since. */
struct agate_job *agate_slot_take(struct agate_slot *slot)
{
	struct agate_job *job = slot->job[0];

	slot->job[0] = slot->job[1];
	slot->job[1] = NULL;
	if (job) {
		job_off(job);
		job_account(job, slot);
	}
	return job;
}

/*
 * Withdraw the chain in NEXT, unless the slot has taken it already.  The flag
 * tells: the chain ahead of it, which was current when this chain was written to
 * NEXT, has the other flag.
 */
struct agate_job *agate_slot_withdraw(struct agate_device *adev, unsigned int n)
{
	struct agate_slot *slot = &adev->slots.slot[n];
	struct agate_job *job = slot->job[1];

	lockdep_assert_held(&adev->slots.lock);

	if (!job)
		return NULL;
	gpu_write(adev, JS_COMMAND_NEXT(n), JS_COMMAND_NOP);
	if ((gpu_read(adev, JS_CONFIG(n)) & JS_CONFIG_JOB_CHAIN_FLAG) == job->chain_flag)
		return NULL;
	slot->job[1] = NULL;
	job_off(job);
	return job;
}

/*
 * The current chain did not end in DONE.  The slot waits for CLEAR, so its registers still
 * hold the reason, and the driver can safely withdraw the chain in NEXT.
 */
static void slot_failed(struct agate_device *adev, unsigned int n, struct agate_job **again,
			struct agate_slot_ends *ends)
{
	u32 status = gpu_read(adev, JS_STATUS(n));
	u64 tail = gpu_read64(adev, JS_TAIL_LO(n));
	struct agate_job *job;

	if (agate_bus_lost(adev))
		return;
	*again = agate_slot_withdraw(adev, n);
	job = agate_slot_take(&adev->slots.slot[n]);
	if (!job)
		return;
	if (AGATE_EXC_IS_FAULT(status))
		dev_err_ratelimited(&adev->pdev->dev, "slot%u: %s, chain 0x%llx, job 0x%llx\n", n,
				    agate_exception_name(status), job->jc, tail);

	if (status == AGATE_EXC_STOPPED && !job->stop_error)
		job->jc = tail;
	else if (AGATE_EXC_IS_FAULT(status) || !job->stop_error)
		agate_slot_end_job(job, agate_exception_errno(status), ends);
	else
		agate_slot_end_job(job, job->stop_error, ends);
}

static void slot_done(struct agate_slot *slot, struct agate_slot_ends *ends)
{
	struct agate_job *job = agate_slot_take(slot);

	if (job)
		agate_slot_end_job(job, 0, ends);
}

/* Start a chain again that was withdrawn because the chain ahead failed, or end it. */
static void slot_again(struct agate_job *job, bool restart, struct agate_slot_ends *ends)
{
	int ret = job->stop_error;

	if (!ret && restart)
		ret = job_start_or_wait(job);
	if (ret)
		agate_slot_end_job(job, ret, ends);
}

/* ---- All slots -------------------------------------------------------- */

/*
 * One DONE bit can stand for two chains.  If the driver still counts a chain on the
 * slot, JS_STATE, which CLEAR samples, says whether the slot is empty.  But a
 * failure between the read of RAWSTAT and CLEAR empties the slot, too.  So read
 * RAWSTAT again, and ignore the state of a slot that reports a failure.
 */
void agate_slot_collect(struct agate_device *adev, bool restart, struct agate_slot_ends *ends)
{
	struct agate_slots *slots = &adev->slots;
	struct agate_job *again[AGATE_MAX_SLOTS] = {};
	u32 seen = 0, state = 0, sampled;
	unsigned int n;

	lockdep_assert_held(&slots->lock);

	do {
		u32 status = agate_busy_look_at(adev, JOB_INT_RAWSTAT);

		if (!status || agate_bus_lost(adev))
			break;
		sampled = 0;
		for (n = 0; n < AGATE_MAX_SLOTS; n++) {
			if (status & JOB_INT_DONE(n))
				slot_done(&slots->slot[n], ends);
			if (status & JOB_INT_FAIL(n))
				slot_failed(adev, n, &again[n], ends);
			if ((status & (JOB_INT_DONE(n) | JOB_INT_FAIL(n))) && slots->slot[n].job[0])
				sampled |= JOB_JS_STATE_CURRENT(n) | JOB_JS_STATE_NEXT(n);
		}
		gpu_write(adev, JOB_INT_CLEAR, status);
		if (sampled)
			state = (state & ~sampled) | (gpu_read(adev, JOB_INT_JS_STATE) & sampled);
		seen |= status;
	} while (sampled);

	for (n = 0; n < AGATE_MAX_SLOTS; n++) {
		u32 busy = state & (JOB_JS_STATE_CURRENT(n) | JOB_JS_STATE_NEXT(n));

		if ((seen & JOB_INT_DONE(n)) && !(seen & JOB_INT_FAIL(n)) && !busy)
			slot_done(&slots->slot[n], ends);
		if (again[n])
			slot_again(again[n], restart, ends);
	}
}

void agate_slot_serve(struct agate_device *adev)
{
	struct agate_slot_ends ends = {};
	bool cookie = dma_fence_begin_signalling();

	spin_lock(&adev->slots.lock);
	agate_slot_collect(adev, true, &ends);
	spin_unlock(&adev->slots.lock);
	agate_slot_signal(&ends);
	dma_fence_end_signalling(cookie);
}

struct dma_fence *agate_slot_run(struct agate_job *job)
{
	struct agate_slots *slots = &job->adev->slots;
	struct dma_fence *fence;
	int ret = 0;

	spin_lock(&slots->lock);
	if (!job->on_slot && !job->ended)
		ret = job_start_or_wait(job);
	if (ret)
		job->ended = true;
	fence = ret ? ERR_PTR(ret) : dma_fence_get(job->done);
	spin_unlock(&slots->lock);
	return fence;
}

struct agate_job *agate_slot_current(struct agate_device *adev, unsigned int n)
{
	struct agate_slot *slot = &adev->slots.slot[n];
	struct agate_job *job = slot->job[0];

	lockdep_assert_held(&adev->slots.lock);
	if (slot->job[1] && (gpu_read(adev, JS_CONFIG(n)) & JS_CONFIG_JOB_CHAIN_FLAG) ==
			    slot->job[1]->chain_flag)
		job = slot->job[1];
	if (job)
		kref_get(&job->ref);
	return job;
}

/* Stop the chain in one place of a slot. */
static void slot_stop(struct agate_device *adev, unsigned int n, unsigned int place, bool hard,
		      int error, struct agate_slot_ends *ends)
{
	struct agate_job *job = adev->slots.slot[n].job[place];

	lockdep_assert_held(&adev->slots.lock);

	/* A chain that does not stop may be stopped again: keep the first reason. */
	if (!job->stop_error)
		job->stop_error = error;
	if (place == 1 && agate_slot_withdraw(adev, n)) {
		agate_slot_end_job(job, job->stop_error, ends);
		return;
	}
	gpu_write(adev, JS_COMMAND(n), stop_command(job, hard));
}

static void job_stop(struct agate_job *job, bool hard, int error)
{
	struct agate_device *adev = job->adev;
	struct agate_slots *slots = &adev->slots;
	struct agate_slot_ends ends = {};

	spin_lock(&slots->lock);
	if (job->on_slot)
		slot_stop(adev, job->slot, slots->slot[job->slot].job[1] == job, hard, error,
			  &ends);
	spin_unlock(&slots->lock);
	agate_slot_signal(&ends);
}

static bool is_off(struct agate_job *job)
{
	bool off;

	spin_lock(&job->adev->slots.lock);
	off = !job->on_slot;
	spin_unlock(&job->adev->slots.lock);
	return off;
}

bool agate_slot_stop(struct agate_job *job, bool hard, int error)
{
	struct agate_device *adev = job->adev;
	unsigned int look;

	job_stop(job, hard, error);
	for (look = 0; look < AGATE_STOP_LOOKS && !is_off(job); look++) {
		usleep_range(100, 200);
		agate_slot_serve(adev);
	}
	return is_off(job);
}

void agate_slot_kill(struct agate_job *job, int error)
{
	job_stop(job, true, error);
}

void agate_slot_cancel(struct agate_device *adev, struct agate_entities *entities)
{
	struct agate_slots *slots = &adev->slots;
	struct agate_slot_ends ends = {};
	unsigned int n, place;

	spin_lock(&slots->lock);
	entities->closing = true;
	for (n = 0; n < AGATE_MAX_SLOTS; n++) {
		for (place = AGATE_SLOT_DEPTH; place--;) {
			struct agate_job *job = slots->slot[n].job[place];

			if (job && job->entities == entities)
				slot_stop(adev, n, place, true, -ECANCELED, &ends);
		}
	}
	spin_unlock(&slots->lock);
	agate_slot_signal(&ends);
}

/* ---- Topic ------------------------------------------------------------ */

int agate_slot_topic_init(struct agate_device *adev)
{
	struct agate_slots *slots = &adev->slots;
	u32 mask = 0;
	unsigned int n;

	memset(slots->slot, 0, sizeof(slots->slot));
	slots->dead = false;
	slots->depth = AGATE_SLOT_DEPTH;
	if (hweight32(adev->mmu.present) < AGATE_MAX_SLOTS * AGATE_SLOT_DEPTH)
		slots->depth = 1;

	for (n = 0; n < AGATE_MAX_SLOTS; n++)
		mask |= JOB_INT_DONE(n) | JOB_INT_FAIL(n);
	agate_irq_enable(adev, AGATE_VECTOR_JOB, mask, agate_slot_serve);
	return 0;
}

void agate_slot_topic_fini(struct agate_device *adev)
{
	agate_irq_enable(adev, AGATE_VECTOR_JOB, 0, NULL);
}

int agate_slot_topic_suspend(struct agate_device *adev)
{
	agate_irq_suspend(adev, AGATE_VECTOR_JOB);
	return 0;
}

int agate_slot_topic_resume(struct agate_device *adev)
{
	agate_irq_resume(adev, AGATE_VECTOR_JOB);
	return 0;
}
