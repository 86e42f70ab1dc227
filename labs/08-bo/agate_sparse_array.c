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
	/* STEP 1: free every node.  Nobody else uses the array any more. */
}

void *agate_sparse_array_get(struct agate_sparse_array *arr, uint64_t index)
{
	/*
	 * STEP 1: return the element, and add the nodes that are missing on the way to it.
	 * Other threads do the same at the same time; all have to find the same element, and
	 * no element ever moves.
	 */
	return NULL;
}
