/* SPDX-License-Identifier: MIT */
/*
 * Address spaces inside libagate: agate.h says what callers see of them.
 *
 * agate_space.c makes them, and changes what is bound; agate_vm_bo.c makes the BOs that only one
 * of them may bind; agate_submit.c runs jobs in them.  The kernel keeps all state: here is no
 * record of what is bound, so there is nothing to lock, and nothing that fork() or a call past
 * the library could make wrong.
 */
#ifndef AGATE_SPACE_H
#define AGATE_SPACE_H

#include "agate_device_priv.h"

/**
 * struct agate_vm - an address space of its own
 * @dev: the device it belongs to
 * @id: its name in the kernel
 * @start: the lowest address that can be bound
 * @end: one past the highest
 *
 * All are written once, before anybody else can see it.
 */
struct agate_vm {
	struct agate_device *dev;
	uint32_t id;
	uint64_t start, end;
};

/**
 * agate_submit_in - submit one chain to an address space
 * @dev: the device
 * @vm_id: name of the address space; 0: the device's own
 * @submit: the chain, with the BOs that it uses in the device's own
 *
 * Return: 0 or a negative errno.
 */
int agate_submit_in(struct agate_device *dev, uint32_t vm_id, const struct agate_submit *submit);

#endif /* AGATE_SPACE_H */
