// SPDX-License-Identifier: MIT
/*
 * The card's firmware: each reason for which it is refused, what it takes, and how it ends.
 */
#include "mover_bench.h"

#include <string.h>

#include "inject_spec.h"

#define RUNNING		(FW_STATUS_RUNNING | FW_VERSION << 16)

static uint32_t failed(enum agate_fw_reason reason)
{
	return FW_STATUS_FAILED | (uint32_t)reason << 8;
}

/* ---- Start and stop ------------------------------------------------------------- */

static void test_it_runs(void **state)
{
	struct bench *b = card_bench_new();
	unsigned int i;

	(void)state;
	assert_int_equal(rd(b, FW_STATUS), FW_STATUS_OFF);
	assert_int_equal(rd(b, GGTT_USABLE_START), 0);
	assert_int_equal(start_firmware(b), RUNNING);
	assert_int_equal(rd(b, GGTT_USABLE_START), FW_RESERVED);
	assert_int_equal(b->messages[AGATE_VECTOR_CARD], 1);
	assert_int_equal(count_events(b, AGATE_EV_FW), 2);
	assert_int_equal(last_event(b, AGATE_EV_FW)->a, RUNNING);
	for (i = 0; i < 4096; i++)
		assert_int_equal(shown(b, SCRATCH)[i], 0xf5);
	assert_int_equal(rd(b, FW_BASE), BLOB);
	assert_int_equal(rd(b, FW_SIZE), blob(b)->size);
	assert_int_equal(rd(b, FW_ADS), ADS);
	assert_int_equal(rd(b, FW_CMD), 0);
	no_hint(b);
	wr(b, FW_STATUS, 0);
	assert_true(hinted(b, "a write to a read-only register is ignored"));
	bench_free(b);
}

/* The blob and the ADS are read once. */
static void test_it_does_not_look_again(void **state)
{
	struct bench *b = mover_bench_new();

	(void)state;
	memset(shown(b, BLOB), 0, 0x1000);
	ads(b)->ring = 0;
	ads(b)->context = 0;
	seal_context(b, 0, 0);
	b->gsm[BLOB / 4096] = 0;
	run_cmd(b, &(struct agate_mover_cmd){ .op = AGATE_MOVER_FENCE, .seqno = 5 });
	assert_int_equal(rd(b, MOVER_SEQNO), 5);
	assert_int_equal(rd(b, FW_STATUS), RUNNING);
	no_hint(b);
	bench_free(b);
}

static void test_the_check_takes_time(void **state)
{
	struct bench *b = card_bench_new();
	uint64_t begun;

	(void)state;
	wr(b, CARD_INT_MASK, 0);
	rd(b, FW_STATUS);
	wr(b, FW_CMD, FW_CMD_START);
	begun = agate_sim_time(b->sim);
	settle(b);		/* nobody waits */
	assert_int_equal(agate_sim_time(b->sim), begun);
	wr(b, FW_STATUS, 0);	/* who writes does not wait, either */
	settle(b);
	assert_int_equal(last_event(b, AGATE_EV_FW)->a, FW_STATUS_CHECKING);
	assert_int_equal(rd(b, FW_STATUS), FW_STATUS_CHECKING);
	settle(b);		/* somebody polls */
	assert_int_equal(rd(b, FW_STATUS), RUNNING);
	assert_int_equal(last_event(b, AGATE_EV_FW)->time, begun + 1024);
	bench_free(b);
}

static void test_polling_the_interrupt_waits_too(void **state)
{
	struct bench *b = card_bench_new();

	(void)state;
	wr(b, CARD_INT_MASK, 0);
	wr(b, FW_CMD, FW_CMD_START);
	poll_reg(b, CARD_INT_RAWSTAT, CARD_INT_FW, CARD_INT_FW);
	assert_int_equal(b->messages[AGATE_VECTOR_CARD], 0);
	no_hint(b);
	bench_free(b);
}

static void test_its_latency_can_be_set(void **state)
{
	struct bench *b = card_bench_new();
	uint64_t begun;

	(void)state;
	agate_sim_set_latency(b->sim, AGATE_SIM_LATENCY_FW, 5000);
	wr(b, FW_CMD, FW_CMD_START);
	begun = agate_sim_time(b->sim);
	settle(b);
	/* And one cycle, in which the mover reads its context. */
	assert_int_equal(agate_sim_time(b->sim), begun + 5001);
	bench_free(b);
}

static void test_a_stuck_check(void **state)
{
	struct bench *b = card_bench_new();

	(void)state;
	agate_sim_set_latency(b->sim, AGATE_SIM_LATENCY_FW, AGATE_SIM_LATENCY_STUCK);
	wr(b, FW_CMD, FW_CMD_START);
	settle(b);
	assert_true(agate_sim_idle(b->sim, 1000000));
	assert_int_equal(rd(b, FW_STATUS), FW_STATUS_CHECKING);
	agate_sim_restore(b->sim);
	settle(b);
	assert_int_equal(rd(b, FW_STATUS), RUNNING);
	bench_free(b);
}

static void test_start_when_it_runs(void **state)
{
	struct bench *b = card_bench_new();

	(void)state;
	wr(b, FW_CMD, FW_CMD_START);
	wr(b, FW_CMD, FW_CMD_START);
	assert_true(hinted(b, "FW_CMD START is ignored: the firmware was started already"));
	assert_int_equal(last_event(b, AGATE_EV_HINT)->a, 600);
	settle(b);
	forget_events(b);
	wr(b, FW_CMD, FW_CMD_START);
	assert_true(hinted(b, "FW_CMD START is ignored"));
	assert_int_equal(rd(b, FW_STATUS), RUNNING);
	wr(b, FW_CMD, 3);
	assert_true(hinted(b, "unknown FW_CMD"));
	bench_free(b);
}

static void test_stop(void **state)
{
	struct bench *b = mover_bench_new();

	(void)state;
	run_cmd(b, &(struct agate_mover_cmd){ .op = AGATE_MOVER_FENCE, .seqno = 9 });
	wr(b, FW_CMD, FW_CMD_STOP);
	assert_int_equal(rd(b, FW_STATUS), FW_STATUS_OFF);
	assert_int_equal(rd(b, GGTT_USABLE_START), 0);
	assert_int_equal(rd(b, RING_HEAD), 0);
	assert_int_equal(last_event(b, AGATE_EV_FW)->a, FW_STATUS_OFF);
	assert_int_equal(rd(b, CARD_INT_RAWSTAT), 0);	/* the driver knows */
	forget_events(b);
	wr(b, FW_CMD, FW_CMD_STOP);
	assert_int_equal(count_events(b, AGATE_EV_FW), 0);
	no_hint(b);
	/* The context is all that it goes on from. */
	assert_int_equal(start_firmware(b), RUNNING);
	assert_int_equal(rd(b, RING_HEAD), 1);
	assert_int_equal(rd(b, RING_TAIL), 1);
	assert_int_equal(rd(b, MOVER_SEQNO), 9);
	no_hint(b);
	bench_free(b);
}

static void test_stop_ends_a_check(void **state)
{
	struct bench *b = card_bench_new();

	(void)state;
	wr(b, FW_CMD, FW_CMD_START);
	wr(b, FW_CMD, FW_CMD_STOP);
	settle(b);
	assert_int_equal(rd(b, FW_STATUS), FW_STATUS_OFF);
	assert_int_equal(rd(b, CARD_INT_RAWSTAT), 0);
	no_hint(b);
	bench_free(b);
}

static void test_stop_under_a_command(void **state)
{
	struct bench *b = mover_bench_new();
	const struct agate_mover_cmd fill = {
		.op = AGATE_MOVER_FILL, .dst = DATA_PA, .length = 0x40000, .value = ~0ull,
	};

	(void)state;
	put_cmd(b, 0, &fill);
	wr(b, RING_TAIL, 1);
	agate_sim_step(b->sim, 4);	/* the context, the command, and two units of four */
	wr(b, FW_CMD, FW_CMD_STOP);
	assert_true(hinted(b, "FW_CMD STOP while the mover has commands: it stops at once"));
	assert_string_equal(last_event(b, AGATE_EV_MOVER_END)->text, "stopped");
	settle(b);
	assert_int_equal(get64(b, DATA_PA + 0x1fff8), ~0ull);
	assert_int_equal(get64(b, DATA_PA + 0x20000), 0);
	assert_int_equal(rd(b, MOVER_STATUS), 0);
	assert_int_equal(context(b)->head, 0);
	bench_free(b);
}

static void test_a_reset_of_the_gpu_does_not_reach_it(void **state)
{
	struct bench *b = mover_bench_new();

	(void)state;
	wr(b, GPU_CMD, GPU_CMD_HARD_RESET);
	run_cmd(b, &(struct agate_mover_cmd){ .op = AGATE_MOVER_FENCE, .seqno = 3 });
	assert_int_equal(rd(b, FW_STATUS), RUNNING);
	assert_int_equal(rd(b, MOVER_SEQNO), 3);
	no_hint(b);
	bench_free(b);
}

static void test_it_is_lost_with_the_supply(void **state)
{
	struct bench *b = mover_bench_new();

	(void)state;
	wr(b, AGATE_CARD_POWER, 0);
	assert_int_equal(last_event(b, AGATE_EV_FW)->a, FW_STATUS_OFF);
	wr(b, AGATE_CARD_POWER, 1);
	assert_int_equal(rd(b, FW_STATUS), FW_STATUS_OFF);
	assert_int_equal(rd(b, FW_BASE), 0);
	assert_int_equal(rd(b, GGTT_USABLE_START), 0);
	assert_int_equal(rd(b, RING_TAIL), 0);
	bench_free(b);
}

/* ---- Why it is refused ------------------------------------------------------------- */

/* What a test breaks, and what the card says; then it is mended, and starts. */
static void refused(struct bench *b, enum agate_fw_reason reason)
{
	assert_int_equal(start_firmware(b), failed(reason));
	assert_int_equal(last_event(b, AGATE_EV_FW)->a, failed(reason));
	assert_int_equal(rd(b, GGTT_USABLE_START), 0);
	forget_events(b);
	wr(b, RING_TAIL, 1);
	assert_true(hinted(b, "RING_TAIL without running firmware"));
	bench_free(b);
}

static void refused_at(uint32_t base, uint32_t size)
{
	struct bench *b = card_bench_new();

	wr(b, FW_BASE, base);
	wr(b, FW_SIZE, size);
	refused(b, AGATE_FW_ADDRESS);
}

static void test_a_wrong_address(void **state)
{
	struct bench *b;

	(void)state;
	refused_at(BLOB + 64, 5032);		/* not aligned */
	refused_at(SHOWN - 0x1000, 5032);	/* where firmware may lie */
	refused_at(0x0fe00000, 5032);		/* where engines do not reach */
	refused_at(0x10000000, 5032);		/* where the GGTT ends */
	b = card_bench_new();
	b->gsm[BLOB / 4096] = 0;
	refused(b, AGATE_FW_ADDRESS);
	b = card_bench_new();
	b->gsm[BLOB / 4096 + 1] = 0;		/* under the payload's end */
	refused(b, AGATE_FW_ADDRESS);
}

static void test_a_wrong_magic(void **state)
{
	struct bench *b = card_bench_new();

	(void)state;
	blob(b)->magic++;
	refused(b, AGATE_FW_MAGIC);
}

static void test_a_wrong_version(void **state)
{
	struct bench *b = card_bench_new();

	(void)state;
	blob(b)->version = 2 << 16 | FW_VERSION;
	refused(b, AGATE_FW_VERSION);
}

/* @size as the register says; the header says @header more. */
static void refused_size(uint32_t size, int32_t header, uint32_t reserved)
{
	struct bench *b = card_bench_new();

	wr(b, FW_SIZE, size);
	blob(b)->size = size + (uint32_t)header;
	blob(b)->reserved_bytes = reserved;
	refused(b, AGATE_FW_LENGTH);
}

/* It says what the register says, and reaches where engines do not. */
static void refused_beyond_the_end(void)
{
	struct bench *b = card_bench_new();

	put_entry(b, 0x0fdff000, SHOWN_PA + BLOB - SHOWN, 0);
	wr(b, FW_BASE, 0x0fdff000);
	wr(b, FW_SIZE, 4097);
	blob(b)->size = 4097;
	refused(b, AGATE_FW_LENGTH);
}

static void test_a_wrong_size(void **state)
{
	(void)state;
	refused_size(5032, 1, FW_RESERVED);
	refused_size(5032, -1, FW_RESERVED);
	refused_size(31, 0, FW_RESERVED);
	refused_size(AGATE_FW_MAX_SIZE + 1, 0, FW_RESERVED);
	refused_size(5032, 0, FW_RESERVED + 64);
	refused_size(5032, 0, 0x801000);
	refused_size(0xffffffff, 0, FW_RESERVED);
	refused_beyond_the_end();
}

static void test_a_wrong_crc(void **state)
{
	struct bench *b = card_bench_new();

	(void)state;
	shown(b, BLOB)[sizeof(struct agate_fw_header) + BLOB_PAYLOAD - 1] ^= 1;
	refused(b, AGATE_FW_CRC);
	b = card_bench_new();
	blob(b)->crc32 ^= 1;
	refused(b, AGATE_FW_CRC);
}

static void test_a_blob_that_is_its_header(void **state)
{
	struct bench *b = card_bench_new();

	(void)state;
	blob(b)->size = sizeof(struct agate_fw_header);
	wr(b, FW_SIZE, sizeof(struct agate_fw_header));
	blob(b)->crc32 = 0;
	assert_int_equal(start_firmware(b), RUNNING);
	bench_free(b);
}

static void refused_ads(size_t field, uint32_t value)
{
	struct bench *b = card_bench_new();

	memcpy((uint8_t *)ads(b) + field, &value, sizeof(value));
	refused(b, AGATE_FW_ADS);
}

static void test_a_wrong_ads(void **state)
{
	struct bench *b;

	(void)state;
	refused_ads(offsetof(struct agate_ads, magic), 0);
	refused_ads(offsetof(struct agate_ads, version), 2);
	refused_ads(offsetof(struct agate_ads, ring), RING + 64);
	refused_ads(offsetof(struct agate_ads, ring_order), 5);
	refused_ads(offsetof(struct agate_ads, ring_order), 13);
	refused_ads(offsetof(struct agate_ads, context), CONTEXT + 16);
	refused_ads(offsetof(struct agate_ads, scratch), SCRATCH + 4);
	refused_ads(offsetof(struct agate_ads, scratch), 0x0fd00000);	/* nothing is there */
	b = card_bench_new();
	wr(b, FW_ADS, ADS + 64);
	refused(b, AGATE_FW_ADS);
	b = card_bench_new();
	wr(b, FW_ADS, 0x0fe00000);
	refused(b, AGATE_FW_ADS);
	b = card_bench_new();
	put_entry(b, ADS, SHOWN_PA + 0x10000, 1);	/* another's */
	refused(b, AGATE_FW_ADS);
}

static void test_it_is_tried_again(void **state)
{
	struct bench *b = card_bench_new();

	(void)state;
	blob(b)->magic = 0;
	assert_int_equal(start_firmware(b), failed(AGATE_FW_MAGIC));
	blob(b)->magic = AGATE_FW_HEADER_MAGIC;
	assert_int_equal(start_firmware(b), RUNNING);
	no_hint(b);
	bench_free(b);
}

static void test_a_refusal_can_be_injected(void **state)
{
	struct injections injections;
	struct bench *b = card_bench_new();

	(void)state;
	assert_null(inject_parse("fail-fw:2", &injections));
	assert_true(inject_set(b->sim, &injections));
	assert_int_equal(start_firmware(b), RUNNING);
	wr(b, FW_CMD, FW_CMD_STOP);
	assert_int_equal(start_firmware(b), failed(AGATE_FW_CRC));
	assert_int_equal(count_events(b, AGATE_EV_INJECTED), 1);
	assert_int_equal(start_firmware(b), RUNNING);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_it_runs),
		cmocka_unit_test(test_it_does_not_look_again),
		cmocka_unit_test(test_the_check_takes_time),
		cmocka_unit_test(test_polling_the_interrupt_waits_too),
		cmocka_unit_test(test_its_latency_can_be_set),
		cmocka_unit_test(test_a_stuck_check),
		cmocka_unit_test(test_start_when_it_runs),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_stop_ends_a_check),
		cmocka_unit_test(test_stop_under_a_command),
		cmocka_unit_test(test_a_reset_of_the_gpu_does_not_reach_it),
		cmocka_unit_test(test_it_is_lost_with_the_supply),
		cmocka_unit_test(test_a_wrong_address),
		cmocka_unit_test(test_a_wrong_magic),
		cmocka_unit_test(test_a_wrong_version),
		cmocka_unit_test(test_a_wrong_size),
		cmocka_unit_test(test_a_wrong_crc),
		cmocka_unit_test(test_a_blob_that_is_its_header),
		cmocka_unit_test(test_a_wrong_ads),
		cmocka_unit_test(test_it_is_tried_again),
		cmocka_unit_test(test_a_refusal_can_be_injected),
	};

	return cmocka_run_group_tests_name("sim-firmware", tests, NULL, NULL);
}
