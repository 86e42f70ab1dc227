/* SPDX-License-Identifier: MIT */
/*
 * Table pages for the tests: they are counted, allocations can be made to fail, and
 * the order in which changes become visible to the walker is checked.
 */
#ifndef TABLE_MEM_H
#define TABLE_MEM_H

#include <linux/types.h>

#include "agate_pgtable.h"

#define TABLE_MEM_PAGES		4096
/* Table pages have addresses that no test maps as data. */
#define TABLE_MEM_PHYS		0xf000000000ull

/**
 * struct table_mem - every page handed out, findable by its address
 * @page: page n has the address TABLE_MEM_PHYS + n * 4096
 * @live: how many
 * @fail_after: allocations that still succeed, or -1 for all
 * @aarch64: the entries' format; LPAE when not set
 * @queued: entries are shown later than they change, and a child may have changed again
 */
struct table_mem {
	struct agate_pgtable_page *page[TABLE_MEM_PAGES];
	unsigned int live;
	int fail_after;
	bool aarch64;
	bool queued;
};

extern const struct agate_pgtable_mem table_mem_ops;

void table_mem_init(struct table_mem *mem);

/**
 * table_mem_walk - translate as the GPU does: from entries alone
 * @mem: the pages
 * @root: address of level 0
 * @va: address to translate
 * @leaf: out: the leaf entry
 *
 * Reads only what sync() has shown to the walker.
 *
 * Return: the leaf's level, or -1 when there is none.
 */
int table_mem_walk(const struct table_mem *mem, u64 root, u64 va, u64 *leaf);

/** table_mem_count - pages that a walker can reach from a table, with this one */
unsigned int table_mem_count(const struct table_mem *mem, u64 table, int level);

/** table_mem_hash - a hash of all that the walker can reach from a table */
u64 table_mem_hash(const struct table_mem *mem, u64 table, int level);

/** table_mem_move - what the mover's STORE does, between the walker's copies */
void table_mem_move(const struct table_mem *mem, u64 src, u64 dst, u64 length);

/**
 * table_mem_assert_cut_off - assert that no page leads the walker to this one
 * @mem: the pages
 * @page: removed by unmap, not freed yet
 */
void table_mem_assert_cut_off(const struct table_mem *mem, const struct agate_pgtable_page *page);

#endif /* TABLE_MEM_H */
