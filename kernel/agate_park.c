// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is freed later: see agate_park.h.
 */
#include <drm/drm_managed.h>

#include "agate_device.h"
#include "agate_park.h"

static void park_destroy(struct drm_device *drm, void *wq)
{
	destroy_workqueue(wq);
}

/* Destroying the queue finishes its work before agate_check_stats() counts. */
int agate_park_init(struct agate_device *adev)
{
	adev->park_wq = alloc_workqueue("agate-park", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!adev->park_wq)
		return -ENOMEM;
	return drmm_add_action_or_reset(&adev->drm, park_destroy, adev->park_wq);
}

static void parked_work(struct work_struct *work)
{
	struct agate_parked *parked = container_of(work, struct agate_parked, work);

	dma_fence_put(parked->fence);
	parked->release(parked);
}

static void parked_signalled(struct dma_fence *fence, struct dma_fence_cb *cb)
{
	struct agate_parked *parked = container_of(cb, struct agate_parked, cb);

	queue_work(parked->wq, &parked->work);
}

void agate_park(struct agate_device *adev, struct agate_parked *parked, struct dma_fence *fence,
		void (*release)(struct agate_parked *parked))
{
	parked->release = release;
	parked->fence = fence;
	parked->wq = adev->park_wq;
	INIT_WORK(&parked->work, parked_work);
	/* It fails when the fence has signalled. */
	if (!fence || dma_fence_add_callback(fence, &parked->cb, parked_signalled))
		queue_work(parked->wq, &parked->work);
}
