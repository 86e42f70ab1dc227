// SPDX-License-Identifier: MIT
/* Helpers of the tests that use upstream's Panfrost; see panfrost.h. */
#include "panfrost.h"

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#define FIRST_RENDER_MINOR	128
#define LAST_RENDER_MINOR	143

/* guest_map() and guest_wait() serve both drivers. */
_Static_assert(DRM_IOCTL_AGATE_MMAP_BO == DRM_IOCTL_PANFROST_MMAP_BO, "MMAP_BO differs");
_Static_assert(DRM_IOCTL_AGATE_WAIT_BO == DRM_IOCTL_PANFROST_WAIT_BO, "WAIT_BO differs");

static bool is_panfrost(int fd)
{
	char name[16] = "";
	struct drm_version version = { .name = name, .name_len = sizeof(name) - 1 };

	return !guest_ioctl(fd, DRM_IOCTL_VERSION, &version) && !strcmp(name, "panfrost");
}

int panfrost_open(void)
{
	for (int minor = FIRST_RENDER_MINOR; minor <= LAST_RENDER_MINOR; minor++) {
		char path[32];
		int fd;

		snprintf(path, sizeof(path), "/dev/dri/renderD%d", minor);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (is_panfrost(fd))
			return fd;
		close(fd);
	}
	guest_broken("a render node of upstream's Panfrost", "none");
}

int panfrost_create(int fd, uint32_t size, uint32_t flags, struct bo *bo)
{
	struct drm_panfrost_create_bo arg = { .size = size, .flags = flags };
	int err = guest_ioctl(fd, DRM_IOCTL_PANFROST_CREATE_BO, &arg);

	*bo = (struct bo){ .fd = fd };
	if (err)
		return err;
	bo->handle = arg.handle;
	bo->size = (size + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	bo->va = arg.offset;
	return 0;
}

struct bo panfrost_bo(int fd, uint32_t size, uint32_t flags)
{
	struct bo bo;

	assert_int_equal(panfrost_create(fd, size, flags, &bo), 0);
	guest_map(&bo);
	return bo;
}

uint64_t panfrost_param(int fd, enum drm_panfrost_param param)
{
	struct drm_panfrost_get_param arg = { .param = param };

	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_PANFROST_GET_PARAM, &arg), 0);
	return arg.value;
}

int panfrost_submit(int fd, uint64_t jc, uint32_t requirements, const uint32_t *handles,
		    uint32_t n, uint32_t out_sync)
{
	struct drm_panfrost_submit arg = {
		.jc = jc,
		.requirements = requirements,
		.bo_handles = (uintptr_t)handles,
		.bo_handle_count = n,
		.out_sync = out_sync,
	};

	return guest_ioctl(fd, DRM_IOCTL_PANFROST_SUBMIT, &arg);
}

int panfrost_start(const struct bo *bo, uint32_t requirements)
{
	return panfrost_submit(bo->fd, bo->va, requirements, &bo->handle, 1, 0);
}

int panfrost_run(const struct bo *bo, uint32_t requirements)
{
	int err = panfrost_start(bo, requirements);

	return err ? err : guest_wait(bo->fd, bo->handle, FOREVER);
}

int panfrost_start_fence(const struct bo *bo, uint32_t requirements)
{
	uint32_t sync = guest_syncobj(bo->fd);
	struct drm_syncobj_destroy destroy = { .handle = sync };
	int sync_file;

	assert_int_equal(panfrost_submit(bo->fd, bo->va, requirements, &bo->handle, 1, sync), 0);
	sync_file = guest_sync_file(bo->fd, sync);
	assert_int_equal(guest_ioctl(bo->fd, DRM_IOCTL_SYNCOBJ_DESTROY, &destroy), 0);
	return sync_file;
}

void panfrost_job_store(struct bo *bo, uint64_t value)
{
	guest_job_write64(bo, 0, 0, bo->va + DATA, value);
}

void panfrost_job_endless(struct bo *bo)
{
	guest_job_write64(bo, 0, bo->va, bo->va + DATA, 1);
}

void panfrost_job_faulty(struct bo *bo)
{
	guest_job_write64(bo, 0, 0, UNMAPPED, 1);
}

uint64_t panfrost_word(const struct bo *bo, uint32_t offset)
{
	return *(volatile uint64_t *)((char *)bo->cpu + offset);
}

uint32_t panfrost_status(const struct bo *bo, uint32_t job)
{
	return *(volatile uint32_t *)((char *)bo->cpu + job);
}

int panfrost_wait(const struct bo *bo, int64_t deadline)
{
	struct drm_panfrost_wait_bo arg = { .handle = bo->handle, .timeout_ns = deadline };
	int err = guest_ioctl(bo->fd, DRM_IOCTL_PANFROST_WAIT_BO, &arg);

	if (err == ETIMEDOUT && guest_deadline(0) < deadline)
		panfrost_bug("panfrost_drv.c:320", "panfrost_ioctl_wait_bo() waits for a number of "
			     "ticks, and has ended before its deadline");
	return err;
}

void panfrost_bug(const char *where, const char *what)
{
	printf("# upstream bug, %s: %s\n", where, what);
	fflush(stdout);
}
