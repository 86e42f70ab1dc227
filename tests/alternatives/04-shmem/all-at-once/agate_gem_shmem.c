// SPDX-License-Identifier: GPL-2.0-only
/*
 * The array lives as long as the BO, the core takes all pages where none is there yet, a fault
 * maps neighbours on both sides, and the table is made where nothing else is in the way.
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>
#include <linux/swap.h>
#include <linux/vmalloc.h>
#include <drm/drm_drv.h>
#include <drm/drm_prime.h>

#include "agate_backing.h"
#include "agate_device.h"
#include "agate_gem.h"
#include "agate_hand_over.h"
#include "agate_shmem.h"

#define AROUND	8

static unsigned long last_page(const struct agate_bo *bo)
{
	return (agate_bo_size(bo) >> PAGE_SHIFT) - 1;
}

static int array_ready(struct agate_bo *bo)
{
	if (IS_ERR(agate_backing_file(bo)))
		return -ENOMEM;
	if (!bo->shmem.pages)
		bo->shmem.pages = kvcalloc(last_page(bo) + 1, sizeof(struct page *),
					   GFP_KERNEL_ACCOUNT);
	return bo->shmem.pages ? 0 : -ENOMEM;
}

static int one_ready(struct agate_bo *bo, unsigned long index)
{
	struct page *page;

	if (array_ready(bo))
		return -ENOMEM;
	if (bo->shmem.pages[index])
		return 0;
	mapping_set_unevictable(bo->base.filp->f_mapping);
	page = shmem_read_mapping_page_gfp(bo->base.filp->f_mapping, index,
					   mapping_gfp_mask(bo->base.filp->f_mapping));
	if (IS_ERR(page)) {
		if (!bo->backing.nr_pages)
			mapping_clear_unevictable(bo->base.filp->f_mapping);
		return -ENOMEM;
	}
	bo->shmem.pages[index] = page;
	agate_backing_account(bo, 1);
	return 0;
}

static void all_gone(struct agate_bo *bo)
{
	unsigned long i;

	for (i = 0; bo->backing.nr_pages && i <= last_page(bo); i++) {
		struct page *page = bo->shmem.pages[i];

		if (!page)
			continue;
		bo->shmem.pages[i] = NULL;
		folio_mark_dirty(page_folio(page));
		folio_mark_accessed(page_folio(page));
		put_page(page);
		agate_backing_account(bo, -1);
	}
	if (bo->base.filp)
		mapping_clear_unevictable(bo->base.filp->f_mapping);
}

static int all_from_core(struct agate_bo *bo)
{
	struct page **pages = drm_gem_get_pages(&bo->base);

	if (IS_ERR(pages))
		return -ENOMEM;
	memcpy(bo->shmem.pages, pages, (last_page(bo) + 1) * sizeof(*pages));
	kvfree(pages);
	agate_backing_account(bo, last_page(bo) + 1);
	return 0;
}

static void put_use(struct agate_bo *bo)
{
	WARN_ON(!bo->shmem.pages_use);
	if (!--bo->shmem.pages_use)
		all_gone(bo);
}

static int get_use(struct agate_bo *bo)
{
	unsigned long i;
	int ret;

	if (bo->madv < 0)
		return -EFAULT;
	ret = array_ready(bo);
	if (!ret && !bo->backing.nr_pages)
		ret = all_from_core(bo);
	for (i = 0; !ret && i <= last_page(bo); i++)
		ret = one_ready(bo, i);
	if (!ret)
		bo->shmem.pages_use++;
	else if (!bo->shmem.pages_use)
		all_gone(bo);
	return ret;
}

static int mapped_table(struct agate_bo *bo, struct sg_table **table)
{
	struct drm_device *drm = bo->base.dev;
	struct sg_table *sgt = drm_prime_pages_to_sg(drm, bo->shmem.pages, last_page(bo) + 1);
	int ret;

	if (IS_ERR(sgt))
		return PTR_ERR(sgt);
	ret = dma_map_sgtable(drm->dev, sgt, DMA_BIDIRECTIONAL,
			      DMA_ATTR_SKIP_CPU_SYNC | DMA_ATTR_NO_WARN);
	if (ret) {
		sg_free_table(sgt);
		kfree(sgt);
		return -ENOMEM;
	}
	*table = sgt;
	return 0;
}

static int table_ready(struct agate_bo *bo)
{
	struct agate_device *adev = to_agate_device(bo->base.dev);
	struct sg_table *sgt;
	int ret;

	if (bo->backing.sgt)
		return 0;
	ret = get_use(bo);
	if (ret)
		return ret;
	ret = mapped_table(bo, &sgt);
	if (ret) {
		put_use(bo);
		return ret;
	}
	agate_stat_add(&adev->stats, AGATE_STAT_SG_TABLES, 1);
	bo->shmem.sgt = sgt;
	bo->backing.sgt = sgt;
	if (!agate_sgt_needs_sync(adev, sgt))
		return 0;
	bo->backing.bounced = sgt;
	dma_sync_sgtable_for_device(bo->base.dev->dev, sgt, DMA_BIDIRECTIONAL);
	return 0;
}

static void table_gone(struct agate_bo *bo)
{
	struct sg_table *sgt = bo->backing.sgt;

	if (!sgt)
		return;
	bo->backing.bounced = NULL;
	bo->backing.sgt = NULL;
	bo->shmem.sgt = NULL;
	dma_unmap_sgtable(bo->base.dev->dev, sgt, DMA_BIDIRECTIONAL, DMA_ATTR_SKIP_CPU_SYNC);
	sg_free_table(sgt);
	kfree(sgt);
	agate_stat_add(&to_agate_device(bo->base.dev)->stats, AGATE_STAT_SG_TABLES, -1);
	put_use(bo);
}

/* The device cannot go while the table is made, nor while anybody waits for the lock. */
static int lazy_populate(struct agate_bo *bo, u64 offset, u64 size, struct agate_runs *runs)
{
	int idx, ret;

	if (offset > agate_bo_size(bo) - 1 || agate_bo_size(bo) - offset < size)
		return -EINVAL;
	if (!drm_dev_enter(bo->base.dev, &idx))
		return -ENODEV;
	mutex_lock(&bo->backing.lock);
	ret = table_ready(bo);
	if (!ret)
		*runs = (struct agate_runs){
			.sg = bo->backing.sgt->sgl, .skip = offset, .left = size,
		};
	mutex_unlock(&bo->backing.lock);
	drm_dev_exit(idx);
	return ret;
}

static void lazy_open(struct agate_bo *bo)
{
	mutex_lock(&bo->backing.lock);
	bo->shmem.pages_use++;
	mutex_unlock(&bo->backing.lock);
}

static void lazy_close(struct agate_bo *bo)
{
	mutex_lock(&bo->backing.lock);
	put_use(bo);
	mutex_unlock(&bo->backing.lock);
}

/* What is present on both sides of the page, as far as the VMA goes. */
static void insert_around(struct agate_bo *bo, struct vm_fault *vmf, unsigned long index)
{
	unsigned long i = index > AROUND ? index - AROUND : 0;

	for (; i <= last_page(bo) && i <= index + AROUND; i++) {
		long distance = (long)i - (long)index;
		unsigned long at = (vmf->address & PAGE_MASK) + distance * (long)PAGE_SIZE;

		if (i == index || !bo->shmem.pages[i] || at < vmf->vma->vm_start ||
		    at >= vmf->vma->vm_end)
			continue;
		vmf_insert_pfn(vmf->vma, at, page_to_pfn(bo->shmem.pages[i]));
	}
}

static vm_fault_t lazy_fault(struct agate_bo *bo, struct vm_fault *vmf, unsigned long index)
{
	vm_fault_t ret = VM_FAULT_SIGBUS;

	mutex_lock(&bo->backing.lock);
	if (bo->madv < 0 || index > last_page(bo) || one_ready(bo, index))
		goto out;
	ret = vmf_insert_pfn(vmf->vma, vmf->address, page_to_pfn(bo->shmem.pages[index]));
	insert_around(bo, vmf, index);
out:
	mutex_unlock(&bo->backing.lock);
	return ret;
}

static int lazy_pin(struct agate_bo *bo)
{
	int ret;

	mutex_lock(&bo->backing.lock);
	ret = get_use(bo);
	mutex_unlock(&bo->backing.lock);
	return ret;
}

static struct sg_table *lazy_get_sg_table(struct agate_bo *bo, unsigned int max_segment)
{
	struct sg_table *sgt = kmalloc(sizeof(*sgt), GFP_KERNEL);

	if (!sgt)
		return ERR_PTR(-ENOMEM);
	if (!sg_alloc_table_from_pages_segment(sgt, bo->shmem.pages, last_page(bo) + 1, 0,
					       agate_bo_size(bo), max_segment, GFP_KERNEL))
		return sgt;
	kfree(sgt);
	return ERR_PTR(-ENOMEM);
}

static int lazy_vmap(struct agate_bo *bo, struct iosys_map *map)
{
	int ret = 0;

	mutex_lock(&bo->backing.lock);
	if (bo->shmem.vmap_use++)
		goto mapped;
	ret = get_use(bo);
	if (ret)
		goto failed;
	bo->shmem.vaddr = vmap(bo->shmem.pages, last_page(bo) + 1, VM_MAP, PAGE_KERNEL);
	if (bo->shmem.vaddr)
		goto mapped;
	ret = -ENOMEM;
	put_use(bo);
failed:
	bo->shmem.vmap_use--;
mapped:
	if (!ret)
		iosys_map_set_vaddr(map, bo->shmem.vaddr);
	mutex_unlock(&bo->backing.lock);
	return ret;
}

static void lazy_vunmap(struct agate_bo *bo, struct iosys_map *map)
{
	mutex_lock(&bo->backing.lock);
	if (!--bo->shmem.vmap_use) {
		vunmap(bo->shmem.vaddr);
		put_use(bo);
	}
	mutex_unlock(&bo->backing.lock);
}

static void lazy_purge(struct agate_bo *bo)
{
	table_gone(bo);
	all_gone(bo);
	shmem_truncate_range(file_inode(bo->base.filp), 0, (loff_t)-1);
}

static void lazy_detach(struct agate_bo *bo)
{
	mutex_lock(&bo->backing.lock);
	table_gone(bo);
	mutex_unlock(&bo->backing.lock);
}

static void lazy_release(struct agate_bo *bo)
{
	lazy_detach(bo);
	kvfree(bo->shmem.pages);
	bo->shmem.pages = NULL;
}

const struct agate_backing_ops agate_shmem_backing = {
	.flags = AGATE_BACKING_CPU_VISIBLE | AGATE_BACKING_PURGEABLE |
		 AGATE_BACKING_EXPORTABLE,
	.populate = lazy_populate,
	.open = lazy_open,
	.close = lazy_close,
	.fault = lazy_fault,
	.pin = lazy_pin,
	.unpin = lazy_close,
	.get_sg_table = lazy_get_sg_table,
	.vmap = lazy_vmap,
	.vunmap = lazy_vunmap,
	.purge = lazy_purge,
	.detach = lazy_detach,
	.release = lazy_release,
};

int agate_shmem_topic_init(struct agate_device *adev)
{
	return 0;
}

void agate_shmem_topic_fini(struct agate_device *adev)
{
}
