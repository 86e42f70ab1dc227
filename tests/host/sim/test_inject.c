// SPDX-License-Identifier: MIT
/*
 * Injections: each strikes once, at the n-th occasion of its kind, and changes
 * nothing else; and their text format.
 */
#include "gpu_bench.h"

#include <string.h>

#include "inject_spec.h"
#include "names.h"

static void inject(struct bench *b, const char *spec)
{
	struct injections injections;

	assert_null(inject_parse(spec, &injections));
	assert_true(inject_set(b->sim, &injections));
}

static void run_null(struct bench *b)
{
	put_job(b, 0, AGATE_JOB_NULL, 0);
	start_job(b, 0, VA, 0);
	settle(b);
}

static unsigned int struck(const struct bench *b)
{
	return count_events(b, AGATE_EV_INJECTED);
}

/* ---- What they do ----------------------------------------------------------- */

static void test_the_second_message_is_dropped(void **state)
{
	struct bench *b = bench_ready();
	unsigned int i;

	(void)state;
	inject(b, "drop-irq:2");
	for (i = 1; i <= 3; i++) {
		run_null(b);
		assert_int_equal(b->messages[AGATE_VECTOR_JOB], i < 2 ? i : i - 1);
		assert_int_equal(rd(b, JOB_INT_STAT), 1);	/* the line is up all the same */
		wr(b, JOB_INT_CLEAR, 1);
	}
	assert_int_equal(counter(b, AGATE_CNT_IRQS), 2);
	assert_int_equal(struck(b), 1);
	assert_int_equal(count_events(b, AGATE_EV_IRQ), 2);
	bench_free(b);
}

static void test_a_dropped_message_comes_after_a_write_of_mask(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	inject(b, "drop-irq:1");
	run_null(b);
	assert_int_equal(b->messages[AGATE_VECTOR_JOB], 0);
	wr(b, JOB_INT_MASK, 0x70007);
	assert_int_equal(b->messages[AGATE_VECTOR_JOB], 1);
	bench_free(b);
}

static void test_only_messages_of_its_vector_count(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	inject(b, "drop-irq:1:gpu");
	run_null(b);
	assert_int_equal(b->messages[AGATE_VECTOR_JOB], 1);
	wr(b, GPU_INT_MASK, GPU_IRQ_CLEAN_CACHES_COMPLETED);
	wr(b, GPU_CMD, GPU_CMD_CLEAN_CACHES);
	settle(b);
	assert_int_equal(rd(b, GPU_INT_STAT), GPU_IRQ_CLEAN_CACHES_COMPLETED);
	assert_int_equal(b->messages[AGATE_VECTOR_GPU], 0);
	assert_int_equal(struck(b), 1);
	bench_free(b);
}

static void test_a_message_comes_late(void **state)
{
	struct bench *b = bench_ready();
	uint64_t before;

	(void)state;
	inject(b, "delay-irq:1:5000:job");
	put_job(b, 0, AGATE_JOB_NULL, 0);
	start_job(b, 0, VA, 0);
	before = agate_sim_time(b->sim);
	assert_true(agate_sim_step(b->sim, 3));		/* fetch, run, write back */
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	assert_int_equal(b->messages[AGATE_VECTOR_JOB], 0);
	settle(b);
	assert_int_equal(b->messages[AGATE_VECTOR_JOB], 1);
	assert_in_range(agate_sim_time(b->sim), before + 5000, before + 5100);
	bench_free(b);
}

static void test_an_as_command_sticks(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	inject(b, "stick-as:2");
	wr64(b, AS_LOCKADDR_LO(0), LOCK_ALL);
	as_command(b, 0, AS_COMMAND_LOCK);
	wr(b, AS_COMMAND(0), AS_COMMAND_UNLOCK);
	assert_int_equal(rd(b, AS_STATUS(0)), AS_STATUS_AS_ACTIVE);
	settle(b);
	assert_int_equal(rd(b, AS_STATUS(0)), AS_STATUS_AS_ACTIVE);
	/* A reset helps, and later commands work. */
	bench_reset(b);
	bench_power_on(b);
	as_set_table(b, 0, TABLE_L0);
	run_null(b);
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	assert_int_equal(struck(b), 1);
	bench_free(b);
}

static void test_a_power_up_fails(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	inject(b, "fail-power:2");
	wr(b, GPU_L2_PWRON_LO, 1);
	poll_reg(b, GPU_L2_READY_LO, 1, 1);
	wr(b, GPU_SHADER_PWRON_LO, 0xf);
	poll_reg(b, GPU_SHADER_PWRTRANS_LO, 0xf, 0);
	assert_int_equal(rd(b, GPU_SHADER_READY_LO), 0);
	assert_string_equal(last_event(b, AGATE_EV_POWER)->text, "failed");
	assert_true(rd(b, GPU_INT_RAWSTAT) & GPU_IRQ_POWER_CHANGED_ALL);
	/* The second attempt succeeds; the injection does not affect power-off. */
	wr(b, GPU_SHADER_PWRON_LO, 0xf);
	poll_reg(b, GPU_SHADER_READY_LO, 0xf, 0xf);
	wr(b, GPU_SHADER_PWROFF_LO, 0xf);
	poll_reg(b, GPU_SHADER_PWRTRANS_LO, 0xf, 0);
	assert_int_equal(rd(b, GPU_SHADER_READY_LO), 0);
	assert_int_equal(struck(b), 1);
	bench_free(b);
}

static void test_an_l2_that_fails_is_not_there_for_the_rest(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	inject(b, "fail-power:1");
	wr(b, GPU_L2_PWRON_LO, 1);
	poll_reg(b, GPU_L2_PWRTRANS_LO, 1, 0);
	assert_int_equal(rd(b, GPU_L2_READY_LO), 0);
	wr(b, GPU_SHADER_PWRON_LO, 0xf);
	assert_true(hinted(b, "PWRON of shader or tiler before the L2 is ready is ignored"));
	bench_free(b);
}

static void test_clock_and_supply_keep_their_settings(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	inject(b, "refuse-clock:1,refuse-clock:4");
	wr(b, AGATE_CLK_SELECT, 2);
	assert_int_equal(rd(b, AGATE_CLK_SELECT), 3);
	assert_int_equal(count_events(b, AGATE_EV_CLOCK), 0);
	wr(b, AGATE_CLK_SELECT, 9);	/* a point that does not exist is no occasion */
	wr(b, AGATE_CLK_SELECT, 2);
	wr(b, AGATE_VOLT_SELECT, 850);
	wr(b, AGATE_VOLT_SELECT, 1000);
	assert_int_equal(rd(b, AGATE_CLK_SELECT), 2);
	assert_int_equal(rd(b, AGATE_VOLT_SELECT), 850);
	assert_int_equal(struck(b), 2);
	assert_int_equal(count_events(b, AGATE_EV_CLOCK), 2);
	bench_free(b);
}

static void test_a_header_is_written_back_wrong(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	inject(b, "corrupt-header:2,corrupt-header:3:0x100");
	put_job(b, 0x00, AGATE_JOB_NULL, VA + 0x40);
	put_job(b, 0x40, AGATE_JOB_NULL, VA + 0x80);
	put_job(b, 0x80, AGATE_JOB_NULL, 0);
	start_job(b, 0, VA, 0);
	settle(b);
	assert_int_equal(job_status(b, 0x00), AGATE_EXC_DONE);
	assert_int_equal(job_status(b, 0x40), 0xff ^ AGATE_EXC_DONE);
	assert_int_equal(job_status(b, 0x80), 0x100 ^ AGATE_EXC_DONE);
	assert_int_equal(get64(b, PA + 0x08), 0);
	assert_int_equal(get64(b, PA + 0x48), UINT64_MAX);
	assert_int_equal(get32(b, PA + 0x50), 0x3);	/* its control word is as it was */
	/* Only memory is wrong. */
	assert_int_equal(rd(b, JS_STATUS(0)), AGATE_EXC_DONE);
	assert_int_equal(rd(b, JOB_INT_RAWSTAT), 1);
	bench_free(b);
}

/* Headers whose page faults at the write-back count once. */
static void test_a_fault_in_between_does_not_count_twice(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	inject(b, "corrupt-header:1");
	put64(b, TABLE_L3, 0x40010041);		/* readable only */
	run_null(b);
	assert_int_equal(struck(b), 0);
	rd(b, MMU_INT_RAWSTAT);
	wr(b, MMU_INT_CLEAR, 1);
	put64(b, TABLE_L3, 0x400100c1);
	as_flush(b, 0, LOCK_ALL, AS_COMMAND_FLUSH_PT);
	settle(b);
	assert_int_equal(struck(b), 1);
	assert_int_equal(job_status(b, 0), 0xff ^ AGATE_EXC_DONE);
	bench_free(b);
}

static void test_none_takes_all_back(void **state)
{
	struct bench *b = bench_ready();

	(void)state;
	inject(b, "drop-irq:1,corrupt-header:1");
	inject(b, "none");
	run_null(b);
	assert_int_equal(b->messages[AGATE_VECTOR_JOB], 1);
	assert_int_equal(job_status(b, 0), AGATE_EXC_DONE);
	assert_int_equal(struck(b), 0);
	bench_free(b);
}

static void test_they_survive_a_reset(void **state)
{
	struct bench *b = bench_new();

	(void)state;
	inject(b, "fail-power:1");
	bench_reset(b);
	wr(b, GPU_L2_PWRON_LO, 1);
	poll_reg(b, GPU_L2_PWRTRANS_LO, 1, 0);
	assert_int_equal(rd(b, GPU_L2_READY_LO), 0);
	bench_free(b);
}

/* ---- Room and sense ------------------------------------------------------------ */

static void test_there_is_room_for_so_many(void **state)
{
	const struct agate_sim_injection injection = {
		.kind = AGATE_SIM_INJECT_STICK_AS, .n = 1000,
	};
	struct injections two;
	struct bench *b = bench_new();
	unsigned int i;

	(void)state;
	for (i = 0; i < AGATE_SIM_MAX_INJECTIONS - 1; i++)
		assert_int_equal(agate_sim_inject(b->sim, &injection), 0);
	assert_null(inject_parse("drop-irq:1,drop-irq:2", &two));
	assert_false(inject_set(b->sim, &two));
	assert_int_equal(agate_sim_inject_room(b->sim), 1);
	assert_int_equal(agate_sim_inject(b->sim, &injection), 0);
	assert_int_equal(agate_sim_inject(b->sim, &injection), -1);
	bench_free(b);
}

static void test_what_makes_no_sense_is_refused(void **state)
{
	const struct agate_sim_injection never = { .kind = AGATE_SIM_INJECT_STICK_AS };
	const struct agate_sim_injection unknown = { .kind = AGATE_SIM_INJECTION_KINDS, .n = 1 };
	struct bench *b = bench_new();

	(void)state;
	assert_int_equal(agate_sim_inject(b->sim, &never), -1);
	assert_int_equal(agate_sim_inject(b->sim, &unknown), -1);
	bench_free(b);
}

/* ---- In words -------------------------------------------------------------------- */

static void test_words(void **state)
{
	struct injections i;

	(void)state;
	assert_null(inject_parse("drop-irq:3:mmu,delay-irq:1:0x20,die:77", &i));
	assert_int_equal(i.count, 2);
	assert_int_equal(i.die, 77);
	assert_false(i.none);
	assert_int_equal(i.list[0].kind, AGATE_SIM_INJECT_DROP_IRQ);
	assert_int_equal(i.list[0].n, 3);
	assert_int_equal(i.list[0].vectors, 1u << AGATE_VECTOR_MMU);
	assert_int_equal(i.list[1].kind, AGATE_SIM_INJECT_DELAY_IRQ);
	assert_int_equal(i.list[1].arg, 32);
	assert_int_equal(i.list[1].vectors, 0);
	assert_null(inject_parse("none,corrupt-header:1", &i));
	assert_true(i.none);
	assert_int_equal(i.count, 1);
	assert_int_equal(i.list[0].arg, 0xff);
	assert_null(inject_parse("none", &i));
	assert_int_equal(i.count, 0);
}

static void test_words_without_sense(void **state)
{
	static const char *const bad[] = {
		"", ",", "drop-irq", "drop-irq:", "drop-irq:0", "drop-irq:-1", "drop-irq:x",
		"drop-irq:1x", "drop-irq:4294967296", "drop-irq:1:", "drop-irq:1:display",
		"drop-irq:1:gpu:1", "delay-irq:1", "delay-irq:1:0", "delay-irq:1:gpu",
		"delay-irq:1:2000000000", "delay-irq:1:2:gpu:3", "stick-as:1:2", "fail-power:1:2",
		"corrupt-header:1:0", "corrupt-header:1:2:3", "die", "die:0", "die:1:2",
		"explode:1", "none:1", "drop-irq:1,", "drop-irq:1,,stick-as:1", " drop-irq:1",
		"drop-irq:1111111111111111111111111111111111111111111111111111111111111111",
		"die:1,die", "unknown:1",
	};
	struct injections injections;
	char many[32 * 16] = "stick-as:1";
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (!inject_parse(bad[i], &injections))
			fail_msg("\"%s\" made sense", bad[i]);
	for (i = 1; i < AGATE_SIM_MAX_INJECTIONS; i++)
		strcat(many, ",stick-as:1");
	assert_null(inject_parse(many, &injections));
	strcat(many, ",stick-as:1");
	assert_non_null(inject_parse(many, &injections));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_second_message_is_dropped),
		cmocka_unit_test(test_a_dropped_message_comes_after_a_write_of_mask),
		cmocka_unit_test(test_only_messages_of_its_vector_count),
		cmocka_unit_test(test_a_message_comes_late),
		cmocka_unit_test(test_an_as_command_sticks),
		cmocka_unit_test(test_a_power_up_fails),
		cmocka_unit_test(test_an_l2_that_fails_is_not_there_for_the_rest),
		cmocka_unit_test(test_clock_and_supply_keep_their_settings),
		cmocka_unit_test(test_a_header_is_written_back_wrong),
		cmocka_unit_test(test_a_fault_in_between_does_not_count_twice),
		cmocka_unit_test(test_none_takes_all_back),
		cmocka_unit_test(test_they_survive_a_reset),
		cmocka_unit_test(test_there_is_room_for_so_many),
		cmocka_unit_test(test_what_makes_no_sense_is_refused),
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_words_without_sense),
	};

	return cmocka_run_group_tests_name("sim-inject", tests, NULL, NULL);
}
