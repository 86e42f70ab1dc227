// SPDX-License-Identifier: GPL-2.0-only
/*
 * BOs that other drivers use, and BOs of other drivers.
 *
 * The core keeps the tables of handles and dma-bufs.  This file makes a BO's dma-buf, and a
 * dma-buf's BO.  The contract is agate_prime.h.
 */
#include <linux/dma-buf.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <drm/drm_drv.h>
#include <drm/drm_prime.h>
#include <drm/drm_vma_manager.h>

#include "agate_backing.h"
#include "agate_compat.h"
#include "agate_device.h"
#include "agate_gem.h"
#include "agate_hand_over.h"
#include "agate_prime.h"

/* ---- Export ------------------------------------------------------------ */

/*
 * STEP 1: refuse the BOs that the contract refuses, keep the contents for as long as the
 * dma-buf lives, and make the dma-buf with a table of calls of this file.
 */
struct dma_buf *agate_prime_export(struct drm_gem_object *obj, int flags)
{
	return ERR_PTR(-EOPNOTSUPP);
}

/* ---- Import ------------------------------------------------------------ */

/*
 * STEP 2: look at the memory, make a BO with the flags that follow from it, give the BO the
 * dma-buf and the table, and put it on the device's list.
 */
struct drm_gem_object *agate_prime_import_sg_table(struct drm_device *drm,
						   struct dma_buf_attachment *attach,
						   struct sg_table *sgt)
{
	return ERR_PTR(-EOPNOTSUPP);
}

/* STEP 1: a dma-buf that this device has exported becomes the BO that it was. */
struct drm_gem_object *agate_prime_import(struct drm_device *drm, struct dma_buf *dmabuf)
{
	return ERR_PTR(-EOPNOTSUPP);
}

/* ---- The backing ------------------------------------------------------- */

/* STEP 2: give the runs of a part of the BO, or refuse what is no part of it. */
static int import_populate(struct agate_bo *bo, u64 offset, u64 size, struct agate_runs *runs)
{
	return -EOPNOTSUPP;
}

/* STEP 3: leave the VMA to the exporter, and hold no reference for it. */
static int import_mmap(struct agate_bo *bo, struct vm_area_struct *vma)
{
	return -EOPNOTSUPP;
}

/* STEP 3: the exporter knows how to map its memory for the kernel. */
static int import_vmap(struct agate_bo *bo, struct iosys_map *map)
{
	return -EOPNOTSUPP;
}

/* STEP 3: undo one import_vmap(). */
static void import_vunmap(struct agate_bo *bo, struct iosys_map *map)
{
}

/* STEP 3: what may be left to do here, once agate_prime_topic_fini() is written? */
static void import_detach(struct agate_bo *bo)
{
}

/* STEP 2: undo all of the import, once; nothing may use the exporter's memory after that. */
static void import_release(struct agate_bo *bo)
{
}

const struct agate_backing_ops agate_prime_backing = {
	.flags = AGATE_BACKING_CPU_VISIBLE | AGATE_BACKING_FOREIGN,
	.populate = import_populate,
	.mmap = import_mmap,
	.vmap = import_vmap,
	.vunmap = import_vunmap,
	.detach = import_detach,
	.release = import_release,
};

/* ---- Topic ------------------------------------------------------------- */

int agate_prime_topic_init(struct agate_device *adev)
{
	/* STEP 1: the topic is there; it keeps nothing in the device. */
	return -EOPNOTSUPP;
}

/*
 * STEP 3: undo the DMA mappings of all imports, and detach from them; the BOs live on.  The
 * core looks at import_attach under object_name_lock, so that is taken first.
 */
void agate_prime_topic_fini(struct agate_device *adev)
{
}
