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

static int cma_create(struct agate_bo *bo)
{
	/*
	 * STEP 1: the BO has all of its memory, in one piece, zeroed, and the fields of struct
	 * agate_cma that you use are set; or nothing is taken.
	 */
	return -ENOMEM;
}

static void cma_release(struct agate_bo *bo)
{
	/* STEP 1: everything that cma_create() took is given back. */
}

/* ---- For the GPU ------------------------------------------------------- */

static int cma_populate(struct agate_bo *bo, u64 offset, u64 size, struct agate_runs *runs)
{
	/* STEP 2: *runs is the one run of this part, and what is no part of the BO is refused. */
	return -ENODEV;
}

/* No mapping is the GPU's own. */
static void cma_detach(struct agate_bo *bo)
{
}

/* ---- For the CPUs ------------------------------------------------------ */

static int cma_mmap(struct agate_bo *bo, struct vm_area_struct *vma)
{
	/* STEP 3: the VMA's whole page table is filled in; vm_pgoff is then what it was. */
	return -ENODEV;
}

static vm_fault_t cma_fault(struct agate_bo *bo, struct vm_fault *vmf, unsigned long index)
{
	/* STEP 3: the device is gone, and the page table is empty: the page is inserted again. */
	return VM_FAULT_SIGBUS;
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

static struct sg_table *cma_get_sg_table(struct agate_bo *bo, unsigned int max_segment)
{
	/*
	 * STEP 4: a new table of the BO's pages, which the caller frees; no entry is longer than
	 * @max_segment.
	 */
	return ERR_PTR(-ENOMEM);
}

static int cma_vmap(struct agate_bo *bo, struct iosys_map *map)
{
	/* STEP 4: *map leads to the BO's memory. */
	return -ENOMEM;
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
	/* STEP 1: the device has a mem_dev. */
	return -EOPNOTSUPP;
}

void agate_cma_topic_fini(struct agate_device *adev)
{
}
