// SPDX-License-Identifier: MIT
/*
 * The process that writes frames, with this program as the one that gives it orders; and that
 * one, when the writer is gone.
 */
#include "frame_files.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "frame_folder.h"

/* ---- The writer, with orders that make no sense ------------------------------------------ */

static void order(int to, uint32_t kind, uint32_t number, uint32_t width, uint32_t height)
{
	const struct frames_message message = { kind, number, width, height };

	assert_int_equal(write(to, &message, sizeof(message)), sizeof(message));
}

/* Serve what @orders has written, then the pipe's end; no file is left. */
static void served_in(const struct folder *f, void (*orders)(int to))
{
	int in[2], out[2], dir;

	dir = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(dir >= 0);
	assert_int_equal(pipe2(in, O_CLOEXEC), 0);
	assert_int_equal(pipe2(out, O_CLOEXEC), 0);
	orders(in[1]);
	close(in[1]);
	assert_int_equal(frames_serve(dir, in[0], out[1], 1 << 20, 0), 0);
	close(in[0]);
	close(out[0]);
	close(out[1]);
	close(dir);
}

static void served(void (*orders)(int to))
{
	struct folder f;

	f = folder_make("");
	served_in(&f, orders);
	folder_remove(&f, 0);
}

static void order_nothing(int to)
{
	(void)to;
}

static void order_no_frame(int to)
{
	order(to, FRAMES_ROW, 1, 4, 4);
	order(to, FRAMES_SHOWN, 1, 4, 4);
}

static void order_no_width(int to)
{
	order(to, FRAMES_BEGIN, 1, 0, 4);
	order(to, FRAMES_SHOWN, 0, 0, 0);
}

static void order_too_wide(int to)
{
	order(to, FRAMES_BEGIN, 1, FRAMES_MAX_WIDTH + 1, 4);
	order(to, FRAMES_SHOWN, 0, 0, 0);
}

static void order_too_high(int to)
{
	order(to, FRAMES_BEGIN, 1, 4, FRAMES_MAX_HEIGHT + 1);
	order(to, FRAMES_SHOWN, 0, 0, 0);
}

static void order_too_few_rows(int to)
{
	order(to, FRAMES_BEGIN, 1, 4, 4);
	order(to, FRAMES_SHOWN, 0, 0, 0);
}

static void order_half_a_row(int to)
{
	order(to, FRAMES_BEGIN, 1, 4, 4);
	order(to, FRAMES_ROW, 0, 0, 0);
	assert_int_equal(write(to, "1234", 4), 4);
}

static void order_half_a_frame(int to)
{
	order(to, FRAMES_BEGIN, 1, 4, 1);
	order(to, FRAMES_ROW, 0, 0, 0);
	assert_int_equal(write(to, "0123456789abcdef", 16), 16);
}

static void order_an_unknown_kind(int to)
{
	order(to, FRAMES_BEGIN, 1, 4, 4);
	order(to, 77, 0, 0, 0);
}

static void test_orders_that_make_no_sense(void **state)
{
	(void)state;
	served(order_nothing);
	served(order_no_frame);
	served(order_no_width);
	served(order_too_wide);
	served(order_too_high);
	served(order_too_few_rows);
	served(order_half_a_row);
	served(order_half_a_frame);
	served(order_an_unknown_kind);
}

static void order_a_frame(int to)
{
	order(to, FRAMES_BEGIN, 1, 4, 1);
	order(to, FRAMES_ROW, 0, 0, 0);
	assert_int_equal(write(to, "0123456789abcdef", 16), 16);
	order(to, FRAMES_SHOWN, 0, 0, 0);
}

/* The frame is read to its end all the same. */
static void test_a_file_that_cannot_be_made(void **state)
{
	struct folder f;
	char path[128];

	(void)state;
	f = folder_make("");
	folder_file(&f, "frame.part", path);
	assert_int_equal(mkdir(path, 0777), 0);
	served_in(&f, order_a_frame);
	assert_false(folder_has(&f, "frame-00001.png"));
	served_in(&f, order_half_a_row);
	assert_int_equal(rmdir(path), 0);
	folder_remove(&f, 0);
}

static void order_many_frames(int to)
{
	uint32_t i;

	for (i = 1; i <= 200; i++) {
		order(to, FRAMES_BEGIN, i, 4, 1);
		order(to, FRAMES_ROW, 0, 0, 0);
		assert_int_equal(write(to, "0123456789abcdef", 16), 16);
		order(to, FRAMES_SHOWN, 0, 0, 0);
	}
}

/* Each takes 8 KiB of 1 MiB, and only the first that has no room is worth a line. */
static void test_small_frames_have_a_limit(void **state)
{
	int told = memfd_create("stderr", MFD_CLOEXEC), kept = dup(STDERR_FILENO);
	char text[256] = "";
	struct folder f;

	(void)state;
	f = folder_make("");
	assert_int_equal(dup2(told, STDERR_FILENO), STDERR_FILENO);
	served_in(&f, order_many_frames);
	assert_int_equal(dup2(kept, STDERR_FILENO), STDERR_FILENO);
	assert_true(pread(told, text, sizeof(text) - 1, 0) > 0);
	assert_string_equal(text, "agate-sim: the frames have reached --log-limit: "
			    "no more are written\n");
	assert_true(folder_has(&f, "frame-00128.png"));
	assert_false(folder_has(&f, "frame-00129.png"));
	close(told);
	close(kept);
	folder_remove(&f, 128);
}

/* ---- A writer that is gone ---------------------------------------------------------------- */

static void test_a_folder_that_is_none(void **state)
{
	struct frames frames;

	(void)state;
	assert_string_equal(frames_open(&frames, "/proc/self/nowhere", 1, 0),
			    "--scanout-dir names no folder");
	assert_string_equal(frames_open(&frames, "/proc/self/stat", 1, 0),
			    "--scanout-dir names no folder");
	assert_null(frames_open(&frames, NULL, 1, 0));
	frames_begin(&frames, 1, 4, 4);		/* nowhere */
	frames_end(&frames, true);
}

/* Its end of one of the pipes is closed; the frames that follow go nowhere. */
static void test_the_writer_is_gone(void **state)
{
	const uint8_t row[16] = { 0 };
	int to[2], from[2], reads;

	(void)state;
	signal(SIGPIPE, SIG_IGN);
	for (reads = 0; reads < 2; reads++) {
		struct frames frames;

		assert_int_equal(pipe2(to, O_CLOEXEC), 0);
		assert_int_equal(pipe2(from, O_CLOEXEC), 0);
		close(from[1]);
		if (!reads)
			close(to[0]);
		frames = (struct frames){ .to = to[1], .from = from[0] };
		frames_begin(&frames, 1, 4, 1);
		frames_row(&frames, row);
		frames_end(&frames, true);
		assert_int_equal(frames.to, -1);
		frames_begin(&frames, 2, 4, 1);
		frames_row(&frames, row);
		frames_end(&frames, true);
		if (reads)
			close(to[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_orders_that_make_no_sense),
		cmocka_unit_test(test_a_file_that_cannot_be_made),
		cmocka_unit_test(test_small_frames_have_a_limit),
		cmocka_unit_test(test_a_folder_that_is_none),
		cmocka_unit_test(test_the_writer_is_gone),
	};

	return cmocka_run_group_tests_name("sim-frame_writer", tests, NULL, NULL);
}
