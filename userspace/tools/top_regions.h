/* SPDX-License-Identifier: MIT */
/*
 * A device's regions of memory, which debugfs of agate tells, and what of a client's memory
 * is the device's own.
 */
#ifndef TOP_REGIONS_H
#define TOP_REGIONS_H

#include "top_client.h"

#define TOP_DEVICE_REGIONS	4
#define TOP_REGIONS_TEXT	200

/* Bytes; of them, "visible" is what the CPUs reach. */
struct top_device_region {
	char name[TOP_NAME];
	uint64_t size, used;
	uint64_t visible, visible_used;
};

struct top_regions {
	struct top_device_region region[TOP_DEVICE_REGIONS];
	uint32_t count;
};

/* What agate's debugfs file "regions" says; unknown lines are ignored. */
void top_parse_regions(const char *text, struct top_regions *regions);

/* "vram 12.0M of 64.0M, visible 4.0M of 16.0M; system 1.0M of 120M", or "". */
void top_regions_text(char text[TOP_REGIONS_TEXT], const struct top_regions *regions);

/*
 * A client's resident memory in its device's own regions: drivers call one vram, vram0 or
 * local0, for instance.  False if its driver names no such region.
 */
bool top_vram(const struct top_client *client, uint64_t *resident);

#endif /* TOP_REGIONS_H */
