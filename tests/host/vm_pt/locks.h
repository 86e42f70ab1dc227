/* SPDX-License-Identifier: MIT */
/* The locks of a table's address space, all held to begin with. */
#ifndef AGATE_TEST_VM_PT_LOCKS_H
#define AGATE_TEST_VM_PT_LOCKS_H

#include <linux/dma-resv.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>

#include "agate_vm_pt.h"

struct locks {
	struct rw_semaphore vm;
	struct dma_resv resv;
	struct mutex pt;
	struct agate_pt_locks named;
};

static inline void locks_hold(struct locks *locks, struct agate_pgtable *pgt)
{
	*locks = (struct locks) {
		.vm = { true }, .resv = { true }, .pt = { true },
		.named = { .vm = &locks->vm, .resv = &locks->resv, .pt = &locks->pt },
	};
	pgt->locks = &locks->named;
}

#endif /* AGATE_TEST_VM_PT_LOCKS_H */
