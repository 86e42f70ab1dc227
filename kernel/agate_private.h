/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Private BOs, which belong to one address space and share its reservation.
 *
 * Whoever holds one of their reservations holds them all, and nobody makes a BO leave whose
 * reservation he holds: most of them are bound, and have to be there at the same time.  Those
 * that are bound nowhere need not.
 */
#ifndef AGATE_PRIVATE_H
#define AGATE_PRIVATE_H

struct agate_place;
struct agate_ttm_bo;
struct agate_ttm_ctx;

/**
 * agate_private_make_room - make another BO of the same address space leave VRAM
 * @bo: wants to be in VRAM; its reservation is held
 * @place: what the other one leaves has to help here
 * @ctx: how to wait
 *
 * Of those that are bound nowhere, the one that was used longest ago leaves.
 *
 * Return: 0; -ENOSPC: nobody can leave; else as agate_ttm_evict().
 */
int agate_private_make_room(struct agate_ttm_bo *bo, const struct agate_place *place,
			    struct agate_ttm_ctx *ctx);

#endif /* AGATE_PRIVATE_H */
