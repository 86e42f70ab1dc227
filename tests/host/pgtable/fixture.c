// SPDX-License-Identifier: MIT
#include "fixture.h"

#include <stdlib.h>

#include <asm/byteorder.h>
#include <linux/errno.h>

static int setup(void **state, const struct agate_pgtable_format *format, bool aarch64)
{
	struct fixture *f = calloc(1, sizeof(*f));

	*state = f;
	if (!f)
		return -1;
	table_mem_init(&f->mem);
	f->mem.aarch64 = aarch64;
	return agate_pgtable_init(&f->pgt, format, &table_mem_ops, &f->mem);
}

int setup_lpae(void **state)
{
	return setup(state, &agate_pgtable_lpae, false);
}

int setup_aarch64(void **state)
{
	return setup(state, &agate_pgtable_aarch64, true);
}

int teardown(void **state)
{
	struct fixture *f = *state;
	unsigned int live;

	agate_pgtable_fini(&f->pgt);
	live = f->mem.live;
	free(f);
	return live ? -1 : 0;
}

int map(struct fixture *f, u64 va, u64 pa, u64 size, u32 prot)
{
	return agate_pgtable_map(&f->pgt, va, pa, size, prot);
}

int unmap(struct fixture *f, u64 va, u64 size)
{
	LIST_HEAD(gone);
	struct agate_pgtable_page *page, *next;
	int ret = agate_pgtable_unmap(&f->pgt, va, size, &gone);

	if (ret)
		assert_true(list_empty(&gone));
	list_for_each_entry_safe(page, next, &gone, link)
		table_mem_assert_cut_off(&f->mem, page);
	agate_pgtable_free_list(&f->pgt, &gone);
	assert_int_equal(f->mem.live, f->pgt.pages);
	return ret;
}

u64 entry(const struct agate_pgtable_page *table, unsigned int index)
{
	return le64_to_cpu(table->entries[index]);
}

void assert_leaf(struct fixture *f, u64 va, int level, u64 value)
{
	u64 leaf = 0;

	assert_int_equal(table_mem_walk(&f->mem, f->pgt.root->phys, va, &leaf), level);
	assert_int_equal(leaf, value);
}

void assert_unmapped(struct fixture *f, u64 va)
{
	u64 leaf;

	assert_int_equal(table_mem_walk(&f->mem, f->pgt.root->phys, va, &leaf), -1);
	assert_int_equal(agate_pgtable_translate(&f->pgt, va, NULL, NULL), -ENOENT);
}
