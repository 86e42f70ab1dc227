/* SPDX-License-Identifier: MIT */
/*
 * What the tests of lab 03 share: BOs in one piece, the area for contiguous memory, and
 * the questions to a BO's backing.
 *
 * Every test begins with cma_open().
 */
#ifndef AGATE_TESTS_CMA_H
#define AGATE_TESTS_CMA_H

#include "graded.h"

#include "../kmod/piece.h"

/* More than the page allocator has in one piece, so it comes from the area. */
#define LARGE		(8u << 20)

/* A file on the node; the test ends here when the driver has no topic "cma". */
int cma_open(void);

/* A BO in one piece, not mapped; the rule is broken when there is none. */
struct bo make_piece(int fd, uint64_t size);
/* The same, mapped by the driver's own mmap(). */
struct bo map_piece(int fd, uint64_t size);
/* Map the first @size bytes: 0 or the errno. */
int try_map(struct bo *bo, uint64_t size, int prot);

/* Pages that are taken in the area for contiguous memory. */
long area_used(void);
/* Soon they are @pages again, or the rule is broken. */
void check_area(long pages, const char *when);

/* Ask the backing of the newest BO: call.result is 0 or an errno. */
struct piece_call ask(enum piece_op op, uint64_t offset, uint64_t size, uint64_t word);

/* The GPU copies 8 bytes, in a job that uses these two BOs, or this one. */
void gpu_copies(const struct bo *bo, const struct bo *other, uint64_t dst, uint64_t src);

/* The page faults of this process until now that needed no device. */
long minor_faults(void);

/* Watch the kernel's log from here on; the first warning since then, or NULL. */
void log_watch(void);
const char *log_warning(void);

void test_topic(void **state);
void test_created(void **state);
void test_released(void **state);
void test_quiet(void **state);
void test_exhausted(void **state);
void test_no_memory(void **state);
void test_runs(void **state);
void test_gpu(void **state);
void test_mapped(void **state);
void test_zeroed(void **state);
void test_unplugged(void **state);
void test_table(void **state);
void test_table_memory(void **state);
void test_kernel_map(void **state);
void test_allocations(void **state);
void test_table_allocations(void **state);
void test_outlives(void **state);

#endif /* AGATE_TESTS_CMA_H */
