// SPDX-License-Identifier: MIT
/*
 * Parsing, without any file: top_client.h.
 */
#include "top_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What libagate calls a BO in its cache. */
#define CACHED_LABEL	"label=\"Unused (BO cache)\""

/* One line "KEY: VALUE", cut out of the text. */
struct line {
	char key[96];
	char value[96];
};

/* Copy at most size - 1 bytes; a longer text is cut. */
static void copy(char *to, size_t size, const char *from, size_t len)
{
	if (len >= size)
		len = size - 1;
	memcpy(to, from, len);
	to[len] = '\0';
}

void top_copy(char to[TOP_NAME], const char *from, size_t len)
{
	char *c;

	copy(to, TOP_NAME, from, len);
	for (c = to; *c; c++) {
		/* Whether a char beyond ASCII is negative differs between architectures. */
		if ((unsigned char)*c < 0x20 || (unsigned char)*c >= 0x7f)
			*c = '?';
	}
}

/* Split the line at text; returns the start of the next one, or NULL behind the last. */
static const char *next_line(const char *text, struct line *line)
{
	const char *end = text + strcspn(text, "\n");
	const char *colon = memchr(text, ':', (size_t)(end - text));
	const char *value;

	line->key[0] = line->value[0] = '\0';
	if (colon) {
		value = colon + 1 + strspn(colon + 1, " \t");
		copy(line->key, sizeof(line->key), text, (size_t)(colon - text));
		if (value < end)
			copy(line->value, sizeof(line->value), value, (size_t)(end - value));
	}
	return *end ? end + 1 : NULL;
}

/* A number and a unit, which is one of units; each unit is 1024 or 1000 times the last. */
static bool parse_number(const char *text, const char *const units[4], uint64_t step,
			 uint64_t *number)
{
	uint64_t value, factor = 1;
	char *end;
	int i;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	value = strtoull(text, &end, 10);
	if (errno)
		return false;
	end += strspn(end, " \t");
	for (i = 0; i < 4; i++, factor *= step) {
		size_t len = strlen(units[i]);

		if (strncmp(end, units[i], len) || end[len + strspn(end + len, " \t\r")])
			continue;
		if (value > UINT64_MAX / factor)
			return false;
		*number = value * factor;
		return true;
	}
	return false;
}

static bool parse_bytes(const char *text, uint64_t *bytes)
{
	static const char *const units[4] = { "", "KiB", "MiB", "GiB" };

	return parse_number(text, units, 1024, bytes);
}

static bool parse_hz(const char *text, uint64_t *hz)
{
	static const char *const upper[4] = { "Hz", "KHz", "MHz", "GHz" };
	static const char *const lower[4] = { "", "kHz", "MHz", "GHz" };

	return parse_number(text, upper, 1000, hz) || parse_number(text, lower, 1000, hz);
}

static bool parse_plain(const char *text, const char *unit, uint64_t *number)
{
	const char *const units[4] = { unit, unit, unit, unit };

	return parse_number(text, units, 1, number);
}

/* The part of a key behind a prefix, or NULL. */
static const char *behind(const char *key, const char *prefix)
{
	size_t len = strlen(prefix);

	return strncmp(key, prefix, len) || !key[len] ? NULL : key + len;
}

static struct top_engine *engine_of(struct top_client *client, const char *name)
{
	struct top_engine *engine;
	uint32_t i;

	for (i = 0; i < client->engine_count; i++) {
		if (!strcmp(client->engine[i].name, name))
			return &client->engine[i];
	}
	if (i == TOP_ENGINES)
		return NULL;
	engine = &client->engine[client->engine_count++];
	top_copy(engine->name, name, strlen(name));
	engine->capacity = 1;
	return engine;
}

static struct top_region *region_of(struct top_client *client, const char *name)
{
	struct top_region *region;
	uint32_t i;

	for (i = 0; i < client->region_count; i++) {
		if (!strcmp(client->region[i].name, name))
			return &client->region[i];
	}
	if (i == TOP_REGIONS)
		return NULL;
	region = &client->region[client->region_count++];
	top_copy(region->name, name, strlen(name));
	return region;
}

/* The keys of engines; the longer prefixes first. */
static bool parse_engine(struct top_client *client, const struct line *line)
{
	struct top_engine *engine = NULL;
	uint64_t value = 0;
	const char *name;

	if ((name = behind(line->key, "drm-engine-capacity-"))) {
		if (parse_plain(line->value, "", &value) && value && (engine = engine_of(client, name)))
			engine->capacity = value;
	} else if ((name = behind(line->key, "drm-engine-"))) {
		if (parse_plain(line->value, "ns", &value) && (engine = engine_of(client, name))) {
			engine->busy_ns = value;
			engine->has_ns = true;
		}
	} else if ((name = behind(line->key, "drm-total-cycles-"))) {
		if (parse_plain(line->value, "", &value) && (engine = engine_of(client, name))) {
			engine->total_cycles = value;
			engine->has_total = true;
		}
	} else if ((name = behind(line->key, "drm-cycles-"))) {
		if (parse_plain(line->value, "", &value) && (engine = engine_of(client, name))) {
			engine->cycles = value;
			engine->has_cycles = true;
		}
	} else if ((name = behind(line->key, "drm-maxfreq-"))) {
		if (parse_hz(line->value, &value) && (engine = engine_of(client, name)))
			engine->max_hz = value;
	} else if ((name = behind(line->key, "drm-curfreq-"))) {
		if (parse_hz(line->value, &value) && (engine = engine_of(client, name)))
			engine->now_hz = value;
	}
	return name != NULL;
}

/* drm-memory is the older name of drm-resident: a driver with both says the same twice. */
static void parse_region(struct top_client *client, const struct line *line)
{
	static const struct {
		const char *prefix;
		size_t offset;
	} keys[] = {
		{ "drm-total-", offsetof(struct top_region, total) },
		{ "drm-shared-", offsetof(struct top_region, shared) },
		{ "drm-resident-", offsetof(struct top_region, resident) },
		{ "drm-memory-", offsetof(struct top_region, resident) },
		{ "drm-purgeable-", offsetof(struct top_region, purgeable) },
		{ "drm-active-", offsetof(struct top_region, active) },
	};
	size_t i;

	for (i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *name = behind(line->key, keys[i].prefix);
		struct top_region *region;
		uint64_t bytes;

		if (!name || !parse_bytes(line->value, &bytes))
			continue;
		region = region_of(client, name);
		if (region)
			*(uint64_t *)((char *)region + keys[i].offset) = bytes;
		return;
	}
}

static void parse_line(struct top_client *client, const struct line *line)
{
	if (!strcmp(line->key, "drm-driver"))
		top_copy(client->driver, line->value, strlen(line->value));
	else if (!strcmp(line->key, "drm-pdev"))
		top_copy(client->device, line->value, strlen(line->value));
	else if (!strcmp(line->key, "drm-client-id"))
		client->has_id = parse_plain(line->value, "", &client->id);
	else if (!parse_engine(client, line))
		parse_region(client, line);
}

bool top_parse_fdinfo(const char *text, struct top_client *client)
{
	struct line line;

	client->driver[0] = client->device[0] = '\0';
	client->has_id = client->has_bos = false;
	client->engine_count = client->region_count = 0;
	memset(client->engine, 0, sizeof(client->engine));
	memset(client->region, 0, sizeof(client->region));
	while (text) {
		text = next_line(text, &line);
		parse_line(client, &line);
	}
	return client->driver[0] != '\0';
}

bool top_same_client(const struct top_client *a, const struct top_client *b)
{
	if (strcmp(a->driver, b->driver) || strcmp(a->device, b->device))
		return false;
	/* Without an id nothing tells that two descriptors are copies of one. */
	if (!a->has_id || !b->has_id)
		return !a->has_id && !b->has_id && a->pid == b->pid && a->fd == b->fd;
	return a->id == b->id;
}

/* Is there this word in a list "flags=one,two"? */
static bool has_flag(const char *line, size_t len, const char *flag)
{
	const char *end = line + len;
	const char *at = memmem(line, len, " flags=", 7);
	size_t want = strlen(flag);

	if (!at)
		return false;
	for (at += 7; at < end && *at != ' ';) {
		size_t word = strcspn(at, ", \n");

		if (word == want && !strncmp(at, flag, want))
			return true;
		at += word;
		at += at < end && *at == ',';
	}
	return false;
}

static bool has_text(const char *line, size_t len, const char *text)
{
	return memmem(line, len, text, strlen(text)) != NULL;
}

static void count_bo(struct top_bos *bos, const char *line, size_t len)
{
	if (has_flag(line, len, "imported"))
		bos->imported++;
	else if (has_flag(line, len, "heap"))
		bos->heap++;
	else if (has_flag(line, len, "contiguous"))
		bos->contiguous++;
	else
		bos->paged++;
	bos->cached += has_text(line, len, CACHED_LABEL);
	bos->purged += has_text(line, len, " madv=purged");
}

/* Each BO has a line that begins with "size=", and below it one for each of its clients. */
struct top_bos top_parse_bos(const char *text, uint64_t id)
{
	const char *bo = NULL;
	struct top_bos bos = { 0 };
	size_t bo_len = 0;
	char client[40];

	snprintf(client, sizeof(client), "  client=%llu ", (unsigned long long)id);
	for (; *text; text += strspn(text, "\n")) {
		size_t len = strcspn(text, "\n");

		if (!strncmp(text, "size=", 5)) {
			bo = text;
			bo_len = len;
		} else if (bo && !strncmp(text, client, strlen(client))) {
			count_bo(&bos, bo, bo_len);
			/* A client that has mapped it twice still has one BO. */
			bo = NULL;
		}
		text += len;
	}
	return bos;
}

bool top_parse_busy(const char *text, uint64_t *busy_ns, uint64_t *idle_ns)
{
	unsigned long long busy, idle;

	if (sscanf(text, "busy %llu ns idle %llu ns", &busy, &idle) != 2)
		return false;
	*busy_ns = busy;
	*idle_ns = idle;
	return true;
}

uint64_t top_sum(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

struct top_region top_memory(const struct top_client *client)
{
	struct top_region sum = { 0 };
	uint32_t i;

	for (i = 0; i < client->region_count; i++) {
		const struct top_region *region = &client->region[i];

		sum.total = top_sum(sum.total, region->total);
		sum.shared = top_sum(sum.shared, region->shared);
		sum.resident = top_sum(sum.resident, region->resident);
		sum.purgeable = top_sum(sum.purgeable, region->purgeable);
		sum.active = top_sum(sum.active, region->active);
	}
	return sum;
}
