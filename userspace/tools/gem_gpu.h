/* SPDX-License-Identifier: MIT */
/*
 * Drawing a scene with the GPU: the BOs of a pass and the two jobs.
 */
#ifndef GEM_GPU_H
#define GEM_GPU_H

#include "agate.h"
#include "gem_memory.h"
#include "gem_scene.h"
#include "gem_space.h"

struct gem_gpu;

/* Statistics since the GPU was opened. */
struct gem_gpu_stats {
	uint64_t passes, triangles;
	uint64_t heap_bytes;		/* used by the last pass */
	uint64_t tiler_ns, fragment_ns;	/* from submit to done, as this program sees it */
};

/*
 * Open the GPU for square pictures of size pixels, with or without the library's cache of
 * unused BOs, with BOs of this kind, and with so many address spaces of its own, 0 to
 * GEM_SPACES_MAX.  On failure prints the reason to standard error, and returns a negative errno.
 */
int gem_gpu_create(uint32_t size, bool cache, enum gem_bos bos, unsigned int vms,
		   struct gem_gpu **gpu);
void gem_gpu_destroy(struct gem_gpu *gpu);

/* The passes from here on are those of another frame, in the next address space. */
void gem_gpu_next_frame(struct gem_gpu *gpu);

/* How a pass differs from the original scene. */
struct gem_pass {
	float dx, dy;		/* pixels to the right and down, less than one */
	float brighter;		/* added to each colour */
};

/*
 * Draw the scene and wait for it.  Each pass has BOs of its own, and gives back those of
 * the pass before, so all passes but the first find theirs in the cache.  *pixels is then size * size times R G B A, until
 * the next pass.  On failure as gem_gpu_create().
 */
int gem_gpu_draw(struct gem_gpu *gpu, const struct gem_scene *scene,
		 const struct gem_pass *pass, const uint8_t **pixels);

/*
 * In each pass, call between(arg) when the TILER job is done and nobody has used yet what it left;
 * the FRAGMENT job comes after that.  A negative errno of it ends the pass.  The statistics count
 * its time as the TILER job's.
 */
void gem_gpu_set_between(struct gem_gpu *gpu, int (*between)(void *arg), void *arg);

/* Where its BOs come from. */
struct gem_memory *gem_gpu_memory(struct gem_gpu *gpu);

/* The pixels of the last pass as a dma-buf; 0 or a negative errno. */
int gem_gpu_export(struct gem_gpu *gpu, int *fd);

const struct gem_gpu_stats *gem_gpu_stats(const struct gem_gpu *gpu);

/* What the cache did for these passes: as agate_bo_cache_get_stats(). */
int gem_gpu_cache_stats(struct gem_gpu *gpu, struct agate_bo_cache_stats *stats);

#endif /* GEM_GPU_H */
