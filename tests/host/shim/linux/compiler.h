/* SPDX-License-Identifier: MIT */
/* Accesses that the compiler may neither split nor repeat. */
#ifndef AGATE_SHIM_COMPILER_H
#define AGATE_SHIM_COMPILER_H

#define READ_ONCE(x)		(*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, value)	(*(volatile __typeof__(x) *)&(x) = (value))

#define __maybe_unused		__attribute__((unused))
/* The host's <linux/stddef.h> has a weaker one. */
#undef __always_inline
#define __always_inline		inline __attribute__((always_inline))

#endif /* AGATE_SHIM_COMPILER_H */
