/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Moving the contents of placed BOs, and clearing their memory, with the card's mover.
 */
#ifndef AGATE_MOVE_H
#define AGATE_MOVE_H

struct agate_resource;
struct agate_tt;
struct agate_ttm_bo;
struct dma_fence;

/**
 * struct agate_side - one end of a move
 * @res: VRAM, or NULL
 * @tt: else BOUND pages
 */
struct agate_side {
	const struct agate_resource *res;
	const struct agate_tt *tt;
};

/**
 * agate_move - copy a BO's contents
 * @bo: its reservation is held, and nothing uses its contents any more
 * @from: where they are; NULL: nowhere, so @to is filled with zeros
 * @to: where they go
 *
 * The copy's fence goes into the reservation, as KERNEL.
 *
 * Return: it, with a reference; or an ERR_PTR with nothing done: -ENOMEM.
 */
struct dma_fence *agate_move(struct agate_ttm_bo *bo, const struct agate_side *from,
			     const struct agate_side *to);

/**
 * agate_copy - copy a BO's contents aside, or back
 * @bo: its reservation is held
 * @from: where they are
 * @to: where they go
 *
 * Waits for no job of the BO: all jobs are off the GPU.  Both sides have to stay until the copy's
 * fence signals, which is up to the caller.
 *
 * Return: the copy's fence, with a reference; or an ERR_PTR: -ENOMEM.
 */
struct dma_fence *agate_copy(struct agate_ttm_bo *bo, const struct agate_side *from,
			     const struct agate_side *to);

#endif /* AGATE_MOVE_H */
