/* SPDX-License-Identifier: MIT */
/* Looking at /proc and debugfs. */
#ifndef TOP_SCAN_H
#define TOP_SCAN_H

#include "top_sample.h"

/*
 * Take a sample of everything that this user may see, in place of what was in *sample.
 * 0, or -ENOMEM.  /proc may be another folder, for tests.
 */
int top_scan(const char *proc, const char *debugfs, struct top_sample *sample);

#endif /* TOP_SCAN_H */
