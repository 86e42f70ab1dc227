// SPDX-License-Identifier: MIT
#include "range_helpers.h"

static size_t check_subtree(const struct agate_tree_node *node,
			    const struct agate_tree_node *parent)
{
	unsigned int height[2];
	size_t nodes = 1;
	int side;

	if (!node)
		return 0;
	assert_ptr_equal(node->parent, parent);
	for (side = 0; side < 2; side++) {
		nodes += check_subtree(node->child[side], node);
		height[side] = node->child[side] ? node->child[side]->height : 0;
	}
	assert_true(height[0] <= height[1] + 1 && height[1] <= height[0] + 1);
	assert_int_equal(node->height, 1 + (height[0] > height[1] ? height[0] : height[1]));
	return nodes;
}

size_t check_tree(const struct agate_tree *tree)
{
	return check_subtree(tree->root, NULL);
}

static u64 check_largest(const struct agate_tree_node *node)
{
	const struct agate_range_node *n;
	u64 largest;
	int side;

	if (!node)
		return 0;
	n = agate_tree_entry(node, struct agate_range_node, by_address);
	largest = n->hole;
	for (side = 0; side < 2; side++) {
		u64 below = check_largest(node->child[side]);

		largest = below > largest ? below : largest;
	}
	assert_u64(n->largest, largest);
	return largest;
}

/* Every node in the list touches its neighbours' holes; returns how many holes there are. */
static size_t check_list(const struct agate_range *r, u64 start, u64 size)
{
	const struct agate_range_node *n = &r->head;
	u64 at = start;
	size_t holes = 0;

	assert_u64(n->start, start);
	assert_u64(n->size, 0);
	do {
		assert_u64(n->start, at);
		assert_true(n == &r->head || agate_range_node_allocated(n));
		assert_int_equal(agate_tree_contains(&n->by_address), n->hole != 0);
		assert_int_equal(agate_tree_contains(&n->by_size), n->hole != 0);
		holes += n->hole != 0;
		at += n->size + n->hole;
		assert_ptr_equal(n->link.next->prev, &n->link);
		n = list_next_entry(n, link);
	} while (n != &r->head);
	assert_u64(at, start + size);
	return holes;
}

void check_range(const struct agate_range *r, u64 start, u64 size)
{
	struct agate_tree_node *left = agate_tree_end(r->by_size.root, AGATE_TREE_LEFT);
	struct agate_tree_node *node, *next;
	size_t holes = check_list(r, start, size);

	assert_int_equal(check_tree(&r->by_address), holes);
	assert_int_equal(check_tree(&r->by_size), holes);
	check_largest(r->by_address.root);
	for (node = left; node; node = next) {
		next = agate_tree_next(node, AGATE_TREE_RIGHT);
		if (next)
			assert_true(agate_tree_entry(node, struct agate_range_node, by_size)->hole <=
				    agate_tree_entry(next, struct agate_range_node, by_size)->hole);
	}
}

u64 insert(struct agate_range *r, struct agate_range_node *n, u64 size, u64 align,
	   enum agate_range_mode mode)
{
	assert_int_equal(agate_range_insert(r, n, size, align, 0, U64_MAX, mode), 0);
	assert_u64(n->size, size);
	return n->start;
}

u64 random_below(u64 *state, u64 limit)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return (*state >> 16) % limit;
}
