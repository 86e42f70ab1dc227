// SPDX-License-Identifier: MIT
/*
 * Finds the starter's comments (steps.h).
 *
 * Only comments count, and not those of a solution, which keeps its starter in the
 * #else branches of `#if LABnn >= k`.
 */
#include "steps.h"

#include <ctype.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PATH_LEN	1024
#define FILE_MAX_BYTES	(1u << 20)
#define NESTED_MAX	32

struct scan {
	const char *at;
	unsigned int line;
	unsigned int depth;	/* of braces */
	/* For each open condition: is this the starter's branch of a solution's file? */
	bool lab[NESTED_MAX], starter[NESTED_MAX];
	unsigned int nested;
};

/* Reads a whole regular file and appends a NUL; NULL when that fails. */
static char *read_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	struct stat sb;
	char *text = NULL;
	ssize_t n = -1;

	if (fd < 0)
		return NULL;
	if (!fstat(fd, &sb) && S_ISREG(sb.st_mode) && sb.st_size < FILE_MAX_BYTES)
		text = malloc((size_t)sb.st_size + 1);
	if (text)
		n = read(fd, text, (size_t)sb.st_size);
	close(fd);
	if (n < 0) {
		free(text);
		return NULL;
	}
	text[n] = '\0';
	return text;
}

/* Advances by one character, and counts lines. */
static void step_over(struct scan *s, size_t n)
{
	for (; n && *s->at; n--)
		s->line += *s->at++ == '\n';
}

static void skip_quoted(struct scan *s)
{
	char quote = *s->at;

	step_over(s, 1);
	while (*s->at && *s->at != quote && *s->at != '\n')
		step_over(s, *s->at == '\\' ? 2 : 1);
	if (*s->at == quote)
		step_over(s, 1);
}

/* #if, #else and #endif: other preprocessor lines do not matter. */
static void take_directive(struct scan *s)
{
	const char *word = s->at + 1 + strspn(s->at + 1, " \t");
	unsigned int top = s->nested ? s->nested - 1 : 0;

	if (!strncmp(word, "if", 2) && s->nested < NESTED_MAX) {
		s->lab[s->nested] = !strncmp(word, "if LAB", 6);
		s->starter[s->nested++] = false;
	} else if (!strncmp(word, "else", 4) && s->nested) {
		s->starter[top] = s->lab[top];
	} else if (!strncmp(word, "endif", 5) && s->nested) {
		s->nested--;
	}
	step_over(s, 1);
}

static bool in_starter(const struct scan *s)
{
	unsigned int i;

	for (i = 0; i < s->nested; i++)
		if (s->starter[i])
			return true;
	return false;
}

/* The length of "STEP 3:" at this place, or 0. */
static size_t parse_mark(const char *at, unsigned int *step)
{
	char *end;
	unsigned long n;

	if (strncmp(at, "STEP ", 5) || !isdigit((unsigned char)at[5]))
		return 0;
	n = strtoul(at + 5, &end, 10);
	if (*end != ':' || !n || n > LAB_STEPS)
		return 0;
	*step = (unsigned int)n;
	return (size_t)(end - at);
}

/* From a word at @at: does it begin a statement that no stub has? */
static bool begins_code(const char *at)
{
	static const char *const words[] = { "if (", "for (", "while (", "switch (", "goto " };
	size_t i;

	for (i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (!strncmp(at, words[i], strlen(words[i])))
			return true;
	return false;
}

/* Most statements of a stub: the starter drops a reference there, and returns. */
#define STUB_STATEMENTS	2

/*
 * Is there more than a stub behind the comment that ends here: in the rest of its block,
 * or, outside of any, in the next one?
 */
static bool is_followed_by_code(const struct scan *from, unsigned int depth)
{
	struct scan s = *from;
	unsigned int statements = 0, open = depth ? 1 : 0;

	while (*s.at) {
		if (s.at[0] == '/' && (s.at[1] == '*' || s.at[1] == '/')) {
			const char *end = strstr(s.at + 2, s.at[1] == '/' ? "\n" : "*/");

			if (!end)
				return false;
			s.at = end + 1;
			continue;
		}
		if (*s.at == '"' || *s.at == '\'') {
			skip_quoted(&s);
			continue;
		}
		if (*s.at == '{' && open++)
			return true;
		if (*s.at == '}' && open && !--open)
			return false;
		if (open && (begins_code(s.at) || (*s.at == ';' && ++statements > STUB_STATEMENTS)))
			return true;
		s.at++;
	}
	return false;
}

static void note_mark(struct scan *s, const char *file, unsigned int line, unsigned int step,
		      struct steps *steps)
{
	struct step_mark *marks = is_followed_by_code(s, s->depth) ? steps->stale : steps->left;

	if (step && !marks[step].file)
		marks[step] = (struct step_mark){ .file = file, .line = line };
}

static void scan_comment(struct scan *s, const char *file, struct steps *steps)
{
	const char *end = s->at[1] == '/' ? "\n" : "*/";
	unsigned int step, found = 0, line = 0;
	size_t n;

	step_over(s, 2);
	while (*s->at && strncmp(s->at, end, strlen(end))) {
		n = parse_mark(s->at, &step);
		if (n && !in_starter(s) && !found) {
			found = step;
			line = s->line;
		}
		step_over(s, n ? n : 1);
	}
	step_over(s, strlen(end));
	note_mark(s, file, line, found, steps);
}

static void scan_text(const char *text, const char *file, struct steps *steps)
{
	struct scan s = { .at = text, .line = 1 };
	bool begun = true;	/* only blanks precede it on its line */

	while (*s.at) {
		char c = *s.at;

		if (c == '/' && (s.at[1] == '*' || s.at[1] == '/'))
			scan_comment(&s, file, steps);
		else if (c == '"' || c == '\'')
			skip_quoted(&s);
		else if (c == '#' && begun)
			take_directive(&s);
		else
			step_over(&s, 1);
		if (c == '{')
			s.depth++;
		else if (c == '}' && s.depth)
			s.depth--;
		begun = c == '\n' || (begun && (c == ' ' || c == '\t'));
	}
}

void steps_find(const struct lab *lab, const char *dir, struct steps *steps)
{
	char path[PATH_LEN], *text;
	size_t i;

	memset(steps, 0, sizeof(*steps));
	for (i = 0; i < lab->file_count; i++) {
		if (snprintf(path, sizeof(path), "%s/%s", dir, lab->files[i]) >= (int)sizeof(path))
			continue;
		text = read_file(path);
		if (text)
			scan_text(text, lab->files[i], steps);
		free(text);
	}
}

unsigned int steps_first_left(const struct steps *steps, unsigned int step)
{
	unsigned int k;

	for (k = 1; k <= step && k <= LAB_STEPS; k++)
		if (steps->left[k].file)
			return k;
	return 0;
}
