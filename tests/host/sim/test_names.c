// SPDX-License-Identifier: MIT
/*
 * Names in the log: every register of the GPU has its own name.
 */
#include "gpu_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

#define REGISTERS_END	0xa000u
#define MAX_NAMES	1024

static void is(uint32_t offset, const char *want)
{
	char buf[NAME_SIZE];

	assert_string_equal(name_register(offset, buf), want);
}

static void test_registers(void **state)
{
	(void)state;
	is(GPU_ID, "GPU_ID");
	is(GPU_SHADER_PWRON_HI, "GPU_SHADER_PWRON_HI");
	is(GPU_TEXTURE_FEATURES(0), "GPU_TEXTURE_FEATURES_0");
	is(GPU_TEXTURE_FEATURES(3), "GPU_TEXTURE_FEATURES_3");
	is(GPU_JS_FEATURES(0), "GPU_JS_FEATURES_0");
	is(GPU_JS_FEATURES(15), "GPU_JS_FEATURES_15");
	is(JOB_INT_JS_STATE, "JOB_INT_JS_STATE");
	is(JS_HEAD_LO(0), "JS0_HEAD_LO");
	is(JS_COMMAND_NEXT(2), "JS2_COMMAND_NEXT");
	is(AS_TRANSTAB_HI(0), "AS0_TRANSTAB_HI");
	is(AS_FAULTEXTRA_LO(7), "AS7_FAULTEXTRA_LO");
	is(AGATE_COUNTER_LO(0), "COUNTER_walks_LO");
	is(AGATE_COUNTER_HI(AGATE_CNT_HINTS), "COUNTER_hints_HI");
	is(AGATE_LISTED_START_LO(0), "LISTED0_START_LO");
	is(AGATE_LISTED_COMMAND(2), "LISTED2_COMMAND");
	is(AGATE_CLK_TABLE_FREQ(0), "CLK_TABLE_FREQ_0");
	is(AGATE_CLK_TABLE_VOLT(1), "CLK_TABLE_VOLT_1");
}

static void test_no_registers(void **state)
{
	(void)state;
	is(GPU_ID + 1, "0x1");
	is(GPU_TEXTURE_FEATURES(0) + 2, "0xb2");
	is(0x10c, "0x10c");
	is(JS_HEAD_LO(AGATE_MAX_SLOTS), "0x1980");
	is(0x1834, "0x1834");
	is(AS_TRANSTAB_LO(AGATE_MAX_AS), "0x2800");
	is(AGATE_COUNTER_LO(AGATE_CNT_COUNT), "0x80c8");
	is(AGATE_LISTED_START_LO(AGATE_MAX_SLOTS), "0x8830");
	is(AGATE_CLK_TABLE_FREQ(AGATE_CLK_MAX_POINTS), "0x9030");
	is(UINT32_MAX, "0xffffffff");
}

static int by_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* No number in place of a name, and no name for two registers. */
static void test_each_register_has_a_name_of_its_own(void **state)
{
	static char names[MAX_NAMES][NAME_SIZE];
	struct bench *b = bench_new();
	unsigned int i, n = 0;
	uint32_t offset;

	(void)state;
	for (offset = 0; offset < REGISTERS_END; offset += 4) {
		const char *name = name_register(offset, names[n]);

		forget_events(b);
		rd(b, offset);
		if (!strncmp(name, "0x", 2)) {
			if (!hinted(b, "unaligned or unknown"))
				fail_msg("register %s has no name", name);
			continue;
		}
		if (name != names[n])
			snprintf(names[n], NAME_SIZE, "%s", name);
		assert_true(++n < MAX_NAMES);
	}
	assert_true(n > 200);
	qsort(names, n, NAME_SIZE, by_name);
	for (i = 1; i < n; i++)
		if (!strcmp(names[i - 1], names[i]))
			fail_msg("two registers are called %s", names[i]);
	bench_free(b);
}

static void test_what_has_no_name(void **state)
{
	(void)state;
	assert_string_equal(name_exception(AGATE_EXC_DONE), "DONE");
	assert_string_equal(name_exception(AGATE_EXC_TRANSLATION_FAULT_0 + 3),
			    "TRANSLATION_FAULT_3");
	assert_string_equal(name_exception(0xff), "unknown");
	assert_string_equal(name_job_type(AGATE_JOB_TILER), "TILER");
	assert_string_equal(name_job_type(99), "unknown");
	assert_string_equal(name_vector(AGATE_VECTOR_MMU), "MMU");
	assert_string_equal(name_vector(99), "unknown");
	assert_string_equal(name_as_command(AS_COMMAND_FLUSH_PT), "FLUSH_PT");
	assert_string_equal(name_as_command(99), "unknown");
	assert_string_equal(name_gpu_command(GPU_CMD_SOFT_RESET), "SOFT_RESET");
	assert_string_equal(name_gpu_command(99), "unknown");
	assert_string_equal(name_power_domain(99), "unknown");
	assert_string_equal(name_injection(99), "unknown");
	assert_string_equal(name_counter(99), "unknown");
	assert_string_equal(name_access(99), "unknown");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_registers),
		cmocka_unit_test(test_no_registers),
		cmocka_unit_test(test_each_register_has_a_name_of_its_own),
		cmocka_unit_test(test_what_has_no_name),
	};

	return cmocka_run_group_tests_name("sim-names", tests, NULL, NULL);
}
