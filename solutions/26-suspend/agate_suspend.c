// SPDX-License-Identifier: GPL-2.0-only
/*
 * The card goes to sleep, and wakes up with what it had.
 *
 * The contract is agate_suspend.h.
 */
#include <linux/dma-resv.h>
#include <linux/io.h>
#include <linux/sizes.h>

#include "agate_card.h"
#include "agate_device.h"
#include "agate_evict.h"
#include "agate_fw.h"
#include "agate_gem.h"
#include "agate_ggtt.h"
#include "agate_ggtt_frame.h"
#include "agate_kmem.h"
#include "agate_mover.h"
#include "agate_placed.h"
#include "agate_scan.h"
#include "agate_sleepers.h"
#include "agate_suspend.h"

static struct dma_resv *resv_of(struct agate_ttm_bo *bo)
{
	return container_of(bo, struct agate_bo, ttm)->base.resv;
}

/* ---- Clients' memory ---------------------------------------------------- */

/* A job that goes on after the sleep finds its memory where it was. */
static bool must_stay(struct agate_ttm_bo *bo)
{
	return bo->pins || !dma_resv_test_signaled(resv_of(bo), DMA_RESV_USAGE_BOOKKEEP);
}

static bool is_in_vram(const struct agate_ttm_bo *bo)
{
	return bo->res && bo->res->type == AGATE_MEM_VRAM;
}

static bool has_contents_in_vram(struct agate_ttm_bo *bo)
{
	return is_in_vram(bo) && !agate_placed_contents(bo);
}

/* The copies go on in the background. */
static int suspend_evict(struct agate_device *adev)
{
	struct agate_ttm_ctx ctx = { .no_wait = true };
	struct agate_ttm_bo *bo;
	int ret = 0;

	list_for_each_entry(bo, &adev->card.sleepers, asleep) {
		dma_resv_lock(resv_of(bo), NULL);
		/* A private BO has one reservation with others that have just left. */
		ret = agate_sleepers_wait(bo);
		if (!ret && has_contents_in_vram(bo) && !must_stay(bo))
			ret = agate_ttm_evict(bo, &ctx);
		dma_resv_unlock(resv_of(bo));
		if (ret)
			break;
	}
	return ret;
}

/* Those that have left have arrived, and those that stay are copied aside. */
static int suspend_pinned(struct agate_device *adev)
{
	struct agate_ttm_bo *bo;
	int ret = 0;

	list_for_each_entry(bo, &adev->card.sleepers, asleep) {
		dma_resv_lock(resv_of(bo), NULL);
		ret = agate_sleepers_wait(bo);
		/* A BO that did not arrive is lost, and the caller has to hear of it. */
		if (!ret && !is_in_vram(bo))
			ret = agate_placed_contents(bo);
		else if (!ret && has_contents_in_vram(bo))
			ret = agate_sleepers_save(bo);
		dma_resv_unlock(resv_of(bo));
		if (ret)
			break;
	}
	return ret;
}

/* Its contents are told to be lost, not shown as something else. */
static void resume_pinned(struct agate_device *adev)
{
	struct agate_ttm_bo *bo;
	int ret;

	list_for_each_entry(bo, &adev->card.sleepers, asleep) {
		dma_resv_lock(resv_of(bo), NULL);
		ret = agate_sleepers_saved(bo) ? agate_sleepers_restore(bo) : 0;
		if (ret) {
			dev_err(&adev->pdev->dev, "a BO does not come back: %d\n", ret);
			bo->lost = true;
		}
		dma_resv_unlock(resv_of(bo));
	}
}

/* ---- What the card works with ------------------------------------------- */

/* The notifier of a process's memory may change a table at any time: in the copy from here on. */
static void save_one(struct agate_kmem *kmem)
{
	spin_lock(&kmem->adev->mmu.lock);
	memcpy_fromio(kmem->backup, kmem->vaddr, kmem->size);
	kmem->saved = true;
	spin_unlock(&kmem->adev->mmu.lock);
}

static void restore_one(struct agate_kmem *kmem)
{
	spin_lock(&kmem->adev->mmu.lock);
	memcpy_toio(kmem->vaddr, kmem->backup, kmem->size);
	kmem->saved = false;
	spin_unlock(&kmem->adev->mmu.lock);
}

static void kmem_save(struct agate_device *adev)
{
	struct agate_kmem *kmem;

	mutex_lock(&adev->card.kmem_lock);
	list_for_each_entry(kmem, &adev->card.kmems, link) {
		if (kmem->vram && !(kmem->flags & AGATE_KMEM_NO_SAVE))
			save_one(kmem);
	}
	mutex_unlock(&adev->card.kmem_lock);
}

static void kmem_restore(struct agate_device *adev)
{
	struct agate_kmem *kmem;

	mutex_lock(&adev->card.kmem_lock);
	list_for_each_entry(kmem, &adev->card.kmems, link) {
		if (!kmem->vram)
			continue;
		if (kmem->flags & AGATE_KMEM_NO_SAVE)
			memset_io(kmem->vaddr, 0, kmem->size);
		else
			restore_one(kmem);
	}
	mutex_unlock(&adev->card.kmem_lock);
	/* All of it leaves the CPU's write buffers before an engine reads it. */
	wmb();
}

static void fill(struct agate_ggtt *g, u64 start, u64 size, u64 pte)
{
	lockdep_assert_held(&g->lock);
	g->pt_ops->fill(g, start, pte, size / AGATE_GGTT_PAGE_SIZE);
}

static void restore_hole(void *arg, u64 start, u64 size)
{
	struct agate_ggtt *g = arg;

	fill(g, start, size, g->scratch_pte);
}

/* The display has the nodes without kernel memory, and maps them again itself. */
static void restore_node(void *arg, const struct agate_ggtt_node *node)
{
	struct agate_ggtt *g = arg;

	if (!node->kmem)
		fill(g, agate_ggtt_node_start(node), agate_ggtt_node_size(node),
		     g->scratch_pte | AGATE_GGTT_VF(node->vf));
}

static void ggtt_restore(struct agate_device *adev)
{
	struct agate_ggtt *g = &adev->ggtt;
	struct agate_kmem *kmem;

	agate_ggtt_holes(g, AGATE_GGTT_PAGE_SIZE, restore_hole, g);
	agate_ggtt_dump(g, restore_node, g);
	mutex_lock(&adev->card.kmem_lock);
	list_for_each_entry(kmem, &adev->card.kmems, link)
		agate_ggtt_map(g, kmem);
	mutex_unlock(&adev->card.kmem_lock);
	mutex_lock(&g->lock);
	g->pt_ops->flush(g);
	mutex_unlock(&g->lock);
	agate_ggtt_invalidate(g);
	agate_ggtt_frame_wake(adev);
}

/* ---- Suspend and resume ------------------------------------------------- */

/* From here on the mover saves nothing. */
static int engines_suspend(struct agate_device *adev)
{
	int ret = agate_scan_suspend(adev);

	if (ret)
		return ret;
	ret = agate_mover_suspend(adev);
	if (ret)
		goto err_scan;
	agate_irq_suspend(adev, AGATE_VECTOR_CARD);
	ret = agate_fw_stop(adev);
	if (ret)
		goto err_mover;
	return 0;

err_mover:
	agate_irq_resume(adev, AGATE_VECTOR_CARD);
	agate_mover_resume(adev);
err_scan:
	agate_scan_resume(adev, false);
	return ret;
}

int agate_suspend(struct agate_device *adev)
{
	int ret = agate_card_status(adev);

	if (ret) {
		dev_err(&adev->pdev->dev, "the card has lost its power, and with it its memory\n");
		return ret;
	}
	ret = agate_mover_status(adev);
	if (ret) {
		dev_err(&adev->pdev->dev, "the mover does not work, and nothing would be saved\n");
		return ret;
	}
	ret = suspend_evict(adev);
	if (!ret)
		ret = suspend_pinned(adev);
	if (!ret)
		ret = engines_suspend(adev);
	if (ret)
		return ret;
	kmem_save(adev);
	agate_ggtt_frame_sleep(adev);
	agate_card_power_off(adev);
	return 0;
}

int agate_resume(struct agate_device *adev)
{
	int ret = agate_card_power_on(adev);

	if (!ret) {
		kmem_restore(adev);
		ggtt_restore(adev);
		ret = agate_fw_start(adev);
	}
	if (ret) {
		agate_ggtt_frame_wake(adev);
		/* What is queued ends with the device. */
		agate_mover_resume(adev);
		agate_sleepers_release(adev);
		return ret;
	}
	agate_irq_resume(adev, AGATE_VECTOR_CARD);
	agate_mover_resume(adev);
	resume_pinned(adev);
	agate_sleepers_release(adev);
	agate_scan_resume(adev, true);
	return 0;
}
