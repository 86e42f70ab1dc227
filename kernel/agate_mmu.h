/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "mmu" (lab 11): hardware address spaces.
 *
 * The GPU has a few address spaces, files have many.  The driver lends a hardware
 * address space to a file's address space while its jobs run, and takes one back
 * from the file that has been idle longest.  A change of a page table reaches the
 * GPU only by LOCK and FLUSH, which are needed only while the table is in the
 * hardware.
 */
#ifndef AGATE_MMU_H
#define AGATE_MMU_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include "agate_backing.h"
#include "agate_pgtable.h"
#include "agate_regs.h"

struct agate_as_layout;
struct agate_device;
struct agate_table_reserve;
struct agate_vm;

/**
 * struct agate_as - an address space's page table and its place in the hardware
 * @pgt: the table; under vm->pt_lock
 * @staged: the table changes in two steps (agate_vm_pt.h); from before its root is made
 * @reserve: while a change is made: its table pages for when the kernel has none, or NULL;
 *	under vm->pt_lock
 * @number: hardware address space, or -1; under mmu.lock
 * @users: jobs that run in it; under mmu.lock
 * @link: in mmu.lru while @number is not -1
 * @locked: entries change, and no chain may use those of @lockaddr: the region is locked
 *	in every place that the table gets; under mmu.lock
 * @lockaddr: that region, as the register wants it
 * @limbo: table pages that were removed while the GPU did not answer; under
 *	vm->pt_lock
 */
struct agate_as {
	struct agate_pgtable pgt;
	bool staged;
	struct agate_table_reserve *reserve;
	int number;
	unsigned int users;
	struct list_head link;
	bool locked;
	u64 lockaddr;
	struct list_head limbo;
};

/**
 * struct agate_mmu - the GPU's MMU
 * @lock: protects all of this, the AS registers and every agate_as's place;
 *	a spinlock because job submission runs under the slots' lock
 * @present: address spaces the hardware has
 * @taken: those of @present that are lent out
 * @active: those whose last command may not have ended
 * @locked: those of @taken in which a region is locked
 * @faulty: those of @taken that were disabled after a fault that nobody could
 *	serve: their interrupt stays masked until they are lent out again
 * @resetting: between agate_mmu_reset_begin() and agate_mmu_reset()
 * @reset_over: waits for the end of @resetting
 * @lru: struct agate_vm (as.link), most recently used first
 * @layout: format of the tables, and the register values that select it
 * @tables: table pages that are mapped for DMA: an open file may outlive the
 *	device, but the DMA mappings of its page table must not
 */
struct agate_mmu {
	/* Protects places, registers and table pages. */
	spinlock_t lock;
	u32 present;
	u32 taken;
	u32 active;
	u32 locked;
	u32 faulty;
	bool resetting;
	wait_queue_head_t reset_over;
	struct list_head lru;
	const struct agate_as_layout *layout;
	struct list_head tables;
};

/**
 * agate_as_irq_bits - the page fault and bus error bits of a set of address spaces
 * in MMU_INT
 */
static inline u32 agate_as_irq_bits(u32 spaces)
{
	return spaces | spaces << 16;
}

int agate_mmu_topic_init(struct agate_device *adev);
void agate_mmu_topic_fini(struct agate_device *adev);

/**
 * agate_mmu_topic_suspend - no table is in the hardware any more
 * @adev: the device; no chain is on it, and none starts before the next UPDATE
 *
 * Return: 0.
 */
int agate_mmu_topic_suspend(struct agate_device *adev);

/**
 * agate_mmu_vm_init - create an empty page table, not yet in the hardware
 * @vm: a new address space
 *
 * Return: 0 or -ENOMEM.
 */
int agate_mmu_vm_init(struct agate_vm *vm);

/**
 * agate_mmu_vm_leave - take the table out of the hardware
 * @vm: no job uses it, nothing is mapped
 *
 * Return: 0; -EIO when the GPU did not answer: a reset is scheduled, and
 * agate_mmu_vm_fini() has to wait until agate_reset_fence() has signalled.
 */
int agate_mmu_vm_leave(struct agate_vm *vm);

/**
 * agate_mmu_vm_fini - free the table
 * @vm: agate_mmu_vm_leave() has taken it out of the hardware
 */
void agate_mmu_vm_fini(struct agate_vm *vm);

/**
 * agate_mmu_as_get - put a page table into the hardware before a job runs
 * @vm: the address space
 *
 * Context: atomic; takes mmu.lock.
 * Return: the address space's number; -EBUSY when others use all of them
 * (impossible while there are at least as many as jobs in flight); -EIO when the
 * hardware did not answer, and then a reset is scheduled.
 */
int agate_mmu_as_get(struct agate_vm *vm);

/**
 * agate_mmu_as_put - undo one agate_mmu_as_get(); the table stays in the hardware
 * until another address space needs the place
 * @vm: the address space
 */
void agate_mmu_as_put(struct agate_vm *vm);

/**
 * agate_mmu_map_runs - map runs of memory at consecutive GPU addresses
 * @vm: vm->pt_lock is held
 * @va: first GPU address
 * @runs: from agate_backing_populate()
 * @prot: AGATE_PROT_*
 * @reserve: table pages for when the kernel has none at once, or NULL
 *
 * Flushes the GPU if the table is in the hardware.  Maps all or nothing.
 *
 * Context: waits for no memory.
 * Return: 0 or the error of agate_pgtable_map(): -ENOMEM if @reserve had too few pages.
 */
int agate_mmu_map_runs(struct agate_vm *vm, u64 va, struct agate_runs runs, u32 prot,
		       struct agate_table_reserve *reserve);

/**
 * agate_mmu_unmap - unmap a range and flush it out of the GPU
 * @vm: vm->pt_lock is held
 * @va: first GPU address
 * @size: bytes
 *
 * A chain may use the range although its job did not list it.  So the range is locked in the
 * GPU before its entries change, until they are flushed: no chain uses an entry that the
 * GPU still has and the table has no more.
 *
 * When this returns 0 the GPU cannot reach the pages, and the caller may free them.
 *
 * Return: 0; -EIO when the GPU did not answer: a reset is scheduled, and the pages
 * must stay until agate_reset_fence() has signalled; -ENOMEM when a block that is
 * only partly in the range could not be split, and then nothing changed.
 */
int agate_mmu_unmap(struct agate_vm *vm, u64 va, u64 size);

/**
 * agate_mmu_lock_region - from here on no chain gets through to a range, whatever place the
 * table has or gets
 * @vm: vm->pt_lock is held until agate_mmu_unlock_region()
 * @va: first GPU address
 * @size: bytes, not 0
 *
 * Return: 0; -EIO when the GPU did not answer, and then a reset is scheduled.
 */
int agate_mmu_lock_region(struct agate_vm *vm, u64 va, u64 size);

/**
 * agate_mmu_unlock_region - end agate_mmu_lock_region()
 * @vm: vm->pt_lock is held
 * @command: AS_COMMAND_FLUSH_MEM when entries changed, AS_COMMAND_UNLOCK when none did
 *
 * Return: as agate_mmu_lock_region(); without 0 from both, the GPU may still reach what it
 * reached before.
 */
int agate_mmu_unlock_region(struct agate_vm *vm, u32 command);

/**
 * agate_mmu_flush - drop the GPU's cached copies of a range, retry the accesses
 * that stalled in it
 * @vm: the address space
 * @va: first GPU address
 * @size: bytes, not 0
 * @command: AS_COMMAND_FLUSH_PT after entries appeared, AS_COMMAND_FLUSH_MEM
 *	before memory is given up
 *
 * Return: 0, also when the table is not in the hardware; -EIO when the GPU did not
 * answer, and then a reset is scheduled.
 */
int agate_mmu_flush(struct agate_vm *vm, u64 va, u64 size, u32 command);

/**
 * agate_mmu_is_at - does an address space occupy this hardware address space?
 * @vm: the address space; the caller holds mmu.lock, so that it can read a fault's
 *	registers before the driver lends the place to another address space
 * @number: hardware address space
 */
bool agate_mmu_is_at(const struct agate_vm *vm, unsigned int number);

/**
 * agate_mmu_disable_faulty - stop an address space whose fault nobody can serve
 * @adev: the device; the caller holds mmu.lock
 * @number: hardware address space
 *
 * Its jobs end with the latched fault; its interrupt stays masked until
 * agate_mmu_as_get() lends it out again.
 *
 * Return: false if it is lent to nobody, and nothing was done.
 */
bool agate_mmu_disable_faulty(struct agate_device *adev, unsigned int number);

/**
 * agate_mmu_reset_begin - the GPU is about to be reset
 * @adev: the device
 *
 * From here on to agate_mmu_reset() no address space gets a command: the GPU has no L2 then.
 * Threads that change a table wait, since a chain may reach the old memory until the reset.
 * No job starts meanwhile, and no fault is served.
 */
void agate_mmu_reset_begin(struct agate_device *adev);

/**
 * agate_mmu_reset - the GPU was reset: every place in it is empty
 * @adev: the device
 */
void agate_mmu_reset(struct agate_device *adev);

#endif /* AGATE_MMU_H */
