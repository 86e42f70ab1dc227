// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lab 06 in another shape: files share the BO of a dma-buf, which is found on the device's
 * list; a BO gets its fake offset when it is exported; a part begins at its own entry; and
 * mmap() has a reference of its own.
 */
#include <linux/dma-buf.h>
#include <linux/file.h>
#include <linux/module.h>
#include <drm/drm_drv.h>
#include <drm/drm_prime.h>

#include "agate_backing.h"
#include "agate_compat.h"
#include "agate_device.h"
#include "agate_gem.h"
#include "agate_hand_over.h"
#include "agate_prime.h"

static bool one_piece;
module_param_named(contiguous_imports, one_piece, bool, 0444);
MODULE_PARM_DESC(contiguous_imports, "Refuse to import memory that is not one piece");

/* ---- Out ----------------------------------------------------------------- */

static struct sg_table *out_map(struct dma_buf_attachment *attach, enum dma_data_direction dir)
{
	struct drm_gem_object *obj = attach->dmabuf->priv;

	switch (dir) {
	case DMA_BIDIRECTIONAL:
	case DMA_TO_DEVICE:
	case DMA_FROM_DEVICE:
		return agate_backing_map_for(to_agate_bo(obj), attach->dev, dir);
	default:
		return ERR_PTR(-EINVAL);
	}
}

static void out_release(struct dma_buf *dmabuf)
{
	agate_backing_let_go(to_agate_bo(dmabuf->priv));
	drm_gem_dmabuf_release(dmabuf);
}

static int out_mmap(struct dma_buf *dmabuf, struct vm_area_struct *vma)
{
	int err = 0;

	if (!(dmabuf->file->f_flags & O_ACCMODE)) {
		err = vma->vm_flags & VM_WRITE ? -EACCES : 0;
		vm_flags_clear(vma, VM_MAYWRITE);
	}
	return err ? err : drm_gem_prime_mmap(dmabuf->priv, vma);
}

static const struct dma_buf_ops out_ops = {
	.attach = drm_gem_map_attach,
	.cache_sgt_mapping = true,
	.detach = drm_gem_map_detach,
	.map_dma_buf = out_map,
	.mmap = out_mmap,
	.release = out_release,
	.unmap_dma_buf = drm_gem_unmap_dma_buf,
	.vmap = drm_gem_dmabuf_vmap,
	.vunmap = drm_gem_dmabuf_vunmap,
};

/* The BO gets its offset here, before anybody can map it. */
struct dma_buf *agate_prime_export(struct drm_gem_object *obj, int flags)
{
	struct agate_bo *bo = to_agate_bo(obj);
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct dma_buf *dmabuf;
	int err;

	if (!agate_backing_is(bo, AGATE_BACKING_EXPORTABLE))
		return ERR_PTR(bo->ttm.root ? -EPERM : -EINVAL);
	if (bo->ttm.root)
		return ERR_PTR(-EPERM);
	err = drm_gem_create_mmap_offset(obj);
	if (err)
		return ERR_PTR(err);
	err = agate_backing_hold(bo);
	if (err)
		return ERR_PTR(err);
	info.ops = &out_ops;
	info.size = agate_bo_size(bo);
	info.flags = flags;
	info.priv = obj;
	info.resv = obj->resv;
	dmabuf = drm_gem_dmabuf_export(obj->dev, &info);
	if (IS_ERR(dmabuf))
		agate_backing_let_go(bo);
	return dmabuf;
}

/* ---- In -------------------------------------------------------------------- */

static bool is_whole(struct scatterlist *sg)
{
	return !((sg_dma_address(sg) | sg_dma_len(sg)) & ~PAGE_MASK);
}

struct drm_gem_object *agate_prime_import_sg_table(struct drm_device *drm,
						   struct dma_buf_attachment *attach,
						   struct sg_table *sgt)
{
	struct agate_device *adev = to_agate_device(drm);
	size_t size = attach->dmabuf->size, sum = 0;
	u32 flags = AGATE_BO_IMPORTED | AGATE_BO_NOEXEC | AGATE_BO_CONTIGUOUS;
	dma_addr_t end = sg_dma_address(sgt->sgl);
	struct scatterlist *sg;
	struct agate_bo *bo;
	int i;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		if (!is_whole(sg))
			return ERR_PTR(-EINVAL);
		if (sg_dma_address(sg) != end)
			flags &= ~AGATE_BO_CONTIGUOUS;
		end = sg_dma_address(sg) + sg_dma_len(sg);
		sum += sg_dma_len(sg);
	}
	if (sum < size || (one_piece && !(flags & AGATE_BO_CONTIGUOUS)))
		return ERR_PTR(-EINVAL);
	if (!(attach->dmabuf->file->f_mode & FMODE_WRITE))
		flags |= AGATE_BO_CPU_READONLY | AGATE_BO_GPU_READONLY;
	bo = agate_gem_create(adev, size, flags);
	if (IS_ERR(bo))
		return ERR_CAST(bo);
	bo->backing.bounced = agate_sgt_needs_sync(adev, sgt) ? sgt : NULL;
	bo->import.sgt = sgt;
	bo->import.dmabuf = attach->dmabuf;
	mutex_lock(&adev->prime.lock);
	list_add(&bo->import.link, &adev->prime.imports);
	mutex_unlock(&adev->prime.lock);
	return &bo->base;
}

/* Another file has imported it already, and the BO is not about to die. */
static struct drm_gem_object *find(struct agate_device *adev, struct dma_buf *dmabuf)
{
	struct drm_gem_object *obj = NULL;
	struct agate_bo *bo;

	mutex_lock(&adev->prime.lock);
	list_for_each_entry(bo, &adev->prime.imports, import.link) {
		if (bo->import.dmabuf == dmabuf && kref_get_unless_zero(&bo->base.refcount)) {
			obj = &bo->base;
			break;
		}
	}
	mutex_unlock(&adev->prime.lock);
	return obj;
}

struct drm_gem_object *agate_prime_import(struct drm_device *drm, struct dma_buf *dmabuf)
{
	struct drm_gem_object *own = dmabuf->ops == &out_ops ? dmabuf->priv : NULL;
	struct drm_gem_object *obj;
	int idx;

	if (!drm_dev_enter(drm, &idx))
		return ERR_PTR(-ENODEV);
	if (own && own->dev == drm) {
		obj = own;
		drm_gem_object_get(obj);
	} else {
		obj = find(to_agate_device(drm), dmabuf);
		if (!obj)
			obj = drm_gem_prime_import(drm, dmabuf);
	}
	drm_dev_exit(idx);
	return obj;
}

/* ---- The backing ----------------------------------------------------------- */

static int in_populate(struct agate_bo *bo, u64 offset, u64 size, struct agate_runs *runs)
{
	u64 end;

	if (check_add_overflow(offset, size, &end) || end > agate_bo_size(bo) || offset == end)
		return -EINVAL;
	memset(runs, 0, sizeof(*runs));
	runs->sg = bo->import.sgt->sgl;
	for (; runs->sg && offset >= sg_dma_len(runs->sg); runs->sg = sg_next(runs->sg))
		offset -= sg_dma_len(runs->sg);
	runs->skip = offset;
	runs->left = size;
	return 0;
}

static int in_mmap(struct agate_bo *bo, struct vm_area_struct *vma)
{
	struct dma_buf *dmabuf = bo->import.dmabuf;
	int err;

	vma->vm_ops = NULL;
	vma->vm_private_data = NULL;
	drm_gem_object_get(&bo->base);
	err = dma_buf_mmap(dmabuf, vma, 0);
	drm_gem_object_put(&bo->base);
	if (err)
		return err;
	drm_gem_object_put(&bo->base);
	return 0;
}

static int in_vmap(struct agate_bo *bo, struct iosys_map *map)
{
	return dma_buf_vmap(bo->import.dmabuf, map);
}

static void in_vunmap(struct agate_bo *bo, struct iosys_map *map)
{
	dma_buf_vunmap(bo->import.dmabuf, map);
}

/* Once; prime.lock is held. */
static void undo(struct agate_bo *bo)
{
	struct dma_buf_attachment *attach = bo->base.import_attach;
	struct sg_table *sgt = bo->import.sgt;

	bo->base.import_attach = NULL;
	bo->import.sgt = NULL;
	bo->backing.bounced = NULL;
	if (attach && sgt)
		dma_buf_unmap_attachment_unlocked(attach, sgt, DMA_BIDIRECTIONAL);
	if (attach)
		dma_buf_detach(bo->import.dmabuf, attach);
}

/* Nothing is left to do: the topic has ended. */
static void in_detach(struct agate_bo *bo)
{
}

static void in_release(struct agate_bo *bo)
{
	struct agate_prime *prime = &to_agate_device(bo->base.dev)->prime;
	struct dma_buf *dmabuf = bo->import.dmabuf;

	mutex_lock(&prime->lock);
	list_del_init(&bo->import.link);
	undo(bo);
	bo->import.dmabuf = NULL;
	bo->base.resv = &bo->base._resv;
	mutex_unlock(&prime->lock);
	dma_buf_put(dmabuf);
}

const struct agate_backing_ops agate_prime_backing = {
	.flags = AGATE_BACKING_FOREIGN | AGATE_BACKING_CPU_VISIBLE,
	.detach = in_detach,
	.mmap = in_mmap,
	.populate = in_populate,
	.release = in_release,
	.vmap = in_vmap,
	.vunmap = in_vunmap,
};

/* ---- Topic ----------------------------------------------------------------- */

int agate_prime_topic_init(struct agate_device *adev)
{
	return 0;
}

void agate_prime_topic_fini(struct agate_device *adev)
{
	struct agate_bo *bo;

	mutex_lock(&adev->drm.object_name_lock);
	mutex_lock(&adev->prime.lock);
	list_for_each_entry_reverse(bo, &adev->prime.imports, import.link)
		undo(bo);
	mutex_unlock(&adev->prime.lock);
	mutex_unlock(&adev->drm.object_name_lock);
}
