/* SPDX-License-Identifier: MIT */
/*
 * A client that binds memory of its own process.
 */
#ifndef AGATE_TESTS_USER_MEMORY_H
#define AGATE_TESTS_USER_MEMORY_H

#include <sys/mman.h>

#include "vm_client.h"

/* Fresh anonymous memory. */
static inline void *memory(size_t size)
{
	void *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	assert_ptr_not_equal(at, MAP_FAILED);
	return at;
}

static inline struct drm_agate_vm_bind user_part(const void *at, uint64_t addr, uint64_t range,
						 uint32_t flags)
{
	return (struct drm_agate_vm_bind){
		.op = AGATE_VM_BIND_MAP, .flags = flags | AGATE_VM_BIND_USERPTR, .addr = addr,
		.range = range, .offset = (uintptr_t)at,
	};
}

/* Fails the test if it does not work. */
static inline void user_map(const struct space *space, const void *at, uint64_t addr,
			    uint64_t range)
{
	assert_int_equal(space_bind(space, user_part(at, addr, range, 0), 0, 0), 0);
}

/* The errno of a SUBMIT that has to fail, made once. */
static inline int refused_submit(struct space *space)
{
	struct drm_agate_submit arg = { .jc = space->jobs.va, .vm_id = space->vm };

	guest_job(&space->jobs, 0, AGATE_JOB_COMPUTE, 0, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = SEEN_VA, .size = 8,
	}, sizeof(struct agate_compute_payload));
	return guest_ioctl_once(space->fd, DRM_IOCTL_AGATE_SUBMIT, &arg);
}

#endif /* AGATE_TESTS_USER_MEMORY_H */
