/* SPDX-License-Identifier: MIT */
/* Lab 02: what the tests of label_lock share: a SET_LABEL on a thread of its own. */
#ifndef AGATE_TESTS_LABEL_LOCK_H
#define AGATE_TESTS_LABEL_LOCK_H

#include "gem.h"

#define SET_LABEL	"agate_gem_set_label_ioctl"
#define GET_LABEL	"agate_gem_get_label"
#define OLD		"old label"
#define NEW		"new label, longer"
/* A size that no other test uses: a BO is known by its size while it has no name. */
#define LABEL_PAGES	71

struct labelling {
	struct aside aside;
	struct bo bo;
	const char *text;
	int err;
};

void start_labelling(struct labelling *labelling, const struct bo *bo, const char *text);
/* Calls that have to succeed. */
void set_text(const struct bo *bo, const char *text);
void set_old(const struct bo *bo);

void check_label(const struct look *look, const char *expected);
void check_old_or_new(const struct look *look);

/* label_signals.c: a call gets a signal while it waits for label_lock. */
void check_label_signals(const struct bo *bo);

#endif /* AGATE_TESTS_LABEL_LOCK_H */
