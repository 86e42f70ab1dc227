/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Placement (lab 21): managers of memory, and in which order a BO tries their places.
 *
 * Nothing here makes anybody leave: that is lab 23.  The model upstream is
 * ttm_resource.c and ttm_range_manager.c.
 */
#ifndef AGATE_PLACEMENT_H
#define AGATE_PLACEMENT_H

#include "agate_ttm.h"

struct drm_agate_region;

/**
 * agate_man_init - begin to give out memory
 * @man: zeroed; man->adev is set
 * @type: enum agate_mem_type
 * @size: bytes, a multiple of the page size
 * @ops: the kind
 *
 * man->visible and man->min_align are the caller's.
 */
void agate_man_init(struct agate_man *man, enum agate_mem_type type, u64 size,
		    const struct agate_man_ops *ops);

/**
 * agate_man_fini - end it
 * @man: nobody has a BO in it, and no range is parked
 *
 * Return: 0; -EBUSY, and a message, while memory is taken: then nothing has changed.
 */
int agate_man_fini(struct agate_man *man);

/** agate_vram_man_ops - the manager of VRAM, on lab 19's ranges */
extern const struct agate_man_ops agate_vram_man_ops;

/**
 * agate_places - where a BO may be, the best place first
 * @bo: the BO
 * @use: for which purpose
 * @places: out
 *
 * VALIDATE: VRAM before TT, as far as the BO's placement has them.  A BO that the CPUs map
 * stays inside visible VRAM; any other one fills VRAM from the top down, so that the visible
 * part stays free.  Only the last place has FORCE: others leave when there is nothing
 * better.  EVICT and PIN_TT: TT, whatever the placement says.  PIN_HERE: where the BO is, if
 * that is inside its placement or if it is pinned there, else as VALIDATE.
 *
 * Return: how many there are; 0 for a BO of no placement.
 */
unsigned int agate_places(const struct agate_ttm_bo *bo, const struct agate_man *vram,
			  enum agate_use use, struct agate_place *places);

/** agate_resource_fits - is a resource inside one of these places?  NULL is in none. */
bool agate_resource_fits(const struct agate_resource *res, const struct agate_place *places,
			 unsigned int count);

/**
 * agate_resource_try - take memory in the first place that has some; nobody leaves
 * @ttm: the device's memory
 * @bo: for which BO; its reservation is held.  NULL: for the driver itself, and nobody makes it
 *	leave
 * @size: bytes
 * @places: in this order
 * @count: how many
 * @res: out
 *
 * The resource counts as taken, and is at the recent end of the manager's list.
 *
 * Return: 0; -ENOSPC: no place has enough now; -ENOMEM, and no later place is tried; -EINVAL:
 * no place is large enough, or of a type that the device has.
 */
int agate_resource_try(struct agate_ttm *ttm, struct agate_ttm_bo *bo, u64 size,
		       const struct agate_place *places, unsigned int count,
		       struct agate_resource **res);

/**
 * agate_resource_free - give a resource back at once
 * @res: no fence uses the memory, and the CPUs do not map it; NULL does nothing
 */
void agate_resource_free(struct agate_resource *res);

/**
 * agate_resource_park - give it back when a fence has signalled
 * @res: its BO has left it
 * @fence: the reference is taken over; NULL: soon
 */
void agate_resource_park(struct agate_resource *res, struct dma_fence *fence);

/**
 * agate_io_reserve - the CPUs are going to map a resource
 * @res: the BO's reservation is held
 *
 * Counts; the first one calls the driver's io_reserve().
 *
 * Return: 0; the error of the hook, and then nothing is counted.
 */
int agate_io_reserve(struct agate_resource *res);

/** agate_io_free - undo one agate_io_reserve(); the last one calls io_free() */
void agate_io_free(struct agate_resource *res);

/* The kinds of memory that a client may ask for. */
#define AGATE_MAX_REGIONS	2

/**
 * agate_regions_fill - QUERY_REGIONS: what there is, and how much of it is taken
 * @adev: the device, which has a card
 * @regions: room for AGATE_MAX_REGIONS, zeroed; out
 *
 * VRAM that a fence still uses is taken, and so is the driver's own.  Of system memory the
 * pages count that BOs of all devices have.
 *
 * Return: how many there are.
 */
unsigned int agate_regions_fill(struct agate_device *adev, struct drm_agate_region *regions);

#endif /* AGATE_PLACEMENT_H */
