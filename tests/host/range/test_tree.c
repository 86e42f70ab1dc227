// SPDX-License-Identifier: MIT
/*
 * The balanced tree: its shape, its order, and the summaries of its nodes after every change.
 */
#include "range_helpers.h"

#include <string.h>

#define NODES	700u

struct item {
	struct agate_tree_node node;
	u64 key;
	u64 weight;
	u64 sum;	/* of the weights of the subtree */
};

static struct item items[NODES];
static struct item spares[NODES];

static struct item *item_of(const struct agate_tree_node *node)
{
	return agate_tree_entry(node, struct item, node);
}

static bool before(const struct agate_tree_node *a, const struct agate_tree_node *b)
{
	return item_of(a)->key < item_of(b)->key;
}

static bool add_up(struct agate_tree_node *node)
{
	struct item *item = item_of(node);
	u64 old = item->sum;
	int side;

	item->sum = item->weight;
	for (side = 0; side < 2; side++)
		item->sum += node->child[side] ? item_of(node->child[side])->sum : 0;
	return item->sum != old;
}

AGATE_TREE_DEFINE(summed, before, add_up)
AGATE_TREE_DEFINE(plain, before, NULL)

static u64 check_sums(const struct agate_tree_node *node)
{
	u64 sum;

	if (!node)
		return 0;
	sum = item_of(node)->weight + check_sums(node->child[0]) + check_sums(node->child[1]);
	assert_u64(item_of(node)->sum, sum);
	return sum;
}

/* Right in both directions, and @count nodes long. */
static void check(const struct agate_tree *tree, size_t count)
{
	int side;

	assert_int_equal(check_tree(tree), count);
	check_sums(tree->root);
	for (side = 0; side < 2; side++) {
		struct agate_tree_node *node = agate_tree_end(tree->root, !side);
		struct agate_tree_node *next;
		size_t seen = 0;

		for (; node; node = next) {
			next = agate_tree_next(node, side);
			if (next)
				assert_int_equal(item_of(node)->key < item_of(next)->key,
						 side == AGATE_TREE_RIGHT);
			seen++;
		}
		assert_int_equal(seen, count);
	}
}

static void fill(struct agate_tree *tree, const u64 *keys, size_t count)
{
	size_t i;

	tree->root = NULL;
	memset(items, 0, sizeof(items));
	for (i = 0; i < count; i++) {
		items[i].key = keys ? keys[i] : i;
		items[i].weight = 1 + i % 7;
		summed_insert(tree, &items[i].node);
		check(tree, i + 1);
	}
}

static void test_empty(void **state)
{
	struct agate_tree tree = { NULL };

	(void)state;
	check(&tree, 0);
	fill(&tree, NULL, 1);
	summed_erase(&tree, &items[0].node);
	assert_null(tree.root);
	assert_false(agate_tree_contains(&items[0].node));
}

/* The four ways in which a node can be too high, one step after the other. */
static void test_rotations(void **state)
{
	static const u64 orders[4][3] = { { 1, 2, 3 }, { 3, 2, 1 }, { 1, 3, 2 }, { 3, 1, 2 } };
	struct agate_tree tree;
	size_t i;

	(void)state;
	for (i = 0; i < 4; i++) {
		fill(&tree, orders[i], 3);
		assert_u64(item_of(tree.root)->key, 2);
		assert_u64(item_of(tree.root)->sum, 6);
	}
}

static void test_sorted(void **state)
{
	struct agate_tree tree;
	size_t i;

	(void)state;
	fill(&tree, NULL, NODES);
	/* 700 nodes fit into 10 levels; a tree of this kind has at most 14. */
	assert_true(tree.root->height <= 14);
	for (i = 0; i < NODES; i++) {
		summed_erase(&tree, &items[i].node);
		check(&tree, NODES - 1 - i);
	}
}

static void test_random(void **state)
{
	struct agate_tree tree = { NULL };
	u64 random = 42;
	size_t count = 0, step;

	(void)state;
	memset(items, 0, sizeof(items));
	for (step = 0; step < 6000; step++) {
		size_t i = random_below(&random, step % 2000 < 1000 ? NODES : 60);
		struct item *item = &items[i];

		if (agate_tree_contains(&item->node)) {
			summed_erase(&tree, &item->node);
			count--;
		} else {
			item->key = i * 16 + random_below(&random, 16);
			item->weight = random_below(&random, 1000);
			summed_insert(&tree, &item->node);
			count++;
		}
		check(&tree, count);
	}
}

/* Without summaries. */
static void test_plain(void **state)
{
	struct agate_tree tree = { NULL };
	u64 random = 4711;
	size_t count = 0, step;

	(void)state;
	memset(items, 0, sizeof(items));
	memset(spares, 0, sizeof(spares));
	for (step = 0; step < 4000; step++) {
		size_t i = random_below(&random, NODES);
		struct item *item = &items[i];

		items[i].key = i;
		spares[i].key = i;
		if (agate_tree_contains(&spares[i].node)) {
			plain_erase(&tree, &spares[i].node);
			count--;
		} else if (agate_tree_contains(&item->node)) {
			plain_replace(&tree, &item->node, &spares[i].node);
			assert_false(agate_tree_contains(&item->node));
		} else {
			plain_insert(&tree, &item->node);
			count++;
		}
		assert_int_equal(check_tree(&tree), count);
	}
}

/* A node's own value changes; every node above it must hear of it, and no other tree does. */
static void test_update(void **state)
{
	struct agate_tree tree;
	size_t i;

	(void)state;
	fill(&tree, NULL, 100);
	for (i = 0; i < 100; i++) {
		items[i].weight = 1000 + i;
		summed_update(&items[i].node);
		check(&tree, 100);
	}
}

/* The new node may have the summary that it will get already: those above must hear of it. */
static void test_replace(void **state)
{
	struct agate_tree tree;
	size_t i;

	(void)state;
	fill(&tree, NULL, 100);
	memset(spares, 0, sizeof(spares));
	for (i = 0; i < 100; i++) {
		spares[i].key = items[i].key;
		spares[i].weight = 3;
		spares[i].sum = items[i].sum - items[i].weight + 3;
		summed_replace(&tree, &items[i].node, &spares[i].node);
		assert_false(agate_tree_contains(&items[i].node));
		assert_true(agate_tree_contains(&spares[i].node));
		check(&tree, 100);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_rotations),
		cmocka_unit_test(test_sorted),
		cmocka_unit_test(test_random),
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_update),
		cmocka_unit_test(test_replace),
	};

	return cmocka_run_group_tests_name("tree", tests, NULL, NULL);
}
