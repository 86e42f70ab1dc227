// SPDX-License-Identifier: MIT
/*
 * Hints in words (gpu_hints.h).
 *
 * The GPU's process writes the log outside the guest; only the texts of its marks come
 * from elsewhere.
 */
#include "gpu_hints.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#define KINDS		8
#define REGISTERS	4

/* One rule that a driver broke. */
struct kind {
	char text[128];
	json_int_t section;
	unsigned int times;
	char registers[REGISTERS][40];
	size_t register_count;
	bool more;		/* registers than those */
};

static void add_register(struct kind *kind, const char *name)
{
	size_t i;

	for (i = 0; i < kind->register_count; i++)
		if (!strcmp(kind->registers[i], name))
			return;
	if (i == REGISTERS)
		kind->more = true;
	else
		snprintf(kind->registers[kind->register_count++], sizeof(kind->registers[0]), "%s",
			 name);
}

/* False when there is no room for one more. */
static bool add(struct kind kinds[KINDS], size_t *count, const json_t *event)
{
	const char *text = json_string_value(json_object_get(event, "text"));
	const char *name = json_string_value(json_object_get(event, "register"));
	json_int_t section = json_integer_value(json_object_get(event, "section"));
	size_t i;

	for (i = 0; i < *count; i++)
		if (!strcmp(kinds[i].text, text) && kinds[i].section == section)
			break;
	if (i == KINDS)
		return false;
	if (i == *count) {
		kinds[i] = (struct kind){ .section = section };
		snprintf(kinds[i].text, sizeof(kinds[i].text), "%s", text);
		(*count)++;
	}
	kinds[i].times++;
	if (name)
		add_register(&kinds[i], name);
	return true;
}

static bool is_hint(const json_t *event, const char *const *provoked)
{
	const char *kind = json_string_value(json_object_get(event, "event"));
	const char *text = json_string_value(json_object_get(event, "text"));

	while (text && provoked && *provoked && strcmp(*provoked, text))
		provoked++;
	return kind && !strcmp(kind, "hint") && text && !(provoked && *provoked);
}

static void append(char *text, size_t size, const char *words)
{
	size_t n = strlen(text);

	snprintf(text + n, size - n, "%s", words);
}

/* "a write before RESET_COMPLETED is lost: JOB_INT_MASK, MMU_INT_MASK (3 times; section 2)" */
static void say(const struct kind *kind, char *text, size_t size)
{
	char words[80] = "";
	size_t i;

	append(text, size, kind->text);
	for (i = 0; i < kind->register_count; i++) {
		append(text, size, i ? ", " : ": ");
		append(text, size, kind->registers[i]);
	}
	if (kind->more)
		append(text, size, " and others");
	if (kind->times > 1)
		snprintf(words, sizeof(words), "%u times; ", kind->times);
	append(text, size, " (");
	append(text, size, words);
	snprintf(words, sizeof(words), "book/hardware.md, section %d)", (int)kind->section);
	append(text, size, words);
}

unsigned int gpu_hints(const char *log, size_t len, const char *const *provoked, char *text,
		       size_t size)
{
	static const char mark[] = "\"event\": \"hint\"";
	struct kind kinds[KINDS];
	size_t count = 0, at = 0, n, i;
	unsigned int total = 0;
	bool room = true;

	for (; at < len; at += n + 1) {
		const char *end = memchr(log + at, '\n', len - at);
		json_t *event;

		/* The GPU's process is still writing a line that has no end. */
		if (!end)
			break;
		n = (size_t)(end - log) - at;
		if (!memmem(log + at, n, mark, sizeof(mark) - 1))
			continue;
		event = json_loadb(log + at, n, 0, NULL);
		if (is_hint(event, provoked)) {
			total++;
			room = add(kinds, &count, event) && room;
		}
		json_decref(event);
	}
	text[0] = '\0';
	for (i = 0; i < count; i++) {
		append(text, size, i ? "; " : "");
		say(&kinds[i], text, size);
	}
	if (!room)
		append(text, size, "; and others");
	return total;
}
