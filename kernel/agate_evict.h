/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Eviction (lab 23): a BO gets the place that it needs, and others leave for it.
 *
 * The BO's reservation is held in all of these calls, except where they say otherwise.  The
 * model upstream is ttm_bo.c.
 *
 * Two clients that each want more than half of VRAM take turns: whoever finds all victims
 * locked waits for one of them, with the ticket of the reservations that it holds.  That may
 * give -EDEADLK.  No function here turns -EDEADLK into another error: only
 * agate_exec_retry() can resolve it, outside of everything.
 */
#ifndef AGATE_EVICT_H
#define AGATE_EVICT_H

#include "agate_ttm.h"

/**
 * agate_ttm_validate - bring a BO to one of these places
 * @bo: the BO
 * @places: the best one first; those with FORCE may make others leave
 * @count: how many.  0: the BO loses its memory and its contents
 * @ctx: how to wait
 *
 * A BO that is inside one of the places already stays where it is.
 *
 * A move waits here for what uses the BO, because a job in a file's own address space may use
 * it without having listed it.  The copy itself goes on in the background, and whoever uses
 * the BO next waits for it: its fence is in the BO's reservation, as KERNEL.
 *
 * Return: 0; -EINVAL: the BO is pinned elsewhere, or larger than every place; -ENOSPC: nobody
 * can leave, and no memory is about to become free; -ENOMEM; -EBUSY with no_wait;
 * -EDEADLK, for agate_exec_retry(); -EINTR or -ERESTARTSYS; the error of a hook.  On failure
 * the BO is where it was, but others may have left.
 */
int agate_ttm_validate(struct agate_ttm_bo *bo, const struct agate_place *places,
		       unsigned int count, struct agate_ttm_ctx *ctx);

/**
 * agate_ttm_evict - a BO leaves, because somebody else wants its memory
 * @bo: not pinned
 * @ctx: how to wait
 *
 * It goes where evict_flags() says, which may be outside of its placement.
 */
int agate_ttm_evict(struct agate_ttm_bo *bo, struct agate_ttm_ctx *ctx);

/**
 * agate_ttm_evict_one - make one BO leave
 * @man: the manager
 * @place: what it leaves has to help here
 * @size: bytes that are wanted there
 * @ctx: how to wait
 *
 * The BO that was used longest ago leaves first; a BO whose placement allows other memory,
 * too, leaves before all others whose reservation is free.  Skipped are: pinned BOs, those
 * outside of @place, and those whose reservation the caller holds, unless it holds it as a
 * victim's.
 *
 * Context: the caller holds the reservations of ctx->exec.
 * Return: 0; -EAGAIN: nobody can leave, but a BO that dies is about to; -ENOSPC: nobody can; else
 * as agate_ttm_validate().
 */
int agate_ttm_evict_one(struct agate_man *man, const struct agate_place *place, u64 size,
			struct agate_ttm_ctx *ctx);

/**
 * agate_ttm_swap_one - send the pages of one BO to its swap file
 * @ttm: the device's memory
 * @ctx: how to wait; with no_wait its exec may be NULL
 *
 * Of the BOs that nobody uses or holds, the one that was used longest ago goes; one in SYSTEM
 * goes before all those in TT.  If there is none this waits for one of the others, with the
 * ticket of ctx->exec.
 *
 * Context: may sleep; the caller holds no reservations except those of ctx->exec, or one without
 * a ticket and with no_wait.
 * Return: how many pages are free now, 0: none yet, but it is worth another try; -EAGAIN: none, but
 * a BO that dies is about to park its own; -EBUSY: no BO has any that may go; -EDEADLK, for
 * agate_exec_retry(); -EINTR or -ERESTARTSYS; another error.
 */
long agate_ttm_swap_one(struct agate_ttm *ttm, struct agate_ttm_ctx *ctx);

/**
 * agate_ttm_release - a BO dies: its memory goes, when nothing uses it any more
 * @bo: the last reference is gone
 *
 * Context: may sleep; the caller holds no lock, except that it may hold other BOs' reservations.
 */
void agate_ttm_release(struct agate_ttm_bo *bo);

/** agate_ttm_bump - the BO was used just now, so it leaves last */
void agate_ttm_bump(struct agate_ttm_bo *bo);

/**
 * agate_ttm_pin - bring a BO where its user needs it, and keep it there
 * @bo: the BO
 * @use: AGATE_USE_PIN_TT or AGATE_USE_PIN_HERE
 * @ctx: how to wait
 *
 * Return: 0; -EINVAL: it is pinned somewhere else already; else as agate_ttm_validate().
 */
int agate_ttm_pin(struct agate_ttm_bo *bo, enum agate_use use, struct agate_ttm_ctx *ctx);

/** agate_ttm_unpin - undo one agate_ttm_pin() */
void agate_ttm_unpin(struct agate_ttm_bo *bo);

#endif /* AGATE_EVICT_H */
