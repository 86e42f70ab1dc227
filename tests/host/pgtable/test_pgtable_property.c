// SPDX-License-Identifier: MIT
/*
 * agate_pgtable.c against a flat model: an array with the mapping of each page in a
 * few windows.  The test runs thousands of random maps and unmaps, in some of which
 * memory runs out.  After each one the table must agree with the model, both in its
 * own translation and in a walk over the synced entries.  It runs with entries of
 * either format.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <linux/errno.h>

#include "agate_regs.h"
#include "table_mem.h"

#define WINDOW_PAGES	4096u			/* 16 MiB */
#define WINDOWS		4u
#define PAGE		4096ull
#define STEPS		6000u
#define SAMPLES		48u

/* The start, a 1 GiB boundary, a 512 GiB boundary and the end of the space. */
static const u64 window_va[WINDOWS] = {
	0,
	(1ull << 30) - WINDOW_PAGES / 2 * PAGE,
	(1ull << 39) - WINDOW_PAGES / 2 * PAGE,
	(1ull << 48) - WINDOW_PAGES * PAGE,
};

struct model_page {
	u64 pa;
	u32 prot;				/* 0: not mapped */
};

struct world {
	struct table_mem mem;
	struct agate_pgtable pgt;
	struct model_page model[WINDOWS][WINDOW_PAGES];
	u64 random;
};

static u32 random_below(struct world *w, u32 limit)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return (w->random >> 32) % limit;
}

struct range {
	unsigned int window;
	unsigned int first;
	unsigned int count;
};

/* An end is often a multiple of 2 MiB, so that blocks are made and split. */
static struct range random_range(struct world *w)
{
	struct range r = { .window = random_below(w, WINDOWS) };

	if (random_below(w, 2))
		r.first = random_below(w, WINDOW_PAGES / 512) * 512;
	else
		r.first = random_below(w, WINDOW_PAGES);
	if (random_below(w, 2))
		r.count = 512 * (1 + random_below(w, 3));
	else
		r.count = 1 + random_below(w, random_below(w, 8) ? 40 : 1500);
	if (r.count > WINDOW_PAGES - r.first)
		r.count = WINDOW_PAGES - r.first;
	return r;
}

static u32 leaf_prot(const struct world *w, u64 leaf)
{
	u32 prot = 0;

	if (!w->mem.aarch64) {
		prot |= leaf & LPAE_RD ? AGATE_PROT_READ : 0;
		prot |= leaf & LPAE_WR ? AGATE_PROT_WRITE : 0;
	} else {
		prot |= leaf & (1 << 6) ? AGATE_PROT_READ : 0;
		prot |= leaf & (1 << 7) ? 0 : AGATE_PROT_WRITE;
	}
	return prot | (leaf & (1ull << 54) ? AGATE_PROT_NOEXEC : 0);
}

static void check_page(struct world *w, unsigned int window, unsigned int n)
{
	const struct model_page *page = &w->model[window][n];
	u64 va = window_va[window] + n * PAGE + random_below(w, PAGE);
	u64 leaf = 0, pa = 0, shift;
	u32 prot = 0;
	int level = table_mem_walk(&w->mem, w->pgt.root->phys, va, &leaf);
	int ret = agate_pgtable_translate(&w->pgt, va, &pa, &prot);

	if (!page->prot) {
		assert_int_equal(level, -1);
		assert_int_equal(ret, -ENOENT);
		return;
	}
	assert_int_equal(ret, 0);
	assert_int_equal(pa, page->pa + va % PAGE);
	assert_int_equal(prot, page->prot);

	assert_true(level > 0);
	shift = AGATE_PT_SHIFT(level);
	assert_int_equal((leaf & LPAE_ADDR) + (va & ((1ull << shift) - 1)), pa);
	assert_int_equal(leaf_prot(w, leaf), prot);
	if (w->mem.aarch64)
		assert_true(leaf & (1 << 10));
}

static void check_around(struct world *w, const struct range *r)
{
	unsigned int i;

	for (i = 0; i < SAMPLES; i++) {
		check_page(w, r->window, r->first + random_below(w, r->count));
		check_page(w, random_below(w, WINDOWS), random_below(w, WINDOW_PAGES));
	}
	check_page(w, r->window, r->first);
	check_page(w, r->window, r->first + r->count - 1);
	if (r->first)
		check_page(w, r->window, r->first - 1);
	if (r->first + r->count < WINDOW_PAGES)
		check_page(w, r->window, r->first + r->count);
	assert_int_equal(w->mem.live, w->pgt.pages);
}

static void step_map(struct world *w, const struct range *r)
{
	u64 va = window_va[r->window] + r->first * PAGE;
	u64 pa = random_below(w, 1u << 20) * PAGE;
	u32 prot = 1 + random_below(w, 3) + (random_below(w, 2) ? AGATE_PROT_NOEXEC : 0);
	bool taken = false;
	unsigned int i;
	int ret;

	if (random_below(w, 2))
		pa = (pa & ~((2ull << 20) - 1)) + va % (2ull << 20);

	for (i = 0; i < r->count; i++)
		taken |= w->model[r->window][r->first + i].prot != 0;

	ret = agate_pgtable_map(&w->pgt, va, pa, r->count * PAGE, prot);
	if (taken) {
		assert_int_equal(ret, -EEXIST);
		return;
	}
	if (w->mem.fail_after == 0 && ret == -ENOMEM)
		return;
	assert_int_equal(ret, 0);
	if (w->mem.aarch64)
		prot |= AGATE_PROT_READ;	/* there is no write-only memory */
	for (i = 0; i < r->count; i++) {
		w->model[r->window][r->first + i].pa = pa + i * PAGE;
		w->model[r->window][r->first + i].prot = prot;
	}
}

static void step_unmap(struct world *w, const struct range *r)
{
	u64 va = window_va[r->window] + r->first * PAGE;
	LIST_HEAD(gone);
	int ret;

	ret = agate_pgtable_unmap(&w->pgt, va, r->count * PAGE, &gone);
	agate_pgtable_free_list(&w->pgt, &gone);
	if (w->mem.fail_after == 0 && ret == -ENOMEM)
		return;
	assert_int_equal(ret, 0);
	memset(&w->model[r->window][r->first], 0, r->count * sizeof(struct model_page));
}

static void run(u64 seed, bool aarch64)
{
	struct world *w = calloc(1, sizeof(*w));
	LIST_HEAD(gone);
	unsigned int step, i;

	assert_non_null(w);
	w->random = seed;
	table_mem_init(&w->mem);
	w->mem.aarch64 = aarch64;
	assert_int_equal(agate_pgtable_init(&w->pgt, aarch64 ? &agate_pgtable_aarch64 :
							       &agate_pgtable_lpae,
					    &table_mem_ops, &w->mem), 0);

	for (step = 0; step < STEPS; step++) {
		struct range r = random_range(w);

		w->mem.fail_after = random_below(w, 4) ? -1 : (int)random_below(w, 5);
		if (random_below(w, 5) < 3)
			step_map(w, &r);
		else
			step_unmap(w, &r);
		w->mem.fail_after = -1;
		check_around(w, &r);
	}
	for (i = 0; i < WINDOW_PAGES; i++)
		check_page(w, i % WINDOWS, i);

	assert_int_equal(agate_pgtable_unmap(&w->pgt, 0, 1ull << 48, &gone), 0);
	agate_pgtable_free_list(&w->pgt, &gone);
	assert_int_equal(w->pgt.pages, 1);
	assert_int_equal(w->pgt.root->used, 0);
	agate_pgtable_fini(&w->pgt);
	assert_int_equal(w->mem.live, 0);
	free(w);
}

static const u64 seeds[] = { 1, 0x9e3779b97f4a7c15, 20240229 };

static void random_steps_lpae(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++)
		run(seeds[i], false);
}

static void random_steps_aarch64(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++)
		run(seeds[i], true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_steps_lpae),
		cmocka_unit_test(random_steps_aarch64),
	};

	return cmocka_run_group_tests_name("pgtable_property", tests, NULL, NULL);
}
