/* SPDX-License-Identifier: MIT */
/*
 * A GPU on a test bench: 4 MiB of RAM at 1 GiB, a little VRAM, and a record of all
 * events of the model.  Helpers do exactly what a correct driver does; the tests
 * write page tables to memory, number by number.
 */
#ifndef AGATE_TEST_GPU_BENCH_H
#define AGATE_TEST_GPU_BENCH_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "agate_job.h"
#include "agate_regs.h"
#include "agate_sim.h"

#define RAM_BASE	0x40000000ull
#define RAM_SIZE	0x400000u
#define VRAM_SIZE	0x10000u
#define MAX_EVENTS	8192

struct bench {
	struct agate_sim *sim;
	uint8_t *ram;
	uint8_t *vram;		/* what BAR2 shows of it */
	uint64_t *gsm;		/* of a card on midgard */
	bool direct;		/* the model may look into RAM by itself */
	unsigned int messages[AGATE_NUM_VECTORS];
	struct agate_sim_event event[MAX_EVENTS];
	unsigned int events;

	/* The frame that the card read out last. */
	uint8_t *frame;		/* R G B A */
	uint32_t frame_number, frame_width, frame_height;
	uint32_t frame_rows;	/* read so far */
	unsigned int frames_shown, frames_dropped;
};

/* One test's GPU, after creation and nothing else. */
struct bench *bench_new(void);
struct bench *bench_new_with(const struct agate_sim_config *config);
bool bench_can_be(const struct agate_sim_config *config);	/* the GPU can be created */
void bench_free(struct bench *b);

static inline void wr(struct bench *b, uint32_t reg, uint32_t value)
{
	agate_sim_write32(b->sim, reg, value);
}

static inline uint32_t rd(struct bench *b, uint32_t reg)
{
	return agate_sim_read32(b->sim, reg);
}

void wr64(struct bench *b, uint32_t reg_lo, uint64_t value);
uint64_t rd64(struct bench *b, uint32_t reg_lo);

/* Let the GPU work until only the driver can make it continue. */
void settle(struct bench *b);

/* Poll reg, as a driver does, until (value & mask) == want; fails after many reads. */
void poll_reg(struct bench *b, uint32_t reg, uint32_t mask, uint32_t want);

void bench_reset(struct bench *b);		/* soft reset, to its end */
void bench_power_on(struct bench *b);		/* L2, then shaders and tiler */
void as_command(struct bench *b, unsigned int as, uint32_t command);	/* and wait */
void as_set_table(struct bench *b, unsigned int as, uint64_t root);	/* UPDATE */
/* LOCK the block that LOCKADDR names, then the flush. */
void as_flush(struct bench *b, unsigned int as, uint64_t lockaddr, uint32_t command);
#define LOCK_ALL	0x3full		/* width 63: everything */

/* RAM and VRAM by physical address. */
void put64(struct bench *b, uint64_t pa, uint64_t value);
uint64_t get64(const struct bench *b, uint64_t pa);
uint32_t get32(const struct bench *b, uint64_t pa);

/*
 * The tables most tests start from, as bytes in RAM:
 *
 *   0x40000000  level 0   [1] = 0x40001003   VA 0x80_0000_0000
 *   0x40001000  level 1   [2] = 0x40002003    +     0x8000_0000
 *   0x40002000  level 2   [3] = 0x40003003    +       0x60_0000
 *   0x40003000  level 3   [n] = 0x400100c1 + n * 0x1000, for n = 0 .. 15
 *
 * So VA 0x8080600000 + x is RAM 0x40010000 + x, readable and writable, for
 * x below 64 KiB, and nothing else is mapped.
 */
#define TABLE_L0	0x40000000ull
#define TABLE_L1	0x40001000ull
#define TABLE_L2	0x40002000ull
#define TABLE_L3	0x40003000ull
#define VA		0x8080600000ull
#define PA		0x40010000ull
#define MAPPED_PAGES	16
void put_tables(struct bench *b);

/* Reset, power, tables, address space 0 set up, interrupts unmasked. */
struct bench *bench_ready(void);
struct bench *bench_ready_with(const struct agate_sim_config *config);

/*
 * The same in AArch64 tables, for a GPU that has them: [n] of level 3 is
 * 0x40010443 + n * 0x1000, a page with the access flag, read and write, and
 * attribute 0, which is 0x88.
 */
struct bench *bench_ready_aarch64(void);
void as_set_aarch64(struct bench *b, unsigned int as, uint64_t root, uint64_t transcfg);

/* A job header at VA + offset, 64-bit next, and WRITE_VALUE with its payload. */
void put_job(struct bench *b, uint32_t offset, unsigned int type, uint64_t next);
void put_write_value(struct bench *b, uint32_t offset, uint64_t next, unsigned int type,
		     uint64_t address, uint64_t immediate);
/* JS_CONFIG, HEAD and AFFINITY for all cores, then START. */
void start_job(struct bench *b, unsigned int slot, uint64_t head, uint32_t config);

/* The status that the GPU wrote into the header at VA + offset. */
uint32_t job_status(const struct bench *b, uint32_t offset);

/* The record of events. */
unsigned int count_events(const struct bench *b, enum agate_sim_event_kind kind);
const struct agate_sim_event *last_event(const struct bench *b, enum agate_sim_event_kind kind);
bool hinted(const struct bench *b, const char *part);
void forget_events(struct bench *b);

uint64_t counter(const struct bench *b, enum agate_counter which);

#endif /* AGATE_TEST_GPU_BENCH_H */
