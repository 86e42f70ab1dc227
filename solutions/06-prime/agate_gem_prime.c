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

#if LAB06 >= 2
static bool contiguous_imports;
module_param(contiguous_imports, bool, 0444);
MODULE_PARM_DESC(contiguous_imports, "Refuse to import memory that is not one piece");

#endif
/* ---- Export ------------------------------------------------------------ */

#if LAB06 >= 1
static void export_release(struct dma_buf *dmabuf)
{
	agate_backing_let_go(to_agate_bo(dmabuf->priv));
	drm_gem_dmabuf_release(dmabuf);
}

/*
 * A fault finds its page by the distance from the BO's fake offset, so the BO must have
 * that before its first VMA.  The VMA may be one of another driver's file, and then the core
 * has not looked at the mode of the dma-buf's.
 */
static int export_mmap(struct dma_buf *dmabuf, struct vm_area_struct *vma)
{
	struct drm_gem_object *obj = dmabuf->priv;
	int ret;

	if (!(dmabuf->file->f_mode & FMODE_WRITE)) {
		if (vma->vm_flags & VM_WRITE)
			return -EACCES;
		vm_flags_clear(vma, VM_MAYWRITE);
	}
	ret = drm_gem_create_mmap_offset(obj);
	return ret ? ret : drm_gem_prime_mmap(obj, vma);
}

static struct sg_table *export_map(struct dma_buf_attachment *attach,
				   enum dma_data_direction dir)
{
	if (dir == DMA_NONE)
		return ERR_PTR(-EINVAL);
	return agate_backing_map_for(to_agate_bo(attach->dmabuf->priv), attach->dev, dir);
}

static const struct dma_buf_ops export_ops = {
	.cache_sgt_mapping = true,
	.attach = drm_gem_map_attach,
	.detach = drm_gem_map_detach,
	.map_dma_buf = export_map,
	.unmap_dma_buf = drm_gem_unmap_dma_buf,
	.release = export_release,
	.mmap = export_mmap,
	.vmap = drm_gem_dmabuf_vmap,
	.vunmap = drm_gem_dmabuf_vunmap,
};

struct dma_buf *agate_prime_export(struct drm_gem_object *obj, int flags)
{
	struct agate_bo *bo = to_agate_bo(obj);
	struct dma_buf_export_info info = {
		.exp_name = KBUILD_MODNAME,
		.owner = obj->dev->driver->fops->owner,
		.ops = &export_ops,
		.size = obj->size,
		.flags = flags,
		.priv = obj,
		.resv = obj->resv,
	};
	struct dma_buf *dmabuf;
	int ret;

	/* Its reservation is an address space's. */
	if (bo->ttm.root)
		return ERR_PTR(-EPERM);
	if (!agate_backing_is(bo, AGATE_BACKING_EXPORTABLE))
		return ERR_PTR(-EINVAL);
	ret = agate_backing_hold(bo);
	if (ret)
		return ERR_PTR(ret);
	dmabuf = drm_gem_dmabuf_export(obj->dev, &info);
	if (IS_ERR(dmabuf))
		agate_backing_let_go(bo);
	return dmabuf;
}
#else
/*
 * STEP 1: refuse the BOs that the contract refuses, keep the contents for as long as the
 * dma-buf lives, and make the dma-buf with a table of calls of this file.
 */
struct dma_buf *agate_prime_export(struct drm_gem_object *obj, int flags)
{
	return ERR_PTR(-EOPNOTSUPP);
}
#endif

/* ---- Import ------------------------------------------------------------ */

#if LAB06 >= 2
/* The flags that the memory itself decides, or an errno. */
static int memory_flags(const struct sg_table *sgt, u64 size)
{
	dma_addr_t next = 0;
	struct scatterlist *sg;
	unsigned int i, runs = 0;
	u64 sum = 0;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		if (!PAGE_ALIGNED(sg_dma_address(sg)) || !PAGE_ALIGNED(sg_dma_len(sg)))
			return -EINVAL;
		runs += !i || sg_dma_address(sg) != next;
		next = sg_dma_address(sg) + sg_dma_len(sg);
		sum += sg_dma_len(sg);
	}
	if (sum < PAGE_ALIGN(size) || (runs > 1 && contiguous_imports))
		return -EINVAL;
	return runs > 1 ? 0 : AGATE_BO_CONTIGUOUS;
}

struct drm_gem_object *agate_prime_import_sg_table(struct drm_device *drm,
						   struct dma_buf_attachment *attach,
						   struct sg_table *sgt)
{
	struct agate_device *adev = to_agate_device(drm);
	u32 flags = AGATE_BO_IMPORTED | AGATE_BO_NOEXEC;
	struct agate_bo *bo;
	int ret;

	ret = memory_flags(sgt, attach->dmabuf->size);
	if (ret < 0)
		return ERR_PTR(ret);
	flags |= ret;
	if (!(attach->dmabuf->file->f_mode & FMODE_WRITE))
		flags |= AGATE_BO_CPU_READONLY | AGATE_BO_GPU_READONLY;
	bo = agate_gem_create(adev, attach->dmabuf->size, flags);
	if (IS_ERR(bo))
		return ERR_CAST(bo);

	bo->import.dmabuf = attach->dmabuf;
	bo->import.sgt = sgt;
	if (agate_sgt_needs_sync(adev, sgt))
		bo->backing.bounced = sgt;
	mutex_lock(&adev->prime.lock);
	list_add_tail(&bo->import.link, &adev->prime.imports);
	mutex_unlock(&adev->prime.lock);
	return &bo->base;
}
#else
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
#endif

#if LAB06 >= 1
struct drm_gem_object *agate_prime_import(struct drm_device *drm, struct dma_buf *dmabuf)
{
	struct drm_gem_object *obj;
#if LAB06 >= 2
	int idx;
#endif

	if (dmabuf->ops == &export_ops) {
		obj = dmabuf->priv;
		if (obj->dev == drm) {
			drm_gem_object_get(obj);
			return obj;
		}
	}
#if LAB06 >= 2
	/* Removal undoes the mappings of all imports that it finds, so it waits for this one. */
	if (!drm_dev_enter(drm, &idx))
		return ERR_PTR(-ENODEV);
	obj = drm_gem_prime_import(drm, dmabuf);
	drm_dev_exit(idx);
	return obj;
#else
	/* STEP 2: let the core import it, and let the device not go meanwhile. */
	return ERR_PTR(-EOPNOTSUPP);
#endif
}
#else
/* STEP 1: a dma-buf that this device has exported becomes the BO that it was. */
struct drm_gem_object *agate_prime_import(struct drm_device *drm, struct dma_buf *dmabuf)
{
	return ERR_PTR(-EOPNOTSUPP);
}
#endif

#if LAB06 >= 2
/*
 * No job uses the BO any more.  An exporter may keep the mapping until the device detaches, and
 * it must not outlast the device.
 */
static void import_unmap(struct agate_bo *bo)
{
	struct agate_import *import = &bo->import;

	lockdep_assert_held(&to_agate_device(bo->base.dev)->prime.lock);

	if (!import->sgt)
		return;
	dma_buf_unmap_attachment_unlocked(bo->base.import_attach, import->sgt, DMA_BIDIRECTIONAL);
	dma_buf_detach(import->dmabuf, bo->base.import_attach);
	bo->base.import_attach = NULL;
	import->sgt = NULL;
	bo->backing.bounced = NULL;
}
#endif

/* ---- The backing ------------------------------------------------------- */

#if LAB06 >= 2
static int import_populate(struct agate_bo *bo, u64 offset, u64 size, struct agate_runs *runs)
{
	if (offset >= agate_bo_size(bo) || size > agate_bo_size(bo) - offset)
		return -EINVAL;
	*runs = (struct agate_runs){
		.sg = bo->import.sgt->sgl, .skip = offset, .left = size,
	};
	return 0;
}
#else
/* STEP 2: give the runs of a part of the BO, or refuse what is no part of it. */
static int import_populate(struct agate_bo *bo, u64 offset, u64 size, struct agate_runs *runs)
{
	return -EOPNOTSUPP;
}
#endif

#if LAB06 >= 3
/* From now on the VMA is the exporter's, and a reference to our BO would be one too many. */
static int import_mmap(struct agate_bo *bo, struct vm_area_struct *vma)
{
	unsigned long offset = vma->vm_pgoff - drm_vma_node_start(&bo->base.vma_node);
	int ret;

	vma->vm_private_data = NULL;
	vma->vm_ops = NULL;
	ret = dma_buf_mmap(bo->import.dmabuf, vma, offset);
	if (!ret)
		drm_gem_object_put(&bo->base);
	return ret;
}

/* Not every exporter can, and then the core says -EINVAL. */
static int import_vmap(struct agate_bo *bo, struct iosys_map *map)
{
	return dma_buf_vmap(bo->import.dmabuf, map);
}

static void import_vunmap(struct agate_bo *bo, struct iosys_map *map)
{
	dma_buf_vunmap(bo->import.dmabuf, map);
}

/* agate_prime_topic_fini() was here first: undoing the mapping takes a reservation. */
static void import_detach(struct agate_bo *bo)
{
	WARN_ON(bo->import.sgt);
}
#else
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
#endif

#if LAB06 >= 2
/* The reservation goes with the dma-buf. */
static void import_release(struct agate_bo *bo)
{
	struct agate_device *adev = to_agate_device(bo->base.dev);

	mutex_lock(&adev->prime.lock);
	import_unmap(bo);
	list_del(&bo->import.link);
	mutex_unlock(&adev->prime.lock);
	bo->base.resv = &bo->base._resv;
	dma_buf_put(bo->import.dmabuf);
}
#else
/* STEP 2: undo all of the import, once; nothing may use the exporter's memory after that. */
static void import_release(struct agate_bo *bo)
{
}
#endif

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
#if LAB06 >= 1
	return 0;
#else
	/* STEP 1: the topic is there; it keeps nothing in the device. */
	return -EOPNOTSUPP;
#endif
}

#if LAB06 >= 3
void agate_prime_topic_fini(struct agate_device *adev)
{
	struct agate_bo *bo;

	/* Under the first lock the core looks at import_attach. */
	mutex_lock(&adev->drm.object_name_lock);
	mutex_lock(&adev->prime.lock);
	list_for_each_entry(bo, &adev->prime.imports, import.link)
		import_unmap(bo);
	mutex_unlock(&adev->prime.lock);
	mutex_unlock(&adev->drm.object_name_lock);
}
#else
/*
 * STEP 3: undo the DMA mappings of all imports, and detach from them; the BOs live on.  The
 * core looks at import_attach under object_name_lock, so that is taken first.
 */
void agate_prime_topic_fini(struct agate_device *adev)
{
}
#endif
