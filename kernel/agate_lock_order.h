/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The order of the driver's locks, which agate_device.h describes, for lockdep.
 *
 * Lockdep learns the order of two locks when it first sees a thread hold both.  So
 * agate_lock_order_prime() takes one lock of each kind when the module is loaded, and the
 * first thread that takes two of them the other way round is reported.  That works for
 * locks of the same class as those that it took, which agate_lock_class() names.  Locks
 * that a lab's file initialises may have a class of their own, and do: gem.lock,
 * bo->mappings_lock, label_lock and irq.lock.
 */
#ifndef AGATE_LOCK_ORDER_H
#define AGATE_LOCK_ORDER_H

#include <linux/lockdep.h>

/* The mutexes first, each part from the outermost to the innermost. */
enum agate_lock {
	AGATE_LOCK_UNPLUG,
	AGATE_LOCK_RESET,	/* outside of AGATE_LOCK_PM; those between are not taken under it */
	AGATE_LOCK_VM,		/* a rwsem */
	AGATE_LOCK_COLLECT,
	AGATE_LOCK_PRIME,
	AGATE_LOCK_ENTITIES,
	AGATE_LOCK_BACKING,
	AGATE_LOCK_PURGE,
	AGATE_LOCK_KMEM,	/* the card's */
	AGATE_LOCK_MAN,		/* likewise, side by side, as the next two */
	AGATE_LOCK_GGTT,
	AGATE_LOCK_BOUND,
	AGATE_LOCK_USERPTR,	/* a rwsem, which notifiers take in reclaim */
	AGATE_LOCK_PM,
	AGATE_LOCK_PT,
	AGATE_LOCK_HAND_OVER,
	AGATE_LOCK_PUSH,
	AGATE_LOCK_TOUCH,	/* a spinlock, as all below */
	AGATE_LOCK_LONG,
	AGATE_LOCK_SLOTS,
	AGATE_LOCK_MMU,
	AGATE_LOCK_MOVER,
	AGATE_LOCK_BUS,
	AGATE_LOCK_LRU,		/* the card's, side by side, as the next two */
	AGATE_LOCK_POOL,
	AGATE_LOCK_SCAN,
	AGATE_LOCK_COUNT
};

extern struct lock_class_key agate_lock_keys[AGATE_LOCK_COUNT];
extern const char * const agate_lock_names[AGATE_LOCK_COUNT];

/**
 * agate_lock_class - tell lockdep which of the driver's locks this is
 * @lock: a mutex, a rwsem or a spinlock, initialised, and not in use yet
 * @which: enum agate_lock
 */
#define agate_lock_class(lock, which) ({						\
	const enum agate_lock which_lock = (which);				\
	lockdep_set_class_and_name(lock, &agate_lock_keys[which_lock],		\
				   agate_lock_names[which_lock]);		\
})

/**
 * agate_lock_order_prime - teach lockdep the order
 *
 * Also tells it what any driver's shrinker may do: wait for a fence in reclaim.  Then it
 * reports an allocation that may reclaim on a fence's way to its signal at its first run,
 * and not on the day when memory is short.
 *
 * Does nothing in a kernel without lockdep.
 */
void agate_lock_order_prime(void);

#endif /* AGATE_LOCK_ORDER_H */
