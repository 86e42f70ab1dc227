/* SPDX-License-Identifier: MIT */
/* Locks that a function expects. */
#ifndef AGATE_SHIM_LOCKDEP_H
#define AGATE_SHIM_LOCKDEP_H

#include <assert.h>

#define lockdep_assert_held(lock)	assert((lock)->locked)

#endif /* AGATE_SHIM_LOCKDEP_H */
