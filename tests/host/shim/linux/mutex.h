/* SPDX-License-Identifier: MIT */
/* A lock for tests with one thread: it says who forgot it, or took it twice. */
#ifndef AGATE_SHIM_MUTEX_H
#define AGATE_SHIM_MUTEX_H

#include <assert.h>
#include <stdbool.h>

struct mutex {
	bool locked;
};

static inline void mutex_init(struct mutex *lock)
{
	lock->locked = false;
}

static inline void mutex_lock(struct mutex *lock)
{
	assert(!lock->locked);
	lock->locked = true;
}

static inline void mutex_unlock(struct mutex *lock)
{
	assert(lock->locked);
	lock->locked = false;
}

#endif /* AGATE_SHIM_MUTEX_H */
