// SPDX-License-Identifier: MIT
/*
 * The part of the report about one test (report_priv.h).
 */
#include <stdlib.h>
#include <string.h>

#include "hint.h"
#include "report_priv.h"
#include "text.h"

const char *report_paint(const struct report *report, enum colour colour)
{
	static const char *const codes[] = {
		[PLAIN] = "\033[0m", [GREEN] = "\033[32m", [RED] = "\033[1;31m",
		[YELLOW] = "\033[33m", [DIM] = "\033[2m",
	};

	return report->colour ? codes[colour] : "";
}

void report_words(const struct report *report, size_t column, const char *text)
{
	const size_t begin = column;

	while (*text) {
		size_t n = strcspn(text, " ");

		if (column > begin && column + 1 + n > WIDTH) {
			fprintf(report->out, "\n%*s", INDENT, "");
			column = INDENT;
		} else if (column > begin) {
			fputc(' ', report->out);
			column++;
		}
		fwrite(text, 1, n, report->out);
		column += n;
		text += n;
		text += strspn(text, " ");
	}
	fputc('\n', report->out);
}

void report_field(const struct report *report, const char *name, const char *text)
{
	fprintf(report->out, "       %s%-8s%s  ", report_paint(report, DIM), name,
		report_paint(report, PLAIN));
	report_words(report, INDENT, text);
}

void report_headline(const struct report *report, const struct standing *standing,
		     const struct lab_test *test, const char *remark)
{
	static const char *const words[] = {
		[VERDICT_NOT_RUN] = "NOT-RUN", [VERDICT_PASS] = "PASS", [VERDICT_FAIL] = "FAIL",
		[VERDICT_TIMEOUT] = "TIMEOUT", [VERDICT_CRASH] = "CRASH",
	};
	enum colour colour = standing->status == VERDICT_PASS ? GREEN :
			     standing->status == VERDICT_NOT_RUN ? YELLOW : RED;

	fprintf(report->out, "%s%-7s%s %3u/%-3u  %s", report_paint(report, colour),
		words[standing->status], report_paint(report, PLAIN), standing->points, test->points,
		test->name);
	if (standing->outcome && standing->status != VERDICT_PASS &&
	    standing->flavour == FLAVOUR_DEBUG)
		fputs("  (debug kernel)", report->out);
	fprintf(report->out, "%s", remark);
	fputc('\n', report->out);
}

static void source_lines(const struct report *report, const struct decode_place *place)
{
	int i;

	for (i = 0; i < 3; i++) {
		char line[sizeof(place->source[0])], tabs[2 * sizeof(line)];
		size_t n = 0;
		const char *p;

		/* Expand tabs before cleaning, because source code has tabs. */
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

/* The functions by which the kernel reports, and that had no part in what went wrong. */
static bool is_reporter(const struct splat_frame *frame)
{
	static const char *const names[] = {
		"__asan_", "__kasan_", "__lock_acquire", "__warn", "asm_", "check_", "dump_stack",
		"exc_", "handle_bug", "kasan_", "lock_acquire", "lockdep_", "print_", "report_",
		"show_",
	};
	size_t i;

	for (i = 0; !frame->module && i < sizeof(names) / sizeof(names[0]); i++)
		if (!strncmp(frame->symbol, names[i], strlen(names[i])))
			return true;
	return false;
}

/* A crash below the student's last function: in which function of the kernel, or of the driver. */
static void went_on(const struct report *report, const struct outcome *outcome)
{
	const struct decode_place *inner = &outcome->inner;
	const struct splat *splat = &outcome->verdict.splat;
	const struct splat_frame *frame = splat->frames, *end = frame + splat->frame_count;
	char raw[512], text[512];

	if (outcome->verdict.status != VERDICT_CRASH)
		return;
	while (frame < end && is_reporter(frame))
		frame++;
	if (frame == end)
		return;
	if (inner->line)
		snprintf(raw, sizeof(raw), "%.255s:%u, in %.79s()", inner->file, inner->line,
			 inner->function);
	else if (!frame->module)
		snprintf(raw, sizeof(raw), "%.79s() of the kernel", frame->symbol);
	else
		return;
	text_clean(text, sizeof(text), raw, strlen(raw));
	report_field(report, "led to", text);
	if (inner->line)
		source_lines(report, inner);
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
	report_field(report, "where", text);
	if (!outcome->placed)
		return;
	source_lines(report, &outcome->place);
	went_on(report, outcome);
}

/* Shows the call that freed the memory, and below it its callers. */
static void freed(const struct report *report, const struct outcome *outcome)
{
	char text[sizeof(outcome->freed[0]) + 16];
	size_t i;

	for (i = 0; i < outcome->freed_count; i++) {
		snprintf(text, sizeof(text), "%s%s", i ? "called from " : "", outcome->freed[i]);
		report_field(report, i ? "" : "freed", text);
	}
}

/* The driver's last lines, and the file with all of them. */
static void log_lines(const struct report *report, const struct standing *standing)
{
	static const char *const kernels[FLAVOURS] = { "fast", "debug" };
	const struct verdict *v = &standing->outcome->verdict;
	bool console = standing->status == VERDICT_CRASH || standing->status == VERDICT_TIMEOUT ||
		       v->flooded || v->said[0];
	char text[2048];

	if (v->said[0])
		report_field(report, "log", v->said);
	if (v->log[0])
		snprintf(text, sizeof(text), "%s", v->log);
	else
		snprintf(text, sizeof(text), "%s/%s-%s.log", report->dir,
			 kernels[standing->flavour], console ? "console" : "tests");
	report_field(report, v->said[0] ? "" : "log", text);
}

/* Only the debug kernel could tell whether that memory was freed. */
static bool bad_pointer(const struct verdict *verdict)
{
	return verdict->status == VERDICT_CRASH && verdict->splat.maybe_freed;
}

/* If this test needs a step that is not written, say so instead of any hint. */
static void hint(const struct report *report, const struct lab_test *test,
		 const struct verdict *verdict, enum flavour flavour)
{
	unsigned int step = report->steps ? steps_first_left(report->steps, test->step) : 0;
	unsigned int which = hint_fitting(test, verdict);
	char text[256], *words;

	if (step) {
		snprintf(text, sizeof(text), "STEP %u is not written yet (%s, line %u): write it first, "
			 "for this test needs it", step, report->steps->left[step].file,
			 report->steps->left[step].line);
		report_field(report, "hint", text);
		return;
	}
	if (which == HINT_NONE) {
		if (bad_pointer(verdict) && flavour == FLAVOUR_FAST)
			report_field(report, "hint", "If the line is innocent, the memory may have "
				     "been freed too early: with DEBUG=1, KASAN may name the code "
				     "that freed it");
		return;
	}
	words = hint_text(lab_hints(test, which)[0], report->results);
	report_field(report, "hint", words ? words : lab_hints(test, which)[0]);
	free(words);
	snprintf(text, sizeof(text), "make hint LAB=%s TEST=%s   for the next one", report->number,
		 test->name);
	report_field(report, "", text);
}

void report_failure(const struct report *report, const struct lab_test *test,
		    const struct standing *standing)
{
	const struct verdict *v = &standing->outcome->verdict;

	if (test->hidden)
		return;
	if (v->rule[0])
		report_field(report, "rule", v->rule);
	if (v->about[0])
		report_field(report, "tested", v->about);
	if (v->expected[0])
		report_field(report, "expected", v->expected);
	report_field(report, "seen", v->seen);
	if (standing->status == VERDICT_NOT_RUN) {
		log_lines(report, standing);
		return;
	}
	if (v->gpu[0])
		report_field(report, "gpu", v->gpu);
	where(report, standing->outcome);
	freed(report, standing->outcome);
	if (v->before) {
		if (v->splat.kind != SPLAT_NONE || v->log[0])
			log_lines(report, standing);
		return;
	}
	if (v->flooded) {
		log_lines(report, standing);
		return;
	}
	hint(report, test, v, standing->flavour);
	log_lines(report, standing);
}
