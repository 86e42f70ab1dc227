/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * drm_sched behind calls that are the same on every kernel.
 *
 * The scheduler keeps a queue for each client (an entity), waits for a job's
 * dependencies, hands it to the slot, and gives every job two fences: the slot
 * fence, which says that the hardware is done, and the finished fence, which
 * everybody else sees.  Stable kernels differ in the signatures, and in whether an
 * error travels from the first fence to the second.
 */
#ifndef AGATE_SCHED_H
#define AGATE_SCHED_H

#include <linux/kref.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <drm/gpu_scheduler.h>

#include "agate_stats.h"

struct agate_device;
struct drm_file;

/* Fragment, vertex, and compute: that of long-running jobs, which are only handed over. */
#define AGATE_SLOTS_USED	3

/**
 * struct agate_scheds - all schedulers of a device
 * @ref: the device and every slot fence hold one, because a fence may outlive the
 *	device
 * @rcu: readers may read names under it
 * @lock: protects @stats
 * @stats: counts living fences; NULL once the device has gone
 * @slot: one for each slot
 * @mover: that of the card's mover; see agate_mover.h
 * @bind: that of changes of address spaces; see agate_bind.h
 */
struct agate_scheds {
	struct kref ref;
	struct rcu_head rcu;
	spinlock_t lock;	/* @stats */
	struct agate_stats *stats;
	struct drm_gpu_scheduler slot[AGATE_SLOTS_USED];
	struct drm_gpu_scheduler mover;
	struct drm_gpu_scheduler bind;
};

/**
 * agate_scheds_alloc - allocate a device's schedulers, without starting them
 * @stats: the device's counters
 *
 * Return: the schedulers with one reference, or NULL.
 */
struct agate_scheds *agate_scheds_alloc(struct agate_stats *stats);

/**
 * agate_scheds_put - drop the device's reference, after its schedulers have ended
 * @scheds: the schedulers
 *
 * Remaining fences no longer count; their owners keep them.
 */
void agate_scheds_put(struct agate_scheds *scheds);

/**
 * agate_scheds_get_fence - count a new fence, and take a reference for it
 * @scheds: its schedulers
 *
 * Return: @scheds.
 */
struct agate_scheds *agate_scheds_get_fence(struct agate_scheds *scheds);

/**
 * agate_scheds_put_fence - undo agate_scheds_get_fence() when the fence dies
 * @scheds: its schedulers
 *
 * Context: any.
 */
void agate_scheds_put_fence(struct agate_scheds *scheds);

/**
 * agate_sched_init - start a scheduler for one slot
 * @sched: to be filled in
 * @ops: run, timeout and free
 * @depth: jobs that the slot's hardware holds at once
 * @timeout: of one job, in jiffies, or MAX_SCHEDULE_TIMEOUT
 * @timeout_wq: ordered, shared by all slots, so that timeouts come one by one
 * @name: for traces; a constant string
 * @dev: for messages
 *
 * Return: 0 or an error.
 */
int agate_sched_init(struct drm_gpu_scheduler *sched, const struct drm_sched_backend_ops *ops,
		     unsigned int depth, long timeout, struct workqueue_struct *timeout_wq,
		     const char *name, struct device *dev);

/**
 * agate_sched_fini - end a scheduler that has no job any more
 * @sched: the scheduler; no entity is pushed to again
 */
void agate_sched_fini(struct drm_gpu_scheduler *sched);

/**
 * agate_sched_entity_init - create a client's queue on one scheduler
 * @entity: to be filled in
 * @sched: the scheduler
 */
int agate_sched_entity_init(struct drm_sched_entity *entity, struct drm_gpu_scheduler *sched);

/**
 * agate_sched_job_init - initialise a job of a client
 * @job: zeroed; agate_sched_job_cancel() undoes this
 * @entity: the client's queue
 * @file: the client, or NULL for the driver's own work
 */
int agate_sched_job_init(struct drm_sched_job *job, struct drm_sched_entity *entity,
			 struct drm_file *file);

/**
 * agate_sched_job_cancel - undo agate_sched_job_init() for a job that was never
 * armed
 * @job: the job
 */
void agate_sched_job_cancel(struct drm_sched_job *job);

/**
 * agate_sched_job_free - free the scheduler's part of a job that it is done with
 * @job: the job
 * @done: its slot fence
 *
 * Others may hold references to the finished fence.  From here on it keeps the slot
 * fence alive, and thereby everything that it needs of this driver.  The scheduler
 * does this itself for a job that ran, but not for a job that was refused.
 */
void agate_sched_job_free(struct drm_sched_job *job, struct dma_fence *done);

/**
 * agate_sched_job_set_error - set the error that the finished fence will report
 * @job: neither its slot's fence nor its finished fence has signalled
 * @error: negative errno
 */
void agate_sched_job_set_error(struct drm_sched_job *job, int error);

/**
 * agate_sched_stop - keep the scheduler from starting and from freeing jobs
 * @sched: the scheduler
 * @bad: in its timeout handler, the job that timed out; else NULL
 *
 * A handler must call this even for a false alarm: the scheduler took @bad off its
 * list, and only this call puts it back.
 *
 * Context: may sleep.  Waits for fences whose callbacks another CPU runs, and since Linux 6.7
 * for run_job() and free_job() to return.  These signal fences themselves, so they end in any
 * case, but lockdep does not know that: do not call this between dma_fence_begin_signalling()
 * and dma_fence_end_signalling().
 */
void agate_sched_stop(struct drm_gpu_scheduler *sched, struct drm_sched_job *bad);

/**
 * agate_sched_restart - undo agate_sched_stop()
 * @sched: the scheduler
 *
 * Calls run_job() again for every job that the scheduler handed out and that has
 * not finished.  run_job() starts the job again, or returns the fence that the job
 * has.
 */
void agate_sched_restart(struct drm_gpu_scheduler *sched);

#endif /* AGATE_SCHED_H */
