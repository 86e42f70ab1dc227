// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fence that says that the hardware is done with a job.
 *
 * Only the scheduler sees it, and lets go of it when the job is freed; so no
 * fence of this kind outlives the device or this module.
 */
#include <linux/dma-fence.h>
#include <linux/slab.h>

#include "agate_device.h"
#include "agate_slot.h"

/**
 * struct agate_fence - a job on a slot
 * @base: the fence
 * @lock: its lock
 * @adev: the device, for the counters
 * @slot: for the name
 */
struct agate_fence {
	struct dma_fence base;
	/* Protects the fence's callbacks; dma_fence_init() wants one. */
	spinlock_t lock;
	struct agate_device *adev;
	unsigned int slot;
};

static struct agate_fence *to_agate_fence(struct dma_fence *fence)
{
	return container_of(fence, struct agate_fence, base);
}

static const char *fence_driver_name(struct dma_fence *fence)
{
	return "agate";
}

static const char *fence_timeline_name(struct dma_fence *fence)
{
	static const char * const names[AGATE_MAX_SLOTS] = { "slot0", "slot1", "slot2" };

	return names[to_agate_fence(fence)->slot];
}

static void fence_release(struct dma_fence *fence)
{
	agate_stat_dec(&to_agate_fence(fence)->adev->stats, AGATE_STAT_FENCES);
	dma_fence_free(fence);
}

static const struct dma_fence_ops fence_ops = {
	.get_driver_name = fence_driver_name,
	.get_timeline_name = fence_timeline_name,
	.release = fence_release,
};

struct dma_fence *agate_fence_create(struct agate_device *adev, unsigned int slot)
{
	struct agate_fence *fence;

	fence = kzalloc(sizeof(*fence), GFP_KERNEL);
	if (!fence)
		return NULL;
	fence->adev = adev;
	fence->slot = slot;
	spin_lock_init(&fence->lock);
	dma_fence_init(&fence->base, &fence_ops, &fence->lock, dma_fence_context_alloc(1), 1);
	agate_stat_inc(&adev->stats, AGATE_STAT_FENCES);
	return &fence->base;
}
