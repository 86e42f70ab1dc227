// SPDX-License-Identifier: MIT
/*
 * The card's power goes with the system's sleep: what the driver has there comes back as it was,
 * and what does not end at the edges of a sleep is ended later, and once.
 *
 * Before "copy_fails" run.sh has the mover fail twice at the BO's way out of VRAM.
 */
#include "graded.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "domains.h"
#include "flips.h"
#include "kernel_memory.h"
#include "placed_client.h"
#include "system_sleep.h"

/* ---- The driver's own memory ---------------------------------------------------- */

/* Firmware, ring and context; what the mover did in between is in them the second time. */
static void kernel_memory_comes_back(void **state)
{
	static char before[KERNEL_MEMORY_SIZE], after[KERNEL_MEMORY_SIZE];
	static char first[KERNEL_MEMORY_SIZE];
	struct placed_client client = placed_open(PAGE);
	struct bo bo;

	(void)state;
	inject_load();
	for (unsigned int n = 0; n < 2; n++) {
		assert_int_equal(placed_create(client.fd, MIB, AGATE_BO_POPULATE, VRAM,
					       AGATE_CACHING_WC, &bo), 0);
		assert_int_equal(guest_wait(client.fd, bo.handle, FOREVER), 0);
		guest_destroy(&bo);
		kernel_memory(0, before);
		/* Else an old copy would do. */
		assert_string_not_equal(before, first);
		memcpy(first, before, sizeof(first));
		assert_int_equal(sleep_devices(), 0);
		kernel_memory(0, after);
		assert_string_equal(after, before);
	}
	placed_close(&client);
	guest_assert_nothing_left();
}

/* ---- A flip that does not end --------------------------------------------------- */

/* After it the display has shown its frame again, and the driver has not heard of the end. */
static void sleep_and_miss_the_end(unsigned int picture)
{
	long frames = guest_gpu_counter("frames");

	inject_load();
	inject_anybody(true);
	inject_fail("agate_scan_serve", 0, 1);
	assert_int_equal(sleep_devices(), 0);
	shown_by_itself(frames, picture);
}

/*
 * The frame's owner takes it back then; the next sleep finds out, and nobody has the frame any more.
 * It is no memory of the card: so the mover has no work, and no message that would tell.  Nor does
 * the GPU wake up, which makes the card send its message again.
 */
static void end_is_found(void **state)
{
	struct client client = client_open();
	struct bo bo = placed(client.fd, FRAME, 0, SYSTEM);

	(void)state;
	power_tell_device("control", "on");
	draw(&client, &bo, 51);
	show(client.fd, whole(&bo, 0), 51);
	sleep_and_miss_the_end(51);
	assert_int_equal(stop(client.fd), 0);
	guest_destroy(&bo);
	inject_clear();
	assert_int_equal(sleep_devices(), 0);
	power_tell_device("control", "auto");
	client_close(&client);
}

/* The device goes: the frame is given up, once. */
static void unbound_before_the_end(void **state)
{
	struct client client = client_open();
	struct bo bo = placed(client.fd, FRAME, 0, VRAM);

	(void)state;
	draw(&client, &bo, 52);
	show(client.fd, whole(&bo, 0), 52);
	sleep_and_miss_the_end(52);
	assert_int_equal(device_unbind(), 0);
	inject_clear();
	client_abandon(&client);
	assert_int_equal(device_bind(), 0);
	client = client_open();
	bo = placed(client.fd, FRAME, 0, VRAM);
	draw(&client, &bo, 53);
	show(client.fd, whole(&bo, 0), 53);
	guest_destroy(&bo);
	assert_int_equal(stop(client.fd), 0);
	client_close(&client);
}

/* By then all programs are frozen, and the driver waits longer than that. */
#define ON_THE_WAY_MS	3000

/* ---- A copy that fails ---------------------------------------------------------- */

/*
 * The system stays awake, and the BO's user is told; the next sleep has nothing to lose.  The mover
 * gets the copy late, so a driver that does not wait for its end finds no failure.
 */
static void copy_fails(void **state)
{
	struct placed_client client = placed_open(MIB);
	struct bo bo = placed_bo(&client, MIB, 0, SYSTEM | VRAM);

	(void)state;
	placed_fill(&client, &bo, 7);
	inject_load();
	inject_anybody(true);
	inject_hold_entry("mover_run", 1, ON_THE_WAY_MS);
	assert_int_equal(sleep_devices(), EIO);
	assert_true(inject_hits("mover_run"));
	inject_clear();
	assert_int_equal(placed_try_fill(&client, &bo, 8), EIO);
	assert_int_equal(sleep_devices(), 0);
	guest_destroy(&bo);
	placed_close(&client);
	guest_assert_nothing_left();
}

/* ---- A copy that is late -------------------------------------------------------- */

struct newcomer {
	pthread_t thread;
	int fd;
	struct bo bo;
	int err;
};

/* On the way to sleep it gets a signal, and afterwards it begins anew. */
static void *come(void *arg)
{
	struct newcomer *newcomer = arg;

	do {
		newcomer->err = try_placed(newcomer->fd, LARGE, AGATE_BO_POPULATE, VRAM,
					   &newcomer->bo);
	} while (newcomer->err == EINTR);
	return NULL;
}

/*
 * A BO has left for a newcomer, which does not come before the sleep: so nothing in VRAM waits for
 * its copy.  The scheduler has that still, because its thread is busy with the end of another job
 * until the gate gives up.
 */
static void left_before(void **state)
{
	struct placed_client client = placed_open(FRAME);
	struct newcomer newcomer = { .fd = client.fd };
	struct bo bo = placed_bo(&client, LARGE, 0, VRAM), part = bo;
	int64_t end;

	(void)state;
	part.size = FRAME;
	inject_load();
	inject_anybody(true);
	/* The end of the job that clears the BO. */
	inject_hold_entry("mover_free", 1, ON_THE_WAY_MS);
	placed_fill(&client, &part, 0x1ef7);
	assert_true(inject_await_held("mover_free", 10000));
	inject_count("agate_mover_push");
	assert_int_equal(pthread_create(&newcomer.thread, NULL, come, &newcomer), 0);
	for (end = guest_deadline(10000); !inject_hits("agate_mover_push"); usleep(1000))
		assert_true(guest_deadline(0) < end);
	assert_int_equal(sleep_devices(), 0);
	assert_int_equal(pthread_join(newcomer.thread, NULL), 0);
	inject_clear();
	assert_int_equal(newcomer.err, 0);
	guest_destroy(&newcomer.bo);
	placed_check(&client, &part, 0x1ef7);
	guest_destroy(&bo);
	placed_close(&client);
	guest_assert_nothing_left();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(kernel_memory_comes_back, guest_teardown),
		cmocka_unit_test_teardown(end_is_found, guest_teardown),
		cmocka_unit_test_teardown(unbound_before_the_end, guest_teardown),
		cmocka_unit_test_teardown(copy_fails, guest_teardown),
		cmocka_unit_test_teardown(left_before, guest_teardown),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("sleep-ends", tests, NULL, NULL);
}
