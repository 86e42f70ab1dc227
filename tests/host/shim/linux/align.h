/* SPDX-License-Identifier: MIT */
/* Alignment to powers of two. */
#ifndef AGATE_SHIM_ALIGN_H
#define AGATE_SHIM_ALIGN_H

#define IS_ALIGNED(x, a)	(((x) & ((__typeof__(x))(a) - 1)) == 0)
#define ALIGN_DOWN(x, a)	((x) & ~((__typeof__(x))(a) - 1))
#define ALIGN(x, a)		ALIGN_DOWN((x) + (__typeof__(x))(a) - 1, a)

#endif /* AGATE_SHIM_ALIGN_H */
