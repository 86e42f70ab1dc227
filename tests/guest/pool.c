// SPDX-License-Identifier: MIT
/*
 * System memory of BOs with a placement: how it is cached, that nobody sees what another client
 * left there, and that it goes back when memory is short.
 */
#include "placed_client.h"

#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#define SIZE	(3 * MIB + 5 * 64 * 1024)	/* blocks of several sizes, and whole groups of the GGTT */

static struct bo bo_of(const struct placed_client *client, uint32_t caching)
{
	struct bo bo;

	assert_int_equal(placed_create(client->fd, SIZE, 0, SYSTEM, caching, &bo), 0);
	return bo;
}

static void drop_caches(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "2", 1), 1);
	close(fd);
}

enum memtype { WRITE_BACK, WRITE_COMBINING, UNCACHED, MEMTYPES };

/* x86 keeps the caching of a page in two of its flags, of which the second has changed. */
#define KPF_ARCH	(1ull << 38)
#define KPF_UNCACHED	(1ull << 39)
#define KPF_ARCH_2	(1ull << 41)

/* How many pages of the machine the kernel maps in which way. */
static void count_memtypes(long counts[MEMTYPES])
{
	static uint64_t flags[65536];
	int fd = open("/proc/kpageflags", O_RDONLY | O_CLOEXEC);
	ssize_t bytes;

	assert_true(fd >= 0);
	memset(counts, 0, MEMTYPES * sizeof(*counts));
	while ((bytes = read(fd, flags, sizeof(flags))) > 0) {
		for (size_t i = 0; i < (size_t)bytes / sizeof(*flags); i++) {
			if (flags[i] & (KPF_UNCACHED | KPF_ARCH_2))
				counts[UNCACHED]++;
			else if (flags[i] & KPF_ARCH)
				counts[WRITE_COMBINING]++;
			else
				counts[WRITE_BACK]++;
		}
	}
	assert_int_equal(bytes, 0);
	close(fd);
}

/* ---- Tests -------------------------------------------------------------------- */

/* The kernel's own mapping of the pages has the BO's caching, and only as long as needed. */
static void caching_is_real(void **state)
{
	static const enum memtype types[] = {
		[AGATE_CACHING_WB] = WRITE_BACK,
		[AGATE_CACHING_WC] = WRITE_COMBINING,
		[AGATE_CACHING_UC] = UNCACHED,
	};
	struct placed_client client = placed_open(PAGE);
	long before[MEMTYPES], now[MEMTYPES];

	(void)state;
	drop_caches();
	guest_wait_number("pages", "pool", 0);
	count_memtypes(before);
	for (uint32_t caching = 0; caching < 3; caching++) {
		struct bo bo = bo_of(&client, caching);

		placed_fill(&client, &bo, 1);
		count_memtypes(now);
		for (unsigned int type = WRITE_COMBINING; type < MEMTYPES; type++)
			assert_int_equal(now[type] - before[type],
					 type == types[caching] ? SIZE / PAGE : 0);
		guest_destroy(&bo);
		guest_wait_number("pages", "pool", types[caching] == WRITE_BACK ? 0 : SIZE / PAGE);
		drop_caches();
		guest_wait_number("pages", "pool", 0);
		count_memtypes(now);
		for (unsigned int type = WRITE_COMBINING; type < MEMTYPES; type++)
			assert_int_equal(now[type], before[type]);
	}
	placed_close(&client);
	guest_assert_nothing_left();
}

/* What a CPU writes through its mapping the GPU reads, and the other way round. */
static void sides_agree(void **state)
{
	struct placed_client client = placed_open(SIZE);

	(void)state;
	for (uint32_t caching = 0; caching < 3; caching++) {
		struct bo bo = bo_of(&client, caching);
		volatile uint64_t *words;

		guest_map(&bo);
		words = bo.cpu;
		for (uint64_t i = 0; i < SIZE / 8; i++)
			words[i] = 0x5eed + caching;
		placed_check(&client, &bo, 0x5eed + caching);
		placed_fill(&client, &bo, 0xfeed);
		for (uint64_t i = 0; i < SIZE / 8; i += 64)
			assert_int_equal(words[i], 0xfeed);
		guest_destroy(&bo);
	}
	placed_close(&client);
	guest_assert_nothing_left();
}

/* The second client has the first one's pages, and not their contents. */
static void nobody_sees_them(void **state)
{
	(void)state;
	drop_caches();
	guest_wait_number("pages", "pool", 0);
	for (uint32_t caching = AGATE_CACHING_WC; caching < 3; caching++) {
		for (unsigned int turn = 0; turn < 2; turn++) {
			struct placed_client client = placed_open(SIZE);
			struct bo bo = bo_of(&client, caching);

			placed_check(&client, &bo, 0);
			assert_int_equal(guest_number("pages", "pool"), 0);
			placed_fill(&client, &bo, 0x5ec2e7);
			guest_destroy(&bo);
			placed_close(&client);
			guest_wait_number("pages", "pool", SIZE / PAGE);
		}
		drop_caches();
		guest_wait_number("pages", "pool", 0);
	}
	guest_assert_nothing_left();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(caching_is_real, guest_teardown),
		cmocka_unit_test_teardown(sides_agree, guest_teardown),
		cmocka_unit_test_teardown(nobody_sees_them, guest_teardown),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
