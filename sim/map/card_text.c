// SPDX-License-Identifier: MIT
/*
 * A card's memory for a terminal: map_card.h.
 */
#include <inttypes.h>
#include <string.h>

#include "map_card.h"

#define COLUMNS		64u
#define ROWS		4u
#define LAST_MOVES	12u
#define SHORT_LABEL	32

/* ---- A map ---------------------------------------------------------------------- */

/* What the map shows for [from, to): the letter of the owner of most of it. */
static char letter_of(const struct card_range *range, size_t count, uint64_t from, uint64_t to)
{
	uint64_t most = 0, taken = 0;
	char letter = '.';
	size_t i;

	for (i = 0; i < count; i++) {
		uint64_t first = range[i].start > from ? range[i].start : from;
		uint64_t last = range[i].start + range[i].size;

		last = last < to ? last : to;
		if (first >= last || range[i].letter == '.')
			continue;
		taken += last - first;
		if (last - first > most) {
			most = last - first;
			letter = range[i].letter;
		}
	}
	/* Even a single page of it is worth a sign. */
	return taken ? letter : '.';
}

static void text_map(FILE *out, const struct card_range *range, size_t count, uint64_t first,
		     uint64_t size)
{
	const uint64_t step = size / (COLUMNS * ROWS) ? size / (COLUMNS * ROWS) : 1;
	char bytes[32];
	unsigned int row, x;

	fprintf(out, "    a character is %s\n", map_size(bytes, step));
	for (row = 0; row < ROWS; row++) {
		const uint64_t start = first + row * COLUMNS * step;

		fprintf(out, "    0x%09" PRIx64 " |", start);
		for (x = 0; x < COLUMNS; x++)
			fputc(letter_of(range, count, start + x * step, start + (x + 1) * step), out);
		fputs("|\n", out);
	}
}

/* ---- Lists ---------------------------------------------------------------------- */

static void text_bo(const struct card *card, uint64_t id, FILE *out)
{
	const struct card_bo *bo = card_find(card, id);

	fprintf(out, "BO %" PRIu64, id);
	if (bo && bo->label[0])
		fprintf(out, " \"%.*s\"", SHORT_LABEL, bo->label);
}

static void text_range(const struct card *card, const struct card_range *range, FILE *out)
{
	const struct card_bo *bo = card_find(card, range->bo);
	char size[32];

	fprintf(out, "    %c  0x%09" PRIx64 " + %10s  ", range->letter, range->start,
		map_size(size, range->size));
	if (range->bo)
		text_bo(card, range->bo, out);
	else
		fputs(range->whose, out);
	if (range->why[0])
		fprintf(out, ", here by %s", range->why);
	if (bo)
		fprintf(out, ", %" PRIu64 " moves", bo->moves);
	if (range->pins)
		fputs(", pinned", out);
	fputc('\n', out);
}

static void text_region(const struct card_region *region, FILE *out)
{
	char used[32], size[32];

	fprintf(out, "  %s: %s of %s", region->name, map_size(used, region->used),
		map_size(size, region->size));
	if (region->visible != region->size)
		fprintf(out, "; of the part that CPUs reach %s of %s",
			map_size(used, region->visible_used), map_size(size, region->visible));
	fputc('\n', out);
}

static void text_vram(const struct card *card, FILE *out)
{
	size_t i;

	fputs("\n  VRAM (small letters: BOs, D: the driver, P: parked until a fence signals)\n", out);
	text_map(out, card->vram.item, card->vram.count, 0, card_region_of(card, "vram")->size);
	for (i = 0; i < card->vram.count; i++)
		text_range(card, &card->vram.item[i], out);
}

static void text_ggtt(const struct card *card, FILE *out)
{
	const struct card_range *range = card->ggtt.item;
	const size_t count = card->ggtt.count;
	size_t i;

	if (!count)
		return;
	fputs("\n  Global table (small letters: BOs, D: the driver)\n", out);
	text_map(out, range, count, range[0].start,
		 range[count - 1].start + range[count - 1].size - range[0].start);
	for (i = 0; i < count; i++)
		if (range[i].letter != '.')
			text_range(card, &range[i], out);
}

static void text_elsewhere(const struct card *card, FILE *out)
{
	bool any = false;
	char size[32];
	size_t i;

	for (i = 0; i < card->bo.count; i++) {
		const struct card_bo *bo = &card->bo.item[i];

		if (!strcmp(bo->where, "vram"))
			continue;
		if (!any)
			fputs("\n  Not in VRAM\n", out);
		any = true;
		fprintf(out, "    %-8s %10s  ", bo->where, map_size(size, bo->size));
		text_bo(card, bo->id, out);
		fprintf(out, ", there by %s, %" PRIu64 " moves\n", bo->why, bo->moves);
	}
}

static void text_moves(const struct card *card, FILE *out)
{
	const size_t count = card->move.count;
	char size[32];
	size_t i;

	if (!count)
		return;
	fputs("\n  Last moves\n", out);
	for (i = count > LAST_MOVES ? count - LAST_MOVES : 0; i < count; i++) {
		const struct card_move *move = &card->move.item[i];

		fprintf(out, "    %12.6f s  %-8s -> %-8s %-8s %10s  ", (double)move->time_ns / 1e9,
			move->from, move->to, move->why, map_size(size, move->size));
		text_bo(card, move->id, out);
		fputc('\n', out);
	}
}

void card_text(const struct card *card, FILE *out)
{
	size_t i;

	fprintf(out, "%s\n", card->device[0] ? card->device : "card");
	for (i = 0; i < card->region.count; i++)
		text_region(&card->region.item[i], out);
	text_vram(card, out);
	text_ggtt(card, out);
	text_elsewhere(card, out);
	text_moves(card, out);
}
