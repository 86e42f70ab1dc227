// SPDX-License-Identifier: MIT
/*
 * Evaluates walks and flushes: when the GPU had a page's translation, which tables it
 * read, which pages belong together.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "map.h"

/* Pages with a smaller gap between them are one region. */
#define REGION_GAP	(2u << 20)

uint64_t map_page_size(unsigned int level)
{
	return 1ull << (12 + 9 * (3 - level));
}

const char *map_size(char buf[32], uint64_t bytes)
{
	static const char *const units[] = { "B", "KiB", "MiB", "GiB", "TiB" };
	unsigned int unit = 0;

	while (bytes >= 1024 && bytes % 1024 == 0 && unit < 4) {
		bytes /= 1024;
		unit++;
	}
	if (bytes >= 10240 && unit < 4)
		snprintf(buf, 32, "%.1f %s", (double)bytes / 1024, units[unit + 1]);
	else
		snprintf(buf, 32, "%" PRIu64 " %s", bytes, units[unit]);
	return buf;
}

const char *map_time(char buf[32], uint64_t bus_cycles)
{
	double us = (double)bus_cycles / 800;	/* AGATE_BUS_MHZ */

	if (us < 10000)
		snprintf(buf, 32, "%.2f us", us);
	else
		snprintf(buf, 32, "%.2f ms", us / 1000);
	return buf;
}

/* ---- Pages ------------------------------------------------------------------ */

static int by_va_then_time(const void *a, const void *b)
{
	const struct map_walk *x = a, *y = b;

	if (x->va != y->va)
		return x->va < y->va ? -1 : 1;
	return (x->time > y->time) - (x->time < y->time);
}

static void find_pages(struct map_space *space)
{
	struct map_drops *drops = map_drops_of(space);
	struct map_page *open = NULL;
	size_t i;

	if (space->walk.count)
		qsort(space->walk.item, space->walk.count, sizeof(*space->walk.item),
		      by_va_then_time);
	for (i = 0; i < space->walk.count; i++) {
		const struct map_walk *walk = &space->walk.item[i];
		uint64_t size = map_page_size(walk->level);

		/* The GPU walked there again, because the TLB had evicted the entry. */
		if (open && open->va == walk->va && open->pa == walk->pa && open->size == size &&
		    walk->time <= open->to)
			continue;
		open = MAP_ADD(space->page);
		*open = (struct map_page){
			.va = walk->va, .pa = walk->pa, .size = size, .from = walk->time,
			.to = map_dropped(drops, walk),
		};
		memcpy(open->access, walk->access, sizeof(open->access));
	}
	map_drops_free(drops);
}

uint64_t map_known(const struct map_space *space, uint64_t time)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < space->page.count; i++) {
		const struct map_page *page = &space->page.item[i];

		if (page->from <= time && time < page->to)
			bytes += page->size;
	}
	return bytes;
}

/* ---- Tables ------------------------------------------------------------------- */

struct entry_seen {
	unsigned int level;
	uint64_t table;
	uint64_t va;		/* of the first byte that the table covers */
	unsigned int index;
};

static int by_table(const void *a, const void *b)
{
	const struct entry_seen *x = a, *y = b;

	if (x->level != y->level)
		return x->level < y->level ? -1 : 1;
	if (x->va != y->va)
		return x->va < y->va ? -1 : 1;
	if (x->table != y->table)
		return x->table < y->table ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static void find_tables(struct map_space *space)
{
	MAP_ARRAY(struct entry_seen) seen = { 0 };
	struct map_table *table = NULL;
	size_t i;

	for (i = 0; i < space->walk.count; i++) {
		const struct map_walk *walk = &space->walk.item[i];
		unsigned int level;

		for (level = 0; level <= walk->level; level++) {
			struct entry_seen *entry = MAP_ADD(seen);

			entry->level = level;
			entry->table = walk->table[level];
			entry->va = level ? walk->va & ~(map_page_size(level - 1) - 1) : 0;
			entry->index = walk->va / map_page_size(level) % 512;
		}
	}
	if (seen.count)
		qsort(seen.item, seen.count, sizeof(*seen.item), by_table);
	for (i = 0; i < seen.count; i++) {
		const struct entry_seen *entry = &seen.item[i];

		if (i && !by_table(entry, entry - 1))
			continue;
		if (!table || table->level != entry->level || table->pa != entry->table ||
		    table->va != entry->va) {
			table = MAP_ADD(space->table_used);
			*table = (struct map_table){
				.pa = entry->table, .va = entry->va, .level = entry->level,
			};
		}
		table->entries++;
	}
	free(seen.item);
}

/* ---- Regions -------------------------------------------------------------------- */

static void add_access(char all[4], const char *more)
{
	bool r = strchr(all, 'r') || strchr(more, 'r');
	bool w = strchr(all, 'w') || strchr(more, 'w');
	bool x = strchr(all, 'x') || strchr(more, 'x');

	snprintf(all, 4, "%s%s%s", r ? "r" : "", w ? "w" : "", x ? "x" : "");
}

static void find_regions(struct map_space *space)
{
	struct map_region *region = NULL;
	size_t i;

	for (i = 0; i < space->page.count; i++) {
		const struct map_page *page = &space->page.item[i];

		if (!region || page->va > region->last + REGION_GAP) {
			region = MAP_ADD(space->region);
			*region = (struct map_region){
				.first = page->va, .page_size = page->size, .from = page->from,
			};
		}
		if (page->from < region->from)
			region->from = page->from;
		add_access(region->access, page->access);
		region->mixed |= page->size != region->page_size;
		if (i && page[-1].va == page->va && region->pages)
			continue;	/* the same page, later */
		region->last = page->va + page->size - 1;
		region->pages++;
		region->bytes += page->size;
	}
}

void map_finish(struct map *map)
{
	size_t i, k;

	for (i = 0; i < map->space.count; i++) {
		struct map_space *space = &map->space.item[i];

		for (k = 0; k < space->stay.count; k++)
			if (space->stay.item[k].to > map->end)
				space->stay.item[k].to = map->end;
		find_pages(space);
		find_tables(space);
		find_regions(space);
	}
	for (i = 0; i < map->job.count; i++)
		if (map->job.item[i].to > map->end)
			map->job.item[i].to = map->end;
}

void map_free(struct map *map)
{
	size_t i;

	for (i = 0; i < map->space.count; i++) {
		struct map_space *space = &map->space.item[i];

		free(space->stay.item);
		free(space->walk.item);
		free(space->flush.item);
		free(space->fault.item);
		free(space->page.item);
		free(space->table_used.item);
		free(space->region.item);
	}
	free(map->space.item);
	free(map->job.item);
}
