// SPDX-License-Identifier: MIT
/*
 * The guest on paper (canned.h).
 */
#include "canned.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "module_id.h"
#include "names.h"

static void note(char *list, size_t size, const char *text)
{
	size_t n = strlen(list);

	snprintf(list + n, size - n, "%s", text);
}

/* The word after "SET NAME " or "GO " in the grader's input. */
static const char *input_word(const struct canned *c, const char *before, char *word, size_t size)
{
	const char *p = strstr(c->input, before);

	if (!p)
		return "";
	p += strlen(before);
	snprintf(word, size, "%.*s", (int)strcspn(p, "\n"), p);
	return word;
}

/* The text with its {WORDS} replaced; the caller frees it. */
static char *expand(const struct canned *c, const char *text)
{
	char *out = calloc(1, strlen(text) + 4096), name[64], before[80], word[64];
	size_t n = 0;

	if (!out)
		abort();
	while (*text) {
		const char *end = *text == '{' ? strchr(text, '}') : NULL;

		if (!end || end - text > 40) {
			out[n++] = *text++;
			continue;
		}
		snprintf(name, sizeof(name), "%.*s", (int)(end - text - 1), text + 1);
		snprintf(before, sizeof(before), strcmp(name, "NONCE") ? "SET %s " : "GO ", name);
		n += (size_t)sprintf(out + n, "%s", input_word(c, before, word, sizeof(word)));
		text = end + 1;
	}
	return out;
}

static void console(struct canned *c, const char *text)
{
	if (text)
		c->events.console(c->events.arg, text, strlen(text));
}

static enum guest_status canned_start(void *ctx, enum lab_profile profile,
				      const struct vm_prepare *prepare,
				      const struct guest_events *events)
{
	struct canned *c = ctx;

	(void)profile;
	c->starts++;
	c->files = prepare->file_count;
	c->programs = prepare->program_count;
	c->keeps = prepare->program_count && prepare->programs[prepare->program_count - 1].kept;
	note(c->ran, sizeof(c->ran), "|");
	c->events = *events;
	c->loaded = false;
	c->gpu_dead = false;
	c->gpu_still = false;
	c->abandoned = false;
	c->next_mark = GUEST_OK;
	c->next_look = GUEST_OK;
	c->next_words = NULL;
	c->guest_did = NULL;
	if (c->starts <= c->start_fails)
		return GUEST_HOST;
	return c->start_end;
}

static void canned_stop(void *ctx)
{
	struct canned *c = ctx;

	c->stops++;
}

static enum guest_status canned_put(void *ctx, const char *host_path, const char *guest_path,
				    unsigned int mode)
{
	struct canned *c = ctx;

	(void)host_path;
	(void)guest_path;
	(void)mode;
	c->puts++;
	return GUEST_OK;
}

static enum guest_status canned_get(void *ctx, const char *guest_path, void *data, size_t size,
				    size_t *len)
{
	struct canned *c = ctx;
	unsigned char id[MODULE_ID_MAX] = "another";

	*len = 0;
	if (strstr(guest_path, "build-id")) {
		*len = c->module ? module_id_read(c->module, id) : sizeof("another");
		memcpy(data, id, *len < size ? *len : size);
		return c->loaded ? GUEST_OK : GUEST_REFUSED;
	}
	if (strstr(guest_path, "initstate") && c->coming) {
		*len = sizeof("coming\n") - 1;
		memcpy(data, "coming\n", *len);
		return GUEST_OK;
	}
	if (strstr(guest_path, "renderD128"))
		return c->loaded && !c->no_node ? GUEST_OK : GUEST_REFUSED;
	return c->loaded ? GUEST_OK : GUEST_REFUSED;
}

static void say(struct guest_run *run, enum guest_stream stream, const char *text)
{
	/* In two pieces, because a stream need not deliver whole lines. */
	size_t n = strlen(text), half = n / 2;

	if (half)
		run->output(run->arg, stream, text, half);
	if (n - half)
		run->output(run->arg, stream, text + half, n - half);
}

/* insmod and rmmod, or the test program in their place. */
static bool loads(const struct guest_run *run)
{
	return !strcmp(run->argv[0], "/sbin/insmod") || !strcmp(run->argv[1], "--insmod");
}

static bool unloads(const struct guest_run *run)
{
	return !strcmp(run->argv[0], "/sbin/rmmod") || !strcmp(run->argv[1], "--rmmod");
}

static enum guest_status run_module(struct canned *c, struct guest_run *run)
{
	bool load = loads(run);
	unsigned long i;

	if (strncmp(run->argv[0], "/sbin/", 6))
		c->forked += run->kept;
	else
		c->executed += !run->kept;

	if (!load) {
		c->rmmods++;
		run->value = c->rmmod;
		c->loaded = c->rmmod;
		return c->rmmod_end;
	}
	c->insmods++;
	if (c->insmods <= c->insmod_stops) {
		c->guest_did = "on paper";
		return GUEST_GONE;
	}
	run->value = c->insmod;
	c->loaded = !c->insmod;
	for (i = 0; i <= c->insmod_repeat && !c->abandoned; i++)
		console(c, c->insmod_console);
	if (c->abandoned)
		return GUEST_STOPPED;
	if (c->insmod_words)
		run->output(run->arg, GUEST_ERRORS, c->insmod_words, strlen(c->insmod_words));
	if (c->insmods > c->insmod_late)
		return c->insmod_end;
	run->timed_out = c->insmod_hangs;
	c->stood += c->stands * 1000000ull;
	c->gpu_dead = c->insmod_kills_gpu;
	c->gpu_still = c->insmod_stops_gpu;
	if (c->insmod_hangs) {
		c->clock += run->limit_ms * 1000000ull;
		console(c, c->insmod_where);
	} else if (!c->gpu_dead && !c->gpu_still) {
		c->next_mark = GUEST_TIMEOUT;
	}
	return c->insmod_end;
}

/* How often the test was started before; tests that use this have a name of one letter. */
static unsigned int runs_of(const struct canned *c, const char *test)
{
	unsigned int n = 0;
	const char *p;

	for (p = strchr(c->ran, *test); p; p = strchr(p + 1, *test))
		n++;
	return n;
}

static const struct act *act_of(const struct canned *c, const char *test)
{
	static const struct act good;
	const struct act *act;

	for (act = c->acts; act && act->test; act++)
		if (!strcmp(act->test, test) && (!act->runs || runs_of(c, test) <= act->runs))
			return act;
	return &good;
}

/* The GPU's process holds back its output until a request for a mark. */
static void gpu_event(const struct canned *c, const char *text)
{
	FILE *log = c->gpu_log && text ? fopen(c->gpu_log, "a") : NULL;

	if (log && (fputs(text, log) < 0 || fclose(log)))
		abort();
}

static void speak(struct canned *c, const struct act *act, const char *test,
		  struct guest_run *run)
{
	char ok[128], *text;
	unsigned long i;

	snprintf(ok, sizeof(ok), "1..1\nok 1 - %s\n", test);
	if (!act->silent)
		say(run, GUEST_REPORT, "READY\n");
	if (act->early)
		say(run, GUEST_REPORT, act->early);
	for (i = 0; i <= act->repeat && !c->abandoned; i++)
		console(c, act->console);
	if (!c->go)
		return;
	c->gpu_held = act->gpu;
	c->held = act->held;
	text = expand(c, act->report ? act->report : "DONE {NONCE}\n");
	say(run, GUEST_REPORT, text);
	free(text);
	text = expand(c, act->output ? act->output : ok);
	for (i = 0; i <= act->output_repeat; i++)
		say(run, GUEST_OUTPUT, text);
	free(text);
}

static size_t canned_held(void *ctx, const char *test, char *text, size_t size)
{
	struct canned *c = ctx;
	size_t len = c->held ? strlen(c->held) : 0;

	(void)test;
	len = len < size ? len : size;
	memcpy(text, c->held ? c->held : "", len);
	return len;
}

static enum guest_status canned_run(void *ctx, struct guest_run *run)
{
	struct canned *c = ctx;
	const struct act *act;
	size_t i;

	if (loads(run) || unloads(run))
		return run_module(c, run);
	if (!strcmp(run->argv[0], "/bin/sh")) {
		run->output(run->arg, GUEST_OUTPUT, c->driver_counters ? c->driver_counters : "",
			    c->driver_counters ? strlen(c->driver_counters) : 0);
		return GUEST_OK;
	}
	if (!strcmp(run->argv[1], "--list")) {
		c->lists++;
		return c->list_end;
	}
	c->kept = run->kept;
	note(c->ran, sizeof(c->ran), run->argv[1]);
	note(c->ran, sizeof(c->ran), " ");
	if (c->before_run)
		c->before_run(c, run->argv[1]);
	c->input[0] = '\0';
	c->go = NULL;
	act = act_of(c, run->argv[1]);
	speak(c, act, run->argv[1], run);
	for (i = 0; i < AGATE_CNT_COUNT; i++)
		c->counters[i] += act->grows;
	if (c->abandoned)
		return GUEST_STOPPED;
	c->stood += act->stands * 1000000ull;
	if (act->timed_out) {
		c->clock += run->limit_ms * 1000000ull;
		console(c, act->where);
	}
	run->signaled = act->signaled;
	run->value = act->value;
	run->timed_out = act->timed_out;
	run->flooded = act->output_repeat > 1000;
	c->gpu_dead = act->gpu_dies;
	c->gpu_still = act->gpu_stands;
	c->next_mark = act->mark;
	c->next_look = act->look;
	c->next_words = act->later;
	c->guest_did = act->guest_does;
	return act->guest_does ? GUEST_GONE : act->end;
}

static enum guest_status canned_input(void *ctx, const char *data, size_t len)
{
	struct canned *c = ctx;
	size_t n = strlen(c->input);

	snprintf(c->input + n, sizeof(c->input) - n, "%.*s", (int)len, data);
	c->go = strstr(c->input, "GO ");
	return GUEST_OK;
}

static enum guest_status canned_mark(void *ctx, const char *text, unsigned int limit_ms)
{
	struct canned *c = ctx;
	enum guest_status end = c->abandoned ? GUEST_STOPPED : c->next_mark;

	(void)limit_ms;
	c->next_mark = GUEST_OK;
	if (end == GUEST_OK) {
		console(c, text);
		console(c, "\n");
	}
	return end;
}

static enum guest_status canned_health(void *ctx, bool exact, char *text, size_t size, size_t *len)
{
	struct canned *c = ctx;
	const char *health = exact && c->health_exact ? c->health_exact : c->health;
	enum guest_status end = c->health_end;

	if (exact && c->health_exacts) {
		health = *c->health_exacts;
		c->health_exacts += c->health_exacts[1] != NULL;
	}
	c->clock += LOOK_MS * 1000000ull;
	c->healths++;
	if (c->next_look != GUEST_OK || c->next_words) {
		end = c->next_look;
		console(c, c->next_words);
		c->next_look = GUEST_OK;
		c->next_words = NULL;
	}
	*len = (size_t)snprintf(text, size, "%s", health ? health : "");
	return end;
}

static json_t *canned_control(void *ctx, const json_t *request)
{
	struct canned *c = ctx;
	json_t *answer, *counters = json_object();
	char *text;
	unsigned int i;

	if (c->gpu_dead || c->gpu_still || c->refuses) {
		c->refuses -= !c->gpu_dead && !c->gpu_still;
		json_decref(counters);
		return c->gpu_dead || c->gpu_still ? NULL : json_pack("{s:b}", "ok", 0);
	}
	text = json_dumps(request, JSON_COMPACT | JSON_SORT_KEYS);
	if (strstr(text, "\"mark\"") && c->gpu_held) {
		gpu_event(c, c->gpu_held);
		c->gpu_held = NULL;
	}
	if (!strstr(text, "counters") && !strstr(text, "ping"))
		note(c->requests, sizeof(c->requests), text);
	free(text);
	for (i = 0; i < AGATE_CNT_COUNT; i++)
		json_object_set_new(counters, name_counter(i),
				    json_integer((json_int_t)c->counters[i]));
	answer = json_pack("{s:b, s:o}", "ok", 1, "counters", counters);
	return answer;
}

static void canned_abandon(void *ctx)
{
	struct canned *c = ctx;

	c->abandoned = true;
	c->abandons++;
}

static void canned_kill_gpu(void *ctx)
{
	struct canned *c = ctx;

	c->kills++;
}

static const char *canned_gpu_failed(void *ctx)
{
	struct canned *c = ctx;

	return c->gpu_dead ? "it was killed on paper" : NULL;
}

static const char *canned_guest_did(void *ctx)
{
	const struct canned *c = ctx;

	return c->guest_did;
}

static const char *canned_gpu_log(void *ctx)
{
	const struct canned *c = ctx;

	return c->gpu_log;
}

static const char *canned_error(void *ctx)
{
	(void)ctx;
	return "written down so";
}

static uint64_t canned_now(void *ctx)
{
	struct canned *c = ctx;

	return c->clock;
}

static uint64_t canned_stood(void *ctx)
{
	struct canned *c = ctx;

	return c->stood;
}

static unsigned int canned_number(void *ctx)
{
	struct canned *c = ctx;

	return c->starts;
}

static bool canned_past(void *ctx, uint64_t until)
{
	return canned_now(ctx) >= until;
}

const struct guest_ops canned_ops = {
	.start = canned_start,
	.stop = canned_stop,
	.number = canned_number,
	.put = canned_put,
	.get = canned_get,
	.run = canned_run,
	.held = canned_held,
	.input = canned_input,
	.mark = canned_mark,
	.health = canned_health,
	.control = canned_control,
	.abandon = canned_abandon,
	.kill_gpu = canned_kill_gpu,
	.gpu_failed = canned_gpu_failed,
	.guest_did = canned_guest_did,
	.gpu_log = canned_gpu_log,
	.error = canned_error,
	.now = canned_now,
	.stood = canned_stood,
	.past = canned_past,
};
