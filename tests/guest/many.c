// SPDX-License-Identifier: MIT
/*
 * Create and close BOs: many TIMES.  Graded tests make a few thousand in a second;
 * a small leak in each shows only with more.
 */
#include "guest.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define WARM_UP		1000

static unsigned int times;

/* Returns the highest handle: it grows if a handle is never given back. */
static uint32_t create_and_close(int fd, unsigned int n)
{
	uint32_t highest = 0;

	for (unsigned int i = 0; i < n; i++) {
		struct bo bo;

		assert_int_equal(guest_create(fd, (1 + i % 3) * PAGE, 0, &bo), 0);
		if (bo.handle > highest)
			highest = bo.handle;
		assert_int_equal(guest_close_handle(fd, bo.handle), 0);
	}
	return highest;
}

/* Wait some seconds for memory that RCU or a worker frees later. */
static void assert_slab_within(long limit_kb)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	int64_t end = guest_deadline(10000);

	while (guest_slab_kb() > limit_kb && guest_deadline(0) < end)
		nanosleep(&pause, NULL);
	assert_in_range(guest_slab_kb(), 0, limit_kb);
}

static void many(void **state)
{
	int fd = guest_open();
	long slab;

	(void)state;
	create_and_close(fd, WARM_UP);
	slab = guest_slab_kb();
	assert_int_equal(create_and_close(fd, times), 1);
	assert_int_equal(guest_counter("bos"), 0);
	/* 32 bytes each: half of what one small allocation would leave. */
	assert_slab_within(slab + (long)times / 32);
	close(fd);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(many, guest_teardown),
	};

	if (argc != 2 || atoi(argv[1]) < 1) {
		fprintf(stderr, "usage: many TIMES\n");
		return 2;
	}
	times = (unsigned int)atoi(argv[1]);
	return cmocka_run_group_tests_name("many", tests, NULL, NULL);
}
