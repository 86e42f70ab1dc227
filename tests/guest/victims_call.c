// SPDX-License-Identifier: MIT
/* A call of another thread, and what it may have to wait for; see victims_call.h. */
#include "victims_call.h"

#include "graded.h"

void *populate(void *arg)
{
	struct call *call = arg;

	call->ret = placed_create(call->client->fd, SIZE, AGATE_BO_POPULATE, VRAM,
				  AGATE_CACHING_WC, call->bo);
	__atomic_store_n(&call->ended, true, __ATOMIC_RELEASE);
	return NULL;
}

void *use(void *arg)
{
	struct call *call = arg;

	call->ret = placed_try_fill(call->client, call->bo, 0xca11);
	__atomic_store_n(&call->ended, true, __ATOMIC_RELEASE);
	return NULL;
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
