// SPDX-License-Identifier: MIT
/*
 * agate-gem's drawing on the GPU model: the frames fit, the picture is there,
 * depth decides, and the BO lists are complete (the model sees no other BO).
 */
#include "harness.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fake_gpu.h"
#include "gem_gpu.h"

#define SIZE	128

int __wrap_agate_device_open(struct agate_device **dev);
int __wrap_agate_device_open(struct agate_device **dev)
{
	*dev = fake_open();
	return 0;
}

static const struct gem_pass still;
static struct gem_scene scene;

static struct gem_gpu *gpu_in(uint32_t size, bool cache, enum gem_bos bos, unsigned int vms)
{
	struct gem_gpu *gpu = NULL;

	fake_reset();
	fake_submit(fake_gpu_run);
	assert_int_equal(gem_gpu_create(size, cache, bos, vms, &gpu), 0);
	return gpu;
}

static struct gem_gpu *gpu_of(uint32_t size, bool cache, enum gem_bos bos)
{
	return gpu_in(size, cache, bos, 0);
}

static struct gem_gpu *gpu_with(uint32_t size, bool cache)
{
	return gpu_of(size, cache, GEM_BOS_PAGED);
}

static struct gem_gpu *gpu_new(uint32_t size)
{
	return gpu_with(size, true);
}

static void gpu_free(struct gem_gpu *gpu)
{
	gem_gpu_destroy(gpu);
	assert_int_equal(fake_live_handles(), 0);
	assert_int_equal(fake_live_maps(), 0);
	assert_int_equal(fake_live_vms(), 0);
}

static const uint8_t *draw(struct gem_gpu *gpu)
{
	const uint8_t *pixels = NULL;

	assert_int_equal(gem_gpu_draw(gpu, &scene, &still, &pixels), 0);
	assert_non_null(pixels);
	return pixels;
}

static void test_every_angle_fits(void **state)
{
	unsigned int i, most = 0;

	(void)state;
	for (i = 0; i < 64; i++) {
		assert_int_equal(gem_scene_build(&scene, i / 64.0), 0);
		most = scene.indices > most ? scene.indices : most;
	}
	/* There is room to spare, so no angle in between comes near the limit. */
	assert_true(most < GEM_SCENE_INDICES / 2);
}

static void test_vertices_are_sound(void **state)
{
	uint32_t i;

	(void)state;
	assert_int_equal(gem_scene_build(&scene, 0.4), 0);
	for (i = 0; i < scene.vertices; i++) {
		const struct agate_vertex *v = &scene.vertex[i];

		assert_true(v->w > 0.0f && v->z >= 0.0f && v->z <= v->w);
		assert_true(v->r >= 0.0f && v->r <= 1.0f && v->g >= 0.0f && v->g <= 1.0f &&
			    v->b >= 0.0f && v->b <= 1.0f && v->a == 1.0f);
	}
	assert_int_equal(scene.indices % 3, 0);
	for (i = 0; i < scene.indices; i++)
		assert_true(scene.index[i] < scene.vertices);
}

/* Every pixel is drawn, and the stone stands out from its surroundings. */
static void test_picture(void **state)
{
	struct gem_gpu *gpu = gpu_new(SIZE);
	unsigned int x, y, bright = 0;
	const uint8_t *pixels;

	(void)state;
	assert_int_equal(gem_scene_build(&scene, 0.02), 0);
	pixels = draw(gpu);
	for (y = 0; y < SIZE; y++) {
		for (x = 0; x < SIZE; x++) {
			const uint8_t *p = pixels + 4 * (y * SIZE + x);

			/* The clear colour is black, and the backdrop is nowhere quite black. */
			assert_true(p[0] | p[1] | p[2]);
			assert_int_equal(p[3], 255);
			bright += p[1] > 128;
		}
	}
	assert_in_range(bright, SIZE * SIZE / 50, SIZE * SIZE / 4);
	gpu_free(gpu);
}

static void test_same_bytes(void **state)
{
	static uint8_t first[SIZE * SIZE * 4];
	struct gem_gpu *gpu = gpu_new(SIZE);

	(void)state;
	assert_int_equal(gem_scene_build(&scene, 0.3), 0);
	memcpy(first, draw(gpu), sizeof(first));
	assert_int_equal(gem_scene_build(&scene, 0.7), 0);
	assert_memory_not_equal(draw(gpu), first, sizeof(first));
	assert_int_equal(gem_scene_build(&scene, 0.3), 0);
	assert_memory_equal(draw(gpu), first, sizeof(first));
	gpu_free(gpu);
}

/* The jobs of the GPU so far, and how many there were when between() was called. */
struct between {
	unsigned int jobs, seen, calls;
	int err;
};

static struct between between;

static int counted_run(const struct drm_agate_submit *args, const uint32_t *handles)
{
	between.jobs++;
	return fake_gpu_run(args, handles);
}

static int look_between(void *arg)
{
	struct between *b = arg;

	b->calls++;
	b->seen = b->jobs;
	return b->err;
}

static void test_between(void **state)
{
	static uint8_t plain[SIZE * SIZE * 4];
	struct gem_gpu *gpu = gpu_new(SIZE);
	const uint8_t *pixels;

	(void)state;
	assert_int_equal(gem_scene_build(&scene, 0.3), 0);
	memcpy(plain, draw(gpu), sizeof(plain));
	fake_submit(counted_run);
	gem_gpu_set_between(gpu, look_between, &between);
	assert_memory_equal(draw(gpu), plain, sizeof(plain));
	assert_int_equal(between.calls, 1);
	assert_int_equal(between.seen, 1);
	assert_int_equal(between.jobs, 2);
	between.err = -EBADMSG;
	assert_int_equal(gem_gpu_draw(gpu, &scene, &still, &pixels), -EBADMSG);
	assert_int_equal(between.jobs, 3);
	gpu_free(gpu);
}

/* BOs full of an older picture are as good as new ones. */
static void test_recycled_bos(void **state)
{
	static uint8_t fresh[SIZE * SIZE * 4];
	struct agate_bo_cache_stats stats;
	struct gem_gpu *gpu = gpu_with(SIZE, false);

	(void)state;
	assert_int_equal(gem_scene_build(&scene, 0.7), 0);
	draw(gpu);
	assert_int_equal(gem_scene_build(&scene, 0.3), 0);
	memcpy(fresh, draw(gpu), sizeof(fresh));
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_CREATE_BO), 8);
	gpu_free(gpu);

	gpu = gpu_with(SIZE, true);
	assert_int_equal(gem_scene_build(&scene, 0.7), 0);
	draw(gpu);
	assert_int_equal(gem_scene_build(&scene, 0.3), 0);
	assert_memory_equal(draw(gpu), fresh, sizeof(fresh));
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_CREATE_BO), 4);
	assert_int_equal(gem_gpu_cache_stats(gpu, &stats), 0);
	assert_int_equal(stats.hits, 4);
	assert_int_equal(stats.cached, 0);
	gpu_free(gpu);
}

/* Triangles in the opposite order give the same picture: depth decides. */
static void test_order_does_not_matter(void **state)
{
	static uint8_t first[SIZE * SIZE * 4];
	struct gem_gpu *gpu = gpu_new(SIZE);
	unsigned int differ = 0;
	const uint8_t *pixels;
	uint32_t i, k;

	(void)state;
	assert_int_equal(gem_scene_build(&scene, 0.02), 0);
	memcpy(first, draw(gpu), sizeof(first));
	for (i = 0; i < scene.indices / 6; i++) {
		for (k = 0; k < 3; k++) {
			uint32_t *a = &scene.index[3 * i + k];
			uint32_t *b = &scene.index[scene.indices - 3 * (i + 1) + k];
			uint32_t t = *a;

			*a = *b;
			*b = t;
		}
	}
	pixels = draw(gpu);
	for (i = 0; i < SIZE * SIZE; i++)
		differ += memcmp(first + 4 * i, pixels + 4 * i, 4) != 0;
	/* Only where facets touch can two depths be the same. */
	assert_true(differ < SIZE * SIZE / 200);
	gpu_free(gpu);
}

/* All BOs but the heap are in one piece, and the picture is the same. */
static void test_contiguous(void **state)
{
	static uint8_t paged[SIZE * SIZE * 4];
	struct gem_gpu *gpu = gpu_new(SIZE);
	unsigned int contiguous = 0, paging = 0;
	struct fake_bo seen;

	(void)state;
	assert_int_equal(gem_scene_build(&scene, 0.02), 0);
	memcpy(paged, draw(gpu), sizeof(paged));
	gpu_free(gpu);

	gpu = gpu_of(SIZE, true, GEM_BOS_CONTIGUOUS);
	assert_memory_equal(draw(gpu), paged, sizeof(paged));
	for (uint32_t handle = 1; fake_bo(handle, &seen); handle++) {
		contiguous += !!(seen.flags & AGATE_BO_CONTIGUOUS);
		paging += !(seen.flags & AGATE_BO_CONTIGUOUS);
	}
	assert_int_equal(contiguous, 3);
	assert_int_equal(paging, 1);
	gpu_free(gpu);
}

/* The BOs of a pass are all private to this address space; none of them grows. */
static void all_private(uint32_t vm_id)
{
	struct fake_bo seen;
	uint32_t handle;

	for (handle = 1; fake_bo(handle, &seen); handle++) {
		assert_int_equal(seen.vm_id, vm_id);
		assert_int_equal(seen.flags & AGATE_BO_HEAP, 0);
	}
	assert_int_equal(handle, 5);
}

/* Each frame is drawn in the next address space, and nothing is bound in the last one. */
static void test_own_spaces(void **state)
{
	static uint8_t paged[SIZE * SIZE * 4];
	struct gem_gpu *gpu = gpu_new(SIZE);
	uint32_t last = 0;

	(void)state;
	assert_int_equal(gem_scene_build(&scene, 0.02), 0);
	memcpy(paged, draw(gpu), sizeof(paged));
	gpu_free(gpu);

	gpu = gpu_in(SIZE, true, GEM_BOS_VRAM, 2);
	assert_int_equal(fake_live_vms(), 2);
	for (unsigned int frame = 0; frame < 3; frame++) {
		gem_gpu_next_frame(gpu);
		if (last) {
			assert_int_equal(fake_bound().op, AGATE_VM_BIND_UNMAP);
			assert_int_equal(fake_bound().vm_id, last);
			assert_null(fake_vm_memory(last, fake_bound().addr, 1, false));
		}
		for (unsigned int pass = 0; pass < 2; pass++) {
			assert_memory_equal(draw(gpu), paged, sizeof(paged));
			assert_int_not_equal(fake_bound().vm_id, last);
			all_private(fake_bound().vm_id);
		}
		last = fake_bound().vm_id;
	}
	gpu_free(gpu);
}

static void test_kinds_without_spaces(void **state)
{
	struct gem_gpu *gpu = NULL;

	(void)state;
	fake_reset();
	assert_int_equal(gem_gpu_create(SIZE, true, GEM_BOS_CONTIGUOUS, 1, &gpu), -EINVAL);
	assert_null(gpu);
	fake_reset();
	fake_set_minor(5);
	assert_int_equal(gem_gpu_create(SIZE, true, GEM_BOS_PAGED, 1, &gpu), -EOPNOTSUPP);
	assert_null(gpu);
}

static void test_no_second_gpu(void **state)
{
	struct gem_gpu *gpu = NULL;

	(void)state;
	fake_reset();
	assert_int_equal(gem_gpu_create(SIZE, true, GEM_BOS_IMPORTED, 0, &gpu), -ENODEV);
	assert_null(gpu);
	assert_int_equal(fake_live_handles(), 0);
}

static void test_odd_sizes(void **state)
{
	static const uint32_t sizes[] = { 64, 65, 79, 100, 257 };
	size_t i;

	(void)state;
	assert_int_equal(gem_scene_build(&scene, 0.02), 0);
	for (i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct gem_gpu *gpu = gpu_new(sizes[i]);
		const uint32_t last = sizes[i] * sizes[i] - 1;
		const uint8_t *pixels = draw(gpu);

		assert_int_equal(pixels[3], 255);
		assert_int_equal(pixels[4 * last + 3], 255);
		assert_true(pixels[4 * last] | pixels[4 * last + 1] | pixels[4 * last + 2]);
		assert_int_equal(gem_gpu_stats(gpu)->passes, 1);
		assert_int_equal(gem_gpu_stats(gpu)->triangles, scene.indices / 3);
		assert_true(gem_gpu_stats(gpu)->heap_bytes >= 16 * 4096);
		gpu_free(gpu);
	}
}

static void test_faulting_jobs_are_reported(void **state)
{
	struct gem_gpu *gpu = gpu_new(SIZE);
	const uint8_t *pixels = NULL;

	(void)state;
	assert_int_equal(gem_scene_build(&scene, 0.02), 0);
	scene.index[5] = scene.vertices;	/* the TILER's data is invalid */
	assert_int_equal(gem_gpu_draw(gpu, &scene, &still, &pixels), -EIO);
	assert_null(pixels);
	gpu_free(gpu);
}

static int open_and_draw(unsigned int vms, struct gem_gpu **gpu)
{
	const uint8_t *pixels;
	int err = gem_gpu_create(SIZE, false, GEM_BOS_PAGED, vms, gpu);

	return err ? err : gem_gpu_draw(*gpu, &scene, &still, &pixels);
}

/* Make each kernel call of a first pass fail in turn; nothing stays. */
static unsigned int failing_passes(unsigned int vms)
{
	static const unsigned long requests[] = {
		DRM_IOCTL_AGATE_CREATE_BO, DRM_IOCTL_AGATE_SET_LABEL, FAKE_MMAP,
		DRM_IOCTL_SYNCOBJ_CREATE, DRM_IOCTL_AGATE_VM_CREATE, DRM_IOCTL_AGATE_VM_BIND,
		DRM_IOCTL_SYNCOBJ_WAIT,
	};
	unsigned int i, nth, failures = 0;

	assert_int_equal(gem_scene_build(&scene, 0.02), 0);
	for (i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		for (nth = 1; nth <= 4; nth++) {
			struct gem_gpu *gpu = NULL;

			fake_reset();
			fake_submit(fake_gpu_run);
			fake_fail(requests[i], nth, ENOMEM);
			failures += open_and_draw(vms, &gpu) != 0;
			gpu_free(gpu);
		}
	}
	return failures;
}

static void test_failing_pass(void **state)
{
	(void)state;
	/* Four BOs, four labels, three maps, one sync object. */
	assert_int_equal(failing_passes(0), 12);
	/* Two address spaces, four bindings and a wait more. */
	assert_int_equal(failing_passes(2), 19);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_angle_fits),
		cmocka_unit_test(test_vertices_are_sound),
		cmocka_unit_test(test_picture),
		cmocka_unit_test(test_same_bytes),
		cmocka_unit_test(test_between),
		cmocka_unit_test(test_recycled_bos),
		cmocka_unit_test(test_order_does_not_matter),
		cmocka_unit_test(test_contiguous),
		cmocka_unit_test(test_own_spaces),
		cmocka_unit_test(test_kinds_without_spaces),
		cmocka_unit_test(test_no_second_gpu),
		cmocka_unit_test(test_odd_sizes),
		cmocka_unit_test(test_faulting_jobs_are_reported),
		cmocka_unit_test(test_failing_pass),
	};

	return cmocka_run_group_tests_name("gem-picture", tests, NULL, NULL);
}
