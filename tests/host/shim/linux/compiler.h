/* SPDX-License-Identifier: MIT */
/* Accesses that the compiler may neither split nor repeat. */
#ifndef AGATE_SHIM_COMPILER_H
#define AGATE_SHIM_COMPILER_H

#define READ_ONCE(x)		(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value)	(*(volatile __typeof__(x) *)&(x) = (value))

#endif /* AGATE_SHIM_COMPILER_H */
