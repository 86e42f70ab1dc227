// SPDX-License-Identifier: MIT
/*
 * BOs with a placement: the GPU and the CPUs see their bytes wherever these are, and those
 * that do not fit take turns.
 */
#include "guest.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB		(1ull << 20)
#define VRAM_SIZE	(64 * MIB)	/* as run.sh makes the card ... */
#define VISIBLE		(16 * MIB)	/* ... and what BAR2 shows */
#define SYSTEM		(1u << DRM_AGATE_REGION_SYSTEM)
#define VRAM		(1u << DRM_AGATE_REGION_VRAM)

/* One client: its jobs, and what it reads back, lie in BOs that never move. */
struct client {
	int fd;
	struct bo jobs;
	struct bo seen;
};

static struct client client_open(uint64_t most)
{
	struct client client = { .fd = guest_open() };

	client.jobs = guest_bo(client.fd, PAGE, 0);
	client.seen = guest_bo(client.fd, most, 0);
	return client;
}

static void client_close(struct client *client)
{
	guest_destroy(&client->jobs);
	guest_destroy(&client->seen);
	close(client->fd);
	guest_assert_nothing_left();
}

static int create(int fd, uint64_t size, uint32_t flags, uint32_t placement, uint32_t caching,
		  struct bo *bo)
{
	struct drm_agate_create_bo arg = {
		.size = size, .flags = flags, .placement = placement, .caching = caching,
	};

	return guest_create_with(fd, &arg, bo);
}

static struct bo placed(const struct client *client, uint64_t size, uint32_t flags,
			uint32_t placement)
{
	uint32_t caching = placement & VRAM ? AGATE_CACHING_WC : AGATE_CACHING_WB;
	struct bo bo;

	assert_int_equal(create(client->fd, size, flags, placement, caching, &bo), 0);
	return bo;
}

/* Run one job on these BOs: 1, or its fence's error. */
static int run(struct client *client, const struct agate_compute_payload *payload,
	       const struct bo *bo, const struct bo *other)
{
	uint32_t handles[] = { client->jobs.handle, bo->handle, other ? other->handle : 0 };

	return guest_compute(&client->jobs, payload, handles, other ? 3 : 2);
}

static void fill(struct client *client, const struct bo *bo, uint64_t value)
{
	assert_int_equal(run(client, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = bo->va, .size = bo->size, .value = value,
	}, bo, NULL), 1);
}

/* What the GPU sees in a BO. */
static void check(struct client *client, const struct bo *bo, uint64_t want)
{
	const volatile uint64_t *words = client->seen.cpu;

	assert_int_equal(run(client, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_COPY, .dst = client->seen.va, .src = bo->va, .size = bo->size,
	}, bo, &client->seen), 1);
	for (uint64_t i = 0; i < bo->size / 8; i++)
		assert_int_equal(words[i], want);
}

/* ---- Tests -------------------------------------------------------------------- */

static void begins_with_zeros(void **state)
{
	struct client client = client_open(4 * MIB);

	(void)state;
	for (int again = 0; again < 2; again++) {
		struct bo vram = placed(&client, 4 * MIB, 0, VRAM);
		struct bo ram = placed(&client, 3 * PAGE, 0, SYSTEM);

		check(&client, &vram, 0);
		check(&client, &ram, 0);
		fill(&client, &vram, 0x1111);
		fill(&client, &ram, 0x2222);
		check(&client, &vram, 0x1111);
		check(&client, &ram, 0x2222);
		guest_destroy(&vram);
		guest_destroy(&ram);
	}
	client_close(&client);
}

/* Twice as much as there is, a few times round. */
static void take_turns(void **state)
{
	enum { COUNT = 2 * VRAM_SIZE / (6 * MIB) };
	struct client client = client_open(6 * MIB);
	struct bo bos[COUNT];

	(void)state;
	for (unsigned int i = 0; i < COUNT; i++)
		bos[i] = placed(&client, 6 * MIB, 0, VRAM);
	for (unsigned int i = 0; i < COUNT; i++)
		fill(&client, &bos[i], 0x1000 + i);
	for (unsigned int round = 0; round < 2; round++) {
		for (unsigned int i = 0; i < COUNT; i++)
			check(&client, &bos[i], 0x1000 + i);
	}
	for (unsigned int i = 0; i < COUNT; i++)
		guest_destroy(&bos[i]);
	client_close(&client);
}

/* A CPU's mapping follows the BO out of VRAM and back. */
static void mapping_follows(void **state)
{
	struct client client = client_open(PAGE);
	struct bo bo = placed(&client, 2 * MIB, AGATE_BO_CPU_VISIBLE, VRAM), others[16];
	volatile uint64_t *words;

	(void)state;
	guest_map(&bo);
	words = bo.cpu;
	for (unsigned int i = 0; i < bo.size / 8; i += 512)
		words[i] = i;
	for (unsigned int round = 0; round < 3; round++) {
		for (unsigned int i = 0; i < 16; i++) {
			others[i] = placed(&client, VISIBLE / 8,
					   AGATE_BO_CPU_VISIBLE | AGATE_BO_POPULATE, VRAM);
			fill(&client, &others[i], i);
		}
		for (unsigned int i = 0; i < bo.size / 8; i += 512)
			assert_int_equal(words[i], i + round);
		assert_int_equal(run(&client, &(struct agate_compute_payload){
			.op = AGATE_COMPUTE_COPY, .dst = bo.va + 8, .src = bo.va, .size = 8,
		}, &bo, NULL), 1);
		assert_int_equal(words[1], words[0]);
		for (unsigned int i = 0; i < bo.size / 8; i += 512)
			words[i] = i + round + 1;
		for (unsigned int i = 0; i < 16; i++)
			guest_destroy(&others[i]);
	}
	guest_destroy(&bo);
	client_close(&client);
}

/* ---- Two clients of which each wants more than half ------------------------------ */

#define PARTS		4u
#define PART		(VRAM_SIZE * 51 / 100 / PARTS / PAGE * PAGE)
#define TURNS		12u

/* One job that lists all parts: VRAM has to hold them at the same time. */
static void fill_one_of_all(struct client *client, const struct bo *parts, unsigned int i,
			    uint64_t value)
{
	const struct agate_compute_payload payload = {
		.op = AGATE_COMPUTE_FILL, .dst = parts[i].va, .size = parts[i].size, .value = value,
	};
	uint32_t handles[PARTS + 1] = { client->jobs.handle };

	for (unsigned int n = 0; n < PARTS; n++)
		handles[n + 1] = parts[n].handle;
	assert_int_equal(guest_compute(&client->jobs, &payload, handles, PARTS + 1), 1);
}

static void want_half(uint64_t seed)
{
	struct client client = client_open(PART);
	struct bo parts[PARTS];

	for (unsigned int i = 0; i < PARTS; i++)
		parts[i] = placed(&client, PART, 0, VRAM);
	for (unsigned int turn = 0; turn < TURNS; turn++) {
		fill_one_of_all(&client, parts, turn % PARTS, seed + turn);
		check(&client, &parts[turn % PARTS], seed + turn);
	}
	for (unsigned int i = 0; i < PARTS; i++)
		check(&client, &parts[i], seed + TURNS - PARTS + i);
	for (unsigned int i = 0; i < PARTS; i++)
		guest_destroy(&parts[i]);
	guest_destroy(&client.jobs);
	guest_destroy(&client.seen);
	close(client.fd);
}

/* Both get on, and nobody sees the other's bytes. */
static void two_clients_want_half(void **state)
{
	int status;
	pid_t child = fork();

	(void)state;
	assert_true(child >= 0);
	want_half(child ? 0x10000 : 0x20000);
	if (!child)
		_exit(0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	guest_assert_nothing_left();
}

/* The command that clears the BO, or copies it, has failed twice. */
static void contents_are_lost(void **state)
{
	struct client client = client_open(PAGE);
	struct bo bo = placed(&client, PAGE, AGATE_BO_CPU_VISIBLE | AGATE_BO_POPULATE, VRAM);
	struct bo other = placed(&client, PAGE, 0, VRAM);
	uint32_t handles[] = { client.jobs.handle, bo.handle };
	pid_t child;
	int status;

	(void)state;
	/* The page comes when the move has ended, or does not come. */
	guest_map(&bo);
	child = fork();
	assert_true(child >= 0);
	if (!child) {
		signal(SIGBUS, SIG_DFL);
		_exit(*(volatile char *)bo.cpu);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
	assert_int_equal(guest_submit(client.fd, client.jobs.va, 0, handles, 2, 0), EIO);
	/* Nobody else lost anything. */
	fill(&client, &other, 1);
	check(&client, &other, 1);
	guest_destroy(&bo);
	guest_destroy(&other);
	client_close(&client);
}

/* ---- The card goes while memory moves -------------------------------------------- */

/* Submit a job that fills a BO, and wait for it: 0; ENODEV for a card that is gone. */
static int try_fill(struct client *client, const struct bo *bo)
{
	const struct agate_compute_payload payload = {
		.op = AGATE_COMPUTE_FILL, .dst = bo->va, .size = bo->size,
	};
	const uint32_t handles[] = { client->jobs.handle, bo->handle };
	int ret;

	guest_job(&client->jobs, 0, AGATE_JOB_COMPUTE, 0, &payload, sizeof(payload));
	ret = guest_submit(client->fd, client->jobs.va, 0, handles, 2, 0);
	return ret ? ret : guest_wait(client->fd, client->jobs.handle, FOREVER);
}

/* A launcher kills the GPU when it reads BUSY. */
static void gone(void **state)
{
	enum { COUNT = 2 * VRAM_SIZE / (6 * MIB) };
	struct client client = client_open(PAGE);
	struct bo bos[COUNT], seen = placed(&client, PAGE, AGATE_BO_CPU_VISIBLE, VRAM);
	unsigned int i = 0;

	(void)state;
	guest_map(&seen);
	*(volatile char *)seen.cpu = 1;
	for (unsigned int n = 0; n < COUNT; n++)
		bos[n] = placed(&client, 6 * MIB, 0, VRAM);
	for (unsigned int n = 0; n < COUNT; n++)
		assert_int_equal(try_fill(&client, &bos[n]), 0);
	puts("# BUSY");
	fflush(stdout);
	while (!try_fill(&client, &bos[i++ % COUNT]))
		;
	assert_int_equal(try_fill(&client, &bos[0]), ENODEV);
	assert_int_equal(create(client.fd, PAGE, 0, SYSTEM, AGATE_CACHING_WB, &seen), ENODEV);
	close(client.fd);
}

static void refuses(void **state)
{
	int fd = guest_open();
	struct bo bo;

	(void)state;
	assert_int_equal(create(fd, PAGE, 0, 4, 0, &bo), EINVAL);
	assert_int_equal(create(fd, PAGE, 0, VRAM, AGATE_CACHING_WB, &bo), EINVAL);
	assert_int_equal(create(fd, PAGE, 0, VRAM, AGATE_CACHING_UC, &bo), EINVAL);
	assert_int_equal(create(fd, PAGE, 0, SYSTEM, 3, &bo), EINVAL);
	assert_int_equal(create(fd, PAGE, AGATE_BO_CONTIGUOUS, SYSTEM, 0, &bo), EINVAL);
	assert_int_equal(create(fd, PAGE, AGATE_BO_HEAP | AGATE_BO_NOEXEC, SYSTEM, 0, &bo), EINVAL);
	assert_int_equal(create(fd, PAGE, AGATE_BO_POPULATE, 0, 0, &bo), EINVAL);
	assert_int_equal(create(fd, PAGE, AGATE_BO_CPU_VISIBLE, 0, 0, &bo), EINVAL);
	assert_int_equal(create(fd, PAGE, 0, 0, AGATE_CACHING_WC, &bo), EINVAL);
	/* It can never fit, whoever leaves. */
	assert_int_equal(create(fd, VRAM_SIZE, AGATE_BO_POPULATE, VRAM, AGATE_CACHING_WC, &bo),
			 ENOSPC);
	assert_int_equal(create(fd, VRAM_SIZE + PAGE, AGATE_BO_POPULATE, VRAM, AGATE_CACHING_WC,
				&bo), EINVAL);
	close(fd);
	guest_assert_nothing_left();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(begins_with_zeros, guest_teardown),
		cmocka_unit_test_teardown(take_turns, guest_teardown),
		cmocka_unit_test_teardown(mapping_follows, guest_teardown),
		cmocka_unit_test_teardown(two_clients_want_half, guest_teardown),
		cmocka_unit_test_teardown(contents_are_lost, guest_teardown),
		cmocka_unit_test(gone),
		cmocka_unit_test_teardown(refuses, guest_teardown),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("placed", tests, NULL, NULL);
}
