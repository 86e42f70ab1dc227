// SPDX-License-Identifier: MIT
/*
 * BOs with a placement, and less system memory for them than they need together: run.sh loads
 * the driver with a limit.
 */
#include "graded.h"

#include "gpus.h"
#include "placed_client.h"
#include "victims_call.h"
#include "vm_client.h"

#include <glob.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT	(16 * MIB)
#define PART	(4 * MIB)

static struct bo system_bo(const struct placed_client *client, uint64_t size, uint32_t caching)
{
	struct bo bo;

	assert_int_equal(placed_create(client->fd, size, 0, SYSTEM, caching, &bo), 0);
	return bo;
}

static long swapped(void)
{
	return guest_number("pages", "swapped");
}

static void assert_below_limit(void)
{
	assert_in_range(guest_number("pages", "used"), 0, LIMIT / PAGE);
}

static void destroy_all(struct placed_client *client, struct bo *bos, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		guest_destroy(&bos[i]);
	guest_wait_number("pages", "used", 0);
	placed_close(client);
	guest_assert_nothing_left();
}

/* ---- Tests -------------------------------------------------------------------- */

/* Twice the limit, of every caching. */
static void contents_come_back(void **state)
{
	enum { COUNT = 2 * LIMIT / PART };
	struct placed_client client = placed_open(PART);
	struct bo bos[COUNT];
	long before = swapped();

	(void)state;
	assert_int_equal(guest_number("pages", "limit"), LIMIT / PAGE);
	for (unsigned int i = 0; i < COUNT; i++)
		bos[i] = system_bo(&client, PART, i % 3);
	for (unsigned int i = 0; i < COUNT; i++) {
		placed_fill(&client, &bos[i], 0x1000 + i);
		assert_below_limit();
	}
	for (unsigned int i = 0; i < COUNT; i++) {
		placed_check(&client, &bos[i], 0x1000 + i);
		assert_below_limit();
	}
	assert_in_range(swapped() - before, LIMIT / PAGE, 100 * LIMIT / PAGE);
	destroy_all(&client, bos, COUNT);
}

/* A CPU finds its bytes after they were in a swap file, and what it writes then is kept. */
static void mapping_comes_back(void **state)
{
	enum { COUNT = LIMIT / PART };
	struct placed_client client = placed_open(PART);
	struct bo bos[COUNT + 1];
	volatile uint64_t *words;

	(void)state;
	for (unsigned int i = 0; i <= COUNT; i++)
		bos[i] = system_bo(&client, PART, AGATE_CACHING_WB);
	guest_map(&bos[0]);
	words = bos[0].cpu;
	/* In the first round only CPUs know the pages. */
	for (unsigned int round = 0; round < 3; round++) {
		for (uint64_t i = 0; i < PART / 8; i += 512)
			words[i] = round + i;
		for (unsigned int i = 1; i <= COUNT; i++)
			placed_fill(&client, &bos[i], 0xdead);
		for (uint64_t i = 0; i < PART / 8; i += 512)
			assert_int_equal(words[i], round + i);
		placed_fill(&client, &bos[0], round);
		for (uint64_t i = 0; i < PART / 8; i += 512)
			assert_int_equal(words[i], round);
	}
	destroy_all(&client, bos, COUNT + 1);
}

/* Nobody asks for memory any more, and the worker swaps. */
static void worker_swaps(void **state)
{
	enum { COUNT = LIMIT / MIB - 1 };
	struct placed_client client = placed_open(MIB);
	struct bo bos[COUNT];

	(void)state;
	for (unsigned int i = 0; i < COUNT; i++)
		bos[i] = system_bo(&client, MIB, AGATE_CACHING_WB);
	for (unsigned int i = 0; i < COUNT; i++)
		placed_fill(&client, &bos[i], i);
	guest_wait_number("pages", "used", guest_number("pages", "swap_limit"));
	for (unsigned int i = 0; i < COUNT; i++)
		placed_check(&client, &bos[i], i);
	destroy_all(&client, bos, COUNT);
}

/* BOs that leave VRAM are swapped, too. */
static void leaves_vram(void **state)
{
	enum { COUNT = (VRAM_SIZE + 2 * LIMIT) / PART };
	struct placed_client client = placed_open(PART);
	struct bo bos[COUNT];
	long before = swapped();

	(void)state;
	for (unsigned int i = 0; i < COUNT; i++) {
		bos[i] = placed_bo(&client, PART, 0, VRAM);
		placed_fill(&client, &bos[i], 0x2000 + i);
	}
	for (unsigned int i = 0; i < COUNT; i++) {
		placed_check(&client, &bos[i], 0x2000 + i);
		assert_below_limit();
	}
	assert_in_range(swapped() - before, LIMIT / PAGE, 100 * LIMIT / PAGE);
	destroy_all(&client, bos, COUNT);
}

/* A clear error, and nothing is lost. */
static void too_much(void **state)
{
	enum { COUNT = LIMIT / PART + 1 };
	struct placed_client client = placed_open(PART);
	uint32_t handles[COUNT + 1] = { client.jobs.handle };
	struct bo bos[COUNT], large;

	(void)state;
	for (unsigned int i = 0; i < COUNT; i++) {
		bos[i] = system_bo(&client, PART, AGATE_CACHING_WB);
		placed_fill(&client, &bos[i], 0x3000 + i);
		handles[i + 1] = bos[i].handle;
	}
	assert_int_equal(placed_create(client.fd, LIMIT + PAGE, AGATE_BO_POPULATE, SYSTEM,
				       AGATE_CACHING_WB, &large), ENOMEM);
	guest_job(&client.jobs, 0, AGATE_JOB_NULL, 0, NULL, 0);
	assert_int_equal(guest_submit(client.fd, client.jobs.va, 0, handles, COUNT + 1, 0),
			 ENOMEM);
	for (unsigned int i = 0; i < COUNT; i++)
		placed_check(&client, &bos[i], 0x3000 + i);
	destroy_all(&client, bos, COUNT);
}

/* A BO has no use for the pages that it got for a move, if that fails: it stays in VRAM. */
static void failed_move_keeps_nothing(void **state)
{
	enum { COUNT = VRAM_SIZE / PART };
	struct placed_client client = placed_open(PART);
	struct bo bos[COUNT], more;
	long before;

	(void)state;
	/* The driver has some of VRAM, so the last one pushes out the first one. */
	for (unsigned int i = 0; i < COUNT; i++) {
		bos[i] = placed_bo(&client, PART, AGATE_BO_POPULATE, VRAM);
		placed_fill(&client, &bos[i], 0x5000 + i);
	}
	before = guest_number("pages", "used");
	inject_fail("agate_mover_job_create", 1, ENOMEM);
	assert_int_equal(placed_create(client.fd, PART, AGATE_BO_POPULATE, VRAM, AGATE_CACHING_WC,
				       &more), ENOMEM);
	assert_int_equal(inject_hits("agate_mover_job_create"), 1);
	inject_clear();
	guest_wait_number("pages", "used", before);
	for (unsigned int i = 0; i < COUNT; i++)
		placed_check(&client, &bos[i], 0x5000 + i);
	destroy_all(&client, bos, COUNT);
}

/* Pages that could not move to VRAM are swapped as any others. */
static void failed_move_can_be_swapped(void **state)
{
	enum { COUNT = LIMIT / PART };
	struct placed_client client = placed_open(PART);
	struct bo bos[COUNT + 1];
	volatile uint64_t *words;

	(void)state;
	bos[0] = placed_bo(&client, PART, AGATE_BO_CPU_VISIBLE, SYSTEM | VRAM);
	guest_map(&bos[0]);
	words = bos[0].cpu;
	for (uint64_t i = 0; i < PART / 8; i++)
		words[i] = 0x6000;
	inject_fail("agate_mover_job_create", 1, ENOMEM);
	assert_int_equal(placed_try_fill(&client, &bos[0], 0), ENOMEM);
	assert_int_equal(inject_hits("agate_mover_job_create"), 1);
	inject_clear();
	for (unsigned int i = 1; i <= COUNT; i++) {
		bos[i] = system_bo(&client, PART, AGATE_CACHING_WB);
		placed_fill(&client, &bos[i], 0x6000 + i);
	}
	for (unsigned int i = 0; i <= COUNT; i++)
		placed_check(&client, &bos[i], 0x6000 + i);
	destroy_all(&client, bos, COUNT + 1);
}

/* A card that reaches no more than 4 GiB has all its pages there. */
static void low_memory(void **state)
{
	struct placed_client client = placed_open(PART);
	struct bo bo = system_bo(&client, PART, AGATE_CACHING_WC);
	unsigned int bits = 0;
	glob_t found;
	FILE *file;

	(void)state;
	assert_int_equal(glob("/sys/bus/pci/drivers/agate/*/dma_mask_bits", 0, NULL, &found), 0);
	file = fopen(found.gl_pathv[0], "re");
	assert_non_null(file);
	assert_int_equal(fscanf(file, "%u", &bits), 1);
	fclose(file);
	globfree(&found);
	placed_fill(&client, &bo, 1);
	assert_int_equal(guest_number("pages", "used"), PART / PAGE);
	assert_int_equal(guest_number("pages", "used_dma32"), bits <= 32 ? PART / PAGE : 0);
	destroy_all(&client, &bo, 1);
}

/* What one card needs the other one gives: the machine has one memory. */
static void cards_share(void **state)
{
	enum { COUNT = LIMIT / PART };
	struct bo bos[2][COUNT];
	struct placed_client clients[2];
	long before = swapped();

	(void)state;
	for (unsigned int n = 0; n < 2; n++)
		clients[n] = placed_open_on(gpus_open(n), PART);
	for (unsigned int n = 0; n < 2; n++) {
		for (unsigned int i = 0; i < COUNT; i++) {
			bos[n][i] = system_bo(&clients[n], PART, AGATE_CACHING_WB);
			placed_fill(&clients[n], &bos[n][i], 0x4000 + n * 256 + i);
			assert_below_limit();
		}
	}
	/* Each of them wanted all of it. */
	assert_in_range(swapped() - before, LIMIT / PAGE, 100 * LIMIT / PAGE);
	for (unsigned int n = 0; n < 2; n++) {
		for (unsigned int i = 0; i < COUNT; i++)
			placed_check(&clients[n], &bos[n][i], 0x4000 + n * 256 + i);
	}
	for (unsigned int i = 0; i < COUNT; i++)
		guest_destroy(&bos[1][i]);
	placed_close(&clients[1]);
	destroy_all(&clients[0], bos[0], COUNT);
}

/* ---- A BO that comes from the swap file ------------------------------------------ */

/**
 * struct binder - a thread that binds a BO, which takes as long as the BO's way to VRAM
 * @space: where
 * @bo: which
 * @err: what VM_BIND answers
 * @done: it has answered
 */
struct binder {
	const struct space *space;
	const struct bo *bo;
	int err;
	bool done;
};

static void *bind(void *arg)
{
	struct binder *binder = arg;

	binder->err = space_bind(binder->space, space_part(binder->bo, 2 * AREA, PART, 0, 0), 0, 0);
	__atomic_store_n(&binder->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static bool is_done(const struct binder *binder)
{
	return __atomic_load_n(&binder->done, __ATOMIC_ACQUIRE);
}

/* A private BO of one address space in the swap file, and room for it in VRAM. */
static struct bo swapped_bo(struct space *space, struct placed_client *others)
{
	enum { COUNT = VRAM_SIZE / PART, MORE = LIMIT / PART };
	struct bo bo = space_bo(space, PART, VRAM), bos[COUNT + MORE];
	long before = swapped();

	space_map(space, &bo, AREA);
	assert_int_equal(space_fill(space, AREA, PART, 0x7000), 1);
	/* The driver has some of VRAM, so the last one pushes the BO out. */
	for (unsigned int i = 0; i < COUNT + MORE; i++) {
		bos[i] = placed_bo(others, PART, 0, i < COUNT ? VRAM : SYSTEM);
		placed_fill(others, &bos[i], i);
	}
	/* The one that was used longest ago goes first. */
	assert_true(swapped() >= before + (long)(PART / PAGE));
	for (unsigned int i = 0; i < COUNT + MORE; i++)
		guest_destroy(&bos[i]);
	return bo;
}

/*
 * The page tables that the mover is going to write wait for a timeline.  The BO's way to VRAM
 * waits for nobody: behind them it would wait for ever, and all moves behind it.
 */
static void moves_wait_for_nobody(void **state)
{
	struct placed_client others = placed_open(PART);
	struct space space = space_on(guest_open());
	struct bo bo = swapped_bo(&space, &others), small = space_bo(&space, BLOCK, SYSTEM);
	struct binder binder = { .space = &space, .bo = &bo };
	int timeline = guest_timeline();
	uint32_t in = guest_timeline_syncobj(space.fd, timeline), out = guest_syncobj(space.fd);
	pthread_t thread;

	(void)state;
	assert_int_equal(space_bind(&space, space_part(&small, 3 * AREA, BLOCK, 0, 0), in, out), 0);
	assert_int_equal(pthread_create(&thread, NULL, bind, &binder), 0);
	for (int64_t end = guest_deadline(20000); !is_done(&binder) && guest_deadline(0) < end;)
		usleep(1000);
	assert_true(is_done(&binder));
	pthread_join(thread, NULL);
	assert_int_equal(binder.err, 0);
	assert_false(space_signalled(space.fd, out));
	guest_timeline_advance(timeline);
	assert_int_equal(guest_fence_end(guest_sync_file(space.fd, out)), 1);
	space_holds(&space, 2 * AREA + PART - 8, 0x7000);
	close(timeline);
	guest_destroy(&bo);
	guest_destroy(&small);
	space_end(&space);
	close(space.fd);
	placed_close(&others);
	guest_assert_nothing_left();
}

/* ---- A BO dies --------------------------------------------------------------------- */

/* The only one that has any pages: whoever needs them waits until it has parked them. */
static void waits_for_dying(const char *where)
{
	struct placed_client client = placed_open(PART), second = placed_open(PART);
	struct bo bo = placed_bo(&client, LIMIT - PART, AGATE_BO_POPULATE, SYSTEM);

	call_waits_for_dying(&second, &bo, where, populate_system);
	placed_close(&second);
	destroy_all(&client, NULL, 0);
}

/* The BO is still on a list. */
static void dying_first(void **state)
{
	(void)state;
	waits_for_dying("agate_ttm_release");
}

/* The BO is on no list any more, and its pages are not yet on another one. */
static void leaving_first(void **state)
{
	(void)state;
	waits_for_dying("agate_tt_park");
}

/* ---- Two clients of which each wants more than half ------------------------------ */

#define PARTS		3u
#define HALF_PART	(LIMIT * 60 / 100 / PARTS / (64 * 1024) * (64 * 1024))
#define TURNS		12u

/* Each job lists all parts: they have to be there at the same time. */
static void want_half(uint64_t seed)
{
	struct placed_client client = placed_open(HALF_PART);
	uint32_t handles[PARTS + 1] = { client.jobs.handle };
	struct bo parts[PARTS];

	for (unsigned int i = 0; i < PARTS; i++) {
		parts[i] = system_bo(&client, HALF_PART, i % 3);
		handles[i + 1] = parts[i].handle;
	}
	for (unsigned int turn = 0; turn < TURNS; turn++) {
		const struct bo *part = &parts[turn % PARTS];
		const struct agate_compute_payload payload = {
			.op = AGATE_COMPUTE_FILL, .dst = part->va, .size = part->size,
			.value = seed + turn,
		};

		assert_int_equal(guest_compute(&client.jobs, &payload, handles, PARTS + 1), 1);
		placed_check(&client, part, seed + turn);
	}
	for (unsigned int i = 0; i < PARTS; i++)
		placed_check(&client, &parts[i], seed + TURNS - PARTS + i);
	for (unsigned int i = 0; i < PARTS; i++)
		guest_destroy(&parts[i]);
	placed_close(&client);
}

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
	guest_wait_number("pages", "used", 0);
	guest_assert_nothing_left();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(contents_come_back, guest_teardown),
		cmocka_unit_test_teardown(mapping_comes_back, guest_teardown),
		cmocka_unit_test_teardown(worker_swaps, guest_teardown),
		cmocka_unit_test_teardown(leaves_vram, guest_teardown),
		cmocka_unit_test_teardown(too_much, guest_teardown),
		cmocka_unit_test_teardown(failed_move_keeps_nothing, guest_teardown),
		cmocka_unit_test_teardown(failed_move_can_be_swapped, guest_teardown),
		cmocka_unit_test_teardown(low_memory, guest_teardown),
		cmocka_unit_test_teardown(moves_wait_for_nobody, guest_teardown),
		cmocka_unit_test_teardown(cards_share, guest_teardown),
		cmocka_unit_test_teardown(dying_first, guest_teardown),
		cmocka_unit_test_teardown(leaving_first, guest_teardown),
		cmocka_unit_test_teardown(two_clients_want_half, guest_teardown),
	};

	int second = gpus_try_open(1);

	/* Not every suite has a second card. */
	if (second < 0)
		cmocka_set_skip_filter("cards_share");
	else
		close(second);
	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("limit", tests, NULL, NULL);
}
