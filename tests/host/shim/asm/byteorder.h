/* SPDX-License-Identifier: MIT */
/* Little-endian values, on a host of either order. */
#ifndef AGATE_SHIM_BYTEORDER_H
#define AGATE_SHIM_BYTEORDER_H

#include <endian.h>

#define cpu_to_le64(x)	htole64(x)
#define le64_to_cpu(x)	le64toh(x)

#endif /* AGATE_SHIM_BYTEORDER_H */
