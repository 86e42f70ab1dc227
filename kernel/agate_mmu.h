/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "mmu" (lab 11): hardware address spaces.
 *
 * The GPU has a few address spaces, files have many: one is lent to a file's
 * address space while its jobs run, and taken back from whoever has been idle
 * longest.  A page table's change reaches the GPU only by LOCK and FLUSH, and
 * only where the table is in the hardware.
 */
#ifndef AGATE_MMU_H
#define AGATE_MMU_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/spinlock.h>

#include "agate_pgtable.h"
#include "agate_regs.h"

struct agate_as_layout;
struct agate_device;
struct agate_vm;

/**
 * struct agate_as - an address space's page table and its place in the hardware
 * @pgt: the table; under vm->lock
 * @number: hardware address space, or -1; under mmu.lock
 * @users: jobs that run in it; under mmu.lock
 * @link: in mmu.lru while @number is not -1
 * @limbo: table pages given up while the GPU did not answer; under vm->lock
 */
struct agate_as {
	struct agate_pgtable pgt;
	int number;
	unsigned int users;
	struct list_head link;
	struct list_head limbo;
};

/**
 * struct agate_mmu - the GPU's MMU
 * @lock: protects all of this, the AS registers and every agate_as's place;
 *	a spinlock because job submission runs under the slots' lock
 * @present: address spaces the hardware has
 * @taken: of these, lent out
 * @faulty: of these, disabled after a fault that nobody could serve: their
 *	interrupt stays masked until they are lent out again
 * @lru: struct agate_vm (as.link), most recently used first
 * @layout: format of the tables and what the registers say about it
 * @tables: table pages that are mapped for DMA: an open file may outlive the
 *	device, its page table's mappings must not
 */
struct agate_mmu {
	/* Protects places, registers and table pages. */
	spinlock_t lock;
	u32 present;
	u32 taken;
	u32 faulty;
	struct list_head lru;
	const struct agate_as_layout *layout;
	struct list_head tables;
};

/** agate_as_irq_bits - page fault and bus error in MMU_INT, of a set of address spaces */
static inline u32 agate_as_irq_bits(u32 spaces)
{
	return spaces | spaces << 16;
}

int agate_mmu_topic_init(struct agate_device *adev);
void agate_mmu_topic_fini(struct agate_device *adev);

/**
 * agate_mmu_vm_init - an empty page table, not in the hardware
 * @vm: a new address space
 *
 * Return: 0 or -ENOMEM.
 */
int agate_mmu_vm_init(struct agate_vm *vm);

/**
 * agate_mmu_vm_fini - out of the hardware, then free the table
 * @vm: no job uses it, nothing is mapped
 */
void agate_mmu_vm_fini(struct agate_vm *vm);

/**
 * agate_mmu_as_get - a job is about to run: put its table into the hardware
 * @vm: the address space
 *
 * Context: atomic; takes mmu.lock.
 * Return: the address space's number; -EBUSY when all are in use by others
 * (cannot happen while there are at least as many as jobs in flight); -EIO
 * when the hardware did not answer: a reset is scheduled.
 */
int agate_mmu_as_get(struct agate_vm *vm);

/**
 * agate_mmu_as_put - undo one agate_mmu_as_get(); the table stays until another
 * address space needs the place
 * @vm: the address space
 */
void agate_mmu_as_put(struct agate_vm *vm);

/**
 * agate_mmu_map_sgt - map an sg table's pages at a GPU address
 * @vm: vm->lock is held
 * @va: first GPU address
 * @sgt: mapped for DMA
 * @prot: AGATE_PROT_*
 *
 * Flushes the GPU where the table is in the hardware.  All or nothing.
 *
 * Return: 0 or the error of agate_pgtable_map().
 */
int agate_mmu_map_sgt(struct agate_vm *vm, u64 va, struct sg_table *sgt, u32 prot);

/**
 * agate_mmu_unmap - unmap a range and flush it out of the GPU
 * @vm: vm->lock is held
 * @va: first GPU address
 * @size: bytes
 *
 * When it returns 0 the GPU cannot reach the pages: they may be freed.
 *
 * Return: 0; -EIO when the GPU did not answer: a reset is scheduled, and the
 * pages must stay until agate_reset_flush() returned; -ENOMEM when a block that
 * is only partly in the range could not be split, and then nothing changed.
 */
int agate_mmu_unmap(struct agate_vm *vm, u64 va, u64 size);

/**
 * agate_mmu_flush - drop what the GPU cached of a range, retry what stalled in it
 * @vm: the address space
 * @va: first GPU address
 * @size: bytes, not 0
 * @command: AS_COMMAND_FLUSH_PT after entries appeared, AS_COMMAND_FLUSH_MEM
 *	before memory is given up
 *
 * Return: 0, also where the table is not in the hardware; -EIO when the GPU did
 * not answer: a reset is scheduled.
 */
int agate_mmu_flush(struct agate_vm *vm, u64 va, u64 size, u32 command);

/**
 * agate_mmu_vm_of - which address space is in a hardware one?
 * @adev: the device; mmu.lock is held, so that a fault's registers can be read
 *	in one go with this: in the next moment the place may be lent to another
 * @number: hardware address space
 *
 * Return: the address space with a reference, or NULL.
 */
struct agate_vm *agate_mmu_vm_of(struct agate_device *adev, unsigned int number);

/**
 * agate_mmu_disable_faulty - an unserved fault: stop an address space
 * @adev: the device
 * @number: hardware address space
 * @vm: what agate_mmu_vm_of() said; if it lost the place since, nothing is done
 *
 * Its jobs end with the fault that is latched; its interrupt stays masked
 * until agate_mmu_as_get() lends it out again.
 */
void agate_mmu_disable_faulty(struct agate_device *adev, unsigned int number,
			      struct agate_vm *vm);

/**
 * agate_mmu_reset - the GPU was reset: every place in it is empty
 * @adev: the device
 */
void agate_mmu_reset(struct agate_device *adev);

/* Table pages from the kernel's allocator, mapped for DMA; @ctx is the device. */
extern const struct agate_pgtable_mem agate_table_mem;

/**
 * agate_table_unmap_all - undo the DMA mapping of all table pages
 * @adev: the device, which no GPU walks for any more
 *
 * The pages stay, for the files that are still open.
 */
void agate_table_unmap_all(struct agate_device *adev);

#endif /* AGATE_MMU_H */
