// SPDX-License-Identifier: MIT
/*
 * A sparse array: a hash table of chunks, under a lock for readers and writers.
 *
 * A chunk has 2^node_size_log2 elements in a row.  Chunks are only added, so an element
 * keeps its address.  A thread makes a chunk without the lock, so that nobody who looks
 * for a chunk that exists waits for memory.
 */
#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "agate_sparse_array.h"

#define CHAINS	64

struct chunk {
	struct chunk *next;
	uint64_t number;
	_Alignas(AGATE_SPARSE_NODE_ALIGN) char elements[];
};

struct table {
	struct chunk *chain[CHAINS];
};

/* One for all arrays: it is taken for a few instructions. */
static pthread_rwlock_t table_lock = PTHREAD_RWLOCK_INITIALIZER;

static struct table *table_of(struct agate_sparse_array *arr)
{
	return (struct table *)atomic_load(&arr->root);
}

static struct chunk *find_locked(struct agate_sparse_array *arr, uint64_t number)
{
	struct table *table = table_of(arr);
	struct chunk *chunk = table ? table->chain[number % CHAINS] : NULL;

	while (chunk && chunk->number != number)
		chunk = chunk->next;
	return chunk;
}

static void insert_locked(struct agate_sparse_array *arr, struct chunk *chunk)
{
	struct chunk **chain = &table_of(arr)->chain[chunk->number % CHAINS];

	chunk->next = *chain;
	*chain = chunk;
}

static struct chunk *chunk_create(struct agate_sparse_array *arr, uint64_t number)
{
	size_t bytes = sizeof(struct chunk) + (arr->elem_size << arr->node_size_log2);
	struct chunk *chunk;

	bytes = (bytes + AGATE_SPARSE_NODE_ALIGN - 1) & ~(size_t)(AGATE_SPARSE_NODE_ALIGN - 1);
	chunk = aligned_alloc(AGATE_SPARSE_NODE_ALIGN, bytes);
	if (!chunk)
		return NULL;
	memset(chunk, 0, bytes);
	chunk->number = number;
	return chunk;
}

static struct chunk *chunk_add(struct agate_sparse_array *arr, uint64_t number)
{
	struct table *table = table_of(arr) ? NULL : calloc(1, sizeof(*table));
	struct chunk *chunk = chunk_create(arr, number), *found = NULL;

	if (!chunk || (!table && !table_of(arr)))
		goto out;
	pthread_rwlock_wrlock(&table_lock);
	if (!table_of(arr)) {
		atomic_store(&arr->root, (uintptr_t)table);
		table = NULL;
	}
	found = find_locked(arr, number);
	if (!found) {
		insert_locked(arr, chunk);
		found = chunk;
		chunk = NULL;
	}
	pthread_rwlock_unlock(&table_lock);
out:
	free(chunk);
	free(table);
	return found;
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
	struct table *table = table_of(arr);
	size_t i;

	for (i = 0; table && i < CHAINS; i++) {
		while (table->chain[i]) {
			struct chunk *chunk = table->chain[i];

			table->chain[i] = chunk->next;
			free(chunk);
		}
	}
	free(table);
	atomic_store(&arr->root, 0);
}

void *agate_sparse_array_get(struct agate_sparse_array *arr, uint64_t index)
{
	const uint64_t number = index >> arr->node_size_log2;
	const uint64_t mask = ((uint64_t)1 << arr->node_size_log2) - 1;
	struct chunk *chunk;

	pthread_rwlock_rdlock(&table_lock);
	chunk = find_locked(arr, number);
	pthread_rwlock_unlock(&table_lock);
	if (!chunk)
		chunk = chunk_add(arr, number);
	return chunk ? chunk->elements + (index & mask) * arr->elem_size : NULL;
}
