/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of long-running chains share: see agate_long.h.
 */
#ifndef AGATE_LONG_OPS_H
#define AGATE_LONG_OPS_H

#include "agate_long.h"

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

/** agate_preempt_create - a fence with one reference, or NULL */
struct agate_preempt *agate_preempt_create(struct agate_device *adev);

/**
 * agate_preempt_signal - the chain is off the slot, or never gets there
 * @lng: slot 2
 * @preempt: its fence, which is another chain's by now if it has signalled
 */
void agate_preempt_signal(struct agate_long *lng, struct agate_preempt *preempt);

/**
 * agate_long_must_end - must a job end, whatever it does?
 * @job: the job
 *
 * Return: 0, or the error with which it ends: the device goes, its file is being closed, or its
 * address space is banned.
 */
int agate_long_must_end(const struct agate_job *job);

/**
 * agate_long_on_slot - does the hardware have it?
 * @job: the job
 * @ended: out: it never comes back there
 */
bool agate_long_on_slot(struct agate_job *job, bool *ended);

/** agate_long_others_ready - does another address space than lng->job's wait for its turn? */
bool agate_long_others_ready(struct agate_long *lng);

/**
 * agate_long_back_off - a process changes its memory all the time: it comes first, and others
 *
 * Context: sleeps for a millisecond or two.
 */
void agate_long_back_off(void);

/** agate_long_slice - how long a chain keeps the slot from others, in jiffies */
unsigned long agate_long_slice(void);

/**
 * agate_long_start - bring back what moved, and start a chain
 * @job: its turn has come; the caller is between drm_dev_enter() and drm_dev_exit()
 *
 * Return: 0, also if somebody asked for its end first, or a reset is pending: then it is not on the
 * slot; -EINPROGRESS: chains.moved has to signal first; -ENODATA: agate_long_touched() has to come
 * first; -EAGAIN: memory of a process changes; else the error with which it has to end.
 */
int agate_long_start(struct agate_job *job);

/* The functions of agate_long.stop, agate_long.behind_reset and agate_long.slice. */
void agate_long_stop_work(struct work_struct *work);
void agate_long_behind_reset_work(struct work_struct *work);
void agate_long_slice_work(struct work_struct *work);

#endif /* AGATE_LONG_OPS_H */
