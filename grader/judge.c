// SPDX-License-Identifier: MIT
/*
 * The verdict on one test (judge.h).
 *
 * It checks in the order of trust: first what the grader saw from outside, then what the
 * kernel reported, and last what the test said about itself.
 */
#include "judge.h"

#include <ctype.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "gpu_hints.h"
#include "said.h"
#include "stream.h"
#include "text.h"

const char *verdict_word(enum verdict_status status)
{
	static const char *const words[] = {
		[VERDICT_NOT_RUN] = "not-run",
		[VERDICT_PASS] = "pass",
		[VERDICT_FAIL] = "fail",
		[VERDICT_TIMEOUT] = "timeout",
		[VERDICT_CRASH] = "crash",
	};

	return words[status];
}

void verdict_set(struct verdict *verdict, enum verdict_status status, const char *rule,
		 const char *expected, const char *seen_fmt, ...)
{
	char seen[sizeof(verdict->seen)];
	va_list ap;

	va_start(ap, seen_fmt);
	vsnprintf(seen, sizeof(seen), seen_fmt, ap);
	va_end(ap);
	verdict->status = status;
	text_names(verdict->seen, sizeof(verdict->seen), seen);
	snprintf(seen, sizeof(seen), "%s", verdict->seen);
	text_clean(verdict->rule, sizeof(verdict->rule), rule, strlen(rule));
	text_clean(verdict->expected, sizeof(verdict->expected), expected, strlen(expected));
	text_clean(verdict->seen, sizeof(verdict->seen), seen, strlen(seen));
}

static void set_span(char *out, size_t size, const struct span *span, const char *otherwise)
{
	char text[REPORT_LINE];

	if (!span->text || !span->len) {
		text_clean(out, size, otherwise, strlen(otherwise));
		return;
	}
	text_clean(text, sizeof(text), span->text, span->len);
	text_names(out, size, text);
}

/* Without its GPU the guest's reports were about something else. */
static bool judge_gpu(const struct evidence *e, struct verdict *v)
{
	if (e->gpu_failed)
		verdict_set(v, VERDICT_NOT_RUN, "", "", "the simulator itself failed in this test, "
			    "and that is a bug of Agate: %s", e->gpu_failed);
	return e->gpu_failed;
}

/*
 * A report of the kernel from before the time limit is a crash, whatever followed.
 * judge_time() handles the reports of its watchdogs.
 */
static bool judge_kernel(const struct evidence *e, struct verdict *v)
{
	size_t len = e->timed_out ? e->console_at_limit : e->console_len;

	if (splat_find_untimed(e->console, len, &v->splat)) {
		verdict_set(v, VERDICT_CRASH, splat_rule(&v->splat), "a silent kernel", "%s",
			    v->splat.headline);
		return true;
	}
	if (e->end == GUEST_CRASHED && !e->timed_out) {
		verdict_set(v, VERDICT_CRASH, "the kernel stays up", "a silent kernel",
			    "it went down without a word");
		return true;
	}
	return false;
}

static bool judge_time(const struct evidence *e, struct verdict *v)
{
	char sleeper[220];

	if (!e->timed_out && e->end != GUEST_TIMEOUT)
		return false;
	/* The kernel's answer when it was asked where it hangs. */
	if (!splat_find(e->console, e->console_len, &v->splat))
		v->splat.kind = SPLAT_NONE;
	verdict_set(v, VERDICT_TIMEOUT, v->splat.kind == SPLAT_NONE ?
		    "every call comes back, and every wait ends" : splat_rule(&v->splat),
		    "an end within the test's time limit", "none after %u ms", e->limit_ms);
	if (splat_sleeper(&v->splat, e->console, e->console_len, sleeper, sizeof(sleeper)))
		verdict_set(v, VERDICT_TIMEOUT, v->rule, v->expected, "none after %u ms; meanwhile %s: "
			    "if it has that lock, nobody gives it back", e->limit_ms, sleeper);
	return true;
}

const char judge_flood_rule[] = "the driver does not fill the kernel's log";
const char judge_flood_wish[] = "a few lines";

/* The last whole line, for a student who has to find the code that prints it. */
static bool judge_flood(const struct evidence *e, struct verdict *v)
{
	const char *end = NULL, *begin;
	size_t len;

	if (!e->console_flooded)
		return false;
	if (e->console_len)
		end = memrchr(e->console, '\n', e->console_len);
	begin = end ? memrchr(e->console, '\n', (size_t)(end - e->console)) : NULL;
	len = begin ? (size_t)(end - begin - 1) : 0;
	if (len && begin[len] == '\r')
		len--;
	verdict_set(v, VERDICT_FAIL, judge_flood_rule, judge_flood_wish,
		    "more than %zu bytes%s%.*s", e->console_len, len ? ", such as: " : "",
		    (int)(len < 160 ? len : 160), begin ? begin + 1 : "");
	v->flooded = true;
	return true;
}

/* The ends of a test that it did not choose. */
static bool judge_end(const struct evidence *e, struct verdict *v)
{
	if (judge_flood(e, v))
		return true;
	if (e->end == GUEST_REFUSED)
		verdict_set(v, VERDICT_FAIL, "the test program runs", "a running test",
			    "the guest could not start it");
	else if (e->end != GUEST_OK)
		verdict_set(v, VERDICT_FAIL, "the guest lives on", "the test's end",
			    "the guest's stream just ended");
	else if (e->flooded)
		verdict_set(v, VERDICT_FAIL, "a test says what it has to, and no more",
			    "a report and a result", "more output than a test may write");
	else if (!e->marked)
		verdict_set(v, VERDICT_FAIL, "the guest lives on",
			    "the mark after the test in the kernel's log", "no mark");
	else
		return false;
	return true;
}

/* "pages: 4" was expected and "pages: -2" seen: that is no errno. */
static bool is_count(const struct span *expected, const struct span *seen)
{
	size_t n = 0;

	while (n < expected->len && n < seen->len && expected->text[n] == seen->text[n])
		n++;
	while (n && (isdigit((unsigned char)seen->text[n - 1]) || seen->text[n - 1] == '-'))
		n--;
	return n && n < expected->len && n < seen->len && seen->text[n] == '-' &&
	       (isdigit((unsigned char)expected->text[n]) || expected->text[n] == '-');
}

/* The test failed, and reported it properly. */
static void judge_failure(const struct stream_report *report, const struct tap *tap,
			  struct verdict *v)
{
	v->status = VERDICT_FAIL;
	set_span(v->rule, sizeof(v->rule), &report->rule, "");
	set_span(v->expected, sizeof(v->expected), &report->expected, "");
	if (report->seen.text && report->expected.text && is_count(&report->expected, &report->seen))
		text_clean(v->seen, sizeof(v->seen), report->seen.text, report->seen.len);
	else if (report->seen.text)
		set_span(v->seen, sizeof(v->seen), &report->seen, "");
	else
		set_span(v->seen, sizeof(v->seen), &tap->first_words, "the test failed");
}

/* The test could not look, so its other reports are about something else. */
static bool judge_blind(const struct stream_report *report, struct verdict *v)
{
	if (!report->blind.text)
		return false;
	v->status = VERDICT_NOT_RUN;
	set_span(v->seen, sizeof(v->seen), &report->blind, "it does not say why");
	return true;
}

static bool judge_streams(const struct evidence *e, const struct stream_report *report,
			  const struct tap *tap, struct verdict *v)
{
	static const char rule[] = "a test tells how it ended: once, and to the end";

	if (e->signaled) {
		verdict_set(v, VERDICT_FAIL, "the test program is not killed", "exit status 0",
			    "signal %d: %s", e->value, strsignal(e->value));
		if (report->rule.text)
			set_span(v->rule, sizeof(v->rule), &report->rule, "");
	} else if (tap->failed && report->done) {
		judge_failure(report, tap, v);
	} else if (!e->went) {
		verdict_set(v, VERDICT_FAIL, rule, "READY", "the test never said READY");
	} else if (report->cut && report->expected.text && report->seen.text) {
		/* A library that crashed, for example: its test says so, and can do no more. */
		judge_failure(report, tap, v);
	} else if (report->fault[0]) {
		verdict_set(v, VERDICT_FAIL, rule, "a report that ends with DONE and its nonce",
			    "%s", report->fault);
	} else if (!tap->passed) {
		verdict_set(v, VERDICT_FAIL, rule, "one plan and one result", "%s", tap->fault);
	} else if (e->value) {
		verdict_set(v, VERDICT_FAIL, rule, "exit status 0", "exit status %d", e->value);
	} else if (report->expected.text || report->seen.text) {
		judge_failure(report, tap, v);
	} else {
		return false;
	}
	return true;
}

static bool holds(enum lab_compare compare, int64_t seen, int64_t wanted)
{
	switch (compare) {
	case LAB_EQUALS:
		return seen == wanted;
	case LAB_AT_LEAST:
		return seen >= wanted;
	case LAB_AT_MOST:
		return seen <= wanted;
	}
	return false;
}

/* The value of an observation, from the test or the simulator; false: there is none. */
static bool observed(const struct evidence *e, const struct stream_report *report,
		     const struct lab_judgement *j, int64_t *value)
{
	const struct report_see *see;

	if (j->counter) {
		*value = (int64_t)(e->after[j->index] - e->before[j->index]);
		return e->counted && e->after[j->index] >= e->before[j->index];
	}
	see = report_see_named(report, j->name);
	if (see)
		*value = see->value;
	return see;
}

/* How many hints a test provokes on purpose. */
static int64_t hints_meant(const struct evidence *e)
{
	size_t i;

	for (i = 0; i < e->test->judgement_count; i++) {
		const struct lab_judgement *j = &e->test->judgements[i];

		if (j->counter && j->index == AGATE_CNT_HINTS && j->compare != LAB_AT_LEAST)
			return j->param < 0 ? j->number : e->params[j->param];
	}
	return 0;
}

/* A count of hints tells a reader nothing, but each hint says what it is about. */
static void set_counted(const struct evidence *e, const struct lab_judgement *j, int64_t value,
			const char *expected, struct verdict *v)
{
	char words[400] = "";

	if (j->index == AGATE_CNT_HINTS && value)
		gpu_hints(e->gpu_log, e->gpu_log_len, NULL, words, sizeof(words));
	if (!*words)
		verdict_set(v, VERDICT_FAIL, j->rule, expected, "%" PRId64, value);
	else if (hints_meant(e))
		verdict_set(v, VERDICT_FAIL, j->rule, expected, "%" PRId64 ": %s", value, words);
	else
		verdict_set(v, VERDICT_FAIL, j->rule, "no rule of the hardware broken", "%s", words);
	v->hinted = *words && !hints_meant(e);
}

/* Says what the test was about when the kernel reported something, or when it hung. */
static void set_about(const struct lab_test *test, const struct stream_report *report,
		      struct verdict *v)
{
	char last[REPORT_LINE];

	set_span(last, sizeof(last), &report->rule, "");
	snprintf(v->about, sizeof(v->about), "%.400s%s%.500s", test->shows,
		 *last ? "; it had come to this rule: " : "", last);
}

/* Adds whatever explains a failure besides the test's own report. */
static void add_context(const struct evidence *e, const struct stream_report *report,
			struct verdict *v)
{
	char words[sizeof(v->gpu)];
	unsigned int hints;

	if (v->status <= VERDICT_PASS)
		return;
	if (v->status == VERDICT_CRASH || v->status == VERDICT_TIMEOUT)
		set_about(e->test, report, v);
	said_last(e->console, e->console_len, 2, v->said, sizeof(v->said));
	hints = gpu_hints(e->gpu_log, e->gpu_log_len, e->test->provokes, words, sizeof(words));
	if (hints && hints != hints_meant(e) && !strstr(v->seen, words))
		text_clean(v->gpu, sizeof(v->gpu), words, strlen(words));
}

static bool judge_observations(const struct evidence *e, const struct stream_report *report,
			       struct verdict *v)
{
	static const char *const words[] = {
		[LAB_EQUALS] = "", [LAB_AT_LEAST] = "at least ", [LAB_AT_MOST] = "at most ",
	};
	size_t i;

	for (i = 0; i < e->test->judgement_count; i++) {
		const struct lab_judgement *j = &e->test->judgements[i];
		int64_t wanted = j->param < 0 ? j->number : e->params[j->param], value = 0;
		bool known = observed(e, report, j, &value);
		char expected[128];

		if (known && holds(j->compare, value, wanted))
			continue;
		snprintf(expected, sizeof(expected), "%s%s%s %s%" PRId64,
			 j->counter ? "the GPU's counter " : "", j->name,
			 j->counter ? " to grow by" : " =", words[j->compare], wanted);
		if (known && j->counter)
			set_counted(e, j, value, expected, v);
		else if (known)
			verdict_set(v, VERDICT_FAIL, j->rule, expected, "%" PRId64, value);
		else
			verdict_set(v, VERDICT_FAIL, j->rule, expected, "%s",
				    j->counter ? "the GPU's counters could not be read" :
				    "the test did not tell");
		return true;
	}
	return false;
}

void judge(const struct evidence *evidence, struct verdict *verdict)
{
	struct stream_report report;
	struct tap tap;
	size_t i;

	memset(verdict, 0, sizeof(*verdict));
	report_parse(evidence->report, evidence->report_len, evidence->report_at_go,
		     evidence->nonce, &report);
	tap_parse(evidence->output, evidence->output_len, evidence->test->name, &tap);
	for (i = 0; i < report.note_count && verdict->note_count < JUDGE_NOTES; i++)
		text_clean(verdict->notes[verdict->note_count++], sizeof(verdict->notes[0]),
			   report.notes[i].text, report.notes[i].len);
	if (judge_gpu(evidence, verdict) || judge_kernel(evidence, verdict) ||
	    judge_time(evidence, verdict) || judge_end(evidence, verdict) ||
	    judge_blind(&report, verdict) ||
	    judge_streams(evidence, &report, &tap, verdict) ||
	    judge_observations(evidence, &report, verdict))
		add_context(evidence, &report, verdict);
	else
		verdict->status = VERDICT_PASS;
}
