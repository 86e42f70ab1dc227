/* SPDX-License-Identifier: MIT */
/*
 * Contract of lab 09: the BO cache of libagate.
 *
 * A new BO costs several system calls and a fault for each page that the CPU touches, and
 * programs want BOs of the same few sizes again and again.  So a BO whose last reference
 * is dropped goes into the device's cache rather than back to the kernel, and a later
 * creation takes it out.
 *
 * A BO in the cache keeps its handle and its GPU address.  It has no reference and no
 * mapping, its label is AGATE_BO_CACHE_LABEL, and the kernel knows that its contents do
 * not matter: under memory pressure it takes the pages of cached BOs, and of no others.
 *
 * agate_bo_cache.c defines the functions below.  The frame (agate_bo_cache_info.c)
 * defines what applications see: the switch and the statistics.
 */
#ifndef AGATE_BO_CACHE_H
#define AGATE_BO_CACHE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>

#include "agate.h"

/* Bucket n has the BOs of 2^(12+n) bytes up to the next bucket; the last one all larger ones. */
#define AGATE_BO_CACHE_BUCKETS		11
#define AGATE_BO_CACHE_MIN_LOG2		12

/* A BO is stale when more than this number of whole seconds has passed since it went in. */
#define AGATE_BO_CACHE_MAX_AGE_S	2

#define AGATE_BO_CACHE_LABEL		"Unused (BO cache)"

struct agate_bo;

TAILQ_HEAD(agate_bo_list, agate_bo);

/**
 * struct agate_bo_cache - the unused BOs of a device
 * @lock: protects all that follows, and the links of the BOs in the lists; a thread that
 *	holds it takes no other lock
 * @now_ns: CLOCK_MONOTONIC, or the clock of a test
 * @enabled: false: nothing goes in; written with @lock held
 * @lru: every BO of the cache, the one that went in first at the head
 * @bucket: the same BOs by size, each list in the same order
 * @stats: what agate_bo_cache_get_stats() tells
 */
struct agate_bo_cache {
	pthread_mutex_t lock;
	uint64_t (*now_ns)(void);
	_Atomic bool enabled;
	struct agate_bo_list lru;
	struct agate_bo_list bucket[AGATE_BO_CACHE_BUCKETS];
	struct agate_bo_cache_stats stats;
};

/* For the test programs of the labs; libagate.map hides them from everybody else. */
#pragma GCC visibility push(default)

/**
 * agate_bo_cache_init - make an empty cache
 * @cache: zeroed, except for @now_ns and @enabled, which the frame has set
 *
 * Return: 0; -EOPNOTSUPP when the library has no cache, and then nothing else here is
 * called; or another negative errno (those of pthread are positive), and then no device is
 * opened.
 */
int agate_bo_cache_init(struct agate_bo_cache *cache);

/**
 * agate_bo_cache_fini - free all BOs in the cache, and the cache
 * @dev: a device that is being closed; all its other BOs have been released
 */
void agate_bo_cache_fini(struct agate_device *dev);

/**
 * agate_bo_cache_bucket - which bucket has the BOs of this size?
 * @size: bytes
 *
 * The size is rounded down: 12 KiB is in the bucket of 8 KiB.  One below 4 KiB, 0 included, is
 * in bucket 0.
 */
unsigned int agate_bo_cache_bucket(uint64_t size);

/**
 * agate_bo_cache_fetch - take a BO out of the cache
 * @dev: the device
 * @size: bytes, whole pages
 * @flags: AGATE_ALLOC_*
 * @label: its new label, or NULL
 * @wait: also take a BO that the GPU still uses, and wait for it
 *
 * Looks into one bucket, from its oldest BO on.  A BO fits when it has at least this size
 * and exactly these flags.  Without @wait a fitting BO that is busy ends the search,
 * because those behind it went in later, and are likely to be busy, too: so one fetch
 * asks the kernel about one busy BO at most.  A BO whose pages the kernel took is freed,
 * and the search begins anew.  The kernel knows of the BO that is returned that its
 * contents matter again.
 *
 * Nobody waits for the GPU while holding the lock.
 *
 * Return: a BO without a reference and without a mapping, perhaps larger than @size, with
 * the bytes of its last user; NULL when there is none.
 */
struct agate_bo *agate_bo_cache_fetch(struct agate_device *dev, uint64_t size, uint32_t flags,
				      const char *label, bool wait);

/**
 * agate_bo_cache_obtain - get a BO, from the cache if possible
 * @dev: the device
 * @size: bytes, whole pages
 * @flags: AGATE_ALLOC_*, valid ones
 * @label: its label, a valid one, or NULL
 * @bo: where to put the BO, which has no reference and no mapping yet
 *
 * Tries in this order: an idle BO of the cache; a new one (agate_bo_alloc()); a busy BO of
 * the cache, and waits for it; a new one, after everything in the cache was freed.
 * With the cache switched off: a new one.
 *
 * Return: 0, or the error of the last agate_bo_alloc().
 */
int agate_bo_cache_obtain(struct agate_device *dev, uint64_t size, uint32_t flags,
			  const char *label, struct agate_bo **bo);

/**
 * agate_bo_cache_put - put a BO into the cache
 * @bo: a BO that had its last reference dropped, and is not mapped any more
 *
 * When it takes the BO, it also frees those that are stale now; nothing else does, so an idle
 * program keeps its cache.  A put that refuses its BO frees no other one.
 *
 * Return: false when the caller has to free it: it is SHARED, so other processes may use
 * it; the kernel does not take the advice that its contents do not matter; or the cache
 * is switched off.
 */
bool agate_bo_cache_put(struct agate_bo *bo);

/**
 * agate_bo_cache_evict_all - free all BOs in the cache
 * @dev: the device
 */
void agate_bo_cache_evict_all(struct agate_device *dev);

#pragma GCC visibility pop

#endif /* AGATE_BO_CACHE_H */
