// SPDX-License-Identifier: GPL-2.0-only
/*
 * Handing BOs over between the CPUs and the GPU: see agate_coherency.h.
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
#include "agate_slot.h"

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
		     void (*sync)(struct device *dev, dma_addr_t addr, size_t size,
				  enum dma_data_direction dir))
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_dma_sg(sgt, sg, i)
		sync(&adev->pdev->dev, sg_dma_address(sg), sg_dma_len(sg), DMA_BIDIRECTIONAL);
}

/*
 * The CPUs cannot write to a CPU_READONLY BO: the GPU has seen its zeros since the BO
 * was mapped for DMA.
 */
static void bo_to_device(struct agate_device *adev, struct agate_bo *bo)
{
	struct sg_table *bounced = bo->backing.bounced;

	if (!bounced)
		return;
	mutex_lock(&adev->hand_over_lock);
	if (atomic_inc_return(&bo->backing.owners) == 1 && !(bo->flags & AGATE_BO_CPU_READONLY))
		sgt_sync(adev, bounced, dma_sync_single_for_device);
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
		sgt_sync(adev, bounced, dma_sync_single_for_cpu);
	/* Last: the next owner begins with what the CPUs see. */
	atomic_dec(&bo->backing.owners);
	mutex_unlock(&adev->hand_over_lock);
}

void agate_job_to_device(struct agate_job *job)
{
	unsigned int i;

	if (job->has_bos)
		return;
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
