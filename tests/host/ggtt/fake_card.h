/* SPDX-License-Identifier: MIT */
/*
 * A card with a global table, as far as the driver's GGTT code can see it, and the frame
 * around that code: the card caches entries, writes to GSM arrive late, and the port drops
 * what its buffer cannot hold.
 */
#ifndef AGATE_TEST_FAKE_CARD_H
#define AGATE_TEST_FAKE_CARD_H

#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <linux/errno.h>
#include <linux/limits.h>

#include "agate_card.h"
#include "agate_ggtt.h"
#include "agate_kmem.h"

#define PAGE		AGATE_GGTT_PAGE_SIZE
#define GROUP		AGATE_GGTT_GROUP_SIZE
#define KIB(n)		((u64)(n) << 10)
#define MIB(n)		((u64)(n) << 20)
#define RESERVED_MAX	MIB(8)
#define USABLE_END	0x0fe00000ull

/* An entry that nobody has written. */
#define NOISE		0xa5a5a5a5a5a5a5a5ull
/* Where the scratch page is. */
#define SCRATCH_VRAM	0x123000ull
#define SCRATCH_SYSTEM	0x45678000ull

#define assert_u64(a, b)	assert_int_equal((uintmax_t)(a), (uintmax_t)(b))

struct pending {
	u32 first;
	u32 count;
	u64 pte;
};

/**
 * struct card - the fake, and the driver's table of it
 * @table: what the card walks
 * @written: which entries have ever been written
 * @cached: entries that the card has read since the last INVALIDATE, and @is_cached
 * @pending: the port's buffer; a card with GSM keeps a write there until it is flushed
 * @commits: through the port, ever
 * @dropped: commits since SYNC was read last
 * @invalidates: how often that was written
 * @uses: references that keep it awake
 * @asleep: it is, so no register may be used
 * @gone: it is, too
 * @allowed: how many nodes and scratch pages may still be allocated; -1: any number
 * @nodes: allocated
 * @scratches: likewise
 * @queued: nodes for the worker
 * @inside: depth of enter()
 */
struct card {
	struct agate_ggtt ggtt;
	u64 table[AGATE_GGTT_NUM_ENTRIES];
	bool written[AGATE_GGTT_NUM_ENTRIES];
	u64 cached[AGATE_GGTT_NUM_ENTRIES];
	bool is_cached[AGATE_GGTT_NUM_ENTRIES];
	u32 features;
	u32 usable_end;
	u32 entries;
	u32 index;
	u32 lo;
	u64 last_pte;
	struct pending *pending;
	size_t pending_count;
	u64 commits;
	u32 dropped;
	unsigned int invalidates;
	int uses;
	bool asleep;
	bool gone;
	int allowed;
	int nodes;
	int scratches;
	struct list_head queued;
	int inside;
};

/* A card with these features; agate_ggtt_init_early() has not been called. */
struct card *card_new(u32 features);

/* Nothing may be left: no node, no scratch page, no reference. */
void card_free(struct card *card);

/* A card whose table is set up; the second kind has a scratch page. */
struct card *card_early(u32 features);
struct card *card_ready(u32 features);

/* The entry that an engine gets for a GGTT address: the cached one, if there is one. */
u64 card_use(struct card *card, u64 addr);

/* The entry in the table. */
u64 card_entry(const struct card *card, u64 addr);

/* Every entry of [start, start + size) is @pte. */
void assert_entries(const struct card *card, u64 start, u64 size, u64 pte);

/* The entries of kernel memory are right, in the table and in what an engine sees. */
void assert_mapped(struct card *card, const struct agate_kmem *kmem, u64 more);

/* The worker, once the card is awake or gone. */
void card_run_queue(struct card *card);

struct agate_ggtt_node *new_node(struct card *card);

/* Kernel memory without addresses. */
struct agate_kmem kmem_at(bool vram, u64 addr, u64 size);

u64 random_below(u64 *state, u64 limit);

#endif /* AGATE_TEST_FAKE_CARD_H */
