// SPDX-License-Identifier: MIT
/*
 * Jobs that read a BO, jobs that write it, and the order in which they run.
 *
 * A job waits for a fence that the test signals, so that nothing but the driver's order
 * decides what else may run meanwhile.
 */
#include "guest.h"

#include <unistd.h>

#define DATA	2048u
#define READ	((uint32_t)AGATE_SUBMIT_BO_READ)
#define WRITE	((uint32_t)AGATE_SUBMIT_BO_WRITE)
#define ALONE	((uint32_t)AGATE_SUBMIT_BO_NO_IMPLICIT)

/* How long a job that has to wait is given to show that it does not. */
#define LOOK_MS	200
/* How long one that need not wait may take on a busy host. */
#define PATIENCE_MS	60000

static const uint32_t slots[] = { 0, AGATE_JD_REQ_FS };

/* Two jobs, each in a BO of its own, that use a third BO. */
struct scene {
	int fd;
	struct bo shared;
	struct bo first, second;
};

static struct scene scene_open(void)
{
	struct scene s = { .fd = guest_open() };

	s.shared = guest_bo(s.fd, PAGE, 0);
	s.first = guest_bo(s.fd, PAGE, 0);
	s.second = guest_bo(s.fd, PAGE, 0);
	return s;
}

static void scene_close(struct scene *s)
{
	guest_destroy(&s->shared);
	guest_destroy(&s->first);
	guest_destroy(&s->second);
	close(s->fd);
}

/* The job writes to its own BO only: what it may do with the other one is all that counts. */
static void submit(const struct scene *s, struct bo *job, uint32_t slot, uint32_t flags,
		   uint32_t in_sync)
{
	const uint32_t handles[] = { job->handle, s->shared.handle };
	const uint32_t all_flags[] = { READ | WRITE, flags };

	guest_job_write64(job, 0, 0, job->va + DATA, 1);
	assert_int_equal(guest_submit_bos(s->fd, job->va, slot, handles, all_flags, 2, in_sync), 0);
}

static bool has_run(const struct scene *s, const struct bo *job, int64_t timeout_ns)
{
	int err = guest_wait(s->fd, job->handle, timeout_ns);

	if (err && err != EBUSY && err != ETIMEDOUT)
		fail_msg("WAIT_BO: errno %d", err);
	return !err;
}

/*
 * The first job cannot start before the test lets it; the second one follows it on the
 * other slot.  Does it run?
 */
static void check_second(uint32_t first, uint32_t second, bool runs)
{
	struct scene s = scene_open();

	for (int i = 0; i < 2; i++) {
		int timeline = guest_timeline();

		submit(&s, &s.first, slots[i], first, guest_timeline_syncobj(s.fd, timeline));
		submit(&s, &s.second, slots[!i], second, 0);
		if (runs)
			assert_true(has_run(&s, &s.second, guest_deadline(PATIENCE_MS)));
		else
			assert_false(has_run(&s, &s.second, guest_deadline(LOOK_MS)));
		assert_false(has_run(&s, &s.first, 0));
		guest_timeline_advance(timeline);
		assert_true(has_run(&s, &s.first, FOREVER));
		assert_true(has_run(&s, &s.second, FOREVER));
		assert_int_equal(guest_wait(s.fd, s.shared.handle, FOREVER), 0);
		close(timeline);
	}
	scene_close(&s);
}

static void readers_run_together(void **state)
{
	(void)state;
	check_second(READ, READ, true);
}

static void writers_wait_for_readers(void **state)
{
	(void)state;
	check_second(READ, WRITE, false);
	check_second(READ, READ | WRITE, false);
}

static void all_wait_for_writers(void **state)
{
	(void)state;
	check_second(WRITE, READ, false);
	check_second(WRITE, WRITE, false);
	check_second(READ | WRITE, READ, false);
}

/* It waits for nobody, and others wait for it as for any other. */
static void some_do_not_wait(void **state)
{
	(void)state;
	check_second(WRITE, READ | ALONE, true);
	check_second(WRITE, WRITE | ALONE, true);
	check_second(READ | ALONE, READ, true);
	check_second(READ | ALONE, WRITE, false);
	check_second(WRITE | ALONE, READ, false);
}

/* A writer comes after two readers, which end one after the other. */
static void a_writer_waits_for_both(void **state)
{
	struct scene s = scene_open();
	struct bo writer = guest_bo(s.fd, PAGE, 0);

	(void)state;
	for (int i = 0; i < 2; i++) {
		int sooner = guest_timeline(), later = guest_timeline();

		submit(&s, &s.first, slots[i], READ, guest_timeline_syncobj(s.fd, sooner));
		submit(&s, &s.second, slots[!i], READ, guest_timeline_syncobj(s.fd, later));
		/* on the slot of the reader that ends first */
		submit(&s, &writer, slots[i], WRITE, 0);
		guest_timeline_advance(sooner);
		assert_true(has_run(&s, &s.first, FOREVER));
		assert_false(has_run(&s, &writer, guest_deadline(LOOK_MS)));
		guest_timeline_advance(later);
		assert_true(has_run(&s, &writer, FOREVER));
		close(sooner);
		close(later);
	}
	guest_destroy(&writer);
	scene_close(&s);
}

/* A CPU that wants to read waits for writers only. */
static void waits(void **state)
{
	struct scene s = scene_open();
	int timeline = guest_timeline();

	(void)state;
	submit(&s, &s.first, 0, READ, guest_timeline_syncobj(s.fd, timeline));
	assert_int_equal(guest_wait(s.fd, s.shared.handle, 0), EBUSY);
	assert_int_equal(guest_wait_writers(s.fd, s.shared.handle, 0), 0);
	assert_int_equal(guest_wait_writers(s.fd, s.shared.handle, FOREVER), 0);
	submit(&s, &s.second, 0, WRITE, 0);
	assert_int_equal(guest_wait_writers(s.fd, s.shared.handle, 0), EBUSY);
	assert_int_equal(guest_wait_writers(s.fd, s.shared.handle, 1), ETIMEDOUT);
	/* guest_wait() looks at the clock when it ends. */
	for (int i = 0; i < 50; i++)
		assert_int_equal(guest_wait(s.fd, s.shared.handle, guest_deadline(3)), ETIMEDOUT);
	guest_timeline_advance(timeline);
	assert_int_equal(guest_wait_writers(s.fd, s.shared.handle, FOREVER), 0);
	assert_int_equal(guest_wait(s.fd, s.shared.handle, FOREVER), 0);
	close(timeline);
	scene_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(readers_run_together, guest_teardown),
		cmocka_unit_test_teardown(writers_wait_for_readers, guest_teardown),
		cmocka_unit_test_teardown(all_wait_for_writers, guest_teardown),
		cmocka_unit_test_teardown(some_do_not_wait, guest_teardown),
		cmocka_unit_test_teardown(a_writer_waits_for_both, guest_teardown),
		cmocka_unit_test_teardown(waits, guest_teardown),
	};

	return cmocka_run_group_tests_name("readers", tests, NULL, NULL);
}
