// SPDX-License-Identifier: MIT
/* BOs that need the card's memory, too: gem_ballast.h. */
#include "gem_ballast.h"

#include <errno.h>
#include <stdint.h>

#define REGIONS		8

/* Bytes of the card's memory that are not the driver's own. */
static int find_room(struct agate_device *dev, uint64_t *room)
{
	struct drm_agate_region regions[REGIONS];
	uint32_t count = REGIONS, i;
	int err = agate_device_get_regions(dev, regions, &count);

	if (err)
		return err;
	for (i = 0; i < count && i < REGIONS; i++) {
		if (regions[i].type == DRM_AGATE_REGION_VRAM) {
			*room = regions[i].size - regions[i].used;
			return 0;
		}
	}
	return -EOPNOTSUPP;
}

int gem_ballast_create(struct gem_ballast *ballast, struct agate_device *dev, unsigned int times)
{
	const unsigned int count = times * GEM_BALLAST_PARTS;
	uint64_t room;
	int err;

	*ballast = (struct gem_ballast){ .dev = dev };
	if (!times)
		return 0;
	err = find_room(dev, &room);
	if (!err)
		err = agate_bo_create(dev, 4096, 0, "ballast jobs", &ballast->jobs);
	while (!err && ballast->count < count) {
		err = agate_bo_create(dev, room / GEM_BALLAST_PARTS,
				      AGATE_ALLOC_VRAM | AGATE_ALLOC_INVISIBLE, "ballast",
				      &ballast->bo[ballast->count]);
		ballast->count += !err;
	}
	if (err)
		gem_ballast_destroy(ballast);
	return err;
}

void gem_ballast_destroy(struct gem_ballast *ballast)
{
	while (ballast->count)
		agate_bo_unreference(ballast->bo[--ballast->count]);
	agate_bo_unreference(ballast->jobs);
	ballast->jobs = NULL;
}

/* The job that writes a number into a BO, so that its contents have to be kept. */
static int submit_write(struct gem_ballast *ballast, struct agate_bo *bo, struct agate_chain *chain)
{
	const struct agate_submit_bo bos[] = {
		{ ballast->jobs, AGATE_ACCESS_RW }, { bo, AGATE_ACCESS_WRITE },
	};
	const struct agate_write_value_payload payload = {
		.address = agate_bo_address(bo), .type = AGATE_WRITE_IMMEDIATE_64,
		.immediate = ballast->uses,
	};
	struct agate_submit submit = { .bos = bos, .bo_count = 2 };
	int err = agate_chain_begin(chain, ballast->jobs, 0);

	if (!err)
		err = agate_chain_write_value(chain, 0, &payload);
	if (err)
		return err;
	submit.jc = agate_chain_address(chain);
	return agate_submit(ballast->dev, &submit);
}

static int use_one(struct gem_ballast *ballast, struct agate_bo *bo)
{
	struct agate_chain_result result;
	struct agate_chain chain;
	int err = submit_write(ballast, bo, &chain);

	if (!err)
		err = agate_bo_wait(ballast->jobs, INT64_MAX, true);
	if (!err)
		err = agate_chain_check(&chain, &result);
	ballast->uses++;
	return err;
}

int gem_ballast_use(struct gem_ballast *ballast)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < GEM_BALLAST_PARTS && ballast->count && !err; i++) {
		err = use_one(ballast, ballast->bo[ballast->next]);
		ballast->next = (ballast->next + 1) % ballast->count;
	}
	return err;
}
