// SPDX-License-Identifier: MIT
/*
 * The card: its registers, interrupt and supply, VRAM that BAR2 shows in part, and the
 * price of system memory.
 */
#include "gpu_bench.h"

#include <string.h>

#include "crc_slowly.h"
#include "model.h"

#define SLOT		1
#define VRAM_TOTAL	0x40000u	/* four times what BAR2 shows */

static const struct agate_sim_config midgard = {
	.gpu = AGATE_SIM_MIDGARD, .card = true, .vram_total = VRAM_TOTAL, .seed = 1,
};

static void no_hint(struct bench *b)
{
	assert_int_equal(count_events(b, AGATE_EV_HINT), 0);
}

/* ---- Registers ------------------------------------------------------------------ */

static void test_without_a_card(void **state)
{
	static const uint32_t registers[] = {
		CARD_INT_RAWSTAT, CARD_ID, CARD_FEATURES, CARD_VRAM_SIZE_HI, CARD_LOSSES,
		GGTT_ENTRIES, GGTT_COMMITS, FW_STATUS, RING_HEAD, MOVER_FAULT_ADDR_HI,
		SCAN_FRAMES, AGATE_CARD_POWER,
	};
	struct bench *b = bench_new();
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(registers) / sizeof(registers[0]); i++)
		assert_int_equal(rd(b, registers[i]), 0);
	no_hint(b);
	wr(b, GGTT_PTE_INDEX, 1);
	assert_true(hinted(b, "is ignored: there is no card"));
	assert_int_equal(last_event(b, AGATE_EV_HINT)->a, 600);
	forget_events(b);
	wr(b, AGATE_CARD_POWER, 0);
	assert_true(hinted(b, "CARD_POWER is ignored: there is no card"));
	agate_sim_power_cut(b->sim, true);
	assert_int_equal(count_events(b, AGATE_EV_CARD_POWER), 0);
	assert_int_equal(b->vram[0], 0);
	forget_events(b);
	wr(b, 0x4024, 1);
	assert_true(hinted(b, "a write to an unaligned or unknown register is ignored"));
	bench_free(b);
}

static void identity(const struct agate_sim_config *config, uint32_t features, uint64_t vram)
{
	struct bench *b = bench_new_with(config);

	assert_int_equal(rd(b, CARD_ID), 0x00010000);
	assert_int_equal(rd(b, CARD_FEATURES), features);
	assert_int_equal(rd64(b, CARD_VRAM_SIZE_LO), vram);
	assert_int_equal(rd(b, CARD_LOSSES), 0);
	assert_int_equal(rd(b, AGATE_CARD_POWER), 1);
	no_hint(b);
	wr(b, CARD_ID, 1);
	assert_true(hinted(b, "a write to a read-only register is ignored"));
	assert_int_equal(rd(b, 0x4024), 0);
	assert_true(hinted(b, "a read of an unaligned or unknown register gives 0"));
	bench_free(b);
}

static void test_identity(void **state)
{
	struct bench *b = bench_new_with(&midgard);

	(void)state;
	identity(&(struct agate_sim_config){ .card = true, .gpu = AGATE_SIM_MIDGARD }, 0x2800,
		 VRAM_SIZE);
	identity(&(struct agate_sim_config){
		.card = true, .gpu = AGATE_SIM_BIFROST, .vram_total = VRAM_TOTAL,
		.dma_bits = 32, .ggtt_64k = true }, 0x2007, VRAM_TOTAL);
	b->sim->vram.size = 0x123456000;	/* more than a test should allocate */
	assert_int_equal(rd(b, CARD_VRAM_SIZE_LO), 0x23456000);
	assert_int_equal(rd(b, CARD_VRAM_SIZE_HI), 1);
	bench_free(b);
}

static void test_what_cannot_be_created(void **state)
{
	struct agate_sim_config config = { .card = true, .gpu = AGATE_SIM_BIFROST };
	uint8_t vram[64] = { 0 };
	uint64_t gsm;

	(void)state;
	assert_true(bench_can_be(&config));
	config.dma_bits = 41;
	assert_false(bench_can_be(&config));
	config.dma_bits = 40;
	config.vram = vram;
	config.vram_size = sizeof(vram);
	assert_true(bench_can_be(&config));
	config.vram_total = 32;		/* less than is shown */
	assert_false(bench_can_be(&config));
	config.vram_total = 8192;	/* the first page would lie in two places */
	assert_false(bench_can_be(&config));
	config.vram_size = 0;
	assert_true(bench_can_be(&config));
	config.vram_total = AGATE_PHYS_VRAM + 1;
	assert_false(bench_can_be(&config));
	config.vram_total = 0;
	config.gpu = AGATE_SIM_MIDGARD;	/* whose table has to be somewhere */
	assert_false(bench_can_be(&config));
	config.gsm = &gsm;
	config.gsm_size = sizeof(gsm);
	assert_false(bench_can_be(&config));
}

static void test_interrupts(void **state)
{
	struct bench *b = bench_new_with(&midgard);

	(void)state;
	wr(b, CARD_INT_MASK, UINT32_MAX);
	assert_int_equal(rd(b, CARD_INT_MASK), 0x1f);
	wr(b, CARD_INT_MASK, CARD_INT_MOVER_FAULT);
	card_raise(b->sim, CARD_INT_FLIP_DONE);
	assert_int_equal(b->messages[AGATE_VECTOR_CARD], 0);
	card_raise(b->sim, CARD_INT_MOVER_FAULT);
	assert_int_equal(b->messages[AGATE_VECTOR_CARD], 1);
	assert_int_equal(rd(b, CARD_INT_RAWSTAT), CARD_INT_FLIP_DONE | CARD_INT_MOVER_FAULT);
	assert_int_equal(rd(b, CARD_INT_STAT), CARD_INT_MOVER_FAULT);
	/* No reset of the GPU reaches the card, and none makes it deaf. */
	wr(b, GPU_CMD, GPU_CMD_HARD_RESET);
	wr(b, CARD_INT_CLEAR, CARD_INT_MOVER_FAULT);
	assert_int_equal(rd(b, CARD_INT_RAWSTAT), CARD_INT_FLIP_DONE);
	assert_int_equal(rd(b, CARD_INT_MASK), CARD_INT_MOVER_FAULT);
	no_hint(b);
	/* A driver that polls may drop these unread while they are masked, but no fault. */
	card_raise(b->sim, CARD_INT_MOVER_DONE | CARD_INT_FW);
	wr(b, CARD_INT_CLEAR, CARD_INT_MOVER_DONE | CARD_INT_FW);
	no_hint(b);
	card_raise(b->sim, CARD_INT_SCAN_FAULT);
	wr(b, CARD_INT_CLEAR, CARD_INT_SCAN_FAULT);
	assert_true(hinted(b, "an interrupt was cleared before it was read"));
	bench_free(b);
}

/* ---- Supply --------------------------------------------------------------------- */

/* Page 9 of the mapped ones is VRAM that BAR2 shows, page 10 VRAM that it does not. */
static struct bench *set_up(const struct agate_sim_config *config)
{
	struct bench *b = bench_ready_with(config);

	put64(b, TABLE_L3 + 8 * 9, AGATE_PHYS_VRAM | 0xc1);
	put64(b, TABLE_L3 + 8 * 10, (AGATE_PHYS_VRAM + VRAM_SIZE) | 0xc1);
	put64(b, TABLE_L3 + 8 * 11, (AGATE_PHYS_VRAM + VRAM_TOTAL) | 0xc1);
	return b;
}

static uint32_t run(struct bench *b, const struct agate_compute_payload *p)
{
	put_job(b, 0, AGATE_JOB_COMPUTE, 0);
	memcpy(b->ram + (PA - RAM_BASE) + 32, p, sizeof(*p));
	start_job(b, SLOT, VA, 0);
	settle(b);
	rd(b, JOB_INT_RAWSTAT);
	wr(b, JOB_INT_CLEAR, UINT32_MAX);
	return rd(b, JS_STATUS(SLOT));
}

static uint32_t fill(struct bench *b, uint64_t va, uint32_t size)
{
	return run(b, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = va, .size = size,
		.value = 0x2222222222222222ull,
	});
}

static uint64_t vram64(struct bench *b, uint64_t at)
{
	uint64_t value;

	assert_int_equal(phys_read(b->sim, AGATE_PHYS_VRAM + at, &value, 8), 0);
	return value;
}

static void assert_lost(struct bench *b)
{
	uint32_t crc;

	assert_int_equal(rd(b, CARD_ID), 0);
	assert_int_equal(rd(b, CARD_VRAM_SIZE_LO), 0);
	assert_int_equal(rd(b, CARD_LOSSES), 0);
	assert_int_equal(rd(b, CARD_INT_RAWSTAT), 0);
	assert_int_equal(agate_sim_crc_phys(b->sim, AGATE_PHYS_VRAM, 8, &crc), -1);
	no_hint(b);
	wr(b, CARD_INT_MASK, 1);
	assert_true(hinted(b, "a write to a register of the card is lost: it has no power"));
	forget_events(b);
	wr(b, 0x4024, 1);
	assert_true(hinted(b, "unaligned or unknown"));
	forget_events(b);
	assert_int_equal(fill(b, VA + 0x9000, 64), AGATE_EXC_JOB_BUS_FAULT);
	assert_int_equal(fill(b, VA + 0xa000, 64), AGATE_EXC_JOB_BUS_FAULT);
	assert_int_equal(fill(b, VA + 0x1000, 64), AGATE_EXC_DONE);	/* system memory */
	no_hint(b);
}

static void assert_back(struct bench *b, uint32_t losses)
{
	unsigned int i;

	assert_int_equal(rd(b, CARD_ID), 0x00010000);
	assert_int_equal(rd(b, CARD_LOSSES), losses);
	assert_int_equal(rd(b, CARD_INT_RAWSTAT), 0);
	assert_int_equal(rd(b, CARD_INT_MASK), 0);
	for (i = 0; i < VRAM_TOTAL; i += 8)
		assert_int_equal(vram64(b, i), 0xa5a5a5a5a5a5a5a5);
	for (i = 0; i < AGATE_GGTT_NUM_ENTRIES; i++)
		assert_int_equal(b->gsm[i], 0xa5a5a5a5a5a5a5a5);
	assert_int_equal(fill(b, VA + 0x9000, 64), AGATE_EXC_DONE);
	assert_int_equal(vram64(b, 0), 0x2222222222222222);
	no_hint(b);
}

static void test_the_supply_goes_and_comes(void **state)
{
	struct bench *b = set_up(&midgard);
	const struct agate_sim_event *event;

	(void)state;
	b->vram[0] = 7;
	b->gsm[5] = 9;
	wr(b, CARD_INT_MASK, CARD_INT_SCAN_FAULT);
	card_raise(b->sim, CARD_INT_SCAN_FAULT);
	wr(b, AGATE_CARD_POWER, 0);
	event = last_event(b, AGATE_EV_CARD_POWER);
	assert_int_equal(event->a, 0);
	assert_int_equal(event->b, 1);
	assert_string_equal(event->text, "off");
	assert_int_equal(rd(b, AGATE_CARD_POWER), 0);
	assert_int_equal(rd(b, AGATE_POWER_IN), 1);
	assert_lost(b);
	wr(b, AGATE_CARD_POWER, 0);	/* off already */
	wr(b, AGATE_CARD_POWER, 0xffffffff);	/* only bit 0 counts */
	assert_int_equal(rd(b, AGATE_CARD_POWER), 1);
	assert_string_equal(last_event(b, AGATE_EV_CARD_POWER)->text, "on");
	assert_int_equal(last_event(b, AGATE_EV_CARD_POWER)->a, 1);
	assert_back(b, 1);
	bench_free(b);
}

/* The platform takes the supply away: no driver gets it back. */
static void test_a_power_cut(void **state)
{
	struct bench *b = set_up(&midgard);

	(void)state;
	agate_sim_power_cut(b->sim, true);
	assert_string_equal(last_event(b, AGATE_EV_CARD_POWER)->text, "cut");
	assert_int_equal(rd(b, AGATE_CARD_POWER), 1);
	assert_lost(b);
	wr(b, AGATE_CARD_POWER, 0);
	wr(b, AGATE_CARD_POWER, 1);
	assert_int_equal(rd(b, CARD_ID), 0);
	agate_sim_power_cut(b->sim, true);
	agate_sim_power_cut(b->sim, false);
	assert_string_equal(last_event(b, AGATE_EV_CARD_POWER)->text, "back");
	assert_back(b, 1);
	agate_sim_power_cut(b->sim, true);
	agate_sim_restore(b->sim);
	assert_back(b, 2);
	/* Without CARD_POWER the end of a cut brings nothing back. */
	agate_sim_power_cut(b->sim, true);
	wr(b, AGATE_CARD_POWER, 0);
	agate_sim_power_cut(b->sim, false);
	assert_int_equal(rd(b, CARD_ID), 0);
	wr(b, AGATE_CARD_POWER, 1);
	assert_back(b, 3);
	bench_free(b);
}

static void test_the_two_supplies_are_apart(void **state)
{
	struct bench *b = bench_new_with(&midgard);

	(void)state;
	b->vram[0] = 7;
	wr(b, AGATE_POWER_IN, 0);
	assert_int_equal(b->vram[0], 7);
	assert_int_equal(rd(b, CARD_ID), 0x00010000);
	assert_int_equal(rd(b, CARD_LOSSES), 0);
	no_hint(b);
	bench_free(b);
}

static void test_what_nobody_saved(void **state)
{
	struct bench *b = set_up(&midgard);

	(void)state;
	put_job(b, 0, AGATE_JOB_NULL, VA);
	start_job(b, SLOT, VA, 0);
	agate_sim_power_cut(b->sim, true);
	no_hint(b);	/* no driver did that */
	agate_sim_power_cut(b->sim, false);
	wr(b, AGATE_CARD_POWER, 0);
	assert_true(hinted(b, "POWER off: VRAM holds what nobody saved"));
	forget_events(b);
	wr(b, AGATE_CARD_POWER, 0);	/* nothing is there that could be lost */
	no_hint(b);
	wr(b, AGATE_CARD_POWER, 1);
	wr(b, JS_COMMAND(SLOT), JS_COMMAND_HARD_STOP);
	settle(b);
	forget_events(b);
	b->sim->card.busy = true;	/* as the mover does */
	wr(b, AGATE_CARD_POWER, 0);
	assert_true(hinted(b, "POWER off: VRAM holds what nobody saved"));
	assert_false(b->sim->card.busy);
	bench_free(b);
}

/* ---- Memory --------------------------------------------------------------------- */

static void test_jobs_reach_all_of_it(void **state)
{
	struct bench *b = set_up(&midgard);

	(void)state;
	assert_int_equal(fill(b, VA + 0x9000 + 4096 - 64, 128), AGATE_EXC_DONE);
	assert_int_equal(get64(b, AGATE_PHYS_VRAM + 4096 - 64), 0x2222222222222222);
	assert_int_equal(vram64(b, VRAM_SIZE), 0x2222222222222222);
	assert_int_equal(vram64(b, VRAM_SIZE + 64), 0);
	/* Out of what nobody sees, into what the CPU sees. */
	assert_int_equal(run(b, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_COPY, .dst = VA + 0x9000, .src = VA + 0xa000, .size = 128 }),
		AGATE_EXC_DONE);
	assert_int_equal(get64(b, AGATE_PHYS_VRAM), 0x2222222222222222);
	assert_int_equal(get64(b, AGATE_PHYS_VRAM + 64), 0);
	assert_int_equal(fill(b, VA + 0xb000, 8), AGATE_EXC_JOB_BUS_FAULT);	/* its end */
	bench_free(b);
}

static uint64_t busy(struct bench *b, uint64_t va, uint32_t size)
{
	uint64_t before = agate_sim_slot_busy(b->sim, SLOT);

	assert_int_equal(fill(b, va, size), AGATE_EXC_DONE);
	return agate_sim_slot_busy(b->sim, SLOT) - before;
}

static void test_system_memory_costs(void **state)
{
	struct agate_sim_config config = midgard;
	struct bench *b = set_up(&config);

	(void)state;
	busy(b, VA + 0x1000, 64);	/* the walks to the pages are done now */
	busy(b, VA + 0x9000, 64);
	assert_int_equal(busy(b, VA + 0x1000, 2048) - busy(b, VA + 0x9000, 2048), 32 * 3);
	bench_free(b);
	config.card = false;
	config.vram_total = 0;
	b = set_up(&config);
	busy(b, VA + 0x1000, 64);
	busy(b, VA + 0x9000, 64);
	assert_int_equal(busy(b, VA + 0x1000, 2048), busy(b, VA + 0x9000, 2048));
	bench_free(b);
	config = midgard;
	config.ram_line_cycles = 5;
	b = set_up(&config);
	busy(b, VA + 0x1000, 64);
	busy(b, VA + 0x9000, 64);
	assert_int_equal(busy(b, VA + 0x1000, 2048) - busy(b, VA + 0x9000, 2048), 32 * 5);
	bench_free(b);
}

/* Tables and job lie in VRAM, so that only the write goes to RAM, which begins at bit 30. */
static uint32_t write_to_ram(unsigned int dma_bits, bool card)
{
	const struct agate_sim_config config = {
		.gpu = AGATE_SIM_MIDGARD, .card = card, .dma_bits = dma_bits,
	};
	struct bench *b = bench_new_with(&config);
	unsigned int i;
	uint32_t status;

	for (i = 0; i < 3; i++)
		put64(b, AGATE_PHYS_VRAM + 0x1000 * i + 8 * (i + 1),
		      (AGATE_PHYS_VRAM + 0x1000 * (i + 1)) | 3);
	put64(b, AGATE_PHYS_VRAM + 0x3000, (AGATE_PHYS_VRAM + 0x4000) | 0xc1);
	put64(b, AGATE_PHYS_VRAM + 0x3008, RAM_BASE | 0xc1);
	bench_power_on(b);
	as_set_table(b, 0, AGATE_PHYS_VRAM);
	/* A 64-bit header, WRITE_VALUE, and its payload: 64 bits to the second page. */
	put64(b, AGATE_PHYS_VRAM + 0x4000 + 16, 1ull | AGATE_JOB_WRITE_VALUE << 1);
	put64(b, AGATE_PHYS_VRAM + 0x4000 + 32, VA + 0x1000);
	put64(b, AGATE_PHYS_VRAM + 0x4000 + 40, AGATE_WRITE_ZERO);
	put64(b, RAM_BASE, 1);
	start_job(b, SLOT, VA, 0);
	settle(b);
	status = rd(b, JS_STATUS(SLOT));
	assert_int_equal(get64(b, RAM_BASE), status == AGATE_EXC_DONE ? 0 : 1);
	bench_free(b);
	return status;
}

static void test_dma_bits(void **state)
{
	(void)state;
	assert_int_equal(write_to_ram(0, true), AGATE_EXC_DONE);
	assert_int_equal(write_to_ram(40, true), AGATE_EXC_DONE);
	assert_int_equal(write_to_ram(31, true), AGATE_EXC_DONE);
	assert_int_equal(write_to_ram(30, true), AGATE_EXC_JOB_BUS_FAULT);
	assert_int_equal(write_to_ram(30, false), AGATE_EXC_DONE);
}

static void test_crc(void **state)
{
	struct bench *b = bench_new_with(&midgard);
	uint8_t bytes[0x3000];
	uint32_t crc;
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7 + i / 256);
	memcpy(b->ram + 0x800, bytes, sizeof(bytes));
	assert_int_equal(agate_sim_crc_phys(b->sim, RAM_BASE + 0x800, sizeof(bytes), &crc), 0);
	assert_int_equal(crc, crc_slowly(bytes, sizeof(bytes)));
	assert_int_equal(agate_sim_crc_phys(b->sim, RAM_BASE, 0, &crc), 0);
	assert_int_equal(crc, 0);
	/* Across the end of what BAR2 shows, and across the end of all. */
	memcpy(b->vram + VRAM_SIZE - 16, bytes, 16);
	assert_int_equal(phys_write(b->sim, AGATE_PHYS_VRAM + VRAM_SIZE, bytes + 16, 16), 0);
	assert_int_equal(agate_sim_crc_phys(b->sim, AGATE_PHYS_VRAM + VRAM_SIZE - 16, 32, &crc), 0);
	assert_int_equal(crc, crc_slowly(bytes, 32));
	assert_int_equal(agate_sim_crc_phys(b->sim, AGATE_PHYS_VRAM + VRAM_TOTAL - 16, 32, &crc),
			 -1);
	assert_int_equal(agate_sim_crc_phys(b->sim, UINT64_MAX - 8, 32, &crc), -1);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_without_a_card),
		cmocka_unit_test(test_identity),
		cmocka_unit_test(test_what_cannot_be_created),
		cmocka_unit_test(test_interrupts),
		cmocka_unit_test(test_the_supply_goes_and_comes),
		cmocka_unit_test(test_a_power_cut),
		cmocka_unit_test(test_the_two_supplies_are_apart),
		cmocka_unit_test(test_what_nobody_saved),
		cmocka_unit_test(test_jobs_reach_all_of_it),
		cmocka_unit_test(test_system_memory_costs),
		cmocka_unit_test(test_dma_bits),
		cmocka_unit_test(test_crc),
	};

	return cmocka_run_group_tests_name("sim-card", tests, NULL, NULL);
}
