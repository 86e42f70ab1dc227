// SPDX-License-Identifier: MIT
/*
 * The mover's commands: where their bytes go by each kind of address, which commands make no
 * sense, and what stops one in the middle.
 */
#include "mover_bench.h"

#include <string.h>

#define PHYS	AGATE_MOVER_PHYS
#define GGTT	AGATE_MOVER_GGTT
#define PAGES	AGATE_MOVER_PAGES

#define LIST_PA		(DATA_PA + 0x100000)	/* page lists: one for each end */
#define LIST2_PA	(DATA_PA + 0x101000)
#define OUTSIDE		0x50000000ull		/* where no RAM is */

static uint32_t modes(unsigned int src, unsigned int dst)
{
	return AGATE_MOVER_SRC(src) | AGATE_MOVER_DST(dst);
}

static struct agate_mover_cmd copy(unsigned int src_mode, uint64_t src, unsigned int dst_mode,
				   uint64_t dst, uint64_t length)
{
	return (struct agate_mover_cmd){
		.op = AGATE_MOVER_COPY, .flags = modes(src_mode, dst_mode), .src = src,
		.dst = dst, .length = length,
	};
}

static struct agate_mover_cmd fill(unsigned int mode, uint64_t dst, uint64_t length)
{
	return (struct agate_mover_cmd){
		.op = AGATE_MOVER_FILL, .flags = modes(0, mode), .dst = dst, .length = length,
		.value = 0x8877665544332211ull,
	};
}

static struct agate_mover_cmd store(unsigned int mode, uint64_t src, uint64_t dst,
				    uint64_t length)
{
	return (struct agate_mover_cmd){
		.op = AGATE_MOVER_STORE, .flags = modes(mode, 0), .src = src, .dst = dst,
		.length = length,
	};
}

/* The same, and it is done without a complaint. */
static void done(struct bench *b, struct agate_mover_cmd cmd)
{
	run_cmd(b, &cmd);
	assert_int_equal(mover_reason(b), 0);
	assert_int_equal(rd(b, RING_HEAD), rd(b, RING_TAIL));
	no_hint(b);
}

static void fails(struct bench *b, struct agate_mover_cmd cmd, enum agate_mover_reason reason,
		  uint64_t addr)
{
	run_cmd(b, &cmd);
	assert_int_equal(mover_reason(b), reason);
	assert_int_equal(rd64(b, MOVER_FAULT_ADDR_LO), addr);
	skip_cmd(b);
}

static uint8_t *ram(struct bench *b, uint64_t pa)
{
	return b->ram + (pa - RAM_BASE);
}

/* A list of the pages from pa on, the last one first. */
static void put_list(struct bench *b, uint64_t list, uint64_t pa, unsigned int pages)
{
	unsigned int i;

	for (i = 0; i < pages; i++)
		put64(b, list + 8 * i, pa + (uint64_t)(pages - 1 - i) * 4096);
}

/* ---- Addresses ------------------------------------------------------------------------- */

static void test_copy_by_physical_address(void **state)
{
	struct bench *b = mover_bench_new();
	uint8_t before[64] = { 0 };

	(void)state;
	/* Not aligned to each other, over ends of pages. */
	put_pattern(ram(b, DATA_PA + 0x40), 0x5000, 3);
	done(b, copy(PHYS, DATA_PA + 0x40, PHYS, DATA_PA + 0x20c0, 0x1fc0));
	assert_memory_equal(ram(b, DATA_PA + 0x20c0), ram(b, DATA_PA + 0x40), 0x1fc0);
	assert_memory_not_equal(ram(b, DATA_PA + 0x4080), before, 64);
	assert_int_equal(counter(b, AGATE_CNT_MOVER_BYTES), 0x1fc0);
	bench_free(b);
}

static void test_copy_between_vram_and_ram(void **state)
{
	struct bench *b = mover_bench_new();

	(void)state;
	put_pattern(ram(b, DATA_PA), VRAM_SIZE, 5);
	done(b, copy(PHYS, DATA_PA, PHYS, VRAM_PA, VRAM_SIZE));
	assert_memory_equal(b->vram, ram(b, DATA_PA), VRAM_SIZE);
	done(b, copy(PHYS, VRAM_PA, PHYS, DATA_PA + VRAM_SIZE, VRAM_SIZE));
	assert_memory_equal(ram(b, DATA_PA + VRAM_SIZE), b->vram, VRAM_SIZE);
	bench_free(b);
}

/* The same without a way for the model to look into memory by itself. */
static void test_copy_of_mapped_memory(void **state)
{
	struct bench *b = mover_bench_new();

	(void)state;
	b->direct = true;
	put_pattern(ram(b, DATA_PA), VRAM_SIZE, 5);
	done(b, copy(PHYS, DATA_PA, PHYS, VRAM_PA, VRAM_SIZE));
	assert_memory_equal(b->vram, ram(b, DATA_PA), VRAM_SIZE);
	done(b, store(PHYS, VRAM_PA + 0x100, DATA_PA + VRAM_SIZE, 64));
	assert_memory_equal(ram(b, DATA_PA + VRAM_SIZE), b->vram + 0x100, 64);
	bench_free(b);
}

static void test_copy_by_ggtt(void **state)
{
	struct bench *b = mover_bench_new();

	(void)state;
	put_pattern(ram(b, DATA_PA), 0x4000, 6);
	/* Two pages the other way around, and two in VRAM. */
	put_entry(b, 0xa00000, DATA_PA + 0x1000, 0);
	put_entry(b, 0xa01000, DATA_PA, 0);
	put_entry(b, 0xa02000, VRAM_PA + 0x3000, 0);
	put_entry(b, 0xa03000, VRAM_PA, 0);
	done(b, copy(GGTT, 0xa00080, GGTT, 0xa02100, 0x1e00));
	assert_memory_equal(b->vram + 0x3100, ram(b, DATA_PA + 0x1080), 0xf00);
	assert_memory_equal(b->vram, ram(b, DATA_PA + 0x1f80), 0x80);
	assert_memory_equal(b->vram + 0x80, ram(b, DATA_PA), 0xe80);
	bench_free(b);
}

static void test_copy_by_page_lists(void **state)
{
	struct bench *b = mover_bench_new();
	unsigned int i;

	(void)state;
	put_pattern(ram(b, DATA_PA), 16 * 4096, 6);
	put_list(b, LIST_PA, DATA_PA, 16);
	done(b, copy(PAGES, LIST_PA, PHYS, VRAM_PA, 16 * 4096));
	for (i = 0; i < 16; i++)
		assert_memory_equal(b->vram + i * 4096, ram(b, DATA_PA + (15 - i) * 4096), 4096);
	put_list(b, LIST2_PA, DATA_PA + 0x20000, 16);
	done(b, copy(PAGES, LIST_PA, PAGES, LIST2_PA, 16 * 4096));
	assert_memory_equal(ram(b, DATA_PA + 0x20000), ram(b, DATA_PA), 16 * 4096);
	bench_free(b);
}

/* 512 pages, the longest list there is, of pages of VRAM again and again. */
static void test_the_longest_command(void **state)
{
	struct bench *b = mover_bench_new();
	unsigned int i;

	(void)state;
	for (i = 0; i < 512; i++)
		put64(b, LIST_PA + 8 * i, VRAM_PA + i % 16 * 4096);
	done(b, fill(PAGES, LIST_PA, AGATE_MOVER_MAX_LENGTH));
	assert_int_equal(get64(b, LIST_PA + 4096), 0);
	for (i = 0; i < VRAM_SIZE; i += 8)
		assert_memory_equal(b->vram + i, "\x11\x22\x33\x44\x55\x66\x77\x88", 8);
	bench_free(b);
}

static void test_fill(void **state)
{
	struct bench *b = mover_bench_new();

	(void)state;
	done(b, fill(PHYS, DATA_PA + 0xfc0, 0x80));
	assert_int_equal(get64(b, DATA_PA + 0xfb8), 0);
	assert_int_equal(get64(b, DATA_PA + 0xfc0), 0x8877665544332211ull);
	assert_int_equal(get64(b, DATA_PA + 0x1038), 0x8877665544332211ull);
	assert_int_equal(get64(b, DATA_PA + 0x1040), 0);
	done(b, fill(GGTT, DATA + 0x2000, 64));
	assert_int_equal(get64(b, DATA_PA + 0x2038), 0x8877665544332211ull);
	assert_int_equal(get64(b, DATA_PA + 0x2040), 0);
	bench_free(b);
}

static void test_store(void **state)
{
	struct bench *b = mover_bench_new();

	(void)state;
	put_pattern(ram(b, DATA_PA), 0x3000, 8);
	/* Both over the end of a page, not at the same place. */
	done(b, store(PHYS, DATA_PA + 0xff0, DATA_PA + 0x4f08, 0x200));
	assert_memory_equal(ram(b, DATA_PA + 0x4f08), ram(b, DATA_PA + 0xff0), 0x200);
	assert_int_equal(get64(b, DATA_PA + 0x5108), 0);
	done(b, store(GGTT, DATA + 0x8, VRAM_PA + 0x10, AGATE_MOVER_MAX_STORE));
	assert_memory_equal(b->vram + 0x10, ram(b, DATA_PA + 8), AGATE_MOVER_MAX_STORE);
	assert_int_equal(counter(b, AGATE_CNT_MOVER_BYTES), 0x200 + AGATE_MOVER_MAX_STORE);
	bench_free(b);
}

static void test_on_behalf_of_a_vf(void **state)
{
	struct bench *b = mover_bench_new();
	struct agate_mover_cmd cmd = fill(GGTT, 0xa00000, 64);

	(void)state;
	put_entry(b, 0xa00000, DATA_PA, 3);
	cmd.vf = 3;
	done(b, cmd);
	assert_int_equal(get64(b, DATA_PA), 0x8877665544332211ull);
	cmd.vf = 4;
	fails(b, cmd, AGATE_REASON_VF, 0xa00000);
	cmd.vf = 3 | 1 << 10;
	fails(b, cmd, AGATE_REASON_VF, 0xa00000);
	cmd = copy(GGTT, 0xa00000, PHYS, VRAM_PA, 64);
	fails(b, cmd, AGATE_REASON_VF, 0xa00000);
	bench_free(b);
}

/* ---- Commands that make no sense ----------------------------------------------------------- */

static void senseless(struct bench *b, struct agate_mover_cmd cmd)
{
	uint32_t at = rd(b, RING_TAIL) % 64 * 64;

	fails(b, cmd, AGATE_REASON_COMMAND, RING + at);
}

static void test_flags_and_padding(void **state)
{
	struct bench *b = mover_bench_new();
	struct agate_mover_cmd cmd = fill(PHYS, DATA_PA, 64);

	(void)state;
	senseless(b, (struct agate_mover_cmd){ .op = 5 });
	senseless(b, (struct agate_mover_cmd){ .op = ~0u });
	senseless(b, (struct agate_mover_cmd){ .op = AGATE_MOVER_NOP, .pad = { 1, 0 } });
	senseless(b, (struct agate_mover_cmd){ .op = AGATE_MOVER_NOP, .pad = { 0, 1 } });
	senseless(b, (struct agate_mover_cmd){ .op = AGATE_MOVER_FENCE, .flags = 1 << 4 });
	senseless(b, (struct agate_mover_cmd){ .op = AGATE_MOVER_FENCE, .flags = 1u << 31 });
	cmd.flags = AGATE_MOVER_IRQ;
	senseless(b, cmd);
	cmd.flags = modes(0, 3);
	senseless(b, cmd);
	/* Also of an address that the command does not use. */
	cmd.flags = modes(3, 0);
	senseless(b, cmd);
	senseless(b, (struct agate_mover_cmd){ .op = AGATE_MOVER_NOP, .flags = modes(3, 0) });
	senseless(b, (struct agate_mover_cmd){ .op = AGATE_MOVER_FENCE, .flags = modes(0, 3) });
	cmd = copy(3, DATA_PA, PHYS, VRAM_PA, 64);
	senseless(b, cmd);
	no_hint(b);
	bench_free(b);
}

static void test_lengths(void **state)
{
	struct bench *b = mover_bench_new();

	(void)state;
	senseless(b, fill(PHYS, DATA_PA, 0));
	senseless(b, fill(PHYS, DATA_PA, 32));
	senseless(b, fill(PHYS, DATA_PA, AGATE_MOVER_MAX_LENGTH + 64));
	senseless(b, fill(PAGES, LIST_PA, 64));
	senseless(b, copy(PHYS, DATA_PA, PHYS, VRAM_PA, 0));
	senseless(b, copy(PHYS, DATA_PA, PHYS, VRAM_PA, 96));
	senseless(b, copy(PAGES, LIST_PA, PHYS, VRAM_PA, 4096 + 64));
	senseless(b, copy(PHYS, DATA_PA, PAGES, LIST_PA, 64));
	senseless(b, store(PHYS, DATA_PA, VRAM_PA, 0));
	senseless(b, store(PHYS, DATA_PA, VRAM_PA, 12));
	senseless(b, store(PHYS, DATA_PA, VRAM_PA, AGATE_MOVER_MAX_STORE + 8));
	bench_free(b);
}

static void test_addresses(void **state)
{
	struct bench *b = mover_bench_new();
	struct agate_mover_cmd cmd = store(PHYS, DATA_PA, VRAM_PA, 8);

	(void)state;
	senseless(b, fill(PHYS, DATA_PA + 8, 64));
	senseless(b, fill(GGTT, DATA + 32, 64));
	senseless(b, fill(PAGES, LIST_PA + 4, 4096));
	senseless(b, fill(PAGES, 0xfffffffffffff800, 4096));
	senseless(b, fill(PHYS, 0xffffffffffffffc0, 128));
	senseless(b, copy(PHYS, DATA_PA + 8, PHYS, VRAM_PA, 64));
	senseless(b, copy(PHYS, DATA_PA, PHYS, VRAM_PA + 8, 64));
	senseless(b, store(PHYS, DATA_PA + 4, VRAM_PA, 8));
	senseless(b, store(PHYS, DATA_PA, VRAM_PA + 4, 8));
	senseless(b, store(PHYS, 0xfffffffffffffff8, VRAM_PA, 16));
	senseless(b, store(PHYS, DATA_PA, 0xfffffffffffffff8, 16));
	senseless(b, store(PAGES, LIST_PA, VRAM_PA, 8));
	cmd.flags = modes(0, GGTT);
	senseless(b, cmd);
	bench_free(b);
}

static void test_a_copy_over_itself(void **state)
{
	struct bench *b = mover_bench_new();

	(void)state;
	senseless(b, copy(PHYS, DATA_PA, PHYS, DATA_PA + 64, 128));
	senseless(b, copy(PHYS, DATA_PA + 64, PHYS, DATA_PA, 128));
	senseless(b, copy(GGTT, DATA, GGTT, DATA, 64));
	done(b, copy(PHYS, DATA_PA, PHYS, DATA_PA + 128, 128));
	done(b, copy(PHYS, DATA_PA + 128, PHYS, DATA_PA, 128));
	bench_free(b);
}

/* ---- What stops one in the middle --------------------------------------------------------------- */

static void test_nobody_answers(void **state)
{
	struct bench *b = mover_bench_new();
	const uint64_t end = RAM_BASE + RAM_SIZE;

	(void)state;
	fails(b, fill(PHYS, OUTSIDE, 64), AGATE_REASON_BUS, OUTSIDE);
	fails(b, fill(PHYS, end - 0x2000, 0x3000), AGATE_REASON_BUS, end);
	assert_int_equal(get64(b, end - 8), 0x8877665544332211ull);	/* what came before it */
	fails(b, copy(PHYS, OUTSIDE, PHYS, VRAM_PA, 64), AGATE_REASON_BUS, OUTSIDE);
	fails(b, copy(PHYS, DATA_PA, PHYS, VRAM_PA + VRAM_SIZE, 64), AGATE_REASON_BUS,
	      VRAM_PA + VRAM_SIZE);
	fails(b, store(PHYS, DATA_PA, OUTSIDE, 8), AGATE_REASON_BUS, OUTSIDE);
	fails(b, store(PHYS, OUTSIDE, DATA_PA, 8), AGATE_REASON_BUS, OUTSIDE);
	/* An end of 0x200 bytes in VRAM is all that is there. */
	fails(b, store(PHYS, VRAM_PA + VRAM_SIZE - 0x200, DATA_PA, 0x400), AGATE_REASON_BUS,
	      VRAM_PA + VRAM_SIZE);
	/* A list that is not there, and a page that is not. */
	fails(b, fill(PAGES, OUTSIDE, 4096), AGATE_REASON_BUS, OUTSIDE);
	put64(b, LIST_PA, DATA_PA);
	put64(b, LIST_PA + 8, OUTSIDE);
	fails(b, fill(PAGES, LIST_PA, 8192), AGATE_REASON_BUS, OUTSIDE);
	put64(b, LIST_PA + 8, DATA_PA + 64);
	fails(b, copy(PAGES, LIST_PA, PHYS, VRAM_PA, 8192), AGATE_REASON_COMMAND, DATA_PA + 64);
	bench_free(b);
}

static void test_beyond_the_dma_bits(void **state)
{
	struct bench *b = card_bench_new_with(&(struct agate_sim_config){
		.gpu = AGATE_SIM_MIDGARD, .card = true, .seed = 1, .dma_bits = 31 });

	(void)state;
	start_firmware(b);
	fails(b, fill(PHYS, 0x80000000, 64), AGATE_REASON_BUS, 0x80000000);
	put_entry(b, 0xa00000, 0x80000000, 0);
	fails(b, fill(GGTT, 0xa00000, 64), AGATE_REASON_BUS, 0xa00000);
	done(b, fill(PHYS, DATA_PA, 64));
	done(b, fill(PHYS, VRAM_PA, 64));
	bench_free(b);
}

static void test_a_bad_entry(void **state)
{
	struct bench *b = mover_bench_new();

	(void)state;
	fails(b, fill(GGTT, SHOWN + SHOWN_SIZE - 4096, 8192), AGATE_REASON_ENTRY,
	      SHOWN + SHOWN_SIZE);
	b->gsm[0xb00000 / 4096] = AGATE_GGTT_PRESENT | DATA_PA | 1ull << 63;
	fails(b, copy(PHYS, DATA_PA, GGTT, 0xb00040, 64), AGATE_REASON_ENTRY, 0xb00040);
	assert_true(hinted(b, "a GGTT entry has reserved bits"));
	bench_free(b);
}

static void test_a_torn_group(void **state)
{
	struct bench *b = card_bench_new_with(&(struct agate_sim_config){
		.gpu = AGATE_SIM_MIDGARD, .card = true, .seed = 1, .ggtt_64k = true });
	unsigned int i;

	(void)state;
	start_firmware(b);
	for (i = 0; i < 16; i++)
		put_entry(b, 0xa00000 + i * 4096, VRAM_PA + i * 4096, 0);
	done(b, fill(GGTT, 0xa00000, 0x10000));
	b->gsm[0xa0f000 / 4096] = 0;
	wr(b, GGTT_INVALIDATE, 0);
	fails(b, fill(GGTT, 0xa00000, 64), AGATE_REASON_GROUP, 0xa00000);
	bench_free(b);
}

static void test_outside_the_usable_range(void **state)
{
	struct bench *b = mover_bench_new();
	uint64_t first;

	(void)state;
	put_entry(b, 0, DATA_PA, 0);
	run_cmd(b, &(struct agate_mover_cmd){
		.op = AGATE_MOVER_FILL, .flags = modes(0, GGTT), .length = 4096, .value = 1 });
	assert_int_equal(mover_reason(b), 0);
	assert_true(hinted(b, "an address outside the usable GGTT"));
	assert_int_equal(get64(b, DATA_PA), 0);		/* dropped, and counted */
	assert_int_equal(counter(b, AGATE_CNT_MOVER_BYTES), 4096);
	run_cmd(b, &(struct agate_mover_cmd){
		.op = AGATE_MOVER_COPY, .flags = modes(GGTT, PHYS), .length = 4096,
		.dst = DATA_PA });
	assert_int_equal(mover_reason(b), 0);
	first = get64(b, DATA_PA);
	assert_int_not_equal(first, 0);			/* noise */
	run_cmd(b, &(struct agate_mover_cmd){
		.op = AGATE_MOVER_STORE, .flags = modes(GGTT, PHYS), .length = 8,
		.dst = DATA_PA });
	assert_int_not_equal(get64(b, DATA_PA), first);
	/* The source has to be there even then. */
	forget_events(b);
	fails(b, copy(PHYS, OUTSIDE, GGTT, 0x0fe00000, 64), AGATE_REASON_BUS, OUTSIDE);
	assert_true(hinted(b, "an address outside the usable GGTT"));
	fails(b, copy(GGTT, 0x0fe00000, PHYS, OUTSIDE, 64), AGATE_REASON_BUS, OUTSIDE);
	bench_free(b);
}

/* ---- The mover's own memory ------------------------------------------------------------------------ */

static void test_a_command_writes_the_context(void **state)
{
	struct bench *b = mover_bench_new();
	struct agate_mover_cmd cmd = fill(GGTT, CONTEXT + 0x800, 128);

	(void)state;
	run_cmd(b, &cmd);
	assert_true(hinted(b, "a command writes the ring or the context that is being read"));
	assert_int_equal(count_events(b, AGATE_EV_HINT), 1);
	assert_int_equal(rd(b, RING_HEAD), 1);
	/* Once for a command, whatever it hits. */
	forget_events(b);
	cmd = fill(GGTT, CONTEXT, RING + 0x1000 - CONTEXT);
	run_cmd(b, &cmd);
	assert_int_equal(count_events(b, AGATE_EV_HINT), 1);
	assert_int_equal(rd(b, RING_HEAD), 2);
	bench_free(b);
}

static void test_a_command_writes_the_ring(void **state)
{
	struct bench *b = mover_bench_new();
	struct agate_mover_cmd cmd = copy(PHYS, DATA_PA, PHYS, SHOWN_PA + RING - SHOWN + 0x800,
					  0x800);

	(void)state;
	run_cmd(b, &cmd);
	assert_true(hinted(b, "a command writes the ring or the context that is being read"));
	assert_int_equal(count_events(b, AGATE_EV_HINT), 1);
	forget_events(b);
	cmd = store(PHYS, DATA_PA, SHOWN_PA + RING - SHOWN + 0xff8, 8);
	run_cmd(b, &cmd);
	assert_true(hinted(b, "a command writes the ring or the context that is being read"));
	/* Reading it harms nobody. */
	forget_events(b);
	done(b, copy(PHYS, SHOWN_PA + RING - SHOWN, PHYS, VRAM_PA, 4096));
	bench_free(b);
}

/* The card is not behind the L2: lines that a job made dirty are not what the mover reads. */
static void test_it_bypasses_the_l2(void **state)
{
	struct bench *b = card_bench_new_with(&(struct agate_sim_config){
		.gpu = AGATE_SIM_MIDGARD, .card = true, .seed = 1,
		.coherency = AGATE_SIM_COHERENCY_NONE });

	(void)state;
	start_firmware(b);
	bench_reset(b);
	bench_power_on(b);
	put_tables(b);
	as_set_table(b, 0, TABLE_L0);
	put_write_value(b, 0, 0, AGATE_WRITE_IMMEDIATE_64, VA + 0x1000, 0x77);
	start_job(b, 0, VA, 0);
	settle(b);
	done(b, copy(PHYS, PA + 0x1000, PHYS, VRAM_PA, 64));
	assert_int_equal(b->vram[0], 0);
	wr(b, GPU_CMD, GPU_CMD_CLEAN_CACHES);
	poll_reg(b, GPU_INT_RAWSTAT, GPU_IRQ_CLEAN_CACHES_COMPLETED,
		 GPU_IRQ_CLEAN_CACHES_COMPLETED);
	done(b, copy(PHYS, PA + 0x1000, PHYS, VRAM_PA, 64));
	assert_int_equal(b->vram[0], 0x77);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_copy_by_physical_address),
		cmocka_unit_test(test_copy_between_vram_and_ram),
		cmocka_unit_test(test_copy_of_mapped_memory),
		cmocka_unit_test(test_copy_by_ggtt),
		cmocka_unit_test(test_copy_by_page_lists),
		cmocka_unit_test(test_the_longest_command),
		cmocka_unit_test(test_fill),
		cmocka_unit_test(test_store),
		cmocka_unit_test(test_on_behalf_of_a_vf),
		cmocka_unit_test(test_flags_and_padding),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_a_copy_over_itself),
		cmocka_unit_test(test_nobody_answers),
		cmocka_unit_test(test_beyond_the_dma_bits),
		cmocka_unit_test(test_a_bad_entry),
		cmocka_unit_test(test_a_torn_group),
		cmocka_unit_test(test_outside_the_usable_range),
		cmocka_unit_test(test_a_command_writes_the_context),
		cmocka_unit_test(test_a_command_writes_the_ring),
		cmocka_unit_test(test_it_bypasses_the_l2),
	};

	return cmocka_run_group_tests_name("sim-mover-cmds", tests, NULL, NULL);
}
