// SPDX-License-Identifier: MIT
/*
 * The card in the process: frames as PNG files, and what its log and its trace say of
 * firmware, mover and flips.
 */
#include "process_bench.h"

#include <png.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "agate_card.h"
#include "frame_folder.h"
#include "trace_check.h"

#define WIDTH	20u
#define HEIGHT	10u
#define STRIDE	128u

/* The pixels of a frame, R G B. */
static uint8_t *folder_read(const struct folder *f, const char *name, uint32_t *width,
			    uint32_t *height)
{
	png_image image = { .version = PNG_IMAGE_VERSION };
	char path[128];
	uint8_t *pixels;

	folder_file(f, name, path);
	assert_true(png_image_begin_read_from_file(&image, path));
	image.format = PNG_FORMAT_RGB;
	pixels = malloc(PNG_IMAGE_SIZE(image));
	assert_non_null(pixels);
	assert_true(png_image_finish_read(&image, NULL, pixels, 0, NULL));
	*width = image.width;
	*height = image.height;
	return pixels;
}

static void flip(struct gpu *g)
{
	g_write(g, SCAN_FLIP, 1);
	g_interrupt(g, AGATE_VECTOR_CARD);
	g_write(g, CARD_INT_CLEAR, g_read(g, CARD_INT_STAT));
}

static void set_frame(struct gpu *g, uint32_t pa)
{
	g_write(g, CARD_INT_MASK, 0x1f);
	g_write(g, SCAN_BASE_LO, pa);
	g_write(g, SCAN_SIZE, HEIGHT << 16 | WIDTH);
	g_write(g, SCAN_STRIDE, STRIDE);
	g_write(g, SCAN_FORMAT, AGATE_FORMAT_B8G8R8A8 | SCAN_FORMAT_PHYS);
}

/* ---- Frames -------------------------------------------------------------------------- */

static void test_a_frame_becomes_a_file(void **state)
{
	uint32_t width, height, x, y;
	struct folder f;
	struct gpu *g;
	uint8_t *pixels;

	(void)state;
	f = folder_make("");
	g = gpu_start(f.option);
	for (x = 0; x < STRIDE * HEIGHT; x++)
		g->ram[x] = (uint8_t)(x * 7);
	set_frame(g, RAM_BASE);
	flip(g);
	/* It is there when the guest learns of it. */
	pixels = folder_read(&f, "frame-00001.png", &width, &height);
	assert_int_equal(width, WIDTH);
	assert_int_equal(height, HEIGHT);
	for (y = 0; y < HEIGHT; y++)
		for (x = 0; x < WIDTH; x++) {
			const uint8_t *bgra = g->ram + y * STRIDE + x * 4;
			const uint8_t *rgb = pixels + (y * WIDTH + x) * 3;

			assert_int_equal(rgb[0], bgra[2]);
			assert_int_equal(rgb[1], bgra[1]);
			assert_int_equal(rgb[2], bgra[0]);
		}
	free(pixels);
	flip(g);
	assert_true(folder_has(&f, "frame-00002.png"));
	g_quit(g);
	assert_int_equal(log_count(g, "flip", "base", "0x40000000"), 2);
	assert_int_equal(log_count(g, "flip_done", "reason", "none"), 2);
	gpu_free(g);
	folder_remove(&f, 2);
}

/* Both have a frame 1. */
static void test_two_gpus_share_a_folder(void **state)
{
	struct folder f;
	struct gpu *first, *second;
	char option[200], path[128];

	(void)state;
	f = folder_make("");
	first = gpu_start(f.option);
	snprintf(option, sizeof(option), "%s --number 1", f.option);
	second = gpu_start(option);
	set_frame(first, RAM_BASE);
	flip(first);
	assert_true(folder_has(&f, "frame-00001.png"));
	set_frame(second, RAM_BASE);
	flip(second);
	folder_file(&f, "gpu1-frame-00001.png", path);
	assert_int_equal(unlink(path), 0);
	g_quit(first);
	g_quit(second);
	gpu_free(first);
	gpu_free(second);
	folder_remove(&f, 1);
}

/* Rows were sent before the failure: no file of them is left. */
static void test_a_frame_that_fails(void **state)
{
	struct folder f;
	struct gpu *g;

	(void)state;
	f = folder_make("");
	g = gpu_start(f.option);
	set_frame(g, RAM_BASE + RAM_SIZE - 0x200);
	flip(g);
	assert_int_equal(g_read(g, SCAN_FRAMES), 0);
	set_frame(g, RAM_BASE);
	flip(g);
	assert_true(folder_has(&f, "frame-00001.png"));
	g_quit(g);
	assert_int_equal(log_count(g, "flip_done", "reason", "bus"), 1);
	gpu_free(g);
	folder_remove(&f, 1);
}

/* A guest must not fill the host's disk. */
static void test_frames_have_a_limit(void **state)
{
	struct folder f;
	struct gpu *g;
	uint32_t i, random = 1;

	(void)state;
	f = folder_make(" --log-limit 1");
	g = gpu_start(f.option);
	for (i = 0; i < 0x200000; i++) {
		random = random * 1664525u + 1013904223u;
		g->ram[i] = random >> 24;
	}
	set_frame(g, RAM_BASE);
	g_write(g, SCAN_SIZE, 256u << 16 | 1024);	/* 768 KiB, which nothing makes smaller */
	g_write(g, SCAN_STRIDE, 4096);
	flip(g);
	flip(g);
	assert_int_equal(g_read(g, SCAN_FRAMES), 2);
	assert_true(folder_has(&f, "frame-00001.png"));
	assert_false(folder_has(&f, "frame-00002.png"));
	set_frame(g, RAM_BASE);		/* a small one would fit, but that was the end */
	flip(g);
	assert_int_equal(g_read(g, SCAN_FRAMES), 3);
	assert_false(folder_has(&f, "frame-00003.png"));
	g_quit(g);
	gpu_free(g);
	folder_remove(&f, 1);
}

static void test_without_a_folder(void **state)
{
	struct gpu *g = gpu_start("--card");

	(void)state;
	set_frame(g, RAM_BASE);
	flip(g);
	assert_int_equal(g_read(g, SCAN_FRAMES), 1);
	g_quit(g);
	gpu_free(g);
}

/* The first child of a process; 0: none, or the host's kernel does not list children. */
static int child_of(pid_t pid)
{
	char path[64];
	int child = 0;
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)pid, (int)pid);
	file = fopen(path, "r");
	if (!file)
		return 0;
	if (fscanf(file, "%d", &child) != 1)
		child = 0;
	fclose(file);
	return child;
}

/* A zombie runs no more; whoever adopted it may take its time. */
static bool runs(int pid)
{
	char path[64], state_of = 'X';
	FILE *file;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	file = fopen(path, "r");
	if (!file)
		return false;
	if (fscanf(file, "%*d (%*[^)]) %c", &state_of) != 1)
		state_of = 'X';
	fclose(file);
	return state_of != 'X' && state_of != 'Z';
}

/* The writer does not outlive the process by more than a moment. */
static void test_the_writer_ends_with_the_process(void **state)
{
	struct folder f = folder_make("");
	struct gpu *g = gpu_start(f.option);
	int writer = child_of(g->pid);
	unsigned int tries;

	(void)state;
	kill(g->pid, SIGKILL);
	gpu_wait(g);
	gpu_free(g);
	for (tries = 0; writer && runs(writer); tries++) {
		assert_true(tries < 1000);
		usleep(10000);
	}
	folder_remove(&f, 0);
	if (!writer)
		skip();
}

/* ---- Log and trace -------------------------------------------------------------------------- */

/* Firmware, ADS, context and a ring with a FILL, a FENCE and what is no command. */
static void run_the_mover(struct gpu *g)
{
	const uint32_t at = 0x800000;
	struct agate_fw_header *header = (void *)(g->ram + 0x10000);
	struct agate_ads *ads = (void *)(g->ram + 0x11000);
	struct agate_mover_context *context = (void *)(g->ram + 0x12000);
	struct agate_mover_cmd *ring = (void *)(g->ram + 0x13000);
	uint64_t *gsm = (void *)(g->bar2 + 0x20000);
	unsigned int i;

	for (i = 0; i < 8; i++)
		gsm[at / 4096 + i] = AGATE_GGTT_PRESENT | (RAM_BASE + 0x10000 + i * 4096);
	*header = (struct agate_fw_header){
		.magic = AGATE_FW_HEADER_MAGIC, .version = 1 << 16 | 3, .size = sizeof(*header),
	};
	*ads = (struct agate_ads){
		.magic = AGATE_ADS_MAGIC, .version = 1, .ring = at + 0x3000, .ring_order = 6,
		.context = at + 0x2000, .scratch = at + 0x4000,
	};
	*context = (struct agate_mover_context){
		.magic = AGATE_CONTEXT_MAGIC, .check = ~AGATE_CONTEXT_MAGIC,
	};
	ring[0] = (struct agate_mover_cmd){
		.op = AGATE_MOVER_FILL, .dst = RAM_BASE + 0x20000, .length = 64, .value = 5,
	};
	ring[1] = (struct agate_mover_cmd){ .op = AGATE_MOVER_FENCE, .seqno = 7 };
	ring[2] = (struct agate_mover_cmd){ .op = 9 };
	g_write(g, CARD_INT_MASK, 0x1f);
	g_write(g, FW_BASE, at);
	g_write(g, FW_SIZE, sizeof(*header));
	g_write(g, FW_ADS, at + 0x1000);
	g_write(g, FW_CMD, FW_CMD_START);
	g_interrupt(g, AGATE_VECTOR_CARD);
	g_write(g, CARD_INT_CLEAR, g_read(g, CARD_INT_STAT));
	assert_int_equal(g_read(g, FW_STATUS), FW_STATUS_RUNNING | 3 << 16);
	g_write(g, RING_TAIL, 3);
	g_interrupt(g, AGATE_VECTOR_CARD);
	g_write(g, CARD_INT_CLEAR, g_read(g, CARD_INT_STAT));
}

static void test_log_and_trace(void **state)
{
	struct trace_report report;
	char path[64];
	struct gpu *g = gpu_start_traced(path, " --card");

	(void)state;
	run_the_mover(g);
	set_frame(g, RAM_BASE);
	flip(g);
	set_frame(g, 0);
	flip(g);
	g_quit(g);
	assert_int_equal(log_count(g, "fw", "state", "checking"), 1);
	assert_int_equal(log_count(g, "fw", "state", "running"), 1);
	assert_int_equal(log_count(g, "mover_begin", "op", "FILL"), 1);
	assert_int_equal(log_count(g, "mover_begin", "dst", "0x40020000"), 1);
	assert_int_equal(log_count(g, "mover_end", "ended", "done"), 2);
	assert_int_equal(log_count(g, "mover_end", "ended", "command"), 1);
	assert_int_equal(log_count(g, "mover_fault", "reason", "command"), 1);
	assert_true(trace_check(path, &report));
	assert_int_equal(report.open, 0);
	assert_true(trace_has_track(&report, "mover"));
	assert_true(trace_has_track(&report, "flips"));
	assert_int_equal(trace_count(&report, "firmware running"), 1);
	assert_int_equal(trace_count(&report, "FILL 0x40020000, 64 bytes"), 1);
	assert_int_equal(trace_count(&report, "FENCE 7"), 1);
	assert_int_equal(trace_count(&report, "fault: command, 0x803080"), 1);
	assert_int_equal(trace_count(&report, "flip 0x40000000, 20x10"), 1);
	assert_int_equal(trace_count(&report, "not shown: bus"), 1);
	trace_report_free(&report);
	unlink(path);
	gpu_free(g);
}

static void test_latencies_can_be_set(void **state)
{
	struct gpu *g = gpu_start("--card --inject fail-mover:9:4,fail-fw:9,fail-flip:1");

	(void)state;
	assert_true(g_control_ok(g, "{\"cmd\": \"latency\", \"fw\": 100, \"flip\": 100}"));
	assert_false(g_control_ok(g, "{\"cmd\": \"latency\", \"flip\": \"x\"}"));
	set_frame(g, RAM_BASE);
	flip(g);
	assert_int_equal(g_read(g, SCAN_FRAMES), 0);
	g_quit(g);
	assert_int_equal(log_count(g, "injected", "what", "fail-flip"), 1);
	gpu_free(g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_frame_becomes_a_file),
		cmocka_unit_test(test_two_gpus_share_a_folder),
		cmocka_unit_test(test_a_frame_that_fails),
		cmocka_unit_test(test_frames_have_a_limit),
		cmocka_unit_test(test_without_a_folder),
		cmocka_unit_test(test_the_writer_ends_with_the_process),
		cmocka_unit_test(test_log_and_trace),
		cmocka_unit_test(test_latencies_can_be_set),
	};

	return cmocka_run_group_tests_name("sim-frames", tests, NULL, NULL);
}
