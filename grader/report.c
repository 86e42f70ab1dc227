// SPDX-License-Identifier: MIT
/*
 * The run as text (report.h).
 */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "text.h"

#define WIDTH	92
#define INDENT	17

enum colour { PLAIN, GREEN, RED, YELLOW, DIM };

bool report_colour(FILE *out)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fileno(out)) && !(no && *no) && !(term && !strcmp(term, "dumb"));
}

static const char *paint(const struct report *report, enum colour colour)
{
	static const char *const codes[] = {
		[PLAIN] = "\033[0m", [GREEN] = "\033[32m", [RED] = "\033[1;31m",
		[YELLOW] = "\033[33m", [DIM] = "\033[2m",
	};

	return report->colour ? codes[colour] : "";
}

/* A line beginning with a word, then text that goes on below itself. */
static void field(const struct report *report, const char *name, const char *text)
{
	size_t column = INDENT;
	const char *p = text;

	fprintf(report->out, "       %s%-8s%s  ", paint(report, DIM), name, paint(report, PLAIN));
	while (*p) {
		size_t n = strcspn(p, " ");

		if (column > INDENT && column + 1 + n > WIDTH) {
			fprintf(report->out, "\n%*s", INDENT, "");
			column = INDENT;
		} else if (column > INDENT) {
			fputc(' ', report->out);
			column++;
		}
		fwrite(p, 1, n, report->out);
		column += n;
		p += n;
		p += strspn(p, " ");
	}
	fputc('\n', report->out);
}

static void headline(const struct report *report, const struct standing *standing,
		     const struct lab_test *test, bool as_above)
{
	static const char *const words[] = {
		[VERDICT_NOT_RUN] = "NOT-RUN", [VERDICT_PASS] = "PASS", [VERDICT_FAIL] = "FAIL",
		[VERDICT_TIMEOUT] = "TIMEOUT", [VERDICT_CRASH] = "CRASH",
	};
	enum colour colour = standing->status == VERDICT_PASS ? GREEN :
			     standing->status == VERDICT_NOT_RUN ? YELLOW : RED;

	fprintf(report->out, "%s%-7s%s %3u/%-3u  %s", paint(report, colour),
		words[standing->status], paint(report, PLAIN), standing->points, test->points,
		test->name);
	if (standing->outcome && standing->status != VERDICT_PASS &&
	    standing->flavour == FLAVOUR_DEBUG)
		fputs("  (debug kernel)", report->out);
	if (as_above)
		fputs("  for the same reason", report->out);
	fputc('\n', report->out);
}

static void source_lines(const struct report *report, const struct outcome *outcome)
{
	const struct decode_place *place = &outcome->place;
	int i;

	for (i = 0; i < 3; i++) {
		char line[sizeof(place->source[0])], tabs[2 * sizeof(line)];
		size_t n = 0;
		const char *p;

		/* Before cleaning: a tab is no stranger in source. */
		for (p = place->source[i]; *p && n + 4 < sizeof(tabs); p++)
			n += (size_t)sprintf(tabs + n, "%.*s", *p == '\t' ? 4 : 1,
					     *p == '\t' ? "    " : p);
		tabs[n] = '\0';
		text_clean(line, sizeof(line), tabs, n);
		if (*line)
			fprintf(report->out, "%*s%s %5u | %s\n", INDENT, "", i == 1 ? ">" : " ",
				place->line + (unsigned int)i - 1, line);
	}
}

static void where(const struct report *report, const struct outcome *outcome)
{
	char text[512], function[96];

	if (!outcome->where[0])
		return;
	text_clean(function, sizeof(function), outcome->place.function,
		   strlen(outcome->place.function));
	snprintf(text, sizeof(text), "%s%s%s%s", outcome->where,
		 outcome->placed && *function ? ", in " : "",
		 outcome->placed ? function : "", outcome->placed && *function ? "()" : "");
	field(report, "where", text);
	if (outcome->placed)
		source_lines(report, outcome);
}

/* Who freed what is used: the call that did, and below it who called that. */
static void freed(const struct report *report, const struct outcome *outcome)
{
	char text[sizeof(outcome->freed[0]) + 16];
	size_t i;

	for (i = 0; i < outcome->freed_count; i++) {
		snprintf(text, sizeof(text), "%s%s", i ? "called from " : "", outcome->freed[i]);
		field(report, i ? "" : "freed", text);
	}
}

static void log_path(const struct report *report, const struct standing *standing)
{
	static const char *const kernels[FLAVOURS] = { "fast", "debug" };
	char text[2048];

	if (standing->outcome->verdict.log[0]) {
		field(report, "log", standing->outcome->verdict.log);
		return;
	}
	snprintf(text, sizeof(text), "%s/%s-%s.log", report->dir, kernels[standing->flavour],
		 standing->status == VERDICT_CRASH || standing->status == VERDICT_TIMEOUT ||
		 standing->outcome->verdict.flooded ?
		 "console" : "tests");
	field(report, "log", text);
}

static void failure(const struct report *report, const struct lab_test *test,
		    const struct standing *standing)
{
	const struct verdict *v = &standing->outcome->verdict;
	char text[256];

	if (test->hidden)
		return;
	if (v->rule[0])
		field(report, "rule", v->rule);
	if (v->expected[0])
		field(report, "expected", v->expected);
	field(report, "seen", v->seen);
	if (standing->status == VERDICT_NOT_RUN) {
		log_path(report, standing);
		return;
	}
	where(report, standing->outcome);
	freed(report, standing->outcome);
	if (v->before) {
		if (v->splat.kind != SPLAT_NONE || v->log[0])
			log_path(report, standing);
		return;
	}
	if (v->flooded) {
		log_path(report, standing);
		return;
	}
	field(report, "hint", test->hints[0]);
	snprintf(text, sizeof(text), "make hint LAB=%s TEST=%s   for the next one", report->number,
		 test->name);
	field(report, "", text);
	log_path(report, standing);
}

/* The same reason for every test (it does not compile, does not load) is told once. */
static bool same_reason(const struct standing *a, const struct standing *b)
{
	/* The line that was last there differs from test to test. */
	if (a->outcome && b->outcome && a->flavour == b->flavour &&
	    a->outcome->verdict.flooded && b->outcome->verdict.flooded)
		return true;
	return a->outcome && b->outcome && a->status == b->status &&
	       a->flavour == b->flavour && a->status != VERDICT_PASS && b->outcome->verdict.rule[0] &&
	       !strcmp(a->outcome->verdict.rule, b->outcome->verdict.rule) &&
	       !strcmp(a->outcome->verdict.seen, b->outcome->verdict.seen);
}

static void notes(const struct report *report, const struct result_lab *lab, size_t test)
{
	size_t i;
	int f;

	for (f = 0; f < FLAVOURS; f++) {
		const struct verdict *v = &lab->outcomes[f][test].verdict;

		for (i = 0; lab->outcomes[f][test].there && i < v->note_count; i++)
			field(report, "remark", v->notes[i]);
		if (v->note_count)
			return;
	}
}

/* Chosen, but it needs the debug kernel, and this run has none. */
static bool wants_debug(const struct result_lab *lab, size_t test)
{
	return !lab->ran[FLAVOUR_DEBUG] && lab->selected[test] &&
	       lab->lab->tests[test].kernels == LAB_DEBUG;
}

/* What was left out, in one line; the points that it would give. */
static unsigned int not_run(const struct report *report, const struct result_lab *lab)
{
	unsigned int points = 0, count = 0;
	size_t i;

	for (i = 0; i < lab->lab->test_count; i++) {
		if (!wants_debug(lab, i))
			continue;
		if (count++)
			fputs(", ", report->out);
		else
			fprintf(report->out, "%sNOT RUN%s  ", paint(report, YELLOW),
				paint(report, PLAIN));
		fputs(lab->lab->tests[i].name, report->out);
		points += lab->lab->tests[i].points;
	}
	if (count)
		fprintf(report->out, ": DEBUG=1 runs %s, for %u more points\n",
			count > 1 ? "them" : "it", points);
	return points;
}

static void tell(struct report *report, const struct result_lab *lab)
{
	const struct lab_test *test = &lab->lab->tests[report->next];
	struct standing standing;
	bool as_above;

	if (!report->next)
		fprintf(report->out, "%s: %s\n", lab->lab->name, lab->lab->title);
	result_standing(lab, report->next, &standing);
	if (lab->selected[report->next] &&
	    (standing.status != VERDICT_NOT_RUN || standing.outcome)) {
		as_above = same_reason(&report->last, &standing);
		headline(report, &standing, test, as_above);
		notes(report, lab, report->next);
		if (standing.status != VERDICT_PASS && !as_above)
			failure(report, test, &standing);
		report->last = standing;
	}
	report->next++;
}

void report_tests(struct report *report, const struct result_lab *lab)
{
	while (report->next < lab->lab->test_count && result_settled(lab, report->next))
		tell(report, lab);
	fflush(report->out);
}

void report_lab(struct report *report, const struct result_lab *lab)
{
	unsigned int score, max, left_out;
	size_t i;

	while (report->next < lab->lab->test_count)
		tell(report, lab);
	for (i = 0; i < lab->remark_count; i++)
		fprintf(report->out, "remark: %s\n", lab->remarks[i]);
	left_out = not_run(report, lab);
	result_score(lab, &score, &max);
	if (!max && left_out)
		fprintf(report->out, "%s: no test ran, for what was chosen runs on the debug kernel "
			"only: add DEBUG=1\n", lab->lab->name);
	else
		fprintf(report->out, "%s: %u of %u points in %.1f s\n", lab->lab->name, score, max,
			lab->seconds);
}

void report_end(FILE *out, const struct result *result, bool debug, const char *command)
{
	unsigned int score = 0, max = 0, s, m;
	size_t i;

	for (i = 0; i < result->lab_count; i++) {
		result_score(&result->labs[i], &s, &m);
		score += s;
		max += m;
	}
	if (result->lab_count > 1)
		fprintf(out, "all: %u of %u points\n", score, max);
	fprintf(out, "seed %" PRIu64 "; again: %s SEED=%" PRIu64 "%s\n", result->seed, command,
		result->seed, debug ? " DEBUG=1" : "");
}
