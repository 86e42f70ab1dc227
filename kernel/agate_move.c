// SPDX-License-Identifier: GPL-2.0-only
/*
 * A move is a job for the mover, with a command for each 2 MiB: see agate_move.h.
 */
#include <linux/dma-resv.h>
#include <linux/minmax.h>

#include "agate_card.h"
#include "agate_device.h"
#include "agate_gem.h"
#include "agate_move.h"
#include "agate_mover.h"
#include "agate_tt.h"
#include "agate_ttm.h"

/* A list of pages is one command's worth. */
static_assert(AGATE_TT_LIST_PAGES * PAGE_SIZE == AGATE_MOVER_MAX_LENGTH);

static u32 side_mode(const struct agate_side *side)
{
	return side->res ? AGATE_MOVER_PHYS : AGATE_MOVER_PAGES;
}

static u64 side_addr(const struct agate_side *side, unsigned int i)
{
	if (side->res)
		return AGATE_PHYS_VRAM + side->res->start + (u64)i * AGATE_MOVER_MAX_LENGTH;
	return side->tt->list_addrs[i];
}

static void fill_commands(struct agate_mover_job *job, u64 size, const struct agate_side *from,
			  const struct agate_side *to)
{
	unsigned int i;

	for (i = 0; i < job->count; i++) {
		struct agate_mover_cmd *cmd = &job->cmds[i];

		cmd->op = from ? AGATE_MOVER_COPY : AGATE_MOVER_FILL;
		cmd->flags = AGATE_MOVER_DST(side_mode(to));
		cmd->dst = side_addr(to, i);
		if (from) {
			cmd->flags |= AGATE_MOVER_SRC(side_mode(from));
			cmd->src = side_addr(from, i);
		}
		cmd->length = min_t(u64, size, AGATE_MOVER_MAX_LENGTH);
		size -= cmd->length;
	}
}

static struct drm_gem_object *gem_of(struct agate_ttm_bo *bo)
{
	return &container_of(bo, struct agate_bo, ttm)->base;
}

static struct agate_mover_job *job_create(struct agate_ttm_bo *bo, const struct agate_side *from,
					  const struct agate_side *to)
{
	struct agate_mover_job *job;

	dma_resv_assert_held(gem_of(bo)->resv);

	job = agate_mover_job_create(to_agate_device(gem_of(bo)->dev),
				     DIV_ROUND_UP_ULL(bo->size, AGATE_MOVER_MAX_LENGTH));
	if (!IS_ERR(job))
		fill_commands(job, bo->size, from, to);
	return job;
}

/*
 * The job depends on nothing.  All jobs of the mover are in one queue, and the stores of a change
 * of page tables are among them: a move that waits for that change would wait for what is
 * queued behind it.  And nobody uses the contents any more: placed_move_notify() has waited, and
 * pages without a resource were idle when they were swapped.
 */
struct dma_fence *agate_move(struct agate_ttm_bo *bo, const struct agate_side *from,
			     const struct agate_side *to)
{
	struct agate_mover_job *job = job_create(bo, from, to);
	struct dma_resv *resv = gem_of(bo)->resv;
	struct dma_fence *fence;
	int ret;

	if (IS_ERR(job))
		return ERR_CAST(job);
	ret = dma_resv_reserve_fences(resv, 1);
	if (ret) {
		agate_mover_job_abandon(job);
		return ERR_PTR(ret);
	}
	fence = agate_mover_push(job);
	dma_resv_add_fence(resv, fence, DMA_RESV_USAGE_KERNEL);
	return fence;
}

struct dma_fence *agate_copy(struct agate_ttm_bo *bo, const struct agate_side *from,
			     const struct agate_side *to)
{
	struct agate_mover_job *job = job_create(bo, from, to);

	return IS_ERR(job) ? ERR_CAST(job) : agate_mover_push(job);
}
