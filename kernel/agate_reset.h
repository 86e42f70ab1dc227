/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "reset" (lab 15): when a job or the GPU hangs.
 *
 * A chain that runs longer than the module parameter timeout_ms is soft-stopped,
 * then hard-stopped, and when neither helps the GPU is reset.  The guilty job
 * ends with -ETIME; every other job goes on, or starts again after a reset.
 */
#ifndef AGATE_RESET_H
#define AGATE_RESET_H

#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

struct agate_device;
struct agate_job;

/**
 * struct agate_reset - recovery
 * @lock: one recovery at a time; of the driver's locks only unplug_lock is
 *	outside it
 * @work: resets the GPU for those who cannot wait for it, on queues.timeout_wq
 * @ready: the topic is there: @work may be queued; changes under @lock and
 *	@queue_lock
 * @queue_lock: after @ready became false nobody queues @work; innermost
 * @pending: a reset was scheduled and is not over: the GPU may still reach
 *	memory that was just unmapped
 */
struct agate_reset {
	/* One recovery at a time. */
	struct mutex lock;
	struct work_struct work;
	/* Orders queueing against the end of queueing. */
	spinlock_t queue_lock;
	bool ready;
	atomic_t pending;
};

int agate_reset_topic_init(struct agate_device *adev);
void agate_reset_topic_fini(struct agate_device *adev);

/** agate_reset_timeout - how long a job may run, in jiffies */
long agate_reset_timeout(void);

/**
 * agate_reset_timedout - the scheduler's timeout handler
 * @job: has been running for too long, or seems to
 *
 * Context: queues.timeout_wq; stops and restarts the job's scheduler.
 */
void agate_reset_timedout(struct agate_job *job);

/**
 * agate_reset_schedule - the GPU does not answer a command: reset it, soon
 * @adev: the device
 *
 * Context: any.  Does nothing while the topic is absent.
 */
void agate_reset_schedule(struct agate_device *adev);

/**
 * agate_reset_flush - wait until a scheduled reset is over
 * @adev: the device
 *
 * For whoever has memory that the GPU may still reach.
 *
 * Context: may sleep; no lock of the driver is held.  Not from the JOB or the MMU
 * vector's thread, which a reset waits for, nor from queues.timeout_wq.
 */
void agate_reset_flush(struct agate_device *adev);

/**
 * agate_reset_device_lost - the GPU is gone: no recovery any more
 * @adev: the device
 *
 * Context: may sleep.
 */
void agate_reset_device_lost(struct agate_device *adev);

#endif /* AGATE_RESET_H */
