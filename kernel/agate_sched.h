/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * drm_sched, behind calls that are the same on every kernel.
 *
 * The scheduler keeps a queue for each client (an entity), waits for a job's
 * dependencies, hands it to the slot, and gives every job two fences: the
 * slot's own, which says that the hardware is done, and "finished", which the
 * rest of the world sees.  Signatures differ between stable kernels, and so
 * does whether an error travels from the first fence to the second.
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

/* The hardware has a third slot, which no job is sent to yet. */
#define AGATE_SLOTS_USED	2

/**
 * struct agate_scheds - all schedulers of a device
 * @ref: the device and every slot fence hold one: a fence may outlive the device
 * @rcu: names may be read under it
 * @lock: protects @stats
 * @stats: where living fences are counted; NULL once the device has gone
 * @slot: one for each slot
 */
struct agate_scheds {
	struct kref ref;
	struct rcu_head rcu;
	spinlock_t lock;	/* @stats */
	struct agate_stats *stats;
	struct drm_gpu_scheduler slot[AGATE_SLOTS_USED];
};

/**
 * agate_scheds_alloc - memory for a device's schedulers, which are not started
 * @stats: the device's counters
 *
 * Return: the schedulers with one reference, or NULL.
 */
struct agate_scheds *agate_scheds_alloc(struct agate_stats *stats);

/**
 * agate_scheds_put - the device goes; its schedulers have ended
 * @scheds: the schedulers
 *
 * Fences that are left no longer count: whoever has them keeps them.
 */
void agate_scheds_put(struct agate_scheds *scheds);

/**
 * agate_scheds_get_fence - a fence is born
 * @scheds: its schedulers
 *
 * Return: @scheds.
 */
struct agate_scheds *agate_scheds_get_fence(struct agate_scheds *scheds);

/**
 * agate_scheds_put_fence - a fence has died
 * @scheds: its schedulers
 *
 * Context: any.
 */
void agate_scheds_put_fence(struct agate_scheds *scheds);

/**
 * agate_sched_init - a scheduler for one slot
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
 * agate_sched_entity_init - a client's queue on one scheduler
 * @entity: to be filled in
 * @sched: the scheduler
 */
int agate_sched_entity_init(struct drm_sched_entity *entity, struct drm_gpu_scheduler *sched);

/**
 * agate_sched_job_init - a job of a client
 * @job: zeroed; agate_sched_job_cancel() undoes this
 * @entity: the client's queue
 * @file: the client
 */
int agate_sched_job_init(struct drm_sched_job *job, struct drm_sched_entity *entity,
			 struct drm_file *file);

/**
 * agate_sched_job_cancel - let go of a job that was never armed
 * @job: the job
 */
void agate_sched_job_cancel(struct drm_sched_job *job);

/**
 * agate_sched_job_free - let go of a job that the scheduler is done with
 * @job: the job
 * @done: its slot fence
 *
 * From here on the finished fence, of which others may have references, keeps
 * the slot fence, and thereby what it needs of this driver.  The scheduler has
 * seen to that for a job that ran, but not for one that was refused.
 */
void agate_sched_job_free(struct drm_sched_job *job, struct dma_fence *done);

/**
 * agate_sched_job_set_error - what the finished fence will say
 * @job: the slot's fence is not signalled yet
 * @error: negative errno
 */
void agate_sched_job_set_error(struct drm_sched_job *job, int error);

/**
 * agate_sched_stop - no job starts, and none is freed, until it is restarted
 * @sched: the scheduler
 * @bad: in its timeout handler, the job that timed out; else NULL
 *
 * A handler must call this even for a false alarm: the scheduler took @bad off
 * its list, and puts it back here.
 */
void agate_sched_stop(struct drm_gpu_scheduler *sched, struct drm_sched_job *bad);

/**
 * agate_sched_restart - undo agate_sched_stop()
 * @sched: the scheduler
 *
 * Calls run_job() once more for every job that it handed out and that has not
 * finished: run_job() starts it again, or returns the fence that it has.
 */
void agate_sched_restart(struct drm_gpu_scheduler *sched);

#endif /* AGATE_SCHED_H */
