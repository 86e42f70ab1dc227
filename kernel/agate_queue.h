/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Queues: a scheduler for each slot, a queue in it for each file, and the life
 * of a job from its creation to its end.
 *
 * When a file is closed its jobs are cancelled: chains on the hardware are
 * hard-stopped, queued ones end with -ECANCELED without having run.  Whoever
 * waits for them goes on.
 */
#ifndef AGATE_QUEUE_H
#define AGATE_QUEUE_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/wait.h>
#include <linux/workqueue.h>

#include "agate_sched.h"
#include "agate_slot.h"

struct agate_device;
struct agate_file;

/**
 * struct agate_queues - the schedulers
 * @scheds: one for each slot
 * @timeout_wq: ordered: job timeouts and resets come one at a time
 * @free_wq: lets go of finished jobs; not the scheduler's thread, which must
 *	never wait for a lock that memory is allocated under
 * @jobs: jobs from submit to free
 * @idle: woken when a job was freed
 */
struct agate_queues {
	struct agate_scheds *scheds;
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
	/* Orders arming and pushing. */
	struct mutex lock;
	bool closing;
	atomic_t jobs;
	atomic64_t busy_ns[AGATE_MAX_SLOTS];
	struct drm_sched_entity entity[AGATE_SLOTS_USED];
};

/**
 * agate_queues_init - start the schedulers
 * @adev: the device
 *
 * Return: 0 or an error with everything undone.
 */
int agate_queues_init(struct agate_device *adev);

/**
 * agate_queues_fini - end all jobs with -ENODEV, then the schedulers
 * @adev: the device, which takes no more jobs
 *
 * Waits until every job is freed.
 */
void agate_queues_fini(struct agate_device *adev);

/**
 * agate_queues_open - queues for a new file
 * @adev: the device
 *
 * Return: the queues or an ERR_PTR.
 */
struct agate_entities *agate_queues_open(struct agate_device *adev);

/**
 * agate_queues_close - cancel a file's jobs and wait until they are freed
 * @adev: the device
 * @entities: the file's queues; no ioctl of the file is running
 *
 * The wait is bounded: a chain that does not stop is reset, and a queued job
 * waits for foreign fences, which signal in finite time.
 */
void agate_queues_close(struct agate_device *adev, struct agate_entities *entities);

/**
 * agate_job_create - a job of a file, with nothing in it yet
 * @afile: whose address space and queues it uses
 * @jc: first job header
 * @slot: AGATE_SLOT_*
 *
 * Return: the job with one reference, or NULL.
 */
struct agate_job *agate_job_create(struct agate_file *afile, u64 jc, unsigned int slot);

/**
 * agate_job_put - let go of a job; with the last reference, of all it holds
 * @job: the job
 *
 * What was not filled in is NULL, and skipped.
 *
 * Context: may sleep; no lock of the driver is held.
 */
void agate_job_put(struct agate_job *job);

/**
 * agate_job_add_done - give a job its slot fence
 * @job: lists its BOs
 *
 * When the fence signals, and before the world is told, the job no longer counts
 * in its BOs' gpu_users.
 *
 * Return: 0 or -ENOMEM.
 */
int agate_job_add_done(struct agate_job *job);

#endif /* AGATE_QUEUE_H */
