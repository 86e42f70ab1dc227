/* SPDX-License-Identifier: MIT */
/* A lock for readers and writers, for tests with one thread. */
#ifndef AGATE_SHIM_RWSEM_H
#define AGATE_SHIM_RWSEM_H

#include <stdbool.h>

struct rw_semaphore {
	bool locked;
};

#endif /* AGATE_SHIM_RWSEM_H */
