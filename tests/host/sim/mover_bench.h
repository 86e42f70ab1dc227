/* SPDX-License-Identifier: MIT */
/*
 * A card on a test bench, with firmware, a ring and a context in RAM.
 *
 * The GGTT shows 2 MiB of RAM as it is: GGTT address 0x800000 + n is RAM 0x40200000 + n.
 */
#ifndef AGATE_TEST_MOVER_BENCH_H
#define AGATE_TEST_MOVER_BENCH_H

#include "gpu_bench.h"

#include "agate_card.h"

#define SHOWN_PA	0x40200000ull
#define SHOWN_SIZE	0x200000u
#define SHOWN		0x800000u	/* its GGTT address: RESERVED_MAX */
#define BLOB		(SHOWN + 0x00000)
#define BLOB_PAYLOAD	5000u		/* more than a page */
#define ADS		(SHOWN + 0x10000)
#define CONTEXT		(SHOWN + 0x11000)
#define SCRATCH		(SHOWN + 0x12000)
#define RING		(SHOWN + 0x20000)
#define RING_ORDER	6u
#define DATA		(SHOWN + 0x80000)	/* 1.5 MiB */
#define DATA_PA		(SHOWN_PA + 0x80000)
#define DATA_SIZE	0x180000u
#define VRAM_PA		0x8000000000ull

#define FW_RESERVED	0x200000u	/* what the firmware takes */
#define FW_VERSION	0x0107u

/* The byte of RAM that the GGTT shows at addr. */
static inline uint8_t *shown(struct bench *b, uint32_t addr)
{
	return b->ram + (SHOWN_PA - RAM_BASE) + (addr - SHOWN);
}

static inline struct agate_fw_header *blob(struct bench *b)
{
	return (struct agate_fw_header *)shown(b, BLOB);
}

static inline struct agate_ads *ads(struct bench *b)
{
	return (struct agate_ads *)shown(b, ADS);
}

static inline struct agate_mover_context *context(struct bench *b)
{
	return (struct agate_mover_context *)shown(b, CONTEXT);
}

/* An entry of the table; pa may be in VRAM. */
void put_entry(struct bench *b, uint32_t addr, uint64_t pa, unsigned int vf);

/* The GGTT, a good blob, ADS and context, and the FW registers; interrupts of the card on. */
struct bench *card_bench_new(void);
struct bench *card_bench_new_with(const struct agate_sim_config *config);
void seal_blob(struct bench *b);	/* its CRC, after a change of the payload */
void seal_context(struct bench *b, uint32_t head, uint32_t seqno);

/* START, to the end of the check; returns FW_STATUS. */
uint32_t start_firmware(struct bench *b);
/* All of that: a mover that waits for commands. */
struct bench *mover_bench_new(void);

/* Put a command into the ring at @at, free-running. */
void put_cmd(struct bench *b, uint32_t at, const struct agate_mover_cmd *cmd);
/* The same at RING_TAIL; then ring, and let the card work. */
void run_cmd(struct bench *b, const struct agate_mover_cmd *cmd);

/* The reason of the mover's fault, or 0. */
uint32_t mover_reason(struct bench *b);
/* A reset that goes on behind the faulty command: the driver makes a NOP of it. */
void skip_cmd(struct bench *b);

/* What data a test starts from: no 64 bytes are like others. */
void put_pattern(uint8_t *at, size_t len, uint32_t seed);

static inline void no_hint(const struct bench *b)
{
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
}

#endif /* AGATE_TEST_MOVER_BENCH_H */
