// SPDX-License-Identifier: MIT
/*
 * The mover's ring, its context, its faults, and the reset that goes on from HEAD.
 */
#include "mover_bench.h"

#include <string.h>

#include "inject_spec.h"

static const struct agate_mover_cmd nop = { .op = AGATE_MOVER_NOP };
/* Not a command. */
static const struct agate_mover_cmd wrong = { .op = 5 };

static struct agate_mover_cmd fence(uint32_t seqno)
{
	return (struct agate_mover_cmd){ .op = AGATE_MOVER_FENCE, .seqno = seqno };
}

static struct agate_mover_cmd fill(uint32_t length)
{
	return (struct agate_mover_cmd){
		.op = AGATE_MOVER_FILL, .dst = DATA_PA, .length = length, .value = ~0ull,
	};
}

static void assert_faulty(struct bench *b, enum agate_mover_reason reason, uint64_t addr)
{
	assert_int_equal(mover_reason(b), reason);
	assert_int_equal(rd64(b, MOVER_FAULT_ADDR_LO), addr);
	assert_int_equal(rd(b, CARD_INT_STAT) & CARD_INT_MOVER_FAULT, CARD_INT_MOVER_FAULT);
	assert_int_equal(last_event(b, AGATE_EV_MOVER_FAULT)->c, reason);
	assert_int_equal(last_event(b, AGATE_EV_MOVER_FAULT)->b, addr);
}

static void inject(struct bench *b, const char *spec)
{
	struct injections injections;

	assert_null(inject_parse(spec, &injections));
	assert_true(inject_set(b->sim, &injections));
}

/* ---- The ring -------------------------------------------------------------------- */

static void test_fences_in_order(void **state)
{
	struct bench *b = mover_bench_new();
	struct agate_mover_cmd cmd;
	unsigned int i;

	(void)state;
	/* More than twice around. */
	for (i = 1; i <= 150; i++) {
		cmd = fence(1000 + i);
		run_cmd(b, &cmd);
		assert_int_equal(rd(b, RING_HEAD), i);
		assert_int_equal(rd(b, MOVER_SEQNO), 1000 + i);
		assert_int_equal(context(b)->head, i);
		assert_int_equal(context(b)->seqno, 1000 + i);
		assert_int_equal(context(b)->check, ~(AGATE_CONTEXT_MAGIC ^ i ^ (1000 + i)));
	}
	assert_int_equal(rd(b, RING_TAIL), 150);
	assert_int_equal(rd(b, MOVER_STATUS), 0);
	assert_int_equal(counter(b, AGATE_CNT_MOVER_COMMANDS), 150);
	assert_int_equal(rd(b, CARD_INT_RAWSTAT), 0);
	assert_int_equal(count_events(b, AGATE_EV_MOVER_BEGIN), 150);
	assert_int_equal(count_events(b, AGATE_EV_MOVER_END), 150);
	assert_int_equal(last_event(b, AGATE_EV_MOVER_END)->a, 149);
	assert_int_equal(last_event(b, AGATE_EV_MOVER_END)->b, AGATE_MOVER_FENCE);
	assert_int_equal(last_event(b, AGATE_EV_MOVER_END)->c, 0);
	no_hint(b);
	bench_free(b);
}

static void test_a_fence_with_an_interrupt(void **state)
{
	struct bench *b = mover_bench_new();
	struct agate_mover_cmd cmd = fence(4);
	unsigned int messages = b->messages[AGATE_VECTOR_CARD];

	(void)state;
	cmd.flags = AGATE_MOVER_IRQ;
	run_cmd(b, &cmd);
	assert_int_equal(b->messages[AGATE_VECTOR_CARD], messages + 1);
	assert_int_equal(rd(b, CARD_INT_STAT), CARD_INT_MOVER_DONE);
	wr(b, CARD_INT_CLEAR, CARD_INT_MOVER_DONE);
	no_hint(b);
	bench_free(b);
}

static void test_a_full_ring(void **state)
{
	struct bench *b = mover_bench_new();
	unsigned int i;

	(void)state;
	for (i = 0; i < 64; i++) {
		struct agate_mover_cmd cmd = fence(i);

		put_cmd(b, i, &cmd);
	}
	wr(b, RING_TAIL, 64);
	assert_int_equal(rd(b, MOVER_STATUS), MOVER_STATUS_BUSY);
	settle(b);
	assert_int_equal(rd(b, MOVER_STATUS), 0);
	assert_int_equal(rd(b, MOVER_SEQNO), 63);
	bench_free(b);
}

static void test_a_large_ring_of_many_pages(void **state)
{
	struct bench *b = card_bench_new();
	unsigned int i;

	(void)state;
	ads(b)->ring_order = AGATE_RING_MAX_ORDER;
	start_firmware(b);
	for (i = 0; i < 4096; i++) {
		struct agate_mover_cmd cmd = fence(i + 1);

		put_cmd(b, i, &cmd);
	}
	wr(b, RING_TAIL, 4096);
	settle(b);
	assert_int_equal(rd(b, MOVER_SEQNO), 4096);
	assert_int_equal(rd(b, MOVER_STATUS), 0);
	wr(b, RING_TAIL, 4096 + 4097);
	assert_faulty(b, AGATE_REASON_RING, 0);
	bench_free(b);
}

static void test_more_than_the_ring_holds(void **state)
{
	struct bench *b = mover_bench_new();

	(void)state;
	wr(b, RING_TAIL, 65);
	assert_faulty(b, AGATE_REASON_RING, 0);
	assert_int_equal(count_events(b, AGATE_EV_MOVER_BEGIN), 0);
	/* RESET looks at TAIL again. */
	rd(b, CARD_INT_STAT);
	wr(b, CARD_INT_CLEAR, CARD_INT_MOVER_FAULT);
	wr(b, MOVER_CMD, MOVER_CMD_RESET);
	assert_faulty(b, AGATE_REASON_RING, 0);
	put_cmd(b, 0, &nop);
	wr(b, RING_TAIL, 1);
	assert_faulty(b, AGATE_REASON_RING, 0);
	wr(b, MOVER_CMD, MOVER_CMD_RESET);
	settle(b);
	assert_int_equal(rd(b, MOVER_STATUS), 0);
	assert_int_equal(rd(b, RING_HEAD), 1);
	assert_int_equal(counter(b, AGATE_CNT_MOVER_FAULTS), 2);
	bench_free(b);
}

static void test_a_tail_behind_the_head(void **state)
{
	struct bench *b = mover_bench_new();

	(void)state;
	run_cmd(b, &nop);
	wr(b, RING_TAIL, 0);
	assert_faulty(b, AGATE_REASON_RING, 0);
	bench_free(b);
}

/* The command there is another one when TAIL moves on. */
static void test_a_command_is_withdrawn(void **state)
{
	struct bench *b = mover_bench_new();
	struct agate_mover_cmd cmd = fill(0x40000);

	(void)state;
	put_cmd(b, 0, &cmd);
	wr(b, RING_TAIL, 1);
	agate_sim_step(b->sim, 4);
	wr(b, RING_TAIL, 0);
	assert_string_equal(last_event(b, AGATE_EV_MOVER_END)->text, "withdrawn");
	assert_int_equal(rd(b, MOVER_STATUS), 0);
	run_cmd(b, &nop);
	assert_int_equal(rd(b, RING_HEAD), 1);
	assert_int_equal(last_event(b, AGATE_EV_MOVER_END)->b, AGATE_MOVER_NOP);
	assert_int_equal(get64(b, DATA_PA + 0x1fff8), ~0ull);
	assert_int_equal(get64(b, DATA_PA + 0x20000), 0);
	no_hint(b);
	bench_free(b);
}

static void test_the_ring_needs_firmware(void **state)
{
	struct bench *b = card_bench_new();

	(void)state;
	wr(b, RING_TAIL, 1);
	assert_true(hinted(b, "RING_TAIL without running firmware"));
	assert_int_equal(rd(b, RING_TAIL), 0);
	wr(b, MOVER_CMD, MOVER_CMD_RESET);
	assert_true(hinted(b, "MOVER_CMD without running firmware is ignored"));
	wr(b, MOVER_CMD, 2);
	assert_true(hinted(b, "unknown MOVER_CMD"));
	assert_int_equal(rd(b, MOVER_CMD), 0);
	forget_events(b);
	wr(b, RING_HEAD, 1);
	wr(b, MOVER_SEQNO, 1);
	assert_int_equal(rd(b, MOVER_SEQNO + 4), 0);	/* no register */
	assert_int_equal(count_events(b, AGATE_EV_HINT), 3);
	settle(b);
	assert_int_equal(rd(b, MOVER_STATUS), 0);
	bench_free(b);
}

static void test_a_ring_whose_entry_is_gone(void **state)
{
	struct bench *b = mover_bench_new();

	(void)state;
	b->gsm[RING / 4096] = 0;
	run_cmd(b, &nop);
	assert_faulty(b, AGATE_REASON_ENTRY, RING);
	put_entry(b, RING, SHOWN_PA + RING - SHOWN, 1);
	wr(b, GGTT_INVALIDATE, 0);
	wr(b, MOVER_CMD, MOVER_CMD_RESET);
	settle(b);
	assert_faulty(b, AGATE_REASON_VF, RING);
	put_entry(b, RING, 0x50000000, 0);
	wr(b, GGTT_INVALIDATE, 0);
	wr(b, MOVER_CMD, MOVER_CMD_RESET);
	settle(b);
	assert_faulty(b, AGATE_REASON_BUS, RING);
	bench_free(b);
}

/* Below RESERVED_MAX, and usable only when the firmware leaves it. */
static void test_a_ring_where_the_firmware_lies(void **state)
{
	struct bench *b = card_bench_new();

	(void)state;
	ads(b)->ring = FW_RESERVED;
	put_entry(b, FW_RESERVED, SHOWN_PA + RING - SHOWN, 0);
	start_firmware(b);
	run_cmd(b, &nop);
	assert_int_equal(rd(b, RING_HEAD), 1);
	no_hint(b);
	wr(b, FW_CMD, FW_CMD_STOP);
	ads(b)->ring = FW_RESERVED - 4096;
	put_entry(b, FW_RESERVED - 4096, SHOWN_PA + RING - SHOWN, 0);
	wr(b, GGTT_INVALIDATE, 0);
	start_firmware(b);
	no_hint(b);
	run_cmd(b, &nop);
	assert_true(hinted(b, "an address outside the usable GGTT"));
	assert_faulty(b, AGATE_REASON_COMMAND, FW_RESERVED - 4096 + 64);	/* noise */
	bench_free(b);
}

/* ---- The context --------------------------------------------------------------------- */

static void test_the_context_counts(void **state)
{
	struct bench *b = card_bench_new();
	struct agate_mover_cmd cmd = fence(78);

	(void)state;
	seal_context(b, 0xfffffffe, 77);
	start_firmware(b);
	assert_int_equal(rd(b, RING_HEAD), 0xfffffffe);
	assert_int_equal(rd(b, RING_TAIL), 0xfffffffe);
	assert_int_equal(rd(b, MOVER_SEQNO), 77);
	put_cmd(b, 0xfffffffe, &nop);
	put_cmd(b, 0xffffffff, &nop);
	put_cmd(b, 0, &cmd);
	wr(b, RING_TAIL, 1);
	settle(b);
	assert_int_equal(rd(b, RING_HEAD), 1);
	assert_int_equal(rd(b, MOVER_SEQNO), 78);
	assert_int_equal(rd(b, MOVER_STATUS), 0);
	bench_free(b);
}

static void wrong_at_start(uint32_t magic, uint32_t check, uint32_t tail)
{
	struct bench *b = card_bench_new();

	context(b)->magic += magic;
	context(b)->check = ~(context(b)->magic ^ 0) + check;
	assert_int_equal(FW_STATUS_STATE(start_firmware(b)), FW_STATUS_RUNNING);
	assert_faulty(b, AGATE_REASON_CONTEXT, CONTEXT);
	assert_true(hinted(b, "the mover's context has a wrong magic or check"));
	/* A ring is heard, and waits. */
	put_cmd(b, 10, &nop);
	if (tail)
		wr(b, RING_TAIL, tail);
	settle(b);
	assert_int_equal(rd(b, RING_HEAD), 0);
	/* Nothing was written yet, so any good context will do. */
	seal_context(b, 10, 20);
	wr(b, MOVER_CMD, MOVER_CMD_RESET);
	assert_int_equal(rd(b, RING_TAIL), tail ? tail : 10);
	settle(b);
	assert_int_equal(rd(b, MOVER_STATUS), 0);
	assert_int_equal(rd(b, RING_HEAD), tail ? tail : 10);
	assert_int_equal(rd(b, MOVER_SEQNO), 20);
	run_cmd(b, &nop);
	assert_int_equal(rd(b, RING_HEAD), tail ? tail + 1 : 11);
	bench_free(b);
}

static void test_a_context_that_is_none(void **state)
{
	(void)state;
	wrong_at_start(1, 0, 0);
	wrong_at_start(0, 1, 0);
	wrong_at_start(1, 0, 11);
}

static void test_a_context_that_changed_while_idle(void **state)
{
	struct bench *b = mover_bench_new();
	struct agate_mover_cmd cmd = fence(5);

	(void)state;
	run_cmd(b, &cmd);
	seal_context(b, 0, 5);		/* an old one */
	run_cmd(b, &cmd);
	assert_faulty(b, AGATE_REASON_CONTEXT, CONTEXT);
	assert_true(hinted(b, "the mover's context is not what it wrote"));
	assert_int_equal(last_event(b, AGATE_EV_HINT)->a, 600);
	seal_context(b, 1, 6);
	wr(b, MOVER_CMD, MOVER_CMD_RESET);
	assert_faulty(b, AGATE_REASON_CONTEXT, CONTEXT);
	seal_context(b, 1, 5);		/* what it wrote */
	wr(b, MOVER_CMD, MOVER_CMD_RESET);
	settle(b);
	assert_int_equal(rd(b, MOVER_STATUS), 0);
	assert_int_equal(rd(b, RING_HEAD), 2);
	bench_free(b);
}

/* Between two commands of a busy mover nothing is read. */
static void test_a_context_that_changes_while_busy(void **state)
{
	struct bench *b = mover_bench_new();
	struct agate_mover_cmd cmd = fence(5);

	(void)state;
	put_cmd(b, 0, &nop);
	put_cmd(b, 1, &cmd);
	wr(b, RING_TAIL, 2);
	agate_sim_step(b->sim, 2);	/* the context, then the NOP */
	assert_int_equal(rd(b, RING_HEAD), 1);
	memset(context(b), 0, sizeof(*context(b)));
	settle(b);
	assert_int_equal(rd(b, MOVER_STATUS), 0);
	assert_int_equal(context(b)->head, 2);
	no_hint(b);
	bench_free(b);
}

static void test_a_context_whose_entry_is_gone(void **state)
{
	struct bench *b = mover_bench_new();
	struct agate_mover_cmd cmd = fence(5);

	(void)state;
	b->gsm[CONTEXT / 4096] = 0;
	wr(b, GGTT_INVALIDATE, 0);
	run_cmd(b, &nop);
	assert_faulty(b, AGATE_REASON_ENTRY, CONTEXT);
	put_entry(b, CONTEXT, SHOWN_PA + CONTEXT - SHOWN, 0);
	wr(b, GGTT_INVALIDATE, 0);
	wr(b, MOVER_CMD, MOVER_CMD_RESET);
	settle(b);
	assert_int_equal(rd(b, RING_HEAD), 1);
	/* It goes while the mover is busy: the command is not done until the context says so. */
	cmd.flags = AGATE_MOVER_IRQ;
	put_cmd(b, 1, &cmd);
	wr(b, RING_TAIL, 2);
	agate_sim_step(b->sim, 1);
	b->gsm[CONTEXT / 4096] = 0;
	wr(b, GGTT_INVALIDATE, 0);
	settle(b);
	assert_faulty(b, AGATE_REASON_ENTRY, CONTEXT);
	assert_int_equal(rd(b, RING_HEAD), 1);
	assert_int_equal(rd(b, MOVER_SEQNO), 0);
	assert_int_equal(rd(b, CARD_INT_RAWSTAT) & CARD_INT_MOVER_DONE, 0);
	bench_free(b);
}

/* ---- Faults and resets ------------------------------------------------------------------ */

static void test_a_fault_stops_the_ring(void **state)
{
	struct bench *b = mover_bench_new();
	struct agate_mover_cmd cmd = fence(2);

	(void)state;
	put_cmd(b, 0, &wrong);
	put_cmd(b, 1, &cmd);
	wr(b, RING_TAIL, 2);
	settle(b);
	assert_faulty(b, AGATE_REASON_COMMAND, RING);
	assert_int_equal(rd(b, RING_HEAD), 0);
	assert_int_equal(last_event(b, AGATE_EV_MOVER_END)->c, AGATE_REASON_COMMAND);
	assert_int_equal(counter(b, AGATE_CNT_MOVER_FAULTS), 1);
	assert_int_equal(counter(b, AGATE_CNT_MOVER_COMMANDS), 0);
	/* A TAIL is not looked at before RESET. */
	wr(b, RING_TAIL, 1000);
	assert_faulty(b, AGATE_REASON_COMMAND, RING);
	wr(b, RING_TAIL, 2);
	/* The same again, until the driver makes a NOP of it. */
	wr(b, MOVER_CMD, MOVER_CMD_RESET);
	settle(b);
	assert_faulty(b, AGATE_REASON_COMMAND, RING);
	skip_cmd(b);
	assert_int_equal(rd(b, RING_HEAD), 2);
	assert_int_equal(rd(b, MOVER_SEQNO), 2);
	assert_int_equal(rd64(b, MOVER_FAULT_ADDR_LO), 0);
	assert_int_equal(rd(b, CARD_INT_RAWSTAT), 0);
	no_hint(b);
	bench_free(b);
}

/* A reset under a command that is right: it is done again, from its first byte. */
static void test_a_reset_replays(void **state)
{
	struct bench *b = mover_bench_new();
	struct agate_mover_cmd cmd = fill(0x40000);

	(void)state;
	put_cmd(b, 0, &cmd);
	wr(b, RING_TAIL, 1);
	agate_sim_step(b->sim, 4);
	assert_int_equal(get64(b, DATA_PA + 0x1fff8), ~0ull);
	assert_int_equal(get64(b, DATA_PA + 0x20000), 0);
	memset(shown(b, DATA), 0, 64);
	wr(b, MOVER_CMD, MOVER_CMD_RESET);
	assert_string_equal(last_event(b, AGATE_EV_MOVER_END)->text, "reset");
	assert_int_equal(rd(b, MOVER_STATUS), MOVER_STATUS_BUSY);
	settle(b);
	assert_int_equal(rd(b, RING_HEAD), 1);
	assert_int_equal(get64(b, DATA_PA), ~0ull);
	assert_int_equal(get64(b, DATA_PA + 0x3fff8), ~0ull);
	assert_int_equal(get64(b, DATA_PA + 0x40000), 0);
	assert_int_equal(counter(b, AGATE_CNT_MOVER_COMMANDS), 1);
	assert_int_equal(counter(b, AGATE_CNT_MOVER_BYTES), 0x60000);
	no_hint(b);
	bench_free(b);
}

static void test_a_reset_of_an_idle_mover(void **state)
{
	struct bench *b = mover_bench_new();
	struct agate_mover_cmd cmd = fence(8);

	(void)state;
	run_cmd(b, &cmd);
	wr(b, MOVER_CMD, MOVER_CMD_RESET);
	assert_int_equal(rd(b, MOVER_STATUS), 0);
	assert_int_equal(rd(b, RING_HEAD), 1);
	assert_int_equal(rd(b, MOVER_SEQNO), 8);
	/* It is idle: the next command has it read its context. */
	seal_context(b, 0, 0);
	run_cmd(b, &nop);
	assert_faulty(b, AGATE_REASON_CONTEXT, CONTEXT);
	bench_free(b);
}

static void injected(const char *spec, enum agate_mover_reason reason)
{
	struct bench *b = mover_bench_new();
	struct agate_mover_cmd cmd = fill(64);
	uint64_t begun;

	inject(b, spec);
	run_cmd(b, &cmd);
	assert_int_equal(mover_reason(b), 0);
	run_cmd(b, &cmd);
	assert_faulty(b, reason, DATA_PA);
	assert_int_equal(count_events(b, AGATE_EV_INJECTED), 1);
	begun = agate_sim_time(b->sim);
	wr(b, MOVER_CMD, MOVER_CMD_RESET);
	/* The access, and the context. */
	assert_int_equal(agate_sim_time(b->sim) - begun, 2);
	settle(b);
	/* The command and 64 bytes. */
	assert_int_equal(agate_sim_time(b->sim) - begun, 4);
	assert_int_equal(mover_reason(b), 0);
	assert_int_equal(rd(b, RING_HEAD), 2);
	bench_free(b);
}

static void test_a_fault_can_be_injected(void **state)
{
	struct injections injections;

	(void)state;
	injected("fail-mover:2", AGATE_REASON_INJECTED);
	injected("fail-mover:2:4", AGATE_REASON_BUS);
	injected("fail-mover:2:2", AGATE_REASON_ENTRY);
	assert_non_null(inject_parse("fail-mover:2:9", &injections));
	assert_non_null(inject_parse("fail-mover:2:0", &injections));
	assert_non_null(inject_parse("fail-mover:2:1:1", &injections));
}

static void test_its_message_can_be_dropped(void **state)
{
	struct bench *b = mover_bench_new();
	struct agate_mover_cmd cmd = fence(1);
	unsigned int messages = b->messages[AGATE_VECTOR_CARD];

	(void)state;
	inject(b, "drop-irq:1:card");
	cmd.flags = AGATE_MOVER_IRQ;
	run_cmd(b, &cmd);
	assert_int_equal(rd(b, CARD_INT_STAT), CARD_INT_MOVER_DONE);
	assert_int_equal(b->messages[AGATE_VECTOR_CARD], messages);
	bench_free(b);
}

static void test_power_goes_under_a_command(void **state)
{
	struct bench *b = mover_bench_new();
	struct agate_mover_cmd cmd = fill(0x40000);

	(void)state;
	put_cmd(b, 0, &cmd);
	wr(b, RING_TAIL, 1);
	agate_sim_step(b->sim, 3);
	wr(b, AGATE_CARD_POWER, 0);
	assert_true(hinted(b, "POWER off: VRAM holds what nobody saved"));
	assert_string_equal(last_event(b, AGATE_EV_MOVER_END)->text, "lost");
	settle(b);
	assert_int_equal(get64(b, DATA_PA + 0x10000), 0);
	wr(b, AGATE_CARD_POWER, 1);
	assert_int_equal(rd(b, MOVER_STATUS), 0);
	assert_int_equal(rd(b, RING_TAIL), 0);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fences_in_order),
		cmocka_unit_test(test_a_fence_with_an_interrupt),
		cmocka_unit_test(test_a_full_ring),
		cmocka_unit_test(test_a_large_ring_of_many_pages),
		cmocka_unit_test(test_more_than_the_ring_holds),
		cmocka_unit_test(test_a_tail_behind_the_head),
		cmocka_unit_test(test_a_command_is_withdrawn),
		cmocka_unit_test(test_the_ring_needs_firmware),
		cmocka_unit_test(test_a_ring_whose_entry_is_gone),
		cmocka_unit_test(test_a_ring_where_the_firmware_lies),
		cmocka_unit_test(test_the_context_counts),
		cmocka_unit_test(test_a_context_that_is_none),
		cmocka_unit_test(test_a_context_that_changed_while_idle),
		cmocka_unit_test(test_a_context_that_changes_while_busy),
		cmocka_unit_test(test_a_context_whose_entry_is_gone),
		cmocka_unit_test(test_a_fault_stops_the_ring),
		cmocka_unit_test(test_a_reset_replays),
		cmocka_unit_test(test_a_reset_of_an_idle_mover),
		cmocka_unit_test(test_a_fault_can_be_injected),
		cmocka_unit_test(test_its_message_can_be_dropped),
		cmocka_unit_test(test_power_goes_under_a_command),
	};

	return cmocka_run_group_tests_name("sim-mover", tests, NULL, NULL);
}
