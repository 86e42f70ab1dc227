// SPDX-License-Identifier: MIT
/*
 * When the GPU dropped a translation: an index of flushes and of stays, so that the time
 * for a log with many walks and many flushes is about proportional to its lines.
 *
 * A page, a block and the range of a flush are each a power of two in size and aligned to
 * it.  So if two of them overlap, one contains the other.
 */
#include <stdlib.h>

#include "map.h"

/* A flush that drops the whole block or, if part is set, something inside it. */
struct drop {
	unsigned int shift;	/* log2 of the block's size */
	bool part;
	uint64_t block;		/* its address >> shift */
	uint64_t time;
};

struct map_drops {
	MAP_ARRAY(struct drop) drop;
	uint64_t widths;	/* bit n: there is a flush of 2^n bytes */
	bool all;		/* there is a flush of everything */
	MAP_ARRAY(struct map_stay) stay;	/* by address space; each one's do not overlap */
};

#define SHIFT_ALL	64

static uint64_t block_of(uint64_t va, unsigned int shift)
{
	return shift < 64 ? va >> shift : 0;
}

static int compare(uint64_t x, uint64_t y)
{
	return (x > y) - (x < y);
}

static int by_block_then_time(const void *a, const void *b)
{
	const struct drop *x = a, *y = b;

	return compare(x->shift, y->shift) ?: compare(x->part, y->part) ?:
	       compare(x->block, y->block) ?: compare(x->time, y->time);
}

static int by_as_then_time(const void *a, const void *b)
{
	const struct map_stay *x = a, *y = b;

	return compare(x->as, y->as) ?: compare(x->from, y->from) ?: compare(x->to, y->to);
}

static void add(struct map_drops *drops, const struct map_flush *flush, unsigned int shift,
		bool part)
{
	struct drop *drop = MAP_ADD(drops->drop);

	*drop = (struct drop){ .shift = shift, .part = part,
			       .block = block_of(flush->first, shift), .time = flush->time };
}

static void add_flush(struct map_drops *drops, const struct map_flush *flush)
{
	uint64_t size = flush->last - flush->first + 1;		/* 0: everything */
	unsigned int shift = size ? (unsigned int)__builtin_ctzll(size) : SHIFT_ALL, level;

	add(drops, flush, shift, false);
	if (size)
		drops->widths |= size;
	else
		drops->all = true;
	for (level = 1; level < MAP_LEVELS; level++)
		if (size && size < map_page_size(level))
			add(drops, flush, (unsigned int)__builtin_ctzll(map_page_size(level)), true);
}

struct map_drops *map_drops_of(const struct map_space *space)
{
	MAP_ARRAY(struct map_drops) one = { 0 };
	struct map_drops *drops = MAP_ADD(one);
	size_t i;

	for (i = 0; i < space->flush.count; i++)
		add_flush(drops, &space->flush.item[i]);
	if (drops->drop.count)
		qsort(drops->drop.item, drops->drop.count, sizeof(*drops->drop.item),
		      by_block_then_time);
	for (i = 0; i < space->stay.count; i++) {
		struct map_stay *stay = MAP_ADD(drops->stay);

		*stay = space->stay.item[i];
	}
	if (drops->stay.count)
		qsort(drops->stay.item, drops->stay.count, sizeof(*drops->stay.item),
		      by_as_then_time);
	return drops;
}

void map_drops_free(struct map_drops *drops)
{
	free(drops->drop.item);
	free(drops->stay.item);
	free(drops);
}

/* The first such flush from @time on, or MAP_NEVER. */
static uint64_t first_drop(const struct map_drops *drops, unsigned int shift, bool part,
			   uint64_t va, uint64_t time)
{
	const struct drop wanted = { .shift = shift, .part = part, .block = block_of(va, shift),
				     .time = time };
	size_t low = 0, high = drops->drop.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (by_block_then_time(&drops->drop.item[middle], &wanted) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == drops->drop.count || drops->drop.item[low].shift != shift ||
	    drops->drop.item[low].part != part || drops->drop.item[low].block != wanted.block)
		return MAP_NEVER;
	return drops->drop.item[low].time;
}

/* The end of the stay in that address space at @time; stays of others come before and after. */
static uint64_t stay_end(const struct map_drops *drops, unsigned int as, uint64_t time)
{
	size_t low = 0, high = drops->stay.count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct map_stay *stay = &drops->stay.item[middle];

		if (stay->as < as || (stay->as == as && stay->to < time))
			low = middle + 1;
		else
			high = middle;
	}
	if (low == drops->stay.count || drops->stay.item[low].as != as ||
	    drops->stay.item[low].from > time)
		return MAP_NEVER;
	return drops->stay.item[low].to;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

uint64_t map_dropped(const struct map_drops *drops, const struct map_walk *walk)
{
	uint64_t size = map_page_size(walk->level), widths = drops->widths & ~(size - 1);
	unsigned int level = (unsigned int)__builtin_ctzll(size), as;
	uint64_t end = first_drop(drops, level, true, walk->va, walk->time);

	for (; widths; widths &= widths - 1)
		end = earlier(end, first_drop(drops, (unsigned int)__builtin_ctzll(widths), false,
					      walk->va, walk->time));
	if (drops->all)
		end = earlier(end, first_drop(drops, SHIFT_ALL, false, walk->va, walk->time));
	for (as = 0; as < MAP_MAX_AS; as++)
		end = earlier(end, stay_end(drops, as, walk->time));
	return end;
}
