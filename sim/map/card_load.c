// SPDX-License-Identifier: MIT
/*
 * The files of the driver's debugfs, line by line: map_card.h.
 *
 * A line consists of words and of parts "key=value".  A client chooses the label of a BO, so
 * whatever a terminal could take for a command becomes '?'.
 */
#include "map_card.h"

#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* ---- Parts of a line ---------------------------------------------------------- */

/* What follows "key=" at the start of a part of the line, or NULL. */
static const char *value_at(const char *line, const char *key)
{
	const size_t len = strlen(key);
	const char *at = line;

	for (at = strstr(at, key); at; at = strstr(at + 1, key))
		if ((at == line || at[-1] == ' ') && at[len] == '=')
			return at + len + 1;
	return NULL;
}

static bool load_number(const char *line, const char *key, uint64_t *number)
{
	const char *value = value_at(line, key);
	char *end;

	if (!value || *value < '0' || *value > '9')
		return false;
	*number = strtoull(value, &end, 0);
	return !*end || *end == ' ' || *end == '\n';
}

static void load_text(char *to, size_t room, const char *from, size_t len)
{
	size_t i;

	for (i = 0; i < len && i < room - 1; i++)
		to[i] = from[i] >= 0x20 && from[i] < 0x7f ? from[i] : '?';
	to[i] = '\0';
}

static bool load_value(const char *line, const char *key, char to[MAP_WORD])
{
	const char *value = value_at(line, key);

	to[0] = '\0';
	if (value)
		load_text(to, MAP_WORD, value, strcspn(value, " \n"));
	return to[0];
}

/* Does the line have this word, which is no part with a value? */
static bool has_word(const char *line, const char *word)
{
	const size_t len = strlen(word);
	const char *at;

	for (at = strstr(line, word); at; at = strstr(at + 1, word))
		if ((at == line || at[-1] == ' ') && strchr(" \n", at[len]))
			return true;
	return false;
}

/* ---- Files --------------------------------------------------------------------- */

static void each_line(struct card *card, FILE *file, void (*load)(struct card *, const char *))
{
	char *line = NULL;
	size_t room = 0;

	while (getline(&line, &room, file) >= 0)
		load(card, line);
	free(line);
}

/* "agate dev=0000:00:03.0 unique=0000:00:03.0" */
static void load_device(struct card *card, const char *line)
{
	const char *value = value_at(line, "dev");

	if (value)
		load_text(card->device, CARD_LABEL, value, strcspn(value, " \n"));
}

static void load_region(struct card *card, const char *line)
{
	struct card_region region, *to;

	if (!load_number(line, "size", &region.size) || !load_number(line, "used", &region.used) ||
	    !load_number(line, "visible", &region.visible) ||
	    !load_number(line, "visible_used", &region.visible_used))
		return;
	load_text(region.name, MAP_WORD, line, strcspn(line, " "));
	to = MAP_ADD(card->region);
	*to = region;
}

static bool load_range(const char *line, struct card_range *range)
{
	static const char *const owners[] = { "bo", "parked", "driver", "free" };
	size_t i;

	*range = (struct card_range){ 0 };
	if (!load_number(line, "start", &range->start) || !load_number(line, "size", &range->size) ||
	    !range->size || range->start > UINT64_MAX - range->size)
		return false;
	for (i = 0; i < sizeof(owners) / sizeof(owners[0]); i++)
		if (has_word(line, owners[i]))
			snprintf(range->whose, MAP_WORD, "%s", owners[i]);
	load_number(line, "id", &range->bo);
	load_number(line, "pins", &range->pins);
	load_value(line, "why", range->why);
	return range->whose[0];
}

static void load_vram(struct card *card, const char *line)
{
	struct card_range range, *to;

	if (!load_range(line, &range))
		return;
	to = MAP_ADD(card->vram);
	*to = range;
}

static void load_ggtt(struct card *card, const char *line)
{
	struct card_range range, *to;

	if (!load_range(line, &range))
		return;
	to = MAP_ADD(card->ggtt);
	*to = range;
}

/* Only BOs with a placement have a number.  The label is the last part of the line. */
static void load_bo(struct card *card, const char *line)
{
	const char *label = strstr(line, " label=\"");
	struct card_bo bo = { 0 }, *to;

	if (!load_number(line, "id", &bo.id) || !load_number(line, "size", &bo.size) ||
	    !load_number(line, "moves", &bo.moves) || !load_value(line, "where", bo.where) ||
	    !load_value(line, "why", bo.why))
		return;
	if (label) {
		const char *text = label + strlen(" label=\""), *end = strrchr(text, '"');

		if (end)
			load_text(bo.label, CARD_LABEL, text, (size_t)(end - text));
	}
	to = MAP_ADD(card->bo);
	*to = bo;
}

static void load_move(struct card *card, const char *line)
{
	struct card_move move, *to;

	if (!load_number(line, "n", &move.n) || !load_number(line, "time", &move.time_ns) ||
	    !load_number(line, "id", &move.id) || !load_number(line, "size", &move.size) ||
	    !load_number(line, "start", &move.start) || !load_value(line, "from", move.from) ||
	    !load_value(line, "to", move.to) || !load_value(line, "why", move.why))
		return;
	to = MAP_ADD(card->move);
	*to = move;
}

void card_load_device(struct card *card, FILE *name)
{
	each_line(card, name, load_device);
}

void card_load_regions(struct card *card, FILE *regions)
{
	each_line(card, regions, load_region);
}

void card_load_vram(struct card *card, FILE *vram)
{
	each_line(card, vram, load_vram);
}

void card_load_ggtt(struct card *card, FILE *ggtt)
{
	each_line(card, ggtt, load_ggtt);
}

void card_load_bos(struct card *card, FILE *bos)
{
	each_line(card, bos, load_bo);
}

void card_load_moves(struct card *card, FILE *moves)
{
	each_line(card, moves, load_move);
}

/* ---- Together ------------------------------------------------------------------- */

static int by_start(const void *a, const void *b)
{
	const struct card_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

static int by_id(const void *a, const void *b)
{
	const struct card_bo *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/* Neighbours on the map have different letters. */
static void name_ranges(struct card_range *range, size_t count)
{
	unsigned int bos = 0;
	size_t i;

	if (count)
		qsort(range, count, sizeof(*range), by_start);
	for (i = 0; i < count; i++) {
		if (!strcmp(range[i].whose, "bo"))
			range[i].letter = (char)('a' + bos++ % 26);
		else if (!strcmp(range[i].whose, "free"))
			range[i].letter = '.';
		else
			range[i].letter = range[i].whose[0] == 'p' ? 'P' : 'D';
	}
}

void card_finish(struct card *card)
{
	name_ranges(card->vram.item, card->vram.count);
	name_ranges(card->ggtt.item, card->ggtt.count);
	if (card->bo.count)
		qsort(card->bo.item, card->bo.count, sizeof(*card->bo.item), by_id);
}

void card_free(struct card *card)
{
	free(card->region.item);
	free(card->vram.item);
	free(card->ggtt.item);
	free(card->bo.item);
	free(card->move.item);
	*card = (struct card){ 0 };
}

bool card_load_folder(struct card *card, const char *folder)
{
	static const struct {
		const char *name;
		void (*load)(struct card *, FILE *);
	} files[] = {
		{ "name", card_load_device }, { "regions", card_load_regions },
		{ "vram", card_load_vram }, { "ggtt", card_load_ggtt }, { "bos", card_load_bos },
		{ "moves", card_load_moves },
	};
	char path[PATH_MAX];
	size_t i;

	*card = (struct card){ 0 };
	for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		FILE *file;

		snprintf(path, sizeof(path), "%s/%s", folder, files[i].name);
		file = fopen(path, "re");
		if (!file)
			continue;
		files[i].load(card, file);
		fclose(file);
	}
	card_finish(card);
	if (card_region_of(card, "vram"))
		return true;
	card_free(card);
	return false;
}

const struct card_bo *card_find(const struct card *card, uint64_t id)
{
	const struct card_bo key = { .id = id };

	if (!card->bo.count)
		return NULL;
	return bsearch(&key, card->bo.item, card->bo.count, sizeof(key), by_id);
}

const struct card_region *card_region_of(const struct card *card, const char *name)
{
	size_t i;

	for (i = 0; i < card->region.count; i++)
		if (!strcmp(card->region.item[i].name, name))
			return &card->region.item[i];
	return NULL;
}
