// SPDX-License-Identifier: MIT
/*
 * The GPU has power only while it works.
 *
 * The suite's simulator fails some power-ups, counted from its start (run.sh): so
 * `power_ups_fail` comes first.  With the argument "lost" the program waits for the GPU's end
 * instead, which run.sh brings about when it reads ASLEEP.  Between the arguments "sleeps" and
 * "slept" run.sh lets SLEPT_CYCLES of the GPU's time pass.
 */
#include "graded.h"
#include "domains.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define JOBS		8
#define SLEPT_CYCLES	80000000l	/* as run.sh says */
#define POWERED		"/powered"	/* what the GPU counted before that */

/* ---- Tests ------------------------------------------------------------ */

/* One domain after the other fails once.  Each failure ends one job, and the next one goes on. */
static void power_ups_fail(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);

	(void)state;
	power_wait("suspended");
	for (long long i = 1; i <= 3; i++) {
		assert_int_equal(guest_fence_end(power_start_job(&bo, 0, (uint64_t)i)), -EIO);
		assert_int_equal(power_word(&bo, POWER_DATA), 0);
		assert_int_equal(power_number("failures"), i);
	}
	power_check_job(&bo, 0, 4);
	assert_int_equal(power_number("failures"), 3);
	guest_destroy(&bo);
	close(fd);
	power_wait("suspended");
}

/* Each job finds the GPU off, and its memory as it was. */
static void off_and_on(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);
	long long off;

	(void)state;
	for (uint64_t i = 1; i <= 10; i++) {
		const long long before = power_number("resumes");

		power_wait("suspended");
		assert_true(power_is("input off\nL2 off\nshader off\ntiler off\n"));
		off = power_number("off");
		usleep(1000);
		assert_true(power_number("off") >= off + 1000000);
		power_check_job(&bo, i & 1 ? AGATE_JD_REQ_FS : 0, i);
		assert_int_equal(power_number("resumes"), before + 1);
	}
	guest_destroy(&bo);
	close(fd);
	guest_assert_nothing_left();
}

/* A wake-up polls for its reset.  Three domains come up by interrupt, if a busy host lets them. */
static void waits_by_interrupt(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);
	unsigned int polls;

	(void)state;
	inject_load();
	inject_anybody(true);
	inject_within("agate_pm_get");
	inject_count("gpu_poll");
	inject_count("poll_trans");
	for (uint64_t i = 1; i <= 10; i++) {
		power_wait("suspended");
		power_check_job(&bo, 0, i);
	}
	polls = inject_hits("gpu_poll") + inject_hits("poll_trans");
	inject_clear();
	printf("# 10 wake-ups polled %u times\n", polls);
	assert_in_range(polls, 10, 25);
	guest_destroy(&bo);
	close(fd);
}

/* The delay is sysfs's; "on" keeps the GPU awake, and references come back to what they were. */
static void under_control(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);
	char text[32];

	(void)state;
	power_wait("suspended");
	power_tell_device("control", "on");
	assert_true(power_status_is("active"));
	/* The registers are awake, and no domain is. */
	assert_true(power_is("input on\nL2 off\n"));
	power_check_job(&bo, 0, 1);
	usleep(100000);
	assert_true(power_status_is("active"));
	power_tell_device("control", "auto");
	power_wait("suspended");

	power_tell_device("autosuspend_delay_ms", "100000");
	power_check_job(&bo, 0, 2);
	usleep(100000);
	assert_true(power_status_is("active"));
	power_tell_device("autosuspend_delay_ms", "0");
	power_wait("suspended");
	for (uint64_t i = 3; i < 20; i++)
		power_check_job(&bo, i & 1 ? AGATE_JD_REQ_FS : 0, i);
	power_wait("suspended");
	power_device_says("control", text, sizeof(text));
	assert_string_equal(text, "auto");
	power_tell_device("autosuspend_delay_ms", "20");
	guest_destroy(&bo);
	close(fd);
}

/* The tiler is off until a chain may need it. */
static void tiler_alone(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0), tiling = guest_bo(fd, PAGE, 0);
	int endless;

	(void)state;
	power_wait("suspended");
	power_tell_device("autosuspend_delay_ms", "100000");
	power_check_job(&bo, AGATE_JD_REQ_FS, 1);
	power_check_job(&bo, AGATE_JD_REQ_ONLY_COMPUTE, 2);
	assert_true(power_is("L2 on\nshader on\ntiler off\n"));
	assert_int_equal(guest_fence_end(power_start_tiler(&tiling, AGATE_JD_REQ_ONLY_COMPUTE)), -EIO);
	assert_true(power_is("tiler off\n"));

	/* It comes up beside a chain that runs.  A bad payload shows that it was read. */
	guest_job_write64(&bo, 0, bo.va, bo.va + POWER_DATA, 3);
	endless = guest_submit_fence(&bo, AGATE_JD_REQ_FS);
	assert_int_equal(guest_fence_end(power_start_tiler(&tiling, 0)), -EINVAL);
	assert_true(power_is("L2 on\nshader on\ntiler on\n"));
	guest_destroy(&bo);
	guest_destroy(&tiling);
	close(fd);
	assert_int_equal(guest_fence_end(endless), -ECANCELED);
	power_tell_device("autosuspend_delay_ms", "20");
	power_wait("suspended");
	guest_assert_nothing_left();
}

/* BOs come and go while the GPU is off, and the next job sees the page tables as they are. */
static void mapped_while_off(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);

	(void)state;
	for (uint32_t i = 0; i < 5; i++) {
		struct bo target;
		uint32_t both[2] = { bo.handle };

		power_wait("suspended");
		target = guest_bo(fd, (1 + i) * PAGE, 0);
		both[1] = target.handle;
		guest_job_write64(&bo, 0, 0, target.va + i * PAGE, 7 + i);
		assert_int_equal(guest_submit(fd, bo.va, 0, both, 2, 0), 0);
		assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
		assert_int_equal(power_word(&target, i * PAGE), 7 + i);
		power_wait("suspended");
		guest_destroy(&target);
	}
	guest_destroy(&bo);
	close(fd);
	guest_assert_nothing_left();
}

/* What comes while the GPU wakes up, or loses its power, runs afterwards. */
static void queued_meanwhile(const char *held)
{
	int fd = guest_open(), other = guest_open();
	struct bo bo[JOBS];
	int fence[JOBS];

	for (int i = 0; i < JOBS; i++)
		bo[i] = guest_bo(i & 2 ? other : fd, PAGE, 0);
	power_wait("suspended");
	inject_load();
	inject_anybody(true);
	if (!strcmp(held, "agate_bus_sleep"))
		power_check_job(&bo[0], 0, 100);
	inject_hold_entry(held, 1, INJECT_BOUND_MS);
	fence[0] = strcmp(held, "agate_bus_sleep") ? power_start_job(&bo[0], 0, 1) : -1;
	assert_true(inject_await_held(held, 10000));
	for (int i = fence[0] < 0 ? 0 : 1; i < JOBS; i++)
		fence[i] = power_start_job(&bo[i], i & 1 ? AGATE_JD_REQ_FS : 0, (uint64_t)i + 1);
	assert_int_equal(guest_wait(bo[1].fd, bo[1].handle, guest_deadline(20)), ETIMEDOUT);
	assert_true(inject_let_go(held));
	for (int i = 0; i < JOBS; i++) {
		assert_int_equal(guest_fence_end(fence[i]), 1);
		assert_int_equal(power_word(&bo[i], POWER_DATA), i + 1);
		guest_destroy(&bo[i]);
	}
	inject_clear();
	close(fd);
	close(other);
	guest_assert_nothing_left();
}

static void queued_while_waking(void **state)
{
	(void)state;
	queued_meanwhile("agate_gpu_soft_reset");
}

static void queued_while_suspending(void **state)
{
	(void)state;
	queued_meanwhile("agate_bus_sleep");
}

/* The GPU does not come out of its reset when it wakes up: once, and then for longer. */
static void reset_fails(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);

	(void)state;
	power_wait("suspended");
	inject_load();
	inject_anybody(true);
	inject_fail("agate_gpu_soft_reset", 1, ETIMEDOUT);
	power_check_job(&bo, 0, 1);
	inject_clear();
	power_wait("suspended");
	inject_anybody(true);
	inject_fail("agate_gpu_soft_reset", 0, ETIMEDOUT);
	assert_int_equal(guest_fence_end(power_start_job(&bo, AGATE_JD_REQ_FS, 2)), -EIO);
	inject_clear();
	power_check_job(&bo, AGATE_JD_REQ_FS, 3);
	guest_destroy(&bo);
	close(fd);
}

/* A job that hangs is ended, and the GPU loses its power all the same. */
static void hang_and_sleep(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0), endless = guest_bo(fd, PAGE, 0);

	(void)state;
	power_wait("suspended");
	guest_job_write64(&endless, 0, endless.va, endless.va + POWER_DATA, 1);
	assert_int_equal(guest_fence_end(guest_submit_fence(&endless, 0)), -ETIME);
	power_wait("suspended");
	power_check_job(&bo, 0, 1);
	guest_destroy(&endless);
	guest_destroy(&bo);
	close(fd);
	guest_assert_nothing_left();
}

/* Counters wake the registers alone; what only the driver knows wakes nothing. */
static void looks_while_off(void **state)
{
	int fd = guest_open();
	long long resumes;
	char path[64];

	(void)state;
	power_wait("suspended");
	resumes = power_number("resumes");
	snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", fd);
	assert_true(guest_file_says(path, "agate-power:\toff\n"));
	guest_debugfs_says("bos", "");
	guest_debugfs_says("vms", "");
	guest_debugfs_says("busy", "");
	assert_true(guest_counter("files") > 0);
	assert_true(power_status_is("suspended"));
	assert_int_equal(power_number("resumes"), resumes);
	assert_true(guest_gpu_counter("jobs") > 0);
	assert_int_equal(power_number("resumes"), resumes + 1);
	/* Else it may be asleep again before a busy machine has looked. */
	power_tell_device("control", "on");
	assert_true(guest_file_says(path, "agate-power:\ton\n"));
	power_tell_device("control", "auto");
	close(fd);
}

static int sleep_once(void)
{
	int fd = open("/sys/power/state", O_WRONLY | O_CLOEXEC);
	int err;

	assert_true(fd >= 0);
	inject_load();
	inject_anybody(true);
	/* "Did anything wake us?"  It says yes. */
	inject_fail("acpi_s2idle_wake", 1, 1);
	err = write(fd, "freeze", 6) == 6 ? 0 : errno;
	close(fd);
	inject_clear();
	return err;
}

/* The system sleeps while the GPU is off, and while it is about to be. */
static void system_sleeps(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);

	(void)state;
	for (uint64_t i = 1; i <= 6; i++) {
		if (i & 1)
			power_wait("suspended");
		assert_int_equal(sleep_once(), 0);
		power_check_job(&bo, 0, i);
	}
	power_wait("suspended");
	guest_destroy(&bo);
	close(fd);
	guest_assert_nothing_left();
}

/* The driver leaves a GPU that is off, and one that is not; references do not add up. */
static void unbound_while_off(void **state)
{
	(void)state;
	for (int i = 0; i < 6; i++) {
		int fd = guest_open();
		struct bo bo = guest_bo(fd, PAGE, 0);

		power_check_job(&bo, 0, 1);
		if (i & 1)
			power_wait("suspended");
		munmap(bo.cpu, bo.size);
		assert_int_equal(device_unbind(), 0);
		close(fd);
		assert_int_equal(device_bind(), 0);
	}
	close(guest_open());
	power_wait("suspended");
}

/* ---- What a sleep costs ----------------------------------------------- */

static void falls_asleep(void **state)
{
	FILE *file = fopen(POWERED, "we");
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);

	(void)state;
	assert_non_null(file);
	power_check_job(&bo, 0, 1);
	guest_destroy(&bo);
	close(fd);
	assert_true(fprintf(file, "%ld\n", guest_gpu_counter("powered_idle")) > 0);
	fclose(file);
	power_wait("suspended");
}

/* A supply that stays on has the GPU powered, and idle, for the whole time. */
static void slept_for_nothing(void **state)
{
	FILE *file = fopen(POWERED, "re");
	int fd = guest_open();
	long before, after = guest_gpu_counter("powered_idle");

	(void)state;
	close(fd);
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%ld", &before), 1);
	fclose(file);
	assert_true(before > 0);
	assert_in_range(after - before, 0, SLEPT_CYCLES / 100);
}

/* ---- The end ---------------------------------------------------------- */

/* The first call that comes after the GPU's end learns of it. */
static void lost_while_off(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);

	(void)state;
	power_check_job(&bo, 0, 1);
	power_wait("suspended");
	puts("# ASLEEP");
	fflush(stdout);
	for (int64_t end = guest_deadline(10000); guest_deadline(0) < end; usleep(1000))
		if (guest_wait(fd, bo.handle, 0) == ENODEV)
			break;
	assert_int_equal(guest_submit(fd, bo.va, 0, &bo.handle, 1, 0), ENODEV);
	munmap(bo.cpu, bo.size);
	close(fd);
	/* The node goes a little later. */
	for (int64_t end = guest_deadline(10000); guest_deadline(0) < end; close(fd)) {
		fd = guest_try_open();
		if (fd < 0)
			break;
	}
	assert_true(fd < 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(power_ups_fail),
		cmocka_unit_test(off_and_on),
		cmocka_unit_test(waits_by_interrupt),
		cmocka_unit_test(under_control),
		cmocka_unit_test(tiler_alone),
		cmocka_unit_test(mapped_while_off),
		cmocka_unit_test(looks_while_off),
		cmocka_unit_test(queued_while_waking),
		cmocka_unit_test(queued_while_suspending),
		cmocka_unit_test(reset_fails),
		cmocka_unit_test(hang_and_sleep),
		cmocka_unit_test(system_sleeps),
		cmocka_unit_test(unbound_while_off),
	};
	const struct CMUnitTest end[] = {
		cmocka_unit_test(lost_while_off),
	};
	const struct CMUnitTest sleeps[] = {
		cmocka_unit_test(falls_asleep),
	};
	const struct CMUnitTest slept[] = {
		cmocka_unit_test(slept_for_nothing),
	};

	if (argc > 1 && !strcmp(argv[1], "lost"))
		return cmocka_run_group_tests_name("runtime-pm-lost", end, NULL, NULL);
	if (argc > 1 && !strcmp(argv[1], "sleeps"))
		return cmocka_run_group_tests_name("runtime-pm-sleeps", sleeps, NULL, NULL);
	if (argc > 1 && !strcmp(argv[1], "slept"))
		return cmocka_run_group_tests_name("runtime-pm-slept", slept, NULL, NULL);
	return cmocka_run_group_tests_name("runtime-pm", tests, NULL, NULL);
}
