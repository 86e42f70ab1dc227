// SPDX-License-Identifier: GPL-2.0-only
/*
 * A BO's pages, which the driver takes from the BO's shmem file when they are first
 * needed.
 *
 * Shmem gives zeroed pages, and keeps their contents while nobody holds them.  This
 * file counts the users that hold them.  A user that needs the pages for the GPU
 * also needs them mapped for DMA, which is possible only while the device is
 * plugged in.  The contract is agate_shmem.h.
 */
#include <linux/dma-mapping.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <drm/drm_drv.h>

#include "agate_backing.h"
#include "agate_device.h"
#include "agate_gem.h"
#include "agate_hand_over.h"
#include "agate_shmem.h"

/* Bytes that one fault maps at most: as many as the core does for a page cache. */
#define FAULT_AROUND	SZ_64K

#if LAB04 >= 1
static unsigned long bo_pages(const struct agate_bo *bo)
{
	return agate_bo_size(bo) >> PAGE_SHIFT;
}

/*
 * Take those pages of a range that are not present yet.  Pages taken before a
 * failure stay present; the caller decides when to drop them.
 */
static int pages_fill(struct agate_bo *bo, unsigned long first, unsigned long count)
{
	struct agate_shmem *shmem = &bo->shmem;
	struct file *file = agate_backing_file(bo);
	unsigned long i;

	if (IS_ERR(file))
		return PTR_ERR(file);
	if (!shmem->pages) {
		shmem->pages = kvcalloc(bo_pages(bo), sizeof(*shmem->pages), GFP_KERNEL_ACCOUNT);
		if (!shmem->pages)
			return -ENOMEM;
		mapping_set_unevictable(file->f_mapping);
	}
	for (i = first; i < first + count; i++) {
		struct page *page;

		if (shmem->pages[i])
			continue;
		page = shmem_read_mapping_page(file->f_mapping, i);
		/* Shmem may say that its own space is used up, which tells a program nothing. */
		if (IS_ERR(page))
			return -ENOMEM;
		shmem->pages[i] = page;
		agate_backing_account(bo, 1);
	}
	return 0;
}

/* Give all pages back to the shmem file, which keeps their contents. */
static void pages_drop(struct agate_bo *bo)
{
	struct agate_shmem *shmem = &bo->shmem;

	lockdep_assert_held(&bo->backing.lock);

	if (!shmem->pages)
		return;
	drm_gem_put_pages(&bo->base, shmem->pages, true, true);
	shmem->pages = NULL;
	agate_backing_account(bo, -(long)bo->backing.nr_pages);
}

static void pages_unuse(struct agate_bo *bo)
{
	lockdep_assert_held(&bo->backing.lock);

	if (!WARN_ON(!bo->shmem.pages_use) && !--bo->shmem.pages_use)
		pages_drop(bo);
}
#else
/*
 * STEP 1: write three helpers.  One takes some pages of the shmem file, those that are
 * not present yet, and counts them; one gives all of them back, as pages that somebody
 * has written to; one takes away a use, and gives the pages back with the last one.
 */
#endif

#if LAB04 >= 2
static int pages_use_all(struct agate_bo *bo)
{
	int ret;

	lockdep_assert_held(&bo->backing.lock);

	if (bo->madv < 0)
		return -EFAULT;
	bo->shmem.pages_use++;
	ret = pages_fill(bo, 0, bo_pages(bo));
	if (ret)
		pages_unuse(bo);
	return ret;
}
#else
/*
 * STEP 2: write a helper for the users that need the whole BO: it counts one more use, and
 * takes all pages.  A purged BO gets none, and a failure leaves no use behind.
 */
#endif

#if LAB04 >= 3
/*
 * Map the pages for DMA.  Another driver that has imported the BO may have mapped them as
 * well, so the DMA layer does not sync them by itself: it takes that for a mistake.
 */
static int sgt_map(struct drm_device *drm, struct sg_table *sgt)
{
	int ret = dma_map_sgtable(drm->dev, sgt, DMA_BIDIRECTIONAL,
				  DMA_ATTR_NO_WARN | DMA_ATTR_SKIP_CPU_SYNC);

	if (!ret && agate_sgt_needs_sync(to_agate_device(drm), sgt))
		dma_sync_sgtable_for_device(drm->dev, sgt, DMA_BIDIRECTIONAL);
	/* The memory for bouncing is finite, and the DMA layer says just -EIO. */
	return ret == -EIO ? -ENOMEM : ret;
}

/* Make an sg table of the BO's pages, mapped for DMA. */
static struct sg_table *sgt_make(struct agate_bo *bo)
{
	struct drm_device *drm = bo->base.dev;
	size_t most = min_t(size_t, dma_max_mapping_size(drm->dev), UINT_MAX);
	struct sg_table *sgt;
	int idx, ret;

	/* drm_prime_pages_to_sg() makes the same table, and charges nobody for it. */
	sgt = bo->backing.ops->get_sg_table(bo, ALIGN_DOWN(most, PAGE_SIZE));
	if (IS_ERR(sgt))
		return sgt;

	ret = -ENODEV;
	if (drm_dev_enter(drm, &idx)) {
		ret = sgt_map(drm, sgt);
		drm_dev_exit(idx);
	}
	if (ret) {
		sg_free_table(sgt);
		kfree(sgt);
		return ERR_PTR(ret);
	}
	agate_stat_inc(&to_agate_device(drm)->stats, AGATE_STAT_SG_TABLES);
	return sgt;
}

/*
 * Every job that wrote to the pages has handed them to the CPUs (agate_hand_over.h).
 * Another sync would put what it wrote over what the CPUs have written since.
 */
static void sgt_free(struct agate_bo *bo)
{
	struct drm_device *drm = bo->base.dev;
	struct sg_table *sgt = bo->shmem.sgt;

	lockdep_assert_held(&bo->backing.lock);

	if (!sgt)
		return;
	dma_unmap_sgtable(drm->dev, sgt, DMA_BIDIRECTIONAL, DMA_ATTR_SKIP_CPU_SYNC);
	sg_free_table(sgt);
	kfree(sgt);
	agate_stat_dec(&to_agate_device(drm)->stats, AGATE_STAT_SG_TABLES);
	bo->shmem.sgt = NULL;
	bo->backing.sgt = NULL;
	bo->backing.bounced = NULL;
	pages_unuse(bo);
}
#else
/*
 * STEP 3: write what makes the sg table of the whole BO, mapped for DMA, what undoes it,
 * and what makes it only once.  The table is one user of the pages, and shmem_release()
 * has to undo it, too.
 */
#endif

/* ---- Operations -------------------------------------------------------- */

static void shmem_detach(struct agate_bo *bo)
{
#if LAB04 >= 3
	mutex_lock(&bo->backing.lock);
	sgt_free(bo);
	mutex_unlock(&bo->backing.lock);
#else
	/* STEP 3: the device goes, and no DMA mapping may outlast it. */
#endif
}

static void shmem_release(struct agate_bo *bo)
{
#if LAB04 >= 1
	mutex_lock(&bo->backing.lock);
#endif
#if LAB04 >= 3
	sgt_free(bo);
#endif
#if LAB04 >= 1
	WARN_ON(bo->shmem.pages_use || bo->shmem.vmap_use);
	pages_drop(bo);
	mutex_unlock(&bo->backing.lock);
#else
	/* STEP 1: the BO dies: give back whatever it still has. */
#endif
}

static void shmem_purge(struct agate_bo *bo)
{
#if LAB04 >= 3
	sgt_free(bo);
	pages_drop(bo);
	shmem_truncate_range(file_inode(bo->base.filp), 0, (loff_t)-1);
#else
	/*
	 * STEP 3: give all memory back to the system, and the contents with it.  The
	 * caller holds backing.lock, and nobody uses the BO.
	 */
#endif
}

static void shmem_open(struct agate_bo *bo)
{
#if LAB04 >= 1
	mutex_lock(&bo->backing.lock);
	bo->shmem.pages_use++;
	mutex_unlock(&bo->backing.lock);
#else
	/* STEP 1: one more VMA uses the pages.  It takes none yet. */
#endif
}

static void shmem_put_pages(struct agate_bo *bo)
{
#if LAB04 >= 1
	mutex_lock(&bo->backing.lock);
	pages_unuse(bo);
	mutex_unlock(&bo->backing.lock);
#else
	/* STEP 1: a VMA, or an importer, uses the pages no longer. */
#endif
}

#if LAB04 >= 1
/*
 * A page that is present costs the CPU a whole fault all the same: map those behind the one
 * that it touched, too, up to the first absent one.
 */
static void map_present(struct agate_bo *bo, struct vm_fault *vmf, unsigned long index)
{
	unsigned long addr = vmf->address & PAGE_MASK;
	unsigned long end = min3(addr + FAULT_AROUND, ALIGN(addr + 1, PMD_SIZE), vmf->vma->vm_end);

	lockdep_assert_held(&bo->backing.lock);

	while ((addr += PAGE_SIZE) < end && ++index < bo_pages(bo) && bo->shmem.pages[index]) {
		if (vmf_insert_pfn(vmf->vma, addr, page_to_pfn(bo->shmem.pages[index])) !=
		    VM_FAULT_NOPAGE)
			break;
	}
}
#endif

/*
 * The lock keeps the shrinker from purging a page before it is inserted.
 *
 * Return SIGBUS when memory is short: allocating the pages does not call the OOM
 * killer, so the retries that VM_FAULT_OOM causes might never end.
 */
static vm_fault_t shmem_fault(struct agate_bo *bo, struct vm_fault *vmf, unsigned long index)
{
#if LAB04 >= 1
	vm_fault_t ret = VM_FAULT_SIGBUS;

	mutex_lock(&bo->backing.lock);
	if (bo->madv >= 0 && index < bo_pages(bo) && !pages_fill(bo, index, 1)) {
		ret = vmf_insert_pfn(vmf->vma, vmf->address, page_to_pfn(bo->shmem.pages[index]));
		if (ret == VM_FAULT_NOPAGE)
			map_present(bo, vmf, index);
	}
	mutex_unlock(&bo->backing.lock);
	return ret;
#else
	/*
	 * STEP 1: take the page that was touched, if it is not there, and put it into the
	 * process's page table.  No purge may come in between.
	 */
	return VM_FAULT_SIGBUS;
#endif
}

#if LAB04 >= 3
static int sgt_make_once(struct agate_bo *bo)
{
	struct sg_table *sgt;
	int ret;

	lockdep_assert_held(&bo->backing.lock);

	if (bo->shmem.sgt)
		return 0;
	ret = pages_use_all(bo);
	if (ret)
		return ret;
	sgt = sgt_make(bo);
	if (IS_ERR(sgt)) {
		pages_unuse(bo);
		return PTR_ERR(sgt);
	}
	bo->shmem.sgt = sgt;
	bo->backing.sgt = sgt;
	if (agate_sgt_needs_sync(to_agate_device(bo->base.dev), sgt))
		bo->backing.bounced = sgt;
	return 0;
}
#endif

static int shmem_populate(struct agate_bo *bo, u64 offset, u64 size, struct agate_runs *runs)
{
#if LAB04 >= 3
	int ret;

	if (offset >= agate_bo_size(bo) || size > agate_bo_size(bo) - offset)
		return -EINVAL;

	mutex_lock(&bo->backing.lock);
	ret = sgt_make_once(bo);
	if (!ret)
		*runs = (struct agate_runs){
			.sg = bo->shmem.sgt->sgl, .skip = offset, .left = size,
		};
	mutex_unlock(&bo->backing.lock);
	return ret;
#else
	/*
	 * STEP 3: make the sg table if there is none, and answer with the part of it that
	 * was asked for.  Two threads may come here at the same time.
	 */
	return -EOPNOTSUPP;
#endif
}

static int shmem_pin(struct agate_bo *bo)
{
#if LAB04 >= 2
	int ret;

	mutex_lock(&bo->backing.lock);
	ret = pages_use_all(bo);
	mutex_unlock(&bo->backing.lock);
	return ret;
#else
	/* STEP 2: another driver uses the whole BO.  shmem_put_pages() undoes it. */
	return -EOPNOTSUPP;
#endif
}

static struct sg_table *shmem_get_sg_table(struct agate_bo *bo, unsigned int max_segment)
{
#if LAB04 >= 2
	struct sg_table *sgt;
	int ret;

	sgt = kzalloc(sizeof(*sgt), GFP_KERNEL_ACCOUNT);
	if (!sgt)
		return ERR_PTR(-ENOMEM);
	ret = sg_alloc_table_from_pages_segment(sgt, bo->shmem.pages, bo_pages(bo), 0,
						agate_bo_size(bo), max_segment,
						GFP_KERNEL_ACCOUNT);
	if (ret) {
		kfree(sgt);
		return ERR_PTR(ret);
	}
	return sgt;
#else
	/*
	 * STEP 2: list the pages of a pinned BO in a new sg table, whose entries keep to
	 * max_segment.  The caller maps it for its own device, and frees it.
	 */
	return ERR_PTR(-EOPNOTSUPP);
#endif
}

static int shmem_vmap(struct agate_bo *bo, struct iosys_map *map)
{
#if LAB04 >= 2
	struct agate_shmem *shmem = &bo->shmem;
	int ret = 0;

	mutex_lock(&bo->backing.lock);
	if (!shmem->vaddr) {
		ret = pages_use_all(bo);
		if (ret)
			goto out;
		shmem->vaddr = vmap(shmem->pages, bo_pages(bo), VM_MAP, PAGE_KERNEL);
		if (!shmem->vaddr) {
			pages_unuse(bo);
			ret = -ENOMEM;
			goto out;
		}
	}
	shmem->vmap_use++;
	iosys_map_set_vaddr(map, shmem->vaddr);
out:
	mutex_unlock(&bo->backing.lock);
	return ret;
#else
	/*
	 * STEP 2: make the BO's pages follow one another in the kernel's address space.
	 * Several users share one mapping, which is one user of the pages.
	 */
	return -EOPNOTSUPP;
#endif
}

static void shmem_vunmap(struct agate_bo *bo, struct iosys_map *map)
{
#if LAB04 >= 2
	struct agate_shmem *shmem = &bo->shmem;

	mutex_lock(&bo->backing.lock);
	if (!WARN_ON(!shmem->vmap_use) && !--shmem->vmap_use) {
		vunmap(shmem->vaddr);
		shmem->vaddr = NULL;
		pages_unuse(bo);
	}
	mutex_unlock(&bo->backing.lock);
#else
	/* STEP 2: undo one shmem_vmap(). */
#endif
}

const struct agate_backing_ops agate_shmem_backing = {
	.flags = AGATE_BACKING_CPU_VISIBLE | AGATE_BACKING_PURGEABLE |
		 AGATE_BACKING_EXPORTABLE,
	.populate = shmem_populate,
	.open = shmem_open,
	.close = shmem_put_pages,
	.fault = shmem_fault,
	.pin = shmem_pin,
	.unpin = shmem_put_pages,
	.get_sg_table = shmem_get_sg_table,
	.vmap = shmem_vmap,
	.vunmap = shmem_vunmap,
	.purge = shmem_purge,
	.detach = shmem_detach,
	.release = shmem_release,
};

/* ---- Topic ------------------------------------------------------------- */

int agate_shmem_topic_init(struct agate_device *adev)
{
#if LAB04 >= 1
	return 0;
#else
	/* STEP 1: a device needs nothing: without this line the topic is absent. */
	return -EOPNOTSUPP;
#endif
}

void agate_shmem_topic_fini(struct agate_device *adev)
{
}
