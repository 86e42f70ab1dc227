// SPDX-License-Identifier: MIT
/*
 * The macros that a lab's file and the headers define (scan-macros.h).
 */
#include "scan-macros.h"

#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "scan-words.h"

#define OF_HEADER	"belongs to a header, whose macros rely on it: use another name"

struct macro {
	char *name;
	bool of_header;
	bool refused;
	/* FILE's first #define or #undef, or 0; and how many markers came before it */
	unsigned int line, markers;
	char *place;
};

/* A header that was read after FILE defined a macro, and the last marker that names it. */
struct header {
	char *path;
	unsigned int markers;
	struct header *next;
};

static void fail(const char *what)
{
	perror(what);
	exit(1);
}

static void *need(void *memory)
{
	if (!memory)
		fail("agate-scan-expanded");
	return memory;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(((const struct macro *)a)->name, ((const struct macro *)b)->name);
}

static struct macro *find_macro(struct macros *m, const char *name)
{
	struct macro key = { .name = (char *)name }, *macro;
	struct macro **found = need(tsearch(&key, &m->by_name, by_name));

	if (*found != &key)
		return *found;
	macro = need(calloc(1, sizeof(*macro)));
	macro->name = need(strdup(name));
	*found = macro;
	return macro;
}

/* Macros with which a file tells headers something, as many drivers do. */
static bool may_define(const char *name)
{
	return listed(told_to_headers, COUNT(told_to_headers), name);
}

static void refuse_macro(struct macros *m, struct macro *macro, const char *why)
{
	printf("%s:%u: error: `%s` %s\n", macro->place, macro->line, macro->name, why);
	macro->refused = true;
	m->refused = true;
}

static void own_macro(struct macros *m, struct macro *macro, const char *place, unsigned int line)
{
	if (macro->line || may_define(macro->name))
		return;
	macro->line = line;
	macro->markers = m->markers;
	macro->place = need(strdup(place));
	m->defines = true;
	if (macro->of_header)
		refuse_macro(m, macro, OF_HEADER);
	else if (listed(language, COUNT(language), macro->name))
		refuse_macro(m, macro, "belongs to C itself: use another name");
}

static void header_macro(struct macros *m, struct macro *macro)
{
	size_t i;

	if (macro->of_header)
		return;
	macro->of_header = true;
	for (i = 0; i < COUNT(words); i++)
		if (strchr(words[i].text, '*') && matches(words[i].text, macro->name))
			fprintf(m->poison, "#pragma GCC poison %s\n", macro->name);
	if (macro->line && !macro->refused)
		refuse_macro(m, macro, OF_HEADER);
}

void macros_directive(struct macros *m, char *text, const char *place, unsigned int line)
{
	char *name = text + strcspn(text, " ");
	struct macro *macro;

	name += strspn(name, " ");
	name[strcspn(name, " (\n")] = '\0';
	macro = find_macro(m, name);
	if (place)
		own_macro(m, macro, place, line);
	else if (text[0] == 'd')
		header_macro(m, macro);
}

static int by_path(const void *a, const void *b)
{
	return strcmp(((const struct header *)a)->path, ((const struct header *)b)->path);
}

void macros_marker(struct macros *m, const char *path)
{
	struct header key = { .path = (char *)path }, *header, **found;

	m->markers++;
	/* "<built-in>" */
	if (!m->defines || !path || path[0] == '<')
		return;
	found = need(tsearch(&key, &m->by_path, by_path));
	if (*found == &key) {
		header = need(calloc(1, sizeof(*header)));
		header->path = need(strdup(path));
		header->next = m->headers;
		m->headers = header;
		*found = header;
	}
	(*found)->markers = m->markers;
}

/* A name of a header's text: FILE's macro of this name may have changed what it means. */
static void check_known(struct macros *m, const struct header *header, char *name)
{
	struct macro key = { .name = name }, **found = tfind(&key, &m->by_name, by_name);

	if (!found || !(*found)->line || (*found)->refused || (*found)->markers > header->markers)
		return;
	refuse_macro(m, *found, "is a name in a header that is included after it: define it "
		     "after the last #include, or use another name");
}

static void scan_header(struct macros *m, const struct header *header)
{
	FILE *f = fopen(header->path, "re");
	char name[256];
	size_t n = 0;
	int c;

	if (!f)
		fail(header->path);
	do {
		c = getc_unlocked(f);
		if (c != EOF && is_name(c)) {
			if (n < sizeof(name) - 1)
				name[n++] = (char)c;
			continue;
		}
		name[n] = '\0';
		if (n)
			check_known(m, header, name);
		n = 0;
	} while (c != EOF);
	fclose(f);
}

void macros_begin(struct macros *m, const char *poison)
{
	size_t i;

	m->poison = fopen(poison, "we");
	if (!m->poison)
		fail(poison);
	for (i = 0; i < COUNT(words); i++)
		if (!strchr(words[i].text, '*') && strncmp(words[i].text, "__has_", 6) &&
		    !strstr(words[i].text, "ragma"))
			fprintf(m->poison, "#pragma GCC poison %s\n", words[i].text);
}

bool macros_end(struct macros *m)
{
	const struct header *header;

	for (header = m->headers; header; header = header->next)
		scan_header(m, header);
	if (fclose(m->poison))
		fail("the words to report");
	return m->refused;
}
