// SPDX-License-Identifier: MIT
/* BOs that need the card's memory, too: gem_ballast.h. */
#include "gem_ballast.h"

#include <errno.h>
#include <stdint.h>

#define REGIONS		8
#define PAGE		4096u
#define SEEN		PAGE		/* offset in the BO of the jobs */

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
		err = agate_bo_create(dev, SEEN + room / GEM_BALLAST_PARTS / PAGE * 8 + PAGE, 0,
				      "ballast jobs", &ballast->jobs);
	if (!err)
		err = agate_bo_mmap(ballast->jobs, &ballast->cpu);
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

static uint32_t pages(const struct agate_bo *bo)
{
	return (uint32_t)(agate_bo_size(bo) / PAGE);
}

/*
 * One job brings the first word of each page, and the next one fills the BO with another number, so
 * that its contents have to be kept.
 */
static int submit_jobs(struct gem_ballast *ballast, struct agate_bo *bo, uint64_t value,
		       struct agate_chain *chain)
{
	const struct agate_submit_bo bos[] = {
		{ ballast->jobs, AGATE_ACCESS_RW }, { bo, AGATE_ACCESS_RW },
	};
	const struct agate_compute_payload look = {
		.op = AGATE_COMPUTE_COPY_2D, .rows = pages(bo), .size = 8,
		.src = agate_bo_address(bo), .src_stride = PAGE,
		.dst = agate_bo_address(ballast->jobs) + SEEN, .dst_stride = 8,
	};
	const struct agate_compute_payload fill = {
		.op = AGATE_COMPUTE_FILL, .dst = agate_bo_address(bo), .size = agate_bo_size(bo),
		.value = value,
	};
	struct agate_submit submit = {
		.bos = bos, .bo_count = 2, .requirements = AGATE_JD_REQ_ONLY_COMPUTE,
	};
	int err = agate_chain_begin(chain, ballast->jobs, 0);

	if (!err)
		err = agate_chain_compute(chain, 0, &look);
	if (!err)
		err = agate_chain_compute(chain, 1, &fill);
	if (err)
		return err;
	submit.jc = agate_chain_address(chain);
	return agate_submit(ballast->dev, &submit);
}

static int check_pages(const struct gem_ballast *ballast, const struct agate_bo *bo, uint64_t holds)
{
	const uint64_t *seen = (const uint64_t *)((const char *)ballast->cpu + SEEN);
	uint32_t i;

	for (i = 0; i < pages(bo); i++) {
		if (seen[i] != holds)
			return -EBADMSG;
	}
	return 0;
}

static int use_one(struct gem_ballast *ballast, unsigned int n)
{
	struct agate_chain_result result;
	struct agate_chain chain;
	const uint64_t value = ballast->uses + 1;
	int err = submit_jobs(ballast, ballast->bo[n], value, &chain);

	if (!err)
		err = agate_bo_wait(ballast->jobs, INT64_MAX, true);
	if (!err)
		err = agate_chain_check(&chain, &result);
	if (!err)
		err = check_pages(ballast, ballast->bo[n], ballast->holds[n]);
	ballast->holds[n] = value;
	ballast->uses++;
	return err;
}

int gem_ballast_use(struct gem_ballast *ballast)
{
	unsigned int i;
	int err = 0;

	for (i = 0; i < GEM_BALLAST_PARTS && ballast->count && !err; i++) {
		err = use_one(ballast, ballast->next);
		ballast->next = (ballast->next + 1) % ballast->count;
	}
	return err;
}
