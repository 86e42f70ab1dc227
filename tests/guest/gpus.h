/* SPDX-License-Identifier: MIT */
/*
 * Two GPUs: opening each, and jobs of one that work on BOs of the other.
 */
#ifndef AGATE_TESTS_GPUS_H
#define AGATE_TESTS_GPUS_H

#include "dmabuf.h"

/* Bytes and words of the BOs that the jobs below work on. */
#define GPUS_SIZE	(4 * PAGE)
#define GPUS_WORDS	(GPUS_SIZE / 8)

/* Room for a GPU's name on the PCI bus. */
#define GPUS_NAME	32

/* Open the GPU @number of those on the bus, from 0 on, and look at it; fails the test. */
int gpus_open(unsigned int number);
/* The same; @name is its name on the bus. */
int gpus_open_named(unsigned int number, char *name);

/* -1 when there is no such GPU, or its node cannot be opened. */
int gpus_try_open(unsigned int number);

/* A BO of another GPU; the dma-buf is closed. */
struct bo gpus_import(int fd, const struct bo *theirs);

/* A job by which every word of a BO becomes @value. */
void gpus_fill_job(struct bo *jobs, uint32_t offset, const struct bo *bo, uint64_t value);
/* One that copies a BO to offset @at of another one; the job @next, or 0, follows. */
void gpus_copy_job(struct bo *jobs, uint32_t offset, uint64_t next, const struct bo *to,
		   uint64_t at, const struct bo *from);
/* Submit the job at this offset, which works on one BO beside its own; 0 or the errno. */
int gpus_submit(const struct bo *jobs, uint32_t offset, const struct bo *bo, uint32_t access,
		uint32_t in_sync);

/* Is every word @value? */
void gpus_check_words(const volatile uint64_t *words, uint64_t value);

/* cmocka teardown: nothing of either GPU is left. */
int gpus_nothing_left(void **state);

#endif /* AGATE_TESTS_GPUS_H */
