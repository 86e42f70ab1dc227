// SPDX-License-Identifier: MIT
/*
 * The mover stops, or is stopped, in the middle of its work: every fence signals, and not before
 * the mover stands still.  And it does not begin, because the card refuses its firmware.
 */
#include "graded.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "bus_master.h"
#include "placed_client.h"

#define SIZE		(8 * MIB)
#define A_WHILE_MS	100

static void *unbind(void *arg)
{
	int ret = device_unbind();

	__atomic_store_n((int *)arg, ret, __ATOMIC_RELEASE);
	return NULL;
}

/* @ret: negative until it has ended. */
static pthread_t begin_unbind(int *ret)
{
	pthread_t thread;

	*ret = -1;
	assert_int_equal(pthread_create(&thread, NULL, unbind, ret), 0);
	return thread;
}

/* A BO is cleared, used, pushed out and brought back. */
static void mover_works(void)
{
	struct placed_client client = placed_open(SIZE);
	struct bo bo = placed_bo(&client, SIZE, 0, VRAM), other;

	placed_check(&client, &bo, 0);
	placed_fill(&client, &bo, 1);
	for (unsigned int i = 0; i < VRAM_SIZE / SIZE; i++) {
		other = placed_bo(&client, SIZE, AGATE_BO_POPULATE, VRAM);
		guest_destroy(&other);
	}
	placed_check(&client, &bo, 1);
	guest_destroy(&bo);
	placed_close(&client);
}

/* A GPU without a mover runs jobs all the same, also on memory that need not move. */
static void others_work(void)
{
	struct placed_client client = placed_open(PAGE);
	struct bo bo = placed_bo(&client, PAGE, 0, SYSTEM);

	placed_fill(&client, &bo, 2);
	placed_check(&client, &bo, 2);
	guest_destroy(&bo);
	placed_close(&client);
}

/* The next job stands in the ring, but nobody tells the mover. */
static void mover_hears_nothing(void)
{
	inject_anybody(true);
	inject_within("mover_run");
	inject_fail_null("gpu_write", 1);
	inject_anybody(false);
}

static void wait_for_hit(const char *symbol)
{
	for (int64_t end = guest_deadline(10000); !inject_hits(symbol);)
		assert_true(guest_deadline(0) < end);
}

/* ---- Removal ----------------------------------------------------------------------- */

/* The mover is about to be stopped while it has a job, whose memory its fence guards. */
static void stopped_first(void **state)
{
	struct placed_client client = placed_open(PAGE);
	pthread_t thread;
	int ret;

	(void)state;
	mover_hears_nothing();
	placed_bo(&client, SIZE, AGATE_BO_POPULATE, VRAM);
	wait_for_hit("gpu_write");
	inject_clear();
	inject_count("dma_fence_signal");
	inject_hold_entry("agate_fw_stop", 1, INJECT_BOUND_MS);
	thread = begin_unbind(&ret);
	assert_true(inject_await_held("agate_fw_stop", 10000));
	assert_int_equal(inject_hits("dma_fence_signal"), 0);
	assert_true(inject_let_go("agate_fw_stop"));
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(ret, 0);
	assert_int_not_equal(inject_hits("dma_fence_signal"), 0);
	inject_clear();
	placed_abandon(&client);
	assert_int_equal(device_bind(), 0);
	mover_works();
}

struct creation {
	int fd;
	int ret;
};

static void *create(void *arg)
{
	struct creation *creation = arg;
	struct bo bo;

	creation->ret = placed_create(creation->fd, SIZE, AGATE_BO_POPULATE, VRAM, AGATE_CACHING_WC,
				      &bo);
	return NULL;
}

/* CREATE_BO is about to look for memory, and removal waits until it has got it. */
static void populate_meets_removal(void **state)
{
	struct placed_client client = placed_open(PAGE);
	struct creation creation = { .fd = client.fd };
	pthread_t creating, removing;
	int64_t end;
	int removed;

	(void)state;
	inject_hold_entry("agate_ttm_validate", 1, INJECT_BOUND_MS);
	assert_int_equal(pthread_create(&creating, NULL, create, &creation), 0);
	assert_true(inject_await_held("agate_ttm_validate", 10000));
	removing = begin_unbind(&removed);
	for (end = guest_deadline(A_WHILE_MS); guest_deadline(0) < end;)
		assert_int_equal(__atomic_load_n(&removed, __ATOMIC_ACQUIRE), -1);
	assert_true(inject_let_go("agate_ttm_validate"));
	assert_int_equal(pthread_join(creating, NULL), 0);
	assert_int_equal(pthread_join(removing, NULL), 0);
	inject_clear();
	assert_int_equal(removed, 0);
	assert_true(!creation.ret || creation.ret == ENODEV);
	placed_abandon(&client);
	assert_int_equal(device_bind(), 0);
	mover_works();
}

/* ---- The mover does not answer ------------------------------------------------------ */

/* The card's next message does not arrive, but those after it do. */
static void lost_interrupt(void **state)
{
	(void)state;
	inject_anybody(true);
	inject_count("mover_timedout");
	mover_works();
	/* A host that is busy may let one more job wait that long. */
	assert_in_range(inject_hits("mover_timedout"), 1, 2);
	inject_clear();
}

/* The mover has ended for this driver, until it is loaded anew. */
static void check_given_up(void)
{
	struct placed_client client = placed_open(PAGE);
	struct bo bo = placed_bo(&client, SIZE, AGATE_BO_POPULATE, VRAM);
	struct bo later = placed_bo(&client, SIZE, 0, VRAM);

	assert_int_equal(placed_try_fill(&client, &bo, 0), EIO);
	assert_int_equal(placed_try_fill(&client, &later, 0), EIO);
	guest_destroy(&bo);
	guest_destroy(&later);
	placed_close(&client);
	others_work();
	guest_assert_nothing_left();
	assert_int_equal(device_unbind(), 0);
	assert_int_equal(device_bind(), 0);
	mover_works();
}

/* The next three commands fail: one that is tried again, and what is left of its job. */
static void fails_for_ever(void **state)
{
	(void)state;
	check_given_up();
}

/* It does not hear that there is work, so it stands still without a fault. */
static void stands_still(void **state)
{
	(void)state;
	mover_hears_nothing();
	check_given_up();
	inject_clear();
}

/* The device goes soon, and nobody can use it from then on. */
static void wait_for_loss(struct placed_client *client, const struct bo *bo)
{
	const int64_t end = guest_deadline(10000);
	int err;

	do {
		err = placed_try_fill(client, bo, 0);
	} while (err == EIO && guest_deadline(0) < end);
	assert_int_equal(err, ENODEV);
}

/*
 * It fails as in fails_for_ever(), and nothing stops it then: what its fences guard is freed only
 * because the card cannot reach memory any more.  That must not have to wait for the device's
 * removal, which this test holds.
 */
static void does_not_stop(void **state)
{
	struct placed_client client = placed_open(PAGE);
	int config = bus_master_open();
	struct bo bo;

	(void)state;
	inject_anybody(true);
	inject_fail("agate_fw_stop", 1, ETIMEDOUT);
	inject_hold_entry("agate_pm_keep", 1, INJECT_BOUND_MS);
	inject_anybody(false);
	assert_true(bus_master_is_on(config));
	bo = placed_bo(&client, SIZE, AGATE_BO_POPULATE, VRAM);
	assert_int_equal(placed_try_fill(&client, &bo, 0), EIO);
	assert_true(inject_await_held("agate_pm_keep", 10000));
	assert_false(bus_master_is_on(config));
	assert_true(inject_let_go("agate_pm_keep"));
	wait_for_loss(&client, &bo);
	assert_int_not_equal(inject_hits("agate_fw_stop"), 0);
	inject_clear();
	assert_int_equal(device_unbind(), 0);
	close(config);
	placed_abandon(&client);
	assert_int_equal(device_bind(), 0);
	mover_works();
}

/* The card refuses its firmware: there is no device, the caller knows why, and can try again. */
static void firmware_refused(void **state)
{
	(void)state;
	assert_int_equal(device_unbind(), 0);
	assert_int_equal(device_bind(), EIO);
	assert_int_equal(guest_try_open(), -1);
	assert_int_equal(device_bind(), 0);
	mover_works();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(firmware_refused, guest_teardown),
		cmocka_unit_test_teardown(stopped_first, guest_teardown),
		cmocka_unit_test_teardown(populate_meets_removal, guest_teardown),
		cmocka_unit_test_teardown(lost_interrupt, guest_teardown),
		cmocka_unit_test_teardown(fails_for_ever, guest_teardown),
		cmocka_unit_test_teardown(stands_still, guest_teardown),
		cmocka_unit_test_teardown(does_not_stop, guest_teardown),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("mover-ends", tests, NULL, NULL);
}
