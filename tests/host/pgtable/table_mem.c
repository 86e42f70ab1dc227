// SPDX-License-Identifier: MIT
/*
 * Each table page has a second copy of its entries, the one the walker reads.
 * sync() copies entries to it, and checks that a new pointer leads to a page whose
 * own entries are in sync: this detects a parent that became visible before its
 * child.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <asm/byteorder.h>

#include "agate_regs.h"
#include "table_mem.h"

#define ENTRY_BYTES	(AGATE_PT_ENTRIES * sizeof(__le64))

/* The table's page, and the walker's copy; complete: all of it was shown once. */
struct shown_page {
	struct agate_pgtable_page base;
	__le64 shown[AGATE_PT_ENTRIES];
	bool complete;
};

static struct shown_page *page_at(const struct table_mem *mem, u64 phys)
{
	u64 n = (phys - TABLE_MEM_PHYS) >> 12;

	assert_true(phys >= TABLE_MEM_PHYS && n < TABLE_MEM_PAGES);
	assert_non_null(mem->page[n]);
	return container_of(mem->page[n], struct shown_page, base);
}

/* Code that takes a page of the last level for another one follows a NULL pointer. */
static struct agate_pgtable_page *mem_alloc(void *ctx, bool last)
{
	struct table_mem *mem = ctx;
	struct shown_page *page;
	unsigned int n = 0;

	if (!mem->fail_after)
		return NULL;
	if (mem->fail_after > 0)
		mem->fail_after--;

	while (n < TABLE_MEM_PAGES && mem->page[n])
		n++;
	if (n == TABLE_MEM_PAGES) {
		fail_msg("a test wants more than %d table pages", TABLE_MEM_PAGES);
		return NULL;
	}

	page = calloc(1, sizeof(*page));
	assert_non_null(page);
	page->base.entries = calloc(1, ENTRY_BYTES);
	assert_non_null(page->base.entries);
	if (!last) {
		page->base.child = calloc(AGATE_PT_ENTRIES, sizeof(*page->base.child));
		assert_non_null(page->base.child);
	}
	page->base.phys = TABLE_MEM_PHYS + ((u64)n << 12);
	mem->page[n] = &page->base;
	mem->live++;
	return &page->base;
}

static void mem_free(void *ctx, struct agate_pgtable_page *base)
{
	struct table_mem *mem = ctx;
	struct shown_page *page = page_at(mem, base->phys);

	mem->page[(base->phys - TABLE_MEM_PHYS) >> 12] = NULL;
	mem->live--;
	free(page->base.entries);
	free(page->base.child);
	free(page);
}

/*
 * An entry that leads to a table.  In the AArch64 format a page has the same type,
 * so there the address decides: tests map no table pages.
 */
static bool leads_on(const struct table_mem *mem, u64 entry)
{
	u64 phys = entry & LPAE_ADDR;

	if (LPAE_TYPE(entry) != LPAE_TYPE_TABLE)
		return false;
	return !mem->aarch64 || (phys >= TABLE_MEM_PHYS &&
				 phys < TABLE_MEM_PHYS + ((u64)TABLE_MEM_PAGES << 12));
}

static bool is_leaf(const struct table_mem *mem, u64 entry, int level)
{
	if (mem->aarch64 && level == AGATE_PT_LEVELS - 1)
		return AARCH64_TYPE(entry) == AARCH64_TYPE_PAGE;
	return LPAE_TYPE(entry) == LPAE_TYPE_LEAF;
}

/* A walker may come to this child from now on. */
static void check_child(const struct table_mem *mem, u64 entry)
{
	struct shown_page *child = page_at(mem, entry & LPAE_ADDR);

	if (mem->queued)
		assert_true(child->complete);
	else
		assert_memory_equal(child->base.entries, child->shown, ENTRY_BYTES);
}

static void mem_store(void *ctx, struct agate_pgtable_page *base, unsigned int first,
		      const __le64 *values, unsigned int count)
{
	struct table_mem *mem = ctx;
	struct shown_page *page = page_at(mem, base->phys);
	unsigned int i;

	assert_true(count > 0 && first < AGATE_PT_ENTRIES && count <= AGATE_PT_ENTRIES - first);
	for (i = 0; i < count; i++) {
		u64 entry = le64_to_cpu(values[i]);

		if (leads_on(mem, entry) && values[i] != page->shown[first + i])
			check_child(mem, entry);
		page->shown[first + i] = values[i];
	}
	page->complete |= count == AGATE_PT_ENTRIES;
}

static void mem_sync(void *ctx, struct agate_pgtable_page *base, unsigned int first,
		     unsigned int count)
{
	mem_store(ctx, base, first, &base->entries[first], count);
}

const struct agate_pgtable_mem table_mem_ops = {
	.alloc = mem_alloc,
	.alloc_aside = mem_alloc,
	.free = mem_free,
	.sync = mem_sync,
	.store = mem_store,
};

void table_mem_init(struct table_mem *mem)
{
	memset(mem, 0, sizeof(*mem));
	mem->fail_after = -1;
}

int table_mem_walk(const struct table_mem *mem, u64 root, u64 va, u64 *leaf)
{
	u64 table = root;
	int level;

	for (level = 0; level < AGATE_PT_LEVELS; level++) {
		unsigned int index = (va >> AGATE_PT_SHIFT(level)) & 511;
		u64 entry = le64_to_cpu(page_at(mem, table)->shown[index]);

		if (is_leaf(mem, entry, level)) {
			*leaf = entry;
			return level;
		}
		if (LPAE_TYPE(entry) != LPAE_TYPE_TABLE || level == AGATE_PT_LEVELS - 1)
			return -1;
		table = entry & LPAE_ADDR;
	}
	return -1;
}

void table_mem_assert_cut_off(const struct table_mem *mem, const struct agate_pgtable_page *page)
{
	unsigned int n, i;

	for (n = 0; n < TABLE_MEM_PAGES; n++) {
		if (!mem->page[n])
			continue;
		for (i = 0; i < AGATE_PT_ENTRIES; i++) {
			const struct shown_page *other = page_at(mem, mem->page[n]->phys);

			assert_int_not_equal(le64_to_cpu(other->shown[i]) & LPAE_ADDR, page->phys);
		}
	}
}

unsigned int table_mem_count(const struct table_mem *mem, u64 table, int level)
{
	const struct shown_page *page = page_at(mem, table);
	unsigned int count = 1;
	unsigned int i;

	for (i = 0; level < AGATE_PT_LEVELS - 1 && i < AGATE_PT_ENTRIES; i++) {
		u64 entry = le64_to_cpu(page->shown[i]);

		if (leads_on(mem, entry))
			count += table_mem_count(mem, entry & LPAE_ADDR, level + 1);
	}
	return count;
}

u64 table_mem_hash(const struct table_mem *mem, u64 table, int level)
{
	const struct shown_page *page = page_at(mem, table);
	u64 hash = 0xcbf29ce484222325;
	unsigned int i;

	for (i = 0; i < AGATE_PT_ENTRIES; i++) {
		u64 entry = le64_to_cpu(page->shown[i]);

		if (level < AGATE_PT_LEVELS - 1 && leads_on(mem, entry))
			hash ^= table_mem_hash(mem, entry & LPAE_ADDR, level + 1);
		hash = (hash ^ entry) * 0x100000001b3;
	}
	return hash;
}

void table_mem_move(const struct table_mem *mem, u64 src, u64 dst, u64 length)
{
	const struct shown_page *from = page_at(mem, src);
	struct shown_page *to = page_at(mem, dst);
	unsigned int first = (src & 4095) / sizeof(__le64);
	unsigned int count = length / sizeof(__le64);
	unsigned int i;

	assert_true(!(src % 8) && !(dst % 8) && (src & 4095) + length <= 4096);
	assert_int_equal(src & 4095, dst & 4095);
	for (i = first; i < first + count; i++) {
		if (leads_on(mem, le64_to_cpu(from->shown[i])))
			check_child(mem, le64_to_cpu(from->shown[i]));
		to->shown[i] = from->shown[i];
	}
}
