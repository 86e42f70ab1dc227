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
	struct macro *next_own;
};

/* A header that was read after FILE defined a macro, and the last marker that names it. */
struct header {
	char *path;
	unsigned int markers;
	struct header *next;
};

/* A word that is reported, which may be a macro of the headers. */
struct name {
	const char *text;
	struct name *next;
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

/*
 * Such a macro expands on the headers' own lines, where nobody looks: strings and names are
 * all that it may consist of.
 */
static bool is_plain(const char *text)
{
	for (; *text; text++) {
		if (*text == '"') {
			for (text++; *text && *text != '"'; text++)
				text += *text == '\\' && text[1];
			if (!*text)
				return false;
		} else if (strchr("(){}[];#%:<>'", *text)) {
			return false;
		}
	}
	return true;
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
	macro->next_own = m->own;
	m->own = macro;
}

static int by_text(const void *a, const void *b)
{
	return strcmp(a, b);
}

/* True when @text was not yet in the @set. */
static bool add(void **set, const char *text)
{
	char *copy = need(strdup(text));

	if (*(char **)need(tsearch(copy, set, by_text)) == copy)
		return true;
	free(copy);
	return false;
}

static void poison(struct macros *m, const char *text)
{
	struct name *name = need(calloc(1, sizeof(*name)));

	name->text = text;
	name->next = m->names;
	m->names = name;
	fprintf(m->poison, "#pragma GCC poison %s\n", text);
}

/* Without the kernel's options: the headers would not be the same ones without them. */
void macros_header_name(struct macros *m, const char *name)
{
	const struct word *word = word_refused(name);

	if (word && strchr(word->text, '*') && strncmp(name, "CONFIG_", 7) != 0 &&
	    add(&m->poisoned, name))
		poison(m, *(char **)tfind(name, &m->poisoned, by_text));
}

/* The strings of a header's macro: text that it may give to the assembler. */
static void header_strings(struct macros *m, char *text)
{
	char *end;

	while ((text = strpbrk(text, "\"'"))) {
		for (end = text + 1; *end && *end != *text; end++)
			end += *end == '\\' && end[1];
		if (!*end)
			return;
		if (*text == '"') {
			*end = '\0';
			add(&m->strings, text + 1);
		}
		text = end + 1;
	}
}

bool macros_header_string(const struct macros *m, const char *text)
{
	return tfind(text, &m->strings, by_text);
}

static void header_macro(struct macros *m, struct macro *macro)
{
	if (macro->of_header)
		return;
	macro->of_header = true;
	macros_header_name(m, macro->name);
	if (macro->line && !macro->refused)
		refuse_macro(m, macro, OF_HEADER);
}

void macros_directive(struct macros *m, char *text, const char *place, unsigned int line)
{
	char *name = text + strcspn(text, " ");
	struct macro *macro;
	const char *body;
	bool plain;
	size_t n;

	name += strspn(name, " ");
	n = strcspn(name, " (\n");
	if (!place && name[n])
		header_strings(m, name + n + 1);
	body = name + n + (name[n] == '(' ? strcspn(name + n, ")") : 0);
	plain = is_plain(body + (*body == ')'));
	name[n] = '\0';
	macro = find_macro(m, name);
	if (place && may_define(name) && !plain) {
		printf("%s:%u: error: `%s` is for strings and names: headers use it as well\n",
		       place, line, name);
		m->refused = true;
	}
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

void macros_begin(struct macros *m, const char *path)
{
	size_t i;

	m->poison = fopen(path, "we");
	if (!m->poison)
		fail(path);
	if (asprintf(&m->words_path, "%s.words", path) < 0)
		fail(path);
	for (i = 0; i < COUNT(words); i++)
		if (!strchr(words[i].text, '*') && strncmp(words[i].text, "__has_", 6) &&
		    !strstr(words[i].text, "ragma"))
			poison(m, words[i].text);
}

/* To poison a macro changes what others expand to, but not to poison any other word. */
static void list_words(struct macros *m)
{
	FILE *f = fopen(m->words_path, "we");
	const struct name *name;

	if (!f)
		fail(m->words_path);
	for (name = m->names; name; name = name->next) {
		struct macro key = { .name = (char *)name->text };

		if (!tfind(&key, &m->by_name, by_name))
			fprintf(f, "#pragma GCC poison %s\n", name->text);
	}
	if (fclose(f))
		fail(m->words_path);
}

/*
 * The file's own macros, for agate-scan-source to hide from headers.  It reads one file: what
 * another file of the student's defines has to stand behind all headers.
 */
static void list_own(struct macros *m, const char *file, const char *path)
{
	const struct header *header;
	struct macro *macro;
	FILE *f = fopen(path, "we");

	if (!f)
		fail(path);
	for (macro = m->headers ? m->own : NULL; macro; macro = macro->next_own) {
		if (strcmp(macro->place, file) == 0) {
			fprintf(f, "%u %s\n", macro->line, macro->name);
			continue;
		}
		for (header = m->headers; header && !macro->refused; header = header->next)
			if (header->markers > macro->markers)
				refuse_macro(m, macro, "is defined before a header is included: "
					     "define it after the last #include");
	}
	if (fclose(f))
		fail(path);
}

bool macros_end(struct macros *m, const char *file, const char *own)
{
	const struct header *header;

	for (header = m->headers; header; header = header->next)
		scan_header(m, header);
	list_own(m, file, own);
	list_words(m);
	if (fclose(m->poison))
		fail("the words to report");
	return m->refused;
}
