// SPDX-License-Identifier: MIT
/*
 * The card as the launcher and the guest meet it: what BAR2's header says of it, its events
 * in log and trace, and the requests power-cut, power-back and crc.
 */
#include "process_bench.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "agate_bar2.h"
#include "agate_card.h"
#include "crc_slowly.h"
#include "guest_bus.h"
#include "trace_check.h"

#define MIB		(1u << 20)
#define FIRST		0x800u		/* first entry that engines use */

static uint32_t crc_of(struct gpu *g, const char *request)
{
	json_t *answer = g_control(g, request);
	uint32_t crc = (uint32_t)json_integer_value(json_object_get(answer, "crc"));

	assert_true(json_is_true(json_object_get(answer, "ok")));
	json_decref(answer);
	return crc;
}

static void test_the_header(void **state)
{
	struct gpu *g = gpu_start("--card --vram=3");

	(void)state;
	assert_int_equal(g_read(g, CARD_ID), 0x00010000);
	assert_int_equal(g_read(g, CARD_VRAM_SIZE_LO), 3 * MIB);
	assert_int_equal(guest_bus_header(g->bar2)->vram_size, MIB);
	assert_int_equal(guest_bus_header(g->bar2)->gsm_size, AGATE_BAR2_GSM_SIZE);
	g_quit(g);
	gpu_free(g);

	g = gpu_start("--card --gpu=bifrost --vram-visible=1 --dma-bits=36 --ggtt-64k");
	assert_int_equal(g_read(g, CARD_FEATURES), 0x2407);
	assert_int_equal(g_read(g, CARD_VRAM_SIZE_LO), MIB);
	assert_int_equal(guest_bus_header(g->bar2)->gsm_size, 0);	/* its table is inside */
	g_quit(g);
	gpu_free(g);

	g = gpu_start("--gpu=bifrost");
	assert_int_equal(g_read(g, CARD_ID), 0);
	assert_int_equal(guest_bus_header(g->bar2)->gsm_size, AGATE_BAR2_GSM_SIZE);
	g_quit(g);
	gpu_free(g);
}

static void test_requests(void **state)
{
	static const uint8_t poison[4096] = { [0 ... 4095] = 0xa5 };
	struct gpu *g = gpu_start("--card --vram=2");
	uint8_t *vram = g->bar2 + AGATE_BAR2_VRAM;
	uint64_t *gsm = (uint64_t *)(g->bar2 + AGATE_BAR2_GSM);

	(void)state;
	memcpy(vram + 4, "abcdefgh", 8);
	gsm[FIRST] = 0x1122334455667788;
	assert_int_equal(crc_of(g, "{\"cmd\": \"crc\", \"pa\": 549755813892, \"len\": 8}"),
			 crc_slowly((const uint8_t *)"abcdefgh", 8));
	assert_int_equal(crc_of(g, "{\"cmd\": \"crc\", \"ggtt\": [2048, 1]}"),
			 crc_slowly((const uint8_t *)&gsm[FIRST], 8));
	assert_false(g_control_ok(g, "{\"cmd\": \"crc\", \"pa\": 0, \"len\": 8}"));
	assert_false(g_control_ok(g, "{\"cmd\": \"crc\", \"pa\": -1, \"len\": 8}"));
	assert_false(g_control_ok(g, "{\"cmd\": \"crc\", \"pa\": 1073741824}"));
	assert_false(g_control_ok(g, "{\"cmd\": \"crc\", \"ggtt\": 1}"));
	assert_false(g_control_ok(g, "{\"cmd\": \"crc\", \"ggtt\": [1]}"));
	assert_false(g_control_ok(g, "{\"cmd\": \"crc\", \"ggtt\": [-1, 1]}"));
	assert_false(g_control_ok(g, "{\"cmd\": \"crc\", \"ggtt\": [1, \"1\"]}"));
	assert_false(g_control_ok(g, "{\"cmd\": \"crc\", \"ggtt\": [65536, 1]}"));

	assert_true(g_control_ok(g, "{\"cmd\": \"power-cut\"}"));
	assert_int_equal(g_read(g, CARD_ID), 0);
	assert_int_equal(g_read(g, AGATE_CARD_POWER), 1);
	assert_false(g_control_ok(g, "{\"cmd\": \"crc\", \"pa\": 549755813892, \"len\": 8}"));
	assert_true(g_control_ok(g, "{\"cmd\": \"power-back\"}"));
	assert_int_equal(g_read(g, CARD_ID), 0x00010000);
	assert_int_equal(g_read(g, CARD_LOSSES), 1);
	assert_memory_equal(vram, poison, sizeof(poison));
	assert_memory_equal(gsm, poison, sizeof(poison));
	/* Bytes that BAR2 does not show. */
	assert_int_equal(crc_of(g, "{\"cmd\": \"crc\", \"pa\": 549756862464, \"len\": 4096}"),
			 crc_slowly(poison, sizeof(poison)));
	g_quit(g);
	assert_int_equal(log_count(g, "card_power", "change", "cut"), 1);
	assert_int_equal(log_count(g, "card_power", "change", "back"), 1);
	gpu_free(g);
}

static void test_log_and_trace(void **state)
{
	char path[64];
	struct gpu *g = gpu_start_traced(path, " --card --gpu=bifrost --log-level=walks");
	struct trace_report report;

	(void)state;
	g_write(g, GGTT_PTE_INDEX, FIRST);
	g_write(g, GGTT_PTE_LO, 0x1003);
	g_write(g, GGTT_PTE_HI, 0);
	g_write(g, GGTT_INVALIDATE, 1);
	g_write(g, AGATE_CARD_POWER, 0);
	g_write(g, GGTT_PTE_HI, 0);
	g_read(g, GPU_ID);
	g_quit(g);
	assert_int_equal(log_count(g, "ggtt_commit", "entry", "0x1003"), 1);
	assert_int_equal(log_count(g, "ggtt_invalidate", NULL, NULL), 1);
	assert_int_equal(log_count(g, "card_power", "change", "off"), 1);
	assert_int_equal(log_count(g, "hint", "register", "GGTT_PTE_HI"), 1);
	if (!trace_check(path, &report))
		fail_msg("%s: %s", path, report.why);
	assert_true(trace_has_track(&report, "power and resets"));
	assert_true(trace_has_track(&report, "flushes"));
	trace_report_free(&report);
	unlink(path);
	gpu_free(g);
}

/* A queue full of the most expensive access there is keeps nobody else waiting. */
static void test_a_busy_queue(void **state)
{
	struct gpu *g = gpu_start("--card --vram=256");
	const struct agate_bar2_ctrl *ctrl = guest_bus_ctrl(g->bar2);
	unsigned int i;

	(void)state;
	for (i = 0; i < AGATE_BAR2_QUEUE_LEN; i++)
		g_write(g, AGATE_CARD_POWER, i & 1);
	assert_true(g_control_ok(g, "{\"cmd\": \"ping\"}"));
	assert_int_not_equal(__atomic_load_n(&ctrl->head, __ATOMIC_ACQUIRE), ctrl->tail);
	kill(g->pid, SIGTERM);
	assert_int_equal(gpu_wait(g), 0);
	assert_int_not_equal(__atomic_load_n(&ctrl->head, __ATOMIC_ACQUIRE), ctrl->tail);
	gpu_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_header),
		cmocka_unit_test(test_requests),
		cmocka_unit_test(test_log_and_trace),
		cmocka_unit_test(test_a_busy_queue),
	};

	return cmocka_run_group_tests_name("sim-card_process", tests, NULL, NULL);
}
