// SPDX-License-Identifier: MIT
/*
 * Address spaces of the program's own.  Nobody else binds there, so the BOs of a pass lie one
 * behind the other, from the same address on in each pass and each address space.
 */
#include "gem_space.h"

#include <errno.h>

/* Larger than the pages of any card: what begins at a multiple has large entries in the table. */
#define ALIGN		(2ull << 20)

static uint64_t align(uint64_t address)
{
	return (address + ALIGN - 1) / ALIGN * ALIGN;
}

int gem_space_open(struct gem_space *space, struct gem_memory *memory, unsigned int count)
{
	uint64_t start = 0, end;
	int err;

	*space = (struct gem_space){ .memory = memory };
	/* These have their place already. */
	if (count && (memory->bos == GEM_BOS_CONTIGUOUS || memory->bos == GEM_BOS_IMPORTED))
		return -EINVAL;
	while (space->count < count) {
		err = agate_vm_create(memory->dev, 0, &space->vm[space->count]);
		if (err) {
			gem_space_close(space);
			return err;
		}
		agate_vm_range(space->vm[space->count++], &start, &end);
	}
	space->start = align(start);
	space->end = space->start;
	return 0;
}

void gem_space_close(struct gem_space *space)
{
	while (space->count)
		agate_vm_destroy(space->vm[--space->count]);
	space->end = space->start;
}

bool gem_space_is_vm(const struct gem_space *space)
{
	return space->count;
}

int gem_space_create_bo(struct gem_space *space, uint64_t size, uint32_t flags, const char *label,
			struct agate_bo **bo, uint64_t *address)
{
	struct agate_vm_bind bind = { .address = space->end };
	struct agate_vm *vm = space->vm[space->now];
	int err;

	if (!gem_space_is_vm(space)) {
		err = gem_memory_create_bo(space->memory, size, flags, label, bo);
		if (!err)
			*address = agate_bo_address(*bo);
		return err;
	}
	flags |= AGATE_ALLOC_DELAY_MMAP | gem_memory_flags(space->memory);
	err = agate_vm_create_bo(vm, size, flags, label, &bind.bo);
	if (err)
		return err;
	bind.size = agate_bo_size(bind.bo);
	err = agate_vm_bind(vm, &bind);
	if (err) {
		agate_bo_unreference(bind.bo);
		return err;
	}
	space->end = align(bind.address + bind.size);
	*bo = bind.bo;
	*address = bind.address;
	return 0;
}

/* If it fails the BOs only stay for longer: until others come there, or the address space goes. */
void gem_space_clear(struct gem_space *space)
{
	const struct agate_vm_bind all = {
		.address = space->start, .size = space->end - space->start,
	};

	if (all.size)
		agate_vm_unbind(space->vm[space->now], &all);
	space->end = space->start;
}

void gem_space_turn(struct gem_space *space)
{
	if (space->count)
		space->now = (space->now + 1) % space->count;
}

int gem_space_submit(struct gem_space *space, const struct agate_submit *submit)
{
	struct agate_submit unlisted = *submit;

	if (!gem_space_is_vm(space))
		return agate_submit(space->memory->dev, submit);
	/* The GPU may use all that is bound. */
	unlisted.bos = NULL;
	unlisted.bo_count = 0;
	return agate_vm_submit(space->vm[space->now], &unlisted);
}
