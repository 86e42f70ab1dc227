// SPDX-License-Identifier: MIT
/*
 * The screen: a line for each client, sorted, until somebody presses q.
 */
#include "top_print.h"

#include <errno.h>
#include <locale.h>
#include <poll.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <curses.h>

#include "top_draw.h"

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int take_sample(const struct top_screen *screen, struct top_view *view)
{
	top_sample_clear(&view->before);
	view->before = view->now;
	memset(&view->now, 0, sizeof(view->now));
	return top_scan(&screen->folders, &view->now);
}

/* A key, or ERR when none came until this time. */
static int wait_for_key(uint64_t until_ns)
{
	const uint64_t now = now_ns();

	/* Rounded up: with less than a millisecond left it would not wait at all. */
	timeout(now < until_ns ? (int)((until_ns - now + 999999) / 1000000) : 0);
	return getch();
}

/* A terminal that is gone has no keys and does not wait: without SIGHUP it would go on for ever. */
static bool is_gone(void)
{
	struct pollfd input = { .fd = STDIN_FILENO };	/* keys are no event here */

	return poll(&input, 1, 0) > 0;
}

/* False when it is time to end. */
static bool obey(struct top_view *view, int key)
{
	switch (key) {
	case ERR:
		return !is_gone();
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

/* A key alone shows the same numbers, in another order perhaps; the next look has its time. */
static int show(const struct top_screen *screen, struct top_view *view)
{
	uint64_t next_ns = 0;
	int err;

	do {
		if (now_ns() >= next_ns) {
			err = take_sample(screen, view);
			if (err)
				return err;
			next_ns = now_ns() + screen->interval_ms * 1000000ull;
		}
		top_sort(&view->now, &view->before, view->by_memory);
		top_draw(view);
	} while (obey(view, wait_for_key(next_ns)));
	return 0;
}

int top_show_screen(const struct top_screen *screen)
{
	struct top_view view = { .first = 0 };
	SCREEN *terminal;
	int err;

	setlocale(LC_ALL, "");
	/* Unlike initscr() it returns when it does not know the terminal. */
	terminal = newterm(NULL, stdout, stdin);
	if (!terminal)
		return -ENOTTY;
	top_draw_begin();
	cbreak();
	noecho();
	keypad(stdscr, TRUE);
	curs_set(0);
	err = top_scan(&screen->folders, &view.now);
	if (!err)
		err = show(screen, &view);
	endwin();
	delscreen(terminal);
	top_sample_clear(&view.now);
	top_sample_clear(&view.before);
	return err;
}
