/* SPDX-License-Identifier: MIT */
/*
 * Other BOs in the card's memory, which take turns there with those of the picture: with more
 * of them than there is room for, each use evicts whatever nobody uses at that time.
 */
#ifndef GEM_BALLAST_H
#define GEM_BALLAST_H

#include "agate.h"

#define GEM_BALLAST_TIMES	16u	/* the card's memory, at most */
#define GEM_BALLAST_PARTS	8u	/* BOs for each time */

struct gem_ballast {
	struct agate_device *dev;
	struct agate_bo *jobs;		/* and, from SEEN on, a word from each page of a BO */
	void *cpu;			/* the jobs */
	struct agate_bo *bo[GEM_BALLAST_TIMES * GEM_BALLAST_PARTS];
	uint64_t holds[GEM_BALLAST_TIMES * GEM_BALLAST_PARTS];
	unsigned int count, next;
	uint64_t uses;
};

/*
 * BOs of @times as much memory as the card has.  0 or a negative errno, and then there is
 * nothing to destroy; -EOPNOTSUPP: there is no card.
 */
int gem_ballast_create(struct gem_ballast *ballast, struct agate_device *dev, unsigned int times);
/* An empty one may be destroyed, too. */
void gem_ballast_destroy(struct gem_ballast *ballast);

/*
 * Let the GPU read and then write all of as many of them as have room at the same time, and wait
 * for it.  0 or a negative errno; -EBADMSG: one does not hold what the GPU wrote there before.
 */
int gem_ballast_use(struct gem_ballast *ballast);

#endif /* GEM_BALLAST_H */
