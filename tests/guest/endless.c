// SPDX-License-Identifier: MIT
#include <sched.h>

#include "endless.h"

struct space endless_on(int fd)
{
	return space_with(fd, AGATE_VM_LONG_RUNNING);
}

struct space endless_faulting_on(int fd)
{
	return space_with(fd, AGATE_VM_LONG_RUNNING | AGATE_VM_FAULT_MODE);
}

uint64_t endless_copied(const struct space *space)
{
	return *(volatile uint64_t *)space->seen.cpu;
}

uint64_t endless_stamp(const struct space *space)
{
	return ((volatile uint64_t *)space->seen.cpu)[8];
}

void endless_write(struct space *space, uint64_t from, uint64_t next)
{
	const uint64_t va = space->jobs.va;

	guest_job(&space->jobs, ENDLESS_COPY, AGATE_JOB_COMPUTE, va + ENDLESS_STAMP,
		  &(struct agate_compute_payload){
			.op = AGATE_COMPUTE_COPY, .dst = SEEN_VA, .src = from, .size = 8,
		  }, sizeof(struct agate_compute_payload));
	guest_job(&space->jobs, ENDLESS_STAMP, AGATE_JOB_WRITE_VALUE, va + ENDLESS_FLUSH,
		  &(struct agate_write_value_payload){
			.address = SEEN_VA + 64, .type = AGATE_WRITE_SYSTEM_TIMESTAMP,
		  }, sizeof(struct agate_write_value_payload));
	guest_job(&space->jobs, ENDLESS_FLUSH, AGATE_JOB_CACHE_FLUSH, next,
		  &(struct agate_cache_flush_payload){ .l2 = AGATE_FLUSH_L2_CLEAN },
		  sizeof(struct agate_cache_flush_payload));
}

int endless_submit_behind(struct space *space, uint64_t jc, uint32_t in)
{
	struct drm_agate_sync sync = { .handle = in };
	struct drm_agate_submit arg = {
		.jc = jc, .vm_id = space->vm,
		.in_syncs = (uintptr_t)&sync, .in_sync_count = in != 0,
	};

	return guest_ioctl(space->fd, DRM_IOCTL_AGATE_SUBMIT, &arg);
}

int endless_submit(struct space *space, uint64_t jc)
{
	return endless_submit_behind(space, jc, 0);
}

void endless_start(struct space *space, uint64_t from)
{
	endless_write(space, from, space->jobs.va + ENDLESS_COPY);
	assert_int_equal(endless_submit(space, space->jobs.va + ENDLESS_COPY), 0);
}

void endless_break(struct space *space)
{
	volatile struct agate_job_header *last =
		(void *)((char *)space->jobs.cpu + ENDLESS_FLUSH);

	last->next = 0;
}

/* It comes by twice more: the first time it may have begun before. */
void endless_goes_on(const struct space *space)
{
	const int64_t deadline = guest_deadline(20000);

	for (unsigned int times = 0; times < 2; times++) {
		const uint64_t before = endless_stamp(space);

		while (endless_stamp(space) == before) {
			if (guest_deadline(0) > deadline)
				fail_msg("the chain does not go on");
			sched_yield();
		}
	}
}

/* It copies this value, from now on. */
void endless_copies(const struct space *space, uint64_t value)
{
	endless_goes_on(space);
	assert_int_equal(endless_copied(space), value);
}

void endless_wait_banned(struct space *space)
{
	const int64_t deadline = guest_deadline(20000);

	while (endless_submit(space, space->jobs.va + ENDLESS_COPY) != ECANCELED) {
		if (guest_deadline(0) > deadline)
			fail_msg("the address space is not banned");
		sched_yield();
	}
	assert_int_equal(space_bind(space, space_gap(AREA, PAGE), 0, 0), ECANCELED);
}

void endless_map(struct space *space, const struct bo *bo, uint64_t addr)
{
	uint32_t out = guest_syncobj(space->fd);
	struct drm_syncobj_wait wait = {
		.handles = (uintptr_t)&out, .count_handles = 1, .timeout_nsec = INT64_MAX,
	};

	assert_int_equal(space_bind(space, space_part(bo, addr, bo->size, 0, 0), 0, out), 0);
	assert_int_equal(guest_ioctl(space->fd, DRM_IOCTL_SYNCOBJ_WAIT, &wait), 0);
}

/* Another address space, which can wait, writes it. */
struct bo endless_memory(struct space *space, uint64_t size, uint64_t value)
{
	struct space writer = space_on(space->fd);
	struct bo bo;

	assert_int_equal(space_create(space->fd, 0, size, AGATE_BO_NO_VA, VRAM, &bo), 0);
	space_map(&writer, &bo, AREA);
	assert_int_equal(space_fill(&writer, AREA, size, value), 1);
	space_end(&writer);
	endless_map(space, &bo, AREA);
	return bo;
}
