// SPDX-License-Identifier: MIT
/*
 * The event log, line by line (hardware.md, section 8.2).
 */
#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "map.h"

void *map_more(void **item, size_t *count, size_t *room, size_t size)
{
	if (*count == *room) {
		*room = *room ? 2 * *room : 16;
		*item = realloc(*item, *room * size);
		if (!*item) {
			fputs("agate-map: out of memory\n", stderr);
			exit(1);
		}
	}
	memset((char *)*item + *count * size, 0, size);
	return (char *)*item + (*count)++ * size;
}

/* A name out of the log, reduced to characters that no output format has to escape. */
static void load_word(char *to, size_t room, const json_t *line, const char *key)
{
	const char *from = json_string_value(json_object_get(line, key));
	size_t n = 0;

	for (; from && *from && n < room - 1; from++)
		if (isalnum((unsigned char)*from) || *from == '_' || *from == '-')
			to[n++] = *from;
	to[n] = '\0';
}

static bool load_hex(const json_t *line, const char *key, uint64_t *value)
{
	const char *text = json_string_value(json_object_get(line, key));
	char *end;

	if (!text)
		return false;
	*value = strtoull(text, &end, 16);
	return end != text && !*end;
}

static bool load_index(const json_t *line, const char *key, unsigned int limit, unsigned int *n)
{
	const json_t *value = json_object_get(line, key);
	json_int_t i = json_integer_value(value);

	*n = (unsigned int)i;
	return json_is_integer(value) && i >= 0 && i < limit;
}

static struct map_space *load_current(struct map *map, unsigned int as)
{
	return map->current[as] ? &map->space.item[map->current[as] - 1] : NULL;
}

/* ---- Address spaces --------------------------------------------------------- */

/* One table may be in force in several address spaces: only the stay in @as ends. */
static void load_detach(struct map *map, unsigned int as, uint64_t time)
{
	struct map_space *space = load_current(map, as);

	if (space)
		space->stay.item[map->stay[as]].to = time;
	map->current[as] = 0;
	memset(map->faulted[as], 0, sizeof(map->faulted[as]));
}

static size_t load_find(struct map *map, uint64_t table, const json_t *line)
{
	size_t *bucket = &map->bucket[table / 4096 % MAP_BUCKETS], i;
	struct map_space *space;

	for (i = *bucket; i; i = map->space.item[i - 1].next)
		if (map->space.item[i - 1].table == table)
			return i - 1;
	space = MAP_ADD(map->space);
	space->table = table;
	space->next = *bucket;
	*bucket = map->space.count;
	load_word(space->format, sizeof(space->format), line, "format");
	return map->space.count - 1;
}

static bool load_update(struct map *map, const json_t *line, unsigned int as, uint64_t time)
{
	struct map_stay *stay;
	uint64_t table;
	size_t i;

	if (!load_hex(line, "table", &table))
		return false;
	load_detach(map, as, time);
	if (!table)
		return true;	/* unmapped, or identity */
	i = load_find(map, table, line);
	stay = MAP_ADD(map->space.item[i].stay);
	*stay = (struct map_stay){ .as = as, .from = time, .to = MAP_NEVER };
	map->current[as] = i + 1;
	map->stay[as] = map->space.item[i].stay.count - 1;
	return true;
}

/* The region that LOCKADDR names: hardware.md, section 4.4. */
static void load_flush(struct map *map, unsigned int as, uint64_t time)
{
	struct map_space *space = load_current(map, as);
	unsigned int width = map->lock[as] & 0x3f;
	struct map_flush *flush;
	uint64_t within;

	if (!space)
		return;
	if (width < 14)
		width = 14;
	within = width == 63 ? UINT64_MAX : (2ull << width) - 1;
	flush = MAP_ADD(space->flush);
	flush->time = time;
	flush->first = map->lock[as] & ~within;
	flush->last = flush->first | within;
}

static bool load_as(struct map *map, const json_t *line, const char *event, uint64_t time)
{
	char command[MAP_WORD];
	unsigned int as;

	load_word(command, sizeof(command), line, "command");
	if (!load_index(line, "as", MAP_MAX_AS, &as))
		return false;
	if (!strcmp(event, "as_command"))
		return strcmp(command, "LOCK") || load_hex(line, "lockaddr", &map->lock[as]);
	if (!strcmp(command, "UPDATE"))
		return load_update(map, line, as, time);
	if (!strcmp(command, "FLUSH_PT") || !strcmp(command, "FLUSH_MEM"))
		load_flush(map, as, time);
	return true;
}

/* ---- Walks and faults ---------------------------------------------------------- */

static bool load_walk(struct map *map, const json_t *line, uint64_t time)
{
	const char *tables = json_string_value(json_object_get(line, "tables"));
	struct map_walk walk = { .time = time }, *to;
	struct map_space *space;
	unsigned int as, i;
	char *end;

	map->walks = true;
	if (!load_index(line, "as", MAP_MAX_AS, &as) || !load_hex(line, "va", &walk.va) || !tables ||
	    !load_index(line, "level", MAP_LEVELS, &walk.level))
		return false;
	space = load_current(map, as);
	if (!space || json_object_get(line, "exception"))
		return true;	/* nothing is mapped there: a fault follows in the log */
	if (!walk.level || !load_hex(line, "maps", &walk.pa))
		return false;
	load_word(walk.access, sizeof(walk.access), line, "access");
	for (i = 0; i <= walk.level; i++) {
		walk.table[i] = strtoull(tables, &end, 16);
		if (end == tables)
			return false;
		tables = end;
	}
	walk.va &= ~(map_page_size(walk.level) - 1);
	to = MAP_ADD(space->walk);
	*to = walk;
	return true;
}

static bool load_fault(struct map *map, const json_t *line, uint64_t time)
{
	struct map_fault *fault;
	struct map_space *space;
	unsigned int as, slot;
	uint64_t va;

	if (!load_index(line, "as", MAP_MAX_AS, &as) || !load_hex(line, "va", &va) ||
	    !load_index(line, "slot", MAP_MAX_SOURCES, &slot))
		return false;
	space = load_current(map, as);
	if (!space)
		return true;
	fault = MAP_ADD(space->fault);
	*fault = (struct map_fault){ .time = time, .served = MAP_NEVER, .va = va, .slot = slot };
	load_word(fault->exception, sizeof(fault->exception), line, "exception");
	load_word(fault->access, sizeof(fault->access), line, "access");
	map->faulted[as][slot] = space->fault.count;	/* the access that waited there was
							 * given up */
	return true;
}

static bool load_resumed(struct map *map, const json_t *line, uint64_t time)
{
	struct map_space *space;
	unsigned int as, slot;
	uint64_t va;

	if (!load_index(line, "as", MAP_MAX_AS, &as) || !load_hex(line, "va", &va))
		return false;
	space = load_current(map, as);
	for (slot = 0; space && slot < MAP_MAX_SOURCES; slot++) {
		size_t *waits = &map->faulted[as][slot];

		if (*waits && space->fault.item[*waits - 1].va == va) {
			space->fault.item[*waits - 1].served = time;
			*waits = 0;
			break;
		}
	}
	return true;
}

/* ---- Jobs ---------------------------------------------------------------------- */

static bool load_job(struct map *map, const json_t *line, const char *event, uint64_t time)
{
	struct map_job *job;
	unsigned int slot;

	if (!load_index(line, "slot", MAP_MAX_SLOTS, &slot))
		return false;
	if (!strcmp(event, "job_start")) {
		job = MAP_ADD(map->job);
		*job = (struct map_job){ .slot = slot, .from = time, .to = MAP_NEVER };
		load_word(job->type, sizeof(job->type), line, "type");
		map->running[slot] = map->job.count;
	} else if (map->running[slot]) {
		map->job.item[map->running[slot] - 1].to = time;
		map->running[slot] = 0;
	}
	return true;
}

static void load_reset(struct map *map, uint64_t time)
{
	unsigned int as;

	for (as = 0; as < MAP_MAX_AS; as++)
		load_detach(map, as, time);
}

static bool load_line(struct map *map, const json_t *line)
{
	const char *event = json_string_value(json_object_get(line, "event"));
	const json_t *when = json_object_get(line, "time");
	uint64_t time = (uint64_t)json_integer_value(when);

	if (!event || !json_is_integer(when) || json_integer_value(when) < 0 || time < map->end)
		return false;
	map->end = time;
	if (!strcmp(event, "as_command") || !strcmp(event, "as_done"))
		return load_as(map, line, event, time);
	if (!strcmp(event, "walk"))
		return load_walk(map, line, time);
	if (!strcmp(event, "fault"))
		return load_fault(map, line, time);
	if (!strcmp(event, "fault_resumed"))
		return load_resumed(map, line, time);
	if (!strcmp(event, "job_start") || !strcmp(event, "job_end"))
		return load_job(map, line, event, time);
	if (!strcmp(event, "reset"))
		load_reset(map, time);
	return true;
}

/*
 * The simulator may be killed in the middle of a write: the bytes after the last newline
 * are then part of a line, which is not an error in the log.
 */
static bool load_torn(const char *text, size_t len)
{
	return text[len - 1] != '\n';
}

void map_load(struct map *map, FILE *log)
{
	char *text = NULL;
	size_t room = 0;
	ssize_t len;

	while ((len = getline(&text, &room, log)) > 0) {
		json_t *line = json_loadb(text, (size_t)len, 0, NULL);

		if (!line && load_torn(text, (size_t)len))
			break;
		map->lines++;
		if (!line || !load_line(map, line))
			map->odd++;
		json_decref(line);
	}
	free(text);
}
