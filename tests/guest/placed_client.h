/* SPDX-License-Identifier: MIT */
/*
 * A client whose BOs have a placement, on a card as run.sh makes it.
 */
#ifndef AGATE_TESTS_PLACED_CLIENT_H
#define AGATE_TESTS_PLACED_CLIENT_H

#include "guest.h"

#define MIB		(1ull << 20)
#define VRAM_SIZE	(64 * MIB)
#define VISIBLE		(16 * MIB)	/* what BAR2 shows of it */
#define SYSTEM		(1u << DRM_AGATE_REGION_SYSTEM)
#define VRAM		(1u << DRM_AGATE_REGION_VRAM)

/* Its jobs, and what it reads back, lie in BOs that never move. */
struct placed_client {
	int fd;
	struct bo jobs;
	struct bo seen;
};

/* @most: bytes that it reads back at a time. */
struct placed_client placed_open(uint64_t most);
/* On a file that is open. */
struct placed_client placed_open_on(int fd, uint64_t most);
/* Close all but BOs with a placement. */
void placed_close(struct placed_client *client);
/* Close the file of a device that has gone, or is about to go: then no handle has to be closed. */
void placed_abandon(struct placed_client *client);

/* CREATE_BO, made once: 0 or the errno. */
int placed_create(int fd, uint64_t size, uint32_t flags, uint32_t placement, uint32_t caching,
		  struct bo *bo);
/* Fails the test when that does not work. */
struct bo placed_bo(const struct placed_client *client, uint64_t size, uint32_t flags,
		    uint32_t placement);

/* Run one job on these BOs, of which the second may be NULL: 1, or its fence's error. */
int placed_run(struct placed_client *client, const struct agate_compute_payload *payload,
	       const struct bo *bo, const struct bo *other);
/* Submit a job that fills a BO, and wait for it: 0, or the errno of one of the two calls. */
int placed_try_fill(struct placed_client *client, const struct bo *bo, uint64_t value);
void placed_fill(struct placed_client *client, const struct bo *bo, uint64_t value);
/* The GPU sees this value in all words of a BO. */
void placed_check(struct placed_client *client, const struct bo *bo, uint64_t want);

/* Does a CPU that reads the first byte of a mapped BO live on?  SIGBUS may kill it. */
bool placed_readable(const struct bo *bo);

#endif /* AGATE_TESTS_PLACED_CLIENT_H */
