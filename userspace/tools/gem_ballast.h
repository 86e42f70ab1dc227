/* SPDX-License-Identifier: MIT */
/*
 * Other BOs in the card's memory, which take turns there with those of the picture: with more
 * of them than there is room for, each pass begins with an eviction.
 */
#ifndef GEM_BALLAST_H
#define GEM_BALLAST_H

#include "agate.h"

#define GEM_BALLAST_TIMES	16u	/* the card's memory, at most */
#define GEM_BALLAST_PARTS	8u	/* BOs for each time */

struct gem_ballast {
	struct agate_device *dev;
	struct agate_bo *jobs;
	struct agate_bo *bo[GEM_BALLAST_TIMES * GEM_BALLAST_PARTS];
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

/* Let the GPU use as many of them as have room at the same time, and wait for it. */
int gem_ballast_use(struct gem_ballast *ballast);

#endif /* GEM_BALLAST_H */
