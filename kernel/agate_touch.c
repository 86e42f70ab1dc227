// SPDX-License-Identifier: GPL-2.0-only
/*
 * Waiting for memory of a process: see agate_touch.h.
 */
#include <linux/kthread.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "agate_lock_order.h"
#include "agate_touch.h"

/* So few pages are held at a time. */
#define PAGES_AT_ONCE	16

static struct workqueue_struct *touch_wq;

/* ---- In the process itself --------------------------------------------- */

static int touch_some(u64 addr, unsigned long count, bool write)
{
	struct page *pages[PAGES_AT_ONCE];
	int got, i;

	got = get_user_pages_fast(addr, min_t(unsigned long, count, PAGES_AT_ONCE),
				  write ? FOLL_WRITE : 0, pages);
	for (i = 0; i < got; i++)
		put_page(pages[i]);
	if (got > 0)
		return got;
	return got == -ENOMEM || got == -EINTR || got == -ERESTARTSYS ? got : -EFAULT;
}

static int touch_one(const struct agate_touch_range *range)
{
	unsigned long left = range->size >> PAGE_SHIFT;
	u64 addr = range->addr;
	int got;

	while (left) {
		got = touch_some(addr, left, range->write);
		if (got < 0)
			return got;
		left -= got;
		addr += (u64)got << PAGE_SHIFT;
		cond_resched();
	}
	return 0;
}

int agate_touch(const struct agate_touch_range *ranges, unsigned int count)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < count; i++)
		ret = touch_one(&ranges[i]);
	return ret;
}

/* ---- For a worker ------------------------------------------------------ */

static void toucher_release(struct kref *ref)
{
	kfree(container_of(ref, struct agate_toucher, ref));
}

static void tell(struct agate_toucher *toucher, int error)
{
	spin_lock(&toucher->lock);
	toucher->busy = false;
	toucher->error = error;
	if (toucher->vm)
		toucher->done(toucher->vm);
	spin_unlock(&toucher->lock);
}

/* Until module_put() the module is in use; agate_touch_exit() waits for what comes after it. */
static void touch_work(struct work_struct *work)
{
	struct agate_toucher *toucher = container_of(work, struct agate_toucher, work);
	struct mm_struct *mm = toucher->mm;
	int ret;

	kthread_use_mm(mm);
	ret = agate_touch(toucher->ranges, toucher->count);
	kthread_unuse_mm(mm);
	kvfree(toucher->ranges);
	tell(toucher, ret);
	/* The end of a process's memory may take any time, and any lock. */
	mmput_async(mm);
	kref_put(&toucher->ref, toucher_release);
	module_put(THIS_MODULE);
}

struct agate_toucher *agate_toucher_create(struct agate_vm *vm,
					   void (*done)(struct agate_vm *vm))
{
	struct agate_toucher *toucher = kzalloc(sizeof(*toucher), GFP_KERNEL_ACCOUNT);

	if (!toucher)
		return NULL;
	kref_init(&toucher->ref);
	spin_lock_init(&toucher->lock);
	agate_lock_class(&toucher->lock, AGATE_LOCK_TOUCH);
	toucher->vm = vm;
	toucher->done = done;
	INIT_WORK(&toucher->work, touch_work);
	return toucher;
}

void agate_toucher_destroy(struct agate_toucher *toucher)
{
	if (!toucher)
		return;
	spin_lock(&toucher->lock);
	toucher->vm = NULL;
	spin_unlock(&toucher->lock);
	kref_put(&toucher->ref, toucher_release);
}

int agate_toucher_start(struct agate_toucher *toucher, struct mm_struct *mm,
			struct agate_touch_range *ranges, unsigned int count)
{
	bool start;
	int ret;

	spin_lock(&toucher->lock);
	ret = toucher->error;
	toucher->error = 0;
	start = !ret && !toucher->busy;
	if (start)
		toucher->busy = true;
	spin_unlock(&toucher->lock);
	if (!start) {
		kvfree(ranges);
		return ret;
	}
	mmget(mm);
	kref_get(&toucher->ref);
	__module_get(THIS_MODULE);
	toucher->mm = mm;
	toucher->ranges = ranges;
	toucher->count = count;
	queue_work(touch_wq, &toucher->work);
	return 0;
}

/* ---- Life -------------------------------------------------------------- */

int agate_touch_init(void)
{
	touch_wq = alloc_workqueue("agate-touch", WQ_UNBOUND, WQ_MAX_ACTIVE);
	return touch_wq ? 0 : -ENOMEM;
}

void agate_touch_exit(void)
{
	destroy_workqueue(touch_wq);
}
