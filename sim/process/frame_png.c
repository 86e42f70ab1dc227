// SPDX-License-Identifier: MIT
/*
 * The process that writes frames (frame_files.h).
 *
 * It takes orders from a process that a guest may have got hold of: it checks what it reads,
 * and makes up the names of its files itself.
 */
#include "frame_files.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <png.h>

#define NAME_MAX_LENGTH	48
#define DISK_BLOCK	4096u	/* what a file system gives out at least */

struct writer {
	int folder, in, out;
	unsigned int gpu;		/* its number */
	uint64_t left;			/* bytes of disk that it may still use */
	struct frames_message frame;
	struct frames_message next;	/* the message after the last row */
	uint8_t row[FRAMES_MAX_WIDTH * 4];
};

/* Returns false at the end of the pipe. */
static bool take(int fd, void *buf, size_t len)
{
	uint8_t *at = buf;

	while (len) {
		ssize_t n = read(fd, at, len);

		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

/* The next row is in row: R G B, as a display has no use for A. */
static bool take_row(struct writer *w)
{
	uint32_t x;

	if (!take(w->in, &w->next, sizeof(w->next)) || w->next.kind != FRAMES_ROW ||
	    !take(w->in, w->row, (size_t)w->frame.width * 4))
		return false;
	for (x = 0; x < w->frame.width; x++)
		memmove(w->row + (size_t)x * 3, w->row + (size_t)x * 4, 3);
	return true;
}

/*
 * What a file of so many bytes takes of the disk: whole blocks, and one for its name and the
 * rest that the file system keeps of it.
 */
static uint64_t disk_use(long size)
{
	return ((uint64_t)size + DISK_BLOCK - 1) / DISK_BLOCK * DISK_BLOCK + DISK_BLOCK;
}

/* Does what is in the file so far fit?  If not, no later frame is tried. */
static bool file_fits(struct writer *w, FILE *file)
{
	long size = ftell(file);

	if (size >= 0 && disk_use(size) <= w->left)
		return true;
	w->left = 0;
	return false;
}

/*
 * Returns false when the file could not be written, or the frame ended early.  libpng reports
 * errors by longjmp(), so no variable here changes after setjmp().
 */
static bool write_rows(struct writer *w, FILE *file)
{
	png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, NULL, NULL, NULL);
	png_infop info = png ? png_create_info_struct(png) : NULL;
	uint32_t y;

	if (!info || setjmp(png_jmpbuf(png))) {
		png_destroy_write_struct(&png, &info);
		return false;
	}
	png_init_io(png, file);
	png_set_IHDR(png, info, w->frame.width, w->frame.height, 8, PNG_COLOR_TYPE_RGB,
		     PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
	/* As agate-gem writes its picture, so that the two files can be compared. */
	png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_SUB);
	png_set_compression_level(png, 4);
	png_set_sRGB(png, info, PNG_sRGB_INTENT_PERCEPTUAL);
	png_write_info(png, info);
	for (y = 0; y < w->frame.height; y++) {
		if (!file_fits(w, file) || !take_row(w)) {
			png_destroy_write_struct(&png, &info);
			return false;
		}
		png_write_row(png, w->row);
	}
	png_write_end(png, info);
	png_destroy_write_struct(&png, &info);
	return true;
}

/* "frame" and what follows, after the number of a GPU that is not the first. */
__attribute__((format(printf, 3, 4)))
static void file_name(const struct writer *w, char name[NAME_MAX_LENGTH], const char *format, ...)
{
	va_list args;
	int n = 0;

	if (w->gpu)
		n = snprintf(name, NAME_MAX_LENGTH, "gpu%u-", w->gpu);
	va_start(args, format);
	vsnprintf(name + n, NAME_MAX_LENGTH - n, format, args);
	va_end(args);
}

static bool write_part(struct writer *w)
{
	char name[NAME_MAX_LENGTH];
	FILE *file;
	uint64_t use;
	bool good;
	int fd;

	file_name(w, name, "frame.part");
	fd = openat(w->folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, 0666);
	file = fd < 0 ? NULL : fdopen(fd, "wb");
	if (!file)
		return false;
	good = write_rows(w, file) && file_fits(w, file);
	use = good ? disk_use(ftell(file)) : 0;
	good = !fclose(file) && good;
	if (good)
		w->left -= use;
	return good;
}

/* Rows that nobody wants, up to the frame's end. */
static bool skip_to_end(struct writer *w)
{
	while (w->next.kind < FRAMES_SHOWN) {
		if (!take(w->in, &w->next, sizeof(w->next)))
			return false;
		if (w->next.kind == FRAMES_ROW &&
		    !take(w->in, w->row, (size_t)w->frame.width * 4))
			return false;
	}
	return w->next.kind <= FRAMES_DROPPED;
}

static void name_file(struct writer *w, bool keep)
{
	char part[NAME_MAX_LENGTH], name[NAME_MAX_LENGTH];

	file_name(w, part, "frame.part");
	file_name(w, name, "frame-%05u.png", w->frame.number);
	if (keep && !renameat(w->folder, part, w->folder, name))
		return;
	unlinkat(w->folder, part, 0);
}

static bool serve_frame(struct writer *w)
{
	const char done = 'D';
	const bool room = w->left;
	bool written;

	if (!take(w->in, &w->frame, sizeof(w->frame)) || w->frame.kind != FRAMES_BEGIN ||
	    !w->frame.width || w->frame.width > FRAMES_MAX_WIDTH || !w->frame.height ||
	    w->frame.height > FRAMES_MAX_HEIGHT)
		return false;
	w->next = w->frame;
	written = room && write_part(w);
	if (!skip_to_end(w)) {
		name_file(w, false);
		return false;
	}
	if (room && !w->left)
		fputs("agate-sim: the frames have reached --log-limit: no more are written\n", stderr);
	else if (w->next.kind == FRAMES_SHOWN && !written && room)
		fprintf(stderr, "agate-sim: frame %u was not written\n", w->frame.number);
	name_file(w, written && w->next.kind == FRAMES_SHOWN);
	return write(w->out, &done, 1) == 1;
}

int frames_serve(int folder, int in, int out, uint64_t limit, unsigned int gpu)
{
	static struct writer w;

	w = (struct writer){ .folder = folder, .in = in, .out = out, .left = limit, .gpu = gpu };
	while (serve_frame(&w))
		;
	return 0;
}
