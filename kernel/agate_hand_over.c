// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handing memory over between the CPUs and the GPU: see agate_hand_over.h.
 *
 * A job keeps its BOs, counts in their gpu_users, and is freed before their
 * backings are detached: so their sg tables stay while it runs, and no lock is necessary
 * to read them.
 */
#include <linux/dma-mapping.h>

#include "agate_backing.h"
#include "agate_coherency.h"
#include "agate_device.h"
#include "agate_gem.h"
#include "agate_hand_over.h"
#include "agate_regs.h"
#include "agate_slot.h"

/* ---- With topic "coherency" and without ------------------------------- */

static bool has_topic(const struct agate_device *adev)
{
	return agate_topic_present(adev, AGATE_FEATURE_COHERENCY);
}

static void to_device(struct agate_device *adev, dma_addr_t addr, size_t size,
		      enum dma_data_direction dir)
{
	if (has_topic(adev))
		agate_coherency_to_device(adev, addr, size, dir);
	else
		dma_sync_single_for_device(&adev->pdev->dev, addr, size, dir);
}

static void to_cpu(struct agate_device *adev, dma_addr_t addr, size_t size,
		   enum dma_data_direction dir)
{
	if (has_topic(adev))
		agate_coherency_to_cpu(adev, addr, size, dir);
	else
		dma_sync_single_for_cpu(&adev->pdev->dev, addr, size, dir);
}

void agate_table_to_device(struct agate_device *adev, dma_addr_t addr, size_t size)
{
	to_device(adev, addr, size, DMA_TO_DEVICE);
}

u32 agate_chain_flushes(struct agate_device *adev)
{
	if (has_topic(adev))
		return agate_coherency_flushes(adev);
	return JS_CONFIG_START_FLUSH_CLEAN_INVALIDATE | JS_CONFIG_END_FLUSH_CLEAN_INVALIDATE;
}

int agate_select_protocol(struct agate_device *adev)
{
	if (has_topic(adev))
		return agate_coherency_select(adev);
	gpu_write(adev, GPU_COHERENCY_ENABLE, GPU_COHERENCY_NONE);
	return 0;
}

/* ---- BOs --------------------------------------------------------------- */

bool agate_sgt_needs_sync(struct agate_device *adev, struct sg_table *sgt)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		if (dma_need_sync(&adev->pdev->dev, sg_dma_address(sg)))
			return true;
	}
	return false;
}

/*
 * By addresses: the pages of an imported table belong to its exporter, and a kernel with
 * CONFIG_DMABUF_DEBUG hides them, so that nobody uses them.
 */
static void sgt_sync(struct agate_device *adev, struct sg_table *sgt,
		     void (*sync)(struct agate_device *adev, dma_addr_t addr, size_t size,
				  enum dma_data_direction dir))
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_dma_sg(sgt, sg, i)
		sync(adev, sg_dma_address(sg), sg_dma_len(sg), DMA_BIDIRECTIONAL);
}

/* Also of a CPU_READONLY BO: another device may write to it, and the exporter of an import. */
static void bo_to_device(struct agate_device *adev, struct agate_bo *bo)
{
	struct sg_table *bounced = bo->backing.bounced;

	if (!bounced)
		return;
	mutex_lock(&adev->hand_over_lock);
	if (atomic_inc_return(&bo->backing.owners) == 1)
		sgt_sync(adev, bounced, to_device);
	mutex_unlock(&adev->hand_over_lock);
}

/* The job cannot have written to a GPU_READONLY BO, or has promised that it does not. */
static void bo_to_cpu(struct agate_device *adev, struct agate_bo *bo, bool written)
{
	struct sg_table *bounced = bo->backing.bounced;

	if (!bounced)
		return;
	mutex_lock(&adev->hand_over_lock);
	if (written && !(bo->flags & AGATE_BO_GPU_READONLY))
		sgt_sync(adev, bounced, to_cpu);
	/* Last: the next owner begins with what the CPUs see. */
	atomic_dec(&bo->backing.owners);
	mutex_unlock(&adev->hand_over_lock);
}

/* ---- Jobs -------------------------------------------------------------- */

/* A GPU that is about to be reset may still run the chain: its turn comes after the reset. */
static void job_again(struct agate_job *job)
{
	struct agate_device *adev = job->adev;

	if (!has_topic(adev))
		return;
	spin_lock(&adev->slots.lock);
	if (!adev->slots.dead && !atomic_read(&adev->reset.pending) && !job->on_slot &&
	    !job->ended)
		agate_coherency_clear_header(job);
	spin_unlock(&adev->slots.lock);
}

void agate_job_to_device(struct agate_job *job)
{
	unsigned int i;

	if (job->has_bos) {
		job_again(job);
		return;
	}
	job->has_bos = true;
	for (i = 0; i < job->bo_count; i++)
		bo_to_device(job->adev, to_agate_bo(job->bos[i].obj));
}

void agate_job_to_cpu(struct agate_job *job)
{
	unsigned int i;

	for (i = 0; i < job->bo_count; i++)
		bo_to_cpu(job->adev, to_agate_bo(job->bos[i].obj),
			  job->bos[i].flags & AGATE_SUBMIT_BO_WRITE);
}
