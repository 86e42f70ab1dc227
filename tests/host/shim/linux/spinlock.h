/* SPDX-License-Identifier: MIT */
/* A lock for tests with one thread, which cannot wait for it. */
#ifndef AGATE_SHIM_SPINLOCK_H
#define AGATE_SHIM_SPINLOCK_H

#include <assert.h>
#include <stdbool.h>

typedef struct {
	bool locked;
} spinlock_t;

static inline void spin_lock_init(spinlock_t *lock)
{
	lock->locked = false;
}

static inline bool spin_trylock(spinlock_t *lock)
{
	bool taken = !lock->locked;

	lock->locked = true;
	return taken;
}

static inline void spin_lock(spinlock_t *lock)
{
	bool taken = spin_trylock(lock);

	assert(taken);
	(void)taken;
}

static inline void spin_unlock(spinlock_t *lock)
{
	assert(lock->locked);
	lock->locked = false;
}

#endif /* AGATE_SHIM_SPINLOCK_H */
