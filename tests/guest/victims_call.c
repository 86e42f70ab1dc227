// SPDX-License-Identifier: MIT
/* A call of another thread, and what it may have to wait for; see victims_call.h. */
#include "victims_call.h"

#include "graded.h"

static void *ends(struct call *call, int ret)
{
	call->ret = ret;
	__atomic_store_n(&call->ended, true, __ATOMIC_RELEASE);
	return NULL;
}

static void *populate_in(struct call *call, uint32_t placement)
{
	return ends(call, placed_create(call->client->fd, SIZE, AGATE_BO_POPULATE, placement,
					AGATE_CACHING_WC, call->bo));
}

void *populate(void *arg)
{
	return populate_in(arg, VRAM);
}

void *populate_system(void *arg)
{
	return populate_in(arg, SYSTEM);
}

void *use(void *arg)
{
	struct call *call = arg;

	return ends(call, placed_try_fill(call->client, call->bo, 0xca11));
}

void *destroy(void *arg)
{
	struct call *call = arg;

	guest_destroy(call->bo);
	return ends(call, 0);
}

void call_begin(struct call *call, void *(*what)(void *))
{
	assert_int_equal(pthread_create(&call->thread, NULL, what, call), 0);
}

bool call_ends_within(struct call *call, int64_t ms)
{
	const int64_t end = guest_deadline(ms);
	bool ended;

	do {
		ended = __atomic_load_n(&call->ended, __ATOMIC_ACQUIRE);
	} while (!ended && guest_deadline(0) < end);
	return ended;
}

void call_end(struct call *call)
{
	assert_int_equal(pthread_join(call->thread, NULL), 0);
	assert_int_equal(call->ret, 0);
}

void call_waits_for_dying(struct placed_client *client, struct bo *dying, const char *where,
			  void *(*populates)(void *))
{
	struct bo other = { 0 };
	struct call death = { .bo = dying }, call = { .client = client, .bo = &other };

	inject_hold_entry(where, 1, INJECT_BOUND_MS);
	call_begin(&death, destroy);
	assert_true(inject_await_held(where, 10000));
	call_begin(&call, populates);
	assert_false(call_ends_within(&call, A_WHILE_MS));
	assert_true(inject_let_go(where));
	call_end(&death);
	call_end(&call);
	inject_clear();
	guest_destroy(&other);
}

void hold_mover(void)
{
	inject_anybody(true);
	inject_hold_entry("mover_run", 1, INJECT_BOUND_MS);
	inject_anybody(false);
}

void fill_at(struct placed_client *client, uint32_t at, uint64_t next, const struct bo *bo,
	     uint64_t value)
{
	const struct agate_compute_payload payload = {
		.op = AGATE_COMPUTE_FILL, .dst = bo->va, .size = bo->size, .value = value,
	};

	guest_job(&client->jobs, at, AGATE_JOB_COMPUTE, next, &payload, sizeof(payload));
}

/* Where the jobs are that write a BO again and again, and then once more. */
#define AGAIN		0x100
#define ONCE_MORE	0x200

void fill_again(struct placed_client *client, const struct bo *bo, uint64_t last)
{
	const uint32_t handles[] = { client->jobs.handle, bo->handle, client->seen.handle };
	const uint64_t va = client->jobs.va;
	const int64_t end = guest_deadline(10000);

	memset(client->seen.cpu, 0, PAGE);
	guest_job_write64(&client->jobs, 0, va + AGAIN, client->seen.va, 1);
	fill_at(client, AGAIN, va, bo, ~last);
	fill_at(client, ONCE_MORE, 0, bo, last);
	assert_int_equal(guest_submit(client->fd, va, 0, handles, 3, 0), 0);
	while (!*(volatile uint64_t *)client->seen.cpu)
		assert_true(guest_deadline(0) < end);
}

void fill_once_more(struct placed_client *client)
{
	volatile struct agate_job_header *again = (void *)((char *)client->jobs.cpu + AGAIN);

	again->next = client->jobs.va + ONCE_MORE;
}

void write_again(struct placed_client *client, const struct bo *bo)
{
	const uint32_t handles[] = { client->jobs.handle, bo->handle, client->seen.handle };
	const uint64_t va = client->jobs.va;
	const int64_t end = guest_deadline(10000);

	memset(client->seen.cpu, 0, PAGE);
	guest_job_write64(&client->jobs, 0, va + AGAIN, client->seen.va, 1);
	guest_job_write64(&client->jobs, AGAIN, va, bo->va, 1);
	guest_job_write64(&client->jobs, ONCE_MORE, 0, bo->va, 0x0e);
	assert_int_equal(guest_submit_bos(client->fd, va, AGATE_JD_REQ_FS, handles, NULL, 3, 0), 0);
	while (!*(volatile uint64_t *)client->seen.cpu)
		assert_true(guest_deadline(0) < end);
}
