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

/* ---- Memory ------------------------------------------------------------ */

#if LAB03 >= 1
static struct device *mem_dev_of(const struct agate_bo *bo)
{
	return to_agate_device(bo->base.dev)->mem_dev;
}

static void memory_free(struct agate_bo *bo)
{
	dma_free_wc(mem_dev_of(bo), agate_bo_size(bo), bo->cma.vaddr, bo->cma.addr);
}
#endif

static int cma_create(struct agate_bo *bo)
{
#if LAB03 >= 1
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
#else
	/*
	 * STEP 1: the BO has all of its memory, in one piece, zeroed, and the fields of struct
	 * agate_cma that you use are set; or nothing is taken.
	 */
	return -ENOMEM;
#endif
}

static void cma_release(struct agate_bo *bo)
{
#if LAB03 >= 1
	sg_free_table(&bo->cma.sgt);
	memory_free(bo);
#else
	/* STEP 1: everything that cma_create() took is given back. */
#endif
}

/* ---- For the GPU ------------------------------------------------------- */

static int cma_populate(struct agate_bo *bo, u64 offset, u64 size, struct agate_runs *runs)
{
#if LAB03 >= 2
	if (offset >= agate_bo_size(bo) || size > agate_bo_size(bo) - offset)
		return -EINVAL;
	*runs = (struct agate_runs){ .addr = bo->cma.addr + offset, .left = size };
	return 0;
#else
	/* STEP 2: *runs is the one run of this part, and what is no part of the BO is refused. */
	return -ENODEV;
#endif
}

/* No mapping is the GPU's own. */
static void cma_detach(struct agate_bo *bo)
{
}

/* ---- For the CPUs ------------------------------------------------------ */

#if LAB03 >= 3
/*
 * The DMA API counts the offset from the memory's start, and the VMA counts it from the start
 * of the device's file.  It keeps its own: the kernel finds a BO's VMAs by it.
 */
#endif
static int cma_mmap(struct agate_bo *bo, struct vm_area_struct *vma)
{
#if LAB03 >= 3
	const unsigned long offset = vma->vm_pgoff;
	int ret;

	vma->vm_pgoff -= drm_vma_node_start(&bo->base.vma_node);
	ret = dma_mmap_wc(mem_dev_of(bo), vma, bo->cma.vaddr, bo->cma.addr, agate_bo_size(bo));
	vma->vm_pgoff = offset;
	return ret;
#else
	/* STEP 3: the VMA's whole page table is filled in; vm_pgoff is then what it was. */
	return -ENODEV;
#endif
}

static vm_fault_t cma_fault(struct agate_bo *bo, struct vm_fault *vmf, unsigned long index)
{
#if LAB03 >= 3
	if (index >= agate_bo_size(bo) >> PAGE_SHIFT)
		return VM_FAULT_SIGBUS;
	return vmf_insert_pfn(vmf->vma, vmf->address,
			      page_to_pfn(sg_page(bo->cma.sgt.sgl)) + index);
#else
	/* STEP 3: the device is gone, and the page table is empty: the page is inserted again. */
	return VM_FAULT_SIGBUS;
#endif
}

/* ---- For the kernel and for other drivers ------------------------------ */

/* The memory is always there, and never moves. */
static int cma_pin(struct agate_bo *bo)
{
	return 0;
}

static void cma_unpin(struct agate_bo *bo)
{
}

#if LAB03 >= 4
/* One piece of memory, but not every device takes it in one. */
#endif
static struct sg_table *cma_get_sg_table(struct agate_bo *bo, unsigned int max_segment)
{
#if LAB03 >= 4
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
#else
	/*
	 * STEP 4: a new table of the BO's pages, which the caller frees; no entry is longer than
	 * @max_segment.
	 */
	return ERR_PTR(-ENOMEM);
#endif
}

static int cma_vmap(struct agate_bo *bo, struct iosys_map *map)
{
#if LAB03 >= 4
	iosys_map_set_vaddr(map, bo->cma.vaddr);
	return 0;
#else
	/* STEP 4: *map leads to the BO's memory. */
	return -ENOMEM;
#endif
}

static void cma_vunmap(struct agate_bo *bo, struct iosys_map *map)
{
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
#if LAB03 >= 1
	return agate_mem_dev_init(adev);
#else
	/* STEP 1: the device has a mem_dev. */
	return -EOPNOTSUPP;
#endif
}

void agate_cma_topic_fini(struct agate_device *adev)
{
}
