/* SPDX-License-Identifier: MIT */
/*
 * The Panfrost driver's register accesses, in their original order, on the bench:
 * the public interface was made for the drivers of that family.  One file of each
 * program includes this.
 */
#ifndef AGATE_TEST_REPLAY_H
#define AGATE_TEST_REPLAY_H

#include "gpu_bench.h"

#define SLOT_BITS(n)	(0x10001u << (n))
#define ALL_SLOTS	0x70007u
#define GPU_IRQ_ALL	0x30781u	/* every interrupt of the GPU block */
#define GPU_IRQ_WANTED	0x30081u	/* faults, samples, cleaned caches */

/* A table in io-pgtable's format, and its attributes. */
#define REPLAY_TRANSTAB(root)	((root) | 0x7ull)
#define REPLAY_MEMATTR		0x888d88ull

/* Its leaves: read, write, shared outside, never executed; type 1 at each level. */
#define REPLAY_LEAF(pa)		((pa) | 0x00600000000002c1ull)

/* Read at most that often, while the GPU works in between; false when time ran out. */
static inline bool polled(struct bench *b, uint32_t reg, uint32_t mask, uint32_t want,
			  unsigned int reads)
{
	while (reads--) {
		if ((rd(b, reg) & mask) == want)
			return true;
		agate_sim_step(b->sim, 1);
	}
	return false;
}

/* 10 ms, polled every 100 us. */
static inline bool replay_soft_reset(struct bench *b)
{
	wr(b, GPU_INT_MASK, 0);
	wr(b, GPU_INT_CLEAR, GPU_IRQ_RESET_COMPLETED);
	wr(b, GPU_CMD, GPU_CMD_SOFT_RESET);
	if (!polled(b, GPU_INT_RAWSTAT, GPU_IRQ_RESET_COMPLETED, GPU_IRQ_RESET_COMPLETED, 100))
		return false;
	wr(b, GPU_INT_CLEAR, GPU_IRQ_ALL);
	wr(b, GPU_INT_MASK, GPU_IRQ_WANTED);
	return true;
}

/* 20 ms, 20 ms and, for the tiler, 1 ms: ten polls. */
static inline bool replay_power_on(struct bench *b)
{
	uint32_t l2 = rd(b, GPU_L2_PRESENT_LO), shader = rd(b, GPU_SHADER_PRESENT_LO);
	uint32_t tiler = rd(b, GPU_TILER_PRESENT_LO);

	wr(b, GPU_TILER_CONFIG, rd(b, GPU_TILER_CONFIG));
	wr(b, GPU_L2_PWRON_LO, l2);
	if (!polled(b, GPU_L2_READY_LO, 0xffffffff, l2, 200))
		return false;
	wr(b, GPU_SHADER_PWRON_LO, shader);
	if (!polled(b, GPU_SHADER_READY_LO, 0xffffffff, shader, 200))
		return false;
	wr(b, GPU_TILER_PWRON_LO, tiler);
	return polled(b, GPU_TILER_READY_LO, 0xffffffff, tiler, 10);
}

/* The common part of a probe, a resume and a recovery. */
static inline void replay_bring_up(struct bench *b)
{
	assert_true(replay_soft_reset(b));
	assert_true(replay_power_on(b));
	wr(b, MMU_INT_CLEAR, 0xffffffff);
	wr(b, MMU_INT_MASK, 0xffffffff);
	wr(b, JOB_INT_CLEAR, ALL_SLOTS);
	wr(b, JOB_INT_MASK, ALL_SLOTS);
}

static inline void replay_as_ready(struct bench *b, unsigned int as)
{
	assert_true(polled(b, AS_STATUS(as), AS_STATUS_AS_ACTIVE, 0, 10000));
}

/* The driver waits before each command, but not always after it. */
static inline void replay_as_command(struct bench *b, unsigned int as, uint32_t command)
{
	replay_as_ready(b, as);
	wr(b, AS_COMMAND(as), command);
}

/* LOCKADDR for the smallest block that holds a range: log2 minus one, and its start. */
static inline uint64_t replay_region(uint64_t start, uint64_t size)
{
	uint64_t differ = start ^ (start + size - 1);
	unsigned int width = 14;

	while (width < 63 && differ >> (width + 1))
		width++;
	return (start >> width << width) | width;
}

/* LOCK and a flush; never an UNLOCK. */
static inline void replay_flush(struct bench *b, unsigned int as, uint64_t start, uint64_t size,
				uint32_t command)
{
	wr64(b, AS_LOCKADDR_LO(as), replay_region(start, size));
	replay_as_command(b, as, AS_COMMAND_LOCK);
	replay_as_command(b, as, command);
	replay_as_ready(b, as);
}

/* The driver does not wait for UPDATE, and does not write TRANSCFG: mode 0 has LPAE tables. */
static inline void replay_as_set(struct bench *b, unsigned int as, uint64_t transtab,
				 uint64_t memattr)
{
	replay_flush(b, as, 0, ~0ull, AS_COMMAND_FLUSH_MEM);
	wr64(b, AS_TRANSTAB_LO(as), transtab);
	wr64(b, AS_MEMATTR_LO(as), memattr);
	replay_as_command(b, as, AS_COMMAND_UPDATE);
}

static inline void replay_as_enable(struct bench *b, unsigned int as)
{
	replay_as_set(b, as, REPLAY_TRANSTAB(TABLE_L0), REPLAY_MEMATTR);
}

static inline void replay_as_disable(struct bench *b, unsigned int as)
{
	replay_as_set(b, as, 0, 0);
}

/* Write the chain's description, without START. */
static inline void replay_describe(struct bench *b, unsigned int slot, uint64_t head,
				   uint32_t config)
{
	assert_int_equal(rd(b, JS_COMMAND_NEXT(slot)), JS_COMMAND_NOP);
	wr64(b, JS_HEAD_NEXT_LO(slot), head);
	wr64(b, JS_AFFINITY_NEXT_LO(slot), rd(b, GPU_SHADER_PRESENT_LO));
	wr(b, JS_CONFIG_NEXT(slot), config | JS_CONFIG_THREAD_PRI(8) |
	   JS_CONFIG_START_FLUSH_CLEAN_INVALIDATE | JS_CONFIG_END_FLUSH_CLEAN_INVALIDATE);
}

static inline void replay_submit(struct bench *b, unsigned int slot, uint64_t head,
				 uint32_t config)
{
	replay_describe(b, slot, head, config);
	wr(b, JS_COMMAND_NEXT(slot), JS_COMMAND_START);
}

static inline struct bench *replay_new(enum agate_sim_gpu gpu)
{
	struct agate_sim_config config = { .gpu = gpu, .seed = 1 };

	return bench_new_with(&config);
}

/* A GPU that is up, with the bench's tables in memory and no address space in use yet. */
static inline struct bench *replay_up(enum agate_sim_gpu gpu)
{
	struct bench *b = replay_new(gpu);

	replay_bring_up(b);
	put_tables(b);
	return b;
}

static inline void replay_end(struct bench *b)
{
	if (counter(b, AGATE_CNT_HINTS))
		fail_msg("hint: %s", last_event(b, AGATE_EV_HINT)->text);
	bench_free(b);
}

#endif /* AGATE_TEST_REPLAY_H */
