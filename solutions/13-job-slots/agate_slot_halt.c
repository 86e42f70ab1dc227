// SPDX-License-Identifier: GPL-2.0-only
/*
 * All slots at once: take everything off the hardware, before a reset, before sleep or
 * for good.
 */
#include <linux/delay.h>

#include "agate_busy.h"
#include "agate_device.h"
#include "agate_mmu.h"
#include "agate_pci.h"
#include "agate_regs.h"
#include "agate_slot.h"
#include "agate_slot_ops.h"

static bool slots_are_empty(struct agate_slots *slots)
{
	unsigned int n;

	for (n = 0; n < AGATE_MAX_SLOTS; n++) {
		if (slots->slot[n].job[0])
			return false;
	}
	return true;
}

/* Stop everything.  A job that stops ends with @error; if @error is 0 it does not end. */
static void slots_stop(struct agate_device *adev, u32 command, int error)
{
	struct agate_slots *slots = &adev->slots;
	struct agate_slot_ends ends = {};
	unsigned int n, place;

	spin_lock(&slots->lock);
	for (n = 0; n < AGATE_MAX_SLOTS; n++) {
		struct agate_job *job = agate_slot_withdraw(adev, n);

		if (job && error)
			agate_slot_end_job(job, error, &ends);
		for (place = 0; place < AGATE_SLOT_DEPTH; place++) {
			if (slots->slot[n].job[place] && error)
				slots->slot[n].job[place]->stop_error = error;
		}
		gpu_write(adev, JS_COMMAND(n), command);
	}
	spin_unlock(&slots->lock);
	agate_slot_signal(&ends);
}

/* Collect chains that stop, for a while; start none of them again. */
static bool slots_drain(struct agate_device *adev)
{
	struct agate_slots *slots = &adev->slots;
	unsigned int look;

	for (look = 0; look < AGATE_STOP_LOOKS && !agate_bus_lost(adev); look++) {
		struct agate_slot_ends ends = {};
		bool empty;

		spin_lock(&slots->lock);
		agate_slot_collect(adev, false, &ends);
		empty = slots_are_empty(slots);
		spin_unlock(&slots->lock);
		agate_slot_signal(&ends);
		if (empty)
			return true;
		usleep_range(100, 200);
	}
	return false;
}

/* Take off the chains that did not stop; @error as above. */
static void slots_give_up(struct agate_device *adev, int error)
{
	struct agate_slots *slots = &adev->slots;
	struct agate_slot_ends ends = {};
	struct agate_job *job;
	unsigned int n;

	spin_lock(&slots->lock);
	agate_busy_look(adev);
	for (n = 0; n < AGATE_MAX_SLOTS; n++) {
		while ((job = agate_slot_take(&slots->slot[n]))) {
			if (error || job->stop_error)
				agate_slot_end_job(job, error ? error : job->stop_error, &ends);
		}
	}
	spin_unlock(&slots->lock);
	agate_slot_signal(&ends);
}

/* Find every chain that hangs, so that one reset is enough for several. */
static void slots_judge(struct agate_device *adev, s64 limit_ns)
{
	struct agate_slots *slots = &adev->slots;
	ktime_t now = ktime_get();
	unsigned int n;

	spin_lock(&slots->lock);
	for (n = 0; n < AGATE_MAX_SLOTS; n++) {
		struct agate_slot *slot = &slots->slot[n];

		if (n != AGATE_SLOT_COMPUTE && slot->job[0] && !slot->job[0]->stop_error &&
		    agate_slot_ran_ns(slot->job[0], slot, now) >= limit_ns)
			slot->job[0]->stop_error = -ETIME;
	}
	spin_unlock(&slots->lock);
}

bool agate_slot_halt(struct agate_device *adev, s64 limit_ns)
{
	bool stopped;

	slots_judge(adev, limit_ns);
	slots_stop(adev, JS_COMMAND_SOFT_STOP, 0);
	stopped = slots_drain(adev);
	slots_give_up(adev, 0);
	return stopped;
}

void agate_slot_shutdown(struct agate_device *adev)
{
	struct agate_slots *slots = &adev->slots;
	bool cookie = dma_fence_begin_signalling(), reset;

	spin_lock(&slots->lock);
	slots->dead = true;
	spin_unlock(&slots->lock);

	slots_stop(adev, JS_COMMAND_HARD_STOP, -ENODEV);
	reset = !slots_drain(adev) && !agate_bus_lost(adev);
	/* A GPU that keeps a chain after a reset must not reach the memory freed next. */
	if (reset && agate_gpu_soft_reset(adev)) {
		pci_clear_master(adev->pdev);
		reset = false;
	}
	slots_give_up(adev, -ENODEV);
	/* The GPU has forgotten the addresses that the jobs' memory gives up, and has no power. */
	if (reset)
		agate_mmu_reset(adev);
	dma_fence_end_signalling(cookie);
}
