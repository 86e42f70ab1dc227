/* SPDX-License-Identifier: MIT */
/* What agate-top shows of two samples: as a table, as JSON, or on a screen. */
#ifndef TOP_PRINT_H
#define TOP_PRINT_H

#include <stdio.h>

#include "top_sample.h"
#include "top_scan.h"

/* "12.3M": bytes in five columns. */
void top_bytes(char text[8], uint64_t bytes);

/* A client's memory, for the table and the screen; vram is "-" if its driver has none. */
struct top_memory_text {
	char total[8], resident[8], vram[8], shared[8], purgeable[8];
};

struct top_memory_text top_memory_text(const struct top_client *client);

/* "12 paged, 1 heap, 3 cached", or "" when debugfs does not tell. */
void top_bos_text(char *text, size_t size, const struct top_client *client);

/* "400 of 800 MHz", "400 MHz", or "" when the frequency is not known. */
void top_clock_text(char text[40], const struct top_device *device);

/* A device's power, see top_power_text(); before is the sample that its share of time refers to. */
void top_device_power_text(char text[TOP_POWER_TEXT], const struct top_device *device,
			   const struct top_sample *before);

/*
 * A table for people; 0 or a negative errno.  before is the sample that the shares of time
 * refer to.
 */
int top_print_table(FILE *out, const struct top_sample *now, const struct top_sample *before);

/* One JSON object on one line; 0 or a negative errno. */
int top_print_json(FILE *out, const struct top_sample *now, const struct top_sample *before);

/* The options of the screen. */
struct top_screen {
	struct top_folders folders;
	unsigned int interval_ms;
};

/*
 * Show samples until somebody presses q; 0 or a negative errno, -ENOTTY when curses does not
 * know the terminal.
 */
int top_show_screen(const struct top_screen *screen);

#endif /* TOP_PRINT_H */
