// SPDX-License-Identifier: MIT
/*
 * BOs with a placement: the GPU and the CPUs see their bytes wherever these are, and those
 * that do not fit take turns.
 */
#include "placed_client.h"
#include "vm_client.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Tests -------------------------------------------------------------------- */

static void begins_with_zeros(void **state)
{
	struct placed_client client = placed_open(4 * MIB);

	(void)state;
	for (int again = 0; again < 2; again++) {
		struct bo vram = placed_bo(&client, 4 * MIB, 0, VRAM);
		struct bo ram = placed_bo(&client, 3 * PAGE, 0, SYSTEM);

		placed_check(&client, &vram, 0);
		placed_check(&client, &ram, 0);
		placed_fill(&client, &vram, 0x1111);
		placed_fill(&client, &ram, 0x2222);
		placed_check(&client, &vram, 0x1111);
		placed_check(&client, &ram, 0x2222);
		guest_destroy(&vram);
		guest_destroy(&ram);
	}
	placed_close(&client);
	guest_assert_nothing_left();
}

/* Twice as much as there is, a few times round. */
static void take_turns(void **state)
{
	enum { COUNT = 2 * VRAM_SIZE / (6 * MIB) };
	struct placed_client client = placed_open(6 * MIB);
	struct bo bos[COUNT];

	(void)state;
	for (unsigned int i = 0; i < COUNT; i++)
		bos[i] = placed_bo(&client, 6 * MIB, 0, VRAM);
	for (unsigned int i = 0; i < COUNT; i++)
		placed_fill(&client, &bos[i], 0x1000 + i);
	for (unsigned int round = 0; round < 2; round++) {
		for (unsigned int i = 0; i < COUNT; i++)
			placed_check(&client, &bos[i], 0x1000 + i);
	}
	for (unsigned int i = 0; i < COUNT; i++)
		guest_destroy(&bos[i]);
	placed_close(&client);
	guest_assert_nothing_left();
}

/* A CPU's mapping follows the BO out of VRAM and back. */
static void mapping_follows(void **state)
{
	struct placed_client client = placed_open(PAGE);
	struct bo bo = placed_bo(&client, 2 * MIB, AGATE_BO_CPU_VISIBLE, VRAM), others[16];
	volatile uint64_t *words;

	(void)state;
	guest_map(&bo);
	words = bo.cpu;
	for (unsigned int i = 0; i < bo.size / 8; i += 512)
		words[i] = i;
	for (unsigned int round = 0; round < 3; round++) {
		for (unsigned int i = 0; i < 16; i++) {
			others[i] = placed_bo(&client, VISIBLE / 8,
					   AGATE_BO_CPU_VISIBLE | AGATE_BO_POPULATE, VRAM);
			placed_fill(&client, &others[i], i);
		}
		for (unsigned int i = 0; i < bo.size / 8; i += 512)
			assert_int_equal(words[i], i + round);
		assert_int_equal(placed_run(&client, &(struct agate_compute_payload){
			.op = AGATE_COMPUTE_COPY, .dst = bo.va + 8, .src = bo.va, .size = 8,
		}, &bo, NULL), 1);
		assert_int_equal(words[1], words[0]);
		for (unsigned int i = 0; i < bo.size / 8; i += 512)
			words[i] = i + round + 1;
		for (unsigned int i = 0; i < 16; i++)
			guest_destroy(&others[i]);
	}
	guest_destroy(&bo);
	placed_close(&client);
	guest_assert_nothing_left();
}

/* All that a chain lists has to be there at once; a call that fails leaves all as it was. */
static void refuses_two_large_ones(void **state)
{
	struct placed_client client = placed_open(PAGE);
	struct bo bos[2];
	uint32_t handles[3] = { client.jobs.handle }, out = guest_syncobj(client.fd);
	struct drm_syncobj_wait wait = { .handles = (uintptr_t)&out, .count_handles = 1 };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		bos[i] = placed_bo(&client, 40 * MIB, 0, VRAM);
		placed_fill(&client, &bos[i], 1 + i);
		handles[1 + i] = bos[i].handle;
	}
	for (unsigned int round = 0; round < 2; round++) {
		assert_int_equal(guest_submit(client.fd, client.jobs.va, 0, handles, 3, out),
				 ENOSPC);
		assert_int_equal(guest_ioctl(client.fd, DRM_IOCTL_SYNCOBJ_WAIT, &wait), EINVAL);
		for (unsigned int i = 0; i < 2; i++) {
			assert_int_equal(placed_run(&client, &(struct agate_compute_payload){
				.op = AGATE_COMPUTE_COPY, .dst = client.seen.va,
				.src = bos[i].va + 40 * MIB - 8, .size = 8,
			}, &bos[i], &client.seen), 1);
			assert_int_equal(*(volatile uint64_t *)client.seen.cpu, 1 + i);
		}
	}
	for (unsigned int i = 0; i < 2; i++)
		guest_destroy(&bos[i]);
	placed_close(&client);
	guest_assert_nothing_left();
}

/* ---- Two clients of which each wants more than half ------------------------------ */

#define PARTS		4u
#define PART		((VRAM_SIZE * 51 / 100 / PARTS / BLOCK + 1) * BLOCK)
/* So often both have had a turn when it ends. */
#define ROUNDS		8u
static unsigned int seconds;		/* that it goes on at least */
static unsigned int limit = 300;	/* seconds more, in which both have to get on */

/* What the clients share with the test. */
struct shared {
	unsigned int ready;	/* so many have filled their parts */
	bool begin;
	bool stop;
	unsigned int rounds;	/* that have ended */
	unsigned int had[2];	/* the last round that has a turn of this client */
	unsigned int turns[2];
};

static unsigned int now(const unsigned int *count)
{
	return __atomic_load_n(count, __ATOMIC_SEQ_CST);
}

/*
 * A turn counts for the round in which it began, and a round ends when it has one of both.  So
 * one client has its job in a round, and then the other one: a part of the first one has to
 * leave between these, and a part of the other one has to come.
 */
#define MOVES_IN_A_ROUND	(2 * PART)

static void end_turn(struct shared *shared, unsigned int me, unsigned int began)
{
	const unsigned int round = began + 1;

	__atomic_add_fetch(&shared->turns[me], 1, __ATOMIC_SEQ_CST);
	__atomic_store_n(&shared->had[me], round, __ATOMIC_SEQ_CST);
	/* If both are here, one of them is enough. */
	if (now(&shared->had[!me]) == round)
		__atomic_compare_exchange_n(&shared->rounds, &began, round, false,
					    __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
}

/* One of the two: it uses its file's own address space, or one in which it chooses the ranges. */
struct half {
	struct placed_client file;
	struct space space;
	struct bo parts[PARTS];
};

struct half_kind {
	void (*begin)(struct half *half);
	/* One job that needs all parts: VRAM has to hold them at the same time. */
	void (*fill)(struct half *half, unsigned int part, uint64_t value);
	void (*check)(struct half *half, unsigned int part, uint64_t value);
	void (*end)(struct half *half);
};

static void file_begin(struct half *half)
{
	half->file = placed_open(PART);
	for (unsigned int i = 0; i < PARTS; i++)
		half->parts[i] = placed_bo(&half->file, PART, 0, VRAM);
}

/* The job lists all of them. */
static void file_fill(struct half *half, unsigned int part, uint64_t value)
{
	const struct agate_compute_payload payload = {
		.op = AGATE_COMPUTE_FILL, .dst = half->parts[part].va, .size = PART, .value = value,
	};
	uint32_t handles[PARTS + 1] = { half->file.jobs.handle };

	for (unsigned int i = 0; i < PARTS; i++)
		handles[i + 1] = half->parts[i].handle;
	assert_int_equal(guest_compute(&half->file.jobs, &payload, handles, PARTS + 1), 1);
}

static void file_check(struct half *half, unsigned int part, uint64_t value)
{
	placed_check(&half->file, &half->parts[part], value);
}

static void file_end(struct half *half)
{
	placed_close(&half->file);
}

static uint64_t address(unsigned int part)
{
	return AREA + part * VRAM_SIZE;
}

/* All of them are bound; every other one is private to the space. */
static void space_begin(struct half *half)
{
	half->space = space_on(guest_open());
	for (unsigned int i = 0; i < PARTS; i++) {
		assert_int_equal(space_create(half->space.fd, i % 2 ? 0 : half->space.vm, PART,
					      AGATE_BO_NO_VA, VRAM, &half->parts[i]), 0);
		space_map(&half->space, &half->parts[i], address(i));
	}
}

static void space_fill_part(struct half *half, unsigned int part, uint64_t value)
{
	assert_int_equal(space_fill(&half->space, address(part), PART, value), 1);
}

static void space_check(struct half *half, unsigned int part, uint64_t value)
{
	space_holds(&half->space, address(part), value);
	space_holds(&half->space, address(part) + PART - 8, value);
}

static void space_close_it(struct half *half)
{
	space_close(&half->space);
}

static const struct half_kind in_files = {
	file_begin, file_fill, file_check, file_end,
}, in_spaces = {
	space_begin, space_fill_part, space_check, space_close_it,
};

/* Its turns, from when both are ready until the test stops them. */
static unsigned int take_part(struct shared *shared, unsigned int me, const struct half_kind *kind,
			      struct half *half, uint64_t seed)
{
	unsigned int turn = 0;

	for (; turn < PARTS; turn++)
		kind->fill(half, turn, seed + turn);
	__atomic_add_fetch(&shared->ready, 1, __ATOMIC_SEQ_CST);
	while (!__atomic_load_n(&shared->begin, __ATOMIC_SEQ_CST))
		usleep(1000);
	for (; turn % PARTS || !__atomic_load_n(&shared->stop, __ATOMIC_SEQ_CST); turn++) {
		const unsigned int began = now(&shared->rounds);

		kind->fill(half, turn % PARTS, seed + turn);
		kind->check(half, turn % PARTS, seed + turn);
		end_turn(shared, me, began);
	}
	return turn;
}

static void want_half(struct shared *shared, unsigned int me, const struct half_kind *kind)
{
	const uint64_t seed = (me + 1) * 0x1000000ull;
	struct half half;
	unsigned int turn;

	kind->begin(&half);
	turn = take_part(shared, me, kind, &half, seed);
	for (unsigned int i = 0; i < PARTS; i++)
		kind->check(&half, i, seed + turn - PARTS + i);
	for (unsigned int i = 0; i < PARTS; i++)
		guest_destroy(&half.parts[i]);
	kind->end(&half);
}

static pid_t client_begin(struct shared *shared, unsigned int me, const struct half_kind *kind)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		want_half(shared, me, kind);
		_exit(0);
	}
	return pid;
}

/* One that waits for ever does so in the kernel: only another process can end it. */
static void await(const unsigned int *count, unsigned int enough, unsigned int least_s,
		  const pid_t *clients)
{
	const int64_t least = guest_deadline(1000 * (int64_t)least_s);
	const int64_t most = guest_deadline(1000 * ((int64_t)least_s + limit));

	for (; now(count) < enough || guest_deadline(0) < least; usleep(1000)) {
		if (!waitpid(-1, NULL, WNOHANG) && guest_deadline(0) < most)
			continue;
		for (unsigned int i = 0; i < 2; i++)
			kill(clients[i], SIGKILL);
		while (wait(NULL) > 0)
			;
		fail_msg("one client has failed, or does not get on: %u of %u", now(count),
			 enough);
	}
}

static void clients_end(void)
{
	int status;

	for (unsigned int i = 0; i < 2; i++) {
		assert_true(wait(&status) > 0);
		assert_int_equal(status, 0);
	}
}

/* Both get on, nobody sees the other's bytes, and VRAM has at no time the parts of both. */
static void two_want_half(const struct half_kind *kind)
{
	struct shared *shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE,
				     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	pid_t clients[2];
	unsigned int rounds;
	long before, moved;

	assert_ptr_not_equal(shared, MAP_FAILED);
	close(guest_open());	/* names the GPU that has the counter */
	for (unsigned int i = 0; i < 2; i++)
		clients[i] = client_begin(shared, i, kind);
	await(&shared->ready, 2, 0, clients);
	before = guest_gpu_counter("mover_bytes");
	__atomic_store_n(&shared->begin, true, __ATOMIC_SEQ_CST);
	await(&shared->rounds, ROUNDS, seconds, clients);
	rounds = now(&shared->rounds);
	moved = guest_gpu_counter("mover_bytes") - before;
	__atomic_store_n(&shared->stop, true, __ATOMIC_SEQ_CST);
	clients_end();
	printf("# %u and %u turns, %u rounds, %ld MiB moved\n", shared->turns[0],
	       shared->turns[1], rounds, moved / (long)MIB);
	assert_true(moved >= (long)(rounds * MOVES_IN_A_ROUND));
	munmap(shared, PAGE);
	guest_assert_nothing_left();
}

static void two_clients_want_half(void **state)
{
	(void)state;
	two_want_half(&in_files);
}

static void two_spaces_want_half(void **state)
{
	(void)state;
	two_want_half(&in_spaces);
}

/* The command that clears the BO, or copies it, has failed twice. */
static void contents_are_lost(void **state)
{
	struct placed_client client = placed_open(PAGE);
	struct bo bo = placed_bo(&client, PAGE, AGATE_BO_CPU_VISIBLE | AGATE_BO_POPULATE, VRAM);
	struct bo other = placed_bo(&client, PAGE, 0, VRAM);
	struct drm_agate_flip flip = {
		.handle = bo.handle, .width = 16, .height = 16, .stride = 64,
		.format = AGATE_FORMAT_R8G8B8A8,
	};
	struct bo others[16];

	(void)state;
	/* The page comes when the move has ended, or does not come. */
	guest_map(&bo);
	assert_false(placed_readable(&bo));
	assert_int_equal(placed_try_fill(&client, &bo, 0), EIO);
	assert_int_equal(guest_ioctl(client.fd, DRM_IOCTL_AGATE_FLIP, &flip), EIO);
	/* The next move carries nothing but what another client may have left there. */
	for (unsigned int i = 0; i < 16; i++)
		others[i] = placed_bo(&client, VISIBLE / 8,
				      AGATE_BO_CPU_VISIBLE | AGATE_BO_POPULATE, VRAM);
	assert_false(placed_readable(&bo));
	assert_int_equal(placed_try_fill(&client, &bo, 0), EIO);
	for (unsigned int i = 0; i < 16; i++)
		guest_destroy(&others[i]);
	/* Nobody else lost anything. */
	placed_fill(&client, &other, 1);
	placed_check(&client, &other, 1);
	guest_destroy(&bo);
	guest_destroy(&other);
	placed_close(&client);
	guest_assert_nothing_left();
}

/* The copy of a BO that leaves fails twice: what an address space has bound is lost. */
static void bound_is_lost(void **state)
{
	struct space space = space_on(guest_open());
	struct bo bo = space_bo(&space, 40 * MIB, VRAM), instead;
	const struct drm_agate_vm_bind again = space_part(&bo, AREA + 64 * MIB, MIB, 0, 0);

	(void)state;
	space_map(&space, &bo, AREA);
	assert_int_equal(space_fill(&space, AREA, bo.size, 1), 1);
	assert_int_equal(placed_create(space.fd, 40 * MIB, AGATE_BO_POPULATE, VRAM,
				       AGATE_CACHING_WC, &instead), 0);
	guest_destroy(&instead);
	for (unsigned int i = 0; i < 2; i++) {
		int err;

		assert_int_equal(space_bind(&space, again, 0, 0), EIO);
		space_submit(&space, &(struct agate_compute_payload){
			.op = AGATE_COMPUTE_FILL, .dst = SEEN_VA, .size = 8, .value = 2,
		}, 0, &err);
		assert_int_equal(err, EIO);
	}
	/* Without it all is well. */
	space_unmap(&space, AREA, bo.size);
	assert_int_equal(space_fill(&space, SEEN_VA, 8, 3), 1);
	assert_int_equal(*(volatile uint64_t *)space.seen.cpu, 3);
	guest_destroy(&bo);
	space_end(&space);
	close(space.fd);
	guest_assert_nothing_left();
}

/* ---- The card goes while memory moves -------------------------------------------- */

/* A launcher kills the GPU when it reads BUSY. */
static void gone(void **state)
{
	enum { COUNT = 2 * VRAM_SIZE / (6 * MIB) };
	struct placed_client client = placed_open(PAGE);
	struct bo bos[COUNT], seen = placed_bo(&client, PAGE, AGATE_BO_CPU_VISIBLE, VRAM);
	struct drm_agate_query_regions query = { 0 };
	struct drm_agate_vm_create create = { 0 };
	unsigned int i = 0;

	(void)state;
	guest_map(&seen);
	*(volatile char *)seen.cpu = 1;
	for (unsigned int n = 0; n < COUNT; n++)
		bos[n] = placed_bo(&client, 6 * MIB, 0, VRAM);
	for (unsigned int n = 0; n < COUNT; n++)
		assert_int_equal(placed_try_fill(&client, &bos[n], 0), 0);
	puts("# BUSY");
	fflush(stdout);
	while (!placed_try_fill(&client, &bos[i++ % COUNT], 0))
		;
	assert_int_equal(placed_try_fill(&client, &bos[0], 0), ENODEV);
	assert_int_equal(placed_create(client.fd, PAGE, 0, SYSTEM, AGATE_CACHING_WB, &seen),
			 ENODEV);
	assert_int_equal(guest_ioctl(client.fd, DRM_IOCTL_AGATE_QUERY_REGIONS, &query), ENODEV);
	assert_int_equal(guest_ioctl(client.fd, DRM_IOCTL_AGATE_VM_CREATE, &create), ENODEV);
	close(client.fd);
}

static void refuses(void **state)
{
	int fd = guest_open();
	struct bo bo;

	(void)state;
	assert_int_equal(placed_create(fd, PAGE, 0, 4, 0, &bo), EINVAL);
	assert_int_equal(placed_create(fd, PAGE, 0, VRAM, AGATE_CACHING_WB, &bo), EINVAL);
	assert_int_equal(placed_create(fd, PAGE, 0, VRAM, AGATE_CACHING_UC, &bo), EINVAL);
	assert_int_equal(placed_create(fd, PAGE, 0, SYSTEM, 3, &bo), EINVAL);
	assert_int_equal(placed_create(fd, PAGE, AGATE_BO_CONTIGUOUS, SYSTEM, 0, &bo), EINVAL);
	assert_int_equal(placed_create(fd, PAGE, AGATE_BO_HEAP | AGATE_BO_NOEXEC, SYSTEM, 0, &bo),
			 EINVAL);
	assert_int_equal(placed_create(fd, PAGE, AGATE_BO_POPULATE, 0, 0, &bo), EINVAL);
	assert_int_equal(placed_create(fd, PAGE, AGATE_BO_CPU_VISIBLE, 0, 0, &bo), EINVAL);
	assert_int_equal(placed_create(fd, PAGE, 0, 0, AGATE_CACHING_WC, &bo), EINVAL);
	/* It can never fit, whoever leaves. */
	assert_int_equal(placed_create(fd, VRAM_SIZE, AGATE_BO_POPULATE, VRAM, AGATE_CACHING_WC,
				       &bo), ENOSPC);
	assert_int_equal(placed_create(fd, VRAM_SIZE + PAGE, AGATE_BO_POPULATE, VRAM,
				       AGATE_CACHING_WC, &bo), EINVAL);
	assert_int_equal(placed_create(fd, VRAM_SIZE + PAGE, 0, VRAM, AGATE_CACHING_WC, &bo),
			 EINVAL);
	assert_int_equal(placed_create(fd, VISIBLE + PAGE, AGATE_BO_CPU_VISIBLE, VRAM,
				       AGATE_CACHING_WC, &bo), EINVAL);
	close(fd);
	guest_assert_nothing_left();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(begins_with_zeros, guest_teardown),
		cmocka_unit_test_teardown(take_turns, guest_teardown),
		cmocka_unit_test_teardown(mapping_follows, guest_teardown),
		cmocka_unit_test_teardown(refuses_two_large_ones, guest_teardown),
		cmocka_unit_test_teardown(two_clients_want_half, guest_teardown),
		cmocka_unit_test_teardown(two_spaces_want_half, guest_teardown),
		cmocka_unit_test_teardown(contents_are_lost, guest_teardown),
		cmocka_unit_test_teardown(bound_is_lost, guest_teardown),
		cmocka_unit_test(gone),
		cmocka_unit_test_teardown(refuses, guest_teardown),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	if (argc > 2)
		seconds = (unsigned int)atoi(argv[2]);
	if (argc > 3)
		limit = (unsigned int)atoi(argv[3]);
	return cmocka_run_group_tests_name("placed", tests, NULL, NULL);
}
