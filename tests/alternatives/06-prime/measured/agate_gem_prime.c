// SPDX-License-Identifier: GPL-2.0-only
/* Lab 06 in another shape, written from the handout: the memory is measured by its entries. */
#include <linux/dma-buf.h>
#include <linux/file.h>
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

static bool contiguous_imports;
module_param(contiguous_imports, bool, 0444);
MODULE_PARM_DESC(contiguous_imports, "Refuse to import memory that is not one piece");

static struct agate_bo *bo_of(struct dma_buf *dmabuf)
{
	return to_agate_bo(dmabuf->priv);
}

/* ---- A dma-buf of a BO ------------------------------------------------- */

static struct sg_table *export_map(struct dma_buf_attachment *attach, enum dma_data_direction dir)
{
	if (!valid_dma_direction(dir) || dir == DMA_NONE)
		return ERR_PTR(-EINVAL);
	return agate_backing_map_for(bo_of(attach->dmabuf), attach->dev, dir);
}

static int export_mmap(struct dma_buf *dmabuf, struct vm_area_struct *vma)
{
	bool write = vma->vm_flags & VM_WRITE, may_write = dmabuf->file->f_mode & FMODE_WRITE;
	struct agate_bo *bo = bo_of(dmabuf);
	int ret;

	if (write && !may_write)
		return -EPERM;
	if (!may_write)
		vm_flags_clear(vma, VM_MAYWRITE);
	ret = drm_gem_create_mmap_offset(&bo->base);
	if (ret)
		return ret;
	return drm_gem_prime_mmap(&bo->base, vma);
}

static void export_release(struct dma_buf *dmabuf)
{
	agate_backing_let_go(bo_of(dmabuf));
	drm_gem_dmabuf_release(dmabuf);
}

static const struct dma_buf_ops agate_dma_buf_ops = {
	.cache_sgt_mapping = 1,
	.attach = drm_gem_map_attach,
	.detach = drm_gem_map_detach,
	.map_dma_buf = export_map,
	.unmap_dma_buf = drm_gem_unmap_dma_buf,
	.release = export_release,
	.mmap = export_mmap,
	.vmap = drm_gem_dmabuf_vmap,
	.vunmap = drm_gem_dmabuf_vunmap,
};

static int may_leave(struct agate_bo *bo)
{
	if (bo->ttm.root)
		return -EPERM;
	if (!agate_backing_is(bo, AGATE_BACKING_EXPORTABLE))
		return -EINVAL;
	return agate_backing_hold(bo);
}

struct dma_buf *agate_prime_export(struct drm_gem_object *obj, int flags)
{
	struct dma_buf_export_info info = {
		.exp_name = "agate",
		.owner = THIS_MODULE,
		.ops = &agate_dma_buf_ops,
		.size = obj->size,
		.flags = flags,
		.resv = obj->resv,
		.priv = obj,
	};
	int ret = may_leave(to_agate_bo(obj));
	struct dma_buf *dmabuf;

	if (ret)
		return ERR_PTR(ret);
	dmabuf = drm_gem_dmabuf_export(obj->dev, &info);
	if (IS_ERR(dmabuf))
		agate_backing_let_go(to_agate_bo(obj));
	return dmabuf;
}

/* ---- A BO of a dma-buf ------------------------------------------------- */

struct measure {
	u64 bytes;
	bool whole;
	bool one_run;
};

static struct measure measure_of(struct sg_table *sgt)
{
	struct measure m = { .whole = true, .one_run = true };
	struct scatterlist *sg = sgt->sgl, *before = NULL;
	unsigned int n;

	for (n = sgt->nents; n--; before = sg, sg = sg_next(sg)) {
		m.bytes += sg_dma_len(sg);
		if (sg_dma_address(sg) % PAGE_SIZE || sg_dma_len(sg) % PAGE_SIZE)
			m.whole = false;
		if (before && sg_dma_address(before) + sg_dma_len(before) != sg_dma_address(sg))
			m.one_run = false;
	}
	return m;
}

static u32 flags_of(const struct dma_buf *dmabuf, const struct measure *m)
{
	u32 flags = AGATE_BO_IMPORTED | AGATE_BO_NOEXEC;

	if (m->one_run)
		flags |= AGATE_BO_CONTIGUOUS;
	if (dmabuf->file->f_mode & FMODE_WRITE)
		return flags;
	return flags | AGATE_BO_CPU_READONLY | AGATE_BO_GPU_READONLY;
}

struct drm_gem_object *agate_prime_import_sg_table(struct drm_device *drm,
						   struct dma_buf_attachment *attach,
						   struct sg_table *sgt)
{
	struct agate_device *adev = to_agate_device(drm);
	struct measure m = measure_of(sgt);
	struct agate_bo *bo;

	if (!m.whole || m.bytes < attach->dmabuf->size)
		return ERR_PTR(-EINVAL);
	if (contiguous_imports && !m.one_run)
		return ERR_PTR(-EINVAL);

	bo = agate_gem_create(adev, attach->dmabuf->size, flags_of(attach->dmabuf, &m));
	if (IS_ERR(bo))
		return ERR_CAST(bo);
	mutex_lock(&adev->prime.lock);
	bo->import.dmabuf = attach->dmabuf;
	bo->import.sgt = sgt;
	if (agate_sgt_needs_sync(adev, sgt))
		bo->backing.bounced = sgt;
	list_add_tail(&bo->import.link, &adev->prime.imports);
	mutex_unlock(&adev->prime.lock);
	return &bo->base;
}

static bool comes_home(struct drm_device *drm, struct dma_buf *dmabuf)
{
	return dmabuf->ops == &agate_dma_buf_ops && bo_of(dmabuf)->base.dev == drm;
}

struct drm_gem_object *agate_prime_import(struct drm_device *drm, struct dma_buf *dmabuf)
{
	struct drm_gem_object *obj = ERR_PTR(-ENODEV);
	int idx;

	if (comes_home(drm, dmabuf)) {
		obj = &bo_of(dmabuf)->base;
		drm_gem_object_get(obj);
	} else if (drm_dev_enter(drm, &idx)) {
		obj = drm_gem_prime_import(drm, dmabuf);
		drm_dev_exit(idx);
	}
	return obj;
}

static int import_populate(struct agate_bo *bo, u64 offset, u64 size, struct agate_runs *runs)
{
	if (size > agate_bo_size(bo) || offset > agate_bo_size(bo) - size)
		return -EINVAL;
	runs->sg = bo->import.sgt->sgl;
	runs->addr = 0;
	runs->skip = offset;
	runs->left = size;
	return 0;
}

static int import_mmap(struct agate_bo *bo, struct vm_area_struct *vma)
{
	int ret;

	vma->vm_private_data = NULL;
	vma->vm_ops = NULL;
	ret = dma_buf_mmap(bo->import.dmabuf, vma,
			   vma->vm_pgoff - drm_vma_node_start(&bo->base.vma_node));
	if (ret)
		return ret;
	drm_gem_object_put(&bo->base);
	return 0;
}

static int import_vmap(struct agate_bo *bo, struct iosys_map *map)
{
	return dma_buf_vmap(bo->import.dmabuf, map);
}

static void import_vunmap(struct agate_bo *bo, struct iosys_map *map)
{
	dma_buf_vunmap(bo->import.dmabuf, map);
}

/* ---- The end ----------------------------------------------------------- */

static void end_import(struct agate_bo *bo)
{
	if (!bo->import.sgt)
		return;
	dma_buf_unmap_attachment_unlocked(bo->base.import_attach, bo->import.sgt,
					  DMA_BIDIRECTIONAL);
	bo->import.sgt = NULL;
	bo->backing.bounced = NULL;
	dma_buf_detach(bo->import.dmabuf, bo->base.import_attach);
	bo->base.import_attach = NULL;
}

static void import_detach(struct agate_bo *bo)
{
}

static void import_release(struct agate_bo *bo)
{
	struct agate_prime *prime = &to_agate_device(bo->base.dev)->prime;

	mutex_lock(&prime->lock);
	end_import(bo);
	list_del(&bo->import.link);
	mutex_unlock(&prime->lock);
	bo->base.resv = &bo->base._resv;
	dma_buf_put(bo->import.dmabuf);
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

int agate_prime_topic_init(struct agate_device *adev)
{
	return 0;
}

void agate_prime_topic_fini(struct agate_device *adev)
{
	struct agate_bo *bo, *next;

	mutex_lock(&adev->drm.object_name_lock);
	mutex_lock(&adev->prime.lock);
	list_for_each_entry_safe(bo, next, &adev->prime.imports, import.link)
		end_import(bo);
	mutex_unlock(&adev->prime.lock);
	mutex_unlock(&adev->drm.object_name_lock);
}
