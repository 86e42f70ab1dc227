// SPDX-License-Identifier: GPL-2.0-only
/*
 * The limit of system memory for placed BOs: see agate_limit.h.
 */
#include <linux/atomic.h>
#include <linux/dma-fence.h>
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/mutex.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/wait_bit.h>
#include <linux/workqueue.h>
#include <drm/drm_drv.h>

#include "agate_device.h"
#include "agate_evict.h"
#include "agate_limit.h"
#include "agate_park.h"
#include "agate_pool.h"
#include "agate_tt.h"
#include "agate_ttm.h"

static unsigned int page_limit;
module_param(page_limit, uint, 0444);
MODULE_PARM_DESC(page_limit, "MiB of system memory for the placed BOs of all cards (default: half of all memory)");

/*
 * The holder of @lock may hold reservations, too, but waits for none, nor for anybody's job: it
 * swaps only what it can swap at once.  If the GPU has to forget a BO during a reset, it waits for
 * the end of that, which needs no memory.
 */
static DEFINE_MUTEX(lock);
static LIST_HEAD(devices);	/* struct agate_pages (device): the next one's turn first */
static unsigned long swapped;	/* pages, so far */
static atomic64_t parked;	/* how often pages were; wait_var_event() waits for it */
static atomic_t leaving;	/* BOs whose pages nobody finds just now */

static struct agate_glob glob = { .lock = __SPIN_LOCK_UNLOCKED(glob.lock) };

/* ---- Swap -------------------------------------------------------------- */

static struct agate_device *device_of(struct agate_pages *pages)
{
	return container_of(pages, struct agate_device, pages);
}

/* The GPU may have to forget the BO, so the device must stay.  Return: pages, or an error. */
static long swap_on(struct agate_device *adev, struct agate_ttm_ctx *ctx)
{
	long freed;
	int idx;

	if (!drm_dev_enter(&adev->drm, &idx))
		return -ENODEV;
	freed = agate_ttm_swap_one(&adev->ttm, ctx);
	drm_dev_exit(idx);
	return freed;
}

/* Each device in its turn.  Return: 0; -EAGAIN: a BO that dies has pages; -EBUSY: no BO has any. */
static int swap_idle(void)
{
	struct agate_ttm_ctx ctx = { .no_wait = true };
	struct agate_pages *pages;
	int ret = -EBUSY;
	long freed;

	lockdep_assert_held(&lock);
	list_for_each_entry(pages, &devices, device) {
		freed = swap_on(device_of(pages), &ctx);
		if (freed == -EAGAIN)
			ret = -EAGAIN;
		if (freed <= 0)
			continue;
		swapped += freed;
		list_move_tail(&pages->device, &devices);
		return 0;
	}
	return ret;
}

static bool is_crowded(void)
{
	bool crowded;

	spin_lock(&glob.lock);
	crowded = glob.used > glob.swap_limit;
	spin_unlock(&glob.lock);
	return crowded;
}

static void swap_work(struct work_struct *work)
{
	int ret = 0;

	while (!ret && is_crowded()) {
		mutex_lock(&lock);
		ret = swap_idle();
		mutex_unlock(&lock);
		cond_resched();
	}
}

static DECLARE_WORK(worker, swap_work);

static void wake(struct agate_glob *unused)
{
	queue_work(system_unbound_wq, &worker);
}

/* ---- Who needs more ----------------------------------------------------- */

/* What the oldest parked pages wait for: a fence, or the worker alone; false: there are none. */
static bool first_parked(struct agate_device *adev, struct dma_fence **fence)
{
	struct agate_tt *tt;

	spin_lock(&adev->ttm.lru_lock);
	tt = list_first_entry_or_null(&adev->pages.parked, struct agate_tt, link);
	if (tt)
		*fence = dma_fence_get(tt->parked.fence);
	spin_unlock(&adev->ttm.lru_lock);
	return tt;
}

/* Pages that are about to become free cost nobody anything.  Return: as dma_fence_wait(). */
static int wait_for_parked(struct agate_device *adev, struct agate_ttm_ctx *ctx, bool *more)
{
	struct dma_fence *fence = NULL;
	int ret = 0;

	*more = !ctx->no_wait && first_parked(adev, &fence);
	if (fence)
		ret = dma_fence_wait(fence, ctx->interruptible);
	dma_fence_put(fence);
	if (*more && !ret) {
		/* Its callback may have yet to come: then the caller comes again. */
		agate_park_flush(&adev->ttm.park);
		cond_resched();
	}
	return ret;
}

/* A BO that others use: wait for them, in turn. */
static int swap_busy(struct agate_device *adev, struct agate_ttm_ctx *ctx)
{
	long freed = -EBUSY;

	if (ctx->exec && !ctx->no_wait)
		freed = swap_on(adev, ctx);
	if (freed < 0)
		return freed == -EBUSY || freed == -ENODEV ? -ENOMEM : freed;
	mutex_lock(&lock);
	swapped += freed;
	mutex_unlock(&lock);
	return 0;
}

/* A BO that dies parks its pages soon: it waits for nothing that anybody holds here. */
static int wait_for_dying(s64 before, struct agate_ttm_ctx *ctx)
{
	if (ctx->no_wait)
		return -ENOMEM;
	if (ctx->interruptible)
		return wait_var_event_interruptible(&parked, atomic64_read(&parked) != before);
	wait_var_event(&parked, atomic64_read(&parked) != before);
	return 0;
}

/* Return: 0: it is worth trying again; also when pages were parked since @before. */
static int make_room(struct agate_device *adev, struct agate_ttm_ctx *ctx, s64 before)
{
	bool more;
	int ret = wait_for_parked(adev, ctx, &more);

	if (ret || more)
		return ret;
	mutex_lock(&lock);
	ret = swap_idle();
	mutex_unlock(&lock);
	if (ret == -EBUSY)
		ret = swap_busy(adev, ctx);
	/* A thread whose BO has left by now has called agate_limit_parked() before. */
	if (ret == -ENOMEM && atomic_read_acquire(&leaving))
		ret = -EAGAIN;
	if (ret == -EAGAIN)
		ret = wait_for_dying(before, ctx);
	return ret == -ENOMEM && atomic64_read(&parked) != before ? 0 : ret;
}

/* Other cards may have pages whose release only waits for a worker. */
static void release_parked(void)
{
	struct agate_pages *pages;

	mutex_lock(&lock);
	list_for_each_entry(pages, &devices, device)
		agate_park_flush(&device_of(pages)->ttm.park);
	mutex_unlock(&lock);
}

int agate_limit_charge(struct agate_device *adev, unsigned long n, bool dma32,
		       struct agate_ttm_ctx *ctx)
{
	int ret = -ENOMEM;
	s64 before;

	if (n > (dma32 ? min(glob.limit, glob.limit_dma32) : glob.limit))
		return ret;
	do {
		before = atomic64_read(&parked);
		if (!agate_glob_charge(&glob, n, dma32))
			return 0;
		ret = make_room(adev, ctx, before);
	} while (!ret);
	if (ret != -ENOMEM)
		return ret;
	release_parked();
	return agate_glob_charge(&glob, n, dma32);
}

void agate_limit_uncharge(unsigned long n, bool dma32)
{
	agate_glob_uncharge(&glob, n, dma32);
}

void agate_limit_parked(void)
{
	/* As the one that returns it is a full barrier, which wake_up_var() needs before it. */
	atomic64_inc_return(&parked);
	wake_up_var(&parked);
}

void agate_limit_leave_begin(void)
{
	atomic_inc(&leaving);
}

/* A thread that reads the lower number sees the higher @parked, too. */
void agate_limit_leave_end(void)
{
	agate_limit_parked();
	atomic_dec_return_release(&leaving);
}

/* ---- Life -------------------------------------------------------------- */

void agate_limit_add(struct agate_device *adev)
{
	mutex_lock(&lock);
	list_add_tail(&adev->pages.device, &devices);
	mutex_unlock(&lock);
}

void agate_limit_remove(struct agate_device *adev)
{
	mutex_lock(&lock);
	list_del(&adev->pages.device);
	mutex_unlock(&lock);
}

void __init agate_limit_init(void)
{
	glob.limit = page_limit ? (unsigned long)page_limit << (20 - PAGE_SHIFT) :
				  totalram_pages() / 2;
	glob.limit_dma32 = min_t(unsigned long, glob.limit, SZ_2G >> PAGE_SHIFT);
	glob.swap_limit = glob.limit - glob.limit / 8;
	glob.wake = wake;
}

void agate_limit_exit(void)
{
	cancel_work_sync(&worker);
}

u64 agate_limit_bytes(u64 *used)
{
	spin_lock(&glob.lock);
	*used = (u64)glob.used << PAGE_SHIFT;
	spin_unlock(&glob.lock);
	return (u64)glob.limit << PAGE_SHIFT;
}

void agate_limit_show(struct seq_file *m)
{
	unsigned long used, used_dma32;

	spin_lock(&glob.lock);
	used = glob.used;
	used_dma32 = glob.used_dma32;
	spin_unlock(&glob.lock);
	seq_printf(m, "limit %lu\nlimit_dma32 %lu\nswap_limit %lu\n", glob.limit, glob.limit_dma32,
		   glob.swap_limit);
	seq_printf(m, "used %lu\nused_dma32 %lu\nswapped %lu\n", used, used_dma32,
		   READ_ONCE(swapped));
}
