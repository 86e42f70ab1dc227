// SPDX-License-Identifier: GPL-2.0-only
/*
 * Written from the handout alone: no neighbours, page by page, and tables made by hand.
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/shmem_fs.h>
#include <linux/slab.h>
#include <linux/swap.h>
#include <linux/vmalloc.h>
#include <drm/drm_drv.h>

#include "agate_backing.h"
#include "agate_device.h"
#include "agate_gem.h"
#include "agate_hand_over.h"
#include "agate_shmem.h"

static size_t how_many(struct agate_bo *bo)
{
	return agate_bo_size(bo) / PAGE_SIZE;
}

static struct page *take(struct agate_bo *bo, size_t i)
{
	struct file *file = agate_backing_file(bo);
	struct page *page;

	if (IS_ERR(file))
		return ERR_CAST(file);
	if (!bo->shmem.pages) {
		struct page **pages = vzalloc(array_size(how_many(bo), sizeof(*pages)));

		if (!pages)
			return ERR_PTR(-ENOMEM);
		bo->shmem.pages = pages;
		mapping_set_unevictable(file->f_mapping);
	}
	page = bo->shmem.pages[i];
	if (page)
		return page;
	page = shmem_read_mapping_page(file->f_mapping, i);
	if (!IS_ERR(page)) {
		bo->shmem.pages[i] = page;
		agate_backing_account(bo, 1);
	}
	return page;
}

static void give_back(struct agate_bo *bo)
{
	size_t i;

	if (!bo->shmem.pages)
		return;
	for (i = 0; i < how_many(bo); i++) {
		struct page *page = bo->shmem.pages[i];

		if (!page)
			continue;
		set_page_dirty(page);
		mark_page_accessed(page);
		put_page(page);
		agate_backing_account(bo, -1);
	}
	mapping_clear_unevictable(bo->base.filp->f_mapping);
	vfree(bo->shmem.pages);
	bo->shmem.pages = NULL;
}

static void less(struct agate_bo *bo)
{
	bo->shmem.pages_use -= 1;
	if (bo->shmem.pages_use == 0)
		give_back(bo);
}

static int more(struct agate_bo *bo)
{
	size_t i;

	if (bo->madv < 0)
		return -EFAULT;
	bo->shmem.pages_use += 1;
	for (i = 0; i < how_many(bo); i++) {
		struct page *page = take(bo, i);

		if (IS_ERR(page)) {
			less(bo);
			return -ENOMEM;
		}
	}
	return 0;
}

static struct sg_table *table_of(struct agate_bo *bo, size_t longest)
{
	struct sg_table *table = kzalloc(sizeof(*table), GFP_KERNEL);
	struct scatterlist *sg;
	size_t i;

	/* One entry for each page is short enough for everybody. */
	if (!table || longest < PAGE_SIZE)
		goto none;
	if (sg_alloc_table(table, how_many(bo), GFP_KERNEL))
		goto none;
	for_each_sgtable_sg(table, sg, i)
		sg_set_page(sg, bo->shmem.pages[i], PAGE_SIZE, 0);
	return table;
none:
	kfree(table);
	return ERR_PTR(-ENOMEM);
}

static void end_table(struct agate_bo *bo)
{
	struct sg_table *table = bo->shmem.sgt;
	struct drm_device *drm = bo->base.dev;

	if (!table)
		return;
	bo->shmem.sgt = NULL;
	bo->backing.sgt = NULL;
	bo->backing.bounced = NULL;
	dma_unmap_sg_attrs(drm->dev, table->sgl, table->orig_nents, DMA_BIDIRECTIONAL,
			   DMA_ATTR_SKIP_CPU_SYNC);
	sg_free_table(table);
	kfree(table);
	agate_stat_dec(&to_agate_device(drm)->stats, AGATE_STAT_SG_TABLES);
	less(bo);
}

static int begin_mapped(struct agate_bo *bo)
{
	struct drm_device *drm = bo->base.dev;
	struct agate_device *adev = to_agate_device(drm);
	struct sg_table *table;
	int n, ret;

	ret = more(bo);
	if (ret)
		return ret;
	table = table_of(bo, PAGE_SIZE);
	if (IS_ERR(table)) {
		less(bo);
		return PTR_ERR(table);
	}
	n = dma_map_sg_attrs(drm->dev, table->sgl, table->orig_nents, DMA_BIDIRECTIONAL,
			     DMA_ATTR_NO_WARN | DMA_ATTR_SKIP_CPU_SYNC);
	if (n <= 0) {
		sg_free_table(table);
		kfree(table);
		less(bo);
		return -ENOMEM;
	}
	table->nents = n;
	if (agate_sgt_needs_sync(adev, table)) {
		dma_sync_sgtable_for_device(drm->dev, table, DMA_BIDIRECTIONAL);
		bo->backing.bounced = table;
	}
	bo->shmem.sgt = table;
	bo->backing.sgt = table;
	agate_stat_inc(&adev->stats, AGATE_STAT_SG_TABLES);
	return 0;
}

/* The device stays for as long as all of this takes. */
static int begin_table(struct agate_bo *bo)
{
	int idx, ret;

	if (bo->shmem.sgt)
		return 0;
	if (!drm_dev_enter(bo->base.dev, &idx))
		return -ENODEV;
	ret = begin_mapped(bo);
	drm_dev_exit(idx);
	return ret;
}

static int populate(struct agate_bo *bo, u64 offset, u64 size, struct agate_runs *runs)
{
	u64 all = agate_bo_size(bo);
	int ret;

	if (offset >= all || size > all || offset + size > all)
		return -EINVAL;
	mutex_lock(&bo->backing.lock);
	ret = begin_table(bo);
	if (!ret) {
		memset(runs, 0, sizeof(*runs));
		runs->sg = bo->shmem.sgt->sgl;
		runs->skip = offset;
		runs->left = size;
	}
	mutex_unlock(&bo->backing.lock);
	return ret;
}

static void open_vma(struct agate_bo *bo)
{
	mutex_lock(&bo->backing.lock);
	bo->shmem.pages_use += 1;
	mutex_unlock(&bo->backing.lock);
}

static void end_use(struct agate_bo *bo)
{
	mutex_lock(&bo->backing.lock);
	less(bo);
	mutex_unlock(&bo->backing.lock);
}

static vm_fault_t fault(struct agate_bo *bo, struct vm_fault *vmf, unsigned long index)
{
	struct page *page;
	vm_fault_t ret;

	mutex_lock(&bo->backing.lock);
	page = bo->madv < 0 || index >= how_many(bo) ? NULL : take(bo, index);
	ret = IS_ERR_OR_NULL(page) ? VM_FAULT_SIGBUS :
	      vmf_insert_pfn(vmf->vma, vmf->address, page_to_pfn(page));
	mutex_unlock(&bo->backing.lock);
	return ret;
}

static int pin(struct agate_bo *bo)
{
	int ret;

	mutex_lock(&bo->backing.lock);
	ret = more(bo);
	mutex_unlock(&bo->backing.lock);
	return ret;
}

static struct sg_table *get_sg_table(struct agate_bo *bo, unsigned int max_segment)
{
	return table_of(bo, max_segment);
}

static int map_all(struct agate_bo *bo)
{
	int ret = more(bo);

	if (ret)
		return ret;
	bo->shmem.vaddr = vmap(bo->shmem.pages, how_many(bo), VM_MAP, PAGE_KERNEL);
	if (bo->shmem.vaddr)
		return 0;
	less(bo);
	return -ENOMEM;
}

static int begin_vmap(struct agate_bo *bo, struct iosys_map *map)
{
	int ret = 0;

	mutex_lock(&bo->backing.lock);
	if (bo->shmem.vmap_use == 0)
		ret = map_all(bo);
	if (ret == 0) {
		bo->shmem.vmap_use += 1;
		iosys_map_set_vaddr(map, bo->shmem.vaddr);
	}
	mutex_unlock(&bo->backing.lock);
	return ret;
}

static void end_vmap(struct agate_bo *bo, struct iosys_map *map)
{
	mutex_lock(&bo->backing.lock);
	bo->shmem.vmap_use -= 1;
	if (bo->shmem.vmap_use == 0) {
		vunmap(bo->shmem.vaddr);
		less(bo);
	}
	mutex_unlock(&bo->backing.lock);
}

static void purge(struct agate_bo *bo)
{
	end_table(bo);
	give_back(bo);
	shmem_truncate_range(file_inode(bo->base.filp), 0, (loff_t)-1);
}

static void detach(struct agate_bo *bo)
{
	mutex_lock(&bo->backing.lock);
	end_table(bo);
	mutex_unlock(&bo->backing.lock);
}

const struct agate_backing_ops agate_shmem_backing = {
	.flags = AGATE_BACKING_CPU_VISIBLE | AGATE_BACKING_PURGEABLE |
		 AGATE_BACKING_EXPORTABLE,
	.populate = populate,
	.open = open_vma,
	.close = end_use,
	.fault = fault,
	.pin = pin,
	.unpin = end_use,
	.get_sg_table = get_sg_table,
	.vmap = begin_vmap,
	.vunmap = end_vmap,
	.purge = purge,
	.detach = detach,
	/* The table is the last user, if there is one. */
	.release = detach,
};

int agate_shmem_topic_init(struct agate_device *adev)
{
	return 0;
}

void agate_shmem_topic_fini(struct agate_device *adev)
{
}
