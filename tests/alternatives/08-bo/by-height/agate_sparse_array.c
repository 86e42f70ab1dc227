// SPDX-License-Identifier: MIT
/*
 * A sparse array: one radix tree of a fixed height for all indices of that height.
 *
 * An index that needs h digits of node_size_log2 bits is in tree h, so no tree ever grows at
 * its root, and no node has to tell its level.
 */
#include <assert.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "agate_sparse_array.h"

#define HEIGHTS		65

typedef _Atomic(void *) child_ptr;

struct forest {
	child_ptr tree[HEIGHTS];
};

static void *make(size_t bytes)
{
	void *new = NULL;

	if (posix_memalign(&new, AGATE_SPARSE_NODE_ALIGN, bytes))
		return NULL;
	return memset(new, 0, bytes);
}

/* What is behind the pointer, or new memory that this or another thread puts there. */
static void *follow(child_ptr *where, size_t bytes)
{
	void *there = atomic_load(where), *new;

	if (there)
		return there;
	new = make(bytes);
	if (!new)
		return NULL;
	if (atomic_compare_exchange_strong(where, &there, new))
		return new;
	free(new);
	return there;
}

static unsigned int height_of(const struct agate_sparse_array *arr, uint64_t index)
{
	unsigned int height = 0;

	while (index >>= arr->node_size_log2)
		height++;
	return height;
}

static size_t node_bytes(const struct agate_sparse_array *arr, unsigned int height)
{
	return (height ? sizeof(child_ptr) : arr->elem_size) << arr->node_size_log2;
}

static void destroy(const struct agate_sparse_array *arr, void *node, unsigned int height)
{
	child_ptr *child = node;
	size_t i;

	for (i = 0; node && height && i < (size_t)1 << arr->node_size_log2; i++)
		destroy(arr, child[i], height - 1);
	free(node);
}

void agate_sparse_array_init(struct agate_sparse_array *arr, size_t elem_size,
			     unsigned int node_size_log2)
{
	assert(elem_size && node_size_log2 >= 1 && node_size_log2 <= 16);
	arr->elem_size = elem_size;
	arr->node_size_log2 = node_size_log2;
	atomic_init(&arr->root, 0);
}

void agate_sparse_array_fini(struct agate_sparse_array *arr)
{
	struct forest *forest = (void *)arr->root;
	unsigned int h;

	for (h = 0; forest && h < HEIGHTS; h++)
		destroy(arr, forest->tree[h], h);
	free(forest);
	arr->root = 0;
}

static struct forest *forest_of(struct agate_sparse_array *arr)
{
	uintptr_t there = atomic_load(&arr->root);
	struct forest *new;

	if (there)
		return (struct forest *)there;
	new = make(sizeof(*new));
	if (!new)
		return NULL;
	if (atomic_compare_exchange_strong(&arr->root, &there, (uintptr_t)new))
		return new;
	free(new);
	return (struct forest *)there;
}

void *agate_sparse_array_get(struct agate_sparse_array *arr, uint64_t index)
{
	const uint64_t mask = ((uint64_t)1 << arr->node_size_log2) - 1;
	struct forest *forest = forest_of(arr);
	unsigned int h = height_of(arr, index);
	void *node;

	node = forest ? follow(&forest->tree[h], node_bytes(arr, h)) : NULL;
	for (; node && h; h--) {
		child_ptr *child = node;

		child += (index >> (h * arr->node_size_log2)) & mask;
		node = follow(child, node_bytes(arr, h - 1));
	}
	return node ? (char *)node + (index & mask) * arr->elem_size : NULL;
}
