// SPDX-License-Identifier: MIT
/*
 * Reading one JSON object key by key (lab_json.h).
 */
#include "lab_json.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool reader_ok(const struct reader *r)
{
	return !r->error[0];
}

void reader_fail(const struct reader *r, const char *key, const char *fmt, ...)
{
	size_t n;
	va_list ap;

	if (!reader_ok(r))
		return;
	snprintf(r->error, LAB_ERROR, "%.160s: %s%.60s%s%.60s%s", r->file,
		 r->test ? "test " : "", r->test ? r->test : "", r->test ? ": " : "",
		 key ? key : "", key ? ": " : "");
	n = strlen(r->error);
	va_start(ap, fmt);
	vsnprintf(r->error + n, LAB_ERROR - n, fmt, ap);
	va_end(ap);
}

void reader_keys(const struct reader *r, const json_t *object, const char *const *keys)
{
	const char *key;
	json_t *value;
	size_t i;

	json_object_foreach((json_t *)object, key, value) {
		for (i = 0; keys[i] && strcmp(keys[i], key); i++)
			;
		if (!keys[i])
			reader_fail(r, key, "no such key is known");
	}
}

/* NULL without an error when an optional key is absent. */
static const json_t *get(const struct reader *r, const json_t *object, const char *key,
			 bool needed)
{
	const json_t *value = json_object_get(object, key);

	if (!value && needed)
		reader_fail(r, key, "missing");
	return value;
}

static bool is_line(const char *text)
{
	for (; *text; text++) {
		if ((unsigned char)*text < ' ' || *text == 0x7f)
			return false;
	}
	return true;
}

const char *reader_text(const struct reader *r, const json_t *object, const char *key,
			size_t max, const char *fallback)
{
	const json_t *value = get(r, object, key, !fallback);
	const char *text = json_string_value(value);

	if (!value)
		return fallback ? fallback : "";
	if (!text)
		reader_fail(r, key, "is not a text");
	else if (!*text && (!fallback || *fallback))
		reader_fail(r, key, "is empty");
	else if (strlen(text) > max)
		reader_fail(r, key, "is longer than %zu bytes", max);
	else if (!is_line(text))
		reader_fail(r, key, "has a line end or a control character in it");
	else
		return text;
	return "";
}

bool reader_is_name(const char *text)
{
	size_t i;

	for (i = 0; text[i]; i++) {
		if (!isalnum((unsigned char)text[i]) && !strchr("-_", text[i]))
			return false;
	}
	return i && i < LAB_NAME && text[0] != '-';
}

const char *reader_name(const struct reader *r, const json_t *object, const char *key,
			const char *fallback)
{
	const char *text = reader_text(r, object, key, LAB_NAME - 1, fallback);

	if (reader_ok(r) && !reader_is_name(text))
		reader_fail(r, key, "\"%s\" is not a name: letters, digits, - and _", text);
	return text;
}

int64_t reader_number(const struct reader *r, const json_t *object, const char *key,
		      int64_t lowest, int64_t highest, int64_t fallback)
{
	const json_t *value = get(r, object, key, fallback < lowest);
	int64_t number = json_integer_value(value);

	if (!value)
		return fallback;
	if (!json_is_integer(value))
		reader_fail(r, key, "is not a whole number");
	else if (number < lowest || number > highest)
		reader_fail(r, key, "is not within %" PRId64 " and %" PRId64, lowest, highest);
	return number;
}

const json_t *reader_array(const struct reader *r, const json_t *object, const char *key,
			   size_t lowest, size_t highest)
{
	const json_t *value = get(r, object, key, lowest);

	if (!value)
		return NULL;
	if (!json_is_array(value)) {
		reader_fail(r, key, "is not an array");
		return NULL;
	}
	if (json_array_size(value) < lowest || json_array_size(value) > highest) {
		if (lowest == highest)
			reader_fail(r, key, "has to have %zu elements", lowest);
		else
			reader_fail(r, key, "has to have %zu to %zu elements", lowest, highest);
		return NULL;
	}
	return value;
}

unsigned int reader_word(const struct reader *r, const json_t *object, const char *key,
			 const char *const *words)
{
	const char *text = reader_text(r, object, key, LAB_NAME, words[0]);
	unsigned int i;

	for (i = 0; words[i] && strcmp(words[i], text); i++)
		;
	if (words[i])
		return i;
	reader_fail(r, key, "\"%s\" is none of the values it can have", text);
	return 0;
}
