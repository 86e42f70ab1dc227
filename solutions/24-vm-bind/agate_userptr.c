// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of a process, bound for the GPU.
 *
 * The contract is agate_userptr.h.
 */
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "agate_bind.h"
#include "agate_device.h"
#include "agate_gem.h"
#include "agate_hand_over.h"
#include "agate_lock_order.h"
#include "agate_slot.h"
#include "agate_touch.h"
#include "agate_userptr.h"
#include "agate_vm.h"

/* How often to collect pages that change meanwhile. */
#define TRIES		16

#define DMA_ATTRS	(DMA_ATTR_NO_WARN | DMA_ATTR_SKIP_CPU_SYNC)

static struct agate_device *device_of(const struct agate_bo *bo)
{
	return to_agate_device(bo->base.dev);
}

bool agate_is_userptr(const struct agate_bo *bo)
{
	return bo->flags & AGATE_BO_USERPTR;
}

static bool is_written(const struct agate_bo *bo)
{
	return !(bo->flags & AGATE_BO_GPU_READONLY);
}

/* ---- Pages ------------------------------------------------------------- */

static void pages_put(struct agate_bo *bo, struct page **pages, unsigned long count, bool used)
{
	unsigned long i;

	for (i = 0; i < count; i++) {
		/* The GPU's writes do not show in the process's page table. */
		if (used && is_written(bo))
			set_page_dirty_lock(pages[i]);
		put_page(pages[i]);
	}
}

/*
 * Each page with a reference, which does not keep it in the process's address space.  Those that
 * are not there may come late, or never, and the caller holds too much to wait for them: -ENODATA.
 */
static int pages_get(struct agate_bo *bo, unsigned long addr, struct page **pages,
		     unsigned long count)
{
	unsigned long have = 0;

	while (have < count) {
		int ret = get_user_pages_fast(addr + (have << PAGE_SHIFT), count - have,
					      FOLL_NOFAULT | (is_written(bo) ? FOLL_WRITE : 0),
					      pages + have);

		if (ret <= 0) {
			pages_put(bo, pages, have, false);
			return ret == -ENOMEM || ret == -EINTR || ret == -ERESTARTSYS ? ret :
			       -ENODATA;
		}
		have += ret;
	}
	return 0;
}

/* A table of these pages, which the GPU reaches where they lie. */
static int sgt_make(struct agate_bo *bo, struct sg_table *sgt, struct page **pages,
		    unsigned long count)
{
	struct device *dev = bo->base.dev->dev;
	int ret;

	ret = sg_alloc_table_from_pages_segment(sgt, pages, count, 0, count << PAGE_SHIFT,
						ALIGN_DOWN(dma_get_max_seg_size(dev), PAGE_SIZE),
						GFP_KERNEL_ACCOUNT);
	if (ret)
		return ret;
	ret = dma_map_sgtable(dev, sgt, DMA_BIDIRECTIONAL, DMA_ATTRS);
	if (!ret && !agate_sgt_needs_sync(device_of(bo), sgt))
		return 0;
	if (!ret)
		dma_unmap_sgtable(dev, sgt, DMA_BIDIRECTIONAL, DMA_ATTRS);
	sg_free_table(sgt);
	return ret == -ENOMEM ? ret : -EOPNOTSUPP;
}

static int sgt_collect(struct agate_bo *bo, u64 first, u64 size, struct sg_table *sgt)
{
	const unsigned long count = size >> PAGE_SHIFT;
	struct page **pages = kvmalloc_array(count, sizeof(*pages), GFP_KERNEL_ACCOUNT);
	int ret;

	if (!pages)
		return -ENOMEM;
	ret = pages_get(bo, bo->userptr.notifier.interval_tree.start + first, pages, count);
	if (!ret) {
		ret = sgt_make(bo, sgt, pages, count);
		pages_put(bo, pages, count, !ret);
	}
	kvfree(pages);
	return ret;
}

/* The GPU does not use the pages from here on.  A SUBMIT may still read their addresses. */
static void unmap(struct agate_bo *bo)
{
	struct agate_userptr *user = &bo->userptr;
	struct rw_semaphore *lock = &device_of(bo)->userptr_lock;

	down_write(lock);
	if (user->mapped)
		dma_unmap_sgtable(bo->base.dev->dev, &user->sgt, DMA_BIDIRECTIONAL, DMA_ATTRS);
	user->mapped = false;
	user->valid = false;
	up_write(lock);
}

/* No page has changed since @seq: take the table over.  The old one is mapped no more. */
static bool install(struct agate_bo *bo, struct sg_table *sgt, unsigned long seq)
{
	struct agate_userptr *user = &bo->userptr;
	struct rw_semaphore *lock = &device_of(bo)->userptr_lock;
	bool changed;

	down_write(lock);
	changed = mmu_interval_read_retry(&user->notifier, seq);
	if (!changed) {
		WARN_ON(user->mapped);
		swap(user->sgt, *sgt);
		user->mapped = true;
		user->valid = true;
	}
	up_write(lock);
	return !changed;
}

/* A notifier that is under way ends before the wait in mmu_interval_read_begin(). */
static int collect_once(struct agate_bo *bo, u64 first, u64 size)
{
	struct agate_userptr *user = &bo->userptr;
	unsigned long seq = mmu_interval_read_begin(&user->notifier);
	struct sg_table sgt = {};
	bool installed;
	int ret;

	ret = sgt_collect(bo, first, size, &sgt);
	if (ret)
		return ret;
	installed = install(bo, &sgt, seq);
	if (installed) {
		user->first = first;
		user->size = size;
	} else {
		dma_unmap_sgtable(bo->base.dev->dev, &sgt, DMA_BIDIRECTIONAL, DMA_ATTRS);
	}
	sg_free_table(&sgt);
	return installed ? 0 : -EAGAIN;
}

static int collect(struct agate_bo *bo, u64 first, u64 size)
{
	unsigned int tries = TRIES;
	int ret;

	do {
		ret = collect_once(bo, first, size);
	} while (ret == -EAGAIN && --tries && !signal_pending(current));
	return ret;
}

/* ---- The notifier ------------------------------------------------------ */

/* A process that is killed for its memory has its pages taken without a wait, or not now. */
static bool invalidate(struct mmu_interval_notifier *notifier,
		       const struct mmu_notifier_range *range, unsigned long seq)
{
	struct agate_bo *bo = container_of(notifier, struct agate_bo, userptr.notifier);
	struct rw_semaphore *lock = &device_of(bo)->userptr_lock;
	bool mapped;

	if (!mmu_notifier_range_blockable(range))
		return false;
	down_write(lock);
	mmu_interval_set_seq(notifier, seq);
	bo->userptr.valid = false;
	mapped = bo->userptr.mapped;
	up_write(lock);
	if (!mapped)
		return true;
	dma_resv_wait_timeout(bo->base.resv, DMA_RESV_USAGE_BOOKKEEP, false,
			      MAX_SCHEDULE_TIMEOUT);
	agate_vm_zap_userptr(bo);
	unmap(bo);
	return true;
}

static const struct mmu_interval_notifier_ops notifier_ops = {
	.invalidate = invalidate,
};

/* ---- The backing ------------------------------------------------------- */

/* Its entries are made in SUBMIT, from what was collected there. */
static int userptr_populate(struct agate_bo *bo, u64 offset, u64 size, struct agate_runs *runs)
{
	const struct agate_userptr *user = &bo->userptr;

	if (!user->sgt.sgl || offset < user->first ||
	    offset + size > user->first + user->size)
		return -EFAULT;
	*runs = (struct agate_runs){
		.sg = user->sgt.sgl, .skip = offset - user->first, .left = size,
	};
	return 0;
}

/* No notifier runs afterwards. */
static void userptr_release(struct agate_bo *bo)
{
	struct agate_userptr *user = &bo->userptr;

	if (user->notifier.mm)
		mmu_interval_notifier_remove(&user->notifier);
	unmap(bo);
	sg_free_table(&user->sgt);
	if (user->root)
		drm_gem_object_put(user->root);
}

const struct agate_backing_ops agate_userptr_backing = {
	.populate = userptr_populate,
	.detach = unmap,
	.release = userptr_release,
};

static int userptr_init(struct agate_bo *bo, struct drm_gem_object *root, u64 addr, u64 size)
{
	int ret;

	drm_gem_object_get(root);
	bo->userptr.root = root;
	bo->base.resv = root->resv;
	ret = mmu_interval_notifier_insert(&bo->userptr.notifier, current->mm, addr, size,
					   &notifier_ops);
	if (ret) {
		bo->userptr.notifier.mm = NULL;
		return ret == -EINTR || ret == -ENOMEM ? ret : -EFAULT;
	}
	ret = collect(bo, 0, size);
	/* It was there, if only for a moment. */
	return ret == -EAGAIN || ret == -ENODATA ? 0 : ret;
}

int agate_userptr_touch_new(u64 addr, u64 size, bool readonly)
{
	const struct agate_touch_range range = {
		.addr = addr, .size = size, .write = !readonly,
	};
	u64 end;

	if (size > AGATE_BO_MAX_SIZE || check_add_overflow(addr, size, &end))
		return -EINVAL;
	return end > TASK_SIZE ? -EFAULT : agate_touch(&range, 1);
}

struct agate_bo *agate_userptr_create(struct agate_vm *vm, u64 addr, u64 size, bool readonly)
{
	u32 flags = AGATE_BO_USERPTR | AGATE_BO_NO_VA;
	struct agate_bo *bo;
	int ret;

	if (readonly)
		flags |= AGATE_BO_GPU_READONLY;
	bo = agate_gem_create(vm->adev, size, flags);
	if (IS_ERR(bo))
		return bo;
	ret = userptr_init(bo, vm->bound.root, addr, size);
	if (!ret)
		return bo;
	agate_bo_put(bo);
	return ERR_PTR(ret);
}

/* ---- SUBMIT ------------------------------------------------------------ */

static bool has_any(const struct agate_vm *vm)
{
	return agate_vm_is_bound(vm) && !list_empty(&vm->bound.userptrs);
}

bool agate_userptr_of_others(const struct agate_vm *vm)
{
	struct agate_vm_bo *vm_bo;

	lockdep_assert_held(&vm->lock);

	list_for_each_entry(vm_bo, &vm->bound.userptrs, userptr) {
		if (vm_bo->bo->userptr.notifier.mm != current->mm)
			return true;
	}
	return false;
}

int agate_userptr_begin(struct agate_vm *vm)
{
	lockdep_assert_held(&vm->lock);

	return has_any(vm) ? mutex_lock_interruptible(&vm->bound.userptr_lock) : 0;
}

void agate_userptr_end(struct agate_vm *vm)
{
	if (has_any(vm))
		mutex_unlock(&vm->bound.userptr_lock);
}

/*
 * What has to be collected, if anything.  The memory of parts that are bound no more may be gone:
 * begin and end with what is left.
 */
static bool is_missing(struct agate_vm_bo *vm_bo, u64 *first, u64 *size)
{
	struct agate_mapping *mapping;
	u64 end = 0;

	/* A binding that failed leaves a record without mappings for a moment. */
	if (READ_ONCE(vm_bo->bo->userptr.valid) || list_empty(&vm_bo->mappings))
		return false;
	*first = U64_MAX;
	list_for_each_entry(mapping, &vm_bo->mappings, link) {
		*first = min(*first, mapping->offset);
		end = max(end, mapping->offset + mapping->size);
	}
	*size = end - *first;
	return true;
}

static int collect_bound(struct agate_vm_bo *vm_bo)
{
	struct agate_bo *bo = vm_bo->bo;
	struct agate_mapping *mapping;
	u64 first, size;
	int ret;

	if (bo->userptr.notifier.mm != current->mm)
		return -EPERM;
	if (!is_missing(vm_bo, &first, &size))
		return 0;
	ret = collect(bo, first, size);
	if (ret)
		return ret;
	mutex_lock(&bo->mappings_lock);
	list_for_each_entry(mapping, &vm_bo->mappings, link)
		mapping->active = false;
	mutex_unlock(&bo->mappings_lock);
	return 0;
}

int agate_userptr_collect_one(struct agate_vm_bo *vm_bo)
{
	int ret;

	lockdep_assert_held(&vm_bo->vm->bound.userptr_lock);
	ret = collect_bound(vm_bo);
	if (!ret)
		agate_toucher_forget(vm_bo->vm);
	return ret;
}

/* VM_BIND has seen to it that all is one process's. */
struct mm_struct *agate_userptr_mm(struct agate_vm *vm)
{
	struct agate_vm_bo *vm_bo;
	struct mm_struct *mm;

	lockdep_assert_held(&vm->lock);

	vm_bo = list_first_entry(&vm->bound.userptrs, struct agate_vm_bo, userptr);
	mm = vm_bo->bo->userptr.notifier.mm;
	return mmget_not_zero(mm) ? mm : NULL;
}

int agate_userptr_collect(struct agate_vm *vm)
{
	struct agate_vm_bo *vm_bo;
	int ret;

	if (!has_any(vm))
		return 0;
	lockdep_assert_held(&vm->bound.userptr_lock);
	list_for_each_entry(vm_bo, &vm->bound.userptrs, userptr) {
		ret = collect_bound(vm_bo);
		if (ret)
			return ret;
	}
	agate_toucher_forget(vm);
	return 0;
}

/* ---- Pages that are not there ------------------------------------------ */

static bool touch_range(struct agate_vm_bo *vm_bo, struct agate_touch_range *range)
{
	const struct agate_bo *bo = vm_bo->bo;
	u64 first;

	if (!is_missing(vm_bo, &first, &range->size))
		return false;
	range->addr = bo->userptr.notifier.interval_tree.start + first;
	range->write = is_written(bo);
	return true;
}

/* Return: how many of @ranges, which the caller frees; -ENOMEM. */
static int list_missing(struct agate_vm *vm, const struct mm_struct *mm,
			struct agate_touch_range **ranges)
{
	struct agate_vm_bo *vm_bo;
	int count = 0;

	lockdep_assert_held(&vm->lock);
	*ranges = kvmalloc_array(max(vm->bound.userptr_count, 1u), sizeof(**ranges),
				 GFP_KERNEL_ACCOUNT);
	if (!*ranges)
		return -ENOMEM;
	list_for_each_entry(vm_bo, &vm->bound.userptrs, userptr) {
		if (vm_bo->bo->userptr.notifier.mm == mm && touch_range(vm_bo, *ranges + count))
			count++;
	}
	return count;
}

int agate_userptr_touch(struct agate_vm *vm)
{
	struct agate_touch_range *ranges;
	int ret;

	ret = down_read_interruptible(&vm->lock);
	if (ret)
		return ret;
	ret = list_missing(vm, current->mm, &ranges);
	up_read(&vm->lock);
	if (ret >= 0)
		ret = agate_touch(ranges, ret);
	kvfree(ranges);
	return ret;
}

int agate_userptr_touch_later(struct agate_job *job)
{
	struct agate_vm *vm = job->vm;
	struct agate_touch_range *ranges;
	int count;

	lockdep_assert_held(&vm->bound.userptr_lock);
	count = list_missing(vm, current->mm, &ranges);
	if (count < 0)
		return count;
	return agate_toucher_start(vm, job->entities, ranges, count);
}

int agate_userptr_touch_one_later(struct agate_job *job, struct agate_vm_bo *vm_bo)
{
	struct agate_touch_range *range;

	lockdep_assert_held(&vm_bo->vm->bound.userptr_lock);
	range = kvmalloc(sizeof(*range), GFP_KERNEL_ACCOUNT);
	if (!range)
		return -ENOMEM;
	touch_range(vm_bo, range);
	return agate_toucher_start(vm_bo->vm, job->entities, range, 1);
}

/* ---- SUBMIT, with the pages -------------------------------------------- */

int agate_userptr_rebind(struct agate_vm *vm)
{
	struct agate_mapping *mapping;
	struct agate_vm_bo *vm_bo;
	int ret = 0;

	dma_resv_assert_held(vm->bound.root->resv);
	list_for_each_entry(vm_bo, &vm->bound.userptrs, userptr) {
		list_for_each_entry(mapping, &vm_bo->mappings, link) {
			if (!ret && !mapping->active)
				ret = agate_bind_again(mapping);
		}
	}
	return ret;
}

int agate_userptr_hold(struct agate_vm *vm)
{
	struct rw_semaphore *lock = &vm->adev->userptr_lock;
	struct agate_vm_bo *vm_bo;

	if (!has_any(vm))
		return 0;
	down_read(lock);
	list_for_each_entry(vm_bo, &vm->bound.userptrs, userptr) {
		/* A record without mappings is that of a binding which has failed. */
		if (!vm_bo->bo->userptr.valid && !list_empty(&vm_bo->mappings)) {
			up_read(lock);
			return -EAGAIN;
		}
	}
	return 0;
}

void agate_userptr_let_go(struct agate_vm *vm)
{
	if (has_any(vm))
		up_read(&vm->adev->userptr_lock);
}

int agate_userptr_hold_one(struct agate_bo *bo)
{
	struct rw_semaphore *lock = &device_of(bo)->userptr_lock;

	if (!agate_is_userptr(bo))
		return 0;
	down_read(lock);
	if (bo->userptr.valid)
		return 0;
	up_read(lock);
	return -EAGAIN;
}

void agate_userptr_let_go_one(struct agate_bo *bo)
{
	if (agate_is_userptr(bo))
		up_read(&device_of(bo)->userptr_lock);
}

void agate_userptr_init(struct agate_device *adev)
{
	init_rwsem(&adev->userptr_lock);
	agate_lock_class(&adev->userptr_lock, AGATE_LOCK_USERPTR);
}
