/* SPDX-License-Identifier: MIT */
/*
 * Counters for files of the driver that run in one thread here.  Not linux/atomic.h, which other
 * host tests have empty because they need no counters.
 */
#ifndef FAKE_ATOMIC_H
#define FAKE_ATOMIC_H

#include <linux/types.h>

typedef struct { int counter; } atomic_t;
typedef struct { s64 counter; } atomic64_t;

static inline void atomic64_add(s64 n, atomic64_t *v)
{
	v->counter += n;
}

static inline void atomic64_inc(atomic64_t *v)
{
	v->counter++;
}

static inline void atomic64_dec(atomic64_t *v)
{
	v->counter--;
}

#endif
