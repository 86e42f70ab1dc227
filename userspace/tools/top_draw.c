// SPDX-License-Identifier: MIT
/*
 * Draws the screen: top_draw.h.
 *
 * curses goes on in the next line behind the right edge, so here each text is given its line
 * and column, and is cut at the edge.
 */
#include "top_draw.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <curses.h>

#include "top_print.h"

#define BAR		10
#define BAR_COLUMNS	(BAR + 7)	/* "[||||       40%]" */
#define NUMBER_COLUMNS	4		/* "100%" */
#define WIDE		100		/* columns of a terminal with room for all of ours */
#define NAME_MIN	3		/* letters by which engines can be told apart */

enum { PLAIN, CALM, WARM, HOT, TITLE };

enum { PID, COMMAND, DRIVER, TOTAL, RESIDENT, VRAM, SHARED, PURGEABLE, COLUMNS };

/* Without a narrow width it is left out of a narrow terminal, where load has to have room. */
static const struct {
	const char *name;
	int wide, narrow;
	bool left;
} columns[COLUMNS] = {
	[PID] = { "PID", 7, 7, false },
	[COMMAND] = { "COMMAND", 14, 12, true },
	[DRIVER] = { "DRIVER", 9, 8, true },
	[TOTAL] = { "TOTAL", 5, 5, false },
	[RESIDENT] = { "RES", 5, 5, false },
	[VRAM] = { "VRAM", 5, 5, false },
	[SHARED] = { "SHARED", 6, 0, false },
	[PURGEABLE] = { "PURG", 5, 0, false },
};

void top_draw_begin(void)
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

/* Returns the column behind the text, which is COLS when that was cut. */
static int put(int line, int column, const char *format, ...) __attribute__((format(printf, 3, 4)));

static int put(int line, int column, const char *format, ...)
{
	char text[256];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	mvaddnstr(line, column, text, COLS - column);
	column += (int)strlen(text);
	return column < COLS ? column : COLS;
}

static int colour_of(double busy)
{
	if (busy < 0.5)
		return CALM;
	return busy < 0.9 ? WARM : HOT;
}

static int put_bar(int line, int column, double busy)
{
	const int full = (int)(busy * BAR + 0.5);

	column = put(line, column, "[");
	attron(COLOR_PAIR(colour_of(busy)));
	column = put(line, column, "%-*.*s", BAR, full, "||||||||||");
	attroff(COLOR_PAIR(colour_of(busy)));
	return put(line, column, "%4.0f%%]", 100 * busy);
}

/* As a bar, or without room for one as a number. */
static int put_load(int line, int column, double busy, bool bar)
{
	return bar ? put_bar(line, column, busy) : put(line, column, "%.0f%%", 100 * busy);
}

/* Returns the next free line.  A number that is cut would be a wrong one: it is left out. */
static int draw_devices(const struct top_view *view, int line)
{
	size_t i;

	for (i = 0; i < view->now.device_count && line < LINES - 2; i++) {
		const struct top_device *device = &view->now.device[i];
		double busy = top_device_busy(&view->now, &view->before, device);
		char clock[40], power[TOP_POWER_TEXT], regions[TOP_REGIONS_TEXT];
		char ggtt[TOP_GGTT_TEXT];
		int column;

		top_clock_text(clock, device);
		top_device_power_text(power, device, &view->before);
		top_regions_text(regions, &device->regions);
		top_ggtt_text(ggtt, &device->ggtt);
		if (busy < 0.0 && !clock[0] && !power[0] && !regions[0] && !ggtt[0])
			continue;
		column = put(line, 0, "%-10.10s %-14.14s ", device->driver, device->device);
		column = put_load(line, column, busy < 0.0 ? 0.0 : busy, column + BAR_COLUMNS <= COLS);
		if (column + 1 + (int)strlen(clock) <= COLS)
			put(line, column, " %s", clock);
		line++;
		if (power[0] && line < LINES - 2)
			put(line++, 2, "%s", power);
		if (regions[0] && line < LINES - 2)
			put(line++, 2, "%s", regions);
		if (ggtt[0] && line < LINES - 2)
			put(line++, 2, "global table %s", ggtt);
	}
	return line;
}

/* Returns where the load begins.  Here, too, only whole cells are drawn. */
static int draw_columns(int line, const char *const cells[COLUMNS])
{
	int column = 0, i;

	for (i = 0; i < COLUMNS; i++) {
		const int width = COLS < WIDE ? columns[i].narrow : columns[i].wide;

		if (!width)
			continue;
		if (column + width > COLS)
			break;
		column = put(line, column, "%*.*s ", columns[i].left ? -width : width, width, cells[i]);
	}
	return column;
}

/* How a client's engines are shown, so that they fit in the rest of its line. */
struct form {
	int name;			/* letters of a name, at most */
	bool bars, idle_ones;
};

/* The bars give way first, then the ends of names, and at last the engines without work. */
static struct form form_of(const struct top_client *client, int room)
{
	const int count = (int)client->engine_count;
	struct form form = { .name = TOP_NAME, .idle_ones = true };
	int names = 0, i;

	for (i = 0; i < count; i++)
		names += (int)strlen(client->engine[i].name);
	/* Two spaces belong to each, but the last one may lie behind the edge. */
	form.bars = names + count * (BAR_COLUMNS + 2) <= room + 1;
	if (form.bars || names + count * (NUMBER_COLUMNS + 2) <= room + 1)
		return form;
	form.name = (room + 1) / count - NUMBER_COLUMNS - 2;
	if (form.name < NAME_MIN) {
		form.name = NAME_MIN;
		form.idle_ones = false;
	}
	return form;
}

/* Returns the column behind them. */
static int draw_engines(const struct top_view *view, int line, int column,
			const struct top_client *client)
{
	const struct top_client *before = top_find(&view->before, client);
	const uint64_t dt_ns = view->now.time_ns - view->before.time_ns;
	const struct form form = form_of(client, COLS - column);
	uint32_t i;

	for (i = 0; i < client->engine_count; i++) {
		const struct top_engine *engine = &client->engine[i];
		const double busy = top_engine_busy(engine, before, dt_ns);
		const int name = (int)strnlen(engine->name, (size_t)form.name);

		if (!form.idle_ones && busy <= 0.0)
			continue;
		if (column + name + 1 + NUMBER_COLUMNS > COLS)
			break;
		column = put(line, column, "%.*s ", name, engine->name);
		column = put_load(line, column, busy, form.bars);
		column = put(line, column, " ");
	}
	return column;
}

static void draw_client(const struct top_view *view, int line, const struct top_client *client)
{
	const struct top_memory_text memory = top_memory_text(client);
	char pid[16], bos[96];
	const char *const cells[COLUMNS] = {
		[PID] = pid, [COMMAND] = client->command, [DRIVER] = client->driver,
		[TOTAL] = memory.total, [RESIDENT] = memory.resident, [VRAM] = memory.vram,
		[SHARED] = memory.shared, [PURGEABLE] = memory.purgeable,
	};
	int column;

	snprintf(pid, sizeof(pid), "%d", client->pid);
	column = draw_engines(view, line, draw_columns(line, cells), client);
	top_bos_text(bos, sizeof(bos), client);
	if (column + 1 + (int)strlen(bos) <= COLS)
		put(line, column, " %s", bos);
}

static void draw_head(int line)
{
	const char *names[COLUMNS];
	int i;

	for (i = 0; i < COLUMNS; i++)
		names[i] = columns[i].name;
	put(line, draw_columns(line, names), "BUSY");
	mvchgat(line, 0, -1, A_REVERSE, PLAIN, NULL);
}

void top_draw(struct top_view *view)
{
	const int count = (int)view->now.count;
	int line, rows, i;

	erase();
	attron(COLOR_PAIR(TITLE) | A_BOLD);
	put(0, 0, "agate-top: %d client%s", count, count == 1 ? "" : "s");
	attroff(COLOR_PAIR(TITLE) | A_BOLD);
	line = draw_devices(view, 1);
	/* The last line has another text. */
	if (line < LINES - 1)
		draw_head(line);
	line++;
	rows = LINES - 1 - line;
	if (view->first > count - rows)
		view->first = count - rows;
	if (view->first < 0)
		view->first = 0;
	for (i = 0; i < rows && view->first + i < count; i++)
		draw_client(view, line + i, &view->now.clients[view->first + i]);
	put(LINES - 1, 0, "q quit   m sort by %s   up, down scroll",
	    view->by_memory ? "busy" : "memory");
	refresh();
}
