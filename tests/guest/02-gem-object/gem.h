/* SPDX-License-Identifier: MIT */
/*
 * What the tests of lab 02 share: the topic, the counters, and the BOs as debugfs
 * lists them.
 *
 * Every test begins with gem_open().  Leaks are judged against what was there
 * when the test began, so that one test's leak is not the next one's failure.
 */
#ifndef AGATE_TESTS_GEM_OBJECT_H
#define AGATE_TESTS_GEM_OBJECT_H

#include <pthread.h>

#include "graded.h"

#define NO_HANDLE	0x7fffffffu
#define LABEL_ROOM	256

/* A file on the node; the test ends here when the driver has no topic "gem". */
int gem_open(void);

/* What is alive, of all files. */
struct live {
	long bos;
	long handles;
	long va_nodes;
	long vms;
};

struct live live_now(void);
/* As many as @before, soon, or the rule is broken by those that are left. */
void check_live(const struct live *before);

/* A BO as debugfs shows it. */
struct listed {
	uint64_t size;
	uint64_t resident;
	unsigned int handles;
	unsigned int refs;
	char flags[64];		/* names with commas between, "" for none */
	char label[LABEL_ROOM];
};

/* The BO that has address @va in the address space of @fd; false when none is listed. */
bool find_listed(int fd, uint64_t va, struct listed *bo);
/* The same, for a BO that has to be there. */
struct listed listed(const struct bo *bo);
/* The first @max BOs of this file that are listed; returns how many there are. */
unsigned int list_bos(int fd, struct listed *bos, unsigned int max);

/* A BO that has to be made, and is not mapped. */
struct bo make_bo(int fd, uint64_t size, uint32_t flags);
int get_offset(int fd, uint32_t handle, uint64_t *offset);
int set_label(int fd, uint32_t handle, const void *text, uint32_t len);
/* Names a handle to the file without looking at what it is a name of. */
bool handle_exists(int fd, uint32_t handle);

/*
 * A thread on the guest's second CPU, where it may be delayed, while the rest of the
 * test goes on on the first.
 */
void start_aside(pthread_t *thread, void *(*run)(void *), void *arg);
/* A thread beside the caller. */
void start_here(pthread_t *thread, void *(*run)(void *), void *arg);

/* How long a call is held; on a machine that is busy, longer at each attempt. */
#define WINDOW_US	10000
#define ATTEMPTS	5u

/* create.c */
void test_topic(void **state);
void test_bad_sizes(void **state);
void test_bad_flags(void **state);
void test_address(void **state);
void test_handle(void **state);
void test_sizes(void **state);
void test_flags(void **state);
/* names.c */
void test_lookup(void **state);
void test_close(void **state);
void test_other_file(void **state);
void test_mapped(void **state);
void test_file_close(void **state);
void test_many(void **state);
/* label.c */
void test_label(void **state);
void test_label_refused(void **state);
void test_label_fetched_once(void **state);
void test_label_stalled(void **state);
/* races.c */
void test_complete(void **state);
void test_closed_early(void **state);
void test_list_lock(void **state);
void test_locks(void **state);
/* races_debug.c */
void test_label_closed(void **state);
void test_race(void **state);
/* failures.c */
void test_no_addresses(void **state);
void test_no_memory(void **state);
void test_allocations(void **state);

#endif /* AGATE_TESTS_GEM_OBJECT_H */
