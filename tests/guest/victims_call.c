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

void hold_mover(void)
{
	inject_anybody(true);
	inject_hold_entry("mover_run", 1, INJECT_BOUND_MS);
	inject_anybody(false);
}
