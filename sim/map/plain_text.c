// SPDX-License-Identifier: MIT
/*
 * The map as plain text, 100 columns wide at most.
 */
#include <inttypes.h>
#include <string.h>

#include "map.h"

#define COLUMNS		64	/* of the graph of residency */
#define ROWS		8
#define MAX_TABLES	24	/* of a level; the rest is only counted */
#define MAX_FAULTS	24

static void text_stays(const struct map_space *space, FILE *out)
{
	char from[32], to[32];
	size_t i;

	for (i = 0; i < space->stay.count; i++) {
		const struct map_stay *stay = &space->stay.item[i];

		fprintf(out, "  in address space %u from %s to %s\n", stay->as,
			map_time(from, stay->from), map_time(to, stay->to));
	}
}

static void text_regions(const struct map_space *space, FILE *out)
{
	char size[32], page[32], from[32];
	size_t i;

	fputs("\n  What is mapped (as far as the GPU looked)\n", out);
	for (i = 0; i < space->region.count; i++) {
		const struct map_region *r = &space->region.item[i];

		fprintf(out, "    0x%012" PRIx64 " - 0x%012" PRIx64 "  %10s  %-3s  %5zu pages of %s%s, "
			"first used at %s\n", r->first, r->last, map_size(size, r->bytes),
			r->access, r->pages, map_size(page, r->page_size),
			r->mixed ? " and others" : "", map_time(from, r->from));
	}
}

/* The tables as a tree, because an order by level would say little. */
static void text_below(const struct map_space *space, FILE *out, unsigned int level,
		       uint64_t first, uint64_t last)
{
	char covers[32];
	unsigned int shown = 0, more = 0;
	size_t i;

	for (i = 0; i < space->table_used.count; i++) {
		const struct map_table *t = &space->table_used.item[i];

		if (t->level != level || t->va < first || t->va > last)
			continue;
		if (shown++ >= MAX_TABLES) {
			more++;
			continue;
		}
		fprintf(out, "    %*slevel %u at 0x%010" PRIx64 "  covers 0x%012" PRIx64 " + %s, "
			"%u of 512 entries used\n", 4 * (int)level, "", level, t->pa, t->va,
			level ? map_size(covers, map_page_size(level - 1)) : "256 TiB", t->entries);
		if (level + 1 < MAP_LEVELS)
			text_below(space, out, level + 1, t->va,
				   level ? t->va + map_page_size(level - 1) - 1 : UINT64_MAX);
	}
	if (more)
		fprintf(out, "    %*s... and %u more tables of level %u\n", 4 * (int)level, "", more,
			level);
}

static void text_faults(const struct map_space *space, FILE *out)
{
	char when[32], wait[32];
	size_t i;

	if (!space->fault.count)
		return;
	fputs("\n  Faults\n", out);
	for (i = 0; i < space->fault.count && i < MAX_FAULTS; i++) {
		const struct map_fault *f = &space->fault.item[i];

		fprintf(out, "    %12s  %-20s %-5s at 0x%012" PRIx64 ", slot %u, ",
			map_time(when, f->time), f->exception, f->access, f->va, f->slot);
		if (f->served == MAP_NEVER)
			fputs("never served\n", out);
		else
			fprintf(out, "served after %s\n", map_time(wait, f->served - f->time));
	}
	if (space->fault.count > MAX_FAULTS)
		fprintf(out, "    ... and %zu more\n", space->fault.count - MAX_FAULTS);
}

/* A graph of what the GPU knew, column by column. */
static void text_residency(const struct map_space *space, FILE *out, uint64_t end)
{
	uint64_t known[COLUMNS], most = 0;
	char size[32], time[32];
	unsigned int x, row;

	for (x = 0; x < COLUMNS; x++) {
		/* Sample the middle of the column: changes happen at its ends. */
		known[x] = map_known(space, end / COLUMNS * x + end / COLUMNS / 2);
		if (known[x] > most)
			most = known[x];
	}
	if (!most)
		return;
	fputs("\n  Residency: memory that the GPU had a translation of, over time\n", out);
	for (row = ROWS; row > 0; row--) {
		fprintf(out, "    %10s |", row == ROWS ? map_size(size, most) : "");
		for (x = 0; x < COLUMNS; x++)
			fputc(known[x] * ROWS >= most * (row - 1) + (row > 1 ? most / 2 : 1) ? '#' : ' ',
			      out);
		fputc('\n', out);
	}
	fprintf(out, "    %10s +", "0");
	for (x = 0; x < COLUMNS; x++)
		fputc('-', out);
	fprintf(out, "\n    %10s  0%*s\n", "", COLUMNS - 1, map_time(time, end));
}

static void text_jobs(const struct map *map, FILE *out)
{
	uint64_t busy[MAP_MAX_SLOTS] = { 0 };
	size_t count[MAP_MAX_SLOTS] = { 0 }, i;
	unsigned int slot;
	char time[32];

	for (i = 0; i < map->job.count; i++) {
		const struct map_job *job = &map->job.item[i];

		count[job->slot]++;
		busy[job->slot] += job->to - job->from;
	}
	for (slot = 0; slot < MAP_MAX_SLOTS; slot++)
		if (count[slot])
			fprintf(out, "  slot %u: %zu jobs in %s\n", slot, count[slot],
				map_time(time, busy[slot]));
}

void map_text(const struct map *map, FILE *out)
{
	char time[32];
	size_t i;

	fprintf(out, "GPU address spaces of a run of %s, %zu events\n", map_time(time, map->end),
		map->lines);
	if (map->odd)
		fprintf(out, "%zu lines were not understood\n", map->odd);
	if (!map->walks)
		fputs("The log has no page-table walks: write it with --log-level walks\n", out);
	text_jobs(map, out);
	for (i = 0; i < map->space.count; i++) {
		const struct map_space *space = &map->space.item[i];

		fprintf(out, "\nAddress space with its root table at 0x%010" PRIx64 ", %s\n",
			space->table, space->format);
		text_stays(space, out);
		if (!space->page.count) {
			fputs("  The GPU never looked into it.\n", out);
			continue;
		}
		text_regions(space, out);
		fputs("\n  Page tables\n", out);
		text_below(space, out, 0, 0, UINT64_MAX);
		text_residency(space, out, map->end);
		text_faults(space, out);
	}
}
