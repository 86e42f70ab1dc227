// SPDX-License-Identifier: MIT
#include "vm_client.h"

#include <unistd.h>

int space_bind(const struct space *space, struct drm_agate_vm_bind arg, uint32_t in, uint32_t out)
{
	struct drm_agate_sync in_sync = { .handle = in }, out_sync = { .handle = out };

	arg.vm_id = space->vm;
	arg.in_syncs = (uintptr_t)&in_sync;
	arg.in_sync_count = in != 0;
	arg.out_syncs = (uintptr_t)&out_sync;
	arg.out_sync_count = out != 0;
	return guest_ioctl(space->fd, DRM_IOCTL_AGATE_VM_BIND, &arg);
}

struct drm_agate_vm_bind space_part(const struct bo *bo, uint64_t addr, uint64_t range,
				    uint64_t offset, uint32_t flags)
{
	return (struct drm_agate_vm_bind){
		.op = AGATE_VM_BIND_MAP, .handle = bo->handle, .addr = addr, .range = range,
		.offset = offset, .flags = flags,
	};
}

void space_map_part(const struct space *space, const struct bo *bo, uint64_t addr, uint64_t range,
		    uint64_t offset)
{
	assert_int_equal(space_bind(space, space_part(bo, addr, range, offset, 0), 0, 0), 0);
}

void space_map(const struct space *space, const struct bo *bo, uint64_t addr)
{
	space_map_part(space, bo, addr, bo->size, 0);
}

struct drm_agate_vm_bind space_gap(uint64_t addr, uint64_t range)
{
	return (struct drm_agate_vm_bind){
		.op = AGATE_VM_BIND_UNMAP, .addr = addr, .range = range,
	};
}

void space_unmap(const struct space *space, uint64_t addr, uint64_t range)
{
	assert_int_equal(space_bind(space, space_gap(addr, range), 0, 0), 0);
}

int space_create(int fd, uint32_t vm, uint64_t size, uint32_t flags, uint32_t placement,
		 struct bo *bo)
{
	struct drm_agate_create_bo arg = {
		.size = size, .flags = flags, .placement = placement, .vm_id = vm,
		.caching = placement & VRAM ? AGATE_CACHING_WC : AGATE_CACHING_WB,
	};

	return guest_create_with(fd, &arg, bo);
}

struct bo space_bo(const struct space *space, uint64_t size, uint32_t placement)
{
	struct bo bo;

	assert_int_equal(space_create(space->fd, space->vm, size, 0, placement, &bo), 0);
	assert_int_equal(bo.va, 0);
	return bo;
}

static struct bo space_mapped(const struct space *space, uint64_t size, uint64_t va)
{
	struct bo bo = space_bo(space, size, SYSTEM);

	guest_map(&bo);
	space_map(space, &bo, va);
	bo.va = va;
	return bo;
}

struct space space_with(int fd, uint32_t flags)
{
	struct drm_agate_vm_create arg = { .flags = flags };
	struct space space = { .fd = fd };

	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_VM_CREATE, &arg), 0);
	assert_int_not_equal(arg.vm_id, 0);
	assert_true(arg.va_start <= JOBS_VA && arg.va_end > AREA);
	space.vm = arg.vm_id;
	space.jobs = space_mapped(&space, BLOCK, JOBS_VA);
	space.seen = space_mapped(&space, BLOCK, SEEN_VA);
	return space;
}

struct space space_on(int fd)
{
	return space_with(fd, 0);
}

int space_destroy(const struct space *space)
{
	struct drm_agate_vm_destroy arg = { .vm_id = space->vm };

	return guest_ioctl(space->fd, DRM_IOCTL_AGATE_VM_DESTROY, &arg);
}

void space_let_go(struct space *space)
{
	guest_destroy(&space->jobs);
	guest_destroy(&space->seen);
}

void space_end(struct space *space)
{
	space_let_go(space);
	assert_int_equal(space_destroy(space), 0);
	assert_int_equal(space_destroy(space), ENOENT);
}

void space_close(struct space *space)
{
	space_end(space);
	close(space->fd);
}

void space_close_last(struct space *space)
{
	space_close(space);
	guest_assert_nothing_left();
}

uint32_t space_submit(struct space *space, const struct agate_compute_payload *payload,
		      uint32_t in, int *err)
{
	struct drm_agate_sync in_sync = { .handle = in };
	struct drm_agate_sync out_sync = { .handle = guest_syncobj(space->fd) };
	struct drm_agate_submit arg = {
		.jc = space->jobs.va, .vm_id = space->vm,
		.in_syncs = (uintptr_t)&in_sync, .in_sync_count = in != 0,
		.out_syncs = (uintptr_t)&out_sync, .out_sync_count = 1,
	};

	guest_job(&space->jobs, 0, AGATE_JOB_COMPUTE, 0, payload, sizeof(*payload));
	*err = guest_ioctl(space->fd, DRM_IOCTL_AGATE_SUBMIT, &arg);
	return out_sync.handle;
}

int space_run(struct space *space, const struct agate_compute_payload *payload)
{
	int err;
	uint32_t sync = space_submit(space, payload, 0, &err);

	assert_int_equal(err, 0);
	return guest_fence_end(guest_sync_file(space->fd, sync));
}

int space_fill(struct space *space, uint64_t addr, uint64_t size, uint64_t value)
{
	return space_run(space, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = addr, .size = size, .value = value,
	});
}

int space_look(struct space *space, uint64_t addr, uint64_t *value)
{
	int ret = space_run(space, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_COPY, .dst = SEEN_VA, .src = addr, .size = 8,
	});

	*value = *(volatile uint64_t *)space->seen.cpu;
	return ret;
}

void space_holds(struct space *space, uint64_t addr, uint64_t want)
{
	uint64_t value;

	assert_int_equal(space_look(space, addr, &value), 1);
	assert_int_equal(value, want);
}

void space_is_hole(struct space *space, uint64_t addr)
{
	uint64_t value;

	assert_int_equal(space_look(space, addr, &value), -EINVAL);
}

bool space_signalled(int fd, uint32_t sync)
{
	struct drm_syncobj_wait arg = {
		.handles = (uintptr_t)&sync, .count_handles = 1, .timeout_nsec = 0,
	};

	return !guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_WAIT, &arg);
}
