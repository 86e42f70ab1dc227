/* SPDX-License-Identifier: MIT */
/*
 * The frames that the card shows, as numbered PNG files in a folder.
 *
 * Another process writes them: it needs files and libpng, and the one that serves the guest
 * is confined to the descriptors that it has (sandbox.h).  The two share only a pipe each
 * way.  A file has its name once it is whole, which is before the guest learns that its
 * frame is shown.
 */
#ifndef AGATE_PROCESS_FRAME_FILES_H
#define AGATE_PROCESS_FRAME_FILES_H

#include <stdbool.h>
#include <stdint.h>

#define FRAMES_MAX_WIDTH	4096u
#define FRAMES_MAX_HEIGHT	4096u

/* What goes through the pipe: this, and after FRAMES_ROW width * 4 bytes, R G B A. */
enum frames_kind {
	FRAMES_BEGIN,
	FRAMES_ROW,
	FRAMES_SHOWN,		/* the frame is complete */
	FRAMES_DROPPED,		/* it is not shown */
};

struct frames_message {
	uint32_t kind;
	uint32_t number;	/* BEGIN */
	uint32_t width;
	uint32_t height;
};

struct frames {
	int to, from;		/* pipes to the writer and back; -1: there is no writer */
	uint32_t width;		/* of the frame that is being sent */
};

/*
 * Start the writer, before guest memory is mapped; it takes at most so many bytes of the disk.
 * Without a folder frames go nowhere.  GPUs share one if they have different numbers.  Returns
 * NULL, or what is wrong.
 */
const char *frames_open(struct frames *frames, const char *folder, uint64_t limit,
			unsigned int gpu);

void frames_begin(struct frames *frames, uint32_t number, uint32_t width, uint32_t height);
void frames_row(struct frames *frames, const uint8_t *rgba);
/* Returns when the file has its name, or is gone. */
void frames_end(struct frames *frames, bool shown);

/* The writer's own loop, until nobody writes to the pipe any more; returns its exit status. */
int frames_serve(int folder, int in, int out, uint64_t limit, unsigned int gpu);

#endif /* AGATE_PROCESS_FRAME_FILES_H */
