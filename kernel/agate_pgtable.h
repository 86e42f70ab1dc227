/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "pgtable" (lab 10): the GPU's page tables, as plain data.
 *
 * Four levels of 512 eight-byte entries over a 4 KiB granule.  struct
 * agate_pgtable_format hides the layout of an entry, so one walk serves all
 * formats.  The code needs no kernel service: table pages come from the caller's
 * struct agate_pgtable_mem, and the same source compiles for host tests.
 *
 * Nothing here talks to the GPU.  The GPU sees a change after the caller has
 * flushed.  Only then may the caller free table pages that unmap removed, so unmap
 * collects them instead of freeing them.
 */
#ifndef AGATE_PGTABLE_H
#define AGATE_PGTABLE_H

#include <asm/byteorder.h>
#include <linux/bits.h>
#include <linux/compiler.h>
#include <linux/list.h>
#include <linux/types.h>

#include "agate_regs.h"

struct agate_device;
struct agate_pt_locks;

/* What a mapping allows. */
#define AGATE_PROT_READ		BIT(0)
#define AGATE_PROT_WRITE	BIT(1)
#define AGATE_PROT_NOEXEC	BIT(2)

/*
 * Leaves of both formats select this one of the eight memory attributes in
 * AS_MEMATTR: memory that the CPU shares.  kbase uses it under ACE.
 */
#define AGATE_PT_ATTR_SHARED	3

/**
 * struct agate_pgtable_page - one 4 KiB page of a table
 * @entries: its 512 entries, CPU view
 * @phys: the address the GPU walks
 * @used: entries that are valid
 * @child: for each entry that points to a table, that table; NULL at the last level,
 *	where no entry does
 * @link: on the caller's list after unmap removed the page
 */
struct agate_pgtable_page {
	__le64 *entries;
	u64 phys;
	unsigned int used;
	struct agate_pgtable_page **child;
	struct list_head link;
};

/**
 * struct agate_pgtable_mem - where table pages come from
 * @alloc: a page whose entries are 0, visible to the walker, or NULL; @last: it is for
 *	the last level, and needs no @child
 * @alloc_aside: topic "vm-tables" only: as @alloc, for a page that no walker will ever come to
 * @free: free a page, which the GPU cannot reach any more
 * @sync: make the written entries [first, first + count) of a page visible to the
 *	walker; called before the parent entry that leads to them is written
 * @store: topic "vm-tables" only: show the walker these @values of [first, first + count),
 *	each by one store, whatever the CPU's view of the page says
 */
struct agate_pgtable_mem {
	struct agate_pgtable_page *(*alloc)(void *ctx, bool last);
	struct agate_pgtable_page *(*alloc_aside)(void *ctx, bool last);
	void (*free)(void *ctx, struct agate_pgtable_page *page);
	void (*sync)(void *ctx, struct agate_pgtable_page *page,
		     unsigned int first, unsigned int count);
	void (*store)(void *ctx, struct agate_pgtable_page *page, unsigned int first,
		      const __le64 *values, unsigned int count);
};

/**
 * struct agate_pgtable_format - the layout of entries (with kbase's operation
 * names)
 * @pte_to_phy_addr: address in a valid entry
 * @ate_is_valid: is it a leaf at this level?
 * @pte_is_valid: does it point to a table at this level?
 * @ate_prot: permissions of a leaf, AGATE_PROT_*
 * @entries_set_ate: make @count leaves of memory that is contiguous from @phys on
 * @entry_set_pte: make a pointer to a table
 * @entry_invalidate: make an entry that maps nothing; 0 is another such
 * @ates_invalidate: the same for all leaves among @count entries; returns their
 *	number
 */
struct agate_pgtable_format {
	u64 (*pte_to_phy_addr)(u64 entry);
	bool (*ate_is_valid)(u64 entry, unsigned int level);
	bool (*pte_is_valid)(u64 entry, unsigned int level);
	u32 (*ate_prot)(u64 entry);
	void (*entries_set_ate)(__le64 *entries, unsigned int count, u64 phys, u32 prot,
				unsigned int level);
	void (*entry_set_pte)(__le64 *entry, u64 phys);
	void (*entry_invalidate)(__le64 *entry);
	unsigned int (*ates_invalidate)(__le64 *entries, unsigned int count,
					unsigned int level);
};

extern const struct agate_pgtable_format agate_pgtable_lpae;
extern const struct agate_pgtable_format agate_pgtable_aarch64;

/** agate_pgtable_level_bytes - how much one entry of a level covers */
static inline u64 agate_pgtable_level_bytes(unsigned int level)
{
	return BIT_ULL(AGATE_PT_SHIFT(level));
}

/** agate_pgtable_set_entry - one store: the GPU may walk the entry at any time */
static inline void agate_pgtable_set_entry(__le64 *entry, u64 value)
{
	WRITE_ONCE(*entry, cpu_to_le64(value));
}

/**
 * agate_pgtable_invalidate - what formats make their ates_invalidate() of
 * @entries: the first entry
 * @count: entries
 * @level: of their table
 * @is_leaf: the format's ate_is_valid(); a constant, so that no call remains
 *
 * Return: how many leaves were invalidated.
 */
static __always_inline unsigned int
agate_pgtable_invalidate(__le64 *entries, unsigned int count, unsigned int level,
			 bool (*is_leaf)(u64 entry, unsigned int level))
{
	unsigned int leaves = 0;
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (!is_leaf(le64_to_cpu(entries[i]), level))
			continue;
		agate_pgtable_set_entry(&entries[i], 0);
		leaves++;
	}
	return leaves;
}

/**
 * struct agate_pgtable - one address space's table
 * @format: entries
 * @mem: table pages
 * @ctx: passed to @mem
 * @locks: of a table that changes in two steps (agate_vm_pt.h), or NULL
 * @root: level 0
 * @pages: table pages in use, the root included
 */
struct agate_pgtable {
	const struct agate_pgtable_format *format;
	const struct agate_pgtable_mem *mem;
	void *ctx;
	const struct agate_pt_locks *locks;
	struct agate_pgtable_page *root;
	unsigned int pages;
};

int agate_pgtable_topic_init(struct agate_device *adev);
void agate_pgtable_topic_fini(struct agate_device *adev);

/**
 * agate_pgtable_init - create an empty table
 * @pgt: to be filled in
 * @format: entries
 * @mem: table pages
 * @ctx: passed to @mem
 *
 * Return: 0 or -ENOMEM.
 */
int agate_pgtable_init(struct agate_pgtable *pgt, const struct agate_pgtable_format *format,
		       const struct agate_pgtable_mem *mem, void *ctx);

/**
 * agate_pgtable_fini - free every table page of a table that the GPU does not walk
 * any more
 * @pgt: the table
 */
void agate_pgtable_fini(struct agate_pgtable *pgt);

/**
 * agate_pgtable_map - map a range
 * @pgt: the table
 * @va: first GPU address, a multiple of 4 KiB
 * @pa: first physical address, likewise
 * @size: bytes, likewise, not 0
 * @prot: AGATE_PROT_*, at least one of READ and WRITE; in a format without
 *	write-only memory, WRITE means both
 *
 * Uses 1 GiB and 2 MiB leaves where va, pa and size allow.  Maps all or nothing.
 *
 * Return: 0; -EINVAL for a misaligned, empty or too high range; -EEXIST when a part
 * of it is mapped already; -ENOMEM.
 */
int agate_pgtable_map(struct agate_pgtable *pgt, u64 va, u64 pa, u64 size, u32 prot);

/**
 * agate_pgtable_unmap - unmap whatever a range maps; holes are skipped
 * @pgt: the table
 * @va: first GPU address, a multiple of 4 KiB
 * @size: bytes, likewise, not 0
 * @gone: list to which this adds the table pages that became empty; the caller
 *	frees them with agate_pgtable_free_list() after it has flushed the GPU's TLB
 *
 * A block that is only partly in the range is split first.
 *
 * Return: 0; -EINVAL; -ENOMEM when a split failed, and then nothing changed.
 */
int agate_pgtable_unmap(struct agate_pgtable *pgt, u64 va, u64 size, struct list_head *gone);

/**
 * agate_pgtable_free_list - free the pages that unmap collected, once no walker
 * sees them
 * @pgt: the table
 * @gone: emptied
 */
void agate_pgtable_free_list(struct agate_pgtable *pgt, struct list_head *gone);

/**
 * agate_pgtable_translate - walk the table as the GPU would
 * @pgt: the table
 * @va: any GPU address
 * @pa: out, may be NULL
 * @prot: out, may be NULL
 *
 * Return: 0 or -ENOENT.
 */
int agate_pgtable_translate(const struct agate_pgtable *pgt, u64 va, u64 *pa, u32 *prot);

#endif /* AGATE_PGTABLE_H */
