/* SPDX-License-Identifier: MIT */
/*
 * A card's memory at one moment, as the driver's debugfs shows it: the owner of each part of VRAM
 * and of the global table, the place of each BO that has a placement, and the cause of its move.
 */
#ifndef AGATE_MAP_CARD_H
#define AGATE_MAP_CARD_H

#include "map.h"

#define CARD_LABEL	64

struct card_region {
	char name[MAP_WORD];
	uint64_t size, used;
	uint64_t visible, visible_used;
};

/* A part of VRAM or of the global table. */
struct card_range {
	uint64_t start, size;
	char whose[MAP_WORD];	/* bo, parked, driver or free */
	uint64_t bo;		/* its number, or 0 */
	char why[MAP_WORD];
	uint64_t pins;
	char letter;		/* on the map */
};

struct card_bo {
	uint64_t id, size, moves;
	char where[MAP_WORD], why[MAP_WORD];
	char label[CARD_LABEL];
};

struct card_move {
	uint64_t n, time_ns, id, size, start;
	char from[MAP_WORD], to[MAP_WORD], why[MAP_WORD];
};

struct card {
	char device[CARD_LABEL];
	MAP_ARRAY(struct card_region) region;
	MAP_ARRAY(struct card_range) vram;	/* by address, after card_finish() */
	MAP_ARRAY(struct card_range) ggtt;
	MAP_ARRAY(struct card_bo) bo;
	MAP_ARRAY(struct card_move) move;	/* the oldest first */
};

/* card_load.c: read the lines of one of the files; those that make no sense are left out. */
void card_load_device(struct card *card, FILE *name);
void card_load_regions(struct card *card, FILE *regions);
void card_load_vram(struct card *card, FILE *vram);
void card_load_ggtt(struct card *card, FILE *ggtt);
void card_load_bos(struct card *card, FILE *bos);
void card_load_moves(struct card *card, FILE *moves);
void card_finish(struct card *card);
void card_free(struct card *card);

/* All files of a device's folder; false if it is none of a card. */
bool card_load_folder(struct card *card, const char *folder);

/* The BO with that number, or NULL. */
const struct card_bo *card_find(const struct card *card, uint64_t id);
const struct card_region *card_region_of(const struct card *card, const char *name);

/* Three ways to show cards; the last one in Chrome's trace-event format, a track for each BO. */
void card_text(const struct card *card, FILE *out);
bool card_json(const struct card *cards, size_t count, FILE *out);
void card_trace(const struct card *card, FILE *out);

/* card_live.c: what agate-map does without a log; returns the exit status. */
struct card_options {
	const char *debugfs;
	const char *trace;	/* a file, or NULL */
	unsigned int interval_ms;
	bool once, json;
};

int card_show(const struct card_options *options);

#endif /* AGATE_MAP_CARD_H */
