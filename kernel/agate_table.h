/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pages for page tables: from the kernel's allocator, mapped for DMA, or from VRAM.
 *
 * A page table changes under vm->pt_lock, which the thread that serves faults takes, too.
 * So nobody waits for memory under that lock: a new page is one that the kernel has at
 * once, or else one of a reserve that was filled before.  Only the root is waited for.
 *
 * A table that changes in two steps (agate_vm_pt.h) takes its pages in the first, which holds
 * no such lock.  The CPUs have a copy of it, and what the GPU walks is in VRAM (agate_kmem.h) as
 * long as tables have not got their part of that; then it is in system memory.
 */
#ifndef AGATE_TABLE_H
#define AGATE_TABLE_H

#include <linux/list.h>
#include <linux/types.h>

#include "agate_pgtable.h"

struct agate_device;
struct agate_vm;

/**
 * struct agate_table_reserve - table pages for a change to come; under vm->pt_lock
 * @pages: struct agate_pgtable_page: [true] those for the last level, [false] the others
 * @count: how many of each there are
 */
struct agate_table_reserve {
	struct list_head pages[2];
	unsigned int count[2];
};

/* Where the driver's page tables get their pages; @ctx is the struct agate_vm. */
extern const struct agate_pgtable_mem agate_table_mem;

/** agate_table_reserve_init - begin with no page */
void agate_table_reserve_init(struct agate_table_reserve *reserve);

/**
 * agate_table_reserve_fill - have all the pages that mapping a range may need
 * @vm: the address space
 * @reserve: for it
 * @va: first GPU address
 * @size: bytes, not 0
 *
 * Context: may sleep; takes vm->pt_lock.  The caller is between drm_dev_enter() and
 * drm_dev_exit().
 * Return: 0; -ENOMEM, and the reserve keeps what it has got.
 */
int agate_table_reserve_fill(struct agate_vm *vm, struct agate_table_reserve *reserve, u64 va,
			     u64 size);

/**
 * agate_table_reserve_drain - free the pages of a reserve that nobody uses any more
 * @vm: the address space
 * @reserve: the reserve
 */
void agate_table_reserve_drain(struct agate_vm *vm, struct agate_table_reserve *reserve);

/**
 * agate_table_unmap_all - undo the DMA mapping of all table pages
 * @adev: the device, whose GPU walks no table any more
 *
 * The pages stay for the files that are still open.
 */
void agate_table_unmap_all(struct agate_device *adev);

#endif /* AGATE_TABLE_H */
