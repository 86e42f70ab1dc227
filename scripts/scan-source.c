// SPDX-License-Identifier: MIT
/*
 * agate-scan-source: does a lab's file contain only allowed text?
 *
 * usage: agate-scan-source FILE [OWN]
 *
 * Reads the text as a C compiler does (spliced lines, comments, strings, digraphs), and
 * prints a line "FILE:LINE:COLUMN: error: WHY" for each thing that scan-words.h does not
 * allow.  Names of files that the text includes in quotes go to descriptor 5, when that
 * is open, as "include LINE NAME".
 *
 * Exit status: 0; 1 for wrong usage or a file that cannot be read; 10 when something is
 * not allowed, 12 when that hides nothing from the other programs.  agate-scan-expanded
 * judges the text that macros make.
 *
 * With OWN, a list of macros ("LINE NAME"), it prints the text of FILE, and hides these macros
 * from each file that FILE includes: a header whose text differs then is one that a macro of
 * FILE has changed.
 */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agate_stdio.h"
#include "scan-text.h"
#include "scan-words.h"

#define WORD_MAX	128

enum { ALLOWED, FAILED = 1, REFUSED = 10, LATE = 12 };

struct scan {
	const char *file;
	struct character *text;
	size_t len, at;
	bool line_begins;	/* nothing but blanks since the last newline */
	char last;		/* the last token when it is a single character, or 0 */
	bool refused, late;
	FILE *facts;
	const char *own;	/* macros to hide, one a line; NULL: check the text */
	size_t printed;		/* how much of the text was printed */
};

static void refuse(struct scan *s, size_t at, const char *what, const char *why)
{
	const struct character *c = &s->text[at];

	if (s->own)
		return;
	printf("%s:%u:%u: error: %s %s\n", s->file, c->line, c->column, what, why);
	s->refused = true;
}

/* The same, but the other programs look at the file as well: they know more about it. */
static void refuse_late(struct scan *s, size_t at, const char *what, const char *why)
{
	bool refused = s->refused;

	refuse(s, at, what, why);
	s->late |= s->refused && !s->own;
	s->refused = refused;
}

static char peek(const struct scan *s, size_t ahead)
{
	return s->at + ahead < s->len ? s->text[s->at + ahead].c : '\n';
}

static bool next_is(const struct scan *s, const char *text)
{
	size_t i;

	for (i = 0; text[i]; i++)
		if (peek(s, i) != text[i])
			return false;
	return true;
}

/* Bytes above 0x7f are letters of names in other alphabets. */
static bool is_letter(char c)
{
	return isalpha((unsigned char)c) || c == '_' || c == '$' || (unsigned char)c >= 0x80;
}

/* A comment, if one begins here; a newline ends the short form and is not part of it. */
static bool skip_comment(struct scan *s)
{
	if (next_is(s, "//")) {
		while (s->at < s->len && peek(s, 0) != '\n')
			s->at++;
		return true;
	}
	if (!next_is(s, "/*"))
		return false;
	s->at += 2;
	while (s->at < s->len && !next_is(s, "*/"))
		s->at++;
	s->at += 2;
	return true;
}

/* Blanks and comments up to the next token of this line. */
static void skip_blanks(struct scan *s)
{
	while (s->at < s->len && ((peek(s, 0) != '\n' && isspace((unsigned char)peek(s, 0))) ||
				  next_is(s, "//") || next_is(s, "/*")))
		if (!skip_comment(s))
			s->at++;
}

/* A string or a character; without an end on its line it ends there. */
static void skip_literal(struct scan *s)
{
	char quote = peek(s, 0);

	s->at++;
	while (s->at < s->len && peek(s, 0) != quote && peek(s, 0) != '\n')
		s->at += peek(s, 0) == '\\' && peek(s, 1) != '\n' ? 2 : 1;
	if (peek(s, 0) == quote)
		s->at++;
}

/* Also such things as 0x1p-3 and 1e+4. */
static void skip_number(struct scan *s)
{
	while (is_name((unsigned char)peek(s, 0)) || peek(s, 0) == '.') {
		bool exponent = strchr("eEpP", peek(s, 0)) && strchr("+-", peek(s, 1));

		s->at += exponent && peek(s, 1) ? 2 : 1;
	}
}

/* The name here, cut to size; empty when there is none. */
static void read_name(struct scan *s, char word[WORD_MAX])
{
	size_t n = 0;

	for (; is_name((unsigned char)peek(s, 0)) && s->at < s->len; s->at++)
		if (n < WORD_MAX - 1)
			word[n++] = peek(s, 0);
	word[n] = '\0';
}

/*
 * Words that are not poisoned, as they may stand in a file, or are more than words.  All
 * begin with an underscore, and so does the first piece of one that is pasted together.
 */
static void check_pieces(struct scan *s, size_t at, const char *word)
{
	static const char *const whole[] = { "__attribute__", "_Pragma", "__has_include" };
	char what[WORD_MAX + 4];
	size_t i;

	for (i = 0; i < COUNT(whole); i++) {
		if (strncmp(word, whole[i], strlen(word)) == 0 && strcmp(word, whole[i]) != 0) {
			snprintf(what, sizeof(what), "`%s`", word);
			refuse(s, at, what, "is a piece of a word that must stand as a whole: use "
			       "another name");
			return;
		}
	}
}

static void check_word(struct scan *s, size_t at, const char *word)
{
	const struct word *refused = word_refused(word);
	char what[WORD_MAX + 4];

	check_pieces(s, at, word);
	snprintf(what, sizeof(what), "`%s`", word);
	if (listed(pasters, COUNT(pasters), word))
		refuse(s, at, what, "puts any two words together: write the word out");
	if (!refused)
		return;
	refuse(s, at, what, refused->why);
}

/* After the prefix of a string.  Raw strings have rules of their own for lines. */
static void check_raw_string(struct scan *s, size_t at, const char *word)
{
	static const char *const prefixes[] = { "R", "LR", "uR", "UR", "u8R" };

	if (peek(s, 0) == '"' && listed(prefixes, COUNT(prefixes), word))
		refuse(s, at, "a raw string", "is not C as the kernel writes it: use an ordinary one");
}

static void check_attribute(struct scan *s, size_t at, const char *word)
{
	char name[WORD_MAX], what[WORD_MAX + 32];
	size_t n;

	snprintf(name, sizeof(name), "%s", word + (strncmp(word, "__", 2) ? 0 : 2));
	n = strlen(name);
	if (n > 2 && strcmp(name + n - 2, "__") == 0)
		name[n - 2] = '\0';
	if (listed(attributes, COUNT(attributes), name))
		return;
	snprintf(what, sizeof(what), "__attribute__((%s))", word);
	refuse(s, at, what, "is not allowed in a lab's file: leave it out");
}

/* The whole of __attribute__((...)), from the end of its name on. */
static void scan_attributes(struct scan *s, size_t at)
{
	char word[WORD_MAX];
	int depth = 0;
	bool begins = false;	/* an attribute's name may stand here */

	while (s->at < s->len) {
		size_t here;

		skip_blanks(s);
		here = s->at;
		if (peek(s, 0) == '\n') {
			s->at++;
			continue;
		}
		/* A directive between the parentheses would be one of the file. */
		if (peek(s, 0) == '#' || next_is(s, "%:"))
			break;
		if (is_letter(peek(s, 0))) {
			read_name(s, word);
			if (depth < 2)
				break;
			check_raw_string(s, here, word);
			if (begins)
				check_attribute(s, here, word);
			else
				check_word(s, here, word);
			begins = false;
			continue;
		}
		if (peek(s, 0) == '"' || peek(s, 0) == '\'') {
			skip_literal(s);
			continue;
		}
		depth += (peek(s, 0) == '(') - (peek(s, 0) == ')');
		begins = depth == 2 && (peek(s, 0) == '(' || peek(s, 0) == ',');
		if (!depth && peek(s, 0) != ')')
			break;
		s->at++;
		if (!depth)
			return;
	}
	refuse(s, at, "__attribute__",
	       "without ((NAME)) behind it hides which one it is: write it out, or leave it out");
}

/*
 * True for a name in which a compiler that skips the line, because of an #if above it,
 * sees neither a comment nor a string.
 */
static bool is_path(const char *name)
{
	return name[0] && !name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
				       "0123456789_-+.,/")] && !strstr(name, "//");
}

static void print_up_to(struct scan *s, size_t end)
{
	while (s->printed < end)
		putchar(s->text[s->printed++].c);
}

/* Nothing but blanks and comments stands before a directive, and behind a header's name. */
static void each_own(const struct scan *s, const char *before, const char *after)
{
	const char *line, *name, *end;

	putchar('\n');
	for (line = s->own; *line; line = end + (*end == '\n')) {
		end = line + strcspn(line, "\n");
		name = line + strcspn(line, " ") + 1;
		printf("%s%.*s%s\n", before, (int)(end - name), name, after);
	}
}

static void hide_own(struct scan *s, size_t include, size_t end)
{
	print_up_to(s, include);
	each_own(s, "#pragma push_macro(\"", "\")");
	each_own(s, "#undef ", "");
	print_up_to(s, end);
	each_own(s, "#pragma pop_macro(\"", "\")");
}

static void scan_include(struct scan *s, size_t at)
{
	char name[256], open, close;
	size_t n = 0, begin;
	bool cut = false;

	skip_blanks(s);
	begin = s->at;
	open = peek(s, 0);
	close = open == '<' ? '>' : '"';
	for (s->at += open == '<' || open == '"'; peek(s, 0) != close && peek(s, 0) != '\n'; s->at++)
		if (n < sizeof(name) - 1)
			name[n++] = peek(s, 0);
		else
			cut = true;
	name[n] = '\0';
	if (cut) {
		refuse(s, begin, "this path", "is too long for a header's: include <linux/slab.h>, "
		       "or \"agate_gem.h\"");
		return;
	}
	if ((open != '<' && open != '"') || peek(s, 0) != close || !is_path(name)) {
		refuse(s, at, "#include", "names a header as <linux/slab.h> or \"agate_gem.h\"");
		return;
	}
	s->at++;
	if (s->own)
		hide_own(s, at, s->at);
	else if (name[0] == '/' || strstr(name, ".."))
		refuse(s, begin, "this path", "leads out of the folders with headers: "
		       "include <linux/slab.h>, or \"agate_gem.h\"");
	else if (open == '"' && s->facts)
		fprintf(s->facts, "include %u %s\n", s->text[at].line, name);
}

/*
 * The parameters of a macro, each with a comma before and behind it, without the dots of the last.
 * Nothing when they are too long.
 */
static void read_parameters(struct scan *s, char *parameters, size_t size)
{
	size_t n = 1;

	snprintf(parameters, size, ",");
	if (peek(s, 0) != '(')
		return;
	s->at++;
	while (peek(s, 0) != ')' && peek(s, 0) != '\n' && n < size - 2) {
		if (skip_comment(s))
			continue;
		if (!isspace((unsigned char)peek(s, 0)) && peek(s, 0) != '.')
			parameters[n++] = peek(s, 0);
		s->at++;
	}
	parameters[n++] = ',';
	parameters[peek(s, 0) == ')' ? n : 0] = '\0';
}

static bool is_parameter(const char *parameters, const char *word)
{
	char between[WORD_MAX + 3];

	snprintf(between, sizeof(between), ",%s,", word);
	return !parameters[0] || strstr(parameters, between) || strlen(word) == WORD_MAX - 1 ||
	       strncmp(word, "__VA_", 5) == 0;
}

/*
 * May this token begin a word that ## puts together?  A name may, when it is no parameter and no
 * beginning of a forbidden word; so may a number, and the comma before __VA_ARGS__.
 */
static bool may_begin(const char *parameters, const char *token)
{
	if (isdigit((unsigned char)token[0]) || token[0] == ',')
		return true;
	return is_letter(token[0]) && !is_parameter(parameters, token) && !begins_refused(token);
}

/*
 * Behind #define: what does ## put together?  Only the preprocessor knows the words, and a file
 * can hide from its report (compile-boxed.sh) what depends on that report.  So the file has to
 * say how each of these words begins, also in my_##x##y: the last token of x is one of many.
 */
static void scan_pastes(struct scan *s)
{
	char parameters[1024], token[WORD_MAX] = "";
	size_t begin = s->at;

	skip_blanks(s);
	read_name(s, token);
	read_parameters(s, parameters, sizeof(parameters));
	token[0] = '\0';
	while (s->at < s->len && peek(s, 0) != '\n') {
		size_t at = s->at;

		if (isspace((unsigned char)peek(s, 0))) {
			s->at++;
		} else if (skip_comment(s)) {
			continue;
		} else if (next_is(s, "##") || next_is(s, "%:%:")) {
			if (!may_begin(parameters, token))
				refuse_late(s, at, "##", "puts together a word of which nobody sees how it "
				       "begins: begin it with a name of your own (my_##x), or write it out");
			s->at += next_is(s, "##") ? 2 : 4;
		} else if (is_letter(peek(s, 0))) {
			read_name(s, token);
		} else {
			snprintf(token, sizeof(token), "%c", peek(s, 0));
			if (isdigit((unsigned char)token[0]))
				skip_number(s);
			else if (token[0] == '"' || token[0] == '\'')
				skip_literal(s);
			else
				s->at++;
		}
	}
	s->at = begin;
}

static void scan_directive(struct scan *s, size_t at)
{
	char word[WORD_MAX], what[WORD_MAX + 4];
	size_t begin;

	skip_blanks(s);
	begin = s->at;
	read_name(s, word);
	if (!word[0] && peek(s, 0) == '\n')
		return;
	snprintf(what, sizeof(what), "#%s", word);
	if (strcmp(word, "include") == 0)
		scan_include(s, at);
	else if (strcmp(word, "define") == 0)
		scan_pastes(s);
	else if (strcmp(word, "pragma") == 0)
		refuse(s, at, what, WHY_PRAGMA);
	else if (isdigit((unsigned char)word[0]) || strcmp(word, "line") == 0)
		refuse(s, at, what, "renames the lines behind it, which no lab allows: leave it out");
	else if (!listed(directives, COUNT(directives), word))
		refuse(s, word[0] ? begin : at, what, "is not allowed in a lab's file: leave it out");
}

static void scan_name(struct scan *s)
{
	char word[WORD_MAX];
	size_t at = s->at;

	read_name(s, word);
	check_raw_string(s, at, word);
	if (strcmp(word, "__attribute__") == 0 || strcmp(word, "__attribute") == 0)
		scan_attributes(s, at);
	else
		check_word(s, at, word);
}

static void scan_sign(struct scan *s)
{
	size_t hash = next_is(s, "%:") ? 2 : peek(s, 0) == '#' ? 1 : 0;
	size_t bracket = next_is(s, "<:") ? 2 : peek(s, 0) == '[' ? 1 : 0;
	size_t at = s->at;

	if (hash && s->line_begins) {
		s->line_begins = false;
		s->at += hash;
		scan_directive(s, at);
		s->last = 0;
		return;
	}
	if (bracket && s->last == '[')
		refuse(s, at, "[[", "begins an attribute in another language's form: use "
		       "__attribute__((NAME)), or leave it out");
	s->last = bracket ? '[' : peek(s, 0);
	s->at += hash ? hash : bracket ? bracket : 1;
}

static void scan_text(struct scan *s)
{
	s->line_begins = true;
	while (s->at < s->len) {
		char c = peek(s, 0);

		if (c == '\n') {
			s->line_begins = true;
			s->at++;
			continue;
		}
		if (isspace((unsigned char)c)) {
			s->at++;
			continue;
		}
		if (skip_comment(s))
			continue;
		if (is_letter(c)) {
			scan_name(s);
		} else if (isdigit((unsigned char)c) ||
			   (c == '.' && isdigit((unsigned char)peek(s, 1)))) {
			skip_number(s);
		} else if (c == '"' || c == '\'') {
			skip_literal(s);
		} else {
			scan_sign(s);
			continue;
		}
		s->line_begins = false;
		s->last = 0;
	}
}

/* Bytes that other programs could read differently from the compiler. */
static void check_characters(struct scan *s)
{
	size_t i;

	for (i = 0; i < s->len; i++) {
		if (!s->text[i].c) {
			refuse(s, i, "a zero byte", "does not belong into source text");
			return;
		}
		if (s->text[i].c == '\r' && s->text[i + 1].c != '\n') {
			refuse(s, i, "a carriage return", "does not belong into a line");
			return;
		}
		if (s->text[i].c == '?' && i + 2 < s->len && s->text[i + 1].c == '?' &&
		    strchr("=/'()!<>-", s->text[i + 2].c)) {
			refuse(s, i, "a trigraph", "is not C as the kernel writes it: use the "
			       "character that is meant");
			return;
		}
	}
}

int main(int argc, char **argv)
{
	struct scan s = { .file = argc > 1 ? argv[1] : NULL };

	if (!stdio_fill())
		return FAILED;
	if (argc != 2 && argc != 3) {
		fprintf(stderr, "usage: %s FILE [OWN]\n", argv[0]);
		return FAILED;
	}
	s.text = text_load(s.file, &s.len);
	if (!s.text) {
		perror(s.file);
		return FAILED;
	}
	if (argc == 3) {
		s.own = text_lines(argv[2]);
		if (!s.own) {
			perror(argv[2]);
			return FAILED;
		}
	}
	s.facts = s.own ? NULL : fdopen(5, "w");
	check_characters(&s);
	scan_text(&s);
	if (s.own)
		print_up_to(&s, s.len);
	free(s.text);
	if (fflush(stdout) || (s.facts && fclose(s.facts)))
		return FAILED;
	return s.refused ? REFUSED : s.late ? LATE : ALLOWED;
}
