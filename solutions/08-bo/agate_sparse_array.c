// SPDX-License-Identifier: MIT
/*
 * A sparse array: a radix tree that grows at its root, without a lock.
 *
 * A node has 2^node_size_log2 entries: elements in a leaf (level 0), references to
 * nodes one level down in all other nodes.  A reference is the node's address with
 * the node's level in the low bits, which are free because nodes are aligned, so
 * one compare-and-swap publishes both.  Nodes are only added, and never moved or
 * freed before the end, so a lookup needs no lock and a pointer to an element stays
 * valid.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "agate_sparse_array.h"

#if LAB08 >= 1
#define LEVEL_MASK	((uintptr_t)AGATE_SPARSE_NODE_ALIGN - 1)

typedef _Atomic uintptr_t node_ref;

static uintptr_t ref_make(void *node, unsigned int level)
{
	return (uintptr_t)node | level;
}

static unsigned int ref_level(uintptr_t ref)
{
	return ref & LEVEL_MASK;
}

static void *ref_node(uintptr_t ref)
{
	return (void *)(ref & ~LEVEL_MASK);
}

/* Make a zeroed node; return 0 when memory ran out. */
static uintptr_t node_create(const struct agate_sparse_array *arr, unsigned int level)
{
	size_t entry = level ? sizeof(node_ref) : arr->elem_size;
	size_t bytes = entry << arr->node_size_log2;
	void *node;

	bytes = (bytes + LEVEL_MASK) & ~(size_t)LEVEL_MASK;
	node = aligned_alloc(AGATE_SPARSE_NODE_ALIGN, bytes);
	if (!node)
		return 0;
	memset(node, 0, bytes);
	return ref_make(node, level);
}

static void node_destroy(const struct agate_sparse_array *arr, uintptr_t ref)
{
	if (ref_level(ref)) {
		node_ref *child = ref_node(ref);
		size_t i;

		for (i = 0; i < (size_t)1 << arr->node_size_log2; i++) {
			if (child[i])
				node_destroy(arr, child[i]);
		}
	}
	free(ref_node(ref));
}

/*
 * Store a new node in *where if it still holds expected.  Return what *where holds
 * then: this thread's node, or the node of a thread that was faster.
 */
static uintptr_t node_publish(node_ref *where, uintptr_t expected, uintptr_t node)
{
	/* Release: a thread that sees the node also sees the zeroes, or the child, in it. */
	if (atomic_compare_exchange_strong_explicit(where, &expected, node,
						    memory_order_acq_rel,
						    memory_order_acquire))
		return node;
	free(ref_node(node));
	return expected;
}

/* Does a tree with this root cover the index? */
static int ref_covers(const struct agate_sparse_array *arr, uintptr_t ref, uint64_t index)
{
	unsigned int bits = (ref_level(ref) + 1) * arr->node_size_log2;

	return bits >= 64 || index >> bits == 0;
}

/* Return the root of a tree that is tall enough for the index; 0 when memory ran out. */
static uintptr_t grown_root(struct agate_sparse_array *arr, uint64_t index)
{
	uintptr_t root = atomic_load_explicit(&arr->root, memory_order_acquire);

	while (!root || !ref_covers(arr, root, index)) {
		uintptr_t taller = node_create(arr, root ? ref_level(root) + 1 : 0);

		if (!taller)
			return 0;
		/* The new root's first entry covers everything that the old root covers. */
		if (root)
			*(node_ref *)ref_node(taller) = root;
		root = node_publish(&arr->root, root, taller);
	}
	return root;
}
#endif

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
#if LAB08 >= 1
	if (arr->root)
		node_destroy(arr, arr->root);
	arr->root = 0;
#else
	/* STEP 1: free every node.  Nobody else uses the array any more. */
#endif
}

void *agate_sparse_array_get(struct agate_sparse_array *arr, uint64_t index)
{
#if LAB08 >= 1
	const uint64_t mask = ((uint64_t)1 << arr->node_size_log2) - 1;
	uintptr_t ref = grown_root(arr, index);

	if (!ref)
		return NULL;
	while (ref_level(ref)) {
		unsigned int level = ref_level(ref);
		node_ref *child = ref_node(ref);

		child += (index >> (level * arr->node_size_log2)) & mask;
		ref = atomic_load_explicit(child, memory_order_acquire);
		if (!ref) {
			ref = node_create(arr, level - 1);
			if (!ref)
				return NULL;
			ref = node_publish(child, 0, ref);
		}
	}
	return (char *)ref_node(ref) + (index & mask) * arr->elem_size;
#else
	/*
	 * STEP 1: return the element, and add the nodes that are missing on the way to it.
	 * Other threads do the same at the same time; all have to find the same element, and
	 * no element ever moves.
	 */
	return NULL;
#endif
}
