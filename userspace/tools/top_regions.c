// SPDX-License-Identifier: MIT
/*
 * Regions of memory, without any file: top_regions.h.
 */
#include "top_regions.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "top_print.h"

static void parse_line(const char *text, size_t len, struct top_regions *regions)
{
	struct top_device_region *region = &regions->region[regions->count];
	char line[256], name[TOP_NAME];

	if (regions->count == TOP_DEVICE_REGIONS)
		return;
	snprintf(line, sizeof(line), "%.*s", (int)len, text);
	if (sscanf(line, "%63s size=%" SCNu64 " used=%" SCNu64 " visible=%" SCNu64
		   " visible_used=%" SCNu64, name, &region->size, &region->used, &region->visible,
		   &region->visible_used) != 5)
		return;
	top_copy(region->name, name, strlen(name));
	regions->count++;
}

void top_parse_regions(const char *text, struct top_regions *regions)
{
	for (; *text; text += strspn(text, "\n")) {
		size_t len = strcspn(text, "\n");

		parse_line(text, len, regions);
		text += len;
	}
}

void top_regions_text(char text[TOP_REGIONS_TEXT], const struct top_regions *regions)
{
	size_t len = 0;
	uint32_t i;

	text[0] = '\0';
	for (i = 0; i < regions->count && len < TOP_REGIONS_TEXT; i++) {
		const struct top_device_region *region = &regions->region[i];
		char used[8], size[8];

		top_bytes(used, region->used);
		top_bytes(size, region->size);
		len += (size_t)snprintf(text + len, TOP_REGIONS_TEXT - len, "%s%s %s of %s",
					len ? "; " : "", region->name, used, size);
		if (region->visible == region->size || len >= TOP_REGIONS_TEXT)
			continue;
		top_bytes(used, region->visible_used);
		top_bytes(size, region->visible);
		len += (size_t)snprintf(text + len, TOP_REGIONS_TEXT - len, ", visible %s of %s",
					used, size);
	}
}

static void parse_range(const char *text, size_t len, struct top_ggtt *ggtt)
{
	char line[256], what[TOP_NAME];
	uint64_t start, size;

	snprintf(line, sizeof(line), "%.*s", (int)len, text);
	if (sscanf(line, "start=%" SCNx64 " size=%" SCNu64 " %63s", &start, &size, what) != 3)
		return;
	ggtt->size = top_sum(ggtt->size, size);
	if (strcmp(what, "free"))
		ggtt->used = top_sum(ggtt->used, size);
	else if (size > ggtt->largest_hole)
		ggtt->largest_hole = size;
}

void top_parse_ggtt(const char *text, struct top_ggtt *ggtt)
{
	for (; *text; text += strspn(text, "\n")) {
		size_t len = strcspn(text, "\n");

		parse_range(text, len, ggtt);
		text += len;
	}
}

void top_ggtt_text(char text[TOP_GGTT_TEXT], const struct top_ggtt *ggtt)
{
	char used[8], size[8], hole[8];

	text[0] = '\0';
	if (!ggtt->size)
		return;
	top_bytes(used, ggtt->used);
	top_bytes(size, ggtt->size);
	top_bytes(hole, ggtt->largest_hole);
	snprintf(text, TOP_GGTT_TEXT, "%s of %s, largest hole %s", used, size, hole);
}

bool top_vram(const struct top_client *client, uint64_t *resident)
{
	bool found = false;
	uint32_t i;

	*resident = 0;
	for (i = 0; i < client->region_count; i++) {
		const struct top_region *region = &client->region[i];

		if (strncmp(region->name, "vram", 4) && strncmp(region->name, "local", 5))
			continue;
		*resident = top_sum(*resident, region->resident);
		found = true;
	}
	return found;
}
