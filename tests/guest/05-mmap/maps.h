/* SPDX-License-Identifier: MIT */
/* What the tests of lab 05 share: BOs whose pages tell their number, and mappings of them. */
#ifndef AGATE_TESTS_MMAP_H
#define AGATE_TESTS_MMAP_H

#include "graded.h"

#include "../kmod/mapped.h"

#define PAGES	4
#define SIZE	(PAGES * PAGE)

/*
 * A file on the node; from here on a signal is told as a page that did not come.  The test ends
 * here when the driver has no topic "mmap".
 */
int maps_open(void);
/* MMAP_BO: 0 or the errno. */
int ask_offset(int fd, uint32_t handle, uint32_t flags, uint64_t *offset);
/* The same, which has to succeed. */
uint64_t offset_of(const struct bo *bo);
/* mmap() of a BO that has to be made: 0 or the errno, and the mapping unless @cpu is NULL. */
int try_map(int fd, uint64_t offset, size_t size, int prot, int flags, void **cpu);
/* Map the whole BO shared; it has to work. */
void *map_bo(const struct bo *bo, int prot);
struct bo make_bo(int fd, uint64_t size, uint32_t flags);
/* A BO whose page n is filled with 0x10 + n, unmapped again. */
struct bo numbered_bo(int fd, uint32_t flags);
/* These pages of the mapping at @cpu, which begins at page 0, show their own numbers. */
void check_numbers(const void *cpu, int first, int count, const char *what);
/* Unmap a part of a mapping: what is left is one VMA more, or a shorter one. */
void cut(void *at, size_t size);
/* In a child: touch one byte; the signal that ended the child, or 0; SIGALRM: no end. */
int touch(void *at, bool write);
void check_signal(int seen, int expected, const char *what);
/* The driver's counter, "bos", "cpu_maps" or "pages", shows so many more than at first, soon. */
void check_more(const char *counter, long expected, const char *what);
/* None of them shows more. */
void check_gone(void);
/* Close the BO and the file; nothing may be left. */
void done_with(const struct bo *bo);

/*
 * unseen.c.  A range for the newest BO on the device's file, whatever BO it is: the offset that
 * MMAP_BO would answer.
 */
uint64_t range_of_newest(void);
/* The VMA at @cpu has the caching that its flags say. */
void check_plain(const void *cpu);
/* From here to check_filled(), a backing that fills in a table sets a vm_page_prot of its own. */
int watch_filling(enum mapped_by by);
/*
 * The mapping at @cpu was made since, and what the mmap() of the backing, or of the other driver,
 * set is there.
 */
void check_filled(int file, const void *cpu, bool foreign);
/* From here on this process makes BOs of a backing that the driver does not know; its file. */
int own_backing(void);
/* How its mmap() was called since. */
void check_called(int file);
/* A dma-buf of SIZE of another driver, which may only be read. */
int read_only_dmabuf(void);

/* names.c */
void test_offset(void **state);
void test_bad_calls(void **state);
void test_who(void **state);
void test_closed_early(void **state);
void test_allocations(void **state);
/* rights.c */
void test_refused(void **state);
void test_read_only(void **state);
void test_whole(void **state);
void test_grow(void **state);
void test_foreign(void **state);
/* pages.c */
void test_faults(void **state);
void test_split(void **state);
void test_counted(void **state);
void test_outlives(void **state);
void test_purged(void **state);
void test_gpu(void **state);
void test_gone(void **state);
void test_last_close(void **state);

#endif /* AGATE_TESTS_MMAP_H */
