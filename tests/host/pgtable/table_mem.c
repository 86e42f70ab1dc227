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

/* The table's page, and the walker's copy. */
struct shown_page {
	struct agate_pgtable_page base;
	__le64 shown[AGATE_PT_ENTRIES];
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

static void mem_sync(void *ctx, struct agate_pgtable_page *base, unsigned int first,
		     unsigned int count)
{
	struct table_mem *mem = ctx;
	struct shown_page *page = page_at(mem, base->phys);
	unsigned int i;

	assert_true(count > 0 && first < AGATE_PT_ENTRIES && count <= AGATE_PT_ENTRIES - first);
	for (i = first; i < first + count; i++) {
		u64 entry = le64_to_cpu(base->entries[i]);

		if (leads_on(mem, entry) && base->entries[i] != page->shown[i]) {
			struct shown_page *child = page_at(mem, entry & LPAE_ADDR);

			assert_memory_equal(child->base.entries, child->shown, ENTRY_BYTES);
		}
		page->shown[i] = base->entries[i];
	}
}

const struct agate_pgtable_mem table_mem_ops = {
	.alloc = mem_alloc,
	.free = mem_free,
	.sync = mem_sync,
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
