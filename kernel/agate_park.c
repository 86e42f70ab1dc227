// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is freed later: see agate_park.h.
 */
#include <drm/drm_managed.h>

#include "agate_device.h"
#include "agate_park.h"

/*
 * Every job is parked at its end.  A worker that woke up for each would take a processor from
 * the threads that make, run and end the next job, so it lets some more come first.
 */
#define PARK_JIFFIES		1

void agate_park_release(struct agate_park *park)
{
	struct llist_node *due = llist_reverse_order(llist_del_all(&park->due));
	struct agate_parked *parked, *next;

	llist_for_each_entry_safe(parked, next, due, node) {
		struct dma_fence *fence = parked->fence;

		/* Until then others may look which fence the object waits for. */
		parked->release(parked);
		dma_fence_put(fence);
	}
}

static void park_work(struct work_struct *work)
{
	agate_park_release(container_of(to_delayed_work(work), struct agate_park, work));
}

void agate_park_flush(struct agate_park *park)
{
	flush_delayed_work(&park->work);
	agate_park_release(park);
}

void agate_park_drain(struct agate_park *park)
{
	while (flush_delayed_work(&park->work))
		;
}

static void park_destroy(struct drm_device *drm, void *data)
{
	struct agate_park *park = data;

	agate_park_drain(park);
	destroy_workqueue(park->wq);
}

/* The queue finishes its work before agate_check_stats() counts. */
int agate_park_init(struct agate_device *adev, struct agate_park *park,
		    struct lock_class_key *key)
{
	init_llist_head(&park->due);
	INIT_DELAYED_WORK(&park->work, park_work);
#ifdef CONFIG_LOCKDEP
	lockdep_init_map(&park->work.work.lockdep_map, "agate park", key, 0);
#endif
	park->wq = alloc_workqueue("agate-park", WQ_UNBOUND | WQ_MEM_RECLAIM, 0);
	if (!park->wq)
		return -ENOMEM;
	return drmm_add_action_or_reset(&adev->drm, park_destroy, park);
}

/* The first one on the list wakes the worker for all that come until then. */
static void park_due(struct agate_parked *parked)
{
	struct agate_park *park = parked->park;

	if (llist_add(&parked->node, &park->due))
		queue_delayed_work(park->wq, &park->work, PARK_JIFFIES);
}

static void parked_signalled(struct dma_fence *fence, struct dma_fence_cb *cb)
{
	park_due(container_of(cb, struct agate_parked, cb));
}

/* The fence's lock waits for a callback that runs. */
void agate_park_now(struct agate_parked *parked)
{
	if (parked->fence && dma_fence_remove_callback(parked->fence, &parked->cb))
		park_due(parked);
}

void agate_park(struct agate_park *park, struct agate_parked *parked, struct dma_fence *fence,
		void (*release)(struct agate_parked *parked))
{
	parked->park = park;
	parked->release = release;
	parked->fence = fence;
	/* It fails when the fence has signalled. */
	if (!fence || dma_fence_add_callback(fence, &parked->cb, parked_signalled))
		park_due(parked);
}
