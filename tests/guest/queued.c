// SPDX-License-Identifier: MIT
/*
 * Jobs that are queued.  A client that queues them without end waits in SUBMIT, until a
 * job ends or a signal comes, and makes no other client wait.
 */
#include "guest.h"

#include <pthread.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DATA		2048u

struct queue {
	int fd;
	struct bo bo;
	struct drm_agate_sync in;
};

static int queue_job(const struct queue *q)
{
	struct drm_agate_submit submit = {
		.jc = q->bo.va, .bo_handles = (uintptr_t)&q->bo.handle, .bo_handle_count = 1,
		.in_syncs = (uintptr_t)&q->in, .in_sync_count = 1,
	};

	return ioctl(q->fd, DRM_IOCTL_AGATE_SUBMIT, &submit) ? errno : 0;
}

static void *queue_thread(void *arg)
{
	return (void *)(intptr_t)queue_job(arg);
}

static void nothing(int sig)
{
	(void)sig;
}

/* SUBMIT waits until a signal comes.  Repeat the signal: the first may come too early. */
static int queue_job_until_signal(const struct queue *q)
{
	const struct sigaction action = { .sa_handler = nothing }, standard = { .sa_handler = SIG_DFL };
	const struct itimerval every = { { 0, 100000 }, { 0, 100000 } }, never = { { 0, 0 }, { 0, 0 } };
	int err;

	assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
	assert_int_equal(setitimer(ITIMER_REAL, &every, NULL), 0);
	err = queue_job(q);
	assert_int_equal(setitimer(ITIMER_REAL, &never, NULL), 0);
	assert_int_equal(sigaction(SIGALRM, &standard, NULL), 0);
	return err;
}

static void too_many_jobs(void **state)
{
	struct queue q = { .fd = guest_open() };
	int other = guest_open(), timeline = guest_timeline();
	struct bo peer = guest_bo(other, PAGE, 0);
	pthread_t thread;
	void *err;

	(void)state;
	q.bo = guest_bo(q.fd, PAGE, 0);
	guest_job_write64(&q.bo, 0, 0, q.bo.va + DATA, 1);
	q.in.handle = guest_timeline_syncobj(q.fd, timeline);
	for (int i = 0; i < AGATE_SUBMIT_MAX_JOBS; i++)
		assert_int_equal(queue_job(&q), 0);
	assert_int_equal(queue_job_until_signal(&q), EINTR);
	assert_int_equal(guest_counter("jobs"), AGATE_SUBMIT_MAX_JOBS);

	guest_job_write64(&peer, 0, 0, peer.va + DATA, 2);
	assert_int_equal(guest_submit(other, peer.va, 0, &peer.handle, 1, 0), 0);
	assert_int_equal(guest_wait(other, peer.handle, FOREVER), 0);

	assert_int_equal(pthread_create(&thread, NULL, queue_thread, &q), 0);
	guest_timeline_advance(timeline);
	assert_int_equal(pthread_join(thread, &err), 0);
	assert_int_equal((intptr_t)err, 0);
	assert_int_equal(guest_wait(q.fd, q.bo.handle, FOREVER), 0);
	assert_int_equal(*(volatile uint64_t *)((char *)q.bo.cpu + DATA), 1);
	close(timeline);
	guest_destroy(&q.bo);
	guest_destroy(&peer);
	close(q.fd);
	close(other);
}

/* One job has run, and one waits for a fence that does not come: then the client dies. */
static void killed_behind_a_foreign_fence(void **state)
{
	int timeline = guest_timeline(), pipefd[2];
	struct queue q = { 0 };
	char byte;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(pipefd), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		q.fd = guest_open();
		q.bo = guest_bo(q.fd, PAGE, 0);
		guest_job_write64(&q.bo, 0, 0, q.bo.va + DATA, 1);
		q.in.handle = guest_timeline_syncobj(q.fd, timeline);
		if (guest_submit(q.fd, q.bo.va, 0, &q.bo.handle, 1, 0) ||
		    guest_wait(q.fd, q.bo.handle, FOREVER) || queue_job(&q) ||
		    write(pipefd[1], "", 1) != 1)
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(pipefd[0], &byte, 1), 1);
	assert_int_equal(kill(pid, SIGKILL), 0);
	/* drm_sched waits for one second until it kills the jobs of a process that exits. */
	sleep(2);
	guest_timeline_advance(timeline);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	close(pipefd[0]);
	close(pipefd[1]);
	close(timeline);
	guest_assert_nothing_left();
}

/* A call that fails gives its place back. */
static void refused_jobs(void **state)
{
	struct queue q = { .fd = guest_open() };
	struct queue bad;

	(void)state;
	q.bo = guest_bo(q.fd, PAGE, 0);
	q.in.handle = guest_syncobj(q.fd);
	/* An in-sync without a fence is refused after the job was made. */
	for (int i = 0; i < 2 * AGATE_SUBMIT_MAX_JOBS; i++)
		assert_int_equal(queue_job(&q), EINVAL);
	bad = q;
	bad.bo.handle = 0;
	for (int i = 0; i < 2 * AGATE_SUBMIT_MAX_JOBS; i++)
		assert_true(queue_job(&bad) != 0);
	guest_job_write64(&q.bo, 0, 0, q.bo.va + DATA, 3);
	assert_int_equal(guest_submit(q.fd, q.bo.va, 0, &q.bo.handle, 1, 0), 0);
	assert_int_equal(guest_wait(q.fd, q.bo.handle, FOREVER), 0);
	guest_destroy(&q.bo);
	close(q.fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(too_many_jobs, guest_teardown),
		cmocka_unit_test_teardown(killed_behind_a_foreign_fence, guest_teardown),
		cmocka_unit_test_teardown(refused_jobs, guest_teardown),
	};

	return cmocka_run_group_tests_name("queued", tests, NULL, NULL);
}
