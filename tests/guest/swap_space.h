/* SPDX-License-Identifier: MIT */
/*
 * Swap: without it no page of a process ever goes away by itself.
 */
#ifndef AGATE_TESTS_SWAP_SPACE_H
#define AGATE_TESTS_SWAP_SPACE_H

#include <stddef.h>

/* Compressed memory as swap, whose modules a suite delivers beside the programs; and its end. */
void swap_on(void);
void swap_off(void);

/*
 * Have the kernel take all pages of this memory, which nobody uses meanwhile; fails the test if one
 * stays.
 */
void swap_out(void *at, size_t size);

#endif /* AGATE_TESTS_SWAP_SPACE_H */
