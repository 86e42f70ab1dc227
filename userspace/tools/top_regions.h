/* SPDX-License-Identifier: MIT */
/*
 * A device's regions of memory, and its global table of addresses, which debugfs of agate tells; and
 * what of a client's memory is the device's own.
 */
#ifndef TOP_REGIONS_H
#define TOP_REGIONS_H

#include "top_client.h"

#define TOP_DEVICE_REGIONS	4
#define TOP_REGIONS_TEXT	200
#define TOP_GGTT_TEXT		64

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

/* The global table, in bytes of its addresses; size 0: there is none. */
struct top_ggtt {
	uint64_t size, used, largest_hole;
};

/* What agate's debugfs file "regions" says; unknown lines are ignored. */
void top_parse_regions(const char *text, struct top_regions *regions);

/* "vram 12.0M of 64.0M, visible 4.0M of 16.0M; system 1.0M of 120M", or "". */
void top_regions_text(char text[TOP_REGIONS_TEXT], const struct top_regions *regions);

/* What agate's debugfs file "ggtt" says; unknown lines are ignored. */
void top_parse_ggtt(const char *text, struct top_ggtt *ggtt);

/* "300K of 254M, largest hole 200M", or "". */
void top_ggtt_text(char text[TOP_GGTT_TEXT], const struct top_ggtt *ggtt);

/*
 * A client's resident memory in its device's own regions: drivers call one vram, vram0 or
 * local0, for instance.  False if its driver names no such region.
 */
bool top_vram(const struct top_client *client, uint64_t *resident);

#endif /* TOP_REGIONS_H */
