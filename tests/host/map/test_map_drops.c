// SPDX-License-Identifier: MIT
/*
 * agate-map's index of dropped pages, compared with a search through everything;
 * and its time, which must not grow with walks times flushes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <time.h>

#include "map.h"

#define ROUNDS	200
#define EVENTS	60

static uint64_t draw(uint64_t below)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state % below;
}

/* Few addresses, so that much overlaps; now and then one far away. */
static uint64_t draw_va(void)
{
	return (draw(8) ? 0 : 1ull << 47) + draw(4) * (1ull << 30) + draw(4) * (1ull << 21) +
	       draw(16) * 4096;
}

static void add_flush(struct map_space *space, uint64_t time, uint64_t va, unsigned int shift)
{
	uint64_t within = shift < 64 ? (1ull << shift) - 1 : UINT64_MAX;
	struct map_flush *flush = MAP_ADD(space->flush);

	*flush = (struct map_flush){ .time = time, .first = va & ~within, .last = va | within };
}

static void add_walk(struct map_space *space, uint64_t time, uint64_t va, unsigned int level)
{
	struct map_walk *walk = MAP_ADD(space->walk);

	*walk = (struct map_walk){ .time = time, .va = va & ~(map_page_size(level) - 1),
				   .level = level };
}

/* The table leaves and comes, in up to three hardware address spaces. */
static void add_stays(struct map_space *space)
{
	unsigned int as;

	for (as = 0; as < 3; as++) {
		uint64_t time = draw(20);

		while (time < 2 * EVENTS) {
			struct map_stay *stay = MAP_ADD(space->stay);
			uint64_t length = draw(60);

			*stay = (struct map_stay){ .as = as, .from = time, .to = time + length };
			time += length + draw(20);
		}
	}
}

static uint64_t searched(const struct map_space *space, const struct map_walk *walk)
{
	uint64_t last = walk->va + map_page_size(walk->level) - 1, end = MAP_NEVER;
	size_t i;

	for (i = 0; i < space->flush.count; i++) {
		const struct map_flush *flush = &space->flush.item[i];

		if (flush->time >= walk->time && flush->time < end && flush->first <= last &&
		    flush->last >= walk->va)
			end = flush->time;
	}
	for (i = 0; i < space->stay.count; i++) {
		const struct map_stay *stay = &space->stay.item[i];

		if (stay->from <= walk->time && walk->time <= stay->to && stay->to < end)
			end = stay->to;
	}
	return end;
}

static void space_free(struct map_space *space)
{
	free(space->flush.item);
	free(space->walk.item);
	free(space->stay.item);
}

static void test_as_a_search_finds_it(void **state)
{
	static const unsigned int shifts[] = { 15, 15, 16, 20, 21, 22, 29, 30, 31, 48, 63, 64 };
	unsigned int round, i;

	(void)state;
	for (round = 0; round < ROUNDS; round++) {
		struct map_space space = { 0 };
		struct map_drops *drops;

		for (i = 0; i < EVENTS; i++)
			add_flush(&space, 2 * i, draw_va(), shifts[draw(round % 12 + 1)]);
		for (i = 0; i < EVENTS; i++)
			add_walk(&space, draw(2 * EVENTS + 2), draw_va(), 1 + draw(3));
		if (round % 2)
			add_stays(&space);
		drops = map_drops_of(&space);
		for (i = 0; i < EVENTS; i++)
			assert_int_equal(map_dropped(drops, &space.walk.item[i]),
					 searched(&space, &space.walk.item[i]));
		map_drops_free(drops);
		space_free(&space);
	}
}

/* Processor time for that many walks, and flushes that drop none of them. */
static double cost(unsigned int count)
{
	struct map_space space = { 0 };
	struct map_drops *drops;
	clock_t begun;
	unsigned int i;

	for (i = 0; i < count; i++) {
		add_walk(&space, i, (uint64_t)i << 12, 3);
		add_flush(&space, i, 1ull << 40 | (uint64_t)i << 15, 15);
	}
	begun = clock();
	drops = map_drops_of(&space);
	for (i = 0; i < count; i++)
		assert_int_equal(map_dropped(drops, &space.walk.item[i]), MAP_NEVER);
	map_drops_free(drops);
	space_free(&space);
	return (double)(clock() - begun);
}

/* Sixteen times as long if it looked through all flushes for each walk. */
static void test_four_times_as_much_takes_not_much_longer_each(void **state)
{
	double once = cost(25000);

	(void)state;
	assert_true(cost(100000) < 9 * once);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_as_a_search_finds_it),
		cmocka_unit_test(test_four_times_as_much_takes_not_much_longer_each),
	};

	return cmocka_run_group_tests_name("sim-map_drops", tests, NULL, NULL);
}
