// SPDX-License-Identifier: MIT
/*
 * The screen: a line for each client, sorted, until somebody presses q.
 */
#include "top_print.h"

#include <errno.h>
#include <locale.h>
#include <string.h>

#include <curses.h>

#include "top_draw.h"

static int take_sample(const struct top_screen *screen, struct top_view *view)
{
	top_sample_clear(&view->before);
	view->before = view->now;
	memset(&view->now, 0, sizeof(view->now));
	return top_scan(&screen->folders, &view->now);
}

/* False when it is time to end. */
static bool obey(struct top_view *view, int key)
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
	struct top_view view = { .first = 0 };
	int key = ERR, err;

	setlocale(LC_ALL, "");
	err = top_scan(&screen->folders, &view.now);
	if (err)
		return err;
	if (!initscr())
		return -ENODEV;
	top_draw_begin();
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	timeout((int)screen->interval_ms);
	do {
		/* A key alone shows the same numbers, in another order perhaps. */
		if (key == ERR)
			err = take_sample(screen, &view);
		top_sort(&view.now, &view.before, view.by_memory);
		top_draw(&view);
		key = getch();
	} while (!err && obey(&view, key));
	endwin();
	top_sample_clear(&view.now);
	top_sample_clear(&view.before);
	return err;
}
