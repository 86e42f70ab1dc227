// SPDX-License-Identifier: GPL-2.0-only
/*
 * A BO in one piece, whose table also has the bus address, so that a part is a walk over the
 * table; process and kernel get maps of their own.
 */
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <drm/drm_vma_manager.h>

#include "agate_backing.h"
#include "agate_cma.h"
#include "agate_device.h"
#include "agate_gem.h"
#include "agate_mem_dev.h"

#define ATTRS	DMA_ATTR_WRITE_COMBINE

static struct device *owner(const struct agate_bo *bo)
{
	return to_agate_device(bo->base.dev)->mem_dev;
}

static int cma_create(struct agate_bo *bo)
{
	size_t size = agate_bo_size(bo);
	dma_addr_t addr;
	void *vaddr;
	int ret = -ENOMEM;

	vaddr = dma_alloc_attrs(owner(bo), size, &addr,
				GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN, ATTRS);
	if (!vaddr)
		return ret;
	ret = sg_alloc_table(&bo->cma.sgt, 1, GFP_KERNEL_ACCOUNT);
	if (ret)
		goto err;
	sg_set_page(bo->cma.sgt.sgl, virt_to_page(vaddr), size, 0);
	sg_dma_address(bo->cma.sgt.sgl) = addr;
	sg_dma_len(bo->cma.sgt.sgl) = size;
	bo->cma.vaddr = vaddr;
	bo->cma.addr = addr;
	return 0;
err:
	dma_free_attrs(owner(bo), size, vaddr, addr, ATTRS);
	return ret;
}

static void cma_release(struct agate_bo *bo)
{
	dma_free_attrs(owner(bo), agate_bo_size(bo), bo->cma.vaddr, bo->cma.addr, ATTRS);
	sg_free_table(&bo->cma.sgt);
	memset(&bo->cma, 0, sizeof(bo->cma));
}

static int cma_populate(struct agate_bo *bo, u64 offset, u64 size, struct agate_runs *runs)
{
	if (size > agate_bo_size(bo))
		return -EINVAL;
	if (offset > agate_bo_size(bo) - size || offset == agate_bo_size(bo))
		return -EINVAL;
	*runs = (struct agate_runs){ .sg = bo->cma.sgt.sgl, .skip = offset, .left = size };
	return 0;
}

static unsigned long pfn_of(struct agate_bo *bo, unsigned long index)
{
	return page_to_pfn(sg_page(bo->cma.sgt.sgl)) + index;
}

static vm_fault_t cma_fault(struct agate_bo *bo, struct vm_fault *vmf, unsigned long index)
{
	if (index >= agate_bo_size(bo) >> PAGE_SHIFT)
		return VM_FAULT_SIGBUS;
	return vmf_insert_pfn_prot(vmf->vma, vmf->address, pfn_of(bo, index),
				   vmf->vma->vm_page_prot);
}

/* The page table is complete as well when each page is inserted as a fault would do it. */
static int cma_mmap(struct agate_bo *bo, struct vm_area_struct *vma)
{
	unsigned long index = vma->vm_pgoff - drm_vma_node_start(&bo->base.vma_node), at;

	for (at = vma->vm_start; at < vma->vm_end; at += PAGE_SIZE)
		if (vmf_insert_pfn(vma, at, pfn_of(bo, index++)) != VM_FAULT_NOPAGE)
			return -ENOMEM;
	return 0;
}

static int cma_pin(struct agate_bo *bo)
{
	return 0;
}

static void cma_nothing(struct agate_bo *bo)
{
}

static struct sg_table *cma_get_sg_table(struct agate_bo *bo, unsigned int max_segment)
{
	unsigned long left = agate_bo_size(bo), index = 0;
	struct scatterlist *sg;
	struct sg_table *sgt;

	sgt = kmalloc(sizeof(*sgt), GFP_KERNEL);
	if (!sgt || sg_alloc_table(sgt, (left + max_segment - 1) / max_segment, GFP_KERNEL)) {
		kfree(sgt);
		return ERR_PTR(-ENOMEM);
	}
	for (sg = sgt->sgl; sg; sg = sg_next(sg)) {
		unsigned int len = left < max_segment ? left : max_segment;

		sg_set_page(sg, pfn_to_page(pfn_of(bo, index)), len, 0);
		index += len >> PAGE_SHIFT;
		left -= len;
	}
	return sgt;
}

static int cma_vmap(struct agate_bo *bo, struct iosys_map *map)
{
	unsigned long n = agate_bo_size(bo) >> PAGE_SHIFT, i;
	struct page **pages = kvmalloc_array(n, sizeof(*pages), GFP_KERNEL);
	void *vaddr;

	if (!pages)
		return -ENOMEM;
	for (i = 0; i < n; i++)
		pages[i] = pfn_to_page(pfn_of(bo, i));
	vaddr = vmap(pages, n, VM_MAP, PAGE_KERNEL);
	kvfree(pages);
	if (!vaddr)
		return -ENOMEM;
	iosys_map_set_vaddr(map, vaddr);
	return 0;
}

static void cma_vunmap(struct agate_bo *bo, struct iosys_map *map)
{
	vunmap(map->vaddr);
}

const struct agate_backing_ops agate_cma_backing = {
	.flags = AGATE_BACKING_EARLY | AGATE_BACKING_CPU_VISIBLE | AGATE_BACKING_EXPORTABLE,
	.create = cma_create,
	.populate = cma_populate,
	.fault = cma_fault,
	.mmap = cma_mmap,
	.pin = cma_pin,
	.unpin = cma_nothing,
	.get_sg_table = cma_get_sg_table,
	.vmap = cma_vmap,
	.vunmap = cma_vunmap,
	.detach = cma_nothing,
	.release = cma_release,
};

int agate_cma_topic_init(struct agate_device *adev)
{
	return agate_mem_dev_init(adev);
}

void agate_cma_topic_fini(struct agate_device *adev)
{
}
