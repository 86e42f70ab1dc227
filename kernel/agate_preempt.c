// SPDX-License-Identifier: GPL-2.0-only
/*
 * The fence of a long-running chain that is on the slot: see agate_long.h.
 */
#include <linux/module.h>
#include <linux/slab.h>

#include "agate_device.h"
#include "agate_long_ops.h"

static struct agate_preempt *to_preempt(struct dma_fence *fence)
{
	return container_of(fence, struct agate_preempt, base);
}

static const char *preempt_driver_name(struct dma_fence *fence)
{
	return "agate";
}

static const char *preempt_timeline_name(struct dma_fence *fence)
{
	return "preempt";
}

static bool preempt_enable_signaling(struct dma_fence *fence)
{
	struct agate_preempt *preempt = to_preempt(fence);
	struct agate_long *lng = &preempt->adev->lng;

	WRITE_ONCE(preempt->asked, true);
	queue_work(lng->stop_wq, &lng->stop);
	return true;
}

static void preempt_free(struct rcu_head *rcu)
{
	kfree(container_of(rcu, struct agate_preempt, base.rcu));
}

/* As fence_release() in agate_fence.c. */
static void preempt_release(struct dma_fence *fence)
{
	call_rcu(&fence->rcu, preempt_free);
	module_put(THIS_MODULE);
}

static const struct dma_fence_ops preempt_ops = {
	.get_driver_name = preempt_driver_name,
	.get_timeline_name = preempt_timeline_name,
	.enable_signaling = preempt_enable_signaling,
	.release = preempt_release,
};

struct agate_preempt *agate_preempt_create(struct agate_device *adev)
{
	struct agate_preempt *preempt = kzalloc(sizeof(*preempt), GFP_KERNEL_ACCOUNT);

	if (!preempt)
		return NULL;
	/* The job's file holds a reference to the module, too. */
	__module_get(THIS_MODULE);
	preempt->adev = adev;
	spin_lock_init(&preempt->lock);
	dma_fence_init(&preempt->base, &preempt_ops, &preempt->lock,
		       dma_fence_context_alloc(1), 1);
	return preempt;
}

void agate_preempt_signal(struct agate_long *lng, struct agate_preempt *preempt)
{
	bool cookie = dma_fence_begin_signalling();
	bool ours;

	spin_lock(&lng->lock);
	ours = lng->preempt == preempt;
	if (ours)
		lng->preempt = NULL;
	spin_unlock(&lng->lock);
	if (ours) {
		dma_fence_signal(&preempt->base);
		dma_fence_put(&preempt->base);
	}
	dma_fence_end_signalling(cookie);
}
