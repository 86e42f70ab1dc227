/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "reset" (lab 15): recovery when a job or the GPU hangs.
 *
 * When a chain runs longer than the module parameter timeout_ms, the driver
 * soft-stops it, then hard-stops it, and when neither helps, resets the GPU.  The
 * guilty job ends with -ETIME; every other job goes on, or starts again after the
 * reset.
 */
#ifndef AGATE_RESET_H
#define AGATE_RESET_H

#include <linux/dma-fence.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

struct agate_device;
struct agate_job;

/**
 * struct agate_reset - recovery
 * @lock: allows one recovery at a time; of the driver's locks only unplug_lock is
 *	outside it; the frame initialises it, and @queue_lock
 * @down: the GPU sleeps: the schedulers are stopped, and no chain is on the GPU; under @lock
 * @work: resets the GPU on queues.timeout_wq for callers that cannot wait for it
 * @ready: the topic is present, and @work may be queued; changes under @lock and
 *	@queue_lock
 * @queue_lock: nobody queues @work after @ready became false; innermost
 * @pending: a reset is scheduled and not over: the GPU may still reach memory that
 *	was just unmapped; set under @queue_lock
 * @fence: signals when the pending reset is over; NULL while nobody has asked for it;
 *	under @queue_lock
 * @fence_lock: of that fence, and of its predecessors
 */
struct agate_reset {
	/* One recovery at a time. */
	struct mutex lock;
	bool down;
	struct work_struct work;
	/* Orders queueing against the end of queueing. */
	spinlock_t queue_lock;
	bool ready;
	atomic_t pending;
	struct dma_fence *fence;
	/* Protects the fences' callbacks; dma_fence_init() wants one. */
	spinlock_t fence_lock;
};

int agate_reset_topic_init(struct agate_device *adev);
void agate_reset_topic_fini(struct agate_device *adev);

/**
 * agate_reset_topic_suspend - take all jobs off the GPU, and start none
 * @adev: the device
 *
 * A chain that stops goes on where it was after agate_reset_topic_resume(), another one
 * begins again.  A chain that has run for too long ends with -ETIME.  If the GPU does not
 * let go of a chain, or a reset was pending, this resets it.
 *
 * Context: may sleep.
 * Return: 0; an error if the GPU did not come back from a reset, and then it is lost.
 */
int agate_reset_topic_suspend(struct agate_device *adev);

/**
 * agate_reset_topic_resume - start all jobs again
 * @adev: the device, whose GPU runs chains
 *
 * Return: 0.
 */
int agate_reset_topic_resume(struct agate_device *adev);

/** agate_reset_timeout - how long a job may run, in jiffies */
long agate_reset_timeout(void);

/**
 * agate_reset_timedout - the scheduler's timeout handler
 * @job: the job that has run for too long, or seems to have
 *
 * Context: queues.timeout_wq; stops and restarts the job's scheduler.
 */
void agate_reset_timedout(struct agate_job *job);

/**
 * agate_reset_schedule - schedule a reset of a GPU that does not answer a command
 * @adev: the device
 *
 * Context: any.  Does nothing while the topic is absent.
 */
void agate_reset_schedule(struct agate_device *adev);

/**
 * agate_reset_fence - the pending reset as a fence
 * @adev: the device
 *
 * For callers that own memory which the GPU may still reach: when the fence has signalled,
 * the GPU has forgotten all that it knew, or is gone.
 *
 * Context: may sleep; the caller is not on a fence's way to its signal.
 * Return: a reference to the fence, or NULL when no reset is pending.
 */
struct dma_fence *agate_reset_fence(struct agate_device *adev);

/**
 * agate_reset_device_lost - end all recovery and all jobs, because the device goes
 * @adev: the device
 *
 * Jobs that wait for a pending reset end with -ENODEV, too.
 *
 * Context: may sleep.
 */
void agate_reset_device_lost(struct agate_device *adev);

#endif /* AGATE_RESET_H */
