/* SPDX-License-Identifier: MIT */
/*
 * Helpers of the tests that use upstream's Panfrost.
 *
 * They stand on those of the guest tests (guest.h).  Jobs, sync objects and errors are the
 * same for both drivers; what differs between their uAPIs is here.
 */
#ifndef AGATE_TESTS_PANFROST_H
#define AGATE_TESTS_PANFROST_H

#include "guest.h"

#include "panfrost_drm.h"

/* Where jobs of a one-page BO write. */
#define DATA		2048u
/* An address inside the address space, but in no BO. */
#define UNMAPPED	0xf0000000ull

/* Open Panfrost's render node; fails the test when there is none. */
int panfrost_open(void);

int panfrost_create(int fd, uint32_t size, uint32_t flags, struct bo *bo);
/* Create and map a BO; fails the test when that does not work. */
struct bo panfrost_bo(int fd, uint32_t size, uint32_t flags);
/* What GET_PARAM says; fails the test when it refuses. */
uint64_t panfrost_param(int fd, enum drm_panfrost_param param);

/* Submit one chain that uses n BOs; optionally signal a sync object (0: none). */
int panfrost_submit(int fd, uint64_t jc, uint32_t requirements, const uint32_t *handles,
		    uint32_t n, uint32_t out_sync);
/* Submit the chain at the start of a BO, which uses only that BO. */
int panfrost_start(const struct bo *bo, uint32_t requirements);
/* The same, and wait until it has ended. */
int panfrost_run(const struct bo *bo, uint32_t requirements);
/* Start it; returns a sync_file with its fence, for guest_fence_end(). */
int panfrost_start_fence(const struct bo *bo, uint32_t requirements);

/* As guest_wait(); the wait for a job that runs on may end a little before its deadline. */
int panfrost_wait(const struct bo *bo, int64_t deadline);

/* Write a job at the start of a BO that stores a value at DATA. */
void panfrost_job_store(struct bo *bo, uint64_t value);
/* Write a job at the start of a BO whose next is itself: it runs until it is stopped. */
void panfrost_job_endless(struct bo *bo);
/* Write a job at the start of a BO that faults. */
void panfrost_job_faulty(struct bo *bo);

/* 64 bits of a mapped BO, and the status word of the job at an offset. */
uint64_t panfrost_word(const struct bo *bo, uint32_t offset);
uint32_t panfrost_status(const struct bo *bo, uint32_t job);

/*
 * Print that a bug of upstream's showed just now; @where is a file and its line in
 * Linux 6.1.192.
 */
void panfrost_bug(const char *where, const char *what);

#endif /* AGATE_TESTS_PANFROST_H */
