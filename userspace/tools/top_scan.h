/* SPDX-License-Identifier: MIT */
/* Looking at /proc, debugfs, and devices in sysfs: those of DRM, and those of devfreq. */
#ifndef TOP_SCAN_H
#define TOP_SCAN_H

#include "top_sample.h"

/* Where to look; other folders in tests. */
struct top_folders {
	const char *proc, *debugfs, *devfreq, *drm;
};

/*
 * Take a sample of everything that this user may see, in place of what was in *sample.
 * 0, or -ENOMEM.
 */
int top_scan(const struct top_folders *folders, struct top_sample *sample);

#endif /* TOP_SCAN_H */
