/* SPDX-License-Identifier: MIT */
/*
 * The driver's own memory on the only card, as the test module shows it.
 */
#ifndef AGATE_TESTS_KERNEL_MEMORY_H
#define AGATE_TESTS_KERNEL_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

/* A line for each piece that is the same after a sleep: where it is, and the CRC of its contents. */
#define KERNEL_MEMORY_SIZE	65536

/*
 * Those pieces that begin at this address of VRAM or behind it; fails the test if there are none.
 * inject_load() comes first.
 */
void kernel_memory(uint64_t from, char text[KERNEL_MEMORY_SIZE]);

/* The page tables among them, on a card as run.sh makes it: they have the end of visible VRAM. */
#define TABLES_START		(14ull << 20)
void kernel_tables(char text[KERNEL_MEMORY_SIZE]);
/* Is each table that there was still what it was?  There may be more. */
bool kernel_tables_stay(const char before[KERNEL_MEMORY_SIZE]);

#endif /* AGATE_TESTS_KERNEL_MEMORY_H */
