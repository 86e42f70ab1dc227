/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The mover: the card's engine that copies, fills and stores, in the order of its ring.
 *
 * A job is some commands, and a FENCE command behind them.  Its finished fence signals when
 * the mover has carried them all out.  A job depends on nothing, see agate_move(): whoever
 * pushes one has waited.
 *
 * A command that fails is tried once more: RESET makes the mover go on from HEAD.  If it fails
 * again, its job ends with -EIO, and the mover goes on behind it.
 */
#ifndef AGATE_MOVER_H
#define AGATE_MOVER_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>
#include <drm/gpu_scheduler.h>

#include "agate_card.h"
#include "agate_park.h"

struct agate_device;

/* Commands in the ring, and how many of them one job may have, with its FENCE. */
#define AGATE_RING_ORDER	12
#define AGATE_RING_COMMANDS	BIT(AGATE_RING_ORDER)
#define AGATE_MOVER_DEPTH	4
#define AGATE_MOVER_JOB_MAX	(AGATE_RING_COMMANDS / AGATE_MOVER_DEPTH - 1)

/* How long a wait for the mover lasts before it asks agate_mover_look_again(). */
#define AGATE_MOVER_LOOK	msecs_to_jiffies(200)

/**
 * struct agate_mover - the mover of a device
 * @entity: for moves and clears, one after the other.  It keeps the fence of its last job,
 *	and with it this module: so it lives from the first job's creation until no job is left,
 *	and is NULL in between
 * @push_lock: protects @entity and @jobs; held across arming and pushing, so that fences are
 *	queued in order.  On a fence's way to its signal, for the changes of page tables
 * @lock: protects the rest
 * @ring: struct agate_mover_cmd[AGATE_RING_COMMANDS], as the CPUs see it
 * @tail: commands ever written to it
 * @seqno: of the newest job
 * @running: jobs in the ring, the oldest one first
 * @undone: jobs that were pushed and have not ended: those in the ring, and those before it
 * @retried: HEAD of the command that was tried again last
 * @dead: 0; else no job is started any more, and all end with this error
 * @cut_off: nothing stopped it, and the function is no bus master any more
 * @jobs: that were not freed yet
 * @idle: woken when a job is freed, and when none is undone
 */
struct agate_mover {
	struct drm_sched_entity *entity;
	struct mutex push_lock;		/* arming and pushing; @entity, @jobs */
	spinlock_t lock;		/* the ring */
	struct agate_mover_cmd __iomem *ring;
	u32 tail;
	u32 seqno;
	struct list_head running;
	unsigned int undone;
	u32 retried;
	int dead;
	bool cut_off;
	unsigned int jobs;
	wait_queue_head_t idle;
};

/**
 * struct agate_mover_job - commands for the mover
 * @base: the scheduler's part
 * @adev: the device
 * @done: signals when its FENCE command has been carried out
 * @started: it was written to the ring, or refused
 * @link: in mover.running while it is in the ring
 * @seqno: of its FENCE command
 * @head: number of its first command in the ring
 * @seen: HEAD when its time ran out last
 * @parked: it is freed later
 * @count: of @cmds
 * @cmds: what the caller wants; complete before it is pushed
 */
struct agate_mover_job {
	struct drm_sched_job base;
	struct agate_device *adev;
	struct dma_fence *done;
	bool started;
	struct list_head link;
	u32 seqno;
	u32 head;
	u32 seen;
	struct agate_parked parked;
	unsigned int count;
	struct agate_mover_cmd cmds[];
};

/**
 * agate_mover_init - start the mover's scheduler
 * @adev: its firmware runs
 * @ring: the ring's memory
 *
 * Return: 0 or -ENOMEM.
 */
int agate_mover_init(struct agate_device *adev, struct agate_mover_cmd __iomem *ring);

/**
 * agate_mover_shutdown - stop the mover, and end all jobs that are not done with -ENODEV
 * @adev: the device
 *
 * Context: may sleep; may be called again.
 */
void agate_mover_shutdown(struct agate_device *adev);

/**
 * agate_mover_status - does the mover work?
 * @adev: the device
 *
 * Return: 0; -EIO: it was given up; -ENODEV when the GPU is gone.
 */
int agate_mover_status(struct agate_device *adev);

/**
 * agate_mover_look_again - does a wait for the mover go on?
 * @adev: the device
 * @look: how often AGATE_MOVER_LOOK has passed
 *
 * While a GPU is gone nobody ends its moves: that has to wait for the caller.
 *
 * Return: 0; -ENODEV when the GPU is gone; -EBUSY when it was waited for long enough.
 */
int agate_mover_look_again(struct agate_device *adev, unsigned int look);

/**
 * agate_mover_suspend - let all jobs end, and hand no other one to the mover any more
 * @adev: the device
 *
 * New jobs are queued until agate_mover_resume(): none of them may read memory that is lost.
 *
 * Context: may sleep; not from timeout_wq.
 * Return: 0; -EBUSY: it does not get done, -ENODEV when the GPU is gone, and then nothing has
 * changed.
 */
int agate_mover_suspend(struct agate_device *adev);

/**
 * agate_mover_resume - hand out the jobs that are queued
 * @adev: the device, whose firmware runs, with the context that the mover had
 */
void agate_mover_resume(struct agate_device *adev);

/**
 * agate_mover_wakes - keep a mover that nothing stopped away from the memory
 * @adev: the device, whose function runtime PM has just woken
 *
 * Context: any.
 */
void agate_mover_wakes(struct agate_device *adev);

/** agate_mover_fini - end all jobs, and wait until they are freed */
void agate_mover_fini(struct agate_device *adev);

/**
 * agate_mover_job_create - make a job
 * @adev: the device
 * @count: commands, 1 .. AGATE_MOVER_JOB_MAX; all are zero
 *
 * Return: the job, or an ERR_PTR: -ENOMEM.  That the device has gone is what its fence says.
 */
struct agate_mover_job *agate_mover_job_create(struct agate_device *adev, unsigned int count);

/** agate_mover_job_abandon - free a job that was never pushed */
void agate_mover_job_abandon(struct agate_mover_job *job);

/**
 * agate_mover_push - give a job to the mover
 * @job: complete; the mover frees it
 *
 * Context: may sleep; on a fence's way to its signal.
 * Return: its finished fence, with a reference.
 */
struct dma_fence *agate_mover_push(struct agate_mover_job *job);

/**
 * agate_mover_serve - look what the mover has done
 * @adev: the device
 *
 * Context: may sleep; on a fence's way to its signal.
 */
void agate_mover_serve(struct agate_device *adev);

#endif /* AGATE_MOVER_H */
