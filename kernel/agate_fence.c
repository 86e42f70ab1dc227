// SPDX-License-Identifier: GPL-2.0-only
/*
 * The slot fence: it signals when the hardware is done with a job.
 *
 * Only the scheduler sees it, but it lives as long as the finished fence, which
 * userspace sees (agate_sched_job_free()).  A process may keep the finished fence
 * in a sync_file long after it has closed the device, and the finished fence's name
 * comes from the scheduler.  So each slot fence keeps the schedulers and this
 * module alive, but not the device.
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
	static const char * const names[AGATE_FENCE_BIND + 1] = {
		"slot0", "slot1", "slot2", [AGATE_FENCE_MOVER] = "mover",
		[AGATE_FENCE_BIND] = "bind",
	};

	return names[to_agate_fence(fence)->slot];
}

static void fence_free(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct agate_fence, base.rcu));
}

/*
 * To wait for every task takes a tenth of a second; without fences there is no reason.  The
 * fences of agate_preempt.c are waited for as well: each comes after one of a slot.
 */
static bool fences_made;

/*
 * A reader under RCU may still see this fence, and this function has yet to return:
 * agate_fence_flush() makes the module's exit wait for both.  Decrement the counter
 * of fences last: once it is zero the module can be unloaded.
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

	fence = kzalloc(sizeof(*fence), GFP_KERNEL_ACCOUNT);
	if (!fence)
		return NULL;
	/* The caller's open file holds a reference to the module, too. */
	__module_get(THIS_MODULE);
	WRITE_ONCE(fences_made, true);
	fence->scheds = agate_scheds_get_fence(adev->queues.scheds);
	fence->slot = slot;
	spin_lock_init(&fence->lock);
	dma_fence_init(&fence->base, &fence_ops, &fence->lock, dma_fence_context_alloc(1), 1);
	return &fence->base;
}

void agate_fence_flush(void)
{
	if (READ_ONCE(fences_made))
		synchronize_rcu_tasks();
	rcu_barrier();
}
