// SPDX-License-Identifier: MIT
/*
 * The rules of the trace-event format (trace_check.h).
 */
#include "trace_check.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_TID		64
#define MAX_FILE	(1l << 30)

struct checker {
	struct trace_report *report;
	json_int_t pid;
	double ts;		/* of the newest event */
	unsigned int depth[MAX_TID];
	bool used[MAX_TID];
};

__attribute__((format(printf, 2, 3)))
static bool wrong(struct checker *c, const char *format, ...)
{
	va_list args;
	int n = snprintf(c->report->why, sizeof(c->report->why), "event %u: ",
			 c->report->events);

	va_start(args, format);
	vsnprintf(c->report->why + n, sizeof(c->report->why) - n, format, args);
	va_end(args);
	return false;
}

static void count(json_t *object, const char *name)
{
	json_int_t n = json_integer_value(json_object_get(object, name));

	json_object_set_new(object, name, json_integer(n + 1));
}

static bool check_metadata(struct checker *c, const json_t *e, const char *name, json_int_t tid)
{
	const json_t *args = json_object_get(e, "args");
	const char *value = json_string_value(json_object_get(args, "name"));
	char key[24];

	if (!strcmp(name, "thread_sort_index"))
		return json_is_integer(json_object_get(args, "sort_index")) ||
		       wrong(c, "a sort index that is no number");
	if (strcmp(name, "thread_name") && strcmp(name, "process_name"))
		return wrong(c, "unknown metadata %s", name);
	if (!value || !*value)
		return wrong(c, "%s without a name", name);
	snprintf(key, sizeof(key), "%lld", (long long)tid);
	if (!strcmp(name, "thread_name"))
		json_object_set_new(c->report->tracks, key, json_string(value));
	return true;
}

static bool check_counter(struct checker *c, const json_t *e, const char *name)
{
	json_t *args = json_object_get(e, "args"), *value;
	const char *key;

	if (!json_object_size(args))
		return wrong(c, "a counter without values");
	json_object_foreach(args, key, value)
		if (!json_is_number(value))
			return wrong(c, "%s of %s is no number", key, name);
	count(c->report->counters, name);
	return true;
}

static bool check_span(struct checker *c, const char *phase, json_int_t tid)
{
	if (*phase == 'B') {
		c->depth[tid]++;
		return true;
	}
	if (!c->depth[tid])
		return wrong(c, "an end without a beginning on track %lld", (long long)tid);
	c->depth[tid]--;
	return true;
}

static bool check_event(struct checker *c, const json_t *e)
{
	const char *name = json_string_value(json_object_get(e, "name"));
	const char *phase = json_string_value(json_object_get(e, "ph"));
	const char *scope = json_string_value(json_object_get(e, "s"));
	json_int_t pid = json_integer_value(json_object_get(e, "pid"));
	const json_t *ts = json_object_get(e, "ts"), *tid_value = json_object_get(e, "tid");
	json_int_t tid = json_integer_value(tid_value);

	if (!json_is_object(e) || !name || !phase || strlen(phase) != 1)
		return wrong(c, "no name or no phase");
	if (!json_is_integer(tid_value) || tid < 0 || tid >= MAX_TID)
		return wrong(c, "a tid that makes no sense");
	if (pid <= 0 || (c->pid && pid != c->pid))
		return wrong(c, "a pid that makes no sense");
	c->pid = pid;
	if (*phase == 'M')
		return check_metadata(c, e, name, tid);
	if (!json_is_number(ts) || json_number_value(ts) < c->ts)
		return wrong(c, "time is missing or goes back");
	c->ts = json_number_value(ts);
	if (*phase == 'C')
		return check_counter(c, e, name);
	c->used[tid] = true;
	count(c->report->names, name);
	if (*phase == 'i')
		return (scope && strlen(scope) == 1 && strchr("gpt", *scope)) ||
		       wrong(c, "an instant without a scope");
	if (*phase == 'B' || *phase == 'E')
		return check_span(c, phase, tid);
	return wrong(c, "unknown phase %s", phase);
}

static bool check_tracks(struct checker *c)
{
	unsigned int tid;
	char key[24];

	for (tid = 0; tid < MAX_TID; tid++) {
		c->report->open += c->depth[tid];
		snprintf(key, sizeof(key), "%u", tid);
		if (c->used[tid] && !json_object_get(c->report->tracks, key))
			return wrong(c, "track %u has no name", tid);
	}
	return true;
}

/*
 * A simulator that is killed leaves out the closing bracket, and may leave a piece of its
 * last event.  Every event begins a line: without that piece @text ends where the line before
 * it does.
 */
static json_t *load_open(char *text, size_t size, json_error_t *error)
{
	json_t *trace;

	text[size] = ']';
	trace = json_loadb(text, size + 1, 0, error);
	while (!trace && size && text[--size] != '\n')
		;
	if (trace || !size)
		return trace;
	if (text[size - 1] == ',')
		size--;
	text[size] = ']';
	return json_loadb(text, size + 1, 0, error);
}

/* Load the whole file, and add the closing bracket if it is missing. */
static json_t *load(const char *path, struct trace_report *report)
{
	FILE *file = fopen(path, "r");
	json_error_t error;
	json_t *trace;
	char *text;
	long size;

	if (!file || fseek(file, 0, SEEK_END) || (size = ftell(file)) < 0 || size > MAX_FILE) {
		snprintf(report->why, sizeof(report->why), "%s cannot be read", path);
		if (file)
			fclose(file);
		return NULL;
	}
	rewind(file);
	text = malloc(size + 2);
	if (!text || fread(text, 1, size, file) != (size_t)size)
		abort();
	fclose(file);
	while (size && (text[size - 1] == '\n' || text[size - 1] == ' '))
		size--;
	report->closed = size && text[size - 1] == ']';
	trace = report->closed ? json_loadb(text, size, 0, &error) :
		load_open(text, (size_t)size, &error);
	if (!trace)
		snprintf(report->why, sizeof(report->why), "line %d: %.200s", error.line,
			 error.text);
	free(text);
	return trace;
}

bool trace_check(const char *path, struct trace_report *report)
{
	struct checker c = { .report = report };
	json_t *trace, *event;
	bool good = true;
	size_t i;

	*report = (struct trace_report){
		.tracks = json_object(), .counters = json_object(), .names = json_object(),
	};
	trace = load(path, report);
	if (!trace)
		return false;
	if (!json_is_array(trace))
		good = wrong(&c, "not an array");
	json_array_foreach(trace, i, event) {
		if (!good)
			break;
		report->events++;
		good = check_event(&c, event);
	}
	good = good && check_tracks(&c);
	json_decref(trace);
	return good;
}

void trace_report_free(struct trace_report *report)
{
	json_decref(report->tracks);
	json_decref(report->counters);
	json_decref(report->names);
}

unsigned int trace_count(const struct trace_report *report, const char *name)
{
	return (unsigned int)json_integer_value(json_object_get(report->names, name));
}

bool trace_has_track(const struct trace_report *report, const char *name)
{
	const char *key;
	json_t *value;

	json_object_foreach(report->tracks, key, value)
		if (!strcmp(json_string_value(value), name))
			return true;
	return json_object_get(report->counters, name);
}
