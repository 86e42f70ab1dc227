// SPDX-License-Identifier: MIT
/*
 * One pass on the GPU, as on any tiling GPU: the TILER job sorts triangles into
 * bins, in a heap that grows when the GPU touches it; then the FRAGMENT job draws
 * tile by tile.  The jobs run on different slots, and only a sync object orders
 * them.  Depth exists only in the tile, and is never stored.
 *
 * Each job lists every BO it touches, including the heap: the kernel could free or
 * purge an unlisted BO while a job still reads it.  Only in an address space of the program's own
 * a job may use all that is bound; there the heap has all its memory from the beginning, for the
 * kernel lets heaps grow in its own address spaces alone.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <xf86drm.h>

#include "gem_gpu.h"

/* Heap addresses for each tile, and for crowded tiles; pages come when the GPU touches them. */
#define HEAP_TILE	(2 * AGATE_HEAP_CHUNK_SIZE)
#define HEAP_CROWD	(48ull << 20)
/* The same for one that does not grow: a tile of the gem seldom needs more than one chunk. */
#define FIXED_TILE	AGATE_HEAP_CHUNK_SIZE
#define FIXED_CROWD	(2ull << 20)

/* Offsets in the BO of the jobs and bins. */
#define JOBS_OFFSET	0
#define CONTEXT_OFFSET	1024
#define TARGET_OFFSET	2048
#define BINS_OFFSET	4096

/* Border of the viewport around the picture, so that a shifted scene still fills the picture. */
#define BORDER		1

enum { GEOMETRY, FRAME, HEAP, COLOUR, BOS };

struct gem_gpu {
	struct agate_device *dev;
	struct gem_memory memory;
	struct gem_space space;
	uint32_t size;
	uint32_t tiles;			/* both ways */
	struct agate_bo *bo[BOS];
	uint64_t va[BOS];
	void *cpu[BOS];			/* NULL for the heap */
	uint32_t tiled;			/* sync object: the TILER job is done */
	int (*between)(void *arg);	/* NULL: nobody waits between the two jobs */
	void *between_arg;
	uint32_t vertices, indices;
	struct gem_gpu_stats stats;
};

static int report(const char *what, int err)
{
	fprintf(stderr, "agate-gem: %s: %s\n", what, strerror(-err));
	return err;
}

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static void release_bos(struct gem_gpu *gpu)
{
	unsigned int i;

	gem_space_clear(&gpu->space);
	for (i = 0; i < BOS; i++) {
		agate_bo_unreference(gpu->bo[i]);
		gpu->bo[i] = NULL;
		gpu->cpu[i] = NULL;
	}
}

/* A BO from the cache has the bytes of an older pass: write or clear whatever is read. */
static int create_bos(struct gem_gpu *gpu)
{
	const uint64_t tiles = (uint64_t)gpu->tiles * gpu->tiles;
	const bool grows = !gem_space_is_vm(&gpu->space);
	const struct {
		uint64_t size;
		uint32_t flags;
		const char *label;
	} bos[BOS] = {
		[GEOMETRY] = {
			sizeof(((struct gem_scene *)0)->vertex) +
			sizeof(((struct gem_scene *)0)->index),
			AGATE_ALLOC_GPU_READONLY, "gem geometry"
		},
		[FRAME] = {
			BINS_OFFSET + tiles * sizeof(struct agate_tiler_bin), 0,
			"gem jobs and bins"
		},
		[HEAP] = {
			grows ? HEAP_CROWD + tiles * HEAP_TILE : FIXED_CROWD + tiles * FIXED_TILE,
			AGATE_ALLOC_INVISIBLE | (grows ? AGATE_ALLOC_GROWABLE : 0),
			"gem tiler heap"
		},
		[COLOUR] = { (uint64_t)gpu->size * gpu->size * 4, 0, "gem colour" },
	};
	unsigned int i;
	int err;

	for (i = 0; i < BOS; i++) {
		err = gem_space_create_bo(&gpu->space, bos[i].size, bos[i].flags, bos[i].label,
					  &gpu->bo[i], &gpu->va[i]);
		if (err)
			return report(bos[i].label, err);
		if (bos[i].flags & AGATE_ALLOC_INVISIBLE)
			continue;
		err = agate_bo_mmap(gpu->bo[i], &gpu->cpu[i]);
		if (err)
			return report(bos[i].label, err);
	}
	return 0;
}

int gem_gpu_create(uint32_t size, bool cache, enum gem_bos bos, unsigned int vms,
		   struct gem_gpu **out)
{
	struct gem_gpu *gpu = calloc(1, sizeof(*gpu));
	int err;

	if (!gpu)
		return report("cannot start", -ENOMEM);
	gpu->size = size;
	gpu->tiles = (size + AGATE_TILE_SIZE - 1) / AGATE_TILE_SIZE;
	err = agate_device_open(&gpu->dev);
	if (err) {
		report("cannot open an agate render node in /dev/dri", err);
		goto err_destroy;
	}
	err = gem_memory_open(&gpu->memory, gpu->dev, bos);
	if (err) {
		report("cannot open a second GPU", err);
		goto err_destroy;
	}
	err = gem_space_open(&gpu->space, &gpu->memory, vms);
	if (err) {
		report("cannot make an address space for BOs of this kind", err);
		goto err_destroy;
	}
	/* A library without a cache draws the same picture. */
	err = agate_bo_cache_enable(gpu->dev, cache);
	if (err && err != -EOPNOTSUPP) {
		report("cannot switch the cache", err);
		goto err_destroy;
	}
	if (drmSyncobjCreate(agate_device_fd(gpu->dev), 0, &gpu->tiled)) {
		err = report("cannot create a sync object", -errno);
		goto err_destroy;
	}
	*out = gpu;
	return 0;

err_destroy:
	gem_gpu_destroy(gpu);
	return err;
}

void gem_gpu_destroy(struct gem_gpu *gpu)
{
	if (!gpu)
		return;
	if (gpu->tiled)
		drmSyncobjDestroy(agate_device_fd(gpu->dev), gpu->tiled);
	release_bos(gpu);
	gem_space_close(&gpu->space);
	gem_memory_close(&gpu->memory);
	agate_device_close(gpu->dev);
	free(gpu);
}

void gem_gpu_next_frame(struct gem_gpu *gpu)
{
	release_bos(gpu);
	gem_space_turn(&gpu->space);
}

static float brightened(float colour, const struct gem_pass *pass)
{
	return (float)gem_clamp(colour + pass->brighter, 0.0, 1.0);
}

static void write_geometry(struct gem_gpu *gpu, const struct gem_scene *scene,
			   const struct gem_pass *pass)
{
	/* The viewport is wider than the picture: shrink the scene by the same factor. */
	const float scale = (float)gpu->size / (float)(gpu->size + 2 * BORDER);
	struct agate_vertex *vertex = gpu->cpu[GEOMETRY];
	uint32_t i;

	for (i = 0; i < scene->vertices; i++) {
		struct agate_vertex v = scene->vertex[i];

		v.x *= scale;
		v.y *= scale;
		v.r = brightened(v.r, pass);
		v.g = brightened(v.g, pass);
		v.b = brightened(v.b, pass);
		vertex[i] = v;
	}
	memcpy((char *)gpu->cpu[GEOMETRY] + sizeof(scene->vertex), scene->index,
	       scene->indices * sizeof(scene->index[0]));
	gpu->vertices = scene->vertices;
	gpu->indices = scene->indices;
}

/* Write an empty heap, empty bins, and the picture's address. */
static int write_descriptors(struct gem_gpu *gpu)
{
	const uint64_t frame = gpu->va[FRAME];
	const uint64_t heap = gpu->va[HEAP];
	const struct agate_tiler_context context = {
		.heap_start = heap,
		.heap_end = heap + agate_bo_size(gpu->bo[HEAP]),
		.heap_top = heap,
		.bins = frame + BINS_OFFSET,
		.width = gpu->size,
		.height = gpu->size,
	};
	const struct agate_framebuffer target = {
		.color = gpu->va[COLOUR],
		.tiler = frame + CONTEXT_OFFSET,
		.width = gpu->size,
		.height = gpu->size,
		.stride = gpu->size * 4,
		.format = AGATE_FORMAT_R8G8B8A8,
		.flags = AGATE_FB_CLEAR_COLOR | AGATE_FB_CLEAR_DEPTH | AGATE_FB_DEPTH_TEST,
		.clear_color = { 0.0f, 0.0f, 0.0f, 1.0f },
		.clear_depth = 1.0f,
	};
	char *cpu = gpu->cpu[FRAME];
	int err;

	err = agate_tiler_context_check(&context);
	if (!err)
		err = agate_framebuffer_check(&target);
	if (err)
		return report("the GPU cannot draw a picture of this size", err);
	memcpy(cpu + CONTEXT_OFFSET, &context, sizeof(context));
	memcpy(cpu + TARGET_OFFSET, &target, sizeof(target));
	memset(cpu + BINS_OFFSET, 0,
	       (size_t)gpu->tiles * gpu->tiles * sizeof(struct agate_tiler_bin));
	return 0;
}

/* Write the TILER job, and the FRAGMENT job after it in the same BO. */
static int write_jobs(struct gem_gpu *gpu, const struct gem_pass *pass,
		      struct agate_chain *tiler, struct agate_chain *fragment)
{
	const uint64_t frame = gpu->va[FRAME];
	const uint64_t geometry = gpu->va[GEOMETRY];
	const struct agate_tiler_payload bin = {
		.vertices = geometry,
		.indices = geometry + sizeof(((struct gem_scene *)0)->vertex),
		.vertex_count = gpu->vertices,
		.index_count = gpu->indices,
		.tiler = frame + CONTEXT_OFFSET,
		.viewport = {
			.x = pass->dx - BORDER,
			.y = pass->dy - BORDER,
			.width = (float)(gpu->size + 2 * BORDER),
			.height = (float)(gpu->size + 2 * BORDER),
			.near_depth = 0.0f,
			.far_depth = 1.0f,
		},
	};
	const struct agate_fragment_payload draw = {
		.max_x = (uint16_t)(gpu->tiles - 1),
		.max_y = (uint16_t)(gpu->tiles - 1),
		.framebuffer = frame + TARGET_OFFSET,
	};
	int err;

	err = agate_chain_begin_at(tiler, gpu->bo[FRAME], JOBS_OFFSET, frame + JOBS_OFFSET);
	if (!err)
		err = agate_chain_tiler(tiler, 0, &bin);
	if (!err)
		err = agate_chain_begin_at(fragment, gpu->bo[FRAME], tiler->end,
					   frame + tiler->end);
	if (!err)
		err = agate_chain_fragment(fragment, 0, &draw);
	return err ? report("cannot write the jobs", err) : 0;
}

static int submit_tiler(struct gem_gpu *gpu, const struct agate_chain *chain)
{
	const struct agate_submit_bo bos[] = {
		{ gpu->bo[GEOMETRY], AGATE_ACCESS_READ },
		{ gpu->bo[FRAME], AGATE_ACCESS_RW },
		{ gpu->bo[HEAP], AGATE_ACCESS_RW },
	};
	const struct drm_agate_sync tiled = { .handle = gpu->tiled };
	const struct agate_submit submit = {
		.jc = agate_chain_address(chain),
		.bos = bos,
		.bo_count = 3,
		.out_syncs = &tiled,
		.out_sync_count = 1,
	};
	int err = gem_space_submit(&gpu->space, &submit);

	return err ? report("cannot submit the TILER job", err) : 0;
}

static int submit_fragment(struct gem_gpu *gpu, const struct agate_chain *chain)
{
	const struct agate_submit_bo bos[] = {
		{ gpu->bo[FRAME], AGATE_ACCESS_RW },
		{ gpu->bo[HEAP], AGATE_ACCESS_READ },
		{ gpu->bo[COLOUR], AGATE_ACCESS_WRITE },
	};
	const struct drm_agate_sync tiled = { .handle = gpu->tiled };
	const struct agate_submit submit = {
		.jc = agate_chain_address(chain),
		.requirements = AGATE_JD_REQ_FS,
		.bos = bos,
		.bo_count = 3,
		.in_syncs = &tiled,
		.in_sync_count = 1,
	};
	int err = gem_space_submit(&gpu->space, &submit);

	return err ? report("cannot submit the FRAGMENT job", err) : 0;
}

static int check(const struct agate_chain *chain, const char *job)
{
	struct agate_chain_result result;

	if (!agate_chain_check(chain, &result))
		return 0;
	fprintf(stderr, "agate-gem: the %s job ended in %s (0x%02x) at GPU address 0x%llx\n",
		job, agate_exception_name(result.exception), result.exception,
		(unsigned long long)result.fault_pointer);
	return -EIO;
}

/*
 * Only the TILER job reads the geometry; but in an address space of the program's own each job
 * uses all BOs.
 */
static int wait_for_tiler(struct gem_gpu *gpu)
{
	struct drm_syncobj_wait wait = {
		.handles = (uintptr_t)&gpu->tiled, .count_handles = 1, .timeout_nsec = INT64_MAX,
	};

	if (!gem_space_is_vm(&gpu->space))
		return agate_bo_wait(gpu->bo[GEOMETRY], INT64_MAX, true);
	return drmIoctl(agate_device_fd(gpu->dev), DRM_IOCTL_SYNCOBJ_WAIT, &wait) ? -errno : 0;
}

static int submit(struct gem_gpu *gpu, const struct agate_chain *tiler,
		  const struct agate_chain *fragment)
{
	int err = submit_tiler(gpu, tiler);

	if (!err && gpu->between) {
		err = wait_for_tiler(gpu);
		if (err)
			return report("cannot wait for the TILER job", err);
		err = gpu->between(gpu->between_arg);
	}
	return err ? err : submit_fragment(gpu, fragment);
}

static void count(struct gem_gpu *gpu, uint64_t start, uint64_t tiled, uint64_t drawn)
{
	struct agate_tiler_context context;

	memcpy(&context, (char *)gpu->cpu[FRAME] + CONTEXT_OFFSET, sizeof(context));
	gpu->stats.passes++;
	gpu->stats.triangles += gpu->indices / 3;
	gpu->stats.heap_bytes = context.heap_top - context.heap_start;
	gpu->stats.tiler_ns += tiled - start;
	gpu->stats.fragment_ns += drawn - tiled;
}

int gem_gpu_draw(struct gem_gpu *gpu, const struct gem_scene *scene,
		 const struct gem_pass *pass, const uint8_t **pixels)
{
	struct agate_chain tiler, fragment;
	uint64_t start, tiled;
	int err;

	/* Only now: the caller has looked at the last pixels. */
	release_bos(gpu);
	err = create_bos(gpu);
	if (err)
		return err;
	write_geometry(gpu, scene, pass);
	err = write_descriptors(gpu);
	if (!err)
		err = write_jobs(gpu, pass, &tiler, &fragment);
	if (err)
		return err;
	start = now_ns();
	err = submit(gpu, &tiler, &fragment);
	if (err)
		return err;
	err = wait_for_tiler(gpu);
	tiled = now_ns();
	if (!err)
		err = agate_bo_wait(gpu->bo[COLOUR], INT64_MAX, true);
	if (err)
		return report("cannot wait for the GPU", err);
	err = check(&tiler, "TILER");
	if (!err)
		err = check(&fragment, "FRAGMENT");
	if (err)
		return err;
	count(gpu, start, tiled, now_ns());
	*pixels = gpu->cpu[COLOUR];
	return 0;
}

void gem_gpu_set_between(struct gem_gpu *gpu, int (*between)(void *arg), void *arg)
{
	gpu->between = between;
	gpu->between_arg = arg;
}

struct gem_memory *gem_gpu_memory(struct gem_gpu *gpu)
{
	return &gpu->memory;
}

int gem_gpu_export(struct gem_gpu *gpu, int *fd)
{
	return agate_bo_export(gpu->bo[COLOUR], fd);
}

const struct gem_gpu_stats *gem_gpu_stats(const struct gem_gpu *gpu)
{
	return &gpu->stats;
}

int gem_gpu_cache_stats(struct gem_gpu *gpu, struct agate_bo_cache_stats *stats)
{
	return agate_bo_cache_get_stats(gpu->dev, stats);
}
