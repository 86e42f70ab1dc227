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

struct agate_device;
struct agate_exec;
struct agate_ttm_bo;
struct agate_ttm_ctx;
struct drm_device;
struct drm_file;

extern const struct agate_backing_ops agate_placed_backing;

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
 * agate_placed_swap_out - send a BO's pages to its swap file, for which the same task pays
 * @bo: its reservation is held; it is in memory of type SYSTEM, and nothing is mapped
 *
 * Afterwards the BO is nowhere, until its next user gives it pages again.
 *
 * Return: how many pages are free now, or an error.
 */
long agate_placed_swap_out(struct agate_ttm_bo *bo);

/** agate_placed_io_free - no CPU maps the BO's place any more; its reservation is held */
void agate_placed_io_free(struct agate_ttm_bo *bo);

/**
 * agate_placed_create_ioctl - CREATE_BO with a placement
 * @dev: the device
 * @data: struct drm_agate_create_bo
 * @file: whose handle it becomes
 */
int agate_placed_create_ioctl(struct drm_device *dev, void *data, struct drm_file *file);

#endif /* AGATE_PLACED_H */
