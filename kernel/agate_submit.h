/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "submit" (lab 14): from an ioctl to a job that the scheduler will run.
 *
 * Everything that can fail happens before the job is pushed: BOs found, their
 * pages present and mapped, fences reserved.  After that nothing does, and the
 * job's finished fence is in every listed BO and in every out-sync.
 *
 * When a file is closed its jobs are cancelled: chains on the hardware are
 * hard-stopped, queued ones end with -ECANCELED without having run.  Whoever
 * waits for them goes on.
 */
#ifndef AGATE_SUBMIT_H
#define AGATE_SUBMIT_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "agate_sched.h"
#include "agate_slot.h"

struct agate_device;
struct drm_device;
struct drm_file;

/**
 * struct agate_submit - the schedulers
 * @sched: one for each slot
 * @timeout_wq: ordered: job timeouts and resets come one at a time
 * @free_wq: lets go of finished jobs; not the scheduler's thread, which must
 *	never wait for a lock that memory is allocated under
 * @jobs: jobs from submit to free
 * @idle: woken when @jobs or an entities' jobs becomes 0
 */
struct agate_submit {
	struct drm_gpu_scheduler sched[AGATE_SLOTS_USED];
	struct workqueue_struct *timeout_wq;
	struct workqueue_struct *free_wq;
	atomic_t jobs;
	wait_queue_head_t idle;
};

/**
 * struct agate_entities - one file's queues
 * @ref: the file and each of its jobs hold one: the scheduler's thread touches
 *	an entity for a moment after it has handed out the last job
 * @rcu: the last dependency's callback does too
 * @lock: arming and pushing in one go, so that fences are queued in order
 * @closing: the file is being closed; under slots.lock
 * @jobs: of this file, from submit to free
 * @busy_ns: time its jobs spent on each slot, for fdinfo
 * @entity: one for each slot
 */
struct agate_entities {
	struct kref ref;
	struct rcu_head rcu;
	struct mutex lock;
	bool closing;
	atomic_t jobs;
	atomic64_t busy_ns[AGATE_MAX_SLOTS];
	struct drm_sched_entity entity[AGATE_SLOTS_USED];
};

int agate_submit_topic_init(struct agate_device *adev);
void agate_submit_topic_fini(struct agate_device *adev);

/**
 * agate_submit_open - queues for a new file
 * @adev: the device
 *
 * Return: the queues or an ERR_PTR.
 */
struct agate_entities *agate_submit_open(struct agate_device *adev);

/**
 * agate_submit_close - cancel a file's jobs and wait until they are freed
 * @adev: the device
 * @entities: the file's queues; no ioctl of the file is running
 *
 * The wait is bounded: a chain that does not stop is reset, and a queued job
 * waits for foreign fences, which signal in finite time.
 */
void agate_submit_close(struct agate_device *adev, struct agate_entities *entities);

/**
 * agate_submit_ioctl - SUBMIT
 * @dev: the device
 * @data: struct drm_agate_submit
 * @file: whose handles, sync objects and address space they are
 *
 * Return: 0, or the error of the uAPI with nothing changed.
 */
int agate_submit_ioctl(struct drm_device *dev, void *data, struct drm_file *file);

/**
 * agate_submit_wait_bo_ioctl - WAIT_BO
 * @dev: the device
 * @data: struct drm_agate_wait_bo
 * @file: whose handle it is
 *
 * Return: exactly 0, or the error of the uAPI; -ERESTARTSYS when interrupted,
 * and the restarted call has the same absolute timeout.
 */
int agate_submit_wait_bo_ioctl(struct drm_device *dev, void *data, struct drm_file *file);

#endif /* AGATE_SUBMIT_H */
