/* SPDX-License-Identifier: MIT */
/*
 * What the tests of lab 04 share.
 *
 * A test looks at a BO's pages in two ways: as a client, and through the file of
 * tests/guest/kmod/shmem.c, which also makes it a user that no client can be.
 */
#ifndef AGATE_TESTS_SHMEM_H
#define AGATE_TESTS_SHMEM_H

#include <pthread.h>
#include <stdatomic.h>

#include "graded.h"

/* A file on the node; the test ends here when the driver has no topic "shmem". */
int shmem_open(void);

/* A BO of so many pages, not mapped; it has to come to be. */
struct bo make_bo(int fd, unsigned int pages);
/* One more VMA of the whole BO, or of its first pages. */
void *map_more(const struct bo *bo, unsigned int pages);
/* The first word of a page. */
volatile uint64_t *word(void *cpu, unsigned int page);
/* Write a word of the test's own into each page, and see that it is there. */
void fill(const struct bo *bo, uint64_t salt);
void check_filled(void *cpu, unsigned int pages, uint64_t salt, const char *when);

/* Read a word: false when that gave SIGBUS.  One thread at a time. */
bool can_read(const volatile uint64_t *at, uint64_t *value);
/* The kernel reads it for the process, and so gets no signal: several threads may do this. */
bool can_copy(const volatile uint64_t *at);

/* The newest BO, as the kernel sees it: close() ends the test's own uses of it, too. */
int look_at_newest(void);
/* The last lines of a test: close both files and the BO's handle; then nothing may be left. */
void done_with(int fd, int file, const struct bo *bo);
/* The same, where the device went and came back. */
void done_with_device(void);
/* A number by its name; the test fails here when a call has kept backing.lock. */
long look(int file, const char *name);
/* A command: 0 or its errno. */
int tell(int file, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The same, and the call has to succeed. */
void told(int file, const char *command);
/* So many pages are present, and somebody holds so many. */
void check_present(int file, unsigned int pages, const char *when);
/* Each mapping of the kernel has an address, the same one, and the pages in their order there. */
void check_maps(int file);
/* All pages in the BO's file are dirty, so they are kept. */
void check_dirty(int file, const char *when);
/* Calls of the driver that found the device there and have not let it go; needs a count. */
void count_device(void);
int64_t device_held(void);
/* The memory that the driver's own lines ask for from now on, and do not give back. */
int account_open(void);
unsigned int account_kept(int account);

/* Make the kernel's shrinkers, or those of page caches, take what they can. */
void shrink(void);
void drop_page_caches(void);
/* The BO is not needed any more; then the shrinker has to purge it. */
void advise_dontneed(const struct bo *bo);
void purge(const struct bo *bo, int file);
/* The system may take such a BO when it is short of memory; then there is nothing to see. */
void check_not_purged(void);
/* A BO that is DONTNEED, and not purged: the command works as for any other. */
void used_unneeded(const char *command, const char *undo);

/* A job with the BO: the GPU copies a word in it. */
int gpu_copy(struct bo *jobs, const struct bo *bo, uint64_t dst, uint64_t src);

/* Something on a thread of its own, which may have to wait. */
struct aside {
	pthread_t thread;
	void (*run)(void *arg);
	void *arg;
	atomic_int tid;
	atomic_bool done;
};

void aside_start(struct aside *aside, void (*run)(void *arg), void *arg);
/* Give it a while to end; a right program may make it wait instead. */
void aside_grace(struct aside *aside);
/* Wait until that task sleeps in the kernel, or for a lock; @done, if any, says that it ended. */
void await_asleep(int tid, const atomic_bool *done);
/* Once it does, send it a signal, which has a handler. */
void aside_signal(struct aside *aside);
/* Is it held at the gate of @symbol?  False when it ends without coming there. */
bool aside_is_held(struct aside *aside, const char *symbol);
void aside_join(struct aside *aside);
/* Open the gate; the test ends here when the call was not held until now. */
void let_go(const char *symbol);

/* A number below @limit that depends on a parameter. */
uint32_t draw(uint64_t *seed, uint32_t limit);

/* A touch of this mapping's first page succeeds, in a child. */
void check_touched(void *cpu);

/* A command of the kernel's side, for a thread aside. */
struct command {
	struct aside aside;
	const char *text;
	int file;
	int err;
};

void run_command(void *arg);

/* touch.c */
void test_lazy(void **state);
void test_touch(void **state);
void test_neighbours(void **state);
void test_given_back(void **state);
void test_kept(void **state);
void test_no_page(void **state);
/* uses.c */
void test_uses(void **state);
/* whole.c */
void test_pin(void **state);
void test_sg_table(void **state);
void test_vmap(void **state);
void test_half(void **state);
/* gpu.c */
void test_gpu(void **state);
void test_parts(void **state);
void test_dma_failure(void **state);
void test_unplugged(void **state);
void test_bounced(void **state);
/* once.c */
void test_once(void **state);
/* purge.c */
void test_purge(void **state);
void test_fault_purge(void **state);
/* debug.c */
void test_allocations(void **state);
void test_lives(void **state);

#endif /* AGATE_TESTS_SHMEM_H */
