// SPDX-License-Identifier: MIT
/* Lab 08: the sparse array, alone and under eight threads. */
#include "bo.h"

#include <stdio.h>
#include <stdlib.h>

#define WORDS		5
#define MODEST		16384u	/* bytes: a hundred small nodes */
#define ROUNDS		60

struct element {
	uint64_t words[WORDS];	/* 40 bytes: not a power of two */
};

/* Both sides of every boundary between levels with 4 elements in a node, and of words. */
static const uint64_t indices[] = {
	0, 1, 3, 4, 5, 15, 16, 17, 63, 64, 255, 256, 1023, 1024, 65535, 65536,
	0xffffffffull, 0x100000000ull, 1ull << 62, (1ull << 63) - 1, 1ull << 63, UINT64_MAX,
};

#define INDICES	(sizeof(indices) / sizeof(indices[0]))

static struct agate_sparse_array arr;

static struct element *get(uint64_t index)
{
	struct element *e = agate_sparse_array_get(&arr, index);

	if (!e)
		broken("an element", "agate_sparse_array_get(%#llx): NULL",
		       (unsigned long long)index);
	return e;
}

static void check_word(const struct element *e, size_t word, uint64_t value, uint64_t index)
{
	if (e->words[word] != value)
		broken("what was written there", "word %zu of element %#llx: %#llx, and not %#llx",
		       word, (unsigned long long)index, (unsigned long long)e->words[word],
		       (unsigned long long)value);
}

static void check_zero(const struct element *e, uint64_t index)
{
	for (size_t i = 0; i < WORDS; i++) {
		if (e->words[i])
			broken("zero bytes", "word %zu of element %#llx: %#llx", i,
			       (unsigned long long)index, (unsigned long long)e->words[i]);
	}
}

static void check_same(const struct element *e, const struct element *first, uint64_t index)
{
	if (e != first)
		broken("the address at which the element was first",
		       "element %#llx at %p, and before at %p", (unsigned long long)index,
		       (const void *)e, (const void *)first);
}

/* The digits of an index are not cut off: no two indices share an element. */
static void check_own(struct element *const *e, size_t i, size_t first, size_t step)
{
	for (size_t k = first; k != i; k = (k + step) % INDICES) {
		if (e[k] != e[i])
			continue;
		rule("each index has an element of its own");
		broken("two elements for two indices",
		       "the elements %#llx and %#llx are at one address",
		       (unsigned long long)indices[k], (unsigned long long)indices[i]);
	}
}

/* Far more than two nodes for each of 64 levels. */
#define ENDLESS		1000u

static uint64_t looked_up;
static unsigned int asked_for_memory;

static void count_memory(unsigned long request, enum call_when when, void *arg)
{
	(void)when;
	(void)arg;
	if (request != CALL_ALLOC || ++asked_for_memory <= ENDLESS)
		return;
	rule("a lookup makes one node or two for each level of the tree, and no more");
	broken("an end of the lookup", "the lookup of index %#llx asks for memory more than %u times: "
	       "from which level on does the tree cover this index?",
	       (unsigned long long)looked_up, ENDLESS);
}

/* Touch all indices, in an order of the caller's. */
static void fill_and_check(unsigned int log2, size_t first, size_t step)
{
	struct element *e[INDICES];
	size_t i, n;

	agate_sparse_array_init(&arr, sizeof(struct element), log2);
	for (n = 0, i = first; n < INDICES; n++, i = (i + step) % INDICES) {
		rule("an element reads as zero bytes until somebody writes to it");
		looked_up = indices[i];
		asked_for_memory = 0;
		calls_hook(count_memory);
		calls_watch_memory(true);
		e[i] = get(indices[i]);
		calls_watch_memory(false);
		calls_hook(NULL);
		check_own(e, i, first, step);
		check_zero(e[i], indices[i]);
		for (size_t w = 0; w < WORDS; w++)
			e[i]->words[w] = indices[i] + w + 1;
	}
	for (i = 0; i < INDICES; i++) {
		rule("an element never moves: the same index gives the same address");
		check_same(get(indices[i]), e[i], indices[i]);
		rule("each index has an element of its own");
		for (size_t w = 0; w < WORDS; w++)
			check_word(e[i], w, indices[i] + w + 1, indices[i]);
	}
	agate_sparse_array_fini(&arr);
}

/* Elements side by side: any that overlap spoil each other. */
static void neighbours(size_t size, unsigned int log2)
{
	unsigned char *e;

	agate_sparse_array_init(&arr, size, log2);
	rule("a node begins at a multiple of AGATE_SPARSE_NODE_ALIGN, and so does its first element");
	for (uint64_t i = 0; i < 700; i += 1ull << log2) {
		if ((uintptr_t)get(i) % AGATE_SPARSE_NODE_ALIGN)
			broken("an address that is 0 modulo 64",
			       "the node of element %llu of %zu bytes: %zu modulo 64",
			       (unsigned long long)i, size,
			       (size_t)((uintptr_t)get(i) % AGATE_SPARSE_NODE_ALIGN));
	}
	rule("each index has an element of its own");
	for (uint64_t i = 0; i < 700; i++) {
		e = (unsigned char *)get(i);
		for (size_t k = 0; k < size; k++) {
			if (e[k])
				broken("zero bytes", "byte %zu of element %llu of %zu bytes: %#x", k,
				       (unsigned long long)i, size, e[k]);
		}
		memset(e, (int)(i % 255) + 1, size);
	}
	for (uint64_t i = 0; i < 700; i++) {
		e = (unsigned char *)get(i);
		if (e[0] != i % 255 + 1 || e[size - 1] != i % 255 + 1)
			broken("what was written there", "another element wrote into element %llu",
			       (unsigned long long)i);
	}
	agate_sparse_array_fini(&arr);
}

void test_array(void **state)
{
	(void)state;
	lib_catch_signals();
	for (unsigned int log2 = 1; log2 <= 16; log2 += log2 < 4 ? 1 : 6) {
		/* Upward; downward, so that the tallest tree is first; and mixed. */
		fill_and_check(log2, 0, 1);
		fill_and_check(log2, INDICES - 1, INDICES - 1);
		fill_and_check(log2, 3, 5);
	}
	neighbours(1, 1);
	neighbours(40, 3);
	neighbours(sizeof(struct agate_bo), 9);

	rule("elements are aligned for their type: nodes begin at multiples of 64 bytes");
	agate_sparse_array_init(&arr, AGATE_SPARSE_NODE_ALIGN, 2);
	for (size_t i = 0; i < INDICES; i++)
		check_equal((int64_t)((uintptr_t)get(indices[i]) % AGATE_SPARSE_NODE_ALIGN), 0,
			    "address of a 64-byte element, modulo 64");
	agate_sparse_array_fini(&arr);
}

/* Memory runs out at the first allocation of a lookup, then at the second, and so on. */
static void without_memory(uint64_t index, struct element *const *e, const uint64_t *known,
			   size_t count)
{
	struct element *found = NULL;
	unsigned int made;

	for (unsigned int n = 1; !found; n++) {
		calls_begin(-1);
		calls_fail(CALL_ALLOC, n, ENOMEM);
		found = agate_sparse_array_get(&arr, index);
		made = calls_made(CALL_ALLOC);
		calls_begin(-1);
		rule("a lookup that gets no memory gives NULL, and leaves the array as it was");
		if (made < n && !found)
			broken("an element", "NULL, though no allocation failed");
		if (made >= n && found)
			broken("NULL", "an element, though allocation %u failed", n);
		for (size_t i = 0; i < count; i++) {
			check_same(get(known[i]), e[i], known[i]);
			check_word(e[i], 0, known[i] + 1, known[i]);
		}
	}
	rule("an element reads as zero bytes until somebody writes to it");
	check_zero(found, index);
}

void test_array_memory(void **state)
{
	static const uint64_t known[] = { 0, 5, 300, 1ull << 40 };
	struct element *e[4];

	(void)state;
	lib_catch_signals();
	calls_watch_memory(true);
	agate_sparse_array_init(&arr, sizeof(struct element), 9);
	rule("an empty array takes no memory");
	check_equal(calls_blocks(), 0, "blocks of memory after agate_sparse_array_init()");
	agate_sparse_array_fini(&arr);

	agate_sparse_array_init(&arr, sizeof(struct element), 2);
	rule("only touched parts of the array take memory");
	for (size_t i = 0; i < 4; i++) {
		e[i] = get(known[i]);
		e[i]->words[0] = known[i] + 1;
	}
	if (calls_bytes() > MODEST)
		broken("at most 16 KiB for four elements, in nodes of 4", "%zu bytes", calls_bytes());
	rule("a lookup of an element whose node exists asks for no memory");
	calls_begin(-1);
	for (size_t i = 0; i < 4; i++)
		check_same(get(known[i]), e[i], known[i]);
	check_equal(calls_made(CALL_ALLOC), 0, "allocations");
	without_memory(UINT64_MAX, e, known, 4);
	without_memory(77777, e, known, 4);
	agate_sparse_array_fini(&arr);
	rule("agate_sparse_array_fini() frees all that the array has taken");
	check_equal(calls_blocks(), 0, "blocks of memory that are left");
	rule("agate_sparse_array_fini() frees all, also of nodes with 2^16 entries");
	agate_sparse_array_init(&arr, 1, 16);
	get(0);
	get(UINT64_MAX);
	agate_sparse_array_fini(&arr);
	calls_watch_memory(false);
	check_equal(calls_blocks(), 0, "blocks of memory that are left");
	rule("an array that was ended can be used anew");
	agate_sparse_array_init(&arr, sizeof(struct element), 2);
	check_zero(get(5), 5);
	agate_sparse_array_fini(&arr);
}

/* ---- Threads --------------------------------------------------------------- */

static uint64_t other_index;
static struct element *other_found;

static void look_up_other(void)
{
	calls_watch_memory(true);
	other_found = agate_sparse_array_get(&arr, other_index);
}

#define NOTHING	UINT64_MAX

/*
 * One thread is about to add a node, and stands where it asks for memory; another one adds
 * what the first one wanted to add, or more.  The array has the element @before by then: with
 * that of a high index its root is high, and the nodes that are missing are its children.
 */
static void meet(uint64_t index, uint64_t other, uint64_t before)
{
	struct element *keep = NULL, *e;

	calls_begin(-1);
	calls_watch_memory(true);
	agate_sparse_array_init(&arr, sizeof(struct element), 2);
	if (before != NOTHING) {
		keep = get(before);
		keep->words[0] = 4711;
	}
	other_index = other;
	other_found = NULL;
	race_begin(CALL_ALLOC, CALL_BEFORE, look_up_other);
	e = agate_sparse_array_get(&arr, index);
	calls_watch_memory(false);
	race_end();
	rule("threads that make the array grow at the same time find the same elements");
	if (!e || !other_found)
		broken("an element for each thread", "NULL for %s", e ? "the other" : "the first");
	e->words[1] = 1;
	other_found->words[2] = 2;
	check_same(get(index), e, index);
	check_same(get(other), other_found, other);
	check_word(get(index), 1, 1, index);
	check_word(get(other), 2, 2, other);
	if (keep) {
		check_same(get(before), keep, before);
		check_word(keep, 0, 4711, before);
	}
	agate_sparse_array_fini(&arr);
	rule("a node that another thread was faster to add is freed");
	check_equal(calls_blocks(), 0, "blocks of memory that are left");
}

/* A mistake that one thread makes is no race: say so before two threads meet. */
static void alone(void)
{
	struct element *first;

	calls_begin(-1);
	calls_watch_memory(true);
	agate_sparse_array_init(&arr, sizeof(struct element), 2);
	rule("the array works with one thread, which the test called array looks at");
	first = get(3);
	get(70);
	get(1ull << 50);
	check_same(get(3), first, 3);
	agate_sparse_array_fini(&arr);
	calls_watch_memory(false);
	rule("one thread's array is freed, which the test called array-memory looks at");
	check_equal(calls_blocks(), 0, "blocks of memory that are left with one thread");
}

static void look_up_first(void)
{
	other_found = agate_sparse_array_get(&arr, 0);
}

/* One thread waits for memory, and another one looks for what is there. */
static void look_beside_allocation(uint64_t index)
{
	bool in_time;

	calls_begin(-1);
	agate_sparse_array_init(&arr, sizeof(struct element), 2);
	get(0);
	calls_watch_memory(true);
	race_begin(CALL_ALLOC, CALL_BEFORE, look_up_first);
	race_patience(2000);
	get(index);
	calls_watch_memory(false);
	in_time = race_end();
	rule("a lookup of an element whose node exists does not wait for an allocation");
	check_same(other_found, get(0), 0);
	if (!in_time)
		broken("the element, at once",
		       "the lookup of index 0 waits while another thread asks for memory");
	agate_sparse_array_fini(&arr);
}

static struct element *seen[LIB_THREADS][INDICES];

static void look_up_all(unsigned int id, void *arg)
{
	(void)arg;
	for (size_t n = 0; n < INDICES; n++) {
		const size_t i = id % 2 ? (n + id) % INDICES : (2 * INDICES - 1 - n + id) % INDICES;
		struct element *e = agate_sparse_array_get(&arr, indices[i]);

		seen[id][i] = e;
		/* Each of five threads has a word of its own; an element that moves loses it. */
		if (e && id < WORDS)
			e->words[id] = indices[i] + id + 1;
	}
}

void test_array_threads(void **state)
{
	(void)state;
	lib_catch_signals();
	alone();
	look_beside_allocation(70);
	meet(3, 3, NOTHING);
	meet(3, 70, NOTHING);
	meet(70, 3, NOTHING);
	meet(70, 70, 0);
	meet(70, 1ull << 50, 0);
	meet(1ull << 50, 70, 0);
	meet(1ull << 50, (1ull << 50) + 4096, 0);
	meet(70, 70, 1ull << 50);
	meet(70, 1ull << 30, 1ull << 50);
	rule("threads that make the array grow at the same time find the same elements");
	for (unsigned int round = 0; round < ROUNDS; round++) {
		agate_sparse_array_init(&arr, sizeof(struct element), 1 + round % 4);
		crowd(look_up_all, NULL);
		for (size_t i = 0; i < INDICES; i++) {
			struct element *e = get(indices[i]);

			for (unsigned int t = 0; t < LIB_THREADS; t++)
				check_same(seen[t][i], e, indices[i]);
			for (size_t w = 0; w < WORDS; w++)
				check_word(e, w, indices[i] + w + 1, indices[i]);
		}
		agate_sparse_array_fini(&arr);
	}
}
