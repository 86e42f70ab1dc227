// SPDX-License-Identifier: MIT
/*
 * agate-scan-expanded: does a lab's file, after all macros, contain only allowed text?
 *
 * usage: agate-scan-expanded FILE POISON OWN
 *
 * Standard input is the output of `gcc -E -dD FILE`: the text after macro expansion, with
 * all macro definitions, and the file and line of everything.  agate-scan-source reads
 * FILE itself and sees the words that stand there; this program sees what becomes of them.
 * It prints a line "FILE:LINE: error: WHY" for each of these:
 *
 * - FILE defines a name that a header defines, or knows.  The header's macros then expand
 *   to something that their author did not write, and some of them expand to assembly.
 * - FILE's lines expand to an attribute that neither scan-words.h allows nor the macros of
 *   the kernel's headers use, or to a section whose name is more than a name.
 * - FILE's lines expand to assembly with a directive that no macro of the kernel uses, or
 *   with a string that no macro of the headers has.
 *
 * The file POISON gets the words of scan-words.h, with the headers' names that match a pattern
 * there: included in front of FILE, it makes the preprocessor report each of them that FILE
 * uses, even when it is pasted together.  The file POISON.words gets those that are no macros.
 * The file OWN gets the macros that FILE defines before it includes a header, for
 * agate-scan-source to hide them from it.
 *
 * Exit status: 0; 1 for wrong usage or a failure of the machine; 10 when something is not
 * allowed.
 */
#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "agate_stdio.h"
#include "scan-macros.h"
#include "scan-words.h"

#define LINE_SIZE	65536		/* of a directive; what is longer is cut */
#define NAME_SIZE	128
#define TOKEN_SIZE	65536
#define TEMPLATE_SIZE	65536
#define DEPTH_MAX	64

enum { ALLOWED, FAILED = 1, REFUSED = 10 };

enum kind { END, NAME, STRING, SIGN, OTHER };

struct scan {
	const char *file;
	size_t dir;		/* the length of FILE's folder, with the slash */
	bool mine;		/* the line is one of FILE's folder */
	unsigned int line;
	bool line_begins;
	char place[PATH_MAX];	/* the file of this line */
	struct macros macros;
	unsigned int depth;
	char token[TOKEN_SIZE];
	char template[TEMPLATE_SIZE];
	bool refused;
	unsigned int refused_line;
};

__attribute__((format(printf, 3, 4)))
static void refuse(struct scan *s, unsigned int line, const char *format, ...)
{
	va_list args;

	/* One macro may do the same many times. */
	if (line == s->refused_line)
		return;
	s->refused_line = line;
	printf("%s:%u: error: ", s->mine ? s->place : s->file, line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	putchar('\n');
	s->refused = true;
}

/* 12 "path" 1: the next line is line 12 of that file */
static void line_marker(struct scan *s, const char *text)
{
	char *rest;
	unsigned long line = strtoul(text, &rest, 10);
	size_t n = 0;

	s->line = (unsigned int)line;
	rest += strspn(rest, " \"");
	while (*rest && *rest != '"' && n < sizeof(s->place) - 1) {
		rest += *rest == '\\' && rest[1];
		s->place[n++] = *rest++;
	}
	s->place[n] = '\0';
	/* Line 0 is where the compiler's own macros are. */
	s->mine = line && (strcmp(s->place, s->file) == 0 ||
			   (s->dir && strncmp(s->place, s->file, s->dir) == 0));
	macros_marker(&s->macros, s->mine || !line ? NULL : s->place);
}

/* A directive has its # in the first column; what macros expand to never has. */
static void directive(struct scan *s)
{
	static char text[LINE_SIZE];
	size_t n = 0;
	int c;

	while ((c = getchar_unlocked()) != EOF && c != '\n')
		if (n < sizeof(text) - 1)
			text[n++] = (char)c;
	text[n] = '\0';
	if (strncmp(text, "define ", 7) == 0 || strncmp(text, "undef ", 6) == 0)
		macros_directive(&s->macros, text, s->mine ? s->place : NULL, s->line);
	if (text[0] == ' ' && isdigit((unsigned char)text[1]))
		line_marker(s, text + 1);
	else
		s->line++;
}

/* Of a header's line only the names matter that a pattern in scan-words.h may mean. */
static void skip_line(struct scan *s, int c)
{
	char name[NAME_SIZE];
	size_t n = 0;

	for (;; c = getchar_unlocked()) {
		if (c != EOF && is_name(c)) {
			if (n < sizeof(name) - 1)
				name[n++] = (char)c;
			continue;
		}
		name[n] = '\0';
		if (n)
			macros_header_name(&s->macros, name);
		n = 0;
		if (c == EOF || c == '\n')
			break;
	}
	s->line++;
}

/* A name, a number (also 1e+4), or whatever else consists of these characters. */
static enum kind word(struct scan *s, int c)
{
	bool number = isdigit(c);
	size_t n = 0;

	for (; c != EOF && (is_name(c) || (number && c == '.')); c = getchar_unlocked())
		if (n < sizeof(s->token) - 1)
			s->token[n++] = (char)c;
	s->token[n] = '\0';
	ungetc(c, stdin);
	return number ? OTHER : NAME;
}

/* A string without its quotes, or a character; the escapes stay. */
static enum kind literal(struct scan *s, int quote)
{
	size_t n = 0;
	int c;

	while ((c = getchar_unlocked()) != EOF && c != quote && c != '\n') {
		if (n < sizeof(s->token) - 2)
			s->token[n++] = (char)c;
		if (c != '\\')
			continue;
		c = getchar_unlocked();
		if (n < sizeof(s->token) - 1)
			s->token[n++] = (char)c;
	}
	s->token[n] = '\0';
	if (n >= sizeof(s->token) - 2)
		refuse(s, s->line, "a string of more than %d characters is too long", TOKEN_SIZE);
	return quote == '"' ? STRING : OTHER;
}

/* A sign, by whichever of its spellings: <: and :> are brackets, <% and %> braces, %: is #. */
static char sign(int c)
{
	static const char digraphs[][3] = { "<:[", ":>]", "<%{", "%>}", "%:#" };
	int after = getchar_unlocked();
	size_t i;

	for (i = 0; i < COUNT(digraphs); i++)
		if (c == digraphs[i][0] && after == digraphs[i][1])
			return digraphs[i][2];
	ungetc(after, stdin);
	return (char)c;
}

/*
 * The next token of FILE's lines, in s->token; between the parentheses of an attribute or of
 * assembly the next token of any line.
 */
static enum kind next(struct scan *s)
{
	int c;

	while ((c = getchar_unlocked()) != EOF) {
		bool begins = s->line_begins;

		s->line_begins = c == '\n';
		if (begins && c == '#') {
			directive(s);
			s->line_begins = true;
		} else if (begins && c != '\n' && !s->mine && !s->depth) {
			skip_line(s, c);
			s->line_begins = true;
		} else if (c == '\n') {
			s->line++;
		} else if (c == '"' || c == '\'') {
			return literal(s, c);
		} else if (is_name(c)) {
			return word(s, c);
		} else if (!isspace(c)) {
			s->token[0] = sign(c);
			s->token[1] = '\0';
			return SIGN;
		}
	}
	return END;
}

static bool is_sign(const struct scan *s, enum kind kind, char sign)
{
	return kind == SIGN && s->token[0] == sign;
}

/*
 * The character that an escape in a string stands for; 0 for those that the kernel's assembly
 * does without, by which text could hide.
 */
static char unescape(char c)
{
	static const char escapes[] = "n\nt\t\"\"\\\\";
	const char *found = strchr(escapes, c);

	return found && (found - escapes) % 2 == 0 ? found[1] : '\0';
}

/* May an instruction begin behind this part of a template? */
static bool instruction_begins(const char *template, size_t len)
{
	while (len && (template[len - 1] == ' ' || template[len - 1] == '\t'))
		len--;
	return !len || strchr("\n;:", template[len - 1]);
}

/*
 * Is this string one of a header's macros, or a piece that they make of a name, a number or an
 * operand's number?  Anything else in assembly is the student's, and so is a piece with which an
 * instruction begins: what a macro makes of a name is an operand, or the end of a word.
 */
static bool from_headers(const struct scan *s, size_t len)
{
	static const char plain[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_ ()[]*+<>|&~-";
	const char *operand = s->token + (s->token[0] == '%');

	if (macros_header_string(&s->macros, s->token))
		return true;
	if (isalpha((unsigned char)s->token[strspn(s->token, " ")]) &&
	    instruction_begins(s->template, len))
		return false;
	return (operand == s->token ? !operand[strspn(operand, plain)] :
		!operand[strspn(operand, "abcdefghijklmnopqrstuvwxyz0123456789")]);
}

static size_t add_string(struct scan *s, size_t len)
{
	const char *text = s->token;

	while (*text && len < sizeof(s->template) - 1) {
		char c = *text++;

		if (c == '\\' && *text)
			c = unescape(*text++);
		if (!c)
			refuse(s, s->line, "assembly with an escape other than \\n and \\t, which no "
			       "lab allows: use the kernel's ordinary helpers");
		s->template[len++] = c ? c : '?';
	}
	s->template[len] = '\0';
	return len;
}

static bool is_directive(const char *word)
{
	return matches_any(assembler, COUNT(assembler), word);
}

/*
 * Looks for directives (".word") in assembly.  A dot by itself is the current address;
 * nothing may follow it that the compiler or the assembler would turn into a word.
 */
static void check_template(struct scan *s, unsigned int line)
{
	const char *text = s->template;

	if (strlen(text) == sizeof(s->template) - 1)
		refuse(s, line, "assembly of more than %d characters is too long", TEMPLATE_SIZE);
	while ((text = strchr(text, '.'))) {
		size_t n = 1, i;
		char word[64];

		if (text > s->template && (is_name((unsigned char)text[-1]) || text[-1] == '.')) {
			text++;
			continue;
		}
		while (is_name((unsigned char)text[n]) || text[n] == '.')
			n++;
		snprintf(word, sizeof(word), "%.*s", (int)(n < sizeof(word) ? n : sizeof(word) - 1),
			 text);
		for (i = 0; word[i]; i++)
			word[i] = (char)tolower((unsigned char)word[i]);
		if (n > 1 ? !is_directive(word) : text[1] && !strchr(" \t\n;,)-+*", text[1])) {
			refuse(s, line, "the macros here give `%s%s` to the assembler, which no lab "
			       "allows: use the kernel's ordinary helpers", word,
			       n > 1 ? "" : "...");
			return;
		}
		text += n;
	}
}

/* Behind the word asm: reads its template, up to the operands or the end. */
static void scan_asm(struct scan *s)
{
	unsigned int line = s->line, depth = 0;
	size_t len = 0;
	enum kind kind;

	s->template[0] = '\0';
	s->depth++;
	while ((kind = next(s)) != END) {
		if (kind == STRING && depth && !from_headers(s, len))
			refuse(s, s->line, "the macros here give `%.64s` to the assembler, which is "
			       "no text of theirs: use the kernel's ordinary helpers", s->token);
		if (kind == STRING && depth)
			len = add_string(s, len);
		depth += is_sign(s, kind, '(');
		if (is_sign(s, kind, ')') && depth)
			depth--;
		/* Before the parenthesis there may be `volatile` and such. */
		if (!depth && kind != NAME)
			break;
		if (is_sign(s, kind, ':'))
			break;
	}
	s->depth--;
	check_template(s, line);
}

static void scan_attribute(struct scan *s);

static void scan_token(struct scan *s, enum kind kind)
{
	if (kind != NAME)
		return;
	if (listed(asm_names, COUNT(asm_names), s->token))
		scan_asm(s);
	else if (strcmp(s->token, "__attribute__") == 0 || strcmp(s->token, "__attribute") == 0)
		scan_attribute(s);
}

static bool check_attribute(struct scan *s, bool *section)
{
	char name[128];
	size_t n;

	snprintf(name, sizeof(name), "%s", s->token + (strncmp(s->token, "__", 2) ? 0 : 2));
	n = strlen(name);
	if (n > 2 && strcmp(name + n - 2, "__") == 0)
		name[n - 2] = '\0';
	*section = strcmp(name, "section") == 0;
	return listed(attributes, COUNT(attributes), name) ||
	       listed(header_attributes, COUNT(header_attributes), name);
}

/* Behind the word __attribute__. */
static void scan_attribute(struct scan *s)
{
	static const char letters[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.";
	unsigned int depth = 0;
	bool begins = false, section = false;
	enum kind kind;

	if (s->depth == DEPTH_MAX) {
		refuse(s, s->line, "attributes within attributes are nested too deeply");
		return;
	}
	s->depth++;
	while ((kind = next(s)) != END) {
		if (kind == NAME && begins) {
			if (!check_attribute(s, &section))
				refuse(s, s->line, "the macros here make __attribute__((%.64s)), "
				       "which is not allowed in a lab's file: leave it out", s->token);
		} else if (kind == STRING && section && s->token[strspn(s->token, letters)]) {
			refuse(s, s->line, "the macros here make a section whose name is more than "
			       "a name, which no lab allows: leave it out");
		} else {
			scan_token(s, kind);
		}
		begins = depth + is_sign(s, kind, '(') == 2 &&
			 (is_sign(s, kind, '(') || is_sign(s, kind, ','));
		depth += is_sign(s, kind, '(');
		if (is_sign(s, kind, ')') && depth)
			depth--;
		if (!depth)
			break;
	}
	s->depth--;
}

static void scan_text(struct scan *s)
{
	bool bracket = false;
	enum kind kind;

	s->line_begins = true;
	while ((kind = next(s)) != END) {
		if (bracket && is_sign(s, kind, '['))
			refuse(s, s->line, "the macros here make [[, which begins an attribute in "
			       "another language's form: leave it out");
		bracket = is_sign(s, kind, '[');
		scan_token(s, kind);
	}
}

int main(int argc, char **argv)
{
	static struct scan s;
	const char *slash;

	if (!stdio_fill())
		return FAILED;
	if (argc != 4) {
		fprintf(stderr, "usage: %s FILE POISON OWN <PREPROCESSED\n", argv[0]);
		return FAILED;
	}
	s.file = argv[1];
	slash = strrchr(s.file, '/');
	s.dir = slash ? (size_t)(slash - s.file) + 1 : 0;
	macros_begin(&s.macros, argv[2]);
	scan_text(&s);
	s.refused |= macros_end(&s.macros, s.file, argv[3]);
	if (ferror(stdin) || fflush(stdout))
		return FAILED;
	return s.refused ? REFUSED : ALLOWED;
}
