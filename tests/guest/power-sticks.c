// SPDX-License-Identifier: MIT
/*
 * What goes wrong while the GPU gets its power, or loses it: a domain that never finishes its
 * transition, a reset in the middle, a driver that leaves.
 *
 * The argument selects a test: between two runs of this program run.sh makes the GPU's next
 * transition stick.
 */
#include "graded.h"
#include "domains.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define HELD		"/run/agate/held"

/* ---- A chain that runs while this program does not ---------------------- */

/* Shared through a file. */
struct held {
	_Atomic int pid;
	atomic_uint turns;	/* how often the chain was seen at work */
};

static struct held *map_held(int flags)
{
	int fd = open(HELD, O_RDWR | O_CLOEXEC | flags, 0600);
	struct held *held;

	assert_true(fd >= 0);
	assert_int_equal(ftruncate(fd, sizeof(*held)), 0);
	held = mmap(NULL, sizeof(*held), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(held, MAP_FAILED);
	close(fd);
	return held;
}

/* Take back what an endless chain writes, again and again. */
static _Noreturn void hold_chain(struct held *held)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);
	volatile uint64_t *word = (volatile uint64_t *)((char *)bo.cpu + POWER_DATA);

	guest_job_write64(&bo, 0, bo.va, bo.va + POWER_DATA, 1);
	if (guest_submit(fd, bo.va, AGATE_JD_REQ_FS, &bo.handle, 1, 0))
		_exit(1);
	for (;; usleep(1000)) {
		if (*word != 1)
			continue;
		*word = 0;
		held->turns++;
	}
}

static void goes_on(struct held *held)
{
	const unsigned int enough = held->turns + 3;

	for (int64_t end = guest_deadline(20000); held->turns < enough; usleep(1000))
		assert_true(guest_deadline(0) < end);
}

static void hold(void **state)
{
	struct held *held = map_held(O_CREAT | O_TRUNC);
	int pid;

	(void)state;
	power_wait("suspended");
	power_tell_device("autosuspend_delay_ms", "100000");
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		/* The guest's first process ends what is left of this program's session. */
		setsid();
		if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
			_exit(1);
		hold_chain(held);
	}
	held->pid = pid;
	goes_on(held);
}

/* ---- A domain that sticks ----------------------------------------------- */

/*
 * The tiler does not finish coming up while a chain runs on the shader cores.  The job that
 * wants it fails, and the next one makes the driver reset the GPU, because nothing else ends
 * the transition.  That job waits for the reset, and the chain, whose fault it is not, runs
 * again.
 */
static void tiler(void **state)
{
	struct held *held = map_held(0);
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);
	long long failures = power_number("failures");

	(void)state;
	assert_true(power_is("L2 on\nshader on\ntiler off\n"));
	assert_int_equal(guest_fence_end(power_start_tiler(&bo, 0)), -EIO);
	assert_int_equal(power_number("failures"), failures + 1);
	goes_on(held);
	/* A bad payload shows that the tiler read it. */
	assert_int_equal(guest_fence_end(power_start_tiler(&bo, 0)), -EINVAL);
	assert_true(power_is("L2 on\nshader on\ntiler on\n"));
	goes_on(held);
	power_check_job(&bo, 0, 3);
	assert_int_equal(power_number("failures"), failures + 1);

	kill(held->pid, SIGKILL);
	power_tell_device("autosuspend_delay_ms", "20");
	guest_destroy(&bo);
	close(fd);
	power_wait("suspended");
	guest_assert_nothing_left();
}

/* Every domain is on, and nothing runs. */
static void awake(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);

	(void)state;
	power_tell_device("autosuspend_delay_ms", "100000");
	power_check_job(&bo, 0, 1);
	assert_true(power_is("input on\nL2 on\nshader on\ntiler on\n"));
	guest_destroy(&bo);
	close(fd);
}

/* A domain does not finish going down: a reset ends it, before the power input goes. */
static void down(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);

	(void)state;
	power_tell_device("autosuspend_delay_ms", "20");
	power_wait("suspended");
	assert_true(power_is("input off\nL2 off\nshader off\ntiler off\n"));
	power_check_job(&bo, 0, 1);
	power_wait("suspended");
	guest_destroy(&bo);
	close(fd);
	guest_assert_nothing_left();
}

/* The soft reset of a wake-up sticks, and the hard one does its work. */
static void wakes_hard(void **state)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);

	(void)state;
	assert_true(power_status_is("suspended"));
	power_check_job(&bo, AGATE_JD_REQ_FS, 1);
	power_wait("suspended");
	power_check_job(&bo, 0, 2);
	guest_destroy(&bo);
	close(fd);
	power_wait("suspended");
}

/* ---- A reset in the middle ---------------------------------------------- */

/*
 * A BO goes away, and the flush of its addresses does not end: so a reset is wanted.  The GPU
 * has nothing to do, and its power stays until its delay changes.
 */
static void want_reset(struct bo *target)
{
	inject_fail("gpu_poll", 1, ETIMEDOUT);
	guest_destroy(target);
}

static void ready_to_suspend(int fd, struct bo *bo, struct bo *target)
{
	uint32_t both[2];

	*bo = guest_bo(fd, PAGE, 0);
	*target = guest_bo(fd, PAGE, 0);
	both[0] = bo->handle;
	both[1] = target->handle;
	power_wait("suspended");
	power_tell_device("autosuspend_delay_ms", "100000");
	guest_job_write64(bo, 0, 0, target->va, 7);
	assert_int_equal(guest_submit(fd, bo->va, 0, both, 2, 0), 0);
	assert_int_equal(guest_wait(fd, bo->handle, FOREVER), 0);
	assert_int_equal(power_word(target, 0), 7);
	inject_load();
	inject_anybody(true);
	inject_count("agate_gpu_soft_reset");
}

static void ready_again(int fd, struct bo *bo)
{
	power_check_job(bo, 0, 9);
	inject_clear();
	power_tell_device("autosuspend_delay_ms", "20");
	power_wait("suspended");
	power_check_job(bo, AGATE_JD_REQ_FS, 10);
	guest_destroy(bo);
	close(fd);
	power_wait("suspended");
	guest_assert_nothing_left();
}

/* A thread of its own: a delay that is over suspends the GPU before the write returns. */
static void *no_delay(void *arg)
{
	(void)arg;
	power_tell_device("autosuspend_delay_ms", "0");
	return NULL;
}

/* A reset is wanted while the GPU loses its power: it wakes up for that, and is reset. */
static void reset_while_suspending(void **state)
{
	int fd = guest_open();
	struct bo bo, target;
	pthread_t thread;

	(void)state;
	ready_to_suspend(fd, &bo, &target);
	inject_hold_entry("agate_mmu_reset", 1, INJECT_BOUND_MS);
	assert_int_equal(pthread_create(&thread, NULL, no_delay, NULL), 0);
	assert_true(inject_await_held("agate_mmu_reset", 10000));
	want_reset(&target);
	assert_true(power_status_is("suspending"));
	assert_true(inject_let_go("agate_mmu_reset"));
	pthread_join(thread, NULL);
	/* One reset wakes it up, and the other one is the one that was wanted. */
	for (int64_t end = guest_deadline(20000); inject_hits("agate_gpu_soft_reset") < 2;)
		assert_true(guest_deadline(0) < end);
	ready_again(fd, &bo);
}

/* A reset is wanted, and has not begun when the delay is over: the power stays for it. */
static void reset_before_suspend(void **state)
{
	int fd = guest_open();
	struct bo bo, target;

	(void)state;
	ready_to_suspend(fd, &bo, &target);
	inject_count("agate_pm_runtime_suspend");
	inject_hold_entry("agate_pm_keep", 1, INJECT_BOUND_MS);
	want_reset(&target);
	assert_true(inject_await_held("agate_pm_keep", 10000));
	power_tell_device("autosuspend_delay_ms", "0");
	for (int64_t end = guest_deadline(20000); !inject_hits("agate_pm_runtime_suspend");)
		assert_true(guest_deadline(0) < end);
	usleep(20000);
	assert_true(power_is("input on\n"));
	assert_int_equal(inject_hits("agate_gpu_soft_reset"), 0);
	assert_true(inject_let_go("agate_pm_keep"));
	for (int64_t end = guest_deadline(20000); !inject_hits("agate_gpu_soft_reset");)
		assert_true(guest_deadline(0) < end);
	ready_again(fd, &bo);
}

static atomic_bool closed;

static void *close_bo(void *arg)
{
	guest_destroy(arg);
	atomic_store(&closed, true);
	return NULL;
}

/*
 * A BO goes while the GPU is being reset and has no L2, which an AS command needs: the thread
 * waits, and the event log has no hint.
 */
static void reset_without_commands(void **state)
{
	struct bo bo, target, other;
	int fd = guest_open();
	pthread_t thread;

	(void)state;
	ready_to_suspend(fd, &bo, &target);
	other = guest_bo(fd, PAGE, 0);
	guest_job_write64(&bo, 0, 0, other.va, 8);
	assert_int_equal(guest_submit(fd, bo.va, 0, (uint32_t[]){ bo.handle, other.handle }, 2, 0),
			 0);
	assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
	inject_hold_entry("agate_power_on", 1, INJECT_BOUND_MS);
	want_reset(&target);
	assert_true(inject_await_held("agate_power_on", 10000));
	inject_count("agate_mmu_lock_region");
	assert_int_equal(pthread_create(&thread, NULL, close_bo, &other), 0);
	for (int64_t end = guest_deadline(20000); !inject_hits("agate_mmu_lock_region");)
		assert_true(guest_deadline(0) < end);
	usleep(20000);
	assert_false(atomic_load(&closed));
	assert_true(inject_let_go("agate_power_on"));
	pthread_join(thread, NULL);
	ready_again(fd, &bo);
}

/* ---- The driver leaves -------------------------------------------------- */

static void *unbind(void *arg)
{
	(void)arg;
	assert_int_equal(device_unbind(), 0);
	return NULL;
}

/* The driver is taken from a GPU that is waking up for a job, at this point of its way. */
static void unbound_while_waking(const char *held)
{
	int fd = guest_open(), fence;
	struct bo bo = guest_bo(fd, PAGE, 0);
	pthread_t thread;

	power_wait("suspended");
	inject_load();
	inject_anybody(true);
	inject_hold_entry(held, 1, INJECT_BOUND_MS);
	fence = power_start_job(&bo, 0, 1);
	assert_true(inject_await_held(held, 10000));
	assert_int_equal(pthread_create(&thread, NULL, unbind, NULL), 0);
	/* However far it gets, it has to wait for the GPU. */
	usleep(50000);
	assert_true(inject_let_go(held));
	pthread_join(thread, NULL);
	inject_clear();
	/* The job was faster, or ended with its device. */
	if (guest_fence_end(fence) == 1)
		assert_int_equal(power_word(&bo, POWER_DATA), 1);
	munmap(bo.cpu, bo.size);
	close(fd);

	assert_int_equal(device_bind(), 0);
	fd = guest_open();
	bo = guest_bo(fd, PAGE, 0);
	power_check_job(&bo, 0, 2);
	/* All references are back: nothing keeps the power on. */
	power_wait("suspended");
	guest_destroy(&bo);
	close(fd);
	guest_assert_nothing_left();
}

static void unbound(void **state)
{
	(void)state;
	unbound_while_waking("agate_bus_wake");
	unbound_while_waking("agate_gpu_soft_reset");
	unbound_while_waking("agate_select_protocol");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hold),
		cmocka_unit_test(tiler),
		cmocka_unit_test(awake),
		cmocka_unit_test(down),
		cmocka_unit_test(wakes_hard),
		cmocka_unit_test(reset_while_suspending),
		cmocka_unit_test(reset_before_suspend),
		cmocka_unit_test(reset_without_commands),
		cmocka_unit_test(unbound),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("power-sticks", tests, NULL, NULL);
}
