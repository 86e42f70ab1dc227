// SPDX-License-Identifier: MIT
/*
 * agate-top's screen: what is drawn on terminals of several sizes, and when it looks again.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>
#include <curses.h>

#include "top_draw.h"
#include "top_print.h"

#define SECOND	1000000000ull

/* ---- What is drawn ------------------------------------------------------- */

static FILE *nowhere;
static SCREEN *terminal;

static void begin_screen(int lines, int width)
{
	nowhere = fopen("/dev/null", "r+");
	assert_non_null(nowhere);
	terminal = newterm("vt100", nowhere, nowhere);
	assert_non_null(terminal);
	assert_int_equal(resizeterm(lines, width), OK);
	top_draw_begin();
}

static void end_screen(void)
{
	endwin();
	delscreen(terminal);
	fclose(nowhere);
}

static void add_client(struct top_sample *sample, int pid, const char *engines)
{
	struct top_client client = { .pid = pid, .command = "draws-and-draws" };
	char text[512];

	snprintf(text, sizeof(text), "drm-driver: agate\ndrm-client-id: %d\n"
		 "drm-total-m: 102300 KiB\n%s", pid, engines);
	assert_true(top_parse_fdinfo(text, &client));
	assert_true(top_sample_add(sample, &client));
}

/* A device and some clients, a second apart. */
static void fill(struct top_view *view, const char *before, const char *now, int clients)
{
	const struct top_device device = {
		.driver = "agate", .device = "0000:00:04.0", .now_hz = 400000000, .max_hz = 800000000,
		.power = { .status = "active", .has_times = true, .active_ms = 3400,
			   .has_autosuspend = true, .autosuspend_ms = 50 },
	};

	*view = (struct top_view){ .now.time_ns = 2 * SECOND, .before.time_ns = SECOND };
	for (int pid = 4194301; pid < 4194301 + clients; pid++) {
		add_client(&view->before, pid, before);
		add_client(&view->now, pid, now);
	}
	view->now.device[view->now.device_count++] = device;
	view->before.device[view->before.device_count++] = device;
}

static void clear_view(struct top_view *view)
{
	top_sample_clear(&view->now);
	top_sample_clear(&view->before);
}

/* A line of the screen, without the spaces at its end. */
static const char *row(int line)
{
	static char text[512];
	int len = mvinnstr(line, 0, text, COLS);

	assert_true(len >= 0);
	while (len && text[len - 1] == ' ')
		len--;
	text[len] = '\0';
	return text;
}

static void assert_row(int line, const char *expected)
{
	assert_string_equal(row(line), expected);
}

static void assert_shows(int line, const char *part)
{
	if (!strstr(row(line), part))
		fail_msg("no \"%s\" in \"%s\"", part, row(line));
}

static const char agate_before[] =
	"drm-engine-fragment: 0 ns\ndrm-engine-vertex-tiler: 0 ns\ndrm-engine-compute: 0 ns\n";
static const char agate_now[] =
	"drm-engine-fragment: 400000000 ns\ndrm-engine-vertex-tiler: 1000000000 ns\n"
	"drm-engine-compute: 0 ns\n";

static void test_load_on_80_columns(void **state)
{
	struct top_view view;

	(void)state;
	fill(&view, agate_before, agate_now, 30);
	begin_screen(24, 80);
	top_draw(&view);
	assert_row(0, "agate-top: 30 clients");
	assert_row(1, "agate      0000:00:04.0   [|||||||||| 100%] 400 of 800 MHz");
	assert_row(3, "    PID COMMAND      DRIVER   TOTAL   RES  VRAM BUSY");
	for (int i = 0; i < 19; i++) {
		char expected[128];

		snprintf(expected, sizeof(expected), "%d draws-and-dr agate    99.9M    0B     - "
			 "fragm 40%% verte 100%% compu 0%%", 4194301 + i);
		assert_row(4 + i, expected);
	}
	assert_row(23, "q quit   m sort by memory   up, down scroll");
	/* Scrolled beyond the end. */
	view.first = 100;
	top_draw(&view);
	assert_int_equal(view.first, 11);
	end_screen();
	clear_view(&view);
}

static void test_wide(void **state)
{
	struct top_view view;

	(void)state;
	fill(&view, agate_before, agate_now, 1);
	begin_screen(24, 180);
	view.now.clients[0].has_bos = true;
	view.now.clients[0].bos.paged = 12;
	top_draw(&view);
	assert_row(3, "    PID COMMAND        DRIVER    TOTAL   RES  VRAM SHARED  PURG BUSY");
	assert_row(4, "4194301 draws-and-draw agate     99.9M    0B     -     0B    0B "
		      "fragment [||||        40%] vertex-tiler [|||||||||| 100%] "
		      "compute [             0%]  12 paged");
	end_screen();
	clear_view(&view);
}

/* Names as a whole, but no bars; with a column less their ends are cut. */
static void test_numbers(void **state)
{
	struct top_view view;

	(void)state;
	fill(&view, agate_before, agate_now, 1);
	begin_screen(24, 108);
	top_draw(&view);
	assert_shows(4, "   0B fragment 40% vertex-tiler 100% compute 0%");
	assert_int_equal(resizeterm(24, 107), OK);
	top_draw(&view);
	assert_shows(4, "   0B fragment 40% vertex-t 100% compute 0%");
	end_screen();
	clear_view(&view);
}

/* With too many engines those without work are left out. */
static void test_many_engines(void **state)
{
	char before[512] = "", now[512] = "";
	struct top_view view;

	(void)state;
	for (int i = 0; i < 8; i++) {
		snprintf(before + strlen(before), 64, "drm-engine-e%d-long: 0 ns\n", i);
		snprintf(now + strlen(now), 64, "drm-engine-e%d-long: %d ns\n", i,
			 i % 3 == 1 ? 10000000 * i : 0);
	}
	fill(&view, before, now, 1);
	begin_screen(24, 80);
	top_draw(&view);
	assert_shows(4, "  - e1- 1% e4- 4% e7- 7%");
	end_screen();
	clear_view(&view);
}

/* Nothing goes on in the next line, and no number is cut. */
static void test_narrow(void **state)
{
	struct top_view view;

	(void)state;
	fill(&view, agate_before, agate_now, 2);
	begin_screen(10, 40);
	top_draw(&view);
	assert_row(0, "agate-top: 2 clients");
	assert_row(1, "agate      0000:00:04.0   100%");
	assert_row(2, "  active; active 3.4 s, suspended 0.0 s;");
	assert_row(3, "    PID COMMAND      DRIVER   TOTAL BUSY");
	assert_row(4, "4194301 draws-and-dr agate    99.9M");
	assert_row(5, "4194302 draws-and-dr agate    99.9M");
	assert_row(6, "");
	assert_row(9, "q quit   m sort by memory   up, down scr");
	end_screen();
	clear_view(&view);
}

/* The last line has its place on a terminal of any size. */
static void test_any_size(void **state)
{
	static const char help[] = "q quit   m sort by memory   up, down scroll";
	struct top_view view;

	(void)state;
	fill(&view, agate_before, agate_now, 3);
	begin_screen(10, 40);
	for (int lines = 1; lines < 7; lines++) {
		for (int width = 1; width < 120; width++) {
			assert_int_equal(resizeterm(lines, width), OK);
			top_draw(&view);
			assert_non_null(row(lines - 1)[0] == 'q' ? strstr(help, row(lines - 1)) : NULL);
		}
	}
	end_screen();
	clear_view(&view);
}

/* ---- When it looks ------------------------------------------------------- */

static char root[64];

static void put_file(const char *device, const char *name, const char *text)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s/%s", root, device, name);
	file = fopen(path, "w");
	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

/* One that has memory, which is enough to be shown; it is a device once it has a name. */
static void add_device(const char *number, const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", root, number);
	assert_int_equal(mkdir(path, 0700), 0);
	put_file(number, "regions", "vram size=2 used=1 visible=2 visible_used=1\n");
	put_file(number, "name", name);
}

/* The screen in a process of its own, which looks only at the folder. */
static pid_t start(int *master, unsigned int interval_ms, const char *type)
{
	const struct top_screen screen = { { "/nonexistent", root, "/nonexistent", "/nonexistent" },
					   interval_ms };
	struct winsize size = { .ws_row = 24, .ws_col = 80 };
	pid_t pid;

	strcpy(root, "/tmp/agate-top-screen-XXXXXX");
	assert_non_null(mkdtemp(root));
	add_device("1", "agate dev=one unique=x\n");
	pid = forkpty(master, NULL, NULL, &size);
	assert_true(pid >= 0);
	if (!pid) {
		signal(SIGHUP, SIG_IGN);
		setenv("TERM", type, 1);
		_exit(-top_show_screen(&screen));
	}
	return pid;
}

static time_t seconds(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

/* The exit status; a screen that does not end is killed after a while. */
static int end_of(pid_t pid)
{
	const time_t limit = seconds() + 20;
	char command[128];
	int status = 0;

	while (!waitpid(pid, &status, WNOHANG)) {
		if (seconds() > limit)
			kill(pid, SIGKILL);
		usleep(10000);
	}
	snprintf(command, sizeof(command), "rm -r %s", root);
	assert_int_equal(system(command), 0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

/* Read until a text has come; held: with a key that is pressed all the time. */
static bool comes(int master, const char *text, bool held)
{
	struct pollfd poller = { .fd = master, .events = POLLIN };
	const time_t limit = seconds() + 20;
	static char seen[1 << 16];
	size_t len = 0;

	seen[0] = '\0';
	while (!strstr(seen, text) && seconds() < limit && len < sizeof(seen) - 1) {
		ssize_t got = 0;

		if (held && write(master, "x", 1) != 1)
			return false;
		if (poll(&poller, 1, 20) > 0)
			got = read(master, seen + len, sizeof(seen) - 1 - len);
		if (got < 0)
			return false;
		len += (size_t)got;
		seen[len] = '\0';
	}
	return strstr(seen, text) != NULL;
}

static void test_held_key(void **state)
{
	int master;
	pid_t pid = start(&master, 500, "vt100");

	(void)state;
	assert_true(comes(master, "one", false));
	add_device("2", "agate dev=other unique=y\n");
	assert_true(comes(master, "other", true));
	assert_int_equal(write(master, "q", 1), 1);
	assert_false(comes(master, "never", false));
	assert_int_equal(end_of(pid), 0);
	close(master);
}

/* It ends with its terminal, although it has an hour to wait and ignores SIGHUP. */
static void test_gone(void **state)
{
	int master;
	pid_t pid = start(&master, 3600000, "vt100");

	(void)state;
	assert_true(comes(master, "one", false));
	close(master);
	assert_int_equal(end_of(pid), 0);
}

static void test_unknown_terminal(void **state)
{
	int master;
	pid_t pid = start(&master, 1000, "a-terminal-of-nobody");

	(void)state;
	assert_int_equal(end_of(pid), ENOTTY);
	close(master);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_load_on_80_columns),
		cmocka_unit_test(test_wide),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_many_engines),
		cmocka_unit_test(test_narrow),
		cmocka_unit_test(test_any_size),
		cmocka_unit_test(test_held_key),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_unknown_terminal),
	};

	return cmocka_run_group_tests_name("top-screen", tests, NULL, NULL);
}
