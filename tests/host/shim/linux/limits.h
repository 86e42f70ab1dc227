/* SPDX-License-Identifier: MIT */
/* The largest values of the kernel's types. */
#ifndef AGATE_SHIM_LIMITS_H
#define AGATE_SHIM_LIMITS_H

#include_next <linux/limits.h>

#define U64_MAX	(~0ull)

#endif /* AGATE_SHIM_LIMITS_H */
