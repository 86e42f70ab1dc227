// SPDX-License-Identifier: MIT
/*
 * The scanout: frames by GGTT and by physical address, flips and what fails them.
 */
#include "mover_bench.h"

#include <string.h>

#include "inject_spec.h"

#define WIDTH	40u
#define HEIGHT	100u
#define STRIDE	192u			/* more than a row */
#define FRAME	(DATA + 0xfc0)		/* rows cross ends of pages */
#define FRAME_PA (DATA_PA + 0xfc0)
#define RGBA	AGATE_FORMAT_R8G8B8A8
#define BGRA	AGATE_FORMAT_B8G8R8A8

static void set_frame(struct bench *b, uint64_t base, uint32_t format)
{
	wr64(b, SCAN_BASE_LO, base);
	wr(b, SCAN_SIZE, HEIGHT << 16 | WIDTH);
	wr(b, SCAN_STRIDE, STRIDE);
	wr(b, SCAN_FORMAT, format);
}

/* A card with a frame at FRAME, whose registers say so. */
static struct bench *scan_bench_new(uint32_t format)
{
	struct bench *b = card_bench_new();

	put_pattern(shown(b, FRAME), STRIDE * HEIGHT, 9);
	set_frame(b, FRAME, format);
	return b;
}

/* Flip and wait; returns the bits of the interrupt, which are then cleared. */
static uint32_t flip(struct bench *b)
{
	uint32_t bits;

	wr(b, SCAN_FLIP, 1);
	settle(b);
	bits = rd(b, CARD_INT_STAT);
	wr(b, CARD_INT_CLEAR, bits);
	return bits;
}

static void assert_shows(struct bench *b, uint32_t format)
{
	uint32_t x, y;

	assert_int_equal(b->frame_width, WIDTH);
	assert_int_equal(b->frame_height, HEIGHT);
	for (y = 0; y < HEIGHT; y++)
		for (x = 0; x < WIDTH; x++) {
			const uint8_t *from = shown(b, FRAME) + y * STRIDE + x * 4;
			const uint8_t *to = b->frame + (y * WIDTH + x) * 4;

			assert_int_equal(to[0], from[format == RGBA ? 0 : 2]);
			assert_int_equal(to[1], from[1]);
			assert_int_equal(to[2], from[format == RGBA ? 2 : 0]);
			assert_int_equal(to[3], from[3]);
		}
}

/* ---- Frames ------------------------------------------------------------------- */

static void test_a_frame_by_ggtt(void **state)
{
	struct bench *b = scan_bench_new(RGBA);

	(void)state;
	assert_int_equal(rd64(b, SCAN_BASE_LO), FRAME);
	assert_int_equal(rd(b, SCAN_SIZE), HEIGHT << 16 | WIDTH);
	assert_int_equal(rd(b, SCAN_STRIDE), STRIDE);
	assert_int_equal(rd(b, SCAN_FORMAT), RGBA);
	assert_int_equal(rd(b, SCAN_FLIP), 0);
	assert_int_equal(flip(b), CARD_INT_FLIP_DONE);
	assert_int_equal(b->frames_shown, 1);
	assert_int_equal(b->frame_number, 1);
	assert_shows(b, RGBA);
	assert_int_equal(rd(b, SCAN_FRAMES), 1);
	assert_int_equal(counter(b, AGATE_CNT_FRAMES), 1);
	assert_int_equal(last_event(b, AGATE_EV_FLIP)->a, FRAME);
	assert_int_equal(last_event(b, AGATE_EV_FLIP_DONE)->a, 1);
	assert_int_equal(last_event(b, AGATE_EV_FLIP_DONE)->c, 0);
	no_hint(b);
	wr(b, SCAN_FRAMES, 0);
	assert_true(hinted(b, "a write to a read-only register is ignored"));
	bench_free(b);
}

static void test_the_other_format(void **state)
{
	struct bench *b = scan_bench_new(BGRA);

	(void)state;
	assert_int_equal(flip(b), CARD_INT_FLIP_DONE);
	assert_shows(b, BGRA);
	set_frame(b, FRAME_PA, BGRA | SCAN_FORMAT_PHYS);
	assert_int_equal(flip(b), CARD_INT_FLIP_DONE);
	assert_shows(b, BGRA);
	assert_int_equal(rd(b, SCAN_FRAMES), 2);
	bench_free(b);
}

static void test_a_frame_by_physical_address(void **state)
{
	struct bench *b = scan_bench_new(RGBA);

	(void)state;
	/* No entry is used. */
	memset(b->gsm, 0, AGATE_GGTT_NUM_ENTRIES * 8);
	set_frame(b, FRAME_PA, RGBA | SCAN_FORMAT_PHYS);
	assert_int_equal(flip(b), CARD_INT_FLIP_DONE);
	assert_shows(b, RGBA);
	/* In VRAM. */
	memcpy(b->vram + 0x40, shown(b, FRAME), STRIDE * HEIGHT);
	set_frame(b, VRAM_PA + 0x40, RGBA | SCAN_FORMAT_PHYS);
	assert_int_equal(flip(b), CARD_INT_FLIP_DONE);
	assert_shows(b, RGBA);
	no_hint(b);
	bench_free(b);
}

/* The registers are taken at once, memory is read at the end. */
static void test_what_a_flip_takes_when(void **state)
{
	struct bench *b = scan_bench_new(RGBA);

	(void)state;
	wr(b, SCAN_FLIP, 1);
	set_frame(b, 0, 99);
	wr(b, SCAN_SIZE, 1 << 16 | 1);
	put_pattern(shown(b, FRAME), STRIDE * HEIGHT, 10);
	settle(b);
	assert_int_equal(rd(b, CARD_INT_STAT), CARD_INT_FLIP_DONE);
	assert_shows(b, RGBA);
	bench_free(b);
}

static void test_the_largest_frame(void **state)
{
	struct bench *b = card_bench_new();

	(void)state;
	/* Every row is the same memory. */
	wr64(b, SCAN_BASE_LO, DATA_PA);
	wr(b, SCAN_SIZE, 64u << 16 | 4096);
	wr(b, SCAN_STRIDE, 16384);
	wr(b, SCAN_FORMAT, RGBA | SCAN_FORMAT_PHYS);
	put_pattern(shown(b, DATA), 64 * 16384, 3);
	assert_int_equal(flip(b), CARD_INT_FLIP_DONE);
	assert_memory_equal(b->frame, shown(b, DATA), 64 * 16384);
	bench_free(b);
}

/* ---- Time ------------------------------------------------------------------------ */

static void test_a_flip_takes_time(void **state)
{
	struct bench *b = scan_bench_new(RGBA);
	uint64_t begun;

	(void)state;
	wr(b, CARD_INT_MASK, CARD_INT_MOVER_DONE);
	assert_int_equal(rd(b, SCAN_FRAMES), 0);
	wr(b, SCAN_FLIP, 1);
	begun = agate_sim_time(b->sim);
	settle(b);		/* nobody waits */
	assert_int_equal(agate_sim_time(b->sim), begun);
	assert_int_equal(rd(b, SCAN_FRAMES), 0);
	settle(b);		/* somebody polls */
	assert_int_equal(rd(b, SCAN_FRAMES), 1);
	assert_int_equal(last_event(b, AGATE_EV_FLIP_DONE)->time, begun + 256);
	assert_int_equal(b->messages[AGATE_VECTOR_CARD], 0);
	wr(b, CARD_INT_CLEAR, CARD_INT_FLIP_DONE);
	wr(b, SCAN_FLIP, 1);
	poll_reg(b, CARD_INT_RAWSTAT, CARD_INT_FLIP_DONE, CARD_INT_FLIP_DONE);
	agate_sim_set_latency(b->sim, AGATE_SIM_LATENCY_FLIP, 3000);
	wr(b, CARD_INT_MASK, CARD_INT_SCAN_FAULT);
	wr(b, SCAN_FLIP, 1);
	begun = agate_sim_time(b->sim);
	settle(b);		/* an interrupt for a failure is a way of waiting, too */
	assert_int_equal(agate_sim_time(b->sim), begun + 3000);
	no_hint(b);
	bench_free(b);
}

static void test_a_stuck_flip(void **state)
{
	struct bench *b = scan_bench_new(RGBA);

	(void)state;
	agate_sim_set_latency(b->sim, AGATE_SIM_LATENCY_FLIP, AGATE_SIM_LATENCY_STUCK);
	wr(b, SCAN_FLIP, 1);
	settle(b);
	assert_true(agate_sim_idle(b->sim, 1000000));
	assert_int_equal(b->frames_shown, 0);
	agate_sim_restore(b->sim);
	settle(b);
	assert_int_equal(b->frames_shown, 1);
	bench_free(b);
}

static void test_one_flip_at_a_time(void **state)
{
	struct bench *b = scan_bench_new(RGBA);

	(void)state;
	wr(b, SCAN_FLIP, 1);
	wr(b, SCAN_FLIP, 1);
	assert_true(hinted(b, "SCAN_FLIP while one is pending"));
	assert_int_equal(last_event(b, AGATE_EV_HINT)->a, 600);
	settle(b);
	assert_int_equal(b->frames_shown, 1);
	bench_free(b);
}

/* ---- What fails ------------------------------------------------------------------- */

static void not_shown(struct bench *b, enum agate_mover_reason reason)
{
	uint32_t frames = rd(b, SCAN_FRAMES);

	assert_int_equal(flip(b), CARD_INT_SCAN_FAULT);
	assert_int_equal(last_event(b, AGATE_EV_FLIP_DONE)->c, reason);
	assert_int_equal(rd(b, SCAN_FRAMES), frames);
	assert_int_equal(counter(b, AGATE_CNT_FRAMES), frames);
	assert_int_equal(b->frames_shown, frames);
}

static void senseless(uint32_t reg, uint32_t value)
{
	struct bench *b = scan_bench_new(RGBA);

	wr(b, reg, value);
	not_shown(b, AGATE_REASON_COMMAND);
	assert_true(hinted(b, "SCAN_FLIP of a frame that makes no sense"));
	assert_int_equal(b->frames_dropped, 0);
	set_frame(b, FRAME, RGBA);
	assert_int_equal(flip(b), CARD_INT_FLIP_DONE);
	bench_free(b);
}

static void test_frames_that_make_no_sense(void **state)
{
	(void)state;
	senseless(SCAN_SIZE, HEIGHT << 16);
	senseless(SCAN_SIZE, WIDTH);
	senseless(SCAN_SIZE, 4097u << 16 | WIDTH);
	senseless(SCAN_SIZE, HEIGHT << 16 | 49);	/* wider than the stride */
	senseless(SCAN_STRIDE, 160);			/* not aligned */
	senseless(SCAN_STRIDE, 128);
	senseless(SCAN_BASE_LO, FRAME + 32);
	senseless(SCAN_FORMAT, 0);
	senseless(SCAN_FORMAT, 3);
	senseless(SCAN_FORMAT, RGBA | 1 << 9);
}

static void test_a_frame_wider_than_any(void **state)
{
	struct bench *b = scan_bench_new(RGBA);

	(void)state;
	wr(b, SCAN_SIZE, 1 << 16 | 4097);
	wr(b, SCAN_STRIDE, 0x10000);
	not_shown(b, AGATE_REASON_COMMAND);
	wr(b, SCAN_SIZE, 100 << 16 | 16);
	wr64(b, SCAN_BASE_LO, 0xffffffffffffe000);	/* past the end of all addresses */
	not_shown(b, AGATE_REASON_COMMAND);
	bench_free(b);
}

static void test_an_entry_that_is_gone(void **state)
{
	struct bench *b = scan_bench_new(RGBA);

	(void)state;
	b->gsm[(FRAME + 0x1000) / 4096] = 0;
	not_shown(b, AGATE_REASON_ENTRY);
	assert_int_equal(b->frames_dropped, 1);
	put_entry(b, FRAME + 0x1000 - FRAME % 4096, DATA_PA, 1);	/* another's */
	wr(b, GGTT_INVALIDATE, 0);
	not_shown(b, AGATE_REASON_VF);
	bench_free(b);
}

static void test_nobody_answers(void **state)
{
	struct bench *b = scan_bench_new(RGBA);

	(void)state;
	set_frame(b, 0x50000000, RGBA | SCAN_FORMAT_PHYS);
	not_shown(b, AGATE_REASON_BUS);
	set_frame(b, RAM_BASE + RAM_SIZE - 0x1000, RGBA | SCAN_FORMAT_PHYS);
	not_shown(b, AGATE_REASON_BUS);
	assert_int_equal(b->frames_dropped, 2);
	bench_free(b);
}

static void test_outside_the_usable_range(void **state)
{
	struct bench *b = scan_bench_new(RGBA);

	(void)state;
	set_frame(b, 0x100000000ull + FRAME, RGBA);
	assert_int_equal(flip(b), CARD_INT_FLIP_DONE);		/* of noise */
	assert_true(hinted(b, "an address outside the usable GGTT"));
	bench_free(b);
}

static void test_a_failure_can_be_injected(void **state)
{
	struct injections injections;
	struct bench *b = scan_bench_new(RGBA);

	(void)state;
	assert_null(inject_parse("fail-flip:2", &injections));
	assert_true(inject_set(b->sim, &injections));
	assert_int_equal(flip(b), CARD_INT_FLIP_DONE);
	not_shown(b, AGATE_REASON_INJECTED);
	assert_int_equal(flip(b), CARD_INT_FLIP_DONE);
	assert_int_equal(rd(b, SCAN_FRAMES), 2);
	bench_free(b);
}

static void test_power_goes_under_a_flip(void **state)
{
	struct bench *b = scan_bench_new(RGBA);

	(void)state;
	assert_int_equal(flip(b), CARD_INT_FLIP_DONE);
	wr(b, SCAN_FLIP, 1);
	wr(b, AGATE_CARD_POWER, 0);
	assert_string_equal(last_event(b, AGATE_EV_FLIP_DONE)->text, "lost");
	settle(b);
	wr(b, AGATE_CARD_POWER, 1);
	settle(b);
	assert_int_equal(b->frames_shown, 1);
	assert_int_equal(rd(b, SCAN_FRAMES), 1);	/* since the card was made */
	assert_int_equal(rd(b, SCAN_SIZE), 0);
	assert_int_equal(rd64(b, SCAN_BASE_LO), 0);
	bench_free(b);
}

static void test_a_reset_of_the_gpu_does_not_reach_it(void **state)
{
	struct bench *b = scan_bench_new(RGBA);

	(void)state;
	wr(b, GPU_CMD, GPU_CMD_HARD_RESET);
	assert_int_equal(flip(b), CARD_INT_FLIP_DONE);
	assert_shows(b, RGBA);
	no_hint(b);
	bench_free(b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_frame_by_ggtt),
		cmocka_unit_test(test_the_other_format),
		cmocka_unit_test(test_a_frame_by_physical_address),
		cmocka_unit_test(test_what_a_flip_takes_when),
		cmocka_unit_test(test_the_largest_frame),
		cmocka_unit_test(test_a_flip_takes_time),
		cmocka_unit_test(test_a_stuck_flip),
		cmocka_unit_test(test_one_flip_at_a_time),
		cmocka_unit_test(test_frames_that_make_no_sense),
		cmocka_unit_test(test_a_frame_wider_than_any),
		cmocka_unit_test(test_an_entry_that_is_gone),
		cmocka_unit_test(test_nobody_answers),
		cmocka_unit_test(test_outside_the_usable_range),
		cmocka_unit_test(test_a_failure_can_be_injected),
		cmocka_unit_test(test_power_goes_under_a_flip),
		cmocka_unit_test(test_a_reset_of_the_gpu_does_not_reach_it),
	};

	return cmocka_run_group_tests_name("sim-scanout", tests, NULL, NULL);
}
