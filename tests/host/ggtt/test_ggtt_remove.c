// SPDX-License-Identifier: MIT
/*
 * agate_ggtt.c, one node: who may use its addresses, and how they go: at once, later, or with
 * the card.
 */
#include "one_node.h"

static int early(void **state)
{
	*state = card_early((u32)(uintptr_t)*state);
	return 0;
}

/* ---- Remove ----------------------------------------------------------- */

static void test_remove(void **state)
{
	struct card *card = *state;
	struct agate_kmem kmem = kmem_at(true, 0, 9 * PAGE);
	u64 addr = insert(card, &kmem), i;

	assert_mapped(card, &kmem, pat(card));
	agate_ggtt_node_remove(kmem.node, true);
	assert_null(kmem.node);
	assert_entries(card, addr, 9 * PAGE, scratch(card));
	for (i = 0; i < 9; i++)
		assert_u64(card_use(card, addr + i * PAGE), scratch(card));
	assert_true(is_free(card, addr, 9 * PAGE));
	assert_int_equal(card->nodes, 0);
	assert_int_equal(card->uses, 0);
	assert_int_equal(card->inside, 0);
}

static void test_remove_without_invalidate(void **state)
{
	struct card *card = *state;
	struct agate_ggtt_node *node = new_node(card);
	unsigned int invalidates = card->invalidates;

	assert_int_equal(agate_ggtt_node_insert(node, PAGE, 0, AGATE_RANGE_LOW), 0);
	agate_ggtt_node_remove(node, false);
	assert_int_equal(card->invalidates, invalidates);
	assert_entries(card, RESERVED_MAX, PAGE, scratch(card));
}

/* Before there is a scratch page. */
static void test_remove_early(void **state)
{
	struct card *card = *state;
	struct agate_kmem kmem = kmem_at(true, 0, 2 * PAGE);
	u64 addr = insert(card, &kmem);

	assert_mapped(card, &kmem, pat(card));
	agate_ggtt_node_remove(kmem.node, true);
	assert_entries(card, addr, 2 * PAGE, 0);
	assert_u64(card_use(card, addr), 0);
}

static void test_remove_nothing(void **state)
{
	struct card *card = *state;
	struct agate_ggtt_node *node = new_node(card);
	unsigned int invalidates = card->invalidates;

	agate_ggtt_node_remove(NULL, true);
	agate_ggtt_node_remove(node, true);
	assert_int_equal(card->nodes, 0);
	assert_int_equal(card->invalidates, invalidates);
}

/* The memory goes at once, the addresses only when the card is awake. */
static void test_remove_asleep(void **state)
{
	struct card *card = *state;
	struct agate_kmem *kmem = calloc(1, sizeof(*kmem));
	unsigned int invalidates;
	u64 addr;

	*kmem = kmem_at(true, MIB(2), 3 * PAGE);
	addr = insert(card, kmem);
	assert_mapped(card, kmem, pat(card));
	invalidates = card->invalidates;
	card->asleep = true;
	agate_ggtt_node_remove(kmem->node, true);
	assert_true(card->asleep);
	assert_null(kmem->node);
	free(kmem);
	assert_false(list_empty(&card->queued));
	assert_int_equal(card->inside, 0);
	/* Nobody else may have an address that still leads to that memory. */
	assert_false(is_free(card, addr, PAGE));
	assert_int_equal(card->nodes, 1);
	card_run_queue(card);
	assert_entries(card, addr, 3 * PAGE, scratch(card));
	assert_u64(card_use(card, addr), scratch(card));
	assert_int_equal(card->invalidates, invalidates + 1);
	assert_true(is_free(card, addr, 3 * PAGE));
	assert_int_equal(card->nodes, 0);
}

/* Whether to invalidate is decided by the one who removed it, not by the worker. */
static void test_remove_asleep_without_invalidate(void **state)
{
	struct card *card = *state;
	struct agate_ggtt_node *node = new_node(card);
	unsigned int invalidates = card->invalidates;

	assert_int_equal(agate_ggtt_node_insert(node, PAGE, 0, AGATE_RANGE_LOW), 0);
	card->asleep = true;
	agate_ggtt_node_remove(node, false);
	card_run_queue(card);
	assert_int_equal(card->invalidates, invalidates);
}

static void test_remove_gone(void **state)
{
	struct card *card = *state;
	struct agate_kmem a = kmem_at(true, 0, PAGE), b = kmem_at(true, PAGE, PAGE);
	u64 addr = insert(card, &a);

	insert(card, &b);
	card->gone = true;
	agate_ggtt_node_remove(a.node, true);
	assert_null(a.node);
	assert_true(is_free(card, addr, PAGE));
	/* Asleep and gone: nobody would run the queue. */
	card->asleep = true;
	agate_ggtt_node_remove(b.node, true);
	assert_true(list_empty(&card->queued));
	assert_int_equal(card->nodes, 0);
	assert_int_equal(card->uses, 0);
}

/* It goes while the node is queued. */
static void test_queued_gone(void **state)
{
	struct card *card = *state;
	struct agate_kmem kmem = kmem_at(true, 0, PAGE);
	u64 addr = insert(card, &kmem);

	card->asleep = true;
	agate_ggtt_node_remove(kmem.node, true);
	card->gone = true;
	card_run_queue(card);
	assert_true(is_free(card, addr, PAGE));
	assert_int_equal(card->nodes, 0);
}

/* ---- Virtual functions ------------------------------------------------ */

static void test_assign(void **state)
{
	struct card *card = *state;
	struct agate_kmem kmem = kmem_at(true, MIB(4), 3 * PAGE);
	u64 addr = insert(card, &kmem);

	assert_mapped(card, &kmem, pat(card));
	card->asleep = true;
	assert_int_equal(agate_ggtt_assign(kmem.node, AGATE_GGTT_VF_MAX), 0);
	assert_int_equal(card->uses, 0);
	assert_mapped(card, &kmem, pat(card) | 0x3ffull << 2);
	/* One in place of the other. */
	assert_int_equal(agate_ggtt_assign(kmem.node, 0x2aa), 0);
	assert_mapped(card, &kmem, pat(card) | 0x2aaull << 2);
	assert_int_equal(agate_ggtt_assign(kmem.node, AGATE_GGTT_VF_MAX + 1), -EINVAL);
	assert_mapped(card, &kmem, pat(card) | 0x2aaull << 2);
	assert_int_equal(agate_ggtt_assign(kmem.node, 0), 0);
	assert_mapped(card, &kmem, pat(card));
	assert_int_equal(agate_ggtt_assign(kmem.node, 7), 0);
	assert_entries(card, addr + 3 * PAGE, PAGE, scratch(card));
	/* The next owner of the addresses is no virtual function. */
	agate_ggtt_node_remove(kmem.node, true);
	assert_entries(card, addr, 3 * PAGE, scratch(card));
}

static void test_assign_without_memory(void **state)
{
	struct card *card = *state;
	struct agate_ggtt_node *node = new_node(card);

	assert_int_equal(agate_ggtt_node_insert(node, MIB(1), 0, AGATE_RANGE_HIGH), 0);
	assert_int_equal(agate_ggtt_assign(node, 3), 0);
	assert_entries(card, agate_ggtt_node_start(node), MIB(1), scratch(card) | 3 << 2);
	assert_true(card_use(card, agate_ggtt_node_start(node)) & AGATE_GGTT_PRESENT);
	agate_ggtt_node_remove(node, true);
}

/* Present, and with no address, it would be page 0 of system memory. */
static void test_assign_early(void **state)
{
	struct card *card = *state;
	struct agate_ggtt_node *node = new_node(card);

	assert_int_equal(agate_ggtt_node_insert(node, PAGE, 0, AGATE_RANGE_LOW), 0);
	assert_int_equal(agate_ggtt_assign(node, 3), 0);
	assert_entries(card, RESERVED_MAX, PAGE, 0);
	agate_ggtt_node_remove(node, true);
}

static void test_assign_gone(void **state)
{
	struct card *card = *state;
	struct agate_ggtt_node *node = new_node(card);

	assert_int_equal(agate_ggtt_node_insert(node, PAGE, 0, AGATE_RANGE_LOW), 0);
	card->gone = true;
	assert_int_equal(agate_ggtt_assign(node, 3), -ENODEV);
	agate_ggtt_node_remove(node, true);
}

#define ON(test, setup, features) \
	cmocka_unit_test_prestate_setup_teardown(test, setup, done, (void *)(uintptr_t)(features))
#define BOTH(test)	ON(test, ready, MIDGARD), ON(test, ready, BIFROST)
#define EARLY(test)	ON(test, early, MIDGARD), ON(test, early, BIFROST)

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOTH(test_remove),
		BOTH(test_remove_without_invalidate),
		EARLY(test_remove_early),
		BOTH(test_remove_nothing),
		BOTH(test_remove_asleep),
		BOTH(test_remove_asleep_without_invalidate),
		BOTH(test_remove_gone),
		BOTH(test_queued_gone),
		BOTH(test_assign),
		BOTH(test_assign_without_memory),
		EARLY(test_assign_early),
		BOTH(test_assign_gone),
	};

	return cmocka_run_group_tests_name("ggtt_remove", tests, NULL, NULL);
}
