/* SPDX-License-Identifier: MIT */
/*
 * Where the GPU finds the BOs of a pass: in the device's own address space, or in one of the
 * program's own, of which there may be several that take turns.
 */
#ifndef GEM_SPACE_H
#define GEM_SPACE_H

#include "agate.h"
#include "gem_memory.h"

#define GEM_SPACES_MAX	8u

struct gem_space {
	struct gem_memory *memory;
	struct agate_vm *vm[GEM_SPACES_MAX];
	unsigned int count;	/* of these; 0: the device's own */
	unsigned int now;	/* the one that is drawn in */
	uint64_t start, end;	/* what is bound there */
};

/*
 * Make @count address spaces.  0 or a negative errno, and then there is nothing to close; -EINVAL:
 * they cannot have this kind of BOs.
 */
int gem_space_open(struct gem_space *space, struct gem_memory *memory, unsigned int count);
/* One that was never opened may be closed, too. */
void gem_space_close(struct gem_space *space);

/* Is it not the device's own? */
bool gem_space_is_vm(const struct gem_space *space);

/* As gem_memory_create_bo(); says where the GPU finds it. */
int gem_space_create_bo(struct gem_space *space, uint64_t size, uint32_t flags, const char *label,
			struct agate_bo **bo, uint64_t *address);

/* Nothing is bound any more. */
void gem_space_clear(struct gem_space *space);

/* The next one is drawn in.  Nothing is bound. */
void gem_space_turn(struct gem_space *space);

/* As agate_submit(). */
int gem_space_submit(struct gem_space *space, const struct agate_submit *submit);

#endif /* GEM_SPACE_H */
