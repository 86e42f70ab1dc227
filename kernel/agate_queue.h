/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Queues: a scheduler for each slot, a queue for each file in each scheduler, and
 * the life of a job from its creation to its end.
 *
 * Closing a file cancels its jobs: the driver hard-stops chains on the hardware,
 * and queued jobs end with -ECANCELED without having run.  This wakes everybody who
 * waits for them.
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
struct agate_vm;

/**
 * struct agate_queues - the schedulers
 * @scheds: one for each slot
 * @timeout_wq: ordered: job timeouts and resets come one at a time
 * @bind_wq: what follows when the mover has changed a page table
 * @jobs: jobs from submit to free
 * @idle: woken when a job is freed
 */
struct agate_queues {
	struct agate_scheds *scheds;
	struct workqueue_struct *timeout_wq;
	struct workqueue_struct *bind_wq;
	atomic_t jobs;
	wait_queue_head_t idle;
};

/**
 * struct agate_entities - one file's queues
 * @ref: the file and each of its jobs hold one, because the scheduler's thread
 *	accesses an entity for a moment after it has handed out the last job
 * @rcu: the callback of the last dependency accesses the entity then, too
 * @lock: held across arming and pushing, so that fences are queued in order
 * @closing: the file is being closed; under slots.lock
 * @jobs: of this file, from agate_queues_reserve() to free
 * @touches: threads that wait for memory (agate_touch.h)
 * @busy_ns: time its jobs spent on each slot, for fdinfo
 * @cycles: the same in cycles of the GPU's clock; 0 while nobody counts them
 * @entity: one for each slot
 */
struct agate_entities {
	struct kref ref;
	struct rcu_head rcu;
	/* Orders arming and pushing. */
	struct mutex lock;
	bool closing;
	atomic_t jobs;
	atomic_t touches;
	atomic64_t busy_ns[AGATE_MAX_SLOTS];
	atomic64_t cycles[AGATE_MAX_SLOTS];
	struct drm_sched_entity entity[AGATE_SLOTS_USED];
};

/**
 * agate_queues_init - start the schedulers
 * @adev: the device
 *
 * They end with the DRM device, after its last file: the entities of an open file
 * point to their run queues, also when the hardware has gone long ago.
 *
 * Return: 0 or an error with everything undone.
 */
int agate_queues_init(struct agate_device *adev);

/**
 * agate_queues_fini - end all jobs with -ENODEV
 * @adev: the device, which takes no more jobs
 *
 * Waits until every job is freed.  The schedulers go on without work.
 */
void agate_queues_fini(struct agate_device *adev);

/**
 * agate_queues_open - create the queues of a new file
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
 * The wait is bounded: a reset ends a chain that does not stop, and a queued job
 * waits only for foreign fences, which signal in finite time.
 */
void agate_queues_close(struct agate_device *adev, struct agate_entities *entities);

/** agate_entities_put - give back one reference; it may be the last */
void agate_entities_put(struct agate_entities *entities);

/**
 * agate_queues_reserve - wait until a file may have one more job, and count it
 * @afile: the file
 *
 * Every job comes from a client that can make them faster than the GPU ends them.  So a
 * file has at most AGATE_SUBMIT_MAX_JOBS, and then its client waits.  The wait ends when
 * a job has, because of a signal, or when the device goes, which ends all jobs.
 *
 * Context: may sleep; no lock of the driver is held, and the caller is not between
 * drm_dev_enter() and drm_dev_exit(), because removal would wait for the jobs' foreign
 * fences.
 * Return: 0, and then agate_queues_unreserve() or agate_job_create() has to follow;
 * -ERESTARTSYS.
 */
int agate_queues_reserve(struct agate_file *afile);

/**
 * agate_queues_unreserve - undo agate_queues_reserve()
 * @afile: the file
 */
void agate_queues_unreserve(struct agate_file *afile);

/**
 * agate_job_create - create an empty job of a file
 * @afile: the file whose queues the job uses
 * @vm: the address space that it runs in
 * @jc: first job header
 * @slot: AGATE_SLOT_*
 *
 * Takes over what agate_queues_reserve() counted, also when it fails.
 *
 * Return: the job with one reference, or NULL.
 */
struct agate_job *agate_job_create(struct agate_file *afile, struct agate_vm *vm, u64 jc,
				   unsigned int slot);

/**
 * agate_job_put - drop a reference to a job; after the last one the job is parked, and
 * all that it holds is freed
 * @job: the job
 *
 * Members that were never filled in are NULL, and are skipped.
 *
 * Context: any.
 */
void agate_job_put(struct agate_job *job);

/**
 * agate_job_set_error - set the error that the job's fences will report
 * @job: its fence @done has not signalled
 * @error: negative errno
 *
 * Nobody waits for the end of a long-running job by its finished fence: that one signals as soon
 * as the job is handed over, perhaps just now.  It reports no error.
 *
 * Context: any.
 */
void agate_job_set_error(struct agate_job *job, int error);

/**
 * agate_job_refuse - end a job that has been pushed, and is not on its slot
 * @job: the job; if it is on its slot, or has ended, this does nothing
 * @error: the error with which it ends
 */
void agate_job_refuse(struct agate_job *job, int error);

/**
 * agate_job_abandon - free a job that was never pushed, and all that it holds, at once
 * @job: the caller has the only reference
 *
 * Context: may sleep; no lock of the driver is held.
 */
void agate_job_abandon(struct agate_job *job);

/**
 * agate_job_add_done - give a job its slot fence
 * @job: lists its BOs
 *
 * When the fence signals, the job stops counting in its BOs' gpu_users before the
 * finished fence signals.
 *
 * Return: 0 or -ENOMEM.
 */
int agate_job_add_done(struct agate_job *job);

#endif /* AGATE_QUEUE_H */
