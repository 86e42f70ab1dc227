// SPDX-License-Identifier: MIT
/*
 * A card's memory as JSON, and its moves as a trace: map_card.h.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "map_card.h"

/* ---- JSON ------------------------------------------------------------------------ */

static json_t *regions_json(const struct card *card)
{
	json_t *all = json_object();
	size_t i;

	for (i = 0; i < card->region.count; i++) {
		const struct card_region *region = &card->region.item[i];

		json_object_set_new(all, region->name,
				    json_pack("{s:I, s:I, s:I, s:I}",
					      "size", (json_int_t)region->size,
					      "used", (json_int_t)region->used,
					      "visible", (json_int_t)region->visible,
					      "visible_used", (json_int_t)region->visible_used));
	}
	return all;
}

static json_t *ranges_json(const struct card_range *range, size_t count)
{
	json_t *all = json_array();
	size_t i;

	for (i = 0; i < count; i++) {
		json_t *one = json_pack("{s:I, s:I, s:s}", "start", (json_int_t)range[i].start,
					"size", (json_int_t)range[i].size,
					"owner", range[i].whose);

		if (range[i].bo) {
			json_object_set_new(one, "bo", json_integer((json_int_t)range[i].bo));
			json_object_set_new(one, "why", json_string(range[i].why));
			json_object_set_new(one, "pins", json_integer((json_int_t)range[i].pins));
		}
		json_array_append_new(all, one);
	}
	return all;
}

static json_t *bos_json(const struct card *card)
{
	json_t *all = json_array();
	size_t i;

	for (i = 0; i < card->bo.count; i++) {
		const struct card_bo *bo = &card->bo.item[i];

		json_array_append_new(all, json_pack("{s:I, s:I, s:s, s:s, s:s, s:I}",
						     "bo", (json_int_t)bo->id,
						     "size", (json_int_t)bo->size,
						     "label", bo->label, "where", bo->where,
						     "why", bo->why,
						     "moves", (json_int_t)bo->moves));
	}
	return all;
}

static json_t *moves_json(const struct card *card)
{
	json_t *all = json_array();
	size_t i;

	for (i = 0; i < card->move.count; i++) {
		const struct card_move *move = &card->move.item[i];

		json_array_append_new(all, json_pack("{s:I, s:I, s:I, s:I, s:s, s:s, s:I, s:s}",
						     "n", (json_int_t)move->n,
						     "time_ns", (json_int_t)move->time_ns,
						     "bo", (json_int_t)move->id,
						     "size", (json_int_t)move->size,
						     "from", move->from, "to", move->to,
						     "start", (json_int_t)move->start,
						     "why", move->why));
	}
	return all;
}

bool card_json(const struct card *cards, size_t count, FILE *out)
{
	json_t *devices = json_array(), *root;
	bool good;
	size_t i;

	for (i = 0; i < count; i++) {
		const struct card *card = &cards[i];

		json_array_append_new(devices,
				      json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}",
						"device", card->device,
						"regions", regions_json(card),
						"vram", ranges_json(card->vram.item, card->vram.count),
						"ggtt", ranges_json(card->ggtt.item, card->ggtt.count),
						"bos", bos_json(card), "moves", moves_json(card)));
	}
	root = json_pack("{s:o}", "devices", devices);
	good = root && json_array_size(devices) == count &&
	       !json_dumpf(root, out, JSON_COMPACT | JSON_PRESERVE_ORDER) && putc('\n', out) != EOF;
	json_decref(root);
	return good;
}

/* ---- The trace -------------------------------------------------------------------- */

/*
 * A BO is somewhere from one move to the next, or to the last move of all.  The kernel keeps a
 * limited number of moves, so the first one may find a BO in the middle of its life.
 */
struct track {
	uint64_t id;
	uint64_t since_ns;
	char where[MAP_WORD], why[MAP_WORD];
};

struct tracks {
	FILE *out;
	const struct card *card;
	MAP_ARRAY(struct track) track;
	uint64_t in_vram;
	bool any;
};

/* The beginning of an event; a comma precedes each but the first. */
static void event(struct tracks *t, const char *phase, const char *name, uint64_t time_ns,
		  uint64_t tid)
{
	fprintf(t->out, "%s{\"ph\": \"%s\", \"name\": \"%s\", \"pid\": 2, \"tid\": %" PRIu64
		", \"ts\": %" PRIu64 ".%03" PRIu64, t->any ? ",\n" : "[\n", phase, name, tid,
		time_ns / 1000, time_ns % 1000);
	t->any = true;
}

/* A label with '"' or '\' has no place in a name; the JSON of --json keeps it. */
static void plain(char *to, const char *from)
{
	size_t i;

	for (i = 0; from[i]; i++)
		to[i] = strchr("\"\\", from[i]) ? '?' : from[i];
	to[i] = '\0';
}

static void name_track(struct tracks *t, uint64_t id)
{
	const struct card_bo *bo = card_find(t->card, id);
	char label[CARD_LABEL] = "";

	if (bo)
		plain(label, bo->label);
	event(t, "M", "thread_name", 0, id);
	fprintf(t->out, ", \"args\": {\"name\": \"BO %" PRIu64 "%s%s\"}}", id, label[0] ? " " : "",
		label);
}

static struct track *track_of(struct tracks *t, const struct card_move *move)
{
	struct track *track;
	size_t i;

	for (i = 0; i < t->track.count; i++)
		if (t->track.item[i].id == move->id)
			return &t->track.item[i];
	name_track(t, move->id);
	track = MAP_ADD(t->track);
	track->id = move->id;
	track->since_ns = t->card->move.item[0].time_ns;
	memcpy(track->where, move->from, MAP_WORD);
	return track;
}

/* The time that it spent in one place; nowhere is no place. */
static void end_stay(struct tracks *t, const struct track *track, uint64_t now_ns)
{
	const uint64_t ns = now_ns - track->since_ns;
	char place[MAP_WORD];

	if (!strcmp(track->where, "nowhere") || now_ns < track->since_ns)
		return;
	plain(place, track->where);
	event(t, "X", place, track->since_ns, track->id);
	plain(place, track->why[0] ? track->why : "unknown");
	fprintf(t->out, ", \"dur\": %" PRIu64 ".%03" PRIu64 ", \"args\": {\"why\": \"%s\"}}",
		ns / 1000, ns % 1000, place);
}

static void count_vram(struct tracks *t, uint64_t time_ns)
{
	event(t, "C", "VRAM of BOs (bytes)", time_ns, 0);
	fprintf(t->out, ", \"args\": {\"bytes\": %" PRIu64 "}}", t->in_vram);
}

static uint64_t vram_change(const struct card_move *move)
{
	return (strcmp(move->to, "vram") ? 0 : move->size) -
	       (strcmp(move->from, "vram") ? 0 : move->size);
}

/* What is in VRAM now, less all that the moves changed. */
static uint64_t vram_at_first(const struct card *card)
{
	uint64_t bytes = 0;
	size_t i;

	for (i = 0; i < card->bo.count; i++)
		if (!strcmp(card->bo.item[i].where, "vram"))
			bytes += card->bo.item[i].size;
	for (i = 0; i < card->move.count; i++)
		bytes -= vram_change(&card->move.item[i]);
	return bytes;
}

void card_trace(const struct card *card, FILE *out)
{
	struct tracks t = { .out = out, .card = card, .in_vram = vram_at_first(card) };
	size_t i;

	event(&t, "M", "process_name", 0, 0);
	fputs(", \"args\": {\"name\": \"Residency\"}}", out);
	for (i = 0; i < card->move.count; i++) {
		const struct card_move *move = &card->move.item[i];
		struct track *track = track_of(&t, move);

		end_stay(&t, track, move->time_ns);
		track->since_ns = move->time_ns;
		memcpy(track->where, move->to, MAP_WORD);
		memcpy(track->why, move->why, MAP_WORD);
		t.in_vram += vram_change(move);
		count_vram(&t, move->time_ns);
	}
	for (i = 0; i < t.track.count; i++)
		end_stay(&t, &t.track.item[i], card->move.item[card->move.count - 1].time_ns);
	fputs("\n]\n", out);
	free(t.track.item);
}
