// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fence that says that the hardware is done with a job.
 *
 * Only the scheduler sees it, but it lives as long as the finished fence that
 * the world sees (agate_sched_job_free()).  That one may be in a sync_file of a
 * process that has closed the device long ago, and when asked for its name it
 * looks into the scheduler.  So each of these fences keeps the schedulers and
 * this module; the device may go.
 */
#include <linux/dma-fence.h>
#include <linux/module.h>
#include <linux/slab.h>

#include "agate_device.h"
#include "agate_slot.h"

/**
 * struct agate_fence - a job on a slot
 * @base: the fence
 * @lock: its lock
 * @scheds: the schedulers, with a reference
 * @slot: for the name
 */
struct agate_fence {
	struct dma_fence base;
	/* Protects the fence's callbacks; dma_fence_init() wants one. */
	spinlock_t lock;
	struct agate_scheds *scheds;
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

static void fence_free(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct agate_fence, base.rcu));
}

/*
 * Who looks at a fence under RCU may still see this one, and this function has to
 * return: agate_fence_flush() makes the module's end wait for both.  The counter
 * comes last: once it is zero the module can be unloaded.
 */
static void fence_release(struct dma_fence *fence)
{
	struct agate_scheds *scheds = to_agate_fence(fence)->scheds;

	call_rcu(&fence->rcu, fence_free);
	module_put(THIS_MODULE);
	agate_scheds_put_fence(scheds);
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
	/* The caller's open file has one, too. */
	__module_get(THIS_MODULE);
	fence->scheds = agate_scheds_get_fence(adev->queues.scheds);
	fence->slot = slot;
	spin_lock_init(&fence->lock);
	dma_fence_init(&fence->base, &fence_ops, &fence->lock, dma_fence_context_alloc(1), 1);
	return &fence->base;
}

void agate_fence_flush(void)
{
	synchronize_rcu_tasks();
	rcu_barrier();
}
