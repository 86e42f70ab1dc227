// SPDX-License-Identifier: MIT
/*
 * What upstream's Panfrost says of the GPU, and its BOs: created, mapped, closed, and
 * given up to the kernel.
 */
#include "panfrost.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define HEAP_UNIT	(2u << 20)

/* ---- Parameters --------------------------------------------------------- */

/* Every parameter is there, and those that upstream knows best say what the GPU is. */
static void parameters(void **state)
{
	int fd = panfrost_open();
	struct drm_panfrost_get_param bad = { .param = DRM_PANFROST_PARAM_AFBC_FEATURES + 1 };
	uint64_t id = panfrost_param(fd, DRM_PANFROST_PARAM_GPU_PROD_ID);
	bool bifrost = id >= 0x1000;

	(void)state;
	for (int param = 0; param <= DRM_PANFROST_PARAM_AFBC_FEATURES; param++)
		panfrost_param(fd, (enum drm_panfrost_param)param);
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_PANFROST_GET_PARAM, &bad), EINVAL);
	assert_int_equal(id, bifrost ? 0x6001 : 0x860);
	assert_int_equal(panfrost_param(fd, DRM_PANFROST_PARAM_SHADER_PRESENT), bifrost ? 0x3 : 0xf);
	assert_int_equal(panfrost_param(fd, DRM_PANFROST_PARAM_L2_PRESENT), 1);
	assert_int_equal(panfrost_param(fd, DRM_PANFROST_PARAM_NR_CORE_GROUPS), 1);
	assert_int_equal(panfrost_param(fd, DRM_PANFROST_PARAM_AS_PRESENT), 0xff);
	assert_int_equal(panfrost_param(fd, DRM_PANFROST_PARAM_JS_PRESENT), 0x7);
	assert_int_equal(panfrost_param(fd, DRM_PANFROST_PARAM_MMU_FEATURES),
			 AGATE_PHYS_BITS << 8 | AGATE_VA_BITS);
	close(fd);
}

/* ---- BOs ---------------------------------------------------------------- */

static void create_map_close(void **state)
{
	int fd = panfrost_open();
	struct bo bo = panfrost_bo(fd, 5 * PAGE + 1, 0);
	struct drm_panfrost_get_bo_offset offset = { .handle = bo.handle };
	const unsigned char *bytes = bo.cpu;

	(void)state;
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_PANFROST_GET_BO_OFFSET, &offset), 0);
	assert_int_equal(offset.offset, bo.va);
	assert_int_equal(bo.va % PAGE, 0);
	for (uint32_t i = 0; i < 6 * PAGE; i++)
		assert_int_equal(bytes[i], 0);
	memset(bo.cpu, 0x5a, 6 * PAGE);
	assert_int_equal(guest_close_handle(fd, bo.handle), 0);
	assert_int_equal(guest_close_handle(fd, bo.handle), EINVAL);
	/* The mapping keeps the pages. */
	assert_int_equal(bytes[6 * PAGE - 1], 0x5a);
	munmap(bo.cpu, bo.size);
	close(fd);
}

static void refused(void **state)
{
	int fd = panfrost_open();
	struct drm_panfrost_mmap_bo map = { 0 };
	struct bo bo;

	(void)state;
	assert_int_equal(panfrost_create(fd, 0, 0, &bo), EINVAL);
	assert_int_equal(panfrost_create(fd, PAGE, 4, &bo), EINVAL);
	/* A heap is never executable, and the CPU cannot map it. */
	assert_int_equal(panfrost_create(fd, PAGE, PANFROST_BO_HEAP, &bo), EINVAL);
	assert_int_equal(panfrost_create(fd, HEAP_UNIT, PANFROST_BO_HEAP | PANFROST_BO_NOEXEC, &bo), 0);
	map.handle = bo.handle;
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_PANFROST_MMAP_BO, &map), EINVAL);
	guest_destroy(&bo);
	map.handle = 77;
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_PANFROST_MMAP_BO, &map), ENOENT);
	assert_int_equal(panfrost_submit(fd, 0, 0, NULL, 0, 0), EINVAL);
	assert_int_equal(panfrost_submit(fd, 0x4000000, 2, NULL, 0, 0), EINVAL);
	assert_int_equal(panfrost_submit(fd, 0x4000000, 0, &map.handle, 1, 0), ENOENT);
	close(fd);
}

/* BOs of many sizes lie apart, and an executable one does not cross 16 MiB. */
static void addresses(void **state)
{
	enum { BOS = 64 };
	int fd = panfrost_open();
	struct bo bo[BOS];

	(void)state;
	for (uint32_t i = 0; i < BOS; i++) {
		uint32_t flags = i & 1 ? PANFROST_BO_NOEXEC : 0;

		assert_int_equal(panfrost_create(fd, (1 + i * 7 % 48) * PAGE, flags, &bo[i]), 0);
		if (!flags)
			assert_int_equal(bo[i].va >> 24, (bo[i].va + bo[i].size - 1) >> 24);
		for (uint32_t j = 0; j < i; j++)
			assert_true(bo[i].va + bo[i].size <= bo[j].va ||
				    bo[j].va + bo[j].size <= bo[i].va);
	}
	for (uint32_t i = 0; i < BOS; i++)
		guest_destroy(&bo[i]);
	close(fd);
}

/* ---- Madvise and purge -------------------------------------------------- */

static uint32_t madvise_bo(const struct bo *bo, uint32_t madv)
{
	struct drm_panfrost_madvise arg = { .handle = bo->handle, .madv = madv };

	assert_int_equal(guest_ioctl(bo->fd, DRM_IOCTL_PANFROST_MADVISE, &arg), 0);
	return arg.retained;
}

/* Ask all shrinkers for all they have. */
static void shrink(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "2", 1), 1);
	close(fd);
}

static sigjmp_buf after_bus_error;

static void bus_error(int number)
{
	(void)number;
	siglongjmp(after_bus_error, 1);
}

static bool readable(const volatile uint64_t *word)
{
	struct sigaction action = { .sa_handler = bus_error }, before;
	bool works = false;

	sigaction(SIGBUS, &action, &before);
	if (!sigsetjmp(after_bus_error, 1)) {
		(void)*word;
		works = true;
	}
	sigaction(SIGBUS, &before, NULL);
	return works;
}

/* A BO that nobody needs is kept while memory suffices, and then is taken. */
static void purge(void **state)
{
	int fd = panfrost_open();
	struct bo wanted = panfrost_bo(fd, 16 * PAGE, 0), unwanted = panfrost_bo(fd, 16 * PAGE, 0);
	struct bo regretted = panfrost_bo(fd, 16 * PAGE, 0);

	(void)state;
	*(uint64_t *)wanted.cpu = 1;
	*(uint64_t *)unwanted.cpu = 2;
	*(uint64_t *)regretted.cpu = 3;
	assert_int_equal(madvise_bo(&unwanted, PANFROST_MADV_DONTNEED), 1);
	assert_int_equal(madvise_bo(&regretted, PANFROST_MADV_DONTNEED), 1);
	assert_int_equal(madvise_bo(&regretted, PANFROST_MADV_WILLNEED), 1);
	shrink();
	assert_int_equal(panfrost_word(&wanted, 0), 1);
	assert_int_equal(panfrost_word(&regretted, 0), 3);
	assert_false(readable(unwanted.cpu));
	assert_int_equal(madvise_bo(&unwanted, PANFROST_MADV_WILLNEED), 0);
	/* The GPU goes on with what is left. */
	panfrost_job_store(&wanted, 4);
	assert_int_equal(panfrost_run(&wanted, 0), 0);
	assert_int_equal(panfrost_word(&wanted, DATA), 4);
	guest_destroy(&wanted);
	guest_destroy(&unwanted);
	guest_destroy(&regretted);
	close(fd);
}

/* A heap that has grown is given up, and freed; its table has holes. */
static void purge_a_heap(void **state)
{
	int fd = panfrost_open();
	struct bo bo = panfrost_bo(fd, PAGE, 0), heap;
	uint32_t both[2] = { bo.handle };

	(void)state;
	assert_int_equal(panfrost_create(fd, 8 * HEAP_UNIT, PANFROST_BO_HEAP | PANFROST_BO_NOEXEC,
					 &heap), 0);
	both[1] = heap.handle;
	guest_job_write64(&bo, 0, bo.va + 128, heap.va + HEAP_UNIT, 1);
	guest_job_write64(&bo, 128, 0, heap.va + 6 * HEAP_UNIT - 8, 2);
	assert_int_equal(panfrost_submit(fd, bo.va, 0, both, 2, 0), 0);
	assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
	assert_int_equal(panfrost_status(&bo, 128), AGATE_EXC_DONE);
	madvise_bo(&heap, PANFROST_MADV_DONTNEED);
	shrink();
	guest_destroy(&heap);
	guest_destroy(&bo);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parameters),
		cmocka_unit_test(create_map_close),
		cmocka_unit_test(refused),
		cmocka_unit_test(addresses),
		cmocka_unit_test(purge),
		cmocka_unit_test(purge_a_heap),
	};

	return cmocka_run_group_tests_name("panfrost-bo", tests, NULL, NULL);
}
