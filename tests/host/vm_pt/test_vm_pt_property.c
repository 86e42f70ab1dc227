// SPDX-License-Identifier: MIT
/*
 * agate_vm_pt.c against two flat models: what the CPU's view says, and what the walker finds.
 *
 * Thousands of random changes are staged, given up, committed, kept in a queue, and written
 * later, by the CPU or by the mover's commands.  Memory runs out in some, and some ranges are
 * zapped.  A walk over what was shown has to agree with the one model after each step, and
 * the table's own translation with the other.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <linux/errno.h>

#include "agate_card.h"
#include "agate_vm_pt.h"
#include "locks.h"
#include "runs.h"
#include "table_mem.h"

#define WINDOW_PAGES	4096u			/* 16 MiB */
#define WINDOWS		4u
#define PAGE		4096ull
#define BLOCK		(512 * PAGE)
#define STEPS		6000u
#define SAMPLES		32u
#define QUEUE		4u
#define RUNS		6u

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

struct model {
	struct model_page page[WINDOWS][WINDOW_PAGES];
};

struct range {
	unsigned int window;
	unsigned int first;
	unsigned int count;
};

/* A change, and what its range maps when it is written. */
struct queued {
	struct agate_pt_stage stage;
	struct range range;
	struct model_page pages[WINDOW_PAGES];
};

struct world {
	struct table_mem mem;
	struct agate_pgtable pgt;
	struct locks locks;
	struct model view;
	struct model walked;
	struct queued *queue[QUEUE];
	unsigned int queued;
	u64 random;
};

static u32 random_below(struct world *w, u32 limit)
{
	w->random ^= w->random << 13;
	w->random ^= w->random >> 7;
	w->random ^= w->random << 17;
	return (w->random >> 32) % limit;
}

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

static u64 va_of(const struct range *r)
{
	return window_va[r->window] + r->first * PAGE;
}

/* ---- Checks ------------------------------------------------------------ */

static void check_page(struct world *w, unsigned int window, unsigned int n)
{
	const struct model_page *walked = &w->walked.page[window][n];
	const struct model_page *view = &w->view.page[window][n];
	u64 va = window_va[window] + n * PAGE + random_below(w, PAGE);
	u64 leaf = 0, pa = 0;
	u32 prot = 0;
	int level = table_mem_walk(&w->mem, w->pgt.root->phys, va, &leaf);

	assert_int_equal(level >= 0, walked->prot != 0);
	if (level >= 0)
		assert_int_equal((leaf & LPAE_ADDR) + (va & ((1ull << AGATE_PT_SHIFT(level)) - 1)),
				 walked->pa + va % PAGE);
	assert_int_equal(agate_pgtable_translate(&w->pgt, va, &pa, &prot),
			 view->prot ? 0 : -ENOENT);
	if (view->prot) {
		assert_int_equal(pa, view->pa + va % PAGE);
		assert_int_equal(prot, view->prot);
	}
}

static void check(struct world *w, const struct range *r)
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
}

/* Without a change that waits, the walker can reach every page that is there. */
static void check_pages(struct world *w)
{
	if (w->queued)
		return;
	assert_int_equal(w->mem.live, w->pgt.pages);
	if (!random_below(w, 8))
		assert_int_equal(table_mem_count(&w->mem, w->pgt.root->phys, 0), w->pgt.pages);
}

/* ---- Steps ------------------------------------------------------------- */

static void write_first(struct world *w)
{
	struct queued *q = w->queue[0];
	struct agate_mover_cmd cmds[AGATE_PT_UPDATES] = {};
	unsigned int count, i;

	if (random_below(w, 2)) {
		agate_pt_write_cpu(&q->stage);
	} else {
		count = agate_pt_write_gpu(&q->stage, cmds);
		assert_true(count <= AGATE_PT_UPDATES);
		for (i = 0; i < count; i++) {
			assert_int_equal(cmds[i].op, AGATE_MOVER_STORE);
			assert_int_equal(cmds[i].flags, 0);
			table_mem_move(&w->mem, cmds[i].src, cmds[i].dst, cmds[i].length);
		}
	}
	agate_pt_stage_fini(&q->stage);
	memcpy(&w->walked.page[q->range.window][q->range.first], q->pages,
	       q->range.count * sizeof(q->pages[0]));
	w->queued--;
	memmove(&w->queue[0], &w->queue[1], w->queued * sizeof(w->queue[0]));
	check(w, &q->range);
	check_pages(w);
	free(q);
}

static int stage_unmap(struct world *w, struct queued *q)
{
	memset(q->pages, 0, sizeof(q->pages));
	return agate_pt_stage_unmap(&q->stage, &w->pgt, va_of(&q->range), q->range.count * PAGE);
}

static int stage_map(struct world *w, struct queued *q)
{
	u32 prot = 1 + random_below(w, 3) + (random_below(w, 2) ? AGATE_PROT_NOEXEC : 0);
	struct scatterlist sg[RUNS];
	unsigned int count = 0, done = 0, i;

	for (count = 0; done < q->range.count; count++) {
		unsigned int pages = q->range.count - done;
		u64 pa = random_below(w, 1u << 20) * PAGE;

		if (count < RUNS - 1 && random_below(w, 3))
			pages = 1 + random_below(w, pages);
		if (random_below(w, 2))
			pa = pa / BLOCK * BLOCK + (va_of(&q->range) + done * PAGE) % BLOCK;
		sg[count].run = (struct agate_run){ .addr = pa, .size = pages * PAGE };
		for (i = 0; i < pages; i++) {
			q->pages[done + i].pa = pa + i * PAGE;
			q->pages[done + i].prot = prot | (w->mem.aarch64 ? AGATE_PROT_READ : 0);
		}
		done += pages;
	}
	return agate_pt_stage_map(&q->stage, &w->pgt, va_of(&q->range), runs_of(sg, count), prot);
}

/* The walker finds the same as before, until the change is written. */
static void step_change(struct world *w, const struct range *r)
{
	u64 before = table_mem_hash(&w->mem, w->pgt.root->phys, 0);
	struct queued *q = calloc(1, sizeof(*q));
	unsigned int live = w->mem.live;
	int ret;

	assert_non_null(q);
	q->range = *r;
	w->mem.fail_after = random_below(w, 4) ? -1 : (int)random_below(w, 7);
	ret = random_below(w, 5) < 3 ? stage_map(w, q) : stage_unmap(w, q);
	if (w->mem.fail_after)
		assert_int_equal(ret, 0);
	w->mem.fail_after = -1;
	if (ret)
		assert_int_equal(ret, -ENOMEM);
	check(w, r);
	if (!ret && random_below(w, 6)) {
		agate_pt_commit(&q->stage);
		memcpy(&w->view.page[r->window][r->first], q->pages,
		       r->count * sizeof(q->pages[0]));
		w->queue[w->queued++] = q;
	} else {
		if (!ret)
			agate_pt_abort(&q->stage);
		assert_int_equal(w->mem.live, live);
		free(q);
	}
	check(w, r);
	assert_int_equal(table_mem_hash(&w->mem, w->pgt.root->phys, 0), before);
}

static bool splits_a_block(struct world *w, u64 va)
{
	u64 leaf;
	int level = table_mem_walk(&w->mem, w->pgt.root->phys, va, &leaf);

	return level >= 0 && va % (1ull << AGATE_PT_SHIFT(level));
}

/* A range that waits in the queue is not zapped, so here the queue is empty. */
static void step_zap(struct world *w, const struct range *r)
{
	u64 end = va_of(r) + r->count * PAGE;
	bool any = false, zapped;
	unsigned int i;

	if (splits_a_block(w, va_of(r)) || (end < 1ull << 48 && splits_a_block(w, end)))
		return;
	for (i = r->first; i < r->first + r->count; i++)
		any |= w->view.page[r->window][i].prot != 0;
	zapped = agate_pt_zap(&w->pgt, va_of(r), r->count * PAGE);
	assert_int_equal(zapped, any);
	memset(&w->view.page[r->window][r->first], 0, r->count * sizeof(struct model_page));
	memset(&w->walked.page[r->window][r->first], 0, r->count * sizeof(struct model_page));
	check(w, r);
}

/* ---- Runs -------------------------------------------------------------- */

static void empty_all(struct world *w)
{
	struct agate_pt_stage stage;

	while (w->queued)
		write_first(w);
	assert_int_equal(agate_pt_stage_unmap(&stage, &w->pgt, 0, 1ull << 48), 0);
	agate_pt_commit(&stage);
	agate_pt_write_cpu(&stage);
	agate_pt_stage_fini(&stage);
	assert_int_equal(w->pgt.pages, 1);
	assert_int_equal(w->pgt.root->used, 0);
	agate_pgtable_fini(&w->pgt);
	assert_int_equal(w->mem.live, 0);
}

static void run(u64 seed, bool aarch64)
{
	struct world *w = calloc(1, sizeof(*w));
	unsigned int step;

	assert_non_null(w);
	w->random = seed;
	table_mem_init(&w->mem);
	w->mem.aarch64 = aarch64;
	w->mem.queued = true;
	locks_hold(&w->locks, &w->pgt);
	assert_int_equal(agate_pgtable_init(&w->pgt, aarch64 ? &agate_pgtable_aarch64 :
							       &agate_pgtable_lpae,
					    &table_mem_ops, &w->mem), 0);

	for (step = 0; step < STEPS; step++) {
		struct range r = random_range(w);

		if (w->queued == QUEUE || (w->queued && random_below(w, 2)))
			write_first(w);
		else if (!w->queued && !random_below(w, 4))
			step_zap(w, &r);
		else
			step_change(w, &r);
	}
	empty_all(w);
	free(w);
}

static const u64 seeds[] = { 1, 0x9e3779b97f4a7c15, 20240229 };

static void test_random_steps_lpae(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++)
		run(seeds[i], false);
}

static void test_random_steps_aarch64(void **state)
{
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(seeds) / sizeof(seeds[0]); i++)
		run(seeds[i], true);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_steps_lpae),
		cmocka_unit_test(test_random_steps_aarch64),
	};

	return cmocka_run_group_tests_name("vm_pt_property", tests, NULL, NULL);
}
