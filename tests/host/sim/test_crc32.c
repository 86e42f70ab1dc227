// SPDX-License-Identifier: MIT
/*
 * The CRC-32 of CHECKSUM, against one that takes bit by bit: every length around those at
 * which it begins to take steps and lanes, at odd addresses, in one piece and in several.
 */
#include "crc32.h"

#include <stdlib.h>

#include "crc_slowly.h"
#include "gpu_bench.h"

#define BLOCK	(CRC32_LANES * CRC32_LANE)
#define SIZE	(3 * BLOCK)

struct fixture {
	struct crc32 tables;
	uint8_t bytes[SIZE];
};

static int set_up(void **state)
{
	struct fixture *f = malloc(sizeof(*f));
	uint32_t random = 1;
	size_t i;

	assert_non_null(f);
	crc32_init(&f->tables);
	for (i = 0; i < SIZE; i++) {
		random = random * 1664525u + 1013904223u;
		f->bytes[i] = random >> 24;
	}
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	free(*state);
	return 0;
}

static void check(const struct fixture *f, size_t start, size_t len)
{
	uint32_t crc = ~crc32_update(&f->tables, UINT32_MAX, f->bytes + start, len);

	if (crc != crc_slowly(f->bytes + start, len))
		fail_msg("%zu bytes from %zu on give 0x%x", len, start, crc);
}

static void test_any_length(void **state)
{
	const struct fixture *f = *state;
	size_t start, len;

	for (start = 0; start < 9; start++) {
		for (len = 0; len < 4 * CRC32_STEP; len++)
			check(f, start, len);
		for (len = BLOCK - CRC32_STEP - 1; len <= BLOCK + CRC32_STEP + 1; len++)
			check(f, start, len);
		check(f, start, 2 * BLOCK + 3 * CRC32_STEP + 5);
	}
}

static void test_pieces(void **state)
{
	const struct fixture *f = *state;
	uint32_t want = crc_slowly(f->bytes, SIZE);
	size_t cut;

	for (cut = 0; cut <= SIZE; cut += 509) {
		uint32_t crc = crc32_update(&f->tables, UINT32_MAX, f->bytes, cut);

		crc = crc32_update(&f->tables, crc, f->bytes + cut, SIZE - cut);
		assert_int_equal(~crc, want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_any_length),
		cmocka_unit_test(test_pieces),
	};

	return cmocka_run_group_tests_name("sim-crc32", tests, set_up, tear_down);
}
