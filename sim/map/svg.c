// SPDX-License-Identifier: MIT
/*
 * The map as a picture.  Time goes to the right, the same for all; each region of
 * an address space is a band, with its addresses from top to bottom; a page is drawn from
 * the GPU's first walk to it until the GPU dropped the translation.  All text is ours, or
 * was reduced to plain letters when the log was read.
 */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "map.h"

#define WIDTH		1180.0
#define LEFT		290.0	/* where time begins */
#define RIGHT		20.0
#define PLOT		(WIDTH - LEFT - RIGHT)
#define LINE		15.0
#define SLOT_HEIGHT	12.0
#define TABLE_WIDTH	(PLOT / MAP_LEVELS)
#define MAX_TABLES	40	/* of an address space, in the drawing */

struct svg {
	FILE *out;
	const struct map *map;
	double y;
};

static double at(const struct svg *svg, uint64_t time)
{
	return svg->map->end ? LEFT + PLOT * (double)time / (double)svg->map->end : LEFT;
}

static void label(const struct svg *svg, double x, double y, const char *class, const char *text)
{
	fprintf(svg->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">%s</text>\n", x, y, class, text);
}

static void box(const struct svg *svg, const char *class, double x, double y, double w, double h,
		const char *title)
{
	fprintf(svg->out, "<rect class=\"%s\" x=\"%.2f\" y=\"%.2f\" width=\"%.2f\" height=\"%.2f\">",
		class, x, y, w < 0.5 ? 0.5 : w, h < 0.5 ? 0.5 : h);
	fprintf(svg->out, "<title>%s</title></rect>\n", title);
}

/* ---- Time and jobs ---------------------------------------------------------------- */

static void draw_axis(struct svg *svg)
{
	char text[32];
	unsigned int i;

	for (i = 0; i <= 8; i++) {
		double x = LEFT + PLOT * i / 8;

		map_time(text, svg->map->end / 8 * i);
		fprintf(svg->out, "<text x=\"%.1f\" y=\"%.1f\" class=\"small\" "
			"text-anchor=\"%s\">%s</text>\n", x, svg->y, i == 8 ? "end" : "middle", text);
		fprintf(svg->out, "<line x1=\"%.1f\" y1=\"%.1f\" x2=\"%.1f\" y2=\"%.1f\" "
			"class=\"tick\"/>\n", x, svg->y + 3, x, svg->y + 8);
	}
	svg->y += 12;
}

static void draw_jobs(struct svg *svg)
{
	char title[96], from[32], to[32];
	unsigned int slot;
	size_t i;

	for (slot = 0; slot < MAP_MAX_SLOTS; slot++) {
		bool any = false;

		for (i = 0; i < svg->map->job.count; i++) {
			const struct map_job *job = &svg->map->job.item[i];

			if (job->slot != slot)
				continue;
			any = true;
			snprintf(title, sizeof(title), "%s, %s to %s", job->type,
				 map_time(from, job->from), map_time(to, job->to));
			box(svg, slot ? "tiler" : "fragment", at(svg, job->from), svg->y,
			    at(svg, job->to) - at(svg, job->from), SLOT_HEIGHT, title);
		}
		if (!any)
			continue;
		snprintf(title, sizeof(title), "jobs of slot %u", slot);
		label(svg, 10, svg->y + 10, "small", title);
		svg->y += SLOT_HEIGHT + 4;
	}
}

/* ---- Regions ------------------------------------------------------------------------ */

static double band_height(const struct map_region *r)
{
	double pages = (double)(r->last - r->first + 1) / 4096;
	double height = 30 + 10 * log2(pages < 1 ? 1 : pages);

	return height > 170 ? 170 : height;
}

static const char *page_class(const struct map_page *page)
{
	if (strchr(page->access, 'x'))
		return "rwx";
	return strchr(page->access, 'w') ? "rw" : "ro";
}

/* A run of pages that begin and end in the same pixel is one box. */
static size_t draw_run(const struct svg *svg, const struct map_space *space,
		       const struct map_region *r, size_t i, double height)
{
	const struct map_page *first = &space->page.item[i], *next = first;
	double x1 = at(svg, first->from), x2 = at(svg, first->to);
	double scale = height / (double)(r->last - r->first + 1);
	uint64_t end = first->va + first->size;
	char title[160], from[32], to[32];

	for (i++; i < space->page.count; i++) {
		next = &space->page.item[i];
		if (next->va != end || fabs(at(svg, next->from) - x1) > 0.5 ||
		    fabs(at(svg, next->to) - x2) > 0.5 || strcmp(next->access, first->access))
			break;
		end = next->va + next->size;
	}
	snprintf(title, sizeof(title), "0x%" PRIx64 " - 0x%" PRIx64 " %s, known from %s to %s",
		 first->va, end - 1, first->access, map_time(from, first->from),
		 map_time(to, first->to));
	box(svg, page_class(first), x1, svg->y + (double)(first->va - r->first) * scale, x2 - x1,
	    (double)(end - first->va) * scale, title);
	return i;
}

static void draw_faults(const struct svg *svg, const struct map_space *space,
			const struct map_region *r, double height)
{
	double scale = height / (double)(r->last - r->first + 1);
	size_t i;

	for (i = 0; i < space->fault.count; i++) {
		const struct map_fault *f = &space->fault.item[i];
		char wait[32];

		if (f->va < r->first || f->va > r->last)
			continue;
		fprintf(svg->out, "<circle class=\"fault\" cx=\"%.2f\" cy=\"%.2f\" r=\"3\"><title>%s %s "
			"at 0x%" PRIx64 ", slot %u, %s%s</title></circle>\n", at(svg, f->time),
			svg->y + (double)(f->va - r->first) * scale, f->exception, f->access, f->va,
			f->slot, f->served == MAP_NEVER ? "never served" : "served after ",
			f->served == MAP_NEVER ? "" : map_time(wait, f->served - f->time));
	}
}

static void draw_region(struct svg *svg, const struct map_space *space,
			const struct map_region *r)
{
	double height = band_height(r);
	char text[96], size[32], page[32];
	size_t i = 0;

	box(svg, "band", LEFT, svg->y, PLOT, height, "");
	snprintf(text, sizeof(text), "0x%010" PRIx64 " - 0x%010" PRIx64, r->first, r->last);
	label(svg, 10, svg->y + 11, "mono", text);
	snprintf(text, sizeof(text), "%s %s, %zu pages of %s%s", map_size(size, r->bytes), r->access,
		 r->pages, map_size(page, r->page_size), r->mixed ? " ..." : "");
	label(svg, 10, svg->y + 25, "small", text);
	while (i < space->page.count) {
		const struct map_page *p = &space->page.item[i];

		if (p->va < r->first || p->va > r->last)
			i++;
		else
			i = draw_run(svg, space, r, i, height);
	}
	draw_faults(svg, space, r, height);
	svg->y += height + 6;
}

/* ---- Residency -------------------------------------------------------------------------- */

static void draw_residency(struct svg *svg, const struct map_space *space)
{
	enum { STEPS = 400 };
	const double height = 60;
	uint64_t known[STEPS + 1], most = 0;
	char text[64], size[32];
	unsigned int i;

	for (i = 0; i <= STEPS; i++) {
		known[i] = map_known(space, (uint64_t)((double)svg->map->end / STEPS * i));
		if (known[i] > most)
			most = known[i];
	}
	if (!most)
		return;
	label(svg, 10, svg->y + 11, "small", "residency: memory that the GPU");
	label(svg, 10, svg->y + 25, "small", "has a translation of");
	snprintf(text, sizeof(text), "%s at most", map_size(size, most));
	label(svg, 10, svg->y + 39, "small", text);
	box(svg, "band", LEFT, svg->y, PLOT, height, "");
	fprintf(svg->out, "<polygon class=\"known\" points=\"%.1f,%.1f", LEFT, svg->y + height);
	for (i = 0; i <= STEPS; i++)
		fprintf(svg->out, " %.1f,%.1f", LEFT + PLOT * i / STEPS,
			svg->y + height - (height - 2) * (double)known[i] / (double)most);
	fprintf(svg->out, " %.1f,%.1f\"/>\n", LEFT + PLOT, svg->y + height);
	svg->y += height + 8;
}

/* ---- Tables ------------------------------------------------------------------------------- */

/* One column per level; a table is as wide as its column, and filled in proportion to its use. */
static void draw_tables(struct svg *svg, const struct map_space *space)
{
	double y[MAP_LEVELS], lowest = svg->y;
	size_t i, drawn = 0;
	char text[96];

	label(svg, 10, svg->y + 11, "small", "page tables, from the root to the pages;");
	label(svg, 10, svg->y + 25, "small", "filled: how many of 512 entries were used");
	for (i = 0; i < MAP_LEVELS; i++)
		y[i] = svg->y;
	for (i = 0; i < space->table_used.count && drawn < MAX_TABLES; i++, drawn++) {
		const struct map_table *t = &space->table_used.item[i];
		double x = LEFT + TABLE_WIDTH * t->level, *top = &y[t->level];

		snprintf(text, sizeof(text), "level %u, covers from 0x%" PRIx64 ", %u entries used",
			 t->level, t->va, t->entries);
		box(svg, "band", x, *top, TABLE_WIDTH - 8, 2 * LINE, text);
		box(svg, "used", x, *top, (TABLE_WIDTH - 8) * t->entries / 512, 2 * LINE, text);
		snprintf(text, sizeof(text), "L%u 0x%" PRIx64 ", %u used", t->level, t->pa, t->entries);
		label(svg, x + 4, *top + 12, "mono", text);
		snprintf(text, sizeof(text), "for 0x%010" PRIx64, t->va);
		label(svg, x + 4, *top + 25, "mono", text);
		*top += 2 * LINE + 4;
		if (*top > lowest)
			lowest = *top;
	}
	if (drawn < space->table_used.count) {
		snprintf(text, sizeof(text), "... and %zu more tables", space->table_used.count - drawn);
		label(svg, LEFT, lowest + 11, "small", text);
		lowest += LINE;
	}
	svg->y = lowest + 10;
}

/* ---- The whole ---------------------------------------------------------------------------- */

static void draw_space(struct svg *svg, const struct map_space *space)
{
	char text[128];
	size_t i;

	snprintf(text, sizeof(text), "Address space with its root table at 0x%010" PRIx64 ", %s",
		 space->table, space->format);
	svg->y += 22;
	label(svg, 10, svg->y, "head", text);
	svg->y += 8;
	for (i = 0; i < space->stay.count; i++) {
		const struct map_stay *stay = &space->stay.item[i];

		snprintf(text, sizeof(text), "in address space %u", stay->as);
		box(svg, "stay", at(svg, stay->from), svg->y, at(svg, stay->to) - at(svg, stay->from),
		    6, text);
	}
	label(svg, 10, svg->y + 8, "small", "in force");
	svg->y += 14;
	if (!space->page.count) {
		label(svg, LEFT, svg->y + 11, "small", "The GPU never looked into it.");
		svg->y += LINE;
		return;
	}
	draw_residency(svg, space);
	for (i = 0; i < space->region.count; i++)
		draw_region(svg, space, &space->region.item[i]);
	draw_tables(svg, space);
}

static void draw_legend(struct svg *svg)
{
	static const struct {
		const char *class, *text;
	} legend[] = {
		{ "rw", "read and write" }, { "ro", "read only" }, { "rwx", "also executable" },
		{ "fragment", "job, slot 0" }, { "tiler", "job, other slots" },
	};
	double x = LEFT;
	size_t i;

	for (i = 0; i < sizeof(legend) / sizeof(legend[0]); i++) {
		box(svg, legend[i].class, x, svg->y - 9, 12, 10, "");
		label(svg, x + 16, svg->y, "small", legend[i].text);
		x += 125;
	}
	fprintf(svg->out, "<circle class=\"fault\" cx=\"%.1f\" cy=\"%.1f\" r=\"3\"/>\n", x + 5,
		svg->y - 4);
	label(svg, x + 16, svg->y, "small", "page fault");
	svg->y += 20;
}

static void draw(struct svg *svg)
{
	char text[128], time[32];
	size_t i;

	svg->y = 22;
	snprintf(text, sizeof(text), "GPU address spaces of a run of %s", map_time(time, svg->map->end));
	label(svg, 10, svg->y, "title", text);
	svg->y += 22;
	draw_legend(svg);
	if (!svg->map->walks) {
		label(svg, LEFT, svg->y, "small",
		      "The log has no page-table walks: write it with --log-level walks");
		svg->y += 20;
	}
	draw_axis(svg);
	draw_jobs(svg);
	for (i = 0; i < svg->map->space.count; i++)
		draw_space(svg, &svg->map->space.item[i]);
	svg->y += 10;
}

static const char style[] =
	"<style>text{font-family:sans-serif;fill:#222}.title{font-size:18px}.head{font-size:14px;"
	"font-weight:bold}.small{font-size:11px}.mono{font-size:11px;font-family:monospace}"
	".band{fill:#f3f3ef;stroke:#ccc;stroke-width:.5}.rw{fill:#3d7eaa}.ro{fill:#7fb285}"
	".rwx{fill:#b0729a}.known{fill:#9cc0d9}.used{fill:#cfdfc6}.stay{fill:#555}"
	".tiler{fill:#c9973f}.fragment{fill:#8c6bb1}.fault{fill:#d62728}.tick{stroke:#888}</style>\n";

void map_svg(const struct map *map, FILE *out)
{
	struct svg svg = { .map = map };
	char *body = NULL;
	size_t size = 0;

	/* The height is known only after drawing. */
	svg.out = open_memstream(&body, &size);
	if (!svg.out)
		return;
	draw(&svg);
	if (fclose(svg.out) == 0) {
		fprintf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
			"viewBox=\"0 0 %.0f %.0f\">\n", WIDTH, svg.y, WIDTH, svg.y);
		fputs(style, out);
		fprintf(out, "<rect width=\"%.0f\" height=\"%.0f\" fill=\"#fff\"/>\n", WIDTH, svg.y);
		fwrite(body, 1, size, out);
		fputs("</svg>\n", out);
	}
	free(body);
}
