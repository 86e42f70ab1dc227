// SPDX-License-Identifier: MIT
/*
 * Memory of a process that the GPU uses, and that the process or the kernel takes away meanwhile:
 * whoever takes it waits for the job, and the next job sees what is there then.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "swap_space.h"
#include "user_memory.h"

#define SIZE	(4 * MIB)

/* What both processes see. */
struct shared {
	atomic_int armed;	/* the job is submitted */
	atomic_int done;	/* the memory has gone */
	atomic_int early;	/* that was before the job could run */
	atomic_int end;
};

static struct {
	struct space space;
	uint64_t *at;
	struct shared *shared;
	int timeline;
	pid_t opener;
} world;

/* Does a process wait where no signal wakes it? */
static bool waits(pid_t pid)
{
	char path[64], line[256] = "";
	const char *state;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (!fgets(line, sizeof(line), f))
		line[0] = '\0';
	fclose(f);
	state = strrchr(line, ')');
	return state && state[1] && state[2] == 'D';
}

/* Another process opens the gate, when the one of the test waits or goes on without it. */
static _Noreturn void open_gate(pid_t pid)
{
	struct shared *shared = world.shared;

	while (!shared->armed && !shared->end)
		sched_yield();
	/* Ten times in a row: not for a lock that is free at once. */
	for (int seen = 0; seen < 10 && !shared->done && !shared->end; sched_yield())
		seen = waits(pid) ? seen + 1 : 0;
	shared->early = shared->done;
	guest_timeline_advance(world.timeline);
	_exit(0);
}

static int setup(void **state)
{
	pid_t self = getpid();

	(void)state;
	world.timeline = guest_timeline();
	world.shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_ptr_not_equal(world.shared, MAP_FAILED);
	world.space = space_on(guest_open());
	world.at = memory(SIZE);
	world.opener = fork();
	if (!world.opener)
		open_gate(self);
	user_map(&world.space, world.at, AREA, SIZE);
	return 0;
}

static int teardown(void **state)
{
	world.shared->end = 1;
	waitpid(world.opener, NULL, 0);
	space_end(&world.space);
	close(world.space.fd);
	close(world.timeline);
	munmap(world.at, SIZE);
	munmap(world.shared, PAGE);
	guest_assert_nothing_left();
	return guest_teardown(state);
}

/* A job behind the gate that fills all of the memory. */
static uint32_t job_behind_gate(uint64_t value)
{
	struct space *space = &world.space;
	uint32_t in = guest_timeline_syncobj(space->fd, world.timeline), job;
	int err;

	job = space_submit(space, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = AREA, .size = SIZE, .value = value,
	}, in, &err);
	assert_int_equal(err, 0);
	world.shared->armed = 1;
	return job;
}

/* The memory has gone: not before the job, which has worked. */
static void after(uint32_t job)
{
	world.shared->done = 1;
	waitpid(world.opener, NULL, 0);
	assert_false(world.shared->early);
	assert_true(space_signalled(world.space.fd, job));
	assert_int_equal(guest_fence_end(guest_sync_file(world.space.fd, job)), 1);
}

static void unmapped(void **state)
{
	uint32_t job = job_behind_gate(1);
	void *again;

	(void)state;
	munmap(world.at, SIZE);
	after(job);
	assert_int_equal(refused_submit(&world.space), EFAULT);
	assert_int_equal(refused_submit(&world.space), EFAULT);
	again = mmap(world.at, SIZE, PROT_READ | PROT_WRITE,
		     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
	assert_ptr_equal(again, world.at);
	world.at[1] = 7;
	space_holds(&world.space, AREA + 8, 7);
	space_holds(&world.space, AREA, 0);
}

static void unmapped_in_part(void **state)
{
	uint32_t job = job_behind_gate(2);

	(void)state;
	munmap((char *)world.at + MIB, PAGE);
	after(job);
	assert_int_equal(world.at[0], 2);
	assert_int_equal(world.at[SIZE / 8 - 1], 2);
	assert_int_equal(refused_submit(&world.space), EFAULT);
	space_unmap(&world.space, AREA, MIB + PAGE);
	space_holds(&world.space, AREA + MIB + PAGE, 2);
	space_is_hole(&world.space, AREA + MIB);
}

static void moved(void **state)
{
	uint32_t job = job_behind_gate(3);
	uint64_t *to = memory(SIZE);

	(void)state;
	assert_ptr_equal(mremap(world.at, SIZE, SIZE, MREMAP_MAYMOVE | MREMAP_FIXED, to), to);
	after(job);
	assert_int_equal(to[0], 3);
	assert_int_equal(to[SIZE / 8 - 1], 3);
	assert_int_equal(refused_submit(&world.space), EFAULT);
	user_map(&world.space, to, AREA, SIZE);
	assert_int_equal(space_fill(&world.space, AREA, 8, 4), 1);
	assert_int_equal(to[0], 4);
	world.at = to;
}

static void protected(void **state)
{
	uint32_t job = job_behind_gate(5);

	(void)state;
	assert_int_equal(mprotect(world.at, SIZE, PROT_READ), 0);
	after(job);
	assert_int_equal(world.at[0], 5);
	assert_int_equal(refused_submit(&world.space), EFAULT);
	assert_int_equal(mprotect(world.at, SIZE, PROT_READ | PROT_WRITE), 0);
	assert_int_equal(space_fill(&world.space, AREA, 8, 6), 1);
	assert_int_equal(world.at[0], 6);
}

static void dropped(void **state)
{
	uint32_t job = job_behind_gate(8);

	(void)state;
	assert_int_equal(madvise(world.at, SIZE, MADV_DONTNEED), 0);
	after(job);
	space_holds(&world.space, AREA, 0);
	world.at[0] = 9;
	space_holds(&world.space, AREA, 9);
}

/* The child keeps what was there when it was made; the GPU writes what is the parent's. */
static void forked(void **state)
{
	uint32_t job = job_behind_gate(10);
	int status, gate[2];
	char byte = 0;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(gate), 0);
	pid = fork();
	if (!pid) {
		if (read(gate[0], &byte, 1) != 1)
			_exit(2);
		_exit(world.at[0] == 10 && world.at[SIZE / 8 - 1] == 10 ? 0 : 1);
	}
	after(job);
	assert_int_equal(space_fill(&world.space, AREA, SIZE, 11), 1);
	assert_int_equal(world.at[0], 11);
	assert_int_equal(write(gate[1], &byte, 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(world.at[SIZE / 8 - 1], 11);
	close(gate[0]);
	close(gate[1]);
}

/* A change that waits has the pages' addresses already, or the next job's change has. */
static void bind_behind_gate(void **state)
{
	struct space *space = &world.space;
	uint32_t in = guest_timeline_syncobj(space->fd, world.timeline), job;
	int err;

	(void)state;
	assert_int_equal(space_bind(space, user_part(world.at, AREA, SIZE, 0), in, 0), 0);
	job = space_submit(space, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = AREA, .size = SIZE, .value = 12,
	}, 0, &err);
	assert_int_equal(err, 0);
	world.shared->armed = 1;
	assert_int_equal(madvise(world.at, SIZE, MADV_DONTNEED), 0);
	after(job);
	assert_int_equal(world.at[0], 0);
	space_holds(space, AREA, 0);
	world.at[0] = 13;
	space_holds(space, AREA, 13);
}

/* Pages of a file that many may map go without the process: a hole is punched. */
static void punched(void **state)
{
	int fd = memfd_create("memory", 0);
	uint64_t *at;
	uint32_t job;

	(void)state;
	assert_int_equal(ftruncate(fd, SIZE), 0);
	at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_ptr_not_equal(at, MAP_FAILED);
	user_map(&world.space, at, AREA, SIZE);
	job = job_behind_gate(14);
	assert_int_equal(fallocate(fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, SIZE), 0);
	after(job);
	space_holds(&world.space, AREA, 0);
	at[0] = 15;
	space_holds(&world.space, AREA, 15);
	assert_int_equal(ftruncate(fd, 0), 0);
	assert_int_equal(refused_submit(&world.space), EFAULT);
	space_unmap(&world.space, AREA, SIZE);
	munmap(at, SIZE);
	close(fd);
}

/* The process is killed while its job waits: its memory goes when the job has ended. */
static void killed(void **state)
{
	int ready[2], status;
	char byte = 0;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (!pid) {
		struct space space = space_on(guest_open());
		uint64_t *at = memory(SIZE);
		int err;

		user_map(&space, at, AREA, SIZE);
		space_submit(&space, &(struct agate_compute_payload){
			.op = AGATE_COMPUTE_FILL, .dst = AREA, .size = SIZE, .value = 16,
		}, guest_timeline_syncobj(space.fd, world.timeline), &err);
		if (!err && write(ready[1], &byte, 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	kill(pid, SIGKILL);
	world.shared->done = 1;
	world.shared->armed = 1;
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status));
	close(ready[0]);
	close(ready[1]);
}

/* ---- Swap --------------------------------------------------------------------------- */

static int setup_swap(void **state)
{
	swap_on();
	return setup(state);
}

static int teardown_swap(void **state)
{
	swap_off();
	return teardown(state);
}

/* What the GPU copies there. */
static struct bo gathered_at(uint64_t va)
{
	struct bo bo = space_bo(&world.space, SIZE, SYSTEM);

	guest_map(&bo);
	space_map(&world.space, &bo, va);
	bo.va = va;
	return bo;
}

/* Each page of the memory begins with a number of its own. */
static void number_pages(uint64_t first)
{
	for (uint64_t i = 0; i < SIZE / PAGE; i++)
		world.at[i * PAGE / 8] = first + i;
}

/* The GPU reads these numbers. */
static void gpu_sees_numbers(const struct bo *to, uint64_t first)
{
	const volatile uint64_t *words = to->cpu;

	assert_int_equal(space_run(&world.space, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_COPY, .dst = to->va, .src = AREA, .size = SIZE,
	}), 1);
	for (uint64_t i = 0; i < SIZE / PAGE; i++)
		assert_int_equal(words[i * PAGE / 8], first + i);
}

static void all_words_are(const uint64_t *at, uint64_t value)
{
	for (uint64_t i = 0; i < SIZE / 8; i++)
		assert_int_equal(at[i], value);
}

/* All of the memory goes, and its pages are somebody else's then. */
static uint64_t *swap_and_reuse(void)
{
	uint64_t *instead;

	swap_out(world.at, SIZE);
	instead = memory(SIZE);
	memset(instead, 0x5a, SIZE);
	return instead;
}

#define SOMEBODY_ELSES	0x5a5a5a5a5a5a5a5aull

/* Between jobs, again and again: neither side's writes are lost, or reach who has the pages now. */
static void swapped(void **state)
{
	struct bo to = gathered_at(AREA + 16 * MIB);
	uint64_t *instead;

	(void)state;
	for (uint64_t round = 1; round < 4; round++) {
		number_pages(round << 20);
		gpu_sees_numbers(&to, round << 20);
		instead = swap_and_reuse();
		gpu_sees_numbers(&to, round << 20);
		munmap(instead, SIZE);
		instead = swap_and_reuse();
		assert_int_equal(space_fill(&world.space, AREA, SIZE, round), 1);
		all_words_are(instead, SOMEBODY_ELSES);
		munmap(instead, SIZE);
		instead = swap_and_reuse();
		all_words_are(world.at, round);
		munmap(instead, SIZE);
	}
	guest_destroy(&to);
}

/* The kernel waits for the job, which has the pages, and writes what it has written. */
static void swapped_behind_gate(void **state)
{
	uint32_t job = job_behind_gate(17);
	uint64_t *instead;

	(void)state;
	assert_int_equal(madvise(world.at, SIZE, MADV_PAGEOUT), 0);
	after(job);
	instead = swap_and_reuse();
	all_words_are(world.at, 17);
	all_words_are(instead, SOMEBODY_ELSES);
	assert_int_equal(space_fill(&world.space, AREA, SIZE, 18), 1);
	all_words_are(world.at, 18);
	munmap(instead, SIZE);
}

/* A page that the process gives up is the kernel's to take, unless somebody writes to it again. */
static void given_up(void **state)
{
	(void)state;
	number_pages(1);
	space_holds(&world.space, AREA + PAGE, 2);
	assert_int_equal(madvise(world.at, SIZE, MADV_FREE), 0);
	assert_int_equal(space_fill(&world.space, AREA, SIZE, 19), 1);
	swap_out(world.at, SIZE);
	all_words_are(world.at, 19);
}

/* ---- Many times -------------------------------------------------------------------- */

#define ROUNDS	60u

static void *take_away(void *arg)
{
	char *at = arg;
	unsigned int seed = 5;

	for (unsigned int i = 0; i < ROUNDS; i++) {
		char *part = at + rand_r(&seed) % 64 * BLOCK;
		pid_t pid;

		switch (rand_r(&seed) % 4) {
		case 0:
			madvise(part, BLOCK, MADV_DONTNEED);
			break;
		case 1:
			mprotect(part, BLOCK, PROT_READ);
			mprotect(part, BLOCK, PROT_READ | PROT_WRITE);
			break;
		case 2:
			pid = fork();
			if (!pid)
				_exit(0);
			waitpid(pid, NULL, 0);
			break;
		default:
			munmap(part, BLOCK);
			if (mmap(part, BLOCK, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != part)
				abort();
		}
	}
	world.shared->done = 1;
	return NULL;
}

/* A job either finds all memory, and works, or SUBMIT fails. */
static void storm(void **state)
{
	struct space *space = &world.space;
	unsigned int worked = 0;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, take_away, world.at), 0);
	for (uint64_t i = 1; !world.shared->done || !worked; i++) {
		struct drm_agate_submit arg = { .jc = space->jobs.va, .vm_id = space->vm };
		int err;

		guest_job(&space->jobs, 0, AGATE_JOB_COMPUTE, 0, &(struct agate_compute_payload){
			.op = AGATE_COMPUTE_FILL, .dst = AREA + i % 64 * BLOCK, .size = BLOCK,
			.value = i,
		}, sizeof(struct agate_compute_payload));
		err = guest_ioctl_once(space->fd, DRM_IOCTL_AGATE_SUBMIT, &arg);
		if (err) {
			assert_true(err == EFAULT || err == EAGAIN);
		} else {
			assert_int_equal(guest_wait(space->fd, space->jobs.handle, FOREVER), 0);
			worked++;
		}
	}
	pthread_join(thread, NULL);
	for (uint64_t i = 0; i < 64; i++) {
		assert_int_equal(space_fill(space, AREA + i * BLOCK, BLOCK, i + 1), 1);
		assert_int_equal(world.at[(i + 1) * BLOCK / 8 - 1], i + 1);
	}
}

int main(int argc, char *argv[])
{
#define IN_WORLD(test)	cmocka_unit_test_setup_teardown(test, setup, teardown)
#define WITH_SWAP(test)	cmocka_unit_test_setup_teardown(test, setup_swap, teardown_swap)
	const struct CMUnitTest tests[] = {
		IN_WORLD(unmapped),
		IN_WORLD(unmapped_in_part),
		IN_WORLD(moved),
		IN_WORLD(protected),
		IN_WORLD(dropped),
		IN_WORLD(forked),
		IN_WORLD(bind_behind_gate),
		IN_WORLD(punched),
		IN_WORLD(killed),
		WITH_SWAP(swapped),
		WITH_SWAP(swapped_behind_gate),
		WITH_SWAP(given_up),
		IN_WORLD(storm),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("pages-go", tests, NULL, NULL);
}
