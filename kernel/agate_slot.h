/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "slot" (lab 13): job chains on the hardware's slots.
 *
 * A slot holds two chains: the one that runs and the one in its NEXT registers,
 * which it takes by itself when the first ends well.  When the first fails the
 * slot waits until the interrupt is cleared, so the driver can withdraw the
 * second and start it anew.  Two chains on one slot differ in their chain flag:
 * a stop that names the flag cannot hit the wrong one.
 *
 * How a chain's end is told:
 *   DONE                        0
 *   TERMINATED (hard-stopped)   what the stopper said; -ECANCELED if nobody did
 *   STOPPED (soft-stopped)      what the stopper said; if nothing, the chain has
 *                               not ended and goes on from TAIL when it is run again
 *   JOB_POWER_FAULT, bus faults -EIO
 *   every other fault           -EINVAL
 */
#ifndef AGATE_SLOT_H
#define AGATE_SLOT_H

#include <linux/dma-fence.h>
#include <linux/ktime.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

#include "agate_regs.h"
#include "agate_sched.h"

struct agate_device;
struct agate_entities;
struct agate_mapping;
struct agate_vm;

#define AGATE_SLOT_FRAGMENT	0
#define AGATE_SLOT_VERTEX	1
/* Chains that one slot holds: the current one and NEXT. */
#define AGATE_SLOT_DEPTH	2

/**
 * struct agate_job - one submitted chain
 * @base: the scheduler's part
 * @ref: the scheduler holds one from push to free, and the ioctl one
 * @adev: the device
 * @vm: the address space it runs in, with a reference
 * @entities: the queues of the file it came from, with a reference
 * @jc: first job header; moved on by a soft stop; 0 never
 * @slot: AGATE_SLOT_*
 * @done: the slot's fence; see agate_fence_create()
 * @started: when it went to the slot; under slots.lock, as all below
 * @on_slot: the hardware has it
 * @ended: @done is signalled or about to be; it never runs again
 * @chain_flag: JS_CONFIG_JOB_CHAIN_FLAG or 0
 * @tries: starts that came to nothing because the GPU did not answer
 * @stop_error: why it was stopped, 0 if it was not
 * @bo_count: BOs listed
 * @bos: listed BOs, with references
 * @mappings: of these BOs in @vm, with references
 * @busy: how many of @bos count this job in gpu_users
 * @done_cb: on @done: takes it out of these counts
 * @free_work: lets go of everything where sleeping is allowed
 */
struct agate_job {
	struct drm_sched_job base;
	struct kref ref;
	struct agate_device *adev;
	struct agate_vm *vm;
	struct agate_entities *entities;
	u64 jc;
	unsigned int slot;
	struct dma_fence *done;
	ktime_t started;
	bool on_slot;
	bool ended;
	u32 chain_flag;
	unsigned int tries;
	int stop_error;
	unsigned int bo_count;
	struct drm_gem_object **bos;
	struct agate_mapping **mappings;
	atomic_t busy;
	struct dma_fence_cb done_cb;
	struct work_struct free_work;
};

/**
 * struct agate_slot - one hardware slot
 * @job: [0] runs, or is about to; [1] is in NEXT, or has just been taken from it
 * @free_since: when the last chain ended: the next one was not running before
 */
struct agate_slot {
	struct agate_job *job[AGATE_SLOT_DEPTH];
	ktime_t free_since;
};

/**
 * struct agate_slots - all slots
 * @lock: protects all of this and the slots' registers; taken in threads only
 * @slot: the slots
 * @depth: chains given to a slot at once: AGATE_SLOT_DEPTH, or 1 where there are
 *	not enough address spaces for all of them to differ
 * @dead: the device goes away: nothing is started any more
 */
struct agate_slots {
	/* Protects the slots and their registers. */
	spinlock_t lock;
	struct agate_slot slot[AGATE_MAX_SLOTS];
	unsigned int depth;
	bool dead;
};

int agate_slot_topic_init(struct agate_device *adev);
void agate_slot_topic_fini(struct agate_device *adev);

/**
 * agate_fence_create - a slot fence, made while memory can be waited for
 * @adev: the device
 * @slot: AGATE_SLOT_*
 *
 * Each is a timeline of its own: after a stop or a reset, jobs of different
 * clients need not end in the order in which they came.
 *
 * Return: an unsignalled fence, or NULL.
 */
struct dma_fence *agate_fence_create(struct agate_device *adev, unsigned int slot);

/**
 * agate_fence_flush - wait until no CPU runs the code that frees a fence
 *
 * The module's last act: there are no fences any more.
 */
void agate_fence_flush(void);

/**
 * agate_slot_run - give a job to its slot
 * @job: with a slot fence
 *
 * After a reset the scheduler runs every job again that has not finished; one
 * that is still on its slot, or has ended meanwhile, just keeps its fence.  While
 * a reset is pending nothing is started: the job gets its fence, and its turn
 * after the reset.
 *
 * Context: a thread in the fence-signalling path: allocates nothing.
 * Return: the fence with a reference; -ECANCELED when the job's file is being
 * closed; -ENODEV when the device goes away; -EBUSY or -EIO from
 * agate_mmu_as_get(), -EIO when the slot does not take it.
 */
struct dma_fence *agate_slot_run(struct agate_job *job);

/**
 * agate_slot_serve - take finished chains off the slots and signal their fences
 * @adev: the device
 *
 * The JOB vector's thread; also called by whoever waits for a stop, since an
 * interrupt can be masked or lost.
 */
void agate_slot_serve(struct agate_device *adev);

/**
 * agate_slot_stop - stop one chain and wait until the slot let go of it
 * @job: run before
 * @hard: at once, or at the next job of the chain
 * @error: what it ends with
 *
 * Return: true when the job has ended, for whatever reason.
 */
bool agate_slot_stop(struct agate_job *job, bool hard, int error);

/**
 * agate_slot_cancel - a file is closed: none of its chains may go on
 * @adev: the device
 * @entities: the file's queues
 *
 * Those on the slots are hard-stopped; agate_slot_run() refuses the others.
 * Does not wait.
 */
void agate_slot_cancel(struct agate_device *adev, struct agate_entities *entities);

/**
 * agate_slot_halt - before a reset: every chain off the hardware
 * @adev: the device; schedulers are stopped, the JOB vector is suspended
 * @limit_ns: a chain that has run for so long is guilty, too: -ETIME
 *
 * Soft-stops what runs, so that innocent chains go on where they were; what
 * does not stop is taken off all the same and starts over from its head.  Must
 * be followed by a reset of the GPU.
 */
void agate_slot_halt(struct agate_device *adev, s64 limit_ns);

/**
 * agate_slot_shutdown - the device goes away: every chain ends with -ENODEV
 * @adev: the device
 *
 * If the GPU still answers, it is made to let go of the chains' memory first.
 * Nothing is started any more.  May be called more than once.
 *
 * Context: may sleep.
 */
void agate_slot_shutdown(struct agate_device *adev);

#endif /* AGATE_SLOT_H */
