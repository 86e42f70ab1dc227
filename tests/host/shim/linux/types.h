/* SPDX-License-Identifier: MIT */
/*
 * The shim lets kernel files that need no kernel service compile on the host:
 * each header here offers only the part of its namesake that they use.
 */
#ifndef AGATE_SHIM_TYPES_H
#define AGATE_SHIM_TYPES_H

#include_next <linux/types.h>
#include <stdbool.h>
#include <stddef.h>

typedef __u8 u8;
typedef __u16 u16;
typedef __u32 u32;
typedef unsigned long long u64;
typedef long long s64;

#ifndef __iomem
#define __iomem
#endif

#endif /* AGATE_SHIM_TYPES_H */
