/* SPDX-License-Identifier: MIT */
/* The tests of lab 09, by subject, and what they share. */
#ifndef AGATE_TESTS_LAB_CACHE_H
#define AGATE_TESTS_LAB_CACHE_H

#include "library.h"

#define KiB		1024ull
#define MiB		(1024 * KiB)
#define NS_PER_S	1000000000ull
#define DELAY		AGATE_ALLOC_DELAY_MMAP
#define INVISIBLE	AGATE_ALLOC_INVISIBLE

/* The clock of the cache; a thousand seconds when a test begins. */
extern uint64_t clock_ns;

/* A device with the cache, and with that clock. */
struct agate_device *cache_open(void);
void cache_close(struct agate_device *dev);

/* The statistics, which have to add up. */
struct agate_bo_cache_stats cache_stats(struct agate_device *dev);
void check_cached(struct agate_device *dev, uint64_t count);

/* Make a BO and release it; returns its handle, which the cache has now. */
uint32_t cache_new(struct agate_device *dev, uint64_t size, uint32_t flags);
/* The same of up to 16 BOs of a size, all different ones; the oldest first. */
void cache_many(struct agate_device *dev, uint64_t size, unsigned int n, uint32_t *handles);

/* A hook of calls.h: is a handle closed by a thread that has the lock of the cache? */
void cache_at_close(unsigned long request, enum call_when when, void *arg);
void cache_watch_closes(struct agate_device *dev);
void cache_check_closes(const char *when);

/*
 * The same, and a look at the lists and the counts each time this thread takes the lock of the
 * cache or gives it back.  It ends with one of the checks; the first one is for changed lists.
 */
void cache_at_lock(unsigned long request, enum call_when when, void *arg);
void cache_watch_lock(struct agate_device *dev);
void cache_check_lists(const char *call);
void cache_check_counts(const char *calls);

/* put.c */
void test_buckets(void **state);
void test_calls_of_a_put(void **state);
void test_shared(void **state);
void test_put_refused(void **state);
void test_switch(void **state);

/* fetch.c */
void test_calls_of_a_fetch(void **state);
void test_what_fits(void **state);
void test_oldest_that_fits(void **state);
void test_labels(void **state);
void test_purged(void **state);
void test_fetch_fails(void **state);

/* busy.c */
void test_busy_oldest(void **state);
void test_busy_with_a_reader(void **state);
void test_no_memory_waits(void **state);
void test_no_memory_evicts(void **state);
void test_wait_holds_up_nobody(void **state);

/* age.c */
void test_stale_boundary(void **state);
void test_stale_next_put(void **state);
void test_stale_in_order(void **state);
void test_close_empties(void **state);
void test_stats(void **state);

/* crowd.c */
void test_crowd(void **state);
void test_pressure(void **state);

#endif /* AGATE_TESTS_LAB_CACHE_H */
