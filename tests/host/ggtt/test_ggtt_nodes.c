// SPDX-License-Identifier: MIT
/*
 * agate_ggtt.c, one node: how it gets addresses, and what their entries say.
 */
#include "one_node.h"

/* ---- Insert ----------------------------------------------------------- */

/* The card may have cached the scratch page's entry. */
static void test_insert(void **state)
{
	struct card *card = *state;
	struct agate_kmem kmem = kmem_at(true, 0x40000, 5 * PAGE);
	u64 addr;

	for (addr = RESERVED_MAX; addr < MIB(9); addr += PAGE)
		assert_u64(card_use(card, addr), scratch(card));
	addr = insert(card, &kmem);
	assert_in_range(addr, RESERVED_MAX, USABLE_END - kmem.size);
	assert_mapped(card, &kmem, pat(card));
	/* Its neighbours stay as they were. */
	assert_entries(card, addr + kmem.size, 16 * PAGE, scratch(card));
	agate_ggtt_node_remove(kmem.node, true);
}

/* In the smallest hole in which it fits. */
static void test_insert_best(void **state)
{
	struct card *card = *state;
	struct agate_ggtt_node *a = new_node(card), *b = new_node(card);
	struct agate_kmem kmem = kmem_at(false, 0, 3 * PAGE);

	assert_int_equal(agate_ggtt_node_insert_balloon(a, RESERVED_MAX + 8 * PAGE, MIB(16)), 0);
	assert_int_equal(agate_ggtt_node_insert_balloon(b, MIB(16) + 4 * PAGE, MIB(32)), 0);
	assert_u64(insert(card, &kmem), MIB(16));
	agate_ggtt_node_remove(kmem.node, true);
	agate_ggtt_node_remove_balloon(a);
	agate_ggtt_node_remove_balloon(b);
	agate_ggtt_node_fini(a);
	agate_ggtt_node_fini(b);
}

static void test_insert_at(void **state)
{
	struct card *card = *state;
	struct agate_ggtt *g = &card->ggtt;
	struct agate_kmem a = kmem_at(false, 0, 2 * PAGE), b = kmem_at(false, MIB(1), PAGE);

	assert_int_equal(agate_ggtt_insert(g, &a, MIB(20), MIB(20) + 2 * PAGE - 1), -ENOSPC);
	assert_int_equal(agate_ggtt_insert(g, &a, MIB(20), MIB(20) + 2 * PAGE), 0);
	assert_u64(agate_ggtt_node_start(a.node), MIB(20));
	assert_int_equal(agate_ggtt_insert(g, &b, MIB(20), MIB(20) + 2 * PAGE), -ENOSPC);
	assert_null(b.node);
	assert_int_equal(agate_ggtt_insert(g, &b, MIB(20) - PAGE, MIB(20) + 2 * PAGE), 0);
	assert_u64(agate_ggtt_node_start(b.node), MIB(20) - PAGE);
	agate_ggtt_node_remove(a.node, true);
	agate_ggtt_node_remove(b.node, true);
}

static void test_insert_again(void **state)
{
	struct card *card = *state;
	struct agate_kmem kmem = kmem_at(true, 0, MIB(1));
	u64 addr = insert(card, &kmem);
	struct agate_ggtt_node *node = kmem.node;
	unsigned int invalidates = card->invalidates;
	u64 commits = card->commits;

	assert_int_equal(agate_ggtt_insert(&card->ggtt, &kmem, MIB(100), MIB(110)), 0);
	assert_ptr_equal(kmem.node, node);
	assert_u64(agate_ggtt_node_start(node), addr);
	assert_int_equal(card->nodes, 1);
	assert_int_equal(card->invalidates, invalidates);
	assert_u64(card->commits, commits);
	agate_ggtt_node_remove(node, true);
}

static void test_insert_wakes(void **state)
{
	struct card *card = *state;
	struct agate_kmem kmem = kmem_at(true, 0, PAGE);

	card->asleep = true;
	insert(card, &kmem);
	assert_mapped(card, &kmem, pat(card));
	agate_ggtt_node_remove(kmem.node, true);
}

static void test_insert_refused(void **state)
{
	static const struct {
		u64 addr, size, start, end;
		int ret;
	} cases[] = {
		{ 0, 0, 0, U64_MAX, -EINVAL },
		{ 0, PAGE + 1, 0, U64_MAX, -EINVAL },
		{ 64, PAGE, 0, U64_MAX, -EINVAL },
		{ 0, PAGE, MIB(16), MIB(16), -EINVAL },
		{ 0, PAGE, MIB(17), MIB(16), -EINVAL },
		{ 0, PAGE, 0, 0, -EINVAL },
		{ 0, MIB(256), 0, U64_MAX, -ENOSPC },
		{ 0, PAGE, 0, RESERVED_MAX, -ENOSPC },
		{ 0, PAGE, USABLE_END, U64_MAX, -ENOSPC },
		{ 0, 2 * PAGE, MIB(16), MIB(16) + PAGE, -ENOSPC },
	};
	struct card *card = *state;
	size_t i;

	for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct agate_kmem kmem = kmem_at(true, cases[i].addr, cases[i].size);

		assert_int_equal(agate_ggtt_insert(&card->ggtt, &kmem, cases[i].start,
						   cases[i].end), cases[i].ret);
		assert_null(kmem.node);
		assert_int_equal(card->nodes, 0);
		assert_int_equal(card->uses, 0);
		assert_int_equal(card->inside, 0);
		assert_false(card->ggtt.lock.locked);
	}
	assert_true(is_free(card, RESERVED_MAX, USABLE_END - RESERVED_MAX));
}

static void test_insert_no_memory(void **state)
{
	struct card *card = *state;
	struct agate_kmem kmem = kmem_at(true, 0, PAGE);

	card->allowed = 0;
	assert_int_equal(agate_ggtt_insert(&card->ggtt, &kmem, 0, U64_MAX), -ENOMEM);
	assert_null(kmem.node);
	assert_int_equal(card->uses, 0);
	assert_int_equal(card->inside, 0);
	assert_null(agate_ggtt_node_init(&card->ggtt));
	card->allowed = -1;
}

static void test_insert_gone(void **state)
{
	struct card *card = *state;
	struct agate_kmem kmem = kmem_at(true, 0, PAGE);

	card->gone = true;
	assert_int_equal(agate_ggtt_insert(&card->ggtt, &kmem, 0, U64_MAX), -ENODEV);
	assert_null(kmem.node);
	assert_int_equal(card->nodes, 0);
}

static void test_insert_groups(void **state)
{
	struct card *card = *state;
	struct agate_kmem vram = kmem_at(true, MIB(1), 2 * GROUP);
	struct agate_kmem system = kmem_at(false, MIB(1) + PAGE, PAGE);
	struct agate_kmem small = kmem_at(true, MIB(2), PAGE);
	struct agate_kmem shifted = kmem_at(true, MIB(2) + PAGE, GROUP);

	insert(card, &system);
	assert_u64(insert(card, &vram) % GROUP, 0);
	assert_mapped(card, &vram, pat(card));
	assert_mapped(card, &system, 0);
	/* A part of a group would be torn. */
	assert_int_equal(agate_ggtt_insert(&card->ggtt, &small, 0, U64_MAX), -EINVAL);
	assert_int_equal(agate_ggtt_insert(&card->ggtt, &shifted, 0, U64_MAX), -EINVAL);
	agate_ggtt_node_remove(vram.node, true);
	agate_ggtt_node_remove(system.node, true);
}

/* The card has lost its table. */
static void test_map(void **state)
{
	struct card *card = *state;
	struct agate_kmem a = kmem_at(true, MIB(3), 70 * PAGE), b = kmem_at(false, 0, PAGE);
	u64 addr = insert(card, &a);
	int i;

	assert_int_equal(agate_ggtt_assign(a.node, 5), 0);
	memset(card->table, 0xa5, sizeof(card->table));
	memset(card->is_cached, 0, sizeof(card->is_cached));
	assert_u64(card_use(card, addr), NOISE);
	for (i = 0; i < 2; i++) {
		agate_ggtt_map(&card->ggtt, &a);
		assert_u64(agate_ggtt_node_start(a.node), addr);
		assert_mapped(card, &a, pat(card) | AGATE_GGTT_VF(5));
	}
	assert_entries(card, addr + a.size, 16 * PAGE, NOISE);
	/* Memory without addresses. */
	agate_ggtt_map(&card->ggtt, &b);
	assert_null(b.node);
	agate_ggtt_node_remove(a.node, true);
}

/* ---- Nodes without memory --------------------------------------------- */

static void test_node_insert(void **state)
{
	struct card *card = *state;
	struct agate_ggtt_node *node = new_node(card), *low = new_node(card);
	u64 commits = card->commits;

	assert_int_equal(agate_ggtt_node_insert(node, 3 * PAGE, 0, AGATE_RANGE_HIGH), 0);
	assert_true(agate_ggtt_node_allocated(node));
	assert_u64(agate_ggtt_node_start(node), USABLE_END - 3 * PAGE);
	assert_u64(agate_ggtt_node_size(node), 3 * PAGE);
	assert_int_equal(agate_ggtt_node_insert(node, PAGE, 0, AGATE_RANGE_HIGH), -EBUSY);
	assert_int_equal(agate_ggtt_node_insert(low, PAGE, 16, AGATE_RANGE_LOW), 0);
	assert_u64(agate_ggtt_node_start(low), RESERVED_MAX);
	assert_u64(card->commits, commits);
	assert_entries(card, USABLE_END - 3 * PAGE, 3 * PAGE, scratch(card));
	agate_ggtt_node_remove(node, false);
	node = new_node(card);
	assert_int_equal(agate_ggtt_node_insert(node, PAGE, MIB(1), AGATE_RANGE_LOW), 0);
	assert_u64(agate_ggtt_node_start(node), MIB(9));
	agate_ggtt_node_remove(node, false);
	agate_ggtt_node_remove(low, false);
}

static void test_node_insert_refused(void **state)
{
	struct card *card = *state;
	struct agate_ggtt_node *node = new_node(card);

	assert_int_equal(agate_ggtt_node_insert(node, 0, 0, AGATE_RANGE_LOW), -EINVAL);
	assert_int_equal(agate_ggtt_node_insert(node, PAGE - 1, 0, AGATE_RANGE_LOW), -EINVAL);
	assert_int_equal(agate_ggtt_node_insert(node, PAGE, 3 * PAGE, AGATE_RANGE_LOW), -EINVAL);
	assert_int_equal(agate_ggtt_node_insert(node, MIB(256), 0, AGATE_RANGE_LOW), -ENOSPC);
	assert_false(agate_ggtt_node_allocated(node));
	agate_ggtt_node_fini(node);
}

static void test_balloon(void **state)
{
	struct card *card = *state;
	struct agate_ggtt_node *node = new_node(card);
	struct agate_kmem kmem = kmem_at(false, 0, MIB(1));
	u64 commits = card->commits;
	u64 addr;

	card->table[MIB(16) / PAGE] = NOISE;
	assert_int_equal(agate_ggtt_node_insert_balloon(node, MIB(16), MIB(20)), 0);
	assert_u64(agate_ggtt_node_start(node), MIB(16));
	assert_u64(agate_ggtt_node_size(node), MIB(4));
	assert_int_equal(agate_ggtt_insert(&card->ggtt, &kmem, MIB(15) + PAGE, MIB(21) - PAGE),
			 -ENOSPC);
	assert_false(is_free(card, MIB(20) - PAGE, PAGE));
	assert_true(is_free(card, MIB(20), PAGE));
	agate_ggtt_node_remove_balloon(node);
	agate_ggtt_node_remove_balloon(node);
	assert_false(agate_ggtt_node_allocated(node));
	assert_true(is_free(card, MIB(16), MIB(4)));
	/* Neither of them has written an entry. */
	assert_u64(card->commits, commits);
	assert_u64(card_entry(card, MIB(16)), NOISE);
	for (addr = MIB(16) + PAGE; addr < MIB(20); addr += PAGE)
		assert_u64(card_entry(card, addr), scratch(card));
	/* The node can be used again. */
	assert_int_equal(agate_ggtt_node_insert_balloon(node, MIB(30), MIB(31)), 0);
	agate_ggtt_node_remove_balloon(node);
	agate_ggtt_node_fini(node);
}

static void test_balloon_refused(void **state)
{
	struct card *card = *state;
	struct agate_ggtt_node *node = new_node(card), *other = new_node(card);

	assert_int_equal(agate_ggtt_node_insert_balloon(node, MIB(16), MIB(17)), 0);
	assert_int_equal(agate_ggtt_node_insert_balloon(node, MIB(18), MIB(19)), -EBUSY);
	assert_int_equal(agate_ggtt_node_insert_balloon(other, MIB(18), MIB(18)), -EINVAL);
	assert_int_equal(agate_ggtt_node_insert_balloon(other, MIB(19), MIB(18)), -EINVAL);
	assert_int_equal(agate_ggtt_node_insert_balloon(other, MIB(19), 0), -EINVAL);
	assert_int_equal(agate_ggtt_node_insert_balloon(other, MIB(18) + 1, MIB(19)), -EINVAL);
	assert_int_equal(agate_ggtt_node_insert_balloon(other, MIB(18), MIB(19) + 1), -EINVAL);
	assert_int_equal(agate_ggtt_node_insert_balloon(other, MIB(17) - PAGE, MIB(18)), -ENOSPC);
	assert_int_equal(agate_ggtt_node_insert_balloon(other, MIB(7), MIB(9)), -ENOSPC);
	assert_int_equal(agate_ggtt_node_insert_balloon(other, MIB(253), MIB(255)), -ENOSPC);
	agate_ggtt_node_fini(other);
	agate_ggtt_node_remove_balloon(node);
	agate_ggtt_node_fini(node);
}

#define ON(test, setup, features) \
	cmocka_unit_test_prestate_setup_teardown(test, setup, done, (void *)(uintptr_t)(features))
#define BOTH(test)	ON(test, ready, MIDGARD), ON(test, ready, BIFROST)
#define GROUPS(test)	ON(test, ready, MIDGARD | CARD_FEATURE_GGTT_64K), \
			ON(test, ready, BIFROST | CARD_FEATURE_GGTT_64K)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(test_insert),
		BOTH(test_insert_best),
		BOTH(test_insert_at),
		BOTH(test_insert_again),
		BOTH(test_insert_wakes),
		BOTH(test_insert_refused),
		BOTH(test_insert_no_memory),
		BOTH(test_insert_gone),
		GROUPS(test_insert_groups),
		BOTH(test_map),
		BOTH(test_node_insert),
		BOTH(test_node_insert_refused),
		BOTH(test_balloon),
		BOTH(test_balloon_refused),
	};

	return cmocka_run_group_tests_name("ggtt_nodes", tests, NULL, NULL);
}
