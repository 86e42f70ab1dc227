// SPDX-License-Identifier: MIT
/*
 * Which BO leaves VRAM, when its copy begins, and where page tables lead meanwhile.
 *
 * The GPU's event log is the witness: each test says what run.sh has to find there.
 */
#include "graded.h"

#include <stdio.h>
#include <unistd.h>

#include "flips.h"
#include "victims_call.h"

/* So many of them fill VRAM; the rest is less than one, and the kernel itself has some. */
#define COUNT		7u

/* All of VRAM, in the order in which the log counts those that are cleared there. */
static void fill_vram(struct placed_client *client, struct bo *bos)
{
	for (unsigned int i = 0; i < COUNT; i++)
		bos[i] = placed_bo(client, SIZE, AGATE_BO_POPULATE, VRAM);
	for (unsigned int i = 0; i < COUNT; i++)
		assert_int_equal(guest_wait(bos[i].fd, bos[i].handle, FOREVER), 0);
}

static void destroy_all(struct bo *bos, unsigned int count)
{
	for (unsigned int i = 0; i < count; i++)
		guest_destroy(&bos[i]);
}

/* Tell run.sh which of the BOs that came first have to leave, in this order. */
static void must_leave(const char *test, const char *numbers)
{
	printf("# %s: leave%s\n", test, numbers);
	fflush(stdout);
}

/* ---- Who leaves -------------------------------------------------------------------- */

/* A newcomer for each BO: they leave in the order in which jobs used them last. */
static void oldest_first(void **state)
{
	static const unsigned int used[COUNT] = { 3, 0, 6, 2, 5, 1, 4 };
	struct placed_client client = placed_open(SIZE);
	struct bo bos[COUNT], others[COUNT];

	(void)state;
	fill_vram(&client, bos);
	for (unsigned int i = 0; i < COUNT; i++)
		placed_fill(&client, &bos[used[i]], used[i]);
	fill_vram(&client, others);
	must_leave(__func__, " 3 0 6 2 5 1 4");
	for (unsigned int i = 0; i < COUNT; i++)
		placed_check(&client, &bos[i], i);
	destroy_all(bos, COUNT);
	destroy_all(others, COUNT);
	placed_close(&client);
}

/* A call holds the oldest BO's reservation. */
static void locked_stays(void **state)
{
	struct placed_client client = placed_open(PAGE), second = placed_open(PAGE);
	struct bo bos[COUNT], other;
	struct call call = { .client = &client, .bo = &bos[0] };

	(void)state;
	fill_vram(&client, bos);
	inject_hold_entry("agate_ttm_bump", 1, INJECT_BOUND_MS);
	call_begin(&call, use);
	assert_true(inject_await_held("agate_ttm_bump", 10000));
	other = placed_bo(&second, SIZE, AGATE_BO_POPULATE, VRAM);
	assert_true(inject_let_go("agate_ttm_bump"));
	call_end(&call);
	inject_clear();
	must_leave(__func__, " 1");
	destroy_all(bos, COUNT);
	guest_destroy(&other);
	placed_close(&second);
	placed_close(&client);
}

/* What the display shows stays until it shows nothing. */
static void pinned_stays(void **state)
{
	struct placed_client client = placed_open(PAGE);
	struct bo bos[COUNT], others[2];

	(void)state;
	fill_vram(&client, bos);
	show(client.fd, whole(&bos[0], 0), BLACK);
	for (unsigned int i = 1; i < COUNT; i++)
		placed_fill(&client, &bos[i], i);
	others[0] = placed_bo(&client, SIZE, AGATE_BO_POPULATE, VRAM);
	assert_int_equal(stop(client.fd), 0);
	others[1] = placed_bo(&client, SIZE, AGATE_BO_POPULATE, VRAM);
	must_leave(__func__, " 1 0");
	destroy_all(bos, COUNT);
	destroy_all(others, 2);
	placed_close(&client);
}

/* The newest BO may live in system memory, too. */
static void elsewhere_first(void **state)
{
	struct placed_client client = placed_open(PAGE);
	struct bo bos[COUNT], others[2];

	(void)state;
	for (unsigned int i = 0; i < COUNT; i++)
		bos[i] = placed_bo(&client, SIZE, AGATE_BO_POPULATE,
				   i == COUNT - 1 ? SYSTEM | VRAM : VRAM);
	for (unsigned int i = 0; i < 2; i++)
		others[i] = placed_bo(&client, SIZE, AGATE_BO_POPULATE, VRAM);
	must_leave(__func__, " 6 0");
	destroy_all(bos, COUNT);
	destroy_all(others, 2);
	placed_close(&client);
}

/* Only the last one lies where BAR2 shows VRAM: the first ones would make no room there. */
static void in_the_window(void **state)
{
	struct placed_client client = placed_open(PAGE);
	struct bo bos[COUNT], seen;

	(void)state;
	fill_vram(&client, bos);
	seen = placed_bo(&client, SIZE, AGATE_BO_POPULATE | AGATE_BO_CPU_VISIBLE, VRAM);
	must_leave(__func__, " 6");
	guest_map(&seen);
	assert_true(placed_readable(&seen));
	destroy_all(bos, COUNT);
	guest_destroy(&seen);
	placed_close(&client);
}

static void two_leave(void **state)
{
	struct placed_client client = placed_open(PAGE);
	struct bo bos[COUNT], large;

	(void)state;
	fill_vram(&client, bos);
	large = placed_bo(&client, 2 * SIZE, AGATE_BO_POPULATE, VRAM);
	must_leave(__func__, " 0 1");
	destroy_all(bos, COUNT);
	guest_destroy(&large);
	placed_close(&client);
}

/* A BO for which there is no room in VRAM goes where it may live, too, and nobody leaves. */
static void second_wish(void **state)
{
	struct placed_client client = placed_open(SIZE);
	struct bo bos[COUNT], other;

	(void)state;
	fill_vram(&client, bos);
	other = placed_bo(&client, SIZE, AGATE_BO_POPULATE, SYSTEM | VRAM);
	placed_check(&client, &other, 0);
	must_leave(__func__, "");
	destroy_all(bos, COUNT);
	guest_destroy(&other);
	placed_close(&client);
}

/* A job on two BOs, in this order; it writes the first one. */
static void *use_both(void *arg)
{
	struct call *call = arg;
	const struct agate_compute_payload payload = {
		.op = AGATE_COMPUTE_FILL, .dst = call->bo->va, .size = PAGE, .value = 2,
	};
	const uint32_t handles[] = {
		call->client->jobs.handle, call->bo->handle, call->other->handle
	};

	guest_job(&call->client->jobs, 0, AGATE_JOB_COMPUTE, 0, &payload, sizeof(payload));
	call->ret = guest_submit(call->client->fd, call->client->jobs.va, 0, handles, 3, 0);
	if (!call->ret)
		call->ret = guest_wait(call->client->fd, call->client->jobs.handle, FOREVER);
	return NULL;
}

/*
 * Each client holds one of the two BOs that fill VRAM, and needs the place of the other one.  The
 * one that came later gives way, and both succeed.
 */
static void in_turn(void **state)
{
	const uint64_t half = COUNT * SIZE / 2;
	struct placed_client early = placed_open(PAGE), late = placed_open(PAGE);
	struct bo theirs = placed_bo(&late, half, AGATE_BO_POPULATE, VRAM);
	struct bo mine = placed_bo(&early, half, AGATE_BO_POPULATE, VRAM);
	struct bo wanted[] = { placed_bo(&early, half, 0, VRAM), placed_bo(&late, half, 0, VRAM) };
	struct call first = { .client = &early, .bo = &mine, .other = &wanted[0] };
	struct call second = { .client = &late, .bo = &wanted[1], .other = &theirs };
	int64_t end = guest_deadline(10000);

	(void)state;
	inject_count("agate_exec_lock_victim");
	inject_hold_entry("agate_ttm_bump", 1, INJECT_BOUND_MS);
	call_begin(&first, use_both);
	assert_true(inject_await_held("agate_ttm_bump", 10000));
	call_begin(&second, use_both);
	while (!inject_hits("agate_exec_lock_victim"))
		assert_true(guest_deadline(0) < end);
	assert_true(inject_let_go("agate_ttm_bump"));
	call_end(&first);
	call_end(&second);
	inject_clear();
	destroy_all(wanted, 2);
	guest_destroy(&mine);
	guest_destroy(&theirs);
	placed_close(&late);
	placed_close(&early);
}

/* ---- What still uses the memory ----------------------------------------------------- */

/* A job that fills a BO, when the timeline is advanced. */
static void fill_later(struct placed_client *client, const struct bo *bo, int timeline)
{
	const uint32_t handles[] = { client->jobs.handle, bo->handle };
	static const uint32_t flags[] = { AGATE_SUBMIT_BO_WRITE, AGATE_SUBMIT_BO_WRITE };

	fill_at(client, 0, 0, bo, 0x1a7e);
	assert_int_equal(guest_submit_bos(client->fd, client->jobs.va, 0, handles, flags, 2,
					  guest_timeline_syncobj(client->fd, timeline)), 0);
}

/* Newcomers for all of VRAM.  The last one finds only the BO that a job uses, and waits. */
struct newcomers {
	struct placed_client client;
	struct bo bos[COUNT];
	struct call last;
};

static void newcomers_begin(struct newcomers *new)
{
	new->client = placed_open(PAGE);
	for (unsigned int i = 0; i < COUNT - 1; i++)
		new->bos[i] = placed_bo(&new->client, SIZE, AGATE_BO_POPULATE, VRAM);
	new->last = (struct call){ .client = &new->client, .bo = &new->bos[COUNT - 1] };
	inject_count("placed_move_notify");
	call_begin(&new->last, populate);
	for (int64_t end = guest_deadline(10000); !inject_hits("placed_move_notify");)
		assert_true(guest_deadline(0) < end);
	assert_false(call_ends_within(&new->last, A_WHILE_MS));
	inject_clear();
}

static void newcomers_end(struct newcomers *new)
{
	destroy_all(new->bos, COUNT);
	placed_close(&new->client);
}

/* A job is still to write the newest BO, which leaves as the last one. */
static void behind_jobs(void **state)
{
	struct placed_client client = placed_open(SIZE);
	struct newcomers new;
	struct bo bos[COUNT];
	int timeline = guest_timeline();

	(void)state;
	fill_vram(&client, bos);
	fill_later(&client, &bos[3], timeline);
	newcomers_begin(&new);
	guest_timeline_advance(timeline);
	call_end(&new.last);
	must_leave(__func__, " 0 1 2 4 5 6 3");
	placed_check(&client, &bos[3], 0x1a7e);
	destroy_all(bos, COUNT);
	close(timeline);
	newcomers_end(&new);
	placed_close(&client);
}

/* A job writes the newest BO just now, and as long as it does so nobody has copied anything. */
static void behind_running(void **state)
{
	struct placed_client client = placed_open(SIZE);
	struct newcomers new;
	struct bo bos[COUNT];

	(void)state;
	fill_vram(&client, bos);
	fill_again(&client, &bos[3], 0xf17a1);
	newcomers_begin(&new);
	fill_once_more(&client);
	call_end(&new.last);
	must_leave(__func__, " 0 1 2 4 5 6 3");
	placed_check(&client, &bos[3], 0xf17a1);
	destroy_all(bos, COUNT);
	newcomers_end(&new);
	placed_close(&client);
}

/*
 * A slow chain uses the oldest BO, and a newcomer that wants its place waits for the chain.  The
 * next newcomer does not: it takes the next one's place.
 */
static void next_while_slow(void **state)
{
	struct placed_client client = placed_open(SIZE), slow = placed_open_on(client.fd, PAGE);
	struct placed_client first = placed_open(PAGE), second = placed_open(PAGE);
	struct bo bos[COUNT], others[2] = { { 0 } };
	struct call waits = { .client = &first, .bo = &others[0] };
	struct call next = { .client = &second, .bo = &others[1] };
	const int64_t end = guest_deadline(10000);

	(void)state;
	fill_vram(&client, bos);
	write_again(&slow, &bos[0]);
	for (unsigned int i = 1; i < COUNT; i++)
		placed_fill(&client, &bos[i], i);
	inject_count("placed_move_notify");
	call_begin(&waits, populate);
	while (!inject_hits("placed_move_notify"))
		assert_true(guest_deadline(0) < end);
	call_begin(&next, populate);
	assert_true(call_ends_within(&next, 10000));
	call_end(&next);
	assert_false(call_ends_within(&waits, 0));
	fill_once_more(&slow);
	call_end(&waits);
	inject_clear();
	must_leave(__func__, " 1 0");
	/* Then there is room for those that have left. */
	destroy_all(others, 2);
	placed_check(&client, &bos[1], 1);
	destroy_all(bos, COUNT);
	placed_close(&first);
	placed_close(&second);
	guest_destroy(&slow.jobs);
	guest_destroy(&slow.seen);
	placed_close(&client);
}

/* The other waits until the gate opens, and takes the room that BO 3 had: nobody leaves. */
static void takes_the_room(const char *test, const char *gate, struct placed_client *client,
			   struct bo *bos)
{
	struct placed_client second = placed_open(PAGE);
	struct bo other = { 0 };
	struct call call = { .client = &second, .bo = &other };

	call_begin(&call, populate);
	assert_false(call_ends_within(&call, A_WHILE_MS));
	assert_true(inject_let_go(gate));
	call_end(&call);
	inject_clear();
	must_leave(test, "");
	destroy_all(bos, 3);
	destroy_all(bos + 4, COUNT - 4);
	guest_destroy(&other);
	placed_close(&second);
	placed_close(client);
}

/* Memory that the mover is about to leave costs nobody his place. */
static void parked_first(void **state)
{
	struct placed_client client = placed_open(PAGE);
	struct bo bos[COUNT];

	(void)state;
	fill_vram(&client, bos);
	guest_destroy(&bos[3]);
	hold_mover();
	bos[3] = placed_bo(&client, SIZE, AGATE_BO_POPULATE, VRAM);
	guest_destroy(&bos[3]);
	takes_the_room(__func__, "mover_run", &client, bos);
}

/* Nor does memory that somebody is giving back just now: it is on no list any more. */
static void given_back_first(void **state)
{
	struct placed_client client = placed_open(PAGE);
	struct bo bos[COUNT];

	(void)state;
	fill_vram(&client, bos);
	inject_anybody(true);
	inject_hold_entry("vram_free", 1, INJECT_BOUND_MS);
	guest_destroy(&bos[3]);
	assert_true(inject_await_held("vram_free", 10000));
	inject_anybody(false);
	takes_the_room(__func__, "vram_free", &client, bos);
}

/* ---- A BO dies ----------------------------------------------------------------------- */

/* The only one that has any memory: whoever needs it waits until it is there. */
static void dying_first(void **state)
{
	struct placed_client client = placed_open(PAGE), second = placed_open(PAGE);
	struct bo bo = placed_bo(&client, COUNT * SIZE, AGATE_BO_POPULATE, VRAM);

	(void)state;
	call_waits_for_dying(&second, &bo, "agate_resource_park", populate);
	placed_close(&second);
	placed_close(&client);
}

/* It is in no list any more when its pages go: whoever finds it there looks at them. */
static void off_the_lists_first(void **state)
{
	struct placed_client client = placed_open(PAGE);
	struct bo bo = placed_bo(&client, SIZE, AGATE_BO_POPULATE, SYSTEM);
	struct call call = { .bo = &bo };

	(void)state;
	inject_count("agate_resource_park");
	inject_hold_entry("agate_tt_park", 1, INJECT_BOUND_MS);
	call_begin(&call, destroy);
	assert_true(inject_await_held("agate_tt_park", 10000));
	assert_int_equal(inject_hits("agate_resource_park"), 1);
	assert_true(inject_let_go("agate_tt_park"));
	call_end(&call);
	inject_clear();
	placed_close(&client);
}

/* ---- Where page tables lead --------------------------------------------------------- */

#define MINE		0xa11ull
#define SECRET		0x5ec3e7ull

/* A job that does not list the BO copies its first page to client->seen, which is zero. */
static void read_unlisted(struct placed_client *client, const struct bo *bo, uint32_t in_sync)
{
	const struct agate_compute_payload payload = {
		.op = AGATE_COMPUTE_COPY, .dst = client->seen.va, .src = bo->va, .size = PAGE,
	};
	const uint32_t handles[] = { client->jobs.handle, client->seen.handle };
	static const uint32_t flags[] = { AGATE_SUBMIT_BO_WRITE, AGATE_SUBMIT_BO_WRITE };

	memset(client->seen.cpu, 0, PAGE);
	guest_job(&client->jobs, 0, AGATE_JOB_COMPUTE, 0, &payload, sizeof(payload));
	assert_int_equal(guest_submit_bos(client->fd, client->jobs.va, 0, handles, flags, 2,
					  in_sync), 0);
}

static void check_saw_nothing(const struct placed_client *client)
{
	assert_int_equal(guest_wait(client->fd, client->jobs.handle, FOREVER), 0);
	assert_int_equal(*(volatile uint64_t *)client->seen.cpu, 0);
}

static void *look(void *arg)
{
	struct call *call = arg;

	call->ret = placed_run(call->client, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_COPY, .dst = call->client->seen.va, .src = call->bo->va,
		.size = PAGE,
	}, call->bo, &call->client->seen) - 1;
	return NULL;
}

/*
 * The BO comes back to memory that has another client's bytes, and the mover has not begun.  The
 * job that does not list it was submitted before, and waits for nothing of the BO.
 */
static void come_back_slowly(struct placed_client *client, struct placed_client *unlisted,
			     struct bo *bo)
{
	struct call call = { .client = client, .bo = bo };
	int timeline = guest_timeline();

	read_unlisted(unlisted, bo, guest_timeline_syncobj(client->fd, timeline));
	hold_mover();
	call_begin(&call, look);
	assert_true(inject_await_held("mover_run", 10000));
	/* In this time it would be submitted, if it did not wait for the move. */
	assert_false(call_ends_within(&call, A_WHILE_MS));
	guest_timeline_advance(timeline);
	check_saw_nothing(unlisted);
	assert_true(inject_let_go("mover_run"));
	call_end(&call);
	inject_clear();
	close(timeline);
}

/* Where the job is that shows in the log where a time begins, and where it ends. */
#define MARK		0x300

static void mark_log(struct placed_client *client)
{
	const uint32_t handles[] = { client->jobs.handle, client->seen.handle };
	const uint64_t head = client->jobs.va + MARK;

	guest_job_write64(&client->jobs, MARK, 0, client->seen.va, 0);
	assert_int_equal(guest_submit(client->fd, head, 0, handles, 2, 0), 0);
	assert_int_equal(guest_wait(client->fd, client->jobs.handle, FOREVER), 0);
}

/*
 * The BO's range is as large as a region that LOCK can name, and begins where that does: then a
 * flush of the BO is none of its neighbour.
 */
static void tell_range(const struct bo *bo, const struct placed_client *marks)
{
	assert_int_equal(bo->va % SIZE, 0);
	printf("# range away %#llx %#llx %#llx\n", (unsigned long long)bo->va,
	       (unsigned long long)(bo->va + SIZE), (unsigned long long)(marks->jobs.va + MARK));
	fflush(stdout);
}

/*
 * No walk reaches a BO that has left, until the mover has brought it back.  Between the two marks
 * its range is flushed, and nothing else in its address space, where only this BO moves.
 */
static void away(void **state)
{
	/* What it reads back lies before the BOs, and ends where a region begins. */
	struct placed_client client = placed_open(2 * SIZE - 2 * MIB), second = placed_open(PAGE);
	struct placed_client unlisted = placed_open_on(client.fd, PAGE);
	struct bo bos[COUNT], other;

	(void)state;
	fill_vram(&client, bos);
	tell_range(&bos[0], &unlisted);
	for (unsigned int i = 0; i < COUNT; i++)
		placed_fill(&client, &bos[i], MINE);
	/* From here on all have been used, and are mapped. */
	placed_check(&client, &bos[1], MINE);
	mark_log(&unlisted);
	other = placed_bo(&second, SIZE, AGATE_BO_POPULATE, VRAM);
	placed_fill(&second, &other, SECRET);
	read_unlisted(&unlisted, &bos[0], 0);
	check_saw_nothing(&unlisted);
	guest_destroy(&other);
	guest_wait_counter("bos", COUNT + 6);
	come_back_slowly(&client, &unlisted, &bos[0]);
	placed_check(&client, &bos[0], MINE);
	mark_log(&unlisted);
	assert_int_equal(guest_gpu_counter("stale_used"), 0);
	destroy_all(bos, COUNT);
	guest_destroy(&unlisted.jobs);
	guest_destroy(&unlisted.seen);
	placed_close(&second);
	placed_close(&client);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(oldest_first, guest_teardown),
		cmocka_unit_test_teardown(locked_stays, guest_teardown),
		cmocka_unit_test_teardown(pinned_stays, guest_teardown),
		cmocka_unit_test_teardown(elsewhere_first, guest_teardown),
		cmocka_unit_test_teardown(in_the_window, guest_teardown),
		cmocka_unit_test_teardown(two_leave, guest_teardown),
		cmocka_unit_test_teardown(second_wish, guest_teardown),
		cmocka_unit_test_teardown(in_turn, guest_teardown),
		cmocka_unit_test_teardown(behind_jobs, guest_teardown),
		cmocka_unit_test_teardown(behind_running, guest_teardown),
		cmocka_unit_test_teardown(next_while_slow, guest_teardown),
		cmocka_unit_test_teardown(parked_first, guest_teardown),
		cmocka_unit_test_teardown(given_back_first, guest_teardown),
		cmocka_unit_test_teardown(dying_first, guest_teardown),
		cmocka_unit_test_teardown(off_the_lists_first, guest_teardown),
		cmocka_unit_test_teardown(away, guest_teardown),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("victims", tests, NULL, NULL);
}
