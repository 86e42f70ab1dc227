// SPDX-License-Identifier: MIT
/*
 * agate_ggtt.c, the table as a whole: entries of both platforms, the port's buffer, early and
 * full init, the scratch page, the firmware's addresses, what is free, two cards.
 */
#include "fake_card.h"

#define MIDGARD		0u
#define BIFROST		(CARD_FEATURE_GGTT_PORT | CARD_FEATURE_GGTT_PAT)

static u64 scratch_pte(const struct card *card)
{
	u64 pte = SCRATCH_VRAM | AGATE_GGTT_PRESENT | AGATE_GGTT_VRAM;

	if (card->features & CARD_FEATURE_GGTT_64K)
		pte = SCRATCH_SYSTEM | AGATE_GGTT_PRESENT;
	else if (card->features & CARD_FEATURE_GGTT_PAT)
		pte |= AGATE_GGTT_PAT(AGATE_GGTT_PAT_WC);
	return pte;
}

/* ---- Entries ---------------------------------------------------------- */

static void check_entries(u32 features, u64 vram_pat, u64 system_pat)
{
	struct card *card = card_ready(features);
	struct agate_kmem vram = kmem_at(true, 0x2345000, 3 * PAGE);
	struct agate_kmem system = kmem_at(false, 0xfedcba9000, 2 * PAGE);

	assert_int_equal(agate_ggtt_insert(&card->ggtt, &vram, 0, U64_MAX), 0);
	assert_int_equal(agate_ggtt_insert(&card->ggtt, &system, 0, U64_MAX), 0);
	assert_mapped(card, &vram, vram_pat);
	assert_mapped(card, &system, system_pat);
	agate_ggtt_node_remove(vram.node, true);
	agate_ggtt_node_remove(system.node, true);
	card_free(card);
}

static void test_midgard_entries(void **state)
{
	(void)state;
	check_entries(MIDGARD, 0, 0);
}

static void test_bifrost_entries(void **state)
{
	(void)state;
	check_entries(BIFROST, 1ull << 52, 0);
	/* Where there are no PAT bits, they are reserved. */
	check_entries(CARD_FEATURE_GGTT_PORT, 0, 0);
	check_entries(CARD_FEATURE_GGTT_PAT, 0, 0);
}

/* More entries than the port's buffer holds, one at a time; none is dropped. */
static void test_port(void **state)
{
	struct card *card = card_ready(BIFROST);
	struct agate_kmem kmem[3];
	size_t i;

	(void)state;
	for (i = 0; i < 3; i++) {
		kmem[i] = kmem_at(true, MIB(i), (63 + i) * PAGE);
		assert_int_equal(agate_ggtt_insert(&card->ggtt, &kmem[i], 0, U64_MAX), 0);
	}
	for (i = 0; i < 3; i++) {
		assert_mapped(card, &kmem[i], 1ull << 52);
		agate_ggtt_node_remove(kmem[i].node, false);
	}
	assert_u64(card->ggtt.dropped + card->dropped, 0);
	card_free(card);
}

/* Commits that somebody else's bug has dropped are counted. */
static void test_dropped(void **state)
{
	struct card *card = card_ready(BIFROST);
	struct agate_kmem kmem = kmem_at(true, 0, PAGE);

	(void)state;
	card->dropped = 3;
	assert_int_equal(agate_ggtt_insert(&card->ggtt, &kmem, 0, U64_MAX), 0);
	assert_u64(card->ggtt.dropped, 3);
	card->ggtt.dropped = 0;
	agate_ggtt_node_remove(kmem.node, true);
	card_free(card);
}

/* A hole of the same entries takes a REPEAT, not a commit for each page. */
static void test_repeat(void **state)
{
	struct card *card = card_ready(BIFROST);
	u64 commits = card->commits;
	struct agate_kmem kmem = kmem_at(true, 0, MIB(2));

	(void)state;
	assert_true(commits <= 2);
	assert_int_equal(agate_ggtt_insert(&card->ggtt, &kmem, 0, U64_MAX), 0);
	commits = card->commits;
	agate_ggtt_node_remove(kmem.node, true);
	assert_true(card->commits <= commits + 2);
	card_free(card);
}

/* ---- Init ------------------------------------------------------------- */

static void test_early(void **state)
{
	struct card *card = card_early((u32)(uintptr_t)*state);
	struct agate_ggtt *g = &card->ggtt;
	struct agate_ggtt_node *node = new_node(card);
	u32 i;

	assert_u64(g->start, RESERVED_MAX);
	assert_u64(g->end, USABLE_END);
	assert_null(g->scratch);
	assert_int_equal(agate_ggtt_node_insert(node, USABLE_END - RESERVED_MAX, 0,
						AGATE_RANGE_LOW), 0);
	assert_u64(agate_ggtt_node_start(node), RESERVED_MAX);
	for (i = 0; i < AGATE_GGTT_NUM_ENTRIES; i++)
		assert_false(card->written[i]);
	assert_int_equal(card->invalidates, 0);
	/* Without a scratch page an address that goes leads nowhere. */
	agate_ggtt_node_remove(node, true);
	assert_entries(card, RESERVED_MAX, USABLE_END - RESERVED_MAX, 0);
	card_free(card);
}

static void test_early_window(void **state)
{
	struct card *card = card_new((u32)(uintptr_t)*state);

	card->entries = MIB(64) / PAGE;
	assert_int_equal(agate_ggtt_init_early(&card->ggtt), 0);
	assert_u64(card->ggtt.end, MIB(64));
	card->entries = AGATE_GGTT_NUM_ENTRIES;
	card->usable_end = MIB(16) + PAGE + 17;
	assert_int_equal(agate_ggtt_init_early(&card->ggtt), 0);
	assert_u64(card->ggtt.end, MIB(16) + PAGE);
	card_free(card);
}

static void test_early_refused(void **state)
{
	struct card *card = card_new((u32)(uintptr_t)*state);

	card->usable_end = RESERVED_MAX;
	assert_int_equal(agate_ggtt_init_early(&card->ggtt), -ENODEV);
	card->usable_end = USABLE_END;
	card->entries = 0;
	assert_int_equal(agate_ggtt_init_early(&card->ggtt), -ENODEV);
	card_free(card);
}

/* Somebody was there before: his entries stay, also those that this driver did not write. */
static void test_init(void **state)
{
	struct card *card = card_early((u32)(uintptr_t)*state);
	struct agate_ggtt *g = &card->ggtt;
	struct agate_kmem kmem = kmem_at(false, 0x7000000, 8 * PAGE);
	struct agate_ggtt_node *shown = new_node(card);
	u64 end;

	assert_int_equal(agate_ggtt_insert(g, &kmem, 0, U64_MAX), 0);
	assert_int_equal(agate_ggtt_node_insert_balloon(shown, MIB(32), MIB(40)), 0);
	end = agate_ggtt_node_start(kmem.node) + kmem.size;
	assert_u64(card_use(card, MIB(64)), NOISE);
	assert_int_equal(agate_ggtt_init(g), 0);
	assert_mapped(card, &kmem, 0);
	assert_entries(card, MIB(32), MIB(8), NOISE);
	assert_entries(card, RESERVED_MAX, agate_ggtt_node_start(kmem.node) - RESERVED_MAX,
		       scratch_pte(card));
	assert_entries(card, end, MIB(32) - end, scratch_pte(card));
	assert_entries(card, MIB(40), USABLE_END - MIB(40), scratch_pte(card));
	/* The card had cached what was there before. */
	assert_u64(card_use(card, MIB(64)), scratch_pte(card));
	agate_ggtt_node_remove_balloon(shown);
	agate_ggtt_node_fini(shown);
	agate_ggtt_node_remove(kmem.node, true);
	card_free(card);
}

static void test_init_no_memory(void **state)
{
	struct card *card = card_early((u32)(uintptr_t)*state);
	u32 i;

	card->allowed = 0;
	assert_int_equal(agate_ggtt_init(&card->ggtt), -ENOMEM);
	assert_null(card->ggtt.scratch);
	for (i = 0; i < AGATE_GGTT_NUM_ENTRIES; i++)
		assert_false(card->written[i]);
	card_free(card);
}

/* A single page of VRAM would be a torn group. */
static void test_scratch_64k(void **state)
{
	struct card *card = card_ready((u32)(uintptr_t)*state | CARD_FEATURE_GGTT_64K);

	assert_false(card->ggtt.scratch->vram);
	assert_entries(card, RESERVED_MAX, USABLE_END - RESERVED_MAX, scratch_pte(card));
	card_free(card);
}

static void test_fini(void **state)
{
	struct card *card = card_ready((u32)(uintptr_t)*state);
	struct agate_ggtt_node *node = new_node(card);

	assert_int_equal(agate_ggtt_node_insert(node, PAGE, 0, AGATE_RANGE_LOW), 0);
	assert_int_equal(agate_ggtt_fini(&card->ggtt), -EBUSY);
	assert_non_null(card->ggtt.scratch);
	agate_ggtt_node_remove(node, true);
	assert_u64(card_use(card, MIB(9)), scratch_pte(card));
	assert_int_equal(agate_ggtt_fini(&card->ggtt), 0);
	assert_u64(card_use(card, MIB(9)), 0);
	assert_null(card->ggtt.scratch);
	card_free(card);
}

static void test_fini_gone(void **state)
{
	struct card *card = card_ready((u32)(uintptr_t)*state);

	card->gone = true;
	card_free(card);
}

/* ---- The firmware's addresses ----------------------------------------- */

/* Kernel memory with its addresses, or addresses alone. */
struct taken {
	struct agate_kmem kmem;
	struct agate_ggtt_node *alone;
};

static u64 take_kmem(struct card *card, struct taken *taken, bool vram, u64 addr, u64 bytes)
{
	taken->kmem = kmem_at(vram, addr, bytes);
	if (agate_ggtt_insert(&card->ggtt, &taken->kmem, 0, U64_MAX))
		return 0;
	return agate_ggtt_node_start(taken->kmem.node);
}

static u64 take_alone(struct card *card, struct taken *taken, u64 align, u64 bytes,
		      enum agate_range_mode mode)
{
	u64 start;

	taken->alone = new_node(card);
	if (agate_ggtt_node_insert(taken->alone, bytes, align, mode)) {
		agate_ggtt_node_fini(taken->alone);
		taken->alone = NULL;
		return 0;
	}
	start = agate_ggtt_node_start(taken->alone);
	assert_u64(start % align, 0);
	return start;
}

/* Return: false: there is no room. */
static bool take(struct card *card, struct taken *taken, u64 *random, u64 size, u64 align)
{
	const u64 bytes = PAGE * (1 + random_below(random, size / PAGE));
	const u64 addr = MIB(1 + random_below(random, 4096));
	const bool vram = random_below(random, 2);
	const enum agate_range_mode mode = random_below(random, 3);
	u64 start;

	*taken = (struct taken) { 0 };
	if (random_below(random, 2))
		start = take_alone(card, taken, align, bytes, mode);
	else
		start = take_kmem(card, taken, vram, addr, bytes);
	if (start)
		assert_in_range(start, RESERVED_MAX, USABLE_END - bytes);
	return start;
}

/* Nobody has written to entries that are another one's. */
static void give_back(struct card *card, struct taken *taken, bool invalidate)
{
	const bool pat = card->features & CARD_FEATURE_GGTT_PAT;

	if (taken->alone) {
		agate_ggtt_node_remove(taken->alone, invalidate);
		return;
	}
	assert_mapped(card, &taken->kmem, taken->kmem.vram && pat ? 1ull << 52 : 0);
	agate_ggtt_node_remove(taken->kmem.node, invalidate);
}

/*
 * Fill the table with nodes of all sizes and alignments: none may have an address of the
 * firmware, which card_free() looks at, too.
 */
static void test_windows(void **state)
{
	struct card *card = card_ready((u32)(uintptr_t)*state);
	struct taken *taken = calloc(4096, sizeof(*taken));
	u64 random = 4711, size, align;
	size_t count = 0, i;

	assert_non_null(taken);
	for (size = MIB(64); size; size = size == PAGE ? 0 : size / 2) {
		for (;;) {
			assert_true(count < 4095);
			align = PAGE << random_below(&random, 13);
			if (take(card, &taken[count], &random, size, align))
				count++;
			else if (align == PAGE)
				break;
		}
	}
	/* The smallest ones took all that was left. */
	assert_u64(agate_ggtt_largest_hole(&card->ggtt, PAGE, NULL), 0);
	for (i = 0; i < count; i++)
		give_back(card, &taken[i], i % 2);
	assert_entries(card, RESERVED_MAX, USABLE_END - RESERVED_MAX, scratch_pte(card));
	free(taken);
	card_free(card);
}

/* ---- What is free ----------------------------------------------------- */

struct seen {
	size_t count;
	u64 start[8];
	u64 size[8];
};

static void see_hole(void *arg, u64 start, u64 size)
{
	struct seen *seen = arg;

	assert_true(seen->count < 8);
	seen->start[seen->count] = start;
	seen->size[seen->count++] = size;
}

static void see_node(void *arg, const struct agate_ggtt_node *node)
{
	see_hole(arg, agate_ggtt_node_start(node), agate_ggtt_node_size(node));
}

/* Holes of 5 and 3 pages, 64 KiB and a page, and the rest up to 16 MiB. */
static void leave_holes(struct card *card, struct agate_ggtt_node *nodes[4])
{
	static const u64 balloons[4][2] = {
		{ RESERVED_MAX + 5 * PAGE, RESERVED_MAX + 6 * PAGE },
		{ RESERVED_MAX + 9 * PAGE, RESERVED_MAX + GROUP - PAGE },
		{ RESERVED_MAX + 2 * GROUP, RESERVED_MAX + 3 * GROUP },
		{ RESERVED_MAX + 7 * GROUP, USABLE_END },
	};
	size_t i;

	for (i = 0; i < 4; i++) {
		nodes[i] = new_node(card);
		assert_int_equal(agate_ggtt_node_insert_balloon(nodes[i], balloons[i][0],
								balloons[i][1]), 0);
	}
}

static void remove_all(struct agate_ggtt_node *nodes[4])
{
	size_t i;

	for (i = 0; i < 4; i++) {
		agate_ggtt_node_remove_balloon(nodes[i]);
		agate_ggtt_node_fini(nodes[i]);
	}
}

static void test_holes(void **state)
{
	struct card *card = card_ready((u32)(uintptr_t)*state);
	struct agate_ggtt_node *nodes[4];
	struct seen seen = { 0 };

	leave_holes(card, nodes);
	assert_u64(agate_ggtt_holes(&card->ggtt, PAGE, see_hole, &seen), 25 * PAGE + 4 * GROUP);
	assert_int_equal(seen.count, 4);
	assert_u64(seen.start[0], RESERVED_MAX);
	assert_u64(seen.size[0], 5 * PAGE);
	assert_u64(seen.start[2], RESERVED_MAX + GROUP - PAGE);
	assert_u64(seen.size[2], 17 * PAGE);
	seen.count = 0;
	assert_u64(agate_ggtt_holes(&card->ggtt, GROUP, see_hole, &seen), 5 * GROUP);
	assert_int_equal(seen.count, 2);
	assert_u64(seen.start[0], RESERVED_MAX + GROUP);
	assert_u64(seen.size[0], GROUP);
	assert_u64(seen.start[1], RESERVED_MAX + 3 * GROUP);
	remove_all(nodes);
	card_free(card);
}

static void test_largest_hole(void **state)
{
	struct card *card = card_ready((u32)(uintptr_t)*state);
	struct agate_ggtt *g = &card->ggtt;
	struct agate_ggtt_node *nodes[4];
	u64 spare;

	leave_holes(card, nodes);
	assert_u64(agate_ggtt_largest_hole(g, PAGE, NULL), 4 * GROUP);
	assert_u64(agate_ggtt_largest_hole(g, MIB(1), NULL), 0);
	/* The others have 5, 3 and 17 pages. */
	spare = 30 * PAGE;
	assert_u64(agate_ggtt_largest_hole(g, PAGE, &spare), 4 * GROUP);
	assert_u64(spare, 5 * PAGE);
	spare = 10 * PAGE;
	assert_u64(agate_ggtt_largest_hole(g, PAGE, &spare), 4 * GROUP);
	assert_u64(spare, 0);
	/* Aligned, there is one other, of a group. */
	spare = 30 * PAGE;
	assert_u64(agate_ggtt_largest_hole(g, GROUP, &spare), 4 * GROUP);
	assert_u64(spare, 14 * PAGE);
	remove_all(nodes);
	/* A single hole leaves nothing for others. */
	spare = PAGE;
	assert_u64(agate_ggtt_largest_hole(g, PAGE, &spare), USABLE_END - RESERVED_MAX);
	assert_u64(spare, PAGE);
	card_free(card);
}

static void test_dump(void **state)
{
	struct card *card = card_ready((u32)(uintptr_t)*state);
	struct agate_ggtt_node *nodes[4];
	struct seen seen = { 0 };

	agate_ggtt_dump(&card->ggtt, see_node, &seen);
	assert_int_equal(seen.count, 0);
	leave_holes(card, nodes);
	agate_ggtt_dump(&card->ggtt, see_node, &seen);
	assert_int_equal(seen.count, 4);
	assert_u64(seen.start[0], RESERVED_MAX + 5 * PAGE);
	assert_u64(seen.size[0], PAGE);
	assert_u64(seen.start[3], RESERVED_MAX + 7 * GROUP);
	remove_all(nodes);
	card_free(card);
}

/* ---- Two cards -------------------------------------------------------- */

static void test_two_cards(void **state)
{
	struct card *a = card_ready(MIDGARD);
	struct card *b = card_ready(BIFROST | CARD_FEATURE_GGTT_64K);
	struct agate_kmem on_a = kmem_at(true, PAGE, PAGE);
	struct agate_kmem on_b = kmem_at(true, GROUP, GROUP);
	unsigned int invalidates = b->invalidates;

	(void)state;
	assert_int_equal(agate_ggtt_insert(&a->ggtt, &on_a, 0, U64_MAX), 0);
	assert_int_equal(b->invalidates, invalidates);
	assert_int_equal(agate_ggtt_insert(&b->ggtt, &on_b, 0, U64_MAX), 0);
	assert_mapped(a, &on_a, 0);
	assert_mapped(b, &on_b, 1ull << 52);
	/* One goes with all it has; the other does not notice. */
	a->gone = true;
	agate_ggtt_node_remove(on_a.node, true);
	card_free(a);
	assert_mapped(b, &on_b, 1ull << 52);
	agate_ggtt_node_remove(on_b.node, true);
	assert_entries(b, RESERVED_MAX, USABLE_END - RESERVED_MAX, scratch_pte(b));
	card_free(b);
}

#define ON(test, features) \
	cmocka_unit_test_prestate(test, (void *)(uintptr_t)(features))
#define BOTH(test)	ON(test, MIDGARD), ON(test, BIFROST)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_midgard_entries),
		cmocka_unit_test(test_bifrost_entries),
		cmocka_unit_test(test_port),
		cmocka_unit_test(test_dropped),
		cmocka_unit_test(test_repeat),
		BOTH(test_early),
		BOTH(test_early_window),
		BOTH(test_early_refused),
		BOTH(test_init),
		BOTH(test_init_no_memory),
		BOTH(test_scratch_64k),
		BOTH(test_fini),
		BOTH(test_fini_gone),
		BOTH(test_windows),
		BOTH(test_holes),
		BOTH(test_largest_hole),
		BOTH(test_dump),
		cmocka_unit_test(test_two_cards),
	};

	return cmocka_run_group_tests_name("ggtt_table", tests, NULL, NULL);
}
