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

#include <linux/workqueue.h>
#include <drm/gpu_scheduler.h>

struct agate_device;
struct drm_file;

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
 * @job: zeroed; agate_sched_job_cleanup() undoes this
 * @entity: the client's queue
 * @file: the client
 */
int agate_sched_job_init(struct drm_sched_job *job, struct drm_sched_entity *entity,
			 struct drm_file *file);

/**
 * agate_sched_job_cleanup - let go of a job's fences
 * @job: never pushed, or freed by the scheduler
 *
 * The slot's fence is let go here and not when the last user of "finished" lets
 * go of that: such a user may be another driver and live longer than this one.
 */
void agate_sched_job_cleanup(struct drm_sched_job *job);

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
