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
#include "agate_long.h"
#include "agate_queue.h"
#include "agate_touch.h"
#include "agate_vm.h"

/* So few pages are held at a time. */
#define PAGES_AT_ONCE	16

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

/* @toucher: learns where this is, or NULL */
static int touch_one(const struct agate_touch_range *range, struct agate_toucher *toucher)
{
	unsigned long left = range->size >> PAGE_SHIFT;
	u64 addr = range->addr;
	int got;

	while (left) {
		if (toucher) {
			spin_lock(&toucher->lock);
			toucher->at = addr;
			spin_unlock(&toucher->lock);
		}
		got = touch_some(addr, left, range->write);
		if (got < 0)
			return got;
		left -= got;
		addr += (u64)got << PAGE_SHIFT;
		cond_resched();
	}
	return 0;
}

static int touch_all(const struct agate_touch_range *ranges, unsigned int count,
		     struct agate_toucher *toucher)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < count; i++)
		ret = touch_one(&ranges[i], toucher);
	return ret;
}

int agate_touch(const struct agate_touch_range *ranges, unsigned int count)
{
	return touch_all(ranges, count, NULL);
}

/* ---- For a worker ------------------------------------------------------ */

static void toucher_release(struct kref *ref)
{
	struct agate_toucher *toucher = container_of(ref, struct agate_toucher, ref);

	agate_entities_put(toucher->entities);
	kvfree(toucher->ranges);
	kfree(toucher);
}

static void tell(struct agate_toucher *toucher, int error)
{
	spin_lock(&toucher->lock);
	toucher->ended = true;
	toucher->error = error;
	if (toucher->vm)
		agate_long_touched(toucher->vm);
	spin_unlock(&toucher->lock);
}

/* The module is in use until the thread has left it. */
static int touch_thread(void *arg)
{
	struct agate_toucher *toucher = arg;
	struct mm_struct *mm = toucher->mm;
	int ret;

	kthread_use_mm(mm);
	ret = touch_all(toucher->ranges, toucher->count, toucher);
	kthread_unuse_mm(mm);
	atomic_dec(&toucher->entities->touches);
	tell(toucher, ret);
	/* The end of a process's memory may take any time, and any lock. */
	mmput_async(mm);
	kref_put(&toucher->ref, toucher_release);
	module_put_and_kthread_exit(0);
}

static struct agate_toucher *toucher_create(struct agate_vm *vm, struct agate_entities *entities,
					    struct agate_touch_range *ranges, unsigned int count)
{
	struct agate_toucher *toucher = kzalloc(sizeof(*toucher), GFP_KERNEL_ACCOUNT);

	if (!toucher) {
		kvfree(ranges);
		return NULL;
	}
	kref_init(&toucher->ref);
	spin_lock_init(&toucher->lock);
	agate_lock_class(&toucher->lock, AGATE_LOCK_TOUCH);
	toucher->vm = vm;
	toucher->entities = entities;
	kref_get(&entities->ref);
	toucher->mm = current->mm;
	toucher->ranges = ranges;
	toucher->count = count;
	toucher->at = ranges->addr;
	return toucher;
}

static int thread_start(struct agate_toucher *toucher)
{
	struct task_struct *thread;

	kref_get(&toucher->ref);
	mmget(toucher->mm);
	__module_get(THIS_MODULE);
	thread = kthread_run(touch_thread, toucher, "agate-touch");
	if (!IS_ERR(thread))
		return 0;
	module_put(THIS_MODULE);
	mmput_async(toucher->mm);
	kref_put(&toucher->ref, toucher_release);
	return -ENOMEM;
}

static int toucher_run(struct agate_toucher *toucher)
{
	atomic_t *touches = &toucher->entities->touches;
	int ret = -EBUSY;

	if (atomic_inc_return(touches) <= AGATE_TOUCHES_MAX)
		ret = thread_start(toucher);
	if (ret)
		atomic_dec(touches);
	return ret;
}

static bool is_part(u64 at, const struct agate_touch_range *ranges, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		if (at >= ranges[i].addr && at - ranges[i].addr < ranges[i].size)
			return true;
	}
	return false;
}

/* Does the last thread answer for this?  Return: -EAGAIN: no; 0: it waits; its error. */
static int ask(struct agate_toucher *toucher, const struct agate_touch_range *ranges,
	       unsigned int count)
{
	int ret = -EAGAIN;

	if (!toucher)
		return ret;
	spin_lock(&toucher->lock);
	if (toucher->mm == current->mm && is_part(toucher->at, ranges, count) &&
	    (!toucher->ended || toucher->error))
		ret = toucher->error;
	spin_unlock(&toucher->lock);
	return ret;
}

void agate_toucher_forget(struct agate_vm *vm)
{
	struct agate_toucher *toucher = vm->bound.toucher;

	if (!toucher)
		return;
	vm->bound.toucher = NULL;
	spin_lock(&toucher->lock);
	toucher->vm = NULL;
	spin_unlock(&toucher->lock);
	kref_put(&toucher->ref, toucher_release);
}

int agate_toucher_start(struct agate_vm *vm, struct agate_entities *entities,
			struct agate_touch_range *ranges, unsigned int count)
{
	int ret = ask(vm->bound.toucher, ranges, count);

	if (ret)
		agate_toucher_forget(vm);
	if (ret != -EAGAIN) {
		kvfree(ranges);
		return ret;
	}
	vm->bound.toucher = toucher_create(vm, entities, ranges, count);
	if (!vm->bound.toucher)
		return -ENOMEM;
	ret = toucher_run(vm->bound.toucher);
	if (ret)
		agate_toucher_forget(vm);
	return ret;
}
