/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Long-running address spaces, whose jobs may run for ever.
 *
 * A fence has to signal in finite time, so such a job has none that anybody else sees: when
 * the scheduler's finished fence signals, the job has been handed over to this file, no more.
 * The chains run on slot 2, one at a time.  If several address spaces have one, each runs for
 * a slice, until the end of one of its jobs.  A job that does not end while others wait, such as
 * one whose fault nobody serves, is stopped hard in the end (yield_ms), as kbase does it.
 *
 * Memory may move all the same.  While a chain is on the slot, a preempt fence stands for it
 * in the reservations of all that is bound.  As soon as somebody waits for this fence, the
 * driver stops the chain: softly, at the end of one of its jobs, and hard if that takes too
 * long.  The fence signals when the chain has left the slot.  The chain goes on where it
 * stopped, after the driver has brought back what moved, as SUBMIT does for other jobs.
 *
 * A chain that fails, or had to be stopped hard, bans its address space: nobody could tell
 * its owner in another way.  Its other jobs end, too.
 */
#ifndef AGATE_LONG_H
#define AGATE_LONG_H

#include <linux/dma-fence.h>
#include <linux/ktime.h>
#include <linux/list.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct agate_device;
struct agate_job;
struct agate_preempt;
struct agate_vm;

/**
 * struct agate_chains - the chains of one address space
 * @on: it is long-running
 * @banned: 0, or -ECANCELED; written under adev->lng.lock
 * @jobs: struct agate_job (turn): in their order; each with a reference; under adev->lng.lock
 * @turn: in adev->lng.turns while there are @jobs; under adev->lng.lock
 * @waits: what its memory needs is not ready.  The worker sets it, and whoever clears it kicks the
 *	worker afterwards
 * @moved: for what it waits, with a reference, or NULL; only the worker uses it
 * @moved_cb: on @moved
 */
struct agate_chains {
	bool on;
	int banned;
	struct list_head jobs;
	struct list_head turn;
	bool waits;
	struct dma_fence *moved;
	struct dma_fence_cb moved_cb;
};

/**
 * struct agate_long - slot 2 of a device, and those who wait for it
 * @lock: protects the rest; slots.lock is inside of it
 * @turns: struct agate_chains (turn): the next one first
 * @job: on the slot, or has just left it: then the worker has not yet seen it; with a
 *	reference; or NULL
 * @preempt: the fence that stands for @job, with a reference, or NULL
 * @slice_over: @job has run for a slice, and others wait
 * @others_since: since when they wait for @job, or 0
 * @hogs: for so long that it has to end
 * @held: the GPU is about to be reset, or to sleep: nothing starts
 * @wq: ordered, and frozen before the system sleeps
 * @run: puts the next chain on the slot; on @wq
 * @slice: ends a slice; on @wq
 * @stop_wq: for @stop, which is on a fence's way to its signal
 * @stop: takes @job off the slot
 * @behind_reset: what is left of @stop if only a reset stops the chain; on queues.timeout_wq
 * @faults: struct agate_faults (link): those with a note
 * @fault_wq: serves them, side by side; frozen before the system sleeps
 */
struct agate_long {
	spinlock_t lock;	/* all below */
	struct list_head turns;
	struct agate_job *job;
	struct agate_preempt *preempt;
	bool slice_over;
	ktime_t others_since;
	bool hogs;
	bool held;
	struct workqueue_struct *wq;
	struct work_struct run;
	struct delayed_work slice;
	struct workqueue_struct *stop_wq;
	struct work_struct stop;
	struct work_struct behind_reset;
	struct list_head faults;
	struct workqueue_struct *fault_wq;
};

/**
 * agate_long_init - make the workers
 * @adev: the device
 *
 * Return: 0 or -ENOMEM.
 */
int agate_long_init(struct agate_device *adev);

/**
 * agate_long_release - end the workers
 * @adev: the device, whose last file is closed
 */
void agate_long_release(struct agate_device *adev);

/** agate_chains_init - an address space without chains; @on says whether it is long-running */
void agate_chains_init(struct agate_chains *chains, bool on);

/**
 * agate_chains_fini - the end of an address space, which has no job any more
 * @chains: its chains
 */
void agate_chains_fini(struct agate_chains *chains);

/** agate_vm_is_long - may the jobs of the address space run for ever? */
bool agate_vm_is_long(const struct agate_vm *vm);

/**
 * agate_vm_banned - may the address space have more jobs?
 * @vm: the address space
 *
 * Return: 0; -ECANCELED.
 */
int agate_vm_banned(const struct agate_vm *vm);

/**
 * agate_long_add - hand over a job
 * @job: of a long-running address space
 *
 * Context: a fence's way to its signal.
 */
void agate_long_add(struct agate_job *job);

/**
 * agate_long_kick - look whether the slot is free, and whose turn it is
 * @adev: the device
 *
 * Context: any.
 */
void agate_long_kick(struct agate_device *adev);

/**
 * agate_long_touched - the memory of a process for which an address space waited is there
 * @vm: the address space; or an error has kept it away
 *
 * Context: takes lng.lock.
 */
void agate_long_touched(struct agate_vm *vm);

/**
 * agate_long_hold - start no chain until agate_long_let_go()
 * @adev: the device
 *
 * What is on the slot stays there.
 */
void agate_long_hold(struct agate_device *adev);

/** agate_long_let_go - undo agate_long_hold(): chains that were taken off start again */
void agate_long_let_go(struct agate_device *adev);

/**
 * agate_long_end_vm - end the chains of an address space that nobody has a name for
 * @vm: the address space
 *
 * Does not wait.
 */
void agate_long_end_vm(struct agate_vm *vm);

/**
 * agate_long_cancel - end the chains of files that are being closed
 * @adev: the device; agate_slot_cancel() has marked their queues
 *
 * Does not wait.
 */
void agate_long_cancel(struct agate_device *adev);

/**
 * agate_long_end_all - end all chains with -ENODEV, because the device goes away
 * @adev: the device, whose slots are shut down
 *
 * The system may sleep, so the worker need not come to it.
 */
void agate_long_end_all(struct agate_device *adev);

#endif /* AGATE_LONG_H */
