/* SPDX-License-Identifier: MIT */
/*
 * Where the memory of agate-gem's BOs comes from: the picture is the same with all kinds.
 */
#ifndef GEM_MEMORY_H
#define GEM_MEMORY_H

#include "agate.h"

/*
 * PAGED: single pages, as usual.  CONTIGUOUS: one piece.  IMPORTED: another GPU makes the BO,
 * and this one imports it.  VRAM: the card's memory.  SPILLED: the same, or system memory
 * where that has no room.
 */
enum gem_bos {
	GEM_BOS_PAGED, GEM_BOS_CONTIGUOUS, GEM_BOS_IMPORTED, GEM_BOS_VRAM, GEM_BOS_SPILLED,
	GEM_BOS_KINDS
};

/* "paged", "contiguous", "imported", "vram", "spilled" */
extern const char *const gem_bos_names[GEM_BOS_KINDS];

struct gem_memory {
	enum gem_bos bos;
	struct agate_device *dev;	/* the GPU that draws */
	struct agate_device *other;	/* the one that makes the BOs, or NULL */
};

/* 0 or a negative errno.  -ENODEV: IMPORTED, and there is no other GPU. */
int gem_memory_open(struct gem_memory *memory, struct agate_device *dev, enum gem_bos bos);
void gem_memory_close(struct gem_memory *memory);

/* AGATE_ALLOC_* for this kind. */
uint32_t gem_memory_flags(const struct gem_memory *memory);

/* As agate_bo_create() for the GPU that draws; not mapped.  A heap is always that GPU's own. */
int gem_memory_create_bo(struct gem_memory *memory, uint64_t size, uint32_t flags,
			 const char *label, struct agate_bo **bo);

#endif /* GEM_MEMORY_H */
