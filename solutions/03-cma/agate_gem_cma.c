// SPDX-License-Identifier: GPL-2.0-only
/*
 * A BO in one piece of memory, which the DMA API takes when the BO is made.
 *
 * Nothing here changes while the BO lives, so there is no lock.  The contract is
 * agate_cma.h.
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

static struct device *mem_dev_of(const struct agate_bo *bo)
{
	return to_agate_device(bo->base.dev)->mem_dev;
}

static void memory_free(struct agate_bo *bo)
{
	dma_free_wc(mem_dev_of(bo), agate_bo_size(bo), bo->cma.vaddr, bo->cma.addr);
}

static int cma_create(struct agate_bo *bo)
{
	int ret;

	bo->cma.vaddr = dma_alloc_wc(mem_dev_of(bo), agate_bo_size(bo), &bo->cma.addr,
				     GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
	if (!bo->cma.vaddr)
		return -ENOMEM;
	ret = dma_get_sgtable_attrs(mem_dev_of(bo), &bo->cma.sgt, bo->cma.vaddr, bo->cma.addr,
				    agate_bo_size(bo), DMA_ATTR_WRITE_COMBINE);
	if (ret)
		memory_free(bo);
	return ret;
}

static int cma_populate(struct agate_bo *bo, u64 offset, u64 size, struct agate_runs *runs)
{
	if (offset >= agate_bo_size(bo) || size > agate_bo_size(bo) - offset)
		return -EINVAL;
	*runs = (struct agate_runs){ .addr = bo->cma.addr + offset, .left = size };
	return 0;
}

/*
 * The DMA API counts the offset from the memory's start, and the VMA counts it from the start
 * of the device's file.  It keeps its own: the kernel finds a BO's VMAs by it.
 */
static int cma_mmap(struct agate_bo *bo, struct vm_area_struct *vma)
{
	const unsigned long offset = vma->vm_pgoff;
	int ret;

	vma->vm_pgoff -= drm_vma_node_start(&bo->base.vma_node);
	ret = dma_mmap_wc(mem_dev_of(bo), vma, bo->cma.vaddr, bo->cma.addr, agate_bo_size(bo));
	vma->vm_pgoff = offset;
	return ret;
}

static vm_fault_t cma_fault(struct agate_bo *bo, struct vm_fault *vmf, unsigned long index)
{
	if (index >= agate_bo_size(bo) >> PAGE_SHIFT)
		return VM_FAULT_SIGBUS;
	return vmf_insert_pfn(vmf->vma, vmf->address,
			      page_to_pfn(sg_page(bo->cma.sgt.sgl)) + index);
}

/* The memory is always there, and never moves. */
static int cma_pin(struct agate_bo *bo)
{
	return 0;
}

static void cma_unpin(struct agate_bo *bo)
{
}

/* One piece of memory, but not every device takes it in one. */
static struct sg_table *cma_get_sg_table(struct agate_bo *bo, unsigned int max_segment)
{
	size_t size = agate_bo_size(bo), offset = 0;
	struct scatterlist *sg;
	struct sg_table *sgt;
	unsigned int i;
	int ret;

	sgt = kzalloc(sizeof(*sgt), GFP_KERNEL_ACCOUNT);
	if (!sgt)
		return ERR_PTR(-ENOMEM);
	ret = sg_alloc_table(sgt, DIV_ROUND_UP(size, max_segment), GFP_KERNEL_ACCOUNT);
	if (ret) {
		kfree(sgt);
		return ERR_PTR(ret);
	}
	for_each_sgtable_sg(sgt, sg, i) {
		sg_set_page(sg, nth_page(sg_page(bo->cma.sgt.sgl), offset >> PAGE_SHIFT),
			    min_t(size_t, size - offset, max_segment), 0);
		offset += sg->length;
	}
	return sgt;
}

static int cma_vmap(struct agate_bo *bo, struct iosys_map *map)
{
	iosys_map_set_vaddr(map, bo->cma.vaddr);
	return 0;
}

static void cma_vunmap(struct agate_bo *bo, struct iosys_map *map)
{
}

/* No mapping is the GPU's own. */
static void cma_detach(struct agate_bo *bo)
{
}

static void cma_release(struct agate_bo *bo)
{
	sg_free_table(&bo->cma.sgt);
	memory_free(bo);
}

const struct agate_backing_ops agate_cma_backing = {
	.flags = AGATE_BACKING_EARLY | AGATE_BACKING_CPU_VISIBLE | AGATE_BACKING_EXPORTABLE,
	.create = cma_create,
	.populate = cma_populate,
	.fault = cma_fault,
	.mmap = cma_mmap,
	.pin = cma_pin,
	.unpin = cma_unpin,
	.get_sg_table = cma_get_sg_table,
	.vmap = cma_vmap,
	.vunmap = cma_vunmap,
	.detach = cma_detach,
	.release = cma_release,
};

/* ---- Topic ------------------------------------------------------------- */

int agate_cma_topic_init(struct agate_device *adev)
{
	return agate_mem_dev_init(adev);
}

void agate_cma_topic_fini(struct agate_device *adev)
{
}
