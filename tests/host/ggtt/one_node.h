/* SPDX-License-Identifier: MIT */
/*
 * The starting point of tests of one node: a card whose table is set up, and what they ask.
 */
#ifndef AGATE_TEST_ONE_NODE_H
#define AGATE_TEST_ONE_NODE_H

#include "fake_card.h"

#define MIDGARD		0u
#define BIFROST		(CARD_FEATURE_GGTT_PORT | CARD_FEATURE_GGTT_PAT)

static inline int ready(void **state)
{
	*state = card_ready((u32)(uintptr_t)*state);
	return 0;
}

static inline int done(void **state)
{
	card_free(*state);
	return 0;
}

/* PAT bits that entries of VRAM have. */
static inline u64 pat(const struct card *card)
{
	return card->features & CARD_FEATURE_GGTT_PAT ? 1ull << 52 : 0;
}

static inline u64 scratch(const struct card *card)
{
	return card->ggtt.scratch_pte;
}

/* Insert, wherever. */
static inline u64 insert(struct card *card, struct agate_kmem *kmem)
{
	assert_int_equal(agate_ggtt_insert(&card->ggtt, kmem, 0, U64_MAX), 0);
	assert_int_equal(card->uses, 0);
	return agate_ggtt_node_start(kmem->node);
}

/* Can somebody else have exactly these addresses? */
static inline bool is_free(struct card *card, u64 start, u64 size)
{
	struct agate_ggtt_node *node = new_node(card);
	int ret = agate_ggtt_node_insert_balloon(node, start, start + size);

	agate_ggtt_node_remove_balloon(node);
	agate_ggtt_node_fini(node);
	return !ret;
}

#endif /* AGATE_TEST_ONE_NODE_H */
