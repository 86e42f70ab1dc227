/* SPDX-License-Identifier: MIT */
/*
 * A client that chooses the ranges of its address spaces, on a card as run.sh makes it.
 */
#ifndef AGATE_TESTS_VM_CLIENT_H
#define AGATE_TESTS_VM_CLIENT_H

#include "guest.h"

#define MIB		(1ull << 20)
#define BLOCK		(64 * 1024ull)	/* every card's memory can be divided so */
#define VRAM_SIZE	(64 * MIB)
#define SYSTEM		(1u << DRM_AGATE_REGION_SYSTEM)
#define VRAM		(1u << DRM_AGATE_REGION_VRAM)

#define JOBS_VA		0x10000000ull
#define SEEN_VA		0x20000000ull
#define AREA		0x40000000ull	/* for what a test binds */

/* One address space; its jobs, and what they bring back, are private BOs in system memory. */
struct space {
	int fd;
	uint32_t vm;
	struct bo jobs;
	struct bo seen;
};

struct space space_on(int fd);
/* The same, with AGATE_VM_* flags. */
struct space space_with(int fd, uint32_t flags);
/* VM_DESTROY: 0 or the errno. */
int space_destroy(const struct space *space);
/* Destroy its own two BOs: a mapping keeps the file open. */
void space_let_go(struct space *space);
/* Both. */
void space_end(struct space *space);
/* The same, and close the file; if it is the last one, nothing is left. */
void space_close(struct space *space);
void space_close_last(struct space *space);

/* CREATE_BO, private with a @vm, made once: 0 or the errno. */
int space_create(int fd, uint32_t vm, uint64_t size, uint32_t flags, uint32_t placement,
		 struct bo *bo);
/* A private one; fails the test when that does not work. */
struct bo space_bo(const struct space *space, uint64_t size, uint32_t placement);

/* The arguments of VM_BIND: bind a part of a BO, or remove what is bound. */
struct drm_agate_vm_bind space_part(const struct bo *bo, uint64_t addr, uint64_t range,
				    uint64_t offset, uint32_t flags);
struct drm_agate_vm_bind space_gap(uint64_t addr, uint64_t range);
/* VM_BIND behind one sync object, with another one for its fence (0: none): 0 or the errno. */
int space_bind(const struct space *space, struct drm_agate_vm_bind arg, uint32_t in, uint32_t out);
/* These fail the test when they do not work; the first one binds the whole BO. */
void space_map(const struct space *space, const struct bo *bo, uint64_t addr);
void space_map_part(const struct space *space, const struct bo *bo, uint64_t addr, uint64_t range,
		    uint64_t offset);
void space_unmap(const struct space *space, uint64_t addr, uint64_t range);

/* Submit one job behind a sync object (0: none): its own one; the errno of SUBMIT in @err. */
uint32_t space_submit(struct space *space, const struct agate_compute_payload *payload,
		      uint32_t in, int *err);
/* Run one job to its end: 1, or its fence's error. */
int space_run(struct space *space, const struct agate_compute_payload *payload);
int space_fill(struct space *space, uint64_t addr, uint64_t size, uint64_t value);
/* What the GPU reads at an address: 1 and the value, or the fence's error. */
int space_look(struct space *space, uint64_t addr, uint64_t *value);
/* These fail the test if it reads anything else there, or anything at all. */
void space_holds(struct space *space, uint64_t addr, uint64_t want);
void space_is_hole(struct space *space, uint64_t addr);

/* Has the fence of a sync object signalled? */
bool space_signalled(int fd, uint32_t sync);

#endif /* AGATE_TESTS_VM_CLIENT_H */
