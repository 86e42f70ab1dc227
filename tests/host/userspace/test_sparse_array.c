// SPDX-License-Identifier: MIT
/*
 * The sparse array against its contract: far indices, zero elements, addresses
 * that never change, and eight threads that make it grow at once.
 */
#include "harness.h"

#include <pthread.h>
#include <stdatomic.h>

#include "agate_sparse_array.h"

#define THREADS		8

struct element {
	uint64_t words[5];	/* 40 bytes: not a power of two */
};

static int is_zero(const struct element *e)
{
	size_t i;

	for (i = 0; i < 5; i++) {
		if (e->words[i])
			return 0;
	}
	return 1;
}

/* Both sides of every boundary between levels with 4 elements in a node. */
static const uint64_t indices[] = {
	0, 1, 3, 4, 5, 15, 16, 17, 63, 64, 255, 256, 1023, 1024, 65535, 65536,
	0xffffffffull, 0x100000000ull, 1ull << 62, (1ull << 63) - 1, 1ull << 63, UINT64_MAX,
};

#define INDICES	(sizeof(indices) / sizeof(indices[0]))

static void fill_and_check(unsigned int node_size_log2, size_t first, size_t step)
{
	struct agate_sparse_array arr;
	struct element *e[INDICES];
	size_t i, n;

	agate_sparse_array_init(&arr, sizeof(struct element), node_size_log2);
	for (n = 0, i = first; n < INDICES; n++, i = (i + step) % INDICES) {
		e[i] = agate_sparse_array_get(&arr, indices[i]);
		assert_non_null(e[i]);
		assert_true(is_zero(e[i]));
		e[i]->words[0] = ~indices[i];
		e[i]->words[4] = indices[i] + 1;
	}
	for (i = 0; i < INDICES; i++) {
		assert_ptr_equal(agate_sparse_array_get(&arr, indices[i]), e[i]);
		assert_int_equal(e[i]->words[0], ~indices[i]);
		assert_int_equal(e[i]->words[4], indices[i] + 1);
	}
	agate_sparse_array_fini(&arr);
}

/* Growing upward, downward (the tallest tree first), and in a mixed order. */
static void test_whole_range(void **state)
{
	unsigned int log2;

	(void)state;
	for (log2 = 1; log2 <= 16; log2++) {
		fill_and_check(log2, 0, 1);
		fill_and_check(log2, INDICES - 1, INDICES - 1);
		fill_and_check(log2, 3, 5);
	}
}

static void test_neighbours_do_not_overlap(void **state)
{
	struct agate_sparse_array arr;
	struct element *before = NULL;
	uint64_t i;

	(void)state;
	agate_sparse_array_init(&arr, sizeof(struct element), 3);
	for (i = 0; i < 1000; i++) {
		struct element *e = agate_sparse_array_get(&arr, i);

		assert_non_null(e);
		assert_int_equal((uintptr_t)e % _Alignof(struct element), 0);
		assert_true(is_zero(e));
		for (size_t k = 0; k < 5; k++)
			e->words[k] = i;
		if (before)
			assert_int_equal(before->words[4], i - 1);
		before = e;
	}
	for (i = 0; i < 1000; i++) {
		struct element *e = agate_sparse_array_get(&arr, i);

		assert_int_equal(e->words[0], i);
		assert_int_equal(e->words[4], i);
	}
	agate_sparse_array_fini(&arr);
}

static void test_empty_array_owns_nothing(void **state)
{
	struct agate_sparse_array arr;

	(void)state;
	/* AddressSanitizer reports a leak here. */
	agate_sparse_array_init(&arr, 8, 9);
	agate_sparse_array_fini(&arr);
}

struct crowd {
	struct agate_sparse_array arr;
	pthread_barrier_t start;
	struct element *seen[THREADS][INDICES];
	unsigned int next_id;
	pthread_mutex_t lock;
};

static void *look_up_all(void *arg)
{
	struct crowd *crowd = arg;
	unsigned int id;
	size_t n;

	pthread_mutex_lock(&crowd->lock);
	id = crowd->next_id++;
	pthread_mutex_unlock(&crowd->lock);
	pthread_barrier_wait(&crowd->start);
	/* Each thread uses another order, so that the threads race for all levels. */
	for (n = 0; n < INDICES; n++) {
		const size_t i = id % 2 ? (n + id) % INDICES : (INDICES - 1 - n + id) % INDICES;
		struct element *e = agate_sparse_array_get(&crowd->arr, indices[i]);

		crowd->seen[id][i] = e;
		/* Each thread has its own word in the element; a moved element would lose it. */
		if (id < 5)
			e->words[id] = indices[i] + id + 1;
	}
	return NULL;
}

static void test_eight_threads(void **state)
{
	unsigned int round, t;
	size_t i;

	(void)state;
	for (round = 0; round < 200; round++) {
		static struct crowd crowd;
		pthread_t thread[THREADS];

		crowd.next_id = 0;
		agate_sparse_array_init(&crowd.arr, sizeof(struct element), 1 + round % 4);
		pthread_mutex_init(&crowd.lock, NULL);
		pthread_barrier_init(&crowd.start, NULL, THREADS);
		for (t = 0; t < THREADS; t++)
			assert_int_equal(pthread_create(&thread[t], NULL, look_up_all, &crowd), 0);
		for (t = 0; t < THREADS; t++)
			pthread_join(thread[t], NULL);
		for (i = 0; i < INDICES; i++) {
			struct element *e = agate_sparse_array_get(&crowd.arr, indices[i]);

			for (t = 0; t < THREADS; t++)
				assert_ptr_equal(crowd.seen[t][i], e);
			for (t = 0; t < 5; t++)
				assert_int_equal(e->words[t], indices[i] + t + 1);
		}
		pthread_barrier_destroy(&crowd.start);
		pthread_mutex_destroy(&crowd.lock);
		agate_sparse_array_fini(&crowd.arr);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_range),
		cmocka_unit_test(test_neighbours_do_not_overlap),
		cmocka_unit_test(test_empty_array_owns_nothing),
		cmocka_unit_test(test_eight_threads),
	};

	return cmocka_run_group_tests_name("sparse-array", tests, NULL, NULL);
}
