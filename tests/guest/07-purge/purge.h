/* SPDX-License-Identifier: MIT */
/*
 * What the tests of lab 07 share.
 *
 * Most tests call the driver's shrinker themselves, through the file of
 * tests/guest/kmod/purge.c, so that they know how many pages it was asked for, and in which
 * moment.  Some let the kernel do it.
 */
#ifndef AGATE_TESTS_PURGE_H
#define AGATE_TESTS_PURGE_H

#include <pthread.h>
#include <stdatomic.h>

#include "graded.h"

#define STOP	(-1)		/* SHRINK_STOP, as scan_answer() returns it */
#define ALL	1000000		/* more pages than there are */

/* A file on the node; the test ends here when the driver has no topic "purge". */
int purge_open(void);

/* A BO of so many pages, not mapped. */
struct bo make_bo(int fd, unsigned int pages);
/* The same, mapped, and a CPU has written into each page. */
struct bo full_bo(int fd, unsigned int pages, uint64_t salt);
/* The same, and a job of the GPU has used it; @jobs is another BO. */
struct bo used_bo(struct bo *jobs, unsigned int pages, uint64_t salt);
/* A mapping of so many pages shows what full_bo() has written. */
void check_full(void *cpu, unsigned int pages, uint64_t salt, const char *when);
volatile uint64_t *word(void *cpu, unsigned int page);
/* One more mapping. */
void *map_more(const struct bo *bo, unsigned int pages);
/* Read a word: false when that gave SIGBUS. */
bool can_read(const volatile uint64_t *at);

/* MADVISE: 0 or its errno; @retained is what the call says, or NULL. */
int advise(const struct bo *bo, uint32_t madv, uint32_t *retained);
/* The same: it has to work, and the answer is this one. */
void advised(const struct bo *bo, uint32_t madv, bool retained, const char *when);
#define dontneed(bo)	advised(bo, AGATE_MADV_DONTNEED, true, "DONTNEED")
#define willneed(bo)	advised(bo, AGATE_MADV_WILLNEED, true, "WILLNEED")

/* The file of the kernel's side; @newest: about the BO that was made last. */
int look_at(bool newest);
long look(int file, const char *name);
/* A command: 0 or its errno. */
int tell(int file, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void told(int file, const char *command);
/* Call the shrinker: pages that it counts, or has taken. */
long count(int file);
long scan(int file, unsigned int pages);
/* The same, and what it says when it has taken none. */
long scan_answer(int file, unsigned int pages);
/* It may take whole BOs only, but no further one: a scan that was to take so many pages. */
void check_enough(long taken, long pages);
/* The BO of this file was purged, or was not. */
bool is_purged(int file);
void check_purged(int file, const char *which);
void check_kept(int file, const char *which);
/* Is that lock of the BO taken all the while that the test looks? */
bool stays_locked(int file, const char *lock);
/* The list of BOs is a list, and has so many entries. */
void check_listed(long entries, const char *when);

/* Make the kernel call its shrinkers. */
void shrink(void);

/* A job with the BO: the GPU copies a word in it.  0, or the errno of SUBMIT. */
int gpu_copy(struct bo *jobs, const struct bo *bo, uint64_t dst, uint64_t src, uint32_t out_sync);

/* Something on a thread of its own, which may have to wait. */
struct aside {
	pthread_t thread;
	atomic_int tid;
	void (*run)(void *arg);
	void *arg;
	atomic_bool done;
};

void aside_start(struct aside *aside, void (*run)(void *arg), void *arg);
/* Until it has ended, or sleeps and does not go on: a right program may make it wait. */
void aside_settle(struct aside *aside);
/* Is it held at the gate of @symbol?  False when it ends without coming there. */
bool aside_is_held(struct aside *aside, const char *symbol);
void aside_join(struct aside *aside);
/* Open the gate; the test ends here when the call was not held until now. */
void let_go(const char *symbol);

/* A scan of all pages, on a thread of its own. */
struct scanning {
	struct aside aside;
	int file;
	long taken;
};

void scanning_start(struct scanning *scanning);

/* advice.c */
void test_advice(void **state);
void test_bad_calls(void **state);
void test_label(void **state);
/* shrinker.c */
void test_count(void **state);
void test_scan(void **state);
void test_order(void **state);
void test_purged(void **state);
void test_mapped(void **state);
void test_system(void **state);
/* races.c */
void test_tries(void **state);
void test_fault_race(void **state);
void test_advice_race(void **state);
void test_submit_race(void **state);
/* users.c */
void test_shared(void **state);
void test_busy(void **state);
void test_gpu(void **state);
/* pressure.c */
void test_pressure(void **state);
/* debug.c */
void test_closing(void **state);
void test_lives(void **state);
void test_allocations(void **state);

#endif /* AGATE_TESTS_PURGE_H */
