// SPDX-License-Identifier: GPL-2.0-only
/*
 * The order of the driver's locks, for lockdep: see agate_lock_order.h.
 */
#include <linux/dma-fence.h>
#include <linux/dma-resv.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/spinlock.h>

#include "agate_lock_order.h"

struct lock_class_key agate_lock_keys[AGATE_LOCK_COUNT];

const char * const agate_lock_names[AGATE_LOCK_COUNT] = {
	[AGATE_LOCK_UNPLUG] = "agate unplug_lock",
	[AGATE_LOCK_PRIME] = "agate prime.lock",
	[AGATE_LOCK_VM] = "agate vm->lock",
	[AGATE_LOCK_COLLECT] = "agate bound.userptr_lock",
	[AGATE_LOCK_ENTITIES] = "agate entities->lock",
	[AGATE_LOCK_BACKING] = "agate backing.lock",
	[AGATE_LOCK_PURGE] = "agate purge.lock",
	[AGATE_LOCK_KMEM] = "agate card.kmem_lock",
	[AGATE_LOCK_MAN] = "agate man->lock",
	[AGATE_LOCK_GGTT] = "agate ggtt.lock",
	[AGATE_LOCK_BOUND] = "agate ttm.bound_lock",
	[AGATE_LOCK_USERPTR] = "agate userptr_lock",
	[AGATE_LOCK_RESET] = "agate reset.lock",
	[AGATE_LOCK_PM] = "agate pm.lock",
	[AGATE_LOCK_PT] = "agate vm->pt_lock",
	[AGATE_LOCK_HAND_OVER] = "agate hand_over_lock",
	[AGATE_LOCK_PUSH] = "agate mover.push_lock",
	[AGATE_LOCK_TOUCH] = "agate toucher.lock",
	[AGATE_LOCK_LONG] = "agate lng.lock",
	[AGATE_LOCK_SLOTS] = "agate slots.lock",
	[AGATE_LOCK_MMU] = "agate mmu.lock",
	[AGATE_LOCK_MOVER] = "agate mover.lock",
	[AGATE_LOCK_BUS] = "agate bus.lock",
	[AGATE_LOCK_LRU] = "agate ttm.lru_lock",
	[AGATE_LOCK_POOL] = "agate pool lists",
	[AGATE_LOCK_SCAN] = "agate scan.lock",
};

/*
 * One lock of each kind: the rwsems, a mutex for each other one below AGATE_LOCK_TOUCH, and a
 * spinlock from there on.
 */
struct dummies {
	struct rw_semaphore vm;
	struct rw_semaphore userptr;
	struct dma_resv resv;
	struct mutex mutex[AGATE_LOCK_TOUCH];	/* only lockdep looks at them */
	spinlock_t spin[AGATE_LOCK_COUNT];	/* the first ones are not used */
};

static void __init dummies_init(struct dummies *d)
{
	unsigned int i;

	dma_resv_init(&d->resv);
	init_rwsem(&d->vm);
	agate_lock_class(&d->vm, AGATE_LOCK_VM);
	init_rwsem(&d->userptr);
	agate_lock_class(&d->userptr, AGATE_LOCK_USERPTR);
	for (i = 0; i < AGATE_LOCK_TOUCH; i++) {
		mutex_init(&d->mutex[i]);
		agate_lock_class(&d->mutex[i], i);
	}
	for (; i < AGATE_LOCK_COUNT; i++) {
		spin_lock_init(&d->spin[i]);
		agate_lock_class(&d->spin[i], i);
	}
}

static void __init take_signalling(struct dummies *d)
{
	unsigned long flags;
	bool cookie;

	cookie = dma_fence_begin_signalling();
	mutex_lock(&d->mutex[AGATE_LOCK_PM]);
	mutex_lock(&d->mutex[AGATE_LOCK_PT]);
	mutex_lock(&d->mutex[AGATE_LOCK_HAND_OVER]);
	mutex_lock(&d->mutex[AGATE_LOCK_PUSH]);
	spin_lock(&d->spin[AGATE_LOCK_TOUCH]);
	spin_lock(&d->spin[AGATE_LOCK_LONG]);
	spin_lock(&d->spin[AGATE_LOCK_SLOTS]);
	spin_lock(&d->spin[AGATE_LOCK_MMU]);
	spin_lock(&d->spin[AGATE_LOCK_MOVER]);
	spin_lock_irqsave(&d->spin[AGATE_LOCK_BUS], flags);
	spin_unlock_irqrestore(&d->spin[AGATE_LOCK_BUS], flags);
	spin_unlock(&d->spin[AGATE_LOCK_MOVER]);
	spin_unlock(&d->spin[AGATE_LOCK_MMU]);
	spin_unlock(&d->spin[AGATE_LOCK_SLOTS]);
	spin_unlock(&d->spin[AGATE_LOCK_LONG]);
	spin_unlock(&d->spin[AGATE_LOCK_TOUCH]);
	mutex_unlock(&d->mutex[AGATE_LOCK_PUSH]);
	mutex_unlock(&d->mutex[AGATE_LOCK_HAND_OVER]);
	mutex_unlock(&d->mutex[AGATE_LOCK_PT]);
	mutex_unlock(&d->mutex[AGATE_LOCK_PM]);
	dma_fence_end_signalling(cookie);
}

static void __init wait_for_a_fence(void)
{
	struct dma_fence *signalled = dma_fence_get_stub();

	dma_fence_wait(signalled, false);
	dma_fence_put(signalled);
}

static void __init take_one_by_one(struct dummies *d, enum agate_lock first, enum agate_lock last)
{
	unsigned int i;

	for (i = first; i <= last; i++) {
		mutex_lock(&d->mutex[i]);
		mutex_unlock(&d->mutex[i]);
	}
}

/* The card's locks.  Nobody allocates memory under them; the first is outside of the others. */
static void __init take_card(struct dummies *d)
{
	unsigned int i;

	take_one_by_one(d, AGATE_LOCK_MAN, AGATE_LOCK_BOUND);
	mutex_lock(&d->mutex[AGATE_LOCK_KMEM]);
	take_one_by_one(d, AGATE_LOCK_MAN, AGATE_LOCK_BOUND);
	mutex_unlock(&d->mutex[AGATE_LOCK_KMEM]);
	for (i = AGATE_LOCK_LRU; i <= AGATE_LOCK_SCAN; i++) {
		spin_lock(&d->spin[i]);
		spin_unlock(&d->spin[i]);
	}
}

/* Memory is allocated under each of these. */
static void __init take_below_resv(struct dummies *d)
{
	unsigned int i;

	for (i = AGATE_LOCK_ENTITIES; i <= AGATE_LOCK_PURGE; i++)
		mutex_lock(&d->mutex[i]);
	fs_reclaim_acquire(GFP_KERNEL);
	wait_for_a_fence();
	take_card(d);
	down_write(&d->userptr);
	up_write(&d->userptr);
	take_signalling(d);
	fs_reclaim_release(GFP_KERNEL);
	while (i-- > AGATE_LOCK_ENTITIES)
		mutex_unlock(&d->mutex[i]);
}

static void __init take_resv(struct dummies *d)
{
	struct ww_acquire_ctx ticket;

	ww_acquire_init(&ticket, &reservation_ww_class);
	dma_resv_lock(&d->resv, &ticket);
	take_below_resv(d);
	dma_resv_unlock(&d->resv);
	ww_acquire_fini(&ticket);
}

void __init agate_lock_order_prime(void)
{
	struct dummies *d;

	if (!IS_ENABLED(CONFIG_PROVE_LOCKING))
		return;
	d = kzalloc(sizeof(*d), GFP_KERNEL_ACCOUNT);
	if (!d)
		return;
	dummies_init(d);
	mutex_lock(&d->mutex[AGATE_LOCK_UNPLUG]);
	mutex_lock(&d->mutex[AGATE_LOCK_RESET]);
	take_signalling(d);
	mutex_unlock(&d->mutex[AGATE_LOCK_RESET]);
	down_write(&d->vm);
	mutex_lock(&d->mutex[AGATE_LOCK_COLLECT]);
	if (current->mm)
		mmap_read_lock(current->mm);
	mutex_lock(&d->mutex[AGATE_LOCK_PRIME]);
	take_resv(d);
	mutex_unlock(&d->mutex[AGATE_LOCK_PRIME]);
	if (current->mm)
		mmap_read_unlock(current->mm);
	mutex_unlock(&d->mutex[AGATE_LOCK_COLLECT]);
	up_write(&d->vm);
	mutex_unlock(&d->mutex[AGATE_LOCK_UNPLUG]);
	dma_resv_fini(&d->resv);
	kfree(d);
}
