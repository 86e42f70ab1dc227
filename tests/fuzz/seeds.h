/* SPDX-License-Identifier: MIT */
/*
 * Writing an input, number by number, in the format that input.h and hostile_guest.h read.
 */
#ifndef AGATE_FUZZ_SEEDS_H
#define AGATE_FUZZ_SEEDS_H

#include <stddef.h>
#include <stdint.h>

void put(const void *from, size_t len);
void p8(unsigned int value);
void p16(uint16_t value);
void p32(uint32_t value);
void p64(uint64_t value);
/* An address in the pages that are mapped, counted from their first byte. */
void va(uint32_t offset);
void size(uint32_t bytes);
/* Save everything that was put since the last save as one input. */
void save(const char *target, const char *name);

void chain_seeds(void);
void tables_seeds(void);
void queue_seeds(void);
void range_seeds(void);
void card_seeds(void);
void compute_seeds(void);
void tiler_seeds(void);
void ggtt_seeds(void);

#endif /* AGATE_FUZZ_SEEDS_H */
