/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "slot", the inside: steps on slots and the chains in them, made by
 * agate_job_slot.c and put together for resets and removal by
 * agate_slot_halt.c.  slots.lock is held for all but agate_slot_signal().
 */
#ifndef AGATE_SLOT_OPS_H
#define AGATE_SLOT_OPS_H

#include "agate_slot.h"

/* Looks at the slots, each after a short sleep, before a stop is given up. */
#define AGATE_STOP_LOOKS	100

/**
 * struct agate_slot_ends - fences to be signalled once slots.lock is dropped
 * @count: how many
 * @fence: with a reference
 *
 * What a fence's callbacks do is not ours to know, and one of them may free the
 * job.
 */
struct agate_slot_ends {
	unsigned int count;
	struct dma_fence *fence[AGATE_MAX_SLOTS * AGATE_SLOT_DEPTH];
};

/**
 * agate_slot_signal - signal the fences that were gathered
 * @ends: emptied
 */
void agate_slot_signal(struct agate_slot_ends *ends);

/**
 * agate_slot_end_job - a job ends
 * @job: off its slot
 * @error: 0 or what its fences will say
 * @ends: its fence is added here
 */
void agate_slot_end_job(struct agate_job *job, int error, struct agate_slot_ends *ends);

/**
 * agate_slot_ran_ns - how long the chain at the front has been running
 * @job: the chain
 * @slot: where it is
 * @now: the time
 */
s64 agate_slot_ran_ns(const struct agate_job *job, const struct agate_slot *slot, ktime_t now);

/**
 * agate_slot_take - take the chain at the front off: the hardware has ended it
 * @slot: the slot
 *
 * Return: its job, or NULL.
 */
struct agate_job *agate_slot_take(struct agate_slot *slot);

/**
 * agate_slot_withdraw - take the chain in NEXT back
 * @adev: the device
 * @n: the slot
 *
 * Return: its job, or NULL when there is none or the slot was faster.
 */
struct agate_job *agate_slot_withdraw(struct agate_device *adev, unsigned int n);

/**
 * agate_slot_collect - take off what has ended
 * @adev: the device
 * @restart: chains that waited behind one that failed start anew; otherwise
 *	they are off their slots and have not ended
 * @ends: fences to be signalled
 */
void agate_slot_collect(struct agate_device *adev, bool restart, struct agate_slot_ends *ends);

#endif /* AGATE_SLOT_OPS_H */
