/* SPDX-License-Identifier: MIT */
/* What the tests of lab 06 share: BOs whose pages tell their number, and their dma-bufs. */
#ifndef AGATE_TESTS_PRIME_H
#define AGATE_TESTS_PRIME_H

#include "graded.h"

#include "dmabuf.h"
#include "../kmod/foreign.h"

#define PAGES	4
#define SIZE	(PAGES * PAGE)

/* A file on the node; the test ends here when the driver has no topic "prime". */
int prime_open(void);
/* A mapped BO whose page n is filled with 0x10 + n. */
struct bo numbered_bo(int fd, uint32_t flags);
void number_pages(void *cpu);
/* These pages show their own numbers. */
void check_numbers(const void *cpu, const char *what);
/* HANDLE_TO_FD with DRM_RDWR, which has to work. */
int export_bo(const struct bo *bo);
/* FD_TO_HANDLE, which has to work: the BO with its address, not mapped. */
struct bo import_bo(int fd, int dmabuf);
/* mmap() of a whole dma-buf: 0 or the errno, and the mapping unless @cpu is NULL. */
int try_map(int dmabuf, int prot, int flags, void **cpu);
/*
 * A job of @jobs writes @value at @offset of @bo, and ends with this errno, or 0.  The driver stops
 * a job that takes too long, and on a machine that is very busy each one does: it is done again.
 */
int job_end(const struct bo *jobs, const struct bo *bo, uint32_t offset, uint64_t value);
/* A job writes @value at @offset of @bo, and is over. */
void gpu_writes(const struct bo *bo, uint32_t offset, uint64_t value);
/* The driver's counter, "bos" or "handles", shows so many more than at first, soon. */
void check_more(const char *counter, long expected, const char *what);
/* All is closed: none of them shows more, and the device has no more references. */
void check_gone(void);
/* From before the device goes: when all is closed after that, the core has freed it. */
void watch_device_end(void);
void check_device_ended(void);

/* A dma-buf of SIZE of a driver that exports as it is told to, and what was done to it. */
int foreign_dmabuf(enum foreign_kind kind, uint32_t flags);
struct foreign_seen foreign_seen(void);
struct foreign_look foreign_look(void);
/* Another driver imports a dma-buf, uses it, and gives it back. */
struct foreign_import foreign_import(int dmabuf);
/* The same, but it may fail to attach. */
struct foreign_import foreign_try_import(int dmabuf);
/* Another driver's file, to read and write, whose mmap() maps the dma-buf. */
int foreign_mapper(int dmabuf);
/* foreign_look() counts the changes of the list of imports without prime.lock. */
void watch_imports(bool on);
/* MADVISE: 0 or the errno. */
int advise(const struct bo *bo, uint32_t madv);
/* The newest BO looks as one of an address space, or not any more. */
void make_private(bool private);
/* Importers called the exporter as often, and as they may, and have put its dma-buf. */
void check_undone(uint32_t mapped);
/* The same after imports that have failed. */
void check_core_undone(uint32_t mapped);
/* MMAP_BO and mmap() of an imported BO: 0 or the errno. */
int try_map_bo(const struct bo *bo, int prot, void **cpu);
/* A job that writes the BO is submitted, and runs when the timeline is advanced. */
int gated_write(const struct bo *bo, const struct bo *jobs, uint64_t value);
/* Has the dma-buf no job that reads, or writes, it? */
bool is_idle(int dmabuf);
/* Everything that can be purged is, and what cannot be stays. */
void shrink(void);

/* out.c */
void test_one_each(void **state);
void test_self(void **state);
void test_refused(void **state);
void test_outlives(void **state);
void test_maps(void **state);
void test_read_only(void **state);
void test_advice(void **state);
/* use.c */
void test_jobs(void **state);
void test_importer(void **state);
void test_process(void **state);
void test_module(void **state);
/* in.c */
void test_import(void **state);
void test_names(void **state);
void test_returned(void **state);
void test_bad_memory(void **state);
void test_rights(void **state);
void test_parts(void **state);
void test_one_piece(void **state);
void test_bounced(void **state);
/* ends.c */
void test_cpu(void **state);
void test_kernel_map(void **state);
void test_other_device(void **state);
void test_removal(void **state);
void test_unplug(void **state);
void test_two_ends(void **state);
/* The device has gone, and comes again when nobody has any of the imports any more. */
void come_again(int fd, int dmabuf, unsigned int imports);
/* debug.c */
void test_lock_order(void **state);
void test_allocations(void **state);

#endif /* AGATE_TESTS_PRIME_H */
