/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The placed backing: a BO whose memory moves between VRAM and system memory.
 *
 * Its users never pin it.  SUBMIT makes it valid, under its reservation, and between two jobs
 * it may be anywhere.
 */
#ifndef AGATE_PLACED_H
#define AGATE_PLACED_H

#include "agate_backing.h"
#include "agate_ttm.h"

struct agate_device;
struct agate_exec;
struct agate_ttm_ctx;
struct drm_device;
struct drm_file;

/* The CPUs may map it. */
extern const struct agate_backing_ops agate_placed_backing;
/* They may not: its VRAM may be where they cannot reach it. */
extern const struct agate_backing_ops agate_hidden_backing;

/**
 * agate_placed_init - start the managers of a card's memory (agate_placed_hooks.c)
 * @adev: the device, which has a card
 *
 * Return: 0 or -ENOMEM.
 */
int agate_placed_init(struct agate_device *adev);

/**
 * agate_placed_fini - no memory is mapped for the device any more
 * @adev: the device, which is unplugged; the mover has stopped
 *
 * Open files may still have BOs: those in system memory keep their contents, those in VRAM
 * have none.
 */
void agate_placed_fini(struct agate_device *adev);

/**
 * agate_placed_make_present - give a BO pages, with its contents if they are in a swap file
 * @bo: its reservation is held
 * @ctx: how to wait for others to be swapped
 *
 * The task that made the BO pays for them.
 *
 * Return: 0, or the error of agate_tt_populate().
 */
int agate_placed_make_present(struct agate_ttm_bo *bo, struct agate_ttm_ctx *ctx);

/**
 * agate_placed_present - give a BO that nobody has used yet, or that was swapped, its memory
 * @bo: placed; one that is somewhere stays there
 * @exec: holds its reservation
 *
 * Return: 0; the error of agate_placed_make_present(); -ENOMEM.
 */
int agate_placed_present(struct agate_bo *bo, struct agate_exec *exec);

/**
 * agate_placed_swap_out - send a BO's pages to its swap file, for which the same task pays
 * @bo: its reservation is held; it is in memory of type SYSTEM, and nothing is mapped
 *
 * Afterwards the BO is nowhere, until its next user gives it pages again.
 *
 * Return: how many pages are free now, or an error.
 */
long agate_placed_swap_out(struct agate_ttm_bo *bo);

/**
 * agate_placed_pin - bring a BO where its user needs it, and keep it there
 * @bo: placed; its reservation is not held
 * @use: AGATE_USE_PIN_TT or AGATE_USE_PIN_HERE
 * @vram: PIN_HERE: in VRAM, and nowhere else
 *
 * The move may go on in the background: its fence is in the BO's reservation, as KERNEL.
 *
 * Return: 0; -EINVAL: it is pinned elsewhere, or @vram is outside of its placement; -EIO: its
 * contents are lost; -ENODEV when the device is unplugged; else as agate_ttm_pin().
 */
int agate_placed_pin(struct agate_bo *bo, enum agate_use use, bool vram);

/**
 * agate_placed_pin_locked - the same, for a caller that holds the reservation
 * @bo: placed
 * @use: as there
 * @vram: as there
 * @ctx: how to wait; its exec may be NULL with PIN_TT, for which nobody has to leave
 *
 * Context: between drm_dev_enter() and drm_dev_exit().
 * Return: as agate_placed_pin().
 */
int agate_placed_pin_locked(struct agate_bo *bo, enum agate_use use, bool vram,
			    struct agate_ttm_ctx *ctx);

/** agate_placed_unpin - undo one agate_placed_pin(); it takes the BO's reservation */
void agate_placed_unpin(struct agate_bo *bo);

/* For other drivers: see struct agate_backing_ops. */
int agate_placed_pin_shared(struct agate_bo *bo);
void agate_placed_unpin_shared(struct agate_bo *bo);
struct sg_table *agate_placed_get_sg_table(struct agate_bo *bo, unsigned int max_segment);
int agate_placed_vmap(struct agate_bo *bo, struct iosys_map *map);
void agate_placed_vunmap(struct agate_bo *bo, struct iosys_map *map);

/* For debuggers: likewise. */
int agate_placed_access(struct agate_bo *bo, u64 offset, void *buf, int len, bool write);

/**
 * agate_placed_contents - are the BO's contents still there?
 * @bo: its reservation is held; it may be moving
 *
 * Return: 0; -EIO or the error of its last move: nothing of it is left.
 */
int agate_placed_contents(struct agate_ttm_bo *bo);

/**
 * agate_placed_wait - wait until the BO is where it is going to be
 * @bo: its reservation is held
 *
 * Return: 0; -ERESTARTSYS; else as agate_placed_contents().
 */
int agate_placed_wait(struct agate_ttm_bo *bo);

/** agate_placed_io_free - no CPU maps the BO's place any more; its reservation is held */
void agate_placed_io_free(struct agate_ttm_bo *bo);

/**
 * agate_placed_create_ioctl - CREATE_BO with a placement
 * @dev: the device
 * @data: struct drm_agate_create_bo
 * @file: whose handle it becomes
 */
int agate_placed_create_ioctl(struct drm_device *dev, void *data, struct drm_file *file);

/**
 * agate_query_regions_ioctl - QUERY_REGIONS
 * @dev: the device
 * @data: struct drm_agate_query_regions
 * @file: not used
 */
int agate_query_regions_ioctl(struct drm_device *dev, void *data, struct drm_file *file);

#endif /* AGATE_PLACED_H */
