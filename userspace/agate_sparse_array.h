/* SPDX-License-Identifier: MIT */
/*
 * Contract of lab 08, part one: an array with a huge index range, in which only
 * touched parts take memory.
 *
 * The BO map is such an array, indexed by GEM handle.  Any number of threads may
 * look up elements at the same time without a lock, and a lookup may make the array
 * grow.  An element never moves, so a pointer to it is valid until the array is
 * gone.  The threads themselves must order their accesses to an element that they
 * share.
 */
#ifndef AGATE_SPARSE_ARRAY_H
#define AGATE_SPARSE_ARRAY_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Nodes have this alignment, so an element may need as much. */
#define AGATE_SPARSE_NODE_ALIGN	64

/**
 * struct agate_sparse_array - the array; all fields belong to its code
 * @elem_size: bytes in an element
 * @node_size_log2: a node holds 2^node_size_log2 elements, or children
 * @root: the topmost node and its level, or 0 while the array is empty
 */
struct agate_sparse_array {
	size_t elem_size;
	unsigned int node_size_log2;
	_Atomic uintptr_t root;
};

/* For the test programs of the labs; libagate.map hides them from everybody else. */
#pragma GCC visibility push(default)

/**
 * agate_sparse_array_init - make an empty array; takes no memory
 * @arr: the array
 * @elem_size: bytes in an element, not 0
 * @node_size_log2: 1..16
 */
void agate_sparse_array_init(struct agate_sparse_array *arr, size_t elem_size,
			     unsigned int node_size_log2);

/**
 * agate_sparse_array_fini - free all elements
 * @arr: the array, which nobody else may be using any more
 */
void agate_sparse_array_fini(struct agate_sparse_array *arr);

/**
 * agate_sparse_array_get - find an element
 * @arr: the array
 * @index: any
 *
 * An element reads as zero bytes until somebody writes to it.
 *
 * Return: the element, always the same address for the same index, or NULL when
 * memory ran out.  Then all elements are as they were; nodes that the call added stay.
 */
void *agate_sparse_array_get(struct agate_sparse_array *arr, uint64_t index);

#pragma GCC visibility pop

#endif /* AGATE_SPARSE_ARRAY_H */
