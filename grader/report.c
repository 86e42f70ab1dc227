// SPDX-License-Identifier: MIT
/*
 * The run as text (report.h).
 */
#include "report.h"

#include <fnmatch.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cause.h"
#include "report_priv.h"

#define LIST_MAX	4096

bool report_colour(FILE *out)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(fileno(out)) && !(no && *no) && !(term && !strcmp(term, "dumb"));
}

static void notes(const struct report *report, const struct result_lab *lab, size_t test)
{
	size_t i;
	int f;

	for (f = 0; f < FLAVOURS; f++) {
		const struct verdict *v = &lab->outcomes[f][test].verdict;

		for (i = 0; lab->outcomes[f][test].there && i < v->note_count; i++)
			report_field(report, "remark", v->notes[i]);
		if (v->note_count)
			return;
	}
}

/* An earlier test that failed for the same reason and was reported in full, or NULL. */
static const struct lab_test *told_before(const struct report *report,
					  const struct result_lab *lab,
					  const struct standing *standing)
{
	struct standing other;
	size_t i;

	for (i = 0; i < report->next; i++) {
		if (report->told[i] != TOLD_WHOLE || lab->lab->tests[i].hidden)
			continue;
		result_standing(lab, i, &other);
		if (cause_same(&other, standing))
			return &lab->lab->tests[i];
	}
	return NULL;
}

/*
 * If a step is not written, its code fails without further explanation.  Report a crash,
 * because no stub crashes, unless an earlier test has shown the same one.
 */
static bool waits_for_step(const struct report *report, const struct lab_test *test,
			   const struct standing *standing, bool known)
{
	const struct verdict *v = &standing->outcome->verdict;

	return report->steps && report->steps->left[test->step].file && !v->before &&
	       !v->flooded && !test->hidden && (standing->status != VERDICT_CRASH || known);
}

static enum report_told tell_failure(const struct report *report, const struct result_lab *lab,
				     const struct standing *standing)
{
	const struct lab_test *test = &lab->lab->tests[report->next], *first;
	char remark[LAB_NAME + 40];

	first = test->hidden ? NULL : told_before(report, lab, standing);
	if (waits_for_step(report, test, standing, first))
		return TOLD_BY_STEP;
	if (first && standing->outcome->verdict.before)
		return TOLD_BY_REASON;
	if (first) {
		snprintf(remark, sizeof(remark), "  as above (first seen in `%s`)", first->name);
		report_headline(report, standing, test, remark);
		return TOLD_AS_ABOVE;
	}
	report_headline(report, standing, test, "");
	return TOLD_WHOLE;
}

static void tell(struct report *report, const struct result_lab *lab)
{
	const struct lab_test *test = &lab->lab->tests[report->next];
	enum report_told told = TOLD_WHOLE;
	struct standing standing;
	char remark[120];

	if (!report->next)
		fprintf(report->out, "%s: %s\n", lab->lab->name, lab->lab->title);
	result_standing(lab, report->next, &standing);
	if (!lab->selected[report->next] ||
	    (standing.status == VERDICT_NOT_RUN && !standing.outcome)) {
		report->next++;
		return;
	}
	if (standing.status > VERDICT_PASS) {
		told = tell_failure(report, lab, &standing);
	} else if (standing.outcome && standing.outcome->given_up) {
		snprintf(remark, sizeof(remark), ": %.100s", standing.outcome->verdict.seen);
		report_headline(report, &standing, test, remark);
		told = TOLD_AS_ABOVE;
	} else {
		report_headline(report, &standing, test, "");
	}
	if (told == TOLD_WHOLE || told == TOLD_AS_ABOVE)
		notes(report, lab, report->next);
	if (told == TOLD_WHOLE && standing.status != VERDICT_PASS)
		report_failure(report, test, &standing);
	report->told[report->next++] = told;
}

/* Names separated by commas, as many as fit, with their number and points. */
struct list {
	char text[LIST_MAX];
	size_t len;
	unsigned int count, points;
};

static void list_add(struct list *list, const struct lab_test *test)
{
	int n = snprintf(list->text + list->len, LIST_MAX - list->len, "%s%s",
			 list->count ? ", " : "", test->name);

	if (n > 0 && (size_t)n < LIST_MAX - list->len)
		list->len += (size_t)n;
	list->count++;
	list->points += test->points;
}

/* Failures that share one line at the end: those of a step, or (0) those with one reason. */
static void tell_together(const struct report *report, const struct result_lab *lab,
			  enum report_told told, unsigned int step)
{
	const struct step_mark *mark = step ? &report->steps->left[step] : NULL;
	struct list list = { .count = 0 };
	char text[LIST_MAX + 200], why[160];
	size_t i;

	for (i = 0; i < lab->lab->test_count; i++)
		if (report->told[i] == told && (!step || lab->lab->tests[i].step == step))
			list_add(&list, &lab->lab->tests[i]);
	if (!list.count)
		return;
	if (mark)
		snprintf(why, sizeof(why), "STEP %u is not written yet (%s, line %u)", step,
			 mark->file, mark->line);
	else
		snprintf(why, sizeof(why), "%u more, for the same reason", list.count);
	snprintf(text, sizeof(text), "%s: %s", why, list.text);
	fprintf(report->out, "%sFAIL   %s   0/%-3u  ", report_paint(report, RED),
		report_paint(report, PLAIN), list.points);
	report_words(report, INDENT, text);
}

/* The test was chosen, but it needs the debug kernel, and this run has none. */
static bool wants_debug(const struct result_lab *lab, size_t test)
{
	return !lab->ran[FLAVOUR_DEBUG] && lab->selected[test] &&
	       lab->lab->tests[test].kernels == LAB_DEBUG;
}

/* Was nothing chosen but what needs the debug kernel? */
static bool only_debug(const struct result_lab *lab)
{
	size_t i;

	for (i = 0; i < lab->lab->test_count; i++)
		if (lab->selected[i] && !wants_debug(lab, i))
			return false;
	return true;
}

static void tell_not_run(const struct report *report, const char *text)
{
	fprintf(report->out, "%sNOT RUN%s  ", report_paint(report, YELLOW),
		report_paint(report, PLAIN));
	report_words(report, strlen("NOT RUN  "), text);
}

/* The tests that need the debug kernel, in one line, and their points. */
static unsigned int left_to_debug(const struct report *report, const struct result_lab *lab)
{
	struct list list = { .count = 0 };
	char text[LIST_MAX + 240];
	size_t i;

	for (i = 0; i < lab->lab->test_count; i++)
		if (wants_debug(lab, i))
			list_add(&list, &lab->lab->tests[i]);
	snprintf(text, sizeof(text), "%s: DEBUG=1 runs %s, for %u more points%s",
		 list.text, list.count > 1 ? "them" : "it", list.points,
		 lab->lab->library ? "" : ", and finds what no other test sees: wrong lock order, "
		 "use after free, sleeping in atomic context, leaks");
	if (list.count)
		tell_not_run(report, text);
	return list.points;
}

/* "; STEPs 3, 4 are still in agate_gem.c": the steps from @first on that are not written yet. */
static void add_steps_left(const struct report *report, unsigned int first, char *text,
			   size_t size)
{
	const char *file = NULL;
	unsigned int k, count = 0;
	char numbers[4 * LAB_STEPS] = "";
	size_t n = 0;

	for (k = first; report->steps && k <= LAB_STEPS; k++) {
		if (!report->steps->left[k].file)
			continue;
		file = report->steps->left[k].file;
		n += (size_t)sprintf(numbers + n, "%s%u", count++ ? ", " : "", k);
	}
	n = strlen(text);
	if (count)
		snprintf(text + n, size - n, "; STEP%s %s %s still in %s", count > 1 ? "s" : "",
			 numbers, count > 1 ? "are" : "is", file);
}

/* The tests of steps after the chosen one, in one line. */
static void left_to_steps(const struct report *report, const struct result_lab *lab)
{
	unsigned int lowest = LAB_STEPS, highest = 0;
	struct list list = { .count = 0 };
	char text[400];
	size_t i;

	for (i = 0; report->step && i < lab->lab->test_count; i++) {
		const struct lab_test *test = &lab->lab->tests[i];

		if (test->step <= report->step ||
		    (report->glob && fnmatch(report->glob, test->name, 0)))
			continue;
		list_add(&list, test);
		lowest = test->step < lowest ? test->step : lowest;
		highest = test->step > highest ? test->step : highest;
	}
	if (!list.count)
		return;
	if (lowest == highest)
		snprintf(text, sizeof(text), "%u test%s of step %u, for %u points", list.count,
			 list.count > 1 ? "s" : "", lowest, list.points);
	else
		snprintf(text, sizeof(text), "%u tests of steps %u to %u, for %u points",
			 list.count, lowest, highest, list.points);
	add_steps_left(report, report->step + 1, text, sizeof(text));
	tell_not_run(report, text);
}

/* Comments of steps that are written: nothing fails because of them. */
static void tell_stale_comments(const struct report *report)
{
	unsigned int k;

	for (k = 1; report->steps && k <= LAB_STEPS; k++) {
		const struct step_mark *mark = &report->steps->stale[k];

		if (mark->file)
			fprintf(report->out, "remark: the comment STEP %u still stands in %s, line %u: "
				"remove it when the step is written\n", k, mark->file, mark->line);
	}
}

void report_tests(struct report *report, const struct result_lab *lab)
{
	while (report->next < lab->lab->test_count && result_settled(lab, report->next))
		tell(report, lab);
	fflush(report->out);
}

void report_lab(struct report *report, const struct result_lab *lab)
{
	unsigned int score, max, left_out, k;
	size_t i;

	while (report->next < lab->lab->test_count)
		tell(report, lab);
	tell_together(report, lab, TOLD_BY_REASON, 0);
	for (k = 1; report->steps && k <= LAB_STEPS; k++)
		tell_together(report, lab, TOLD_BY_STEP, k);
	for (i = 0; i < lab->remark_count; i++)
		fprintf(report->out, "remark: %s\n", lab->remarks[i]);
	tell_stale_comments(report);
	left_to_steps(report, lab);
	left_out = left_to_debug(report, lab);
	result_score(lab, &score, &max);
	if (!max && left_out && !only_debug(lab))
		fprintf(report->out, "%s: no test has a verdict\n", lab->lab->name);
	else if (!max && left_out)
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
