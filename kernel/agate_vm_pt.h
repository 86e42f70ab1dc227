/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "vm-tables" (lab 25): page tables that change in two steps.
 *
 * A change is first staged: all memory that it needs is taken, and all new entries are computed.
 * Nobody sees any of this, and it can be given up.  Committing cannot fail.
 *
 * Tables have two copies.  One is the CPU's view (agate_pgtable_page.entries), which tells what
 * the table will hold after the last change that was committed.  The other is what the GPU walks.
 * A change may wait in a queue for a long time, so between its commit and its write the two
 * differ.  Changes are written in the order of their commits.
 *
 * A table that lies wholly in the range is private to the change: a new one is built aside, where
 * no walker comes, and takes the place of the old one.  A table that lies partly in the range is
 * shared with what is mapped beside it: there only an update of some entries is staged.  At each
 * level at most two tables are shared, one at each end of the range, and the root is one.
 *
 * Like lab 10's, this code needs no kernel service, and the same source compiles for host tests.
 * The CPU's view changes under the locks of struct agate_pt_locks.
 */
#ifndef AGATE_VM_PT_H
#define AGATE_VM_PT_H

#include <linux/list.h>
#include <linux/types.h>

#include "agate_pgtable.h"
#include "agate_regs.h"
#include "agate_runs.h"

struct agate_device;
struct agate_mover_cmd;
struct dma_resv;
struct mutex;
struct rw_semaphore;

/* Shared tables of one change: the root, and two at each level below. */
#define AGATE_PT_UPDATES	(2 * (AGATE_PT_LEVELS - 1) + 1)

/**
 * struct agate_pt_update - new entries for a shared table
 * @table: the table
 * @level: its level
 * @first: the first entry that changes
 * @count: how many
 * @next: a page of its own whose entries, and children, @first .. are what @table will have.
 *	No walker comes to it, but the mover reads its entries
 * @used: how many more valid entries @table will have; may be negative
 */
struct agate_pt_update {
	struct agate_pgtable_page *table;
	unsigned int level;
	unsigned int first;
	unsigned int count;
	struct agate_pgtable_page *next;
	int used;
};

/**
 * struct agate_pt_stage - a change
 * @pgt: the table
 * @update: of shared tables, children before their parents
 * @updates: how many
 * @fresh: pages of private tables, until they are committed
 * @gone: after the commit: the tables that were replaced, or became empty
 */
struct agate_pt_stage {
	struct agate_pgtable *pgt;
	struct agate_pt_update update[AGATE_PT_UPDATES];
	unsigned int updates;
	struct list_head fresh;
	struct list_head gone;
};

/**
 * struct agate_pt_locks - what is held while a change is committed
 * @vm: vm->lock, for reading at least: the records that the change was made from stay
 * @resv: that of the address space's root, from before the change is staged until it is in the
 *	queue: so changes are staged on what those before them leave, and written in that order
 * @pt: vm->pt_lock: a zap, and the write of an earlier change, hold none of the others
 *
 * The lock of the notifiers of processes' memory, adev->userptr_lock, is not among them, because a
 * notifier does not need to find the entries that a change is about to add: it marks the pages as
 * gone, waits for the changes that are committed, and then, in fault mode, zaps their entries
 * itself.  Elsewhere no job is armed before the pages are collected and bound anew.  To arm a job,
 * and to serve a fault, the driver takes it all the same: not for the table, but because the pages
 * have to be the process's until there is a fence for which the notifier waits.
 */
struct agate_pt_locks {
	struct rw_semaphore *vm;
	struct dma_resv *resv;
	struct mutex *pt;	/* see above */
};

int agate_vm_tables_topic_init(struct agate_device *adev);
void agate_vm_tables_topic_fini(struct agate_device *adev);

/**
 * agate_pt_stage_map - stage that a range maps memory, whatever it maps now
 * @stage: to be filled in
 * @pgt: the table
 * @va: first GPU address, a multiple of 4 KiB
 * @runs: the memory; its size is that of the range
 * @prot: AGATE_PROT_*
 *
 * Uses blocks where va and the runs allow, and splits those that are partly in the range.
 * Nothing that a walker sees changes, nor does the CPU's view.
 *
 * Context: nobody changes the table until agate_pt_commit() or agate_pt_abort(), except by
 * agate_pt_zap() outside of what the change replaces.
 * Return: 0; -EINVAL for a misaligned, empty or too high range; -ENOMEM.  After an error
 * there is nothing to give up.
 */
int agate_pt_stage_map(struct agate_pt_stage *stage, struct agate_pgtable *pgt, u64 va,
		       struct agate_runs runs, u32 prot);

/**
 * agate_pt_stage_unmap - stage that a range maps nothing
 * @stage: to be filled in
 * @pgt: the table
 * @va: first GPU address, a multiple of 4 KiB
 * @size: bytes, likewise, not 0
 *
 * Otherwise as agate_pt_stage_map().
 */
int agate_pt_stage_unmap(struct agate_pt_stage *stage, struct agate_pgtable *pgt, u64 va,
			 u64 size);

/**
 * agate_pt_commit - make a change what the CPU's view says
 * @stage: the change
 *
 * Cannot fail.  No walker sees it before agate_pt_write_cpu() or the mover's commands.
 *
 * Context: all of struct agate_pt_locks is held, and nothing changed the table since the change was
 * staged.
 */
void agate_pt_commit(struct agate_pt_stage *stage);

/**
 * agate_pt_abort - give up a change that was not committed
 * @stage: the change
 */
void agate_pt_abort(struct agate_pt_stage *stage);

/**
 * agate_pt_write_cpu - show a committed change to the walker, by the CPU
 * @stage: the change; all that were committed before it are written
 *
 * Context: agate_pt_locks.pt is held.
 */
void agate_pt_write_cpu(const struct agate_pt_stage *stage);

/**
 * agate_pt_write_gpu - make the mover's commands that do the same
 * @stage: the change
 * @cmds: @stage->updates commands, all zero
 *
 * Return: how many of them it needs.
 */
unsigned int agate_pt_write_gpu(const struct agate_pt_stage *stage, struct agate_mover_cmd *cmds);

/**
 * agate_pt_stage_fini - free what a written change leaves
 * @stage: the change; no walker reaches the tables that are gone, for the TLB was flushed
 */
void agate_pt_stage_fini(struct agate_pt_stage *stage);

/**
 * agate_pt_zap - invalidate all leaves of a range at once
 * @pgt: the table
 * @va: first GPU address, a multiple of 4 KiB
 * @size: bytes, likewise; no block is partly in the range
 *
 * For memory that moves: the tables stay, even those that become empty, so no memory is
 * necessary to bring the entries back, and a change that waits in the queue still finds its
 * tables.  All changes that concern the range are written.
 *
 * Context: agate_pt_locks.pt is held.
 * Return: is there anything to flush?
 */
bool agate_pt_zap(struct agate_pgtable *pgt, u64 va, u64 size);

#endif /* AGATE_VM_PT_H */
