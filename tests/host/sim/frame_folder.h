/* SPDX-License-Identifier: MIT */
/*
 * A folder for the frames of a test.
 */
#ifndef AGATE_TEST_FRAME_FOLDER_H
#define AGATE_TEST_FRAME_FOLDER_H

#include "gpu_bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

struct folder {
	char path[64];
	char option[160];
};

static inline struct folder folder_make(const char *more)
{
	struct folder f = { .path = "/tmp/agate-frames-XXXXXX" };

	assert_non_null(mkdtemp(f.path));
	snprintf(f.option, sizeof(f.option), "--card --scanout-dir %s%s", f.path, more);
	return f;
}

static inline void folder_file(const struct folder *f, const char *name, char path[128])
{
	snprintf(path, 128, "%s/%s", f->path, name);
}

static inline bool folder_has(const struct folder *f, const char *name)
{
	char path[128];

	folder_file(f, name, path);
	return !access(path, F_OK);
}

static inline void folder_remove(const struct folder *f, unsigned int frames)
{
	char name[32], path[128];
	unsigned int i;

	for (i = 1; i <= frames; i++) {
		snprintf(name, sizeof(name), "frame-%05u.png", i);
		folder_file(f, name, path);
		unlink(path);
	}
	assert_int_equal(rmdir(f->path), 0);	/* nothing else was left in it */
}

#endif /* AGATE_TEST_FRAME_FOLDER_H */
