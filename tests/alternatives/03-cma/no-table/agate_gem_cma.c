// SPDX-License-Identifier: GPL-2.0-only
/*
 * A BO in one piece, without a table of its own: the first page is found by the kernel's
 * address.  A coherent mapping is as good as a write-combining one where DMA is coherent.
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <drm/drm_vma_manager.h>

#include "agate_backing.h"
#include "agate_cma.h"
#include "agate_device.h"
#include "agate_gem.h"
#include "agate_mem_dev.h"

static unsigned long first_pfn(const struct agate_bo *bo)
{
	return page_to_pfn(virt_to_page(bo->cma.vaddr));
}

static int take(struct agate_bo *bo)
{
	struct device *dev = to_agate_device(bo->base.dev)->mem_dev;

	bo->cma.vaddr = dma_alloc_coherent(dev, agate_bo_size(bo), &bo->cma.addr,
					   GFP_KERNEL | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
	return bo->cma.vaddr ? 0 : -ENOMEM;
}

static void give_back(struct agate_bo *bo)
{
	struct device *dev = to_agate_device(bo->base.dev)->mem_dev;

	dma_free_coherent(dev, agate_bo_size(bo), bo->cma.vaddr, bo->cma.addr);
}

/* Offset and size have 64 bits, and their sum may wrap: then it is below both. */
static int populate(struct agate_bo *bo, u64 offset, u64 size, struct agate_runs *runs)
{
	u64 end = offset + size;

	if (end < size || end > agate_bo_size(bo) || offset == agate_bo_size(bo))
		return -EINVAL;
	memset(runs, 0, sizeof(*runs));
	runs->addr = bo->cma.addr + offset;
	runs->left = size;
	return 0;
}

/* A map of a dma-buf may begin inside the BO; vm_pgoff says where, and stays as it is. */
static int map(struct agate_bo *bo, struct vm_area_struct *vma)
{
	unsigned long skipped = vma->vm_pgoff - drm_vma_node_start(&bo->base.vma_node);

	return remap_pfn_range(vma, vma->vm_start, first_pfn(bo) + skipped,
			       vma->vm_end - vma->vm_start, vma->vm_page_prot);
}

/* All pages from here to the end of the VMA come with one fault. */
static vm_fault_t fault(struct agate_bo *bo, struct vm_fault *vmf, unsigned long index)
{
	unsigned long at = vmf->address & PAGE_MASK;
	vm_fault_t ret = VM_FAULT_NOPAGE;

	if (index >= agate_bo_size(bo) >> PAGE_SHIFT)
		return VM_FAULT_SIGBUS;
	for (; at < vmf->vma->vm_end && ret == VM_FAULT_NOPAGE; at += PAGE_SIZE)
		ret = vmf_insert_pfn(vmf->vma, at, first_pfn(bo) + index++);
	return ret;
}

static int pin(struct agate_bo *bo)
{
	return 0;
}

static void nothing(struct agate_bo *bo)
{
}

static struct sg_table *table(struct agate_bo *bo, unsigned int max_segment)
{
	unsigned int n = agate_bo_size(bo) >> PAGE_SHIFT, i;
	struct sg_table *sgt = kmalloc(sizeof(*sgt), GFP_KERNEL);
	struct page **pages = kvmalloc_array(n, sizeof(*pages), GFP_KERNEL);
	int ret = -ENOMEM;

	for (i = 0; pages && i < n; i++)
		pages[i] = pfn_to_page(first_pfn(bo) + i);
	if (pages && sgt)
		ret = sg_alloc_table_from_pages_segment(sgt, pages, n, 0, agate_bo_size(bo),
							max_segment, GFP_KERNEL);
	kvfree(pages);
	if (!ret)
		return sgt;
	kfree(sgt);
	return ERR_PTR(ret);
}

static int kernel_map(struct agate_bo *bo, struct iosys_map *map)
{
	*map = (struct iosys_map)IOSYS_MAP_INIT_VADDR(bo->cma.vaddr);
	return 0;
}

static void kernel_unmap(struct agate_bo *bo, struct iosys_map *map)
{
	iosys_map_clear(map);
}

const struct agate_backing_ops agate_cma_backing = {
	.flags = AGATE_BACKING_EARLY | AGATE_BACKING_CPU_VISIBLE | AGATE_BACKING_EXPORTABLE,
	.create = take,
	.populate = populate,
	.fault = fault,
	.mmap = map,
	.pin = pin,
	.unpin = nothing,
	.get_sg_table = table,
	.vmap = kernel_map,
	.vunmap = kernel_unmap,
	.detach = nothing,
	.release = give_back,
};

int agate_cma_topic_init(struct agate_device *adev)
{
	int ret = agate_mem_dev_init(adev);

	if (ret)
		return ret;
	return 0;
}

void agate_cma_topic_fini(struct agate_device *adev)
{
}
