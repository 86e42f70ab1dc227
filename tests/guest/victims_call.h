/* SPDX-License-Identifier: MIT */
/*
 * A call of another thread that needs memory, and what it may have to wait for.
 */
#ifndef AGATE_TESTS_VICTIMS_CALL_H
#define AGATE_TESTS_VICTIMS_CALL_H

#include <pthread.h>

#include "placed_client.h"

/* The size of the BOs that take VRAM from each other. */
#define SIZE		(8 * MIB)

struct call {
	pthread_t thread;
	struct placed_client *client;
	struct bo *bo;
	struct bo *other;
	int ret;
	bool ended;
};

/* A thread that waits has not got on after so long. */
#define A_WHILE_MS	100

/* For call_begin(): create call->bo in VRAM, or in system memory; fill it; destroy it. */
void *populate(void *call);
void *populate_system(void *call);
void *use(void *call);
void *destroy(void *call);

void call_begin(struct call *call, void *(*what)(void *));
bool call_ends_within(struct call *call, int64_t ms);
/* Wait for its end; fails the test when the call has failed. */
void call_end(struct call *call);

/*
 * A BO dies, and another client makes one in system memory or VRAM, as @populates says, which has
 * to wait until the first one has parked its memory: its thread is held in function @where.
 */
void call_waits_for_dying(struct placed_client *client, struct bo *dying, const char *where,
			  void *(*populates)(void *));

/* The next job of the mover waits for inject_let_go(). */
void hold_mover(void);

/* The client's job at this place of its jobs, which fills a BO. */
void fill_at(struct placed_client *client, uint32_t at, uint64_t next, const struct bo *bo,
	     uint64_t value);
/* A chain that fills a BO until fill_once_more(); it has begun. */
void fill_again(struct placed_client *client, const struct bo *bo, uint64_t last);
/* The same of its first word, and in slot 0: then slot 1 is free for others. */
void write_again(struct placed_client *client, const struct bo *bo);
void fill_once_more(struct placed_client *client);

#endif /* AGATE_TESTS_VICTIMS_CALL_H */
