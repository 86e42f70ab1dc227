// SPDX-License-Identifier: MIT
/*
 * agate_va.c under random changes, beside pages that know nothing of mappings (va_space.c): partial
 * and overlapping ranges, changes that are given up, and evictions between the two steps.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>

#include "va_space.h"

#define SEEDS	40
#define STEPS	400

static struct space space;
static uint32_t seed;

/* A number below @below; the same numbers on every host. */
static unsigned int below(unsigned int limit)
{
	seed = seed * 1664525u + 1013904223u;
	return (seed >> 8) % limit;
}

/* Most ranges are short, so that many mappings are there; a few are long. */
static struct space_change random_change(void)
{
	const unsigned int page = below(SPACE_PAGES);
	const unsigned int left = SPACE_PAGES - page;
	unsigned int count = 1 + below(below(8) ? 8 : SPACE_PAGES);

	return (struct space_change) {
		.page = page,
		.count = count < left ? count : left,
		.to = {
			.id = below(3),
			.bo = below(SPACE_BOS),
			.offset = below(1000),
			.prot = below(8),
			.active = below(2),
		},
	};
}

static void test_random_changes(void **state)
{
	unsigned int i, step;

	(void)state;
	for (i = 1; i <= SEEDS; i++) {
		seed = i;
		space_init(&space);
		for (step = 0; step < STEPS; step++) {
			const struct space_change change = random_change();

			space_begin(&space, &change);
			if (!below(8)) {
				space_give_up(&space);
				continue;
			}
			if (!below(4))
				space_set_active(&space, below(SPACE_PAGES), below(2));
			space_commit(&space, &change);
		}
		space_fini(&space);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_changes),
	};

	return cmocka_run_group_tests_name("va_property", tests, NULL, NULL);
}
