// SPDX-License-Identifier: MIT
/*
 * The screen: a line with bars for each client, sorted, until somebody presses q.
 */
#include "top_print.h"

#include <errno.h>
#include <locale.h>
#include <string.h>

#include <curses.h>

#define BAR		10

enum { PLAIN, CALM, WARM, HOT, TITLE };

struct view {
	const struct top_screen *screen;
	struct top_sample now, before;
	int first;			/* client at the top of the screen */
	bool by_memory;
};

static void begin_colours(void)
{
	if (!has_colors())
		return;
	start_color();
	use_default_colors();
	init_pair(CALM, COLOR_GREEN, -1);
	init_pair(WARM, COLOR_YELLOW, -1);
	init_pair(HOT, COLOR_RED, -1);
	init_pair(TITLE, COLOR_CYAN, -1);
}

static int colour_of(double busy)
{
	if (busy < 0.5)
		return CALM;
	return busy < 0.9 ? WARM : HOT;
}

static void draw_bar(double busy)
{
	const int full = (int)(busy * BAR + 0.5);
	int i;

	addch('[');
	attron(COLOR_PAIR(colour_of(busy)));
	for (i = 0; i < BAR; i++)
		addch(i < full ? '|' : ' ');
	attroff(COLOR_PAIR(colour_of(busy)));
	printw("%4.0f%%]", 100 * busy);
}

/* Returns the next free line. */
static int draw_devices(const struct view *view, int line)
{
	size_t i;

	for (i = 0; i < view->now.device_count && line < LINES - 2; i++) {
		const struct top_device *device = &view->now.device[i];
		double busy = top_device_busy(&view->now, &view->before, device);
		char clock[40], power[TOP_POWER_TEXT], regions[TOP_REGIONS_TEXT];

		top_clock_text(clock, device);
		top_device_power_text(power, device, &view->before);
		top_regions_text(regions, &device->regions);
		if (busy < 0.0 && !clock[0] && !power[0] && !regions[0])
			continue;
		mvprintw(line++, 0, "%-10.10s %-14.14s ", device->driver, device->device);
		draw_bar(busy < 0.0 ? 0.0 : busy);
		printw(" %s", clock);
		if (power[0] && line < LINES - 2)
			mvaddnstr(line++, 2, power, COLS - 2);
		if (regions[0] && line < LINES - 2)
			mvaddnstr(line++, 2, regions, COLS - 2);
	}
	return line;
}

/* The columns that do not fit are cut at the right edge: nothing wraps. */
static void draw_client(const struct view *view, int line, const struct top_client *client)
{
	const struct top_client *before = top_find(&view->before, client);
	const uint64_t dt_ns = view->now.time_ns - view->before.time_ns;
	const struct top_memory_text memory = top_memory_text(client);
	char bos[96];
	uint32_t i;

	top_bos_text(bos, sizeof(bos), client);
	mvprintw(line, 0, "%7d %-14.14s %-9.9s %6s %6s %6s %6s %6s ", client->pid,
		 client->command, client->driver, memory.total, memory.resident, memory.vram,
		 memory.shared, memory.purgeable);
	for (i = 0; i < client->engine_count; i++) {
		const struct top_engine *engine = &client->engine[i];

		if (getcurx(stdscr) + BAR + 10 + (int)strlen(engine->name) >= COLS)
			break;
		printw(" %s ", engine->name);
		draw_bar(top_engine_busy(engine, before, dt_ns));
	}
	if (getcury(stdscr) == line && getcurx(stdscr) + 3 + (int)strlen(bos) < COLS)
		printw("  %s", bos);
}

static void draw(struct view *view)
{
	const int count = (int)view->now.count;
	int line, rows, i;

	erase();
	attron(COLOR_PAIR(TITLE) | A_BOLD);
	mvprintw(0, 0, "agate-top: %d client%s", count, count == 1 ? "" : "s");
	attroff(COLOR_PAIR(TITLE) | A_BOLD);
	line = draw_devices(view, 1);
	attron(A_REVERSE);
	mvprintw(line, 0, "%7s %-14s %-9s %6s %6s %6s %6s %6s  %-*s", "PID", "COMMAND", "DRIVER",
		 "TOTAL", "RES", "VRAM", "SHARED", "PURG", COLS > 73 ? COLS - 73 : 0, "BUSY");
	attroff(A_REVERSE);
	line++;
	rows = LINES - 1 - line;
	if (view->first > count - rows)
		view->first = count - rows;
	if (view->first < 0)
		view->first = 0;
	for (i = 0; i < rows && view->first + i < count; i++)
		draw_client(view, line + i, &view->now.clients[view->first + i]);
	mvprintw(LINES - 1, 0, "q quit   m sort by %s   up, down scroll",
		 view->by_memory ? "busy" : "memory");
	refresh();
}

static int take_sample(struct view *view)
{
	top_sample_clear(&view->before);
	view->before = view->now;
	memset(&view->now, 0, sizeof(view->now));
	return top_scan(&view->screen->folders, &view->now);
}

/* False when it is time to end. */
static bool obey(struct view *view, int key)
{
	switch (key) {
	case 'q':
	case 'Q':
		return false;
	case 'm':
		view->by_memory = !view->by_memory;
		break;
	case KEY_UP:
		view->first--;
		break;
	case KEY_DOWN:
		view->first++;
		break;
	default:
		break;
	}
	return true;
}

int top_show_screen(const struct top_screen *screen)
{
	struct view view = { .screen = screen };
	int key = ERR, err;

	setlocale(LC_ALL, "");
	err = top_scan(&screen->folders, &view.now);
	if (err)
		return err;
	if (!initscr())
		return -ENODEV;
	begin_colours();
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	timeout((int)screen->interval_ms);
	do {
		/* A key alone shows the same numbers, in another order perhaps. */
		if (key == ERR)
			err = take_sample(&view);
		top_sort(&view.now, &view.before, view.by_memory);
		draw(&view);
		key = getch();
	} while (!err && obey(&view, key));
	endwin();
	top_sample_clear(&view.now);
	top_sample_clear(&view.before);
	return err;
}
