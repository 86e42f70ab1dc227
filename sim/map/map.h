/* SPDX-License-Identifier: MIT */
/*
 * The GPU address spaces in a run's event log: which tables there were, what they mapped,
 * when the GPU had it in its TLB, and where it faulted.
 *
 * An address space here is a root table, whichever hardware address space had it, because
 * drivers assign those to the clients that have work.  The log shows a mapping only when
 * the GPU walks to it: a page that the GPU never touched does not appear.
 */
#ifndef AGATE_MAP_H
#define AGATE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define MAP_LEVELS	4
#define MAP_NEVER	UINT64_MAX
#define MAP_WORD	24	/* length of a name out of the log, at most */

/* A growing array; item is a pointer of its type. */
#define MAP_ARRAY(type)	struct { type *item; size_t count, room; }

struct map_walk {
	uint64_t time;
	uint64_t va;		/* of the page's or block's first byte */
	uint64_t pa;
	uint64_t table[MAP_LEVELS];
	unsigned int level;	/* of the leaf: 1 to 3 */
	char access[4];
};

struct map_flush {
	uint64_t time;
	uint64_t first, last;
};

struct map_fault {
	uint64_t time;
	uint64_t served;	/* MAP_NEVER: it was not */
	uint64_t va;
	unsigned int slot;
	char exception[MAP_WORD];
	char access[MAP_WORD];
};

/* The time while that table was in force in a hardware address space. */
struct map_stay {
	unsigned int as;
	uint64_t from, to;
};

/* A page or block that the GPU knew, from the walk to the flush or the end. */
struct map_page {
	uint64_t va, pa, size;
	uint64_t from, to;
	char access[4];
};

/* One table: what it covers, and how much of it was used. */
struct map_table {
	uint64_t pa;
	uint64_t va;		/* of the first byte that it covers */
	unsigned int level;
	unsigned int entries;	/* different ones that walks read */
};

/* Pages close to each other. */
struct map_region {
	uint64_t first, last;	/* bytes */
	size_t pages;		/* different ones */
	uint64_t bytes;		/* in them */
	uint64_t from;		/* when the first was known */
	char access[4];		/* of all of them together */
	uint64_t page_size;	/* of the first; mixed when others differ */
	bool mixed;
};

struct map_space {
	uint64_t table;
	size_t next;		/* space + 1 in the same bucket, or 0 */
	char format[MAP_WORD];
	MAP_ARRAY(struct map_stay) stay;
	MAP_ARRAY(struct map_walk) walk;
	MAP_ARRAY(struct map_flush) flush;
	MAP_ARRAY(struct map_fault) fault;
	/* map_finish() fills these from the above. */
	MAP_ARRAY(struct map_page) page;	/* by address, then time */
	MAP_ARRAY(struct map_table) table_used;	/* by level, then address */
	MAP_ARRAY(struct map_region) region;
};

struct map_job {
	unsigned int slot;
	uint64_t from, to;
	char type[MAP_WORD];
};

#define MAP_MAX_AS	16
#define MAP_MAX_SOURCES	16	/* of faults */
#define MAP_BUCKETS	1024
#define MAP_MAX_SLOTS	3

struct map {
	MAP_ARRAY(struct map_space) space;
	MAP_ARRAY(struct map_job) job;
	uint64_t end;		/* time of the last event */
	size_t lines;
	size_t odd;		/* lines that were not understood */
	bool walks;		/* the log has walks in it */

	/* Used while the log is read. */
	size_t current[MAP_MAX_AS];	/* space + 1 in force there, or 0 */
	size_t stay[MAP_MAX_AS];	/* its stay there */
	size_t faulted[MAP_MAX_AS][MAP_MAX_SOURCES];	/* its fault + 1 that waits, or 0 */
	size_t bucket[MAP_BUCKETS];	/* space + 1 by table, or 0 */
	uint64_t lock[MAP_MAX_AS];	/* LOCKADDR of the last LOCK */
	size_t running[MAP_MAX_SLOTS];	/* job + 1, or 0 */
};

/* Make room for one more of size bytes; ends the program without memory. */
void *map_more(void **item, size_t *count, size_t *room, size_t size);
#define MAP_ADD(array)								\
	map_more((void **)&(array).item, &(array).count, &(array).room, sizeof(*(array).item))

/* load.c: read a log.  Lines that make no sense are counted, not fatal. */
void map_load(struct map *map, FILE *log);

/* drop.c: when the GPU dropped a walk's result, by a flush or with its table. */
struct map_drops;
struct map_drops *map_drops_of(const struct map_space *space);
uint64_t map_dropped(const struct map_drops *drops, const struct map_walk *walk);
void map_drops_free(struct map_drops *drops);

/* space.c: evaluate the log. */
void map_finish(struct map *map);
void map_free(struct map *map);

uint64_t map_page_size(unsigned int level);

/* Bytes that the GPU knew a translation for at that time. */
uint64_t map_known(const struct map_space *space, uint64_t time);

/* plain_text.c and svg.c: two ways to show it. */
void map_text(const struct map *map, FILE *out);
void map_svg(const struct map *map, FILE *out);

/* Numbers for people: "4 KiB", "12.35 us". */
const char *map_size(char buf[32], uint64_t bytes);
const char *map_time(char buf[32], uint64_t bus_cycles);

#endif /* AGATE_MAP_H */
