/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Address spaces in fault mode: what is bound may be absent until the GPU touches it.
 *
 * They are long-running, too (agate_long.h).  VM_BIND makes the records alone.  When the GPU
 * misses an entry, its access stalls; a worker finds the record, brings the BO back or collects
 * the process's pages, and makes the entries of the whole binding, by a change in the queue
 * (agate_bind.h).  The change ends with a flush, after which the GPU tries the access again.
 *
 * The worker does not call agate_vm_rebind(), as SUBMIT and the worker of other long-running chains
 * do: that locks every external BO and brings back all that has moved, so a chain that misses one
 * page would take VRAM for what it never touches.  And a fault needs what that does not do: here
 * a binding without entries is on no list of the evicted, new entries come behind the BO's moves
 * because the chain runs already, and a binding that has its entries gets the flush after which the
 * GPU tries again.
 *
 * Memory may go without asking the chain: there is no preempt fence.  A move of a BO first
 * invalidates its entries and flushes them out of the GPU, and so does the notifier of a
 * process's memory (agate_userptr.h).  The chain stops at its next access, until its fault is
 * served, and in most cases it makes none.
 *
 * No fence that anybody waits for depends on the worker: a chain of this kind has none, and no
 * change in the queue waits for a chain.  So the worker may wait for memory and for reservations,
 * as SUBMIT does.  The thread that serves the GPU's interrupts only leaves it a note.  The queue
 * is frozen while the system sleeps: what has left VRAM then stays out.
 *
 * Pages of a process that are not there may come late, or never.  Then the worker puts its note
 * back, and somebody who holds nothing waits for them (agate_touch.h).
 *
 * A fault without a binding, a write to what is bound READONLY, and memory that does not come
 * back end the chain, and that bans its address space.
 *
 * Xe has the same mode, and the same rule: DRM_XE_VM_CREATE_FLAG_FAULT_MODE needs LR_MODE.
 */
#ifndef AGATE_FAULT_VM_H
#define AGATE_FAULT_VM_H

#include <linux/list.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct agate_device;
struct agate_job;
struct agate_vm;

/**
 * struct agate_faults - what the GPU misses in one address space
 * @on: it is in fault mode
 * @job: the job whose chain stands still, with a reference, or NULL; under adev->lng.lock
 * @va: where; likewise
 * @touching: @work comes to it when the pages are there; likewise
 * @link: in adev->lng.faults while there is a @job; likewise
 * @work: serves it; on adev->lng.fault_wq
 *
 * There is at most one: an address space has one chain on the slot, and that stands still.  It may
 * try again, and miss something else, after a VM_BIND or a reset: the newest note counts.
 */
struct agate_faults {
	bool on;
	struct agate_job *job;
	u64 va;
	bool touching;
	struct list_head link;
	struct work_struct work;
};

/** agate_faults_init - nothing is missing; @on says whether the address space is in fault mode */
void agate_faults_init(struct agate_faults *faults, bool on);

/** agate_vm_faults - may what is bound be absent while a chain runs? */
bool agate_vm_faults(const struct agate_vm *vm);

/**
 * agate_fault_vm_note - a chain stands still, because an entry is missing
 * @job: of an address space in fault mode
 * @va: what it accesses
 *
 * Whatever comes of it, the worker does the rest.
 *
 * Context: a fence's way to its signal; takes lng.lock.
 */
void agate_fault_vm_note(struct agate_job *job, u64 va);

/**
 * agate_fault_vm_touched - look again: the pages are there, or an error has kept them away
 * @vm: the address space
 *
 * Context: takes lng.lock.
 */
void agate_fault_vm_touched(struct agate_vm *vm);

/**
 * agate_fault_vm_drop - forget what a job's chain missed
 * @job: has ended, or cannot be served; the caller has a reference
 *
 * Its file need not wait for pages then, to be closed.
 */
void agate_fault_vm_drop(struct agate_job *job);

/**
 * agate_fault_vm_forget - what is missing is missing for good: the device goes away
 * @adev: the device, whose slots are shut down
 *
 * The system may sleep, so the worker need not come to it.
 */
void agate_fault_vm_forget(struct agate_device *adev);

/**
 * agate_fault_vm_empty - remove the entries of processes' memory before its records change
 * @vm: in fault mode, or not; its lock is held for writing
 * @addr: the first address
 * @range: bytes
 *
 * A notifier looks for the entries through the records.  So it must find none while a VM_BIND
 * takes or splits a record whose entries go later.  The rest of a split one comes back by faults.
 *
 * Context: may sleep; no reservation is held.  Waits for the changes in the queue.
 * Return: 0; -ERESTARTSYS.
 */
int agate_fault_vm_empty(struct agate_vm *vm, u64 addr, u64 range);

#endif /* AGATE_FAULT_VM_H */
