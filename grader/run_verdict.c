// SPDX-License-Identifier: MIT
/*
 * A verdict on one test: finds the student's line to which it leads, and puts both into the
 * result (run_priv.h).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "run_priv.h"
#include "text.h"

static void put_where(struct outcome *outcome)
{
	const struct decode_place *place = &outcome->place;
	char where[sizeof(outcome->where)];

	snprintf(where, sizeof(where), place->line ? "%s:%u" : "%s", place->file, place->line);
	text_clean(outcome->where, sizeof(outcome->where), where, strlen(where));
}

/* The lines that freed the memory, innermost first, each with its function. */
static void put_freed(const struct run *run, const char *module, struct outcome *outcome)
{
	struct decode_place places[DECODE_FREED];
	char text[sizeof(outcome->freed[0])];
	size_t i;

	outcome->freed_count = decode_freed(&outcome->verdict.splat, module, ".",
					    run->parts.files, places);
	for (i = 0; i < outcome->freed_count; i++) {
		snprintf(text, sizeof(text), "%.255s:%u, in %.79s()", places[i].file, places[i].line,
			 places[i].function);
		text_clean(outcome->freed[i], sizeof(outcome->freed[i]), text, strlen(text));
	}
}

/*
 * Only the driver's own files are shown besides the student's.  A report of the kernel can be
 * forged, so it must not choose lines of a solution.
 */
static void show_given(struct decode_place *place)
{
	if (!place->source[1][0] && !strncmp(place->file, "kernel/", 7))
		decode_source(".", place);
}

static bool names_module(const struct splat_frame *frames, size_t count)
{
	size_t i;

	for (i = 0; i < count && !frames[i].module; i++)
		;
	return i < count;
}

/*
 * Links the module with debug information when the first trace is to be decoded: the linker takes
 * ten times as long for that, and most runs have no trace.  The caller holds the decode_lock.
 */
static void need_debug_info(struct flavour_run *fr, const struct splat *splat)
{
	const struct run_config *config = fr->run->config;
	const char *argv[] = { config->debug_info, flavour_names[fr->flavour], fr->driver.out, NULL };
	struct compose linking = { .pid = 0 };
	char out[RUN_PATH];
	enum compose_end end = COMPOSE_HOST;
	char words[160];

	if (fr->debug_info || !config->debug_info ||
	    (!names_module(splat->frames, splat->frame_count) &&
	     !names_module(splat->freed, splat->freed_count)))
		return;
	fr->debug_info = true;
	/* A folder for its words: those of the composition stay. */
	if (run_path(out, "%s/debug-info", fr->driver.out) && compose_start(&linking, argv, out))
		end = compose_wait(&linking, config->interrupt_fd);
	if (end == COMPOSE_OK || end == COMPOSE_INTERRUPTED)
		return;
	compose_last_words(&linking, words, sizeof(words));
	run_remark(fr->run, "%s kernel: no trace leads to a line, because the module does not link "
		   "with debug information: %s", flavour_names[fr->flavour], words);
}

/* The student's line to which the compiler's output, or a report of the kernel, leads. */
static void locate(const struct lane *lane, struct outcome *outcome)
{
	struct flavour_run *fr = lane->fr;
	struct run *run = fr->run;
	uint64_t begun = timing_now();
	char tree[RUN_PATH];

	outcome->place = fr->place;
	outcome->placed = fr->place.line;
	put_where(outcome);
	if (outcome->verdict.splat.kind == SPLAT_NONE)
		return;
	pthread_mutex_lock(&run->decode_lock);
	need_debug_info(fr, &outcome->verdict.splat);
	outcome->placed = decode_both(&outcome->verdict.splat, fr->module, ".",
				      run->parts.files, &outcome->place, &outcome->inner);
	put_freed(run, fr->module, outcome);
	pthread_mutex_unlock(&run->decode_lock);
	/* Read the lines that were compiled; the file may have changed since. */
	compose_tree(run->lab->lab->library ? &fr->library : &fr->driver, tree, sizeof(tree));
	if (outcome->place.source[1][0])
		decode_source(tree, &outcome->place);
	show_given(&outcome->place);
	show_given(&outcome->inner);
	if (outcome->placed)
		put_where(outcome);
	timing_add(lane->timing, begun, "trace decoded");
}

/* "WARNING: CPU: 0 PID: 9 at mm/slub.c:12 free+0x1/0x2": a file of the kernel's, and no other. */
static bool warned_at(const char *seen, struct decode_place *place)
{
	const char *at = strstr(seen, " at ");

	return !strncmp(seen, "WARNING: ", 9) && at &&
	       sscanf(at, " at %255[A-Za-z0-9_./-]:%u ", place->file, &place->line) == 2 &&
	       place->file[0] != '/' && !strstr(place->file, "..");
}

/* A warning names a line of the kernel's, which has the condition that became true. */
static void add_condition(const struct run *run, struct verdict *verdict)
{
	struct decode_place place = { 0 };
	const char *line = place.source[1];
	char tree[RUN_PATH], seen[sizeof(verdict->seen) + sizeof(place.source[1]) + 2];

	if (verdict->splat.kind != SPLAT_WARNING || !warned_at(verdict->seen, &place) ||
	    !run_path(tree, "%s/guest/kernel-fast/source", run->config->build))
		return;
	decode_source(tree, &place);
	line += strspn(line, " \t");
	if (!strstr(line, "WARN"))
		return;
	snprintf(seen, sizeof(seen), "%s: %s", verdict->seen, line);
	text_clean(verdict->seen, sizeof(verdict->seen), seen, strlen(seen));
}

/* The caller holds the lock.  The other tests go on. */
static void tell_unjudged(struct run *run, size_t test, const struct verdict *verdict)
{
	if (!run->failed && !run->unjudged)
		snprintf(run->error, RUN_ERROR, "%s/%s has no verdict, and that is not your "
			 "code's fault: %.500s", run->lab->lab->name,
			 run->lab->lab->tests[test].name, verdict->seen);
	run->unjudged = true;
}

void run_verdict(void *arg, size_t test, const struct verdict *verdict)
{
	const struct lane *lane = arg;
	struct flavour_run *fr = lane->fr;
	struct run *run = fr->run;
	struct outcome *placed = malloc(sizeof(*placed)), *outcome;

	if (!placed) {
		run_fail(run, "out of memory");
		return;
	}
	memset(placed, 0, sizeof(*placed));
	placed->verdict = *verdict;
	add_condition(run, &placed->verdict);
	locate(lane, placed);
	pthread_mutex_lock(&run->result->lock);
	/* A test whose guest was lost may have had a verdict before. */
	run->done += !run->lab->outcomes[fr->flavour][test].there;
	result_take(run->lab, fr->flavour, test, &placed->verdict);
	outcome = &run->lab->outcomes[fr->flavour][test];
	outcome->placed = placed->placed;
	outcome->place = placed->place;
	outcome->inner = placed->inner;
	memcpy(outcome->where, placed->where, sizeof(outcome->where));
	memcpy(outcome->freed, placed->freed, sizeof(outcome->freed));
	outcome->freed_count = placed->freed_count;
	if (verdict->status == VERDICT_NOT_RUN)
		tell_unjudged(run, test, verdict);
	else if (verdict->status != VERDICT_PASS && test < run->first_failed)
		run->first_failed = test;
	run_publish(run);
	pthread_mutex_unlock(&run->result->lock);
	free(placed);
}
