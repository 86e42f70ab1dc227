// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the display reads: see agate_frame.h.
 */
#include <linux/dma-resv.h>
#include <linux/slab.h>
#include <drm/drm_drv.h>

#include "agate_backing.h"
#include "agate_card.h"
#include "agate_device.h"
#include "agate_frame.h"
#include "agate_gem.h"
#include "agate_ggtt.h"
#include "agate_job.h"
#include "agate_placed.h"
#include "agate_ttm.h"

/* How often somebody who waits for a writer looks whether the device is still there. */
#define WRITER_LOOK_MS	200

#define SCAN_ALIGN	64
#define BYTES_A_PIXEL	4

static bool is_phys(const struct agate_frame *frame)
{
	return frame->format & SCAN_FORMAT_PHYS;
}

static void frame_free(struct kref *kref)
{
	struct agate_frame *frame = container_of(kref, struct agate_frame, kref);

	agate_ggtt_node_remove(frame->node, true);
	if (frame->pinned)
		agate_placed_unpin(frame->bo);
	agate_bo_put(frame->bo);
	kfree(frame);
}

void agate_frame_put(struct agate_frame *frame)
{
	kref_put(&frame->kref, frame_free);
}

/* ---- What FLIP is asked for -------------------------------------------- */

static bool is_frame(const struct drm_agate_flip *args)
{
	if (args->flags & ~AGATE_FLIP_PHYS)
		return false;
	if (!args->width || args->width > AGATE_SCAN_MAX || !args->height ||
	    args->height > AGATE_SCAN_MAX)
		return false;
	if (args->format != AGATE_FORMAT_R8G8B8A8 && args->format != AGATE_FORMAT_B8G8R8A8)
		return false;
	return args->stride >= args->width * BYTES_A_PIXEL &&
	       IS_ALIGNED(args->offset | args->stride, SCAN_ALIGN);
}

/* The last row need not be a whole stride. */
static u64 bytes_of(const struct drm_agate_flip *args)
{
	return (u64)args->stride * (args->height - 1) + args->width * BYTES_A_PIXEL;
}

static bool is_inside(const struct drm_agate_flip *args, const struct agate_bo *bo)
{
	const u64 size = agate_bo_size(bo);

	return args->offset < size && bytes_of(args) <= size - args->offset;
}

/* Memory that stays, and that the display reaches in this way. */
static bool may_show(const struct drm_agate_flip *args, const struct agate_bo *bo)
{
	if (bo->flags & AGATE_BO_PLACED)
		return true;
	return args->flags & AGATE_FLIP_PHYS && bo->flags & AGATE_BO_CONTIGUOUS &&
	       !(bo->flags & AGATE_BO_IMPORTED);
}

/* Takes over the reference to the BO if it succeeds. */
static struct agate_frame *frame_of(struct agate_device *adev, struct agate_file *afile,
				    const struct drm_agate_flip *args, struct agate_bo *bo)
{
	struct agate_frame *frame;

	if (!may_show(args, bo) || !is_inside(args, bo))
		return ERR_PTR(-EINVAL);
	frame = kzalloc(sizeof(*frame), GFP_KERNEL_ACCOUNT);
	if (!frame)
		return ERR_PTR(-ENOMEM);
	kref_init(&frame->kref);
	frame->adev = adev;
	frame->file = afile;
	frame->bo = bo;
	frame->offset = args->offset;
	frame->bytes = bytes_of(args);
	frame->size = args->width | args->height << 16;
	frame->stride = args->stride;
	frame->format = args->format | (args->flags & AGATE_FLIP_PHYS ? SCAN_FORMAT_PHYS : 0);
	frame->result = -EINPROGRESS;
	return frame;
}

struct agate_frame *agate_frame_create(struct agate_device *adev, struct drm_file *file,
				       const struct drm_agate_flip *args)
{
	struct agate_frame *frame;
	struct agate_bo *bo;

	if (!is_frame(args))
		return ERR_PTR(-EINVAL);
	bo = agate_gem_lookup(file, args->handle);
	if (!bo)
		return ERR_PTR(-ENOENT);
	frame = frame_of(adev, to_agate_file(file), args, bo);
	if (IS_ERR(frame))
		agate_bo_put(bo);
	return frame;
}

/* ---- Addresses --------------------------------------------------------- */

static u64 pte_of(const struct agate_ggtt *g, u64 phys, bool vram)
{
	if (vram)
		return g->pt_ops->pte_encode(g, phys - AGATE_PHYS_VRAM, true, AGATE_GGTT_PAT_WC);
	return g->pt_ops->pte_encode(g, phys, false, AGATE_GGTT_PAT_WB);
}

static void write_runs(struct agate_ggtt *g, u64 addr, struct agate_runs *runs, bool vram)
{
	struct agate_run run;
	u64 done;

	while (agate_runs_next(runs, &run)) {
		for (done = 0; done < run.size; done += AGATE_GGTT_PAGE_SIZE) {
			g->pt_ops->fill(g, addr, pte_of(g, run.addr + done, vram), 1);
			addr += AGATE_GGTT_PAGE_SIZE;
		}
	}
}

/* Addresses that lead to these runs. */
static struct agate_ggtt_node *node_create(struct agate_ggtt *g, u64 align,
					   struct agate_runs *runs, bool vram)
{
	struct agate_ggtt_node *node = agate_ggtt_node_init(g);
	int ret;

	if (!node)
		return ERR_PTR(-ENOMEM);
	mutex_lock(&g->lock);
	ret = agate_ggtt_node_insert_locked(node, runs->left, align, AGATE_RANGE_BEST);
	if (!ret) {
		write_runs(g, agate_ggtt_node_start(node), runs, vram);
		g->pt_ops->flush(g);
	}
	mutex_unlock(&g->lock);
	if (ret) {
		agate_ggtt_node_fini(node);
		return ERR_PTR(ret);
	}
	agate_ggtt_invalidate(g);
	return node;
}

static bool is_vram(const struct agate_frame *frame)
{
	return frame->bo->ttm.res->type == AGATE_MEM_VRAM;
}

/* The display uses VRAM in whole groups where the card translates groups. */
static u64 align_of(const struct agate_frame *frame)
{
	return is_vram(frame) ? frame->adev->card.min_align : PAGE_SIZE;
}

static int find_runs(struct agate_frame *frame, struct agate_runs *runs)
{
	const u64 align = align_of(frame);
	const u64 first = ALIGN_DOWN(frame->offset, align);
	const u64 size = ALIGN(frame->offset + frame->bytes, align) - first;

	return agate_backing_populate(frame->bo, first, size, runs);
}

static int map_ggtt(struct agate_frame *frame)
{
	const u64 align = align_of(frame);
	struct agate_ggtt_node *node;
	struct agate_runs runs;
	int ret;

	ret = find_runs(frame, &runs);
	if (ret)
		return ret;
	node = node_create(&frame->adev->ggtt, align, &runs, is_vram(frame));
	if (IS_ERR(node))
		return PTR_ERR(node);
	frame->node = node;
	frame->base = agate_ggtt_node_start(node) + frame->offset % align;
	return 0;
}

int agate_frame_map_again(struct agate_frame *frame)
{
	struct dma_resv *resv = frame->bo->base.resv;
	struct agate_ggtt *g = &frame->adev->ggtt;
	struct agate_runs runs;
	int ret;

	if (!frame->node)
		return 0;
	dma_resv_lock(resv, NULL);
	ret = find_runs(frame, &runs);
	if (!ret) {
		mutex_lock(&g->lock);
		write_runs(g, agate_ggtt_node_start(frame->node), &runs, is_vram(frame));
		g->pt_ops->flush(g);
		mutex_unlock(&g->lock);
		agate_ggtt_invalidate(g);
	}
	dma_resv_unlock(resv);
	return ret;
}

static int map_phys(struct agate_frame *frame)
{
	struct agate_runs runs;
	struct agate_run run;
	int ret;

	ret = agate_backing_populate(frame->bo, frame->offset, frame->bytes, &runs);
	if (ret)
		return ret;
	if (!agate_runs_next(&runs, &run) || run.size < frame->bytes)
		return -EINVAL;
	frame->base = run.addr;
	return 0;
}

/* The contents may have been lost since the frame was pinned. */
int agate_frame_map(struct agate_frame *frame)
{
	struct dma_resv *resv = frame->bo->base.resv;
	int ret = dma_resv_lock_interruptible(resv, NULL);

	if (ret)
		return ret;
	ret = is_phys(frame) ? map_phys(frame) : map_ggtt(frame);
	dma_resv_unlock(resv);
	return ret;
}

int agate_frame_pin(struct agate_frame *frame)
{
	int ret;

	if (!(frame->bo->flags & AGATE_BO_PLACED))
		return 0;
	ret = agate_placed_pin(frame->bo, AGATE_USE_PIN_HERE, is_phys(frame));
	frame->pinned = !ret;
	return ret;
}

/*
 * Outside of drm_dev_enter(): a writer may wait for something that never comes.  It may do so
 * even when the device has gone, so look for that, too.
 */
int agate_frame_wait(struct agate_frame *frame)
{
	struct agate_device *adev = frame->adev;
	long left;

	do {
		if (drm_dev_is_unplugged(&adev->drm) || agate_bus_lost(adev))
			return -ENODEV;
		left = dma_resv_wait_timeout(frame->bo->base.resv, DMA_RESV_USAGE_WRITE, true,
					     msecs_to_jiffies(WRITER_LOOK_MS));
	} while (!left);
	return min(left, 0L);
}
