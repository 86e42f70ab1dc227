/* SPDX-License-Identifier: MIT */
/*
 * A guest on the launcher's library (guest_ops.h).
 */
#ifndef AGATE_GRADER_GUEST_VM_H
#define AGATE_GRADER_GUEST_VM_H

#include <stdatomic.h>

#include "guest_ops.h"

struct guest_vm_config {
	const char *kernel_dir;
	bool debug;			/* @kernel_dir has the debug kernel */
	const char *initramfs;
	const char *sim;
	const char *sim_log;
	unsigned int logs_mib;		/* limit for the logs of all guests together */
	atomic_uint *started;		/* counts guests: their numbers, and those of their logs */
	uint64_t seed;
	unsigned int timeout_ms;	/* of one guest, by its clock */
	int interrupt_fd;		/* or -1 */
	void (*progress)(void *arg, const char *what);
	void *arg;
};

/*
 * Sets up one guest at a time, for the thread that uses it.  The strings of @config have
 * to stay valid.  Returns false when memory ran out.
 */
bool guest_vm_init(struct guest *guest, const struct guest_vm_config *config);
void guest_vm_fini(struct guest *guest);

#endif /* AGATE_GRADER_GUEST_VM_H */
