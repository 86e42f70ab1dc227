/* SPDX-License-Identifier: MIT */
/* The picture on agate-top's screen, of whatever size that is. */
#ifndef TOP_DRAW_H
#define TOP_DRAW_H

#include "top_sample.h"

struct top_view {
	struct top_sample now, before;
	int first;			/* client at the top of the screen */
	bool by_memory;
};

/* Once for each screen of curses. */
void top_draw_begin(void);

/* Draw all of it; a view that was scrolled too far comes back. */
void top_draw(struct top_view *view);

#endif /* TOP_DRAW_H */
