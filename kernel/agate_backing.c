// SPDX-License-Identifier: GPL-2.0-only
/*
 * The part of a backing that all kinds share: see agate_backing.h.
 */
#include <linux/dma-mapping.h>
#include <linux/memcontrol.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/sched/mm.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>
#include <drm/drm_gem.h>
#include <drm/drm_vma_manager.h>

#include "agate_backing.h"
#include "agate_device.h"
#include "agate_gem.h"
#include "agate_lock_order.h"

bool agate_runs_next(struct agate_runs *runs, struct agate_run *run)
{
	if (!runs->left)
		return false;
	if (!runs->sg) {
		run->addr = runs->addr;
		run->size = runs->left;
	} else {
		while (runs->skip >= sg_dma_len(runs->sg)) {
			runs->skip -= sg_dma_len(runs->sg);
			runs->sg = sg_next(runs->sg);
		}
		run->addr = sg_dma_address(runs->sg) + runs->skip;
		run->size = min_t(u64, sg_dma_len(runs->sg) - runs->skip, runs->left);
		runs->skip += run->size;
	}
	runs->left -= run->size;
	return true;
}

/* ---- A BO's life ------------------------------------------------------- */

int agate_backing_object_init(struct agate_device *adev, struct agate_bo *bo, size_t size,
			      u32 flags)
{
	const struct agate_backing_ops *ops = agate_backing_choose(flags);

	drm_gem_private_object_init(&adev->drm, &bo->base, size);
	return ops->flags & AGATE_BACKING_EARLY ? ops->create(bo) : 0;
}

void agate_backing_set_gfp_mask(struct agate_bo *bo, gfp_t mask)
{
	bo->backing.gfp_mask = mask;
	if (bo->base.filp)
		mapping_set_gfp_mask(bo->base.filp->f_mapping, mask);
}

struct file *agate_backing_file(struct agate_bo *bo)
{
	struct mem_cgroup *old;
	struct file *file;

	lockdep_assert_held(&bo->backing.lock);

	if (bo->base.filp)
		return bo->base.filp;
	/* An importer may be the first who needs a page. */
	old = set_active_memcg(bo->backing.memcg);
	file = shmem_file_setup("agate bo", agate_bo_size(bo), VM_NORESERVE);
	set_active_memcg(old);
	/* That there is no space in shmem, or too many files, tells a program nothing. */
	if (IS_ERR(file))
		return ERR_PTR(-ENOMEM);
	if (bo->backing.gfp_mask)
		mapping_set_gfp_mask(file->f_mapping, bo->backing.gfp_mask);
	bo->base.filp = file;
	return file;
}

/* The pages of an EARLY backing come and go with the BO. */
static void account_early(struct agate_bo *bo, long pages)
{
	if (!agate_backing_is(bo, AGATE_BACKING_EARLY))
		return;
	mutex_lock(&bo->backing.lock);
	agate_backing_account(bo, pages);
	mutex_unlock(&bo->backing.lock);
}

void agate_backing_init(struct agate_bo *bo, u32 flags)
{
	mutex_init(&bo->backing.lock);
	agate_lock_class(&bo->backing.lock, AGATE_LOCK_BACKING);
	spin_lock_init(&bo->backing.fault_lock);
	bo->backing.ops = agate_backing_choose(flags);
	bo->backing.memcg = get_mem_cgroup_from_mm(current->mm);
	account_early(bo, agate_bo_size(bo) >> PAGE_SHIFT);
}

void agate_backing_release(struct agate_bo *bo)
{
	bo->backing.ops->release(bo);
	account_early(bo, -(long)(agate_bo_size(bo) >> PAGE_SHIFT));
	WARN_ON(bo->backing.pins || bo->backing.nr_pages);
	mem_cgroup_put(bo->backing.memcg);
}

void agate_backing_detach_all(struct agate_device *adev)
{
	struct agate_bo *bo;

	mutex_lock(&adev->gem.lock);
	list_for_each_entry(bo, &adev->gem.bos, link)
		bo->backing.ops->detach(bo);
	mutex_unlock(&adev->gem.lock);
}

/* ---- Its state --------------------------------------------------------- */

bool agate_backing_is(const struct agate_bo *bo, u32 flags)
{
	return (bo->backing.ops->flags & flags) == flags;
}

void agate_backing_account(struct agate_bo *bo, long n)
{
	struct agate_device *adev = to_agate_device(bo->base.dev);

	if (agate_backing_is(bo, AGATE_BACKING_GROWS))
		lockdep_assert_held(&bo->backing.fault_lock);
	else
		lockdep_assert_held(&bo->backing.lock);
	WRITE_ONCE(bo->backing.nr_pages, bo->backing.nr_pages + n);
	agate_stat_add(&adev->stats, AGATE_STAT_PAGES, n);
}

size_t agate_backing_resident(const struct agate_bo *bo)
{
	return READ_ONCE(bo->backing.nr_pages) << PAGE_SHIFT;
}

/* ---- Its users --------------------------------------------------------- */

int agate_backing_reserve(struct agate_bo *bo)
{
	return bo->backing.ops->reserve(bo);
}

int agate_backing_validate(struct agate_bo *bo, struct agate_exec *exec)
{
	return bo->backing.ops->validate ? bo->backing.ops->validate(bo, exec) : 0;
}

int agate_backing_populate(struct agate_bo *bo, u64 offset, u64 size, struct agate_runs *runs)
{
	return bo->backing.ops->populate(bo, offset, size, runs);
}

void agate_backing_open(struct agate_bo *bo)
{
	if (bo->backing.ops->open)
		bo->backing.ops->open(bo);
}

void agate_backing_close(struct agate_bo *bo)
{
	if (bo->backing.ops->close)
		bo->backing.ops->close(bo);
}

int agate_backing_access(struct vm_area_struct *vma, unsigned long addr, void *buf, int len,
			 int write)
{
	struct drm_gem_object *obj = vma->vm_private_data;
	struct agate_bo *bo = to_agate_bo(obj);
	u64 page = vma->vm_pgoff - drm_vma_node_start(&obj->vma_node);

	if (!bo->backing.ops->access)
		return -EIO;
	if (write && !(vma->vm_flags & VM_WRITE))
		return -EACCES;
	/* The next bytes may be of another VMA. */
	len = min_t(unsigned long, len, vma->vm_end - addr);
	return bo->backing.ops->access(bo, (page << PAGE_SHIFT) + (addr - vma->vm_start), buf,
				       len, write);
}

int agate_backing_hold(struct agate_bo *bo)
{
	int ret = -EFAULT;

	mutex_lock(&bo->backing.lock);
	if (bo->madv >= 0) {
		bo->backing.pins++;
		ret = 0;
	}
	mutex_unlock(&bo->backing.lock);
	return ret;
}

void agate_backing_let_go(struct agate_bo *bo)
{
	mutex_lock(&bo->backing.lock);
	if (!WARN_ON(!bo->backing.pins))
		bo->backing.pins--;
	mutex_unlock(&bo->backing.lock);
}

int agate_backing_pin(struct drm_gem_object *obj)
{
	struct agate_bo *bo = to_agate_bo(obj);
	int ret;

	if (!agate_backing_is(bo, AGATE_BACKING_EXPORTABLE))
		return -EOPNOTSUPP;
	ret = agate_backing_hold(bo);
	if (ret)
		return ret;
	ret = bo->backing.ops->pin(bo);
	if (ret)
		agate_backing_let_go(bo);
	return ret;
}

void agate_backing_unpin(struct drm_gem_object *obj)
{
	struct agate_bo *bo = to_agate_bo(obj);

	bo->backing.ops->unpin(bo);
	agate_backing_let_go(bo);
}

struct sg_table *agate_backing_get_sg_table(struct drm_gem_object *obj)
{
	struct agate_bo *bo = to_agate_bo(obj);

	return bo->backing.ops->get_sg_table(bo, ALIGN_DOWN(UINT_MAX, PAGE_SIZE));
}

struct sg_table *agate_backing_map_for(struct agate_bo *bo, struct device *dev,
				       enum dma_data_direction dir)
{
	size_t most = min_t(size_t, dma_get_max_seg_size(dev), dma_max_mapping_size(dev));
	struct sg_table *sgt;
	int ret;

	/* An entry is a page at least. */
	if (most < PAGE_SIZE)
		return ERR_PTR(-EINVAL);
	sgt = bo->backing.ops->get_sg_table(bo, ALIGN_DOWN(most, PAGE_SIZE));
	if (IS_ERR(sgt))
		return sgt;
	ret = dma_map_sgtable(dev, sgt, dir, DMA_ATTR_SKIP_CPU_SYNC);
	if (ret) {
		sg_free_table(sgt);
		kfree(sgt);
		return ERR_PTR(ret);
	}
	return sgt;
}

int agate_backing_vmap(struct agate_bo *bo, struct iosys_map *map)
{
	int ret;

	if (!bo->backing.ops->vmap)
		return -EOPNOTSUPP;
	ret = agate_backing_hold(bo);
	if (ret)
		return ret;
	ret = bo->backing.ops->vmap(bo, map);
	if (ret)
		agate_backing_let_go(bo);
	return ret;
}

void agate_backing_vunmap(struct agate_bo *bo, struct iosys_map *map)
{
	bo->backing.ops->vunmap(bo, map);
	agate_backing_let_go(bo);
}

unsigned long agate_backing_purge_locked(struct agate_bo *bo)
{
	unsigned long nr_pages = bo->backing.nr_pages;

	lockdep_assert_held(&bo->backing.lock);

	if (nr_pages || bo->base.filp)
		bo->backing.ops->purge(bo);
	bo->madv = -1;
	return nr_pages;
}
