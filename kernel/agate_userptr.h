/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of a process in an address space whose owner chooses the ranges: VM_BIND with
 * AGATE_VM_BIND_USERPTR.
 *
 * A binding of a process's memory is a BO without a handle, private to its address space, with
 * a backing of its own.  The driver pins none of the pages: the process, or the kernel when
 * memory is short, takes them away whenever it likes, and tells the BO's notifier before.
 *
 * VM_BIND makes the records only, and empties the range.  Each SUBMIT first *collects* the pages
 * of all BOs of this kind that have none, or none any more, and then makes their page-table
 * entries anew, by a change in the queue like every other.  When the job is armed, it looks
 * whether the pages are still those: if not, the SUBMIT collects again.  It collects only pages
 * that are there.  If some are not, the SUBMIT lets go of everything, waits for them
 * (agate_touch.h), and begins again; so does the worker of long-running chains.
 *
 * The notifier, which runs in reclaim as well, and under the process's mmap_lock:
 *
 *   - marks the BO's pages as gone; from here on no SUBMIT arms a job in the address space;
 *   - waits for all fences of the address space, which are jobs that may use the pages, and
 *     changes that may write their addresses into the table;
 *   - ends the DMA mapping.
 *
 * It changes no page table.  The entries are stale from then on, and nobody uses them: the GPU
 * walks a table only for a job, all jobs have ended, and the next one comes behind the change
 * that replaces the entries and flushes what the GPU remembers of them.  So it needs neither
 * vm->pt_lock, under which others wait for a reset, nor a reservation, under which others
 * allocate memory; and it does not race with a change that is staged, or waits in the queue, and
 * has the old entries in it.
 *
 * In fault mode (agate_fault_vm.h) all this is different: a chain may run meanwhile, and no fence
 * stands for it.  There the notifier waits for the changes in the queue, then invalidates the
 * entries and flushes them out of the GPU, and then ends the DMA mapping.  It may wait for a reset
 * under vm->pt_lock: a reset waits for no memory.  A fault brings the entries back, and no SUBMIT.
 *
 * This is how Xe treats both kinds.
 */
#ifndef AGATE_USERPTR_H
#define AGATE_USERPTR_H

#include <linux/mmu_notifier.h>
#include <linux/scatterlist.h>
#include <linux/types.h>

struct agate_backing_ops;
struct agate_bo;
struct agate_device;
struct agate_job;
struct agate_vm;
struct agate_vm_bo;
struct drm_gem_object;

/**
 * struct agate_userptr - what the backing keeps
 * @notifier: of the range of the process; its mm is NULL until it is there
 * @root: of the address space, with a reference: its reservation is the BO's
 * @first: where @sgt begins in the BO, bytes; whole pages
 * @size: of what is in @sgt, bytes
 * @sgt: the pages, mapped for DMA while @mapped; replaced under bound.userptr_lock, or by the only
 *	one who knows the BO.  It keeps its addresses when it is not mapped any more
 * @mapped: under adev->userptr_lock
 * @valid: the pages in @sgt are still those of the process; likewise
 */
struct agate_userptr {
	struct mmu_interval_notifier notifier;
	struct drm_gem_object *root;
	u64 first;
	u64 size;
	struct sg_table sgt;
	bool mapped;
	bool valid;
};

extern const struct agate_backing_ops agate_userptr_backing;

/** agate_is_userptr - is it memory of a process? */
bool agate_is_userptr(const struct agate_bo *bo);

/**
 * agate_userptr_of_others - is memory of another process than the caller's bound?
 * @vm: an address space whose owner chooses the ranges; its lock is held
 */
bool agate_userptr_of_others(const struct agate_vm *vm);

/**
 * agate_userptr_touch_new - see that memory is there which is about to be bound
 * @addr: in the caller; a multiple of 4 KiB
 * @size: bytes, likewise
 * @readonly: the GPU will not write there
 *
 * Context: as agate_touch().
 * Return: 0; -EINVAL for a range that wraps or is larger than a BO may be; -EFAULT for one that is
 * not, or not all, memory of the process, which it may write unless @readonly; -ENOMEM; -EINTR.
 */
int agate_userptr_touch_new(u64 addr, u64 size, bool readonly);

/**
 * agate_userptr_create - make a BO of the caller's memory
 * @vm: where it will be bound
 * @addr: in the caller; a multiple of 4 KiB
 * @size: bytes, likewise
 * @readonly: the GPU will not write there
 *
 * Context: may sleep, between drm_dev_enter() and drm_dev_exit(); no lock of the driver is held.
 * The caller has called agate_userptr_touch_new().
 * Return: the BO with one reference, which nobody else knows; or an ERR_PTR: -EFAULT; -EOPNOTSUPP
 * where DMA goes to other memory than this; -ENOMEM.
 */
struct agate_bo *agate_userptr_create(struct agate_vm *vm, u64 addr, u64 size, bool readonly);

/**
 * agate_userptr_begin - begin to look after the processes' memory for a SUBMIT
 * @vm: its lock is held
 *
 * Others who submit there wait until agate_userptr_end(); where no memory of a process is bound
 * nobody waits.
 *
 * Return: 0; -EINTR.
 */
int agate_userptr_begin(struct agate_vm *vm);

/** agate_userptr_end - undo agate_userptr_begin() */
void agate_userptr_end(struct agate_vm *vm);

/**
 * agate_userptr_mm - whose memory is bound
 * @vm: its lock is held, and memory of a process is bound
 *
 * Return: that process's memory, with a reference for mmput(); NULL: it has ended.
 */
struct mm_struct *agate_userptr_mm(struct agate_vm *vm);

/**
 * agate_userptr_collect - collect the pages that are missing
 * @vm: between agate_userptr_begin() and agate_userptr_end()
 *
 * Context: may sleep, between drm_dev_enter() and drm_dev_exit(); takes mmap_lock, and waits for
 * notifiers that are under way, so no reservation is held.
 * Return: 0; -EPERM: it is memory of another process; -ENODATA, which nothing else in a SUBMIT
 * says: some of it is not there, or no more, and has to be touched; -EAGAIN: it changes all the
 * time; -EOPNOTSUPP: DMA goes to other memory than this; -ENOMEM; -EINTR; -ENODEV.
 */
int agate_userptr_collect(struct agate_vm *vm);

/**
 * agate_userptr_touch - wait for the pages that a SUBMIT did not find
 * @vm: the address space
 *
 * Context: as agate_touch().
 * Return: 0; -EFAULT: they are there no more; -ENOMEM; -EINTR.
 */
int agate_userptr_touch(struct agate_vm *vm);

/**
 * agate_userptr_touch_later - have somebody else wait for them
 * @job: whose address space it is: its lock is held, and so is bound.userptr_lock; the caller uses
 *	the process's memory, with a reference
 *
 * The address space is told when it is over (struct agate_toucher).
 *
 * Return: 0; else as agate_toucher_start().
 */
int agate_userptr_touch_later(struct agate_job *job);

/** agate_userptr_touch_one_later - the same, for one binding: the BO's record */
int agate_userptr_touch_one_later(struct agate_job *job, struct agate_vm_bo *vm_bo);

/**
 * agate_userptr_rebind - queue the changes that make the entries of new pages
 * @vm: as before; the root's reservation is held
 *
 * Return: 0; an error of agate_bind_again().
 */
int agate_userptr_rebind(struct agate_vm *vm);

/**
 * agate_userptr_hold - look whether all pages are still there, and keep notifiers waiting
 * @vm: as before; the entries of all pages are made, or their changes are queued
 *
 * Until agate_userptr_let_go() the caller publishes the job's fence in the root's reservation: a
 * notifier finds it there.  Nobody allocates memory meanwhile.
 *
 * Return: 0; -EAGAIN with nothing held.
 */
int agate_userptr_hold(struct agate_vm *vm);

/** agate_userptr_let_go - undo agate_userptr_hold() */
void agate_userptr_let_go(struct agate_vm *vm);

/**
 * agate_userptr_collect_one - agate_userptr_collect() for one binding, after a fault
 * @vm_bo: the BO's record; between agate_userptr_begin() and agate_userptr_end()
 */
int agate_userptr_collect_one(struct agate_vm_bo *vm_bo);

/**
 * agate_userptr_hold_one - agate_userptr_hold() for one BO, which may be any
 * @bo: the BO
 *
 * Until agate_userptr_let_go_one() the caller publishes the fence of the change that makes the
 * entries.
 *
 * Return: 0; -EAGAIN with nothing held.
 */
int agate_userptr_hold_one(struct agate_bo *bo);

/** agate_userptr_let_go_one - undo agate_userptr_hold_one() */
void agate_userptr_let_go_one(struct agate_bo *bo);

/** agate_userptr_init - prepare the device's lock */
void agate_userptr_init(struct agate_device *adev);

#endif /* AGATE_USERPTR_H */
