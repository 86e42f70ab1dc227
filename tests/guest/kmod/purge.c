// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lab 07: the driver's shrinker, called as the kernel calls it, and what it must not disturb.
 *
 * /sys/kernel/debug/agate_purge takes one command at a time, and gives its errno:
 *
 *	newest		from now on the other commands are about the BO that is the newest now
 *	count		calls count_objects of the driver's shrinker
 *	scan N		calls scan_objects, which shall take N pages
 *	hold LOCK	during the next count or scan another thread holds the lock: purge, gem,
 *			resv, backing, mappings or pt.  It gives the lock back as soon as
 *			somebody waits for it
 *	let-go		this is over
 *	order		takes backing.lock, purge.lock and mappings_lock, for lockdep to know
 *	use, unuse	a job counts itself in gpu_users
 *	twice, once	the first file with the BO has one handle more, as after GEM_OPEN
 *	record, no-record
 *			the BO has one more struct agate_vm_bo, without handles
 *	fence USAGE	puts a fence into the reservation: 0 the kernel's, 1 a writer's, 2 a
 *			reader's, 3 another one
 *	signal		signals it
 *
 * Reading gives names and numbers; result is -1 for SHRINK_STOP.
 */
#include <linux/completion.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/dma-fence.h>
#include <linux/dma-resv.h>
#include <linux/fs.h>
#include <linux/kthread.h>
#include <linux/ktime.h>
#include <linux/sched/mm.h>
#include <linux/seq_file.h>
#include <linux/shrinker.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "agate_device.h"
#include "agate_gem.h"
#include "agate_vm.h"
#include "watch.h"

/* A shrinker that waits in another way than a mutex does is seen by the clock. */
#define PATIENCE_MS	3000
#define LISTED_MOST	10000

struct holder {
	struct agate_bo *bo;
	struct mutex *lock;		/* the one to hold */
	struct dma_resv *resv;		/* or NULL: the lock is its */
	struct completion taken;
	bool enough;
	bool waited;
};

struct purge_look {
	struct agate_bo *bo;		/* or NULL */
	struct mutex lock;		/* one command at a time */
	char hold[12];
	struct dma_fence *fence;
	unsigned int users;
	bool twice;
	struct agate_vm_bo record;	/* on no list: its list head is empty */
	long result;
	bool waited;
};

static struct dentry *purge_file;

/* ---- Another thread that has a lock --------------------------------------------- */

static struct mutex *pt_lock_of(struct agate_bo *bo)
{
	struct agate_vm_bo *vm_bo;
	struct mutex *lock;	/* of the first address space */

	mutex_lock(&bo->mappings_lock);
	vm_bo = list_first_entry_or_null(&bo->vm_bos, struct agate_vm_bo, link);
	lock = vm_bo ? &vm_bo->vm->pt_lock : NULL;
	mutex_unlock(&bo->mappings_lock);
	return lock;
}

static int holder_choose(struct holder *holder, struct agate_device *adev,
			 const struct purge_look *look)
{
	struct agate_bo *bo = look->bo;

	if (!strcmp(look->hold, "purge"))
		holder->lock = &adev->purge.lock;
	else if (!strcmp(look->hold, "gem"))
		holder->lock = &adev->gem.lock;
	else if (!bo)
		return -ENOENT;
	else if (!strcmp(look->hold, "backing"))
		holder->lock = &bo->backing.lock;
	else if (!strcmp(look->hold, "mappings"))
		holder->lock = &bo->mappings_lock;
	else if (!strcmp(look->hold, "pt"))
		holder->lock = pt_lock_of(bo);
	else if (!strcmp(look->hold, "resv"))
		holder->resv = bo->base.resv;
	if (holder->resv)
		holder->lock = &holder->resv->lock.base;
	return holder->lock ? 0 : -EINVAL;
}

static bool somebody_waits(struct mutex *lock)
{
	return !list_empty_careful(&lock->wait_list);
}

static int hold_it(void *arg)
{
	struct holder *holder = arg;
	ktime_t end = ktime_add_ms(ktime_get(), PATIENCE_MS);

	if (holder->resv)
		dma_resv_lock(holder->resv, NULL);
	else
		mutex_lock(holder->lock);
	complete(&holder->taken);
	while (!READ_ONCE(holder->enough) && !holder->waited) {
		usleep_range(100, 300);
		holder->waited = somebody_waits(holder->lock) || ktime_after(ktime_get(), end);
	}
	if (holder->resv)
		dma_resv_unlock(holder->resv);
	else
		mutex_unlock(holder->lock);
	while (!kthread_should_stop())
		usleep_range(100, 300);
	return 0;
}

/* ---- The shrinker ----------------------------------------------------------------- */

static struct shrinker *shrinker_of(struct agate_device *adev)
{
#ifdef HAVE_SHRINKER_ALLOC
	return adev->purge.shrinker.base;
#else
	return &adev->purge.shrinker.base;
#endif
}

/*
 * As in reclaim: lockdep shall know.  Tests inject into calls that are made inside this, so it has
 * to keep its name.
 */
static noinline __noclone int purge_call_shrinker(struct agate_device *adev,
						  struct purge_look *look, bool scan, u64 n)
{
	struct shrinker *shrinker = shrinker_of(adev);
	struct shrink_control sc = { .gfp_mask = GFP_KERNEL, .nr_to_scan = n, .nr_scanned = n };
	unsigned long (*call)(struct shrinker *shrinker, struct shrink_control *sc);

	call = shrinker ? (scan ? shrinker->scan_objects : shrinker->count_objects) : NULL;
	if (!call)
		return -ENXIO;
	fs_reclaim_acquire(GFP_KERNEL);
	look->result = call(shrinker, &sc);
	fs_reclaim_release(GFP_KERNEL);
	return 0;
}

static int do_shrinker(struct purge_look *look, bool scan, u64 n)
{
	struct agate_device *adev = watch_device();
	struct task_struct *task = NULL;
	struct holder holder = { 0 };
	int ret;

	if (!adev)
		return -ENODEV;
	if (look->hold[0]) {
		ret = holder_choose(&holder, adev, look);
		if (ret)
			return ret;
		init_completion(&holder.taken);
		task = kthread_run(hold_it, &holder, "agate-holder");
		if (IS_ERR(task))
			return PTR_ERR(task);
		wait_for_completion(&holder.taken);
	}
	ret = purge_call_shrinker(adev, look, scan, n);
	WRITE_ONCE(holder.enough, true);
	if (task)
		kthread_stop(task);
	look->waited = holder.waited;
	return ret;
}

/* ---- Fences ----------------------------------------------------------------------- */

static const char *fence_name(struct dma_fence *fence)
{
	return "agate-test";
}

static const struct dma_fence_ops fence_ops = {
	.get_driver_name = fence_name,
	.get_timeline_name = fence_name,
};

static DEFINE_SPINLOCK(fence_lock);

static int do_fence(struct purge_look *look, unsigned int usage)
{
	struct dma_resv *resv = look->bo->base.resv;
	struct dma_fence *fence;
	int ret;

	if (look->fence || usage > DMA_RESV_USAGE_BOOKKEEP)
		return -EINVAL;
	fence = kzalloc(sizeof(*fence), GFP_KERNEL);
	if (!fence)
		return -ENOMEM;
	dma_fence_init(fence, &fence_ops, &fence_lock, dma_fence_context_alloc(1), 1);
	dma_resv_lock(resv, NULL);
	ret = dma_resv_reserve_fences(resv, 1);
	if (!ret)
		dma_resv_add_fence(resv, fence, usage);
	dma_resv_unlock(resv);
	if (ret)
		dma_fence_put(fence);
	else
		look->fence = fence;
	return ret;
}

static int do_signal(struct purge_look *look)
{
	if (!look->fence)
		return -ENOENT;
	dma_fence_signal(look->fence);
	dma_fence_put(look->fence);
	look->fence = NULL;
	return 0;
}

/* ---- Commands ----------------------------------------------------------------------- */

/* The number alone: no client of a render node can make a second handle. */
static int do_handle(struct purge_look *look, bool twice)
{
	struct agate_bo *bo = look->bo;
	struct agate_vm_bo *vm_bo;

	if (look->twice == twice)
		return -EINVAL;
	mutex_lock(&bo->mappings_lock);
	vm_bo = list_first_entry_or_null(&bo->vm_bos, struct agate_vm_bo, link);
	if (vm_bo && twice)
		vm_bo->handles++;
	else if (vm_bo)
		vm_bo->handles--;
	mutex_unlock(&bo->mappings_lock);
	if (!vm_bo)
		return -ENOENT;
	look->twice = twice;
	return 0;
}

/* The last one, so that whoever looks for a file's own finds that first. */
static int do_record(struct purge_look *look, bool there)
{
	struct agate_bo *bo = look->bo;
	struct agate_vm_bo *first;
	int ret = 0;

	mutex_lock(&bo->mappings_lock);
	first = list_first_entry_or_null(&bo->vm_bos, struct agate_vm_bo, link);
	if (!there) {
		list_del_init(&look->record.link);
	} else if (!first || !list_empty(&look->record.link)) {
		ret = -EINVAL;
	} else {
		kref_init(&look->record.ref);
		look->record.vm = first->vm;
		look->record.bo = bo;
		list_add_tail(&look->record.link, &bo->vm_bos);
	}
	mutex_unlock(&bo->mappings_lock);
	return ret;
}

static void end_uses(struct purge_look *look)
{
	if (!look->bo)
		return;
	do_signal(look);
	do_record(look, false);
	if (look->twice)
		do_handle(look, false);
	atomic_sub(look->users, &look->bo->gpu_users);
	look->users = 0;
	agate_bo_put(look->bo);
	look->bo = NULL;
}

static int do_newest(struct purge_look *look)
{
	end_uses(look);
	look->bo = bos_newest();
	return look->bo ? 0 : -ENOENT;
}

static int do_use(struct purge_look *look, bool use)
{
	if (!use && !look->users)
		return -ENOENT;
	look->users += use ? 1 : -1;
	if (use)
		atomic_inc(&look->bo->gpu_users);
	else
		atomic_dec(&look->bo->gpu_users);
	return 0;
}

static int do_order(struct agate_bo *bo)
{
	struct agate_device *adev = to_agate_device(bo->base.dev);

	mutex_lock(&bo->backing.lock);
	mutex_lock(&adev->purge.lock);
	mutex_lock(&bo->mappings_lock);
	mutex_unlock(&bo->mappings_lock);
	mutex_unlock(&adev->purge.lock);
	mutex_unlock(&bo->backing.lock);
	return 0;
}

static int do_bo_command(struct purge_look *look, const char *word, u64 n)
{
	if (!look->bo)
		return -ENOENT;
	if (!strcmp(word, "order"))
		return do_order(look->bo);
	if (!strcmp(word, "use") || !strcmp(word, "unuse"))
		return do_use(look, word[0] == 'u' && word[1] == 's');
	if (!strcmp(word, "twice") || !strcmp(word, "once"))
		return do_handle(look, word[0] == 't');
	if (!strcmp(word, "record") || !strcmp(word, "no-record"))
		return do_record(look, word[0] == 'r');
	if (!strcmp(word, "fence"))
		return do_fence(look, n);
	if (!strcmp(word, "signal"))
		return do_signal(look);
	return -EINVAL;
}

static int do_purge_command(struct purge_look *look, const char *text)
{
	char word[12], lock[12];
	u64 n = 0;

	if (sscanf(text, "hold %11s", lock) == 1) {
		strscpy(look->hold, lock, sizeof(look->hold));
		return 0;
	}
	if (sscanf(text, "%11s %llu", word, &n) < 1)
		return -EINVAL;
	if (!strcmp(word, "let-go")) {
		look->hold[0] = '\0';
		return 0;
	}
	if (!strcmp(word, "newest"))
		return do_newest(look);
	if (!strcmp(word, "count") || !strcmp(word, "scan"))
		return do_shrinker(look, word[0] == 's', n);
	return do_bo_command(look, word, n);
}

static ssize_t purge_write(struct file *file, const char __user *from, size_t size, loff_t *at)
{
	struct purge_look *look = ((struct seq_file *)file->private_data)->private;
	char text[64];
	int ret;

	if (size >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, size))
		return -EFAULT;
	text[size] = '\0';
	mutex_lock(&look->lock);
	ret = do_purge_command(look, text);
	mutex_unlock(&look->lock);
	return ret ? ret : size;
}

/* ---- Reading ------------------------------------------------------------------------ */

/* BOs on the list; -1: it is no list any more.  An entry may lead to freed memory. */
static long listed(struct agate_device *adev)
{
	const struct list_head *head = &adev->purge.list, *at, *next;
	long n = -1;

	mutex_lock(&adev->purge.lock);
	for (at = head; n < LISTED_MOST; at = next) {
		struct list_head *back;

		if (copy_from_kernel_nofault(&next, &at->next, sizeof(next)) ||
		    copy_from_kernel_nofault(&back, &next->prev, sizeof(back)) || back != at) {
			n = -1;
			break;
		}
		n++;
		if (next == head)
			break;
	}
	mutex_unlock(&adev->purge.lock);
	return n;
}

/* Mappings of which the GPU has page-table entries; -1: somebody has the lock. */
static long active(struct agate_bo *bo)
{
	struct agate_mapping *mapping;
	struct agate_vm_bo *vm_bo;
	long n = 0;

	if (!mutex_trylock(&bo->mappings_lock))
		return -1;
	list_for_each_entry(vm_bo, &bo->vm_bos, link)
		list_for_each_entry(mapping, &vm_bo->mappings, link)
			n += mapping->active;
	mutex_unlock(&bo->mappings_lock);
	return n;
}

/* Without the command's lock: another thread may look while a command is held at a gate. */
static int purge_show(struct seq_file *seq, void *unused)
{
	struct purge_look *look = seq->private;
	struct agate_bo *bo = READ_ONCE(look->bo);
	struct agate_device *adev = watch_device();

	seq_printf(seq, "result %ld\nwaited %d\npurge %d\n", look->result, look->waited,
		   adev && mutex_is_locked(&adev->purge.lock));
	if (!bo)
		return 0;
	seq_printf(seq, "madv %d\npages %lu\nbacking %d\nmappings %d\nactive %ld\n",
		   READ_ONCE(bo->madv), READ_ONCE(bo->backing.nr_pages),
		   mutex_is_locked(&bo->backing.lock), mutex_is_locked(&bo->mappings_lock),
		   active(bo));
	seq_printf(seq, "refs %u\n", kref_read(&bo->base.refcount));
	return 0;
}

static int listed_show(struct seq_file *seq, void *unused)
{
	struct agate_device *adev = watch_device();

	if (!adev)
		return -ENODEV;
	seq_printf(seq, "listed %ld\n", listed(adev));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(listed);

static int purge_open(struct inode *inode, struct file *file)
{
	struct purge_look *look = kzalloc(sizeof(*look), GFP_KERNEL);
	int ret;

	if (!look)
		return -ENOMEM;
	mutex_init(&look->lock);
	INIT_LIST_HEAD(&look->record.link);
	INIT_LIST_HEAD(&look->record.mappings);
	ret = single_open(file, purge_show, look);
	if (ret)
		kfree(look);
	return ret;
}

static int purge_release(struct inode *inode, struct file *file)
{
	struct purge_look *look = ((struct seq_file *)file->private_data)->private;

	end_uses(look);
	kfree(look);
	return single_release(inode, file);
}

static const struct file_operations purge_fops = {
	.owner = THIS_MODULE,
	.open = purge_open,
	.read = seq_read,
	.write = purge_write,
	.llseek = seq_lseek,
	.release = purge_release,
};

static struct dentry *listed_file;

void purge_init(void)
{
	purge_file = debugfs_create_file("agate_purge", 0600, NULL, NULL, &purge_fops);
	listed_file = debugfs_create_file("agate_purgeable", 0400, NULL, NULL, &listed_fops);
}

void purge_exit(void)
{
	debugfs_remove(listed_file);
	debugfs_remove(purge_file);
}
