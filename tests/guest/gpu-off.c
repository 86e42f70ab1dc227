// SPDX-License-Identifier: MIT
/*
 * The GPU of a card has power only while it has chains.  The card has a supply of its own: its
 * mover, its table and its display go on while the GPU is off, and do not wake it.
 *
 * With the argument "lost" the program waits for the GPU's end, which run.sh brings about when
 * it reads ASLEEP.
 */
#include "graded.h"

#include <pthread.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "domains.h"
#include "flips.h"
#include "placed_client.h"
#include "system_sleep.h"
#include "vm_client.h"

#define ROUNDS		200u

/* The GPU goes off: the number of times that it was woken. */
static long long wait_off(void)
{
	power_wait("suspended");
	assert_true(power_is("input off\nL2 off\nshader off\ntiler off\n"));
	return power_number("resumes");
}

/* Nobody has woken it since. */
static void is_still_off(long long resumes)
{
	assert_int_equal(power_number("resumes"), resumes);
	assert_true(power_is("input off\n"));
}

static struct bo populated(int fd, uint64_t size)
{
	struct bo bo;

	assert_int_equal(placed_create(fd, size, AGATE_BO_POPULATE, VRAM, AGATE_CACHING_WC, &bo),
			 0);
	assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
	return bo;
}

/* ---- The card works alone ------------------------------------------------------ */

/* A BO leaves VRAM, and another one is cleared there. */
static void moves(void **state)
{
	struct placed_client client = placed_open(24 * MIB);
	struct bo victim = placed_bo(&client, 24 * MIB, 0, SYSTEM | VRAM), large;
	unsigned int commands;
	long long resumes;

	(void)state;
	placed_fill(&client, &victim, 5);
	resumes = wait_off();
	inject_load();
	inject_anybody(true);
	inject_count("mover_run");
	large = populated(client.fd, 50 * MIB);
	commands = inject_hits("mover_run");
	inject_clear();
	assert_true(commands >= 2);
	is_still_off(resumes);
	placed_check(&client, &victim, 5);
	guest_destroy(&victim);
	guest_destroy(&large);
	placed_close(&client);
	guest_assert_nothing_left();
}

/* The display shows one BO after another, and lets the last one go. */
static void shows(void **state)
{
	struct client client = client_open();
	struct bo bo[] = {
		placed(client.fd, FRAME, 0, VRAM), placed(client.fd, FRAME, 0, SYSTEM),
	};
	long long resumes;

	(void)state;
	for (unsigned int i = 0; i < 2; i++)
		draw(&client, &bo[i], 31 + i);
	resumes = wait_off();
	for (unsigned int i = 0; i < 2; i++) {
		show(client.fd, whole(&bo[i], 0), 31 + i);
		show(client.fd, whole(&bo[i], i ? 0 : AGATE_FLIP_PHYS), 31 + i);
	}
	assert_int_equal(stop(client.fd), 0);
	is_still_off(resumes);
	guest_destroy(&bo[0]);
	guest_destroy(&bo[1]);
	client_close(&client);
}

/* The mover writes page tables that no chain uses now, and the next chain finds them. */
static void binds(void **state)
{
	struct space space = space_on(guest_open());
	struct bo bo = space_bo(&space, 2 * MIB, VRAM);
	uint32_t sync = guest_syncobj(space.fd);
	long long resumes;

	(void)state;
	for (uint64_t i = 1; i <= 3; i++) {
		resumes = wait_off();
		assert_int_equal(space_bind(&space, space_part(&bo, AREA, bo.size, 0, 0), 0, sync),
				 0);
		assert_int_equal(guest_fence_end(guest_sync_file(space.fd, sync)), 1);
		is_still_off(resumes);
		assert_int_equal(space_fill(&space, AREA, bo.size, i), 1);
		space_holds(&space, AREA + bo.size - 8, i);
		resumes = wait_off();
		assert_int_equal(space_bind(&space, space_gap(AREA, bo.size), 0, sync), 0);
		assert_int_equal(guest_fence_end(guest_sync_file(space.fd, sync)), 1);
		is_still_off(resumes);
		space_is_hole(&space, AREA);
	}
	guest_destroy(&bo);
	space_close_last(&space);
}

/* ---- Both at once -------------------------------------------------------------- */

/**
 * struct mover_user - a thread that has the card move and clear memory
 * @fd: its file
 * @err: what went wrong
 * @rounds: how often it has done it
 * @end: it is to end
 */
struct mover_user {
	int fd;
	int err;
	unsigned int rounds;
	bool end;
};

/* It runs beside a thread that asserts, so it asserts nothing. */
static void *use_mover(void *arg)
{
	struct mover_user *user = arg;
	struct bo bo;

	while (!user->err && !__atomic_load_n(&user->end, __ATOMIC_RELAXED)) {
		user->err = placed_create(user->fd, 4 * MIB, AGATE_BO_POPULATE, VRAM,
					  AGATE_CACHING_WC, &bo);
		if (!user->err)
			user->err = guest_wait(user->fd, bo.handle, guest_deadline(60000));
		if (!user->err)
			user->err = guest_close_handle(user->fd, bo.handle);
		__atomic_add_fetch(&user->rounds, 1, __ATOMIC_RELAXED);
	}
	return NULL;
}

/* The GPU goes off as soon as it may, in the middle of what the card does. */
static void in_turns(void **state)
{
	struct placed_client client = placed_open(MIB);
	struct bo bo = placed_bo(&client, MIB, 0, VRAM);
	struct mover_user user = { .fd = guest_open() };
	const long long before = power_number("resumes");
	pthread_t thread;

	(void)state;
	power_tell_device("autosuspend_delay_ms", "0");
	assert_int_equal(pthread_create(&thread, NULL, use_mover, &user), 0);
	for (uint64_t i = 1; i <= ROUNDS; i++) {
		placed_fill(&client, &bo, i);
		if (i % 8)
			continue;
		power_wait("suspended");
		placed_check(&client, &bo, i);
	}
	__atomic_store_n(&user.end, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	power_tell_device("autosuspend_delay_ms", "20");
	assert_int_equal(user.err, 0);
	assert_true(user.rounds > 0);
	assert_true(power_number("resumes") >= before + ROUNDS / 8);
	close(user.fd);
	guest_destroy(&bo);
	placed_close(&client);
	guest_assert_nothing_left();
}

/* The whole system sleeps while the GPU is off, and while it is about to be. */
static void system_sleeps(void **state)
{
	struct placed_client client = placed_open(8 * MIB);
	struct bo bo = placed_bo(&client, 8 * MIB, 0, SYSTEM | VRAM);

	(void)state;
	for (uint64_t i = 1; i <= 4; i++) {
		placed_fill(&client, &bo, i);
		if (i & 1)
			wait_off();
		assert_int_equal(sleep_devices(), 0);
		placed_check(&client, &bo, i);
	}
	wait_off();
	guest_destroy(&bo);
	placed_close(&client);
	guest_assert_nothing_left();
}

/* ---- The end ------------------------------------------------------------------- */

/* The driver leaves a GPU that is off, and a display that shows something. */
static void unbound(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct client client = client_open();
		struct bo bo = placed(client.fd, FRAME, 0, VRAM);

		draw(&client, &bo, 41);
		show(client.fd, whole(&bo, 0), 41);
		if (i & 1)
			wait_off();
		assert_int_equal(device_unbind(), 0);
		client_abandon(&client);
		assert_int_equal(device_bind(), 0);
	}
	close(guest_open());
	wait_off();
}

/* The GPU's process ends while the GPU is off and the card works. */
static void lost(void **state)
{
	struct placed_client client = placed_open(MIB);
	struct mover_user user = { .fd = guest_open() };
	pthread_t thread;

	(void)state;
	wait_off();
	assert_int_equal(pthread_create(&thread, NULL, use_mover, &user), 0);
	puts("# ASLEEP");
	fflush(stdout);
	pthread_join(thread, NULL);
	assert_int_equal(user.err, ENODEV);
	assert_int_equal(guest_submit(client.fd, client.jobs.va, 0, &client.jobs.handle, 1, 0),
			 ENODEV);
	munmap(client.jobs.cpu, client.jobs.size);
	munmap(client.seen.cpu, client.seen.size);
	close(client.fd);
	close(user.fd);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(moves, guest_teardown),
		cmocka_unit_test_teardown(shows, guest_teardown),
		cmocka_unit_test_teardown(binds, guest_teardown),
		cmocka_unit_test_teardown(in_turns, guest_teardown),
		cmocka_unit_test_teardown(system_sleeps, guest_teardown),
		cmocka_unit_test(unbound),
	};
	const struct CMUnitTest end[] = {
		cmocka_unit_test(lost),
	};

	if (argc > 1 && !strcmp(argv[1], "lost"))
		return cmocka_run_group_tests_name("gpu-off-lost", end, NULL, NULL);
	return cmocka_run_group_tests_name("gpu-off", tests, NULL, NULL);
}
