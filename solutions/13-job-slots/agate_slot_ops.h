/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Operations on slots and their chains, which no other topic uses.  agate_job_slot.c
 * implements them, and agate_slot_halt.c combines them for resets and removal.
 * Callers hold slots.lock for all of them except agate_slot_signal().
 */
#ifndef AGATE_SLOT_OPS_H
#define AGATE_SLOT_OPS_H

#include "agate_slot.h"

/* How often a stop looks at the slots, with a short sleep in between, before it gives up. */
#define AGATE_STOP_LOOKS	100

/**
 * struct agate_slot_ends - jobs that have ended, for when slots.lock is dropped
 * @count: how many
 * @job: with a reference
 *
 * A fence's callbacks may take any lock, and one of them may free the job.
 */
struct agate_slot_ends {
	unsigned int count;
	struct agate_job *job[AGATE_MAX_SLOTS * AGATE_SLOT_DEPTH];
};

/**
 * agate_slot_signal - hand the BOs of the gathered jobs to the CPUs, then signal the
 * jobs' fences
 * @ends: emptied
 */
void agate_slot_signal(struct agate_slot_ends *ends);

/**
 * agate_slot_end_job - end a job
 * @job: off its slot
 * @error: 0, or the error that its fences will report
 * @ends: this adds the job here
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
 * agate_slot_take - take off the chain at the front, which the hardware has ended
 * @slot: the slot; the caller has looked at the GPU's clock since, with agate_busy_look()
 *
 * Return: its job, or NULL.
 */
struct agate_job *agate_slot_take(struct agate_slot *slot);

/**
 * agate_slot_withdraw - take the chain in NEXT back
 * @adev: the device
 * @n: the slot
 *
 * Return: its job, or NULL when NEXT is empty or the slot took the chain first.
 */
struct agate_job *agate_slot_withdraw(struct agate_device *adev, unsigned int n);

/**
 * agate_slot_collect - take off the chains that have ended
 * @adev: the device
 * @restart: start chains again that waited behind a failed one; otherwise they
 *	leave their slots without having ended
 * @ends: jobs whose fences are to be signalled
 */
void agate_slot_collect(struct agate_device *adev, bool restart, struct agate_slot_ends *ends);

#endif /* AGATE_SLOT_OPS_H */
