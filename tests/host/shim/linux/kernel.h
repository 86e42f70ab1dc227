/* SPDX-License-Identifier: MIT */
/* Halves of a number. */
#ifndef AGATE_SHIM_KERNEL_H
#define AGATE_SHIM_KERNEL_H

#define lower_32_bits(n)	((__u32)(n))
#define upper_32_bits(n)	((__u32)((n) >> 32))

#endif /* AGATE_SHIM_KERNEL_H */
