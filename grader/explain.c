// SPDX-License-Identifier: MIT
/*
 * Reads the messages of the compiler and of the symbol check about a student's files.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "explain_priv.h"

#define LINE_LEN	1024

/* The next line of @log, printable and cut to size; false at the end. */
static bool next_line(const char *log, size_t len, size_t *at, char line[LINE_LEN])
{
	const char *end;
	size_t n, i;

	if (*at >= len)
		return false;
	end = memchr(log + *at, '\n', len - *at);
	n = end ? (size_t)(end - log) - *at : len - *at;
	for (i = 0; i < n && i < LINE_LEN - 1; i++) {
		unsigned char c = (unsigned char)log[*at + i];

		line[i] = c < ' ' || c == 0x7f ? ' ' : (char)c;
	}
	line[i] = '\0';
	*at += n + 1;
	return true;
}

/* "FILE:LINE:" at the beginning of @text, or after "from "; returns its length, or 0. */
static size_t parse_where(const char *text, struct decode_place *place)
{
	const char *colon = text;
	unsigned long line;
	char *end;

	while ((colon = strchr(colon, ':')) != NULL) {
		line = strtoul(colon + 1, &end, 10);
		if (end > colon + 1 && (*end == ':' || *end == ',') && line && line < INT_MAX &&
		    (size_t)(colon - text) < sizeof(place->file)) {
			memcpy(place->file, text, (size_t)(colon - text));
			place->file[colon - text] = '\0';
			place->line = (unsigned int)line;
			return (size_t)(end - text);
		}
		colon++;
	}
	return 0;
}

static bool is_listed(const char *const *files, const char *file)
{
	while (files && *files) {
		if (strcmp(*files++, file) == 0)
			return true;
	}
	return false;
}

/* "FILE:LINE:COLUMN: error: TEXT", "FILE: error: TEXT", "FILE: not there". */
static bool parse_error(const char *line, struct explanation *why)
{
	static const char mark[] = "error: ";
	const char *error = strstr(line, mark), *text, *colon = strchr(line, ':');

	if (error && (error == line || error[-1] == ' '))
		text = error + sizeof(mark) - 1;
	else if (strstr(line, ": not there"))
		text = line;
	else
		return false;
	if (!parse_where(line, &why->place)) {
		snprintf(why->place.file, sizeof(why->place.file), "%.*s",
			 error == line ? 0 : (int)(colon - line), line);
		why->place.line = 0;
	}
	snprintf(why->said, sizeof(why->said), "%.*s", (int)sizeof(why->said) - 1, text);
	why->rule = explain_compiler_rule(why->said);
	return true;
}

/*
 * Lines around an error name the includes and macros that lead to it: "In file included
 * from FILE:8,", "from FILE:8:", and "FILE:88:2: note: in expansion of macro".
 */
static bool parse_way(const char *line, struct decode_place *place)
{
	const char *from = strstr(line, "from ");

	return strstr(line, "note: in expansion") ? parse_where(line, place) != 0 :
	       from && parse_where(from + 5, place);
}

bool explain_compile(const char *log, size_t len, const char *tree, const char *const *files,
		     struct explanation *why)
{
	struct decode_place way = { 0 }, step = { 0 };
	struct explanation other;
	char line[LINE_LEN];
	bool found = false;
	size_t at = 0;

	memset(why, 0, sizeof(*why));
	while (next_line(log, len, &at, line)) {
		if (!why->more && parse_way(line, &step) && is_listed(files, step.file))
			way = step;
		if (!found) {
			found = parse_error(line, why);
		} else if (parse_error(line, &other)) {
			why->more++;
		}
	}
	if (found && !is_listed(files, why->place.file) && is_listed(files, way.file))
		why->place = way;
	/*
	 * A student's file can make the compiler name any other file: show only the
	 * student's file.
	 */
	if (found && why->place.line && is_listed(files, why->place.file))
		decode_source(tree, &why->place);
	return found;
}

static bool name_char(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* Blanks out comments; @inside says that one is open. */
static void drop_comments(char *line, bool *inside)
{
	char *c;

	for (c = line; *c; c++) {
		if (*inside) {
			if (c[0] == '*' && c[1] == '/') {
				*inside = false;
				c[1] = ' ';
			}
			*c = ' ';
		} else if (c[0] == '/' && c[1] == '/') {
			*c = '\0';
			return;
		} else if (c[0] == '/' && c[1] == '*') {
			*inside = true;
			c[0] = c[1] = ' ';
			c++;
		}
	}
}

static bool has_name(const char *line, const char *name)
{
	size_t n = strlen(name);
	const char *at = line;

	while ((at = strstr(at, name)) != NULL) {
		if ((at == line || !name_char(at[-1])) && !name_char(at[n]))
			return true;
		at++;
	}
	return false;
}

/* The first line of the file that contains that name. */
static void find_name(const char *tree, const char *name, struct decode_place *place)
{
	char path[PATH_MAX], *line = NULL;
	unsigned int number = 0;
	bool comment = false;
	size_t room = 0;
	FILE *f;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", tree, place->file) >= sizeof(path))
		return;
	f = fopen(path, "re");
	if (!f)
		return;
	while (number < INT_MAX && getline(&line, &room, f) >= 0) {
		number++;
		drop_comments(line, &comment);
		if (has_name(line, name)) {
			place->line = number;
			break;
		}
	}
	free(line);
	fclose(f);
	if (place->line)
		decode_source(tree, place);
}

/* "agate_gem.c: uses NAME, ...": NAME is what follows the verb. */
static bool symbol_of(const char *said, char *name, size_t size)
{
	static const char *const verbs[] = { ": uses ", ": defines " };
	size_t i, n;

	for (i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		const char *at = strstr(said, verbs[i]);

		if (!at)
			continue;
		at += strlen(verbs[i]);
		for (n = 0; name_char(at[n]); n++)
			;
		if (!n || n >= size)
			return false;
		memcpy(name, at, n);
		name[n] = '\0';
		return true;
	}
	return false;
}

/* The one of @files whose path ends in this name. */
static const char *file_called(const char *const *files, const char *base, size_t len)
{
	for (; files && *files; files++) {
		const char *slash = strrchr(*files, '/');
		const char *name = slash ? slash + 1 : *files;

		if (strlen(name) == len && memcmp(name, base, len) == 0)
			return *files;
	}
	return NULL;
}

bool explain_symbols(const char *log, size_t len, const char *tree, const char *const *files,
		     struct explanation *why)
{
	char line[LINE_LEN], name[128];
	const char *file, *end;
	size_t at = 0, n;

	memset(why, 0, sizeof(*why));
	if (!next_line(log, len, &at, line) || !line[0])
		return false;
	snprintf(why->said, sizeof(why->said), "%.*s", (int)sizeof(why->said) - 1, line);
	why->rule = explain_symbol_rule(why->said);
	file = file_called(files, line, strcspn(line, ":"));
	if (file && parse_where(line, &why->place)) {
		/* @place already has the line, and needs the file's whole path. */
		n = strcspn(line, ":");
		end = strchr(line + n + 1, ':');
		snprintf(why->said, sizeof(why->said), "%.*s%.*s", (int)n, line,
			 (int)(sizeof(why->said) - n - 1), end);
		snprintf(why->place.file, sizeof(why->place.file), "%s", file);
		decode_source(tree, &why->place);
	} else if (file) {
		snprintf(why->place.file, sizeof(why->place.file), "%s", file);
		if (symbol_of(line, name, sizeof(name)))
			find_name(tree, name, &why->place);
	}
	while (next_line(log, len, &at, line))
		why->more++;
	return true;
}
