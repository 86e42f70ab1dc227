// SPDX-License-Identifier: MIT
/*
 * Measures how many translations per second the model makes, without a guest; bench.sh
 * runs it.
 *
 * A hit is found in the TLB.  The first use of an entry in a unit of work costs more: the
 * model compares it with the tables, to detect a driver that forgot a flush.  A miss
 * walks four levels and takes another entry's place.
 */
#include "bench.h"
#include "bench_model.h"

#include <stdio.h>
#include <stdlib.h>

#include "../../sim/model/model.h"

#define ROUNDS		15
#define JOB		TABLES_SIZE
#define SLOT		1
#define ACCESSES	(1u << 18)
#define FEW_PAGES	64u		/* the TLB has room for them */
#define MANY_PAGES	8192u		/* and none for these */

static void translate(struct model *m, uint64_t va)
{
	enum agate_exception exception;
	struct mmu_place place;

	if (mmu_translate(m->sim, &m->sim->slot[SLOT].client, va, MMU_READ, &place, &exception) ==
	    MMU_OK)
		return;
	fprintf(stderr, "bench: no translation\n");
	exit(1);
}

/* Translations per second over that many pages; a unit of work has that many translations. */
static double translations(struct model *m, unsigned int pages, unsigned int unit)
{
	const double start = model_now();

	for (unsigned int i = 0; i < ACCESSES; i++) {
		if (i % unit == 0)
			m->sim->unit++;
		translate(m, VA + DATA + i % pages * (uint64_t)PAGE);
	}
	return ACCESSES / (model_now() - start);
}

static void expect(struct model *m, enum agate_counter counter, uint64_t before)
{
	/* The tolerance covers the accesses that first fill the TLB. */
	if (agate_sim_counter(m->sim, counter) - before >= ACCESSES - ACCESSES / 100)
		return;
	fprintf(stderr, "bench: these are not the translations that were meant\n");
	exit(1);
}

int main(void)
{
	double hit[ROUNDS], first[ROUNDS], miss[ROUNDS];
	struct model m;

	model_bring_up(&m, DATA + MANY_PAGES * PAGE);
	/* After this job its slot stays in the address space. */
	model_put_header(&m, JOB, AGATE_JOB_NULL, 0);
	model_run(&m, SLOT, AS_LINEAR, JOB);
	for (int i = 0; i < ROUNDS; i++) {
		const uint64_t hits = agate_sim_counter(m.sim, AGATE_CNT_TLB_HITS);
		const uint64_t misses = agate_sim_counter(m.sim, AGATE_CNT_TLB_MISSES);

		hit[i] = translations(&m, FEW_PAGES, ACCESSES);
		expect(&m, AGATE_CNT_TLB_HITS, hits);
		first[i] = translations(&m, FEW_PAGES, 1);
		expect(&m, AGATE_CNT_TLB_HITS, hits + ACCESSES);
		miss[i] = translations(&m, MANY_PAGES, 1);
		expect(&m, AGATE_CNT_TLB_MISSES, misses);
	}
	bench_report("tlb_hit", "per s", hit, ROUNDS, NULL);
	bench_report("tlb_hit_first_in_unit", "per s", first, ROUNDS, NULL);
	bench_report("tlb_miss", "per s", miss, ROUNDS, NULL);
	model_free(&m);
	return 0;
}
