/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "slot" (lab 13): job chains on the hardware's slots.
 *
 * A slot holds two chains: the one that runs and the one in its NEXT registers,
 * which the slot takes by itself when the first ends well.  When the first fails,
 * the slot waits until the driver clears the interrupt, so the driver can withdraw
 * the second chain and start it again.  Two chains on one slot differ in their
 * chain flag: a stop that names the flag cannot hit the wrong one.
 *
 * How a chain ends, and the error of its fence:
 *   DONE                        0
 *   TERMINATED (hard-stopped)   the stopper's error; -ECANCELED if there was none
 *   STOPPED (soft-stopped)      the stopper's error; if there was none, the chain has
 *                               not ended, and continues at TAIL when it runs again
 *   JOB_POWER_FAULT, bus faults -EIO
 *   every other fault           -EINVAL
 */
#ifndef AGATE_SLOT_H
#define AGATE_SLOT_H

#include <linux/dma-fence.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/spinlock.h>

#include "agate_park.h"
#include "agate_regs.h"
#include "agate_sched.h"

struct agate_device;
struct agate_entities;
struct agate_mapping;
struct agate_vm;
struct drm_gem_object;

#define AGATE_SLOT_FRAGMENT	0
#define AGATE_SLOT_VERTEX	1
#define AGATE_SLOT_COMPUTE	2	/* agate_long.h alone */
/* Chains that one slot holds: the current one and NEXT. */
#define AGATE_SLOT_DEPTH	2

/**
 * struct agate_job_bo - a BO that a job lists
 * @obj: the BO, with a reference
 * @mapping: its mapping in the job's address space, with a reference; NULL if it was
 *	not found
 * @flags: AGATE_SUBMIT_BO_*: what the job does with it
 */
struct agate_job_bo {
	struct drm_gem_object *obj;
	struct agate_mapping *mapping;
	u32 flags;
};

/**
 * struct agate_job - one submitted chain
 * @base: the scheduler's part
 * @ref: the scheduler holds one from push to free; the ioctl holds another
 * @adev: the device
 * @vm: the address space it runs in, with a reference
 * @entities: the queues of the file it came from, with a reference
 * @jc: first job header; a soft stop moves it forward; never 0
 * @slot: AGATE_SLOT_*
 * @domains: what it needs powered: AGATE_PM_COMPUTE or AGATE_PM_ALL
 * @done: the slot's fence; see agate_fence_create()
 * @started: when it went to the slot; under slots.lock, as all members below
 * @start_cycles: agate_busy_gpu_cycles() then
 * @on_slot: the hardware has it
 * @ended: @done is signalled or about to be; the job never runs again
 * @chain_flag: JS_CONFIG_JOB_CHAIN_FLAG or 0
 * @tries: starts that failed because the GPU did not answer
 * @stop_error: why it was stopped, 0 if it was not
 * @bo_count: BOs listed
 * @bos: the listed BOs
 * @busy: how many of @bos count this job in gpu_users
 * @has_bos: agate_job_to_device() gave the BOs to the GPU
 * @turn: in vm->bound.chains.jobs, under adev->lng.lock, if it may run for ever
 * @done_cb: on @done: takes the job out of these counts
 * @parked: to be freed in a context that may sleep
 */
struct agate_job {
	struct drm_sched_job base;
	struct kref ref;
	struct agate_device *adev;
	struct agate_vm *vm;
	struct agate_entities *entities;
	u64 jc;
	unsigned int slot;
	u32 domains;
	struct dma_fence *done;
	ktime_t started;
	u64 start_cycles;
	bool on_slot;
	bool ended;
	u32 chain_flag;
	unsigned int tries;
	int stop_error;
	unsigned int bo_count;
	struct agate_job_bo *bos;
	atomic_t busy;
	bool has_bos;
	struct list_head turn;
	struct dma_fence_cb done_cb;
	struct agate_parked parked;
};

/**
 * struct agate_slot - one hardware slot
 * @job: [0] runs, or is about to; [1] is in NEXT, or the slot has just taken it
 *	from there
 * @free_since: when the last chain ended: the next one was not running before that
 * @free_cycles: agate_busy_gpu_cycles() then
 */
struct agate_slot {
	struct agate_job *job[AGATE_SLOT_DEPTH];
	ktime_t free_since;
	u64 free_cycles;
};

/**
 * struct agate_slots - all slots
 * @lock: protects all of this and the slots' registers; only threads take it; the
 *	frame initialises it
 * @slot: the slots
 * @depth: chains given to a slot at once: AGATE_SLOT_DEPTH, or 1 when there are not
 *	enough address spaces for each chain to have its own
 * @dead: the device goes away, and the driver starts nothing any more
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
int agate_slot_topic_suspend(struct agate_device *adev);
int agate_slot_topic_resume(struct agate_device *adev);

/* Not slots, but the card's mover, and changes of page tables. */
#define AGATE_FENCE_MOVER	AGATE_MAX_SLOTS
#define AGATE_FENCE_BIND	(AGATE_MAX_SLOTS + 1)

/**
 * agate_fence_create - create a slot fence while the caller may still wait for
 * memory
 * @adev: the device
 * @slot: AGATE_SLOT_*, AGATE_FENCE_MOVER or AGATE_FENCE_BIND
 *
 * Each fence is a timeline of its own, because after a stop or a reset, jobs of
 * different clients need not end in the order of their submission.
 *
 * Return: an unsignalled fence, or NULL.
 */
struct dma_fence *agate_fence_create(struct agate_device *adev, unsigned int slot);

/**
 * agate_fence_flush - wait until no CPU runs the code that frees a fence
 *
 * Called last when the module is unloaded, after the last fence has gone.
 */
void agate_fence_flush(void);

/**
 * agate_slot_run - give a job to its slot
 * @job: with a slot fence
 *
 * After a reset the scheduler runs again every job that has not finished.  A job
 * that is still on its slot, or has ended meanwhile, just keeps its fence.  While a
 * reset is pending this starts nothing: it returns the job's fence, and the job's
 * turn comes after the reset.
 *
 * Context: a thread in the fence-signalling path: allocates nothing.
 * Return: the fence with a reference; -ECANCELED when the job's file is being
 * closed; -ENODEV when the device goes away; -EBUSY or -EIO from
 * agate_mmu_as_get(), -EIO when the slot does not take the job.
 */
struct dma_fence *agate_slot_run(struct agate_job *job);

/**
 * agate_slot_serve - take finished chains off the slots and signal their fences
 * @adev: the device
 *
 * The JOB vector's thread calls this, and so does every thread that waits for a
 * stop, because an interrupt can be masked or lost.
 */
void agate_slot_serve(struct agate_device *adev);

/**
 * agate_slot_stop - stop one chain and wait until the slot has let go of it
 * @job: a job that agate_slot_run() has started
 * @hard: true stops the chain at once, false at the next job of the chain
 * @error: the error with which it ends
 *
 * With @error 0 a chain that stops has not ended, and agate_long_kick() is called.
 *
 * Return: true when the chain has left the slot, for whatever reason.
 */
bool agate_slot_stop(struct agate_job *job, bool hard, int error);

/**
 * agate_slot_current - find the job whose chain a slot runs
 * @adev: the device; the caller holds slots.lock
 * @n: the slot
 *
 * The slot may have taken a chain from NEXT before the driver knows that the chain
 * ahead of it has ended, so this asks the hardware.
 *
 * Return: the job with a reference, or NULL.
 */
struct agate_job *agate_slot_current(struct agate_device *adev, unsigned int n);

/**
 * agate_slot_kill - hard-stop one chain, without waiting for its end
 * @job: a job with a reference; if it has left its slot, this does nothing
 * @error: the error with which it ends
 *
 * If the chain does not stop, its timeout resets the GPU.
 *
 * Context: a thread; the caller holds no lock from slots.lock inwards.
 */
void agate_slot_kill(struct agate_job *job, int error);

/**
 * agate_slot_cancel - end the chains of a file that is being closed
 * @adev: the device
 * @entities: the file's queues
 *
 * Hard-stops its chains on the slots; agate_slot_run() refuses the others.  Does
 * not wait.
 */
void agate_slot_cancel(struct agate_device *adev, struct agate_entities *entities);

/**
 * agate_slot_halt - take every chain off the hardware, before a reset or before sleep
 * @adev: the device; schedulers are stopped, the JOB vector is suspended
 * @limit_ns: a chain that has run for at least this time is guilty, too: it ends
 *	with -ETIME; not one on AGATE_SLOT_COMPUTE
 *
 * Soft-stops running chains, so that innocent ones continue where they were.  A
 * chain that does not stop is taken off all the same, and starts again from its
 * head.
 *
 * Return: true if all chains have stopped; false if the caller must reset the GPU, which
 * may still run one.
 */
bool agate_slot_halt(struct agate_device *adev, s64 limit_ns);

/**
 * agate_slot_shutdown - end every chain with -ENODEV, because the device goes away
 * @adev: the device
 *
 * If the GPU still answers, this first makes it let go of the chains' memory.  From
 * here on the driver starts nothing.  May be called more than once.
 *
 * Context: may sleep.
 */
void agate_slot_shutdown(struct agate_device *adev);

#endif /* AGATE_SLOT_H */
