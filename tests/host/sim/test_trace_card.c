// SPDX-License-Identifier: MIT
/*
 * The trace of a card: a span for each command of the mover, and how much the commands have moved
 * into VRAM and out of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agate_card.h"
#include "agate_regs.h"
#include "trace.h"
#include "trace_check.h"

#define MIB	(1u << 20)
#define RAM	0x40000000ull

static char path[] = "/tmp/agate-trace-card-XXXXXX";
static struct trace trace;

static uint32_t modes(unsigned int src, unsigned int dst)
{
	return AGATE_MOVER_SRC(src) | AGATE_MOVER_DST(dst);
}

/* A command from its begin to its end, for which the model gives @why or @fault. */
static void carry_out(uint64_t time, const struct agate_mover_cmd *cmd, const char *why,
		      unsigned int fault)
{
	struct agate_sim_event e = { .kind = AGATE_EV_MOVER_BEGIN, .time = time, .mover = cmd };

	trace_event(&trace, &e);
	e.kind = AGATE_EV_MOVER_END;
	e.time = time + 5;
	e.text = why;
	e.c = fault;
	trace_event(&trace, &e);
}

static void copy(uint64_t time, uint32_t mode, uint64_t src, uint64_t dst)
{
	const struct agate_mover_cmd cmd = {
		.op = AGATE_MOVER_COPY, .flags = mode, .src = src, .dst = dst, .length = MIB,
	};

	carry_out(time, &cmd, NULL, 0);
}

/* Is there a value of the counter with these numbers? */
static bool counted(const char *text, unsigned int in, unsigned int out, unsigned int filled)
{
	char values[96];

	snprintf(values, sizeof(values), "{\"moved in\": %u, \"moved out\": %u, \"filled\": %u}",
		 in * MIB, out * MIB, filled * MIB);
	return strstr(text, values);
}

static void test_residency(void **state)
{
	const struct agate_mover_cmd fill = {
		.op = AGATE_MOVER_FILL, .flags = modes(0, AGATE_MOVER_PHYS), .dst = AGATE_PHYS_VRAM,
		.length = 2 * MIB,
	};
	const struct agate_mover_cmd fence = { .op = AGATE_MOVER_FENCE, .seqno = 7 };
	static char text[16384];
	struct trace_report report;
	FILE *file;

	(void)state;
	assert_null(trace_open(&trace, path, MIB));
	carry_out(10, &fill, NULL, 0);
	copy(20, modes(AGATE_MOVER_PAGES, AGATE_MOVER_PHYS), RAM, AGATE_PHYS_VRAM);
	copy(30, modes(AGATE_MOVER_PAGES, AGATE_MOVER_PHYS), RAM, AGATE_PHYS_VRAM + MIB);
	copy(40, modes(AGATE_MOVER_PHYS, AGATE_MOVER_PAGES), AGATE_PHYS_VRAM, RAM);
	/* Nothing comes or goes: within VRAM, within RAM, no command that moves, or one that failed. */
	copy(50, modes(AGATE_MOVER_PHYS, AGATE_MOVER_PHYS), AGATE_PHYS_VRAM, AGATE_PHYS_VRAM + MIB);
	copy(60, modes(AGATE_MOVER_PHYS, AGATE_MOVER_PAGES), RAM, RAM);
	carry_out(70, &fence, NULL, 0);
	carry_out(80, &fill, NULL, AGATE_REASON_BUS);
	carry_out(90, &fill, "RESET", 0);
	assert_true(trace_close(&trace));

	if (!trace_check(path, &report))
		fail_msg("%s", report.why);
	assert_int_equal(report.open, 0);
	assert_true(trace_has_track(&report, "mover"));
	assert_true(trace_has_track(&report, "residency in VRAM (bytes)"));
	assert_int_equal(trace_count(&report, "FENCE 7"), 1);
	assert_int_equal(trace_count(&report, "COPY 0x8000000000, 1048576 bytes"), 1);
	assert_int_equal(json_integer_value(json_object_get(report.counters,
							    "residency in VRAM (bytes)")), 6);
	trace_report_free(&report);

	file = fopen(path, "re");
	assert_non_null(file);
	text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
	fclose(file);
	assert_true(counted(text, 0, 0, 2) && counted(text, 1, 0, 2) && counted(text, 2, 0, 2));
	assert_true(counted(text, 2, 1, 2));
	assert_false(counted(text, 2, 2, 2) || counted(text, 3, 1, 2) || counted(text, 2, 1, 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_residency),
	};
	int fd = mkstemp(path), failed;

	if (fd < 0)
		return 1;
	close(fd);
	failed = cmocka_run_group_tests_name("trace-card", tests, NULL, NULL);
	unlink(path);
	return failed;
}
