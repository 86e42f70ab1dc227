/* SPDX-License-Identifier: MIT */
/* Powers of two. */
#ifndef AGATE_SHIM_LOG2_H
#define AGATE_SHIM_LOG2_H

#include <stdbool.h>

static inline bool is_power_of_2(unsigned long long n)
{
	return n && !(n & (n - 1));
}

static inline int ilog2(unsigned long long n)
{
	return 63 - __builtin_clzll(n);
}

#endif /* AGATE_SHIM_LOG2_H */
