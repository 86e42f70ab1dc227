/* SPDX-License-Identifier: MIT */
/* Single bits. */
#ifndef AGATE_SHIM_BITS_H
#define AGATE_SHIM_BITS_H

#define BIT(n)		(1ul << (n))
#define BIT_ULL(n)	(1ull << (n))

#endif /* AGATE_SHIM_BITS_H */
