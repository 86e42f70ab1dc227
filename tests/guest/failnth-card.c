// SPDX-License-Identifier: MIT
/*
 * Every allocation fails once, where BOs have a placement: of the calls that give one memory,
 * push another one out for it, bring that one back, and map it for the CPUs.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "fail_nth.h"
#include "placed_client.h"

/* Small, so that there are few pages to fail. */
#define SIZE	(4 * PAGE)
#define WORD	0x3a2cull
#define FLAGS	AGATE_BO_CPU_VISIBLE
#define PROBES	32u

/* The visible part of VRAM is full, except for room for one BO of SIZE. */
static struct {
	struct placed_client client;
	struct bo filler;
	struct bo small;		/* holds WORD in all words, and leaves first */
	struct bo fresh;
	bool made;			/* @fresh is there */
	/* A call that fails when it says which handle it has made leaves that to its file. */
	int fd;
} world;

/* ---- Nearly full ------------------------------------------------------------------- */

/* A BO that takes VRAM if there is some: does the mover clear it? */
static bool is_in_vram(uint64_t size, struct bo *bo)
{
	long before = guest_gpu_counter("mover_bytes");

	*bo = placed_bo(&world.client, size, FLAGS | AGATE_BO_POPULATE, SYSTEM | VRAM);
	assert_int_equal(guest_wait(bo->fd, bo->handle, FOREVER), 0);
	return guest_gpu_counter("mover_bytes") != before;
}

/* How much is free, in one piece as long as nobody has used it. */
static uint64_t free_bytes(void)
{
	struct bo probes[PROBES];
	unsigned int count = 0;
	uint64_t bytes = 0;

	for (uint64_t size = VISIBLE / 2; size >= SIZE; count++) {
		assert_in_range(count, 0, PROBES - 1);
		if (is_in_vram(size, &probes[count]))
			bytes += size;
		else
			size /= 2;
	}
	while (count)
		guest_destroy(&probes[--count]);
	return bytes;
}

static void fill_up(void)
{
	world.client = placed_open(SIZE);
	world.filler = placed_bo(&world.client, free_bytes() - SIZE, FLAGS | AGATE_BO_POPULATE, VRAM);
	guest_wait_counter("bos", 3);
}

/* Now it is younger than what came before. */
static void use_filler(void)
{
	assert_int_equal(placed_run(&world.client, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_COPY, .dst = world.client.seen.va, .src = world.filler.va,
		.size = SIZE,
	}, &world.filler, &world.client.seen), 1);
	/* It has not lost anything. */
	for (unsigned int i = 0; i < SIZE / 8; i++)
		assert_int_equal(((volatile uint64_t *)world.client.seen.cpu)[i], 0);
}

/* ---- Before and after a call -------------------------------------------------------- */

static void with_small(void)
{
	world.fd = guest_open();
	world.made = false;
	world.small = placed_bo(&world.client, SIZE, FLAGS | AGATE_BO_POPULATE, VRAM);
	placed_fill(&world.client, &world.small, WORD);
	use_filler();
}

static void with_fresh(void)
{
	with_small();
	world.fresh = placed_bo(&world.client, SIZE, FLAGS, VRAM);
	world.made = true;
}

/* The small one has left. */
static void with_small_away(void)
{
	with_fresh();
	placed_fill(&world.client, &world.fresh, ~WORD);
	use_filler();
}

static void with_pages(void)
{
	with_small();
	world.fresh = placed_bo(&world.client, SIZE, 0, SYSTEM);
	guest_map(&world.fresh);
	world.made = true;
}

static void after(void)
{
	/*
	 * The call submits a job and waits for it.  If the wait failed, the job may still have to
	 * run, and what follows would write another job over its descriptor.
	 */
	guest_wait_counter("jobs", 0);
	/* First the one that may have the small one's place: the filler stays. */
	if (world.made)
		guest_destroy(&world.fresh);
	close(world.fd);
	placed_check(&world.client, &world.small, WORD);
	guest_destroy(&world.small);
	guest_wait_counter("bos", 3);
}

/* ---- Calls ------------------------------------------------------------------------- */

static int call_populate(void)
{
	int err = placed_create(world.fd, SIZE, FLAGS | AGATE_BO_POPULATE, VRAM,
				AGATE_CACHING_WC, &world.fresh);

	world.made = !err;
	return err;
}

static int call_populate_system(void)
{
	int err = placed_create(world.fd, SIZE, AGATE_BO_POPULATE, SYSTEM, AGATE_CACHING_WB,
				&world.fresh);

	world.made = !err;
	return err;
}

static int call_use(void)
{
	return placed_try_fill(&world.client, &world.fresh, 0);
}

static int call_bring_back(void)
{
	return placed_try_fill(&world.client, &world.small, WORD);
}

/* The kernel touches the mapping: SIGBUS would be EFAULT. */
static int call_touch(void)
{
	int zero = open("/dev/zero", O_RDONLY | O_CLOEXEC), err;

	if (zero < 0)
		return errno;
	err = read(zero, world.fresh.cpu, 1) == 1 ? 0 : errno;
	close(zero);
	return err;
}

static void with_nothing(void)
{
}

static void after_nothing(void)
{
}

static int call_query(void)
{
	struct drm_agate_region regions[2];
	struct drm_agate_query_regions arg = {
		.regions = (uintptr_t)regions, .count = 2, .region_size = sizeof(regions[0]),
	};

	return guest_ioctl(world.client.fd, DRM_IOCTL_AGATE_QUERY_REGIONS, &arg);
}

static void fail_query(void **state)
{
	const struct fail_nth_call it = { "query", with_nothing, call_query, after_nothing };

	(void)state;
	fail_nth_each(&it);
}

/* The small one has left, and is shown. */
static int call_flip(void)
{
	struct drm_agate_flip arg = {
		.handle = world.small.handle, .width = 32, .height = 32, .stride = 128,
		.format = AGATE_FORMAT_R8G8B8A8,
	};

	return guest_ioctl(world.client.fd, DRM_IOCTL_AGATE_FLIP, &arg);
}

/* Nothing stays pinned. */
static void after_flip(void)
{
	struct drm_agate_flip none = { 0 };

	assert_int_equal(guest_ioctl(world.client.fd, DRM_IOCTL_AGATE_FLIP, &none), 0);
	after();
}

static void fail_flip(void **state)
{
	const struct fail_nth_call it = { "flip", with_small_away, call_flip, after_flip };

	(void)state;
	fail_nth_each(&it);
}

#define TEST(name, needs)							\
	static void fail_##name(void **state)					\
	{									\
		const struct fail_nth_call it = { #name, needs, call_##name, after }; \
										\
		(void)state;							\
		fail_nth_each(&it);						\
	}

TEST(populate, with_small)
TEST(populate_system, with_small)
TEST(use, with_fresh)
TEST(bring_back, with_small_away)
TEST(touch, with_pages)

static int setup(void **state)
{
	(void)state;
	fill_up();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	guest_destroy(&world.filler);
	placed_close(&world.client);
	guest_assert_nothing_left();
	return 0;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fail_populate),
		cmocka_unit_test(fail_populate_system),
		cmocka_unit_test(fail_use),
		cmocka_unit_test(fail_bring_back),
		cmocka_unit_test(fail_touch),
		cmocka_unit_test(fail_query),
		cmocka_unit_test(fail_flip),
	};

	if (argc > 1)
		fail_nth_take_turn(atoi(argv[1]));
	return cmocka_run_group_tests_name("failnth-card", tests, setup, teardown);
}
