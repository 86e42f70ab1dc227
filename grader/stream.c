// SPDX-License-Identifier: MIT
/*
 * Taking a test's streams apart (stream.h).
 */
#include "stream.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void fault(char *out, size_t size, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* The first fault is the one to report. */
static void fault(char *out, size_t size, const char *fmt, ...)
{
	va_list ap;

	if (out[0])
		return;
	va_start(ap, fmt);
	vsnprintf(out, size, fmt, ap);
	va_end(ap);
}

/* The next line without its end; false when none is left.  @whole: it had an end. */
static bool next_line(struct span *rest, struct span *line, bool *whole)
{
	const char *end;

	if (!rest->len)
		return false;
	end = memchr(rest->text, '\n', rest->len);
	*whole = end;
	line->text = rest->text;
	line->len = end ? (size_t)(end - rest->text) : rest->len;
	rest->text += line->len + (end ? 1 : 0);
	rest->len -= line->len + (end ? 1 : 0);
	return true;
}

static bool is(const struct span *line, const char *text)
{
	return line->len == strlen(text) && !memcmp(line->text, text, line->len);
}

/* The text after WORD and a space; false when the line does not begin with them. */
static bool after(const struct span *line, const char *word, struct span *rest)
{
	size_t n = strlen(word);

	if (line->len < n + 1 || memcmp(line->text, word, n) || line->text[n] != ' ')
		return false;
	rest->text = line->text + n + 1;
	rest->len = line->len - n - 1;
	return true;
}

static bool parse_number(const char *text, size_t len, int64_t *value)
{
	bool negative = len && *text == '-';
	uint64_t n = 0;
	size_t i = negative;

	if (i == len || len - i > 19)
		return false;
	for (; i < len; i++) {
		if (!isdigit((unsigned char)text[i]))
			return false;
		n = n * 10 + (uint64_t)(text[i] - '0');
	}
	if (n > (uint64_t)INT64_MAX + negative)
		return false;
	*value = negative ? (int64_t)-n : (int64_t)n;
	return true;
}

static void report_see(struct stream_report *r, const struct span *words)
{
	const char *space = memchr(words->text, ' ', words->len);
	size_t n = space ? (size_t)(space - words->text) : words->len;
	struct report_see see;
	int64_t value;

	if (!n || n >= sizeof(see.name) || !space ||
	    !parse_number(space + 1, words->len - n - 1, &value)) {
		fault(r->fault, sizeof(r->fault), "a SEE that is not a name and a number");
		return;
	}
	memset(&see, 0, sizeof(see));
	memcpy(see.name, words->text, n);
	see.value = value;
	if (report_see_named(r, see.name))
		fault(r->fault, sizeof(r->fault), "an observation that was made twice");
	else if (r->see_count == REPORT_SEES)
		fault(r->fault, sizeof(r->fault), "more than %d observations", REPORT_SEES);
	else
		r->sees[r->see_count++] = see;
}

static void report_line(struct stream_report *r, const struct span *line, const char *nonce)
{
	struct span rest;

	if (after(line, "SEE", &rest)) {
		report_see(r, &rest);
	} else if (after(line, "RULE", &rest)) {
		r->rule = rest;
	} else if (after(line, "EXPECTED", &rest)) {
		r->expected = rest;
	} else if (after(line, "SEEN", &rest)) {
		r->seen = rest;
	} else if (after(line, "BLIND", &rest)) {
		r->blind = rest;
	} else if (after(line, "NOTE", &rest)) {
		if (r->note_count < REPORT_NOTES)
			r->notes[r->note_count++] = rest;
	} else if (after(line, "DONE", &rest)) {
		r->done = is(&rest, nonce);
		if (!r->done)
			fault(r->fault, sizeof(r->fault), "DONE with a wrong nonce");
	} else {
		fault(r->fault, sizeof(r->fault), "a report that makes no sense");
	}
}

void report_parse(const char *text, size_t len, size_t at_go, const char *nonce,
		  struct stream_report *report)
{
	const size_t ready = strlen(READY_LINE);
	struct span rest = { text, len }, line;
	bool whole, ended = false;

	memset(report, 0, sizeof(*report));
	if (len < ready || memcmp(text, READY_LINE, ready)) {
		fault(report->fault, sizeof(report->fault), "no READY");
		return;
	}
	if (at_go != ready)
		fault(report->fault, sizeof(report->fault), "words between READY and GO");
	rest.text += ready;
	rest.len -= ready;
	while (next_line(&rest, &line, &whole)) {
		if (ended)
			fault(report->fault, sizeof(report->fault), "words after DONE");
		else if (line.len > REPORT_LINE)
			fault(report->fault, sizeof(report->fault), "a line of more than %d bytes",
			      REPORT_LINE);
		else if (!whole)
			fault(report->fault, sizeof(report->fault), "a report cut off mid-line");
		else
			report_line(report, &line, nonce);
		ended = ended || (line.len >= 4 && !memcmp(line.text, "DONE", 4));
	}
	report->cut = !ended && !report->fault[0];
	if (!ended)
		fault(report->fault, sizeof(report->fault), "no DONE");
	report->done = report->done && !report->fault[0];
}

const struct report_see *report_see_named(const struct stream_report *report, const char *name)
{
	size_t i;

	for (i = 0; i < report->see_count; i++)
		if (!strcmp(report->sees[i].name, name))
			return &report->sees[i];
	return NULL;
}

/* "1..N", followed by any text. */
static bool is_plan(const struct span *line)
{
	size_t i = 0;

	while (i < line->len && isdigit((unsigned char)line->text[i]))
		i++;
	return i && i + 2 <= line->len && !memcmp(line->text + i, "..", 2);
}

/* "ok" as a separate word. */
static bool is_result(const struct span *line, const char *word)
{
	size_t n = strlen(word);

	return line->len >= n && !memcmp(line->text, word, n) &&
	       (line->len == n || !isalnum((unsigned char)line->text[n]));
}

void tap_parse(const char *text, size_t len, const char *name, struct tap *tap)
{
	struct span rest = { text, len }, line, words;
	unsigned int plans = 0, results = 0;
	bool whole, ok = false, not_ok = false;
	char wanted[LAB_NAME + 16];

	memset(tap, 0, sizeof(*tap));
	snprintf(wanted, sizeof(wanted), "ok 1 - %s", name);
	while (next_line(&rest, &line, &whole)) {
		if (!whole)
			fault(tap->fault, sizeof(tap->fault), "output cut off mid-line");
		if (is_plan(&line)) {
			plans++;
			if (!is(&line, "1..1"))
				fault(tap->fault, sizeof(tap->fault), "a plan that is not 1..1");
		} else if (is_result(&line, "ok")) {
			results++;
			ok = is(&line, wanted);
			if (!ok)
				fault(tap->fault, sizeof(tap->fault), "a result of another test");
		} else if (is_result(&line, "not ok")) {
			results++;
			not_ok = true;
		} else if (is_result(&line, "Bail out!")) {
			fault(tap->fault, sizeof(tap->fault), "the test program gave up");
		} else if (after(&line, "#", &words) && not_ok && !tap->first_words.text) {
			tap->first_words = words;
		}
	}
	if (!plans || !results)
		fault(tap->fault, sizeof(tap->fault), plans ? "a plan, but no result" :
		      results ? "a result, but no plan" : "neither a plan nor a result");
	if (plans > 1)
		fault(tap->fault, sizeof(tap->fault), "%u plans", plans);
	if (results > 1)
		fault(tap->fault, sizeof(tap->fault), "%u results", results);
	tap->passed = ok && !not_ok && !tap->fault[0];
	tap->failed = not_ok && !tap->fault[0];
}
