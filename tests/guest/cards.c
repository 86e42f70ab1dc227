// SPDX-License-Identifier: MIT
/*
 * Two cards whose memory moves: one goes in the middle of a move, when run.sh kills its process
 * because it reads BUSY, and the other one goes on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "gpus.h"
#include "placed_client.h"

#define REFCNT	"/sys/module/agate/refcnt"
/* More than VRAM holds. */
#define COUNT	10u
#define SIZE	(8 * MIB)

/* What two processes share. */
struct shared {
	bool stop;
	unsigned int rounds;
};

static long module_users(void)
{
	char text[16] = "";
	FILE *file = fopen(REFCNT, "re");

	assert_non_null(file);
	assert_non_null(fgets(text, sizeof(text), file));
	fclose(file);
	return strtol(text, NULL, 10);
}

static void bos_create(const struct placed_client *client, struct bo *bos)
{
	for (unsigned int i = 0; i < COUNT; i++)
		bos[i] = placed_bo(client, SIZE, 0, VRAM);
}

/* Another process works on the first card: its BOs take turns. */
static _Noreturn void work(struct shared *shared)
{
	struct placed_client client = placed_open_on(gpus_open(0), SIZE);
	struct bo bos[COUNT];

	bos_create(&client, bos);
	for (uint64_t round = 0; !__atomic_load_n(&shared->stop, __ATOMIC_ACQUIRE); round++) {
		for (unsigned int i = 0; i < COUNT; i++) {
			placed_check(&client, &bos[i], round ? (round - 1) * COUNT + i : 0);
			placed_fill(&client, &bos[i], round * COUNT + i);
		}
		__atomic_add_fetch(&shared->rounds, 1, __ATOMIC_RELEASE);
	}
	placed_close(&client);
	_exit(0);
}

static void wait_for_rounds(struct shared *shared, unsigned int more)
{
	const unsigned int enough = __atomic_load_n(&shared->rounds, __ATOMIC_ACQUIRE) + more;

	for (int64_t end = guest_deadline(120000);
	     __atomic_load_n(&shared->rounds, __ATOMIC_ACQUIRE) < enough; usleep(1000))
		assert_true(guest_deadline(0) < end);
}

/* Memory moves on the second card until it goes; then every call says so. */
static void lose_second(void)
{
	struct placed_client client = placed_open_on(gpus_open(1), PAGE);
	struct bo bos[COUNT], more;
	unsigned int i = 0;
	int ret;

	bos_create(&client, bos);
	for (; i < COUNT; i++)
		assert_int_equal(placed_try_fill(&client, &bos[i], 1), 0);
	puts("# BUSY");
	fflush(stdout);
	do {
		ret = placed_try_fill(&client, &bos[i++ % COUNT], 1);
	} while (!ret);
	assert_int_equal(ret, ENODEV);
	assert_int_equal(placed_try_fill(&client, &bos[0], 1), ENODEV);
	assert_int_equal(placed_create(client.fd, SIZE, AGATE_BO_POPULATE, VRAM, AGATE_CACHING_WC,
				       &more), ENODEV);
	munmap(client.jobs.cpu, client.jobs.size);
	munmap(client.seen.cpu, client.seen.size);
	close(client.fd);
}

static void one_goes_in_mid_move(void **state)
{
	struct shared *shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	const long before = module_users();
	int status, fd;
	pid_t pid;

	(void)state;
	assert_ptr_not_equal(shared, MAP_FAILED);
	fflush(stdout);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		work(shared);
	wait_for_rounds(shared, 1);
	lose_second();
	wait_for_rounds(shared, 2);
	__atomic_store_n(&shared->stop, true, __ATOMIC_RELEASE);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	munmap(shared, PAGE);
	/* No job or fence of the card that has gone keeps the module. */
	for (int64_t end = guest_deadline(10000); module_users() != before; usleep(1000))
		assert_true(guest_deadline(0) < end);
	fd = gpus_open(0);
	close(fd);
	guest_assert_nothing_left();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_goes_in_mid_move),
	};

	return cmocka_run_group_tests_name("cards", tests, NULL, NULL);
}
