/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel's own view of a placed BO (lab 22): a part of it, wherever it is, at one address.
 *
 * Other drivers see a BO that way, and so do debuggers.  The model upstream is ttm_bo_kmap() in
 * ttm_bo_util.c, and so are the four kinds:
 *
 *   PAGE       one page of cached system memory: the kernel has it mapped already
 *   VMAP       several pages, which need not be neighbours, or pages that are not cached: a
 *              mapping of its own, with the caching of the BO
 *   IOMEM      VRAM: a mapping of its own, with the caching of the place
 *   PREMAPPED  VRAM that the frame keeps mapped (struct agate_io)
 */
#ifndef AGATE_KMAP_H
#define AGATE_KMAP_H

#include <linux/iosys-map.h>
#include <linux/types.h>

struct agate_resource;
struct agate_ttm_bo;

enum agate_kmap_kind {
	AGATE_KMAP_NONE = 0,
	AGATE_KMAP_PAGE,
	AGATE_KMAP_VMAP,
	AGATE_KMAP_IOMEM,
	AGATE_KMAP_PREMAPPED,
};

/**
 * struct agate_kmap - a part of a BO that the kernel sees
 * @kind: enum agate_kmap_kind
 * @res: where the BO was; this counts as one of its users (agate_io_reserve())
 * @at: the first byte; accesses go through the functions of iosys-map.h, because VRAM is not
 *	memory of the kernel
 */
struct agate_kmap {
	u8 kind;
	struct agate_resource *res;
	struct iosys_map at;
};

/**
 * agate_kmap - map a part of a BO for the kernel
 * @bo: it is somewhere, and has pages if that is not VRAM (agate_placed_present()); its last move
 *	has ended (agate_placed_wait())
 * @first: the first page, counted from the beginning of the BO
 * @n: pages
 * @map: out
 *
 * A mapping follows no move: the caller keeps the reservation until agate_kunmap(), or has pinned
 * the BO.  A mapping of VRAM also ends before drm_dev_exit(): BAR2 may be somebody else's when
 * the device is unplugged.
 *
 * Context: may sleep, and allocates memory; the BO's reservation is held.
 * Return: 0; -EINVAL for no page, for pages behind the end of the BO, for a BO that is nowhere and
 * for VRAM that the CPUs do not reach; -ENOMEM.  On failure nothing is mapped, and @map->kind is
 * AGATE_KMAP_NONE.
 */
int agate_kmap(struct agate_ttm_bo *bo, unsigned long first, unsigned long n,
	       struct agate_kmap *map);

/**
 * agate_kunmap - undo agate_kmap()
 * @map: what that call has filled in; nothing happens if it had failed
 *
 * Context: may sleep; the BO's reservation is held.
 */
void agate_kunmap(struct agate_kmap *map);

#endif /* AGATE_KMAP_H */
