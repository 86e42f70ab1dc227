// SPDX-License-Identifier: MIT
/*
 * One test: start it, answer it, and collect the evidence.
 */
#include <inttypes.h>
#include <string.h>

#include "params.h"
#include "names.h"
#include "session_priv.h"
#include "stream.h"
#include "text.h"

#define MARK_LIMIT_MS	5000
#define DEBUG_FACTOR	3
/* A host is busy when the guest waited for a processor during this part of a limit. */
#define BUSY_PART	8

unsigned int state_limit(const struct state *st, unsigned int ms)
{
	double limit = ms * (st->s->scale > 1 ? st->s->scale : 1);

	return (unsigned int)(st->s->kernel == LAB_DEBUG ? limit * DEBUG_FACTOR : limit);
}

void state_console_begin(struct state *st)
{
	st->console_len = 0;
	st->console_at_limit = 0;
	st->console_flooded = false;
	st->limit = 0;
	st->busy = false;
}

void state_begin(struct state *st, unsigned int limit_ms)
{
	state_console_begin(st);
	st->stood = st->ops->stood(st->guest);
	st->limit = st->ops->now(st->guest) + limit_ms * 1000000ull;
}

void state_note_busy(struct state *st, unsigned int limit_ms)
{
	uint64_t waited = st->ops->stood(st->guest) - st->stood;

	st->busy = waited > limit_ms * 1000000ull / BUSY_PART;
}

/* Of too much output keep the beginning and the end: they show the cause and the outcome. */
static void keep(struct state *st, const char *text, size_t len)
{
	if (len > CONSOLE_TAIL) {
		text += len - CONSOLE_TAIL;
		len = CONSOLE_TAIL;
		st->console_flooded = true;
	}
	if (st->console_len + len > CONSOLE_KEEP) {
		memmove(st->console + CONSOLE_KEEP - 2 * CONSOLE_TAIL,
			st->console + st->console_len - CONSOLE_TAIL, CONSOLE_TAIL);
		st->console_len = CONSOLE_KEEP - CONSOLE_TAIL;
		st->console_flooded = true;
		if (st->console_at_limit > st->console_len)
			st->console_at_limit = st->console_len;
	}
	memcpy(st->console + st->console_len, text, len);
	st->console_len += len;
}

void state_console(void *arg, const char *text, size_t len)
{
	struct state *st = arg;
	size_t log = CONSOLE_LOG_MAX - st->logged;

	if (st->s->console_log && log) {
		log = log < len ? log : len;
		text_write(st->s->console_log, text, log);
		st->logged += log;
		if (st->logged == CONSOLE_LOG_MAX)
			fputs("\n[too much output, the rest is dropped]\n", st->s->console_log);
	}
	keep(st, text, len);
	if (st->limit && st->ops->past(st->guest, st->limit))
		return;
	st->console_at_limit = st->console_len;
	/* No test is to blame for a guest's output while it starts. */
	if (st->limit && !st->console_flooded && st->console_len > CONSOLE_FLOOD) {
		st->console_flooded = true;
		st->ops->abandon(st->guest);
	}
}

enum guest_status state_mark(struct state *st, const char *what)
{
	char nonce[NONCE_DIGITS + 1], text[200];

	if (!params_nonce(nonce))
		return GUEST_HOST;
	snprintf(text, sizeof(text), "agate-grade: %s %s", what, nonce);
	return st->ops->mark(st->guest, text, state_limit(st, MARK_LIMIT_MS));
}

/* Sends one request to the GPU's process; false when the process did not carry it out. */
static bool control(struct state *st, json_t *request, uint64_t *counters)
{
	json_t *answer = request ? st->ops->control(st->guest, request) : NULL;
	bool ok = json_is_true(json_object_get(answer, "ok"));
	unsigned int i;

	for (i = 0; ok && counters && i < AGATE_CNT_COUNT; i++) {
		const json_t *n = json_object_get(json_object_get(answer, "counters"),
						  name_counter(i));

		ok = json_is_integer(n) && json_integer_value(n) >= 0;
		counters[i] = (uint64_t)json_integer_value(n);
	}
	json_decref(answer);
	json_decref(request);
	return ok;
}

/* {"latency": {...}} becomes {"cmd": "latency", ...}, with numbers for parameters. */
static json_t *injection(const struct evidence *e, const struct lab_injection *injection)
{
	json_t *request = json_pack("{s:s}", "cmd", injection->cmd), *value;
	const char *key;

	json_object_foreach(injection->fields, key, value) {
		const char *param = json_string_value(value);
		json_int_t n = param ? e->params[lab_param_index(e->test, param + 1)] :
			       json_integer_value(value);

		if (json_object_set_new(request, key, json_integer(n))) {
			json_decref(request);
			return NULL;
		}
	}
	return request;
}

static bool inject(struct state *st)
{
	const struct evidence *e = &st->evidence;
	bool ok = true;
	size_t i;

	for (i = 0; i < e->test->injection_count; i++)
		ok = control(st, injection(e, &e->test->injections[i]), NULL) && ok;
	return ok;
}

/* Resets the GPU's process, so that the next test finds it as the first did. */
static bool restore(struct state *st)
{
	return !st->evidence.test->injection_count ||
	       control(st, json_pack("{s:s}", "cmd", "restore"), NULL);
}

bool state_gpu_answers(struct state *st)
{
	return control(st, json_pack("{s:s}", "cmd", "ping"), NULL);
}

static bool counters_wanted(const struct lab_test *test)
{
	size_t i;

	for (i = 0; i < test->judgement_count; i++)
		if (test->judgements[i].counter)
			return true;
	return false;
}

static const char refused[] = "it refused a request of the grader, or did not answer";

/* A GPU that the grader killed because the test wanted it cannot answer. */
static void count(struct state *st, uint64_t *counters)
{
	struct evidence *e = &st->evidence;

	e->counted = !st->killed && control(st, json_pack("{s:s}", "cmd", "counters"), counters);
	if (!e->counted && !st->killed && !e->gpu_failed)
		e->gpu_failed = refused;
}

/* READY has come: prepares everything outside the guest, then lets the test begin. */
static void go(struct state *st)
{
	struct evidence *e = &st->evidence;
	char line[REPORT_LINE];
	size_t i;
	int n;

	e->report_at_go = st->report.len;
	if (!inject(st))
		e->gpu_failed = refused;
	state_gpu_log_begin(st);
	if (counters_wanted(e->test))
		count(st, e->before);
	for (i = 0; i < e->test->param_count; i++) {
		n = snprintf(line, sizeof(line), "SET %s %" PRId64 "\n", e->test->params[i].name,
			     e->params[i]);
		if (st->ops->input(st->guest, line, (size_t)n) != GUEST_OK)
			return;
	}
	n = snprintf(line, sizeof(line), "GO %s\n", e->nonce);
	e->went = st->ops->input(st->guest, line, (size_t)n) == GUEST_OK;
}

static void append(struct stream *stream, const char *data, size_t len)
{
	size_t n = STREAM_MAX - stream->len;

	n = len < n ? len : n;
	memcpy(stream->text + stream->len, data, n);
	stream->len += n;
}

/* Does the report have the line that asks to kill the GPU? */
static bool wants_kill(const struct stream *report)
{
	static const char line[] = "\n" LAB_KILL "\n";

	return memmem(report->text, report->len, line, sizeof(line) - 1);
}

static void test_output(void *arg, enum guest_stream which, const char *data, size_t len)
{
	struct state *st = arg;
	const size_t ready = strlen(READY_LINE);

	append(which == GUEST_REPORT ? &st->report : which == GUEST_OUTPUT ? &st->output :
	       &st->errors, data, len);
	if (which != GUEST_REPORT)
		return;
	if (!st->evidence.report_at_go && st->report.len >= ready &&
	    !memcmp(st->report.text, READY_LINE, ready))
		go(st);
	if (st->evidence.test->kill && st->evidence.went && !st->killed &&
	    wants_kill(&st->report)) {
		st->killed = true;
		st->ops->kill_gpu(st->guest);
	}
}

static void log_stream(FILE *log, const char *name, const struct stream *stream)
{
	if (!stream->len)
		return;
	fprintf(log, "--- %s\n", name);
	text_write(log, stream->text, stream->len);
	if (stream->text[stream->len - 1] != '\n')
		fputc('\n', log);
}

/* A watchdog's report on a test that ended in time becomes a remark and costs no points. */
static void log_watchdog(FILE *log, const struct evidence *e)
{
	struct splat splat;

	if (!e->timed_out && splat_find(e->console, e->console_len, &splat) && splat.timed)
		fprintf(log, "--- the kernel's watchdog said, and it does not count for a test that "
			"ends in time\n%s\n", splat.headline);
}

static void log_test(const struct state *st, const struct verdict *verdict)
{
	FILE *log = st->s->test_log;

	if (!log)
		return;
	fprintf(log, "=== %s: %s\n", st->evidence.test->name, verdict_word(verdict->status));
	log_watchdog(log, &st->evidence);
	log_stream(log, "report", &st->report);
	log_stream(log, "output", &st->output);
	log_stream(log, "errors", &st->errors);
	fflush(log);
	if (st->s->console_log)
		fflush(st->s->console_log);
}

static void begin(struct state *st, const struct lab_test *test, const char *nonce)
{
	struct evidence *e = &st->evidence;
	size_t i;

	memset(e, 0, sizeof(*e));
	e->test = test;
	e->nonce = nonce;
	for (i = 0; i < test->param_count; i++)
		e->params[i] = params_draw(st->s->seed, st->s->lab->name, test->name,
					   &test->params[i]);
	st->gpu_log_at = -1;
	st->killed = false;
	st->report.len = 0;
	st->output.len = 0;
	st->errors.len = 0;
}

/* Without DONE the program has not sent all that it had to say. */
static void append_held(struct state *st)
{
	static const char done[] = "\nDONE ";
	struct stream *report = &st->report;

	/* Of a line that was cut off nobody knows how it goes on. */
	if (report->len && report->text[report->len - 1] == '\n' &&
	    !memmem(report->text, report->len, done, sizeof(done) - 1))
		report->len += st->ops->held(st->guest, st->evidence.test->name,
					     report->text + report->len, STREAM_MAX - report->len);
}

/* After the test's end: collects the simulator's counters, and all of the kernel's output. */
static void collect(struct state *st, const struct guest_run *run)
{
	struct evidence *e = &st->evidence;
	const char *ended;
	char what[LAB_NAME + 16];

	e->signaled = run->signaled;
	e->value = run->value;
	e->timed_out = run->timed_out;
	e->limit_ms = run->limit_ms;
	e->flooded = run->flooded;
	if (e->counted)
		count(st, e->after);
	if (e->went && !st->killed && !restore(st) && !e->gpu_failed)
		e->gpu_failed = refused;
	ended = st->ops->gpu_failed(st->guest);
	if (ended)
		e->gpu_failed = ended;
	state_gpu_log_end(st);
	append_held(st);
	if (e->end == GUEST_OK) {
		snprintf(what, sizeof(what), "end of %s", e->test->name);
		e->end = state_mark(st, what);
		e->marked = e->end == GUEST_OK;
	}
	e->report = st->report.text;
	e->report_len = st->report.len;
	e->output = st->output.text;
	e->output_len = st->output.len;
	e->console = st->console;
	e->console_len = st->console_len;
	e->console_at_limit = st->console_at_limit;
	e->console_flooded = st->console_flooded;
}

static bool no_evidence(enum guest_status end)
{
	return end == GUEST_INTERRUPTED || end == GUEST_HOST || end == GUEST_GONE;
}

/* Can the guest still report its state, and did its kernel report nothing against the driver? */
static bool sound(const struct state *st, const struct verdict *verdict)
{
	return st->evidence.end == GUEST_OK && !st->evidence.gpu_failed && !st->console_flooded &&
	       (verdict->status == VERDICT_PASS || verdict->status == VERDICT_FAIL);
}

/*
 * Checks the guest's kernel once more.  Its output and its end after the test's mark also
 * belong to the test, because no other test has begun.
 */
static void look_back(struct state *st, struct verdict *verdict, bool *changed)
{
	struct evidence *e = &st->evidence;
	struct splat splat;

	e->end = state_health(st, verdict, changed);
	if (no_evidence(e->end) || (e->end == GUEST_OK &&
				    !splat_find_untimed(st->console, st->console_len, &splat)))
		return;
	e->console_len = st->console_len;
	e->console_flooded = st->console_flooded;
	judge(e, verdict);
}

static void tell_task(const struct state *st, const char *test, unsigned int limit_ms)
{
	if (st->s->task)
		st->s->task(st->s->arg, test, limit_ms);
}

enum guest_status state_test(struct state *st, const struct lab_test *test,
			     struct verdict *verdict)
{
	const char *argv[] = { GUEST_PROGRAM, test->name, NULL };
	struct guest_run run = {
		.argv = argv,
		.kept = state_keeps_program(st),
		.limit_ms = state_hang_limit(st, state_limit(st, test->limit_ms)),
		.output_max = STREAM_MAX,
		.output = test_output,
		.arg = st,
	};
	uint64_t begun = timing_now();
	char nonce[NONCE_DIGITS + 1];
	bool changed = false;

	if (!params_nonce(nonce))
		return GUEST_HOST;
	begin(st, test, nonce);
	state_begin(st, run.limit_ms);
	st->evidence.end = state_health_begin(st);
	tell_task(st, test->name, run.limit_ms);
	if (st->evidence.end == GUEST_OK)
		st->evidence.end = st->ops->run(st->guest, &run);
	tell_task(st, NULL, 0);
	timing_add(st->s->timing, begun, "test %s", test->name);
	if (no_evidence(st->evidence.end))
		return st->evidence.end;
	state_note_busy(st, run.limit_ms);
	begun = timing_now();
	collect(st, &run);
	timing_add(st->s->timing, begun, "mark");
	if (no_evidence(st->evidence.end))
		return st->evidence.end;
	judge(&st->evidence, verdict);
	/*
	 * If the GPU's process stands still, everything that waits for it fails, and
	 * nothing else reports the cause.
	 */
	if (verdict->status > VERDICT_PASS && !st->killed && !state_gpu_answers(st)) {
		st->evidence.gpu_failed = refused;
		judge(&st->evidence, verdict);
	}
	if (sound(st, verdict))
		look_back(st, verdict, &changed);
	log_test(st, verdict);
	if (changed && st->evidence.end == GUEST_OK)
		return GUEST_REFUSED;
	/* A guest without a GPU is sound, but useless; so is one that was abandoned. */
	if (st->evidence.end == GUEST_OK && (st->evidence.gpu_failed || st->killed ||
					     st->console_flooded))
		return GUEST_REFUSED;
	return st->evidence.end;
}
