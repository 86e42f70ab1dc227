// SPDX-License-Identifier: MIT
/*
 * The GPU that the command line selects.  test_start.c tests invalid command lines.
 */
#include "gpu_bench.h"

#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

#include "sim_options.h"

#define MAX_ARGS	24

static bool parse(struct options *o, const char *name, const char *value)
{
	char *args[MAX_ARGS] = {
		"agate-sim", "--bar2-fd", "3", "--ram-fd", "4", "--doorbell-fd", "5",
		"--ready-fd", "6", "--vector-fds", "7,8,9,10", "--ram", "0:4096:0",
		(char *)name, (char *)value,
	};

	optind = 0;	/* from the beginning again */
	return options_parse(o, 13 + !!name + !!value, args);
}

/* Keep the usage text of a refusal out of the test's output. */
static void refused(const char *name, const char *value)
{
	struct options o;
	int err = dup(STDERR_FILENO);

	assert_non_null(freopen("/dev/null", "w", stderr));
	assert_false(parse(&o, name, value));
	fflush(stderr);
	dup2(err, STDERR_FILENO);
	close(err);
}

static void test_what_is_not_said(void **state)
{
	struct options o;

	(void)state;
	assert_true(parse(&o, NULL, NULL));
	assert_int_equal(o.config.gpu, AGATE_SIM_MIDGARD);
	assert_int_equal(o.config.gpu_id, 0);
	assert_int_equal(o.config.coherency, AGATE_SIM_COHERENCY_ACE);
	assert_int_equal(o.config.l2_size, 0);
}

static void test_gpu(void **state)
{
	struct options o;

	(void)state;
	assert_true(parse(&o, "--gpu", "midgard"));
	assert_int_equal(o.config.gpu, AGATE_SIM_MIDGARD);
	assert_true(parse(&o, "--gpu", "bifrost"));
	assert_int_equal(o.config.gpu, AGATE_SIM_BIFROST);
	refused("--gpu", "valhall");
	assert_true(parse(&o, "--gpu-id", "70930000"));
	assert_int_equal(o.config.gpu_id, 0x70930000);
	refused("--gpu-id", "g31");
}

static void test_coherency(void **state)
{
	struct options o;

	(void)state;
	assert_true(parse(&o, "--coherency", "ace"));
	assert_int_equal(o.config.coherency, AGATE_SIM_COHERENCY_ACE);
	assert_true(parse(&o, "--coherency", "ace-lite"));
	assert_int_equal(o.config.coherency, AGATE_SIM_COHERENCY_ACE_LITE);
	assert_true(parse(&o, "--coherency", "none"));
	assert_int_equal(o.config.coherency, AGATE_SIM_COHERENCY_NONE);
	refused("--coherency", "");
	refused("--coherency", "full");
}

static void test_l2_size(void **state)
{
	struct options o;

	(void)state;
	assert_true(parse(&o, "--l2-size", "4096"));
	assert_int_equal(o.config.l2_size, 4096);
	assert_true(parse(&o, "--l2-size", "0x20000"));
	assert_int_equal(o.config.l2_size, 131072);
	refused("--l2-size", "128K");
}

static void test_idle_from_host(void **state)
{
	struct options o;

	(void)state;
	assert_true(parse(&o, "--seed", "1"));
	assert_false(o.idle_from_host);
	assert_true(parse(&o, "--idle-from-host", NULL));
	assert_true(o.idle_from_host);
}

static void test_card(void **state)
{
	struct options o;

	(void)state;
	assert_true(parse(&o, NULL, NULL));
	assert_false(o.config.card);
	assert_true(parse(&o, "--card", NULL));
	assert_true(o.config.card);
	assert_int_equal(o.config.vram_total, 0);
	assert_int_equal(o.vram_visible, 0);
	assert_int_equal(o.config.dma_bits, 0);
	assert_false(o.config.ggtt_64k);
	assert_true(parse(&o, "--card", "--vram=512"));
	assert_int_equal(o.config.vram_total, 512ull << 20);
	refused("--card", "--vram=513");
	assert_true(parse(&o, "--card", "--vram-visible=8"));
	assert_int_equal(o.vram_visible, 8u << 20);
	assert_true(parse(&o, "--card", "--dma-bits=24"));
	assert_int_equal(o.config.dma_bits, 24);
	assert_true(parse(&o, "--card", "--ggtt-64k"));
	assert_true(o.config.ggtt_64k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_what_is_not_said),
		cmocka_unit_test(test_gpu),
		cmocka_unit_test(test_coherency),
		cmocka_unit_test(test_l2_size),
		cmocka_unit_test(test_idle_from_host),
		cmocka_unit_test(test_card),
	};

	return cmocka_run_group_tests_name("sim-options", tests, NULL, NULL);
}
