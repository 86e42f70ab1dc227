// SPDX-License-Identifier: MIT
/*
 * The system sleeps: the GPU loses its power, and jobs and memory go on afterwards.
 *
 * The guest suspends to idle, which suspends all devices, and wakes up at once.
 */
#include "devfreq.h"
#include "graded.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define DATA		2048u
#define STATE		"/sys/power/state"
#define CHUNK		(2u << 20)

/* 0, or the error with which the kernel refused. */
static int sleep_once(void)
{
	int fd = open(STATE, O_WRONLY | O_CLOEXEC);
	int err;

	assert_true(fd >= 0);
	/* "Did anything wake us?"  It says yes. */
	inject_fail("acpi_s2idle_wake", 1, 1);
	err = write(fd, "freeze", 6) == 6 ? 0 : errno;
	close(fd);
	return err;
}

/* The topics' calls may come from a thread of the kernel. */
static void watch_power(void)
{
	inject_load();
	inject_anybody(true);
	inject_count("agate_power_topic_suspend");
	inject_count("agate_power_topic_resume");
}

static uint64_t word(const struct bo *bo, uint32_t offset)
{
	return *(volatile uint64_t *)((char *)bo->cpu + offset);
}

static void check_job(struct bo *bo, uint32_t requirements, uint64_t value)
{
	guest_job_write64(bo, 0, 0, bo->va + DATA, value);
	assert_int_equal(guest_fence_end(guest_submit_fence(bo, requirements)), 1);
	assert_int_equal(word(bo, DATA), value);
}

static int submit_endless(struct bo *bo, uint32_t requirements)
{
	guest_job_write64(bo, 0, bo->va, bo->va + DATA, 1);
	return guest_submit_fence(bo, requirements);
}

/* Nothing runs: the GPU is off, and afterwards on, with the memory that it had. */
static void idle(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);

	(void)state;
	check_job(&bo, 0, 1);
	watch_power();
	for (uint64_t i = 1; i <= 3; i++) {
		assert_int_equal(sleep_once(), 0);
		assert_int_equal(inject_hits("agate_power_topic_suspend"), i);
		assert_int_equal(inject_hits("agate_power_topic_resume"), i);
		assert_int_equal(word(&bo, DATA), i);
		check_job(&bo, i & 1 ? AGATE_JD_REQ_FS : 0, i + 1);
	}
	inject_clear();
	guest_destroy(&bo);
	close(fd);
	guest_assert_nothing_left();
}

/* A heap keeps what it has grown, and grows on. */
static void heap_stays(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0), heap;
	uint32_t both[2] = { bo.handle };

	(void)state;
	assert_int_equal(guest_create(fd, 2 * CHUNK, AGATE_BO_HEAP | AGATE_BO_NOEXEC, &heap), 0);
	both[1] = heap.handle;
	guest_job_write64(&bo, 0, 0, heap.va, 0x5eed);
	assert_int_equal(guest_submit(fd, bo.va, 0, both, 2, 0), 0);
	assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
	assert_int_equal(sleep_once(), 0);
	inject_clear();

	const struct agate_compute_payload copy = {
		.op = AGATE_COMPUTE_COPY, .dst = bo.va + DATA, .src = heap.va, .size = 8,
	};
	guest_job(&bo, 0, AGATE_JOB_COMPUTE, bo.va + 512, &copy, sizeof(copy));
	guest_job_write64(&bo, 512, 0, heap.va + CHUNK, 1);
	assert_int_equal(guest_submit(fd, bo.va, 0, both, 2, 0), 0);
	assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
	assert_int_equal(word(&bo, DATA), 0x5eed);
	assert_int_equal(guest_close_handle(fd, heap.handle), 0);
	guest_destroy(&bo);
	close(fd);
	guest_assert_nothing_left();
}

/* Chains on both slots, and jobs behind them, are there before and after. */
static void busy(void **state)
{
	int fd = guest_open(), other = guest_open();
	struct bo endless[2], next = guest_bo(other, PAGE, 0);
	int fence[2], behind;

	(void)state;
	for (int i = 0; i < 2; i++) {
		endless[i] = guest_bo(fd, PAGE, 0);
		fence[i] = submit_endless(&endless[i], i ? AGATE_JD_REQ_FS : 0);
	}
	guest_job_write64(&next, 0, 0, next.va + DATA, 7);
	behind = guest_submit_fence(&next, 0);
	watch_power();
	assert_int_equal(sleep_once(), 0);
	assert_int_equal(inject_hits("agate_power_topic_suspend"), 1);
	inject_clear();
	/* The chains run again: only the end of their file ends them. */
	for (int i = 0; i < 2; i++)
		guest_destroy(&endless[i]);
	close(fd);
	for (int i = 0; i < 2; i++)
		assert_int_equal(guest_fence_end(fence[i]), -ECANCELED);
	assert_int_equal(guest_fence_end(behind), 1);
	assert_int_equal(word(&next, DATA), 7);
	guest_destroy(&next);
	close(other);
	guest_assert_nothing_left();
}

/* The clock goes on where it was, and with it its governor. */
static void clock_stays(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);

	(void)state;
	devfreq_choose("userspace");
	devfreq_set(400);
	inject_load();
	inject_anybody(true);
	inject_count("agate_devfreq_topic_suspend");
	inject_count("agate_devfreq_topic_resume");
	assert_int_equal(sleep_once(), 0);
	assert_int_equal(inject_hits("agate_devfreq_topic_suspend"), 1);
	assert_int_equal(inject_hits("agate_devfreq_topic_resume"), 1);
	inject_clear();
	assert_true(guest_debugfs_says("clock", "mhz 400\nmillivolts 750\n"));
	check_job(&bo, 0, 1);
	devfreq_set(800);
	/* The GPU may have lost its power meanwhile, and then changes its clock with the next job. */
	check_job(&bo, 0, 2);
	assert_true(guest_debugfs_says("clock", "mhz 800\nmillivolts 1000\n"));
	devfreq_choose("simple_ondemand");
	guest_destroy(&bo);
	close(fd);
	guest_assert_nothing_left();
}

/* One topic after the other cannot sleep: then the system does not, and all goes on. */
static void refused(void **state)
{
	static const char *const topics[] = { "reset", "submit", "slot", "fault", "mmu", "devfreq",
					      "power" };
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0), endless = guest_bo(fd, PAGE, 0);
	int fence = submit_endless(&endless, 0);

	(void)state;
	for (size_t i = 0; i < sizeof(topics) / sizeof(topics[0]); i++) {
		char symbol[64];

		inject_load();
		inject_anybody(true);
		snprintf(symbol, sizeof(symbol), "agate_%s_topic_suspend", topics[i]);
		inject_fail(symbol, 1, EIO);
		/* The GPU has its power all the time. */
		inject_count("agate_power_topic_resume");
		assert_int_equal(sleep_once(), EIO);
		assert_int_equal(inject_hits(symbol), 1);
		assert_int_equal(inject_hits("agate_power_topic_resume"), 0);
		inject_clear();
		check_job(&bo, AGATE_JD_REQ_FS, i + 1);
	}
	guest_destroy(&endless);
	guest_destroy(&bo);
	close(fd);
	assert_int_equal(guest_fence_end(fence), -ECANCELED);
	guest_assert_nothing_left();
}

/* The power does not come back: the GPU is lost, and what waits for it is told. */
static void does_not_wake(void **state)
{
	int fd = guest_open();
	struct bo endless = guest_bo(fd, PAGE, 0), bo = guest_bo(fd, PAGE, 0);
	int fence = submit_endless(&endless, 0), behind;

	(void)state;
	guest_job_write64(&bo, 0, 0, bo.va + DATA, 1);
	behind = guest_submit_fence(&bo, 0);
	inject_load();
	inject_anybody(true);
	inject_fail("agate_power_topic_resume", 1, ETIMEDOUT);
	assert_int_equal(sleep_once(), 0);
	assert_int_equal(inject_hits("agate_power_topic_resume"), 1);
	inject_clear();
	assert_int_equal(guest_fence_end(fence), -ENODEV);
	assert_int_equal(guest_fence_end(behind), -ENODEV);
	munmap(endless.cpu, endless.size);
	munmap(bo.cpu, bo.size);
	close(fd);

	assert_int_equal(device_unbind(), 0);
	assert_int_equal(device_bind(), 0);
	fd = guest_open();
	bo = guest_bo(fd, PAGE, 0);
	check_job(&bo, 0, 1);
	guest_destroy(&bo);
	close(fd);
}

/*
 * The driver leaves while a chain runs.  Where no stop ends it, a reset does, and then the GPU
 * knows none of the addresses that the end of the job gives up.
 */
static void unbound_while_busy(void **state)
{
	int fd = guest_open();
	struct bo endless = guest_bo(fd, PAGE, 0), bo;
	int fence = submit_endless(&endless, 0);

	(void)state;
	for (int64_t end = guest_deadline(20000); word(&endless, DATA) != 1;)
		assert_true(guest_deadline(0) < end);
	/* From here on only the job has it. */
	guest_destroy(&endless);
	assert_int_equal(device_unbind(), 0);
	assert_int_equal(guest_fence_end(fence), -ENODEV);
	close(fd);

	assert_int_equal(device_bind(), 0);
	fd = guest_open();
	bo = guest_bo(fd, PAGE, 0);
	check_job(&bo, 0, 1);
	guest_destroy(&bo);
	close(fd);
	guest_assert_nothing_left();
}

/* Nobody can take a job off the GPU, or keep it from starting: the system stays awake. */
static void without_recovery(void **state)
{
	int timeline = guest_timeline(), fd;
	struct bo bo;

	(void)state;
	inject_load();
	inject_anybody(true);
	inject_fail("agate_reset_topic_init", 1, EOPNOTSUPP);
	assert_int_equal(device_unbind(), 0);
	assert_int_equal(device_bind(), 0);
	inject_clear();

	fd = guest_open();
	bo = guest_bo(fd, PAGE, 0);
	guest_job_write64(&bo, 0, 0, bo.va + DATA, 3);
	assert_int_equal(guest_submit_bos(fd, bo.va, 0, &bo.handle, NULL, 1,
					  guest_timeline_syncobj(fd, timeline)), 0);
	assert_int_equal(sleep_once(), EBUSY);
	inject_clear();
	guest_timeline_advance(timeline);
	assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
	assert_int_equal(word(&bo, DATA), 3);
	/* A job that has ended is there for a moment. */
	guest_wait_counter("jobs", 0);
	assert_int_equal(sleep_once(), 0);
	inject_clear();
	check_job(&bo, 0, 4);
	guest_destroy(&bo);
	close(fd);
	close(timeline);
	assert_int_equal(device_unbind(), 0);
	assert_int_equal(device_bind(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(idle),
		cmocka_unit_test(heap_stays),
		cmocka_unit_test(busy),
		cmocka_unit_test(clock_stays),
		cmocka_unit_test(refused),
		cmocka_unit_test(unbound_while_busy),
		cmocka_unit_test(without_recovery),
		cmocka_unit_test(does_not_wake),
	};

	return cmocka_run_group_tests_name("asleep", tests, NULL, NULL);
}
