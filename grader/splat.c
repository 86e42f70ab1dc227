// SPDX-License-Identifier: MIT
/*
 * Finds the most informative report in a console's text.
 *
 * A report begins with a line that splat_pattern.c knows, goes on with a trace,
 * and may have more traces behind it.  Each trace is kept separate up to the report's
 * end, because their kinds decide which of them names the student's line.
 */
#include <stdint.h>
#include <string.h>

#include "splat_priv.h"

/* No report is longer: a longer one is really two, and the end of the first got lost. */
#define REPORT_LINES	3000
/* The line above a WARN() or BUG(), and the largest distance between the two. */
#define CUT_HERE	"------------[ cut here ]"
#define CUT_HERE_LINES	4

enum trace_id {
	TRACE_MAIN,		/* what the CPU was doing */
	TRACE_FREED,		/* where the memory was freed that is now used */
	TRACE_ORIGIN,		/* where the object in question was mapped, inserted, allocated */
	TRACE_HELD,		/* where the held locks were taken */
	TRACES,
	TRACE_NONE = TRACES,
};

struct trace {
	struct splat_frame frames[SPLAT_FRAMES];
	size_t count;
	bool module;
};

struct splat_report {
	struct splat *splat;
	const struct splat_pattern *pattern;
	struct trace traces[TRACES];
	enum trace_id open;	/* the trace to which lines belong, or TRACE_NONE */
	bool traced;		/* its first trace has begun */
	bool ruled;		/* between two rows of "=": on some kernels UBSAN's, on all KASAN's */
	bool ends;		/* with "end trace" */
};

static bool row_of_equals(const struct splat_line *line)
{
	size_t i;

	for (i = 0; i < line->len; i++) {
		if (line->text[i] != '=')
			return false;
	}
	return line->len >= 16;
}

static void add_frame(struct trace *trace, const struct splat_frame *frame)
{
	if (trace->count == SPLAT_FRAMES) {
		/* The module's innermost frame counts: keep room for it. */
		if (!frame->module || trace->module)
			return;
		trace->count--;
	}
	trace->frames[trace->count++] = *frame;
	trace->module |= frame->module;
}

/* " func+0x1/0x2", " [<0123>] func+0x1/0x2"; "? func" is a guess of the unwinder. */
static bool plain_frame(const struct splat_line *line, struct splat_frame *frame)
{
	const char *at = line->text, *end = line->text + line->len, *close;

	while (at < end && (*at == ' ' || *at == '\t'))
		at++;
	if (end - at > 2 && at[0] == '[' && at[1] == '<') {
		close = memchr(at, ']', (size_t)(end - at));
		if (!close)
			return false;
		for (at = close + 1; at < end && *at == ' '; at++)
			;
	}
	return splat_frame_parse(at, (size_t)(end - at), frame);
}

static bool rip_frame(const struct splat_line *line, struct splat_frame *frame)
{
	static const char rip[] = "RIP: 0010:";
	size_t n = sizeof(rip) - 1;

	if (!splat_line_starts(line, rip) ||
	    !splat_frame_parse(line->text + n, line->len - n, frame))
		return false;
	frame->exact = true;
	return true;
}

/*
 * " #4: ffff... (&lock){+.+.}-{3:3}, at: func+0x1/0x2 [agate]": the last line is the lock
 * taken last.
 */
static bool held_frame(const struct splat_line *line, struct splat_frame *frame)
{
	static const char at[] = "}, at: ";
	const char *found;
	size_t n = sizeof(at) - 1;

	if (!splat_line_starts(line, " #"))
		return false;
	found = memmem(line->text, line->len, at, n);
	return found && splat_frame_parse(found + n,
					  line->len - (size_t)(found + n - line->text), frame);
}

/* The trace that a line announces. */
static enum trace_id heading(const struct splat_line *line)
{
	if (splat_line_starts(line, "Call Trace:"))
		return TRACE_MAIN;
	if (splat_line_starts(line, "Freed by task "))
		return TRACE_FREED;
	if (splat_line_starts(line, "Allocated by task ") || splat_line_has(line, "Mapped at:") ||
	    splat_line_has(line, ": inserted at") || splat_line_starts(line, "  backtrace:") ||
	    splat_line_starts(line, "  backtrace (crc "))
		return TRACE_ORIGIN;
	return TRACE_NONE;
}

static bool trace_over(const struct splat_report *report, const struct splat_line *line)
{
	if (report->open == TRACE_MAIN)
		return splat_line_has(line, "</TASK>") || splat_line_starts(line, "Modules linked in:");
	/* The others have no end mark: any line that is not a frame ends them. */
	return true;
}

/* In a dump of many tasks or CPUs: does the next one begin here? */
static bool new_section(const struct splat_report *report, const struct splat_line *line)
{
	switch (report->pattern->kind) {
	case SPLAT_LOCKUP:
		return splat_line_starts(line, "NMI backtrace for cpu ") ||
		       splat_line_starts(line, "CPU: ") ||
		       splat_line_starts(line, "sysrq: Show backtrace");
	case SPLAT_HUNG_TASK:
		return splat_line_starts(line, "task:") || splat_line_starts(line, "INFO: task ");
	default:
		return false;
	}
}

/* Frames and headings; false when the line is neither. */
static bool take_line(struct splat_report *report, const struct splat_line *line)
{
	struct trace *trace = &report->traces[TRACE_MAIN];
	struct splat_frame frame;
	enum trace_id id = heading(line);

	if (new_section(report, line) && !trace->module) {
		trace->count = 0;
		report->traced = false;
		report->open = TRACE_NONE;
		return true;
	}
	if (id == TRACE_MAIN && report->traced)
		id = TRACE_NONE;
	if (id != TRACE_NONE) {
		report->open = id;
		report->traced = true;
		return true;
	}
	/* The CPU's position precedes its trace; in the trace it shows where an interrupt came. */
	if ((!report->traced || report->open == TRACE_MAIN) && rip_frame(line, &frame)) {
		add_frame(trace, &frame);
		return true;
	}
	if (report->open != TRACE_NONE && plain_frame(line, &frame)) {
		add_frame(&report->traces[report->open], &frame);
		return true;
	}
	if (report->open != TRACE_NONE && trace_over(report, line))
		report->open = TRACE_NONE;
	if (!report->traced && held_frame(line, &frame) &&
	    (frame.module || !report->traces[TRACE_HELD].module)) {
		report->traces[TRACE_HELD].count = 0;
		add_frame(&report->traces[TRACE_HELD], &frame);
	}
	return false;
}

static bool many_sections(const struct splat_report *report)
{
	return report->pattern->kind == SPLAT_LOCKUP || report->pattern->kind == SPLAT_HUNG_TASK;
}

/*
 * Is the report over before this line?  It never is before its trace, because an oops
 * announces itself in several lines that would each begin a report elsewhere.
 */
static bool over_before(const struct splat_report *report, const struct splat_line *line)
{
	const struct splat_pattern *next;

	if (!report->traced && !report->pattern->no_trace && !many_sections(report))
		return false;
	if (splat_line_starts(line, CUT_HERE))
		return true;
	if (many_sections(report) && report->traces[TRACE_MAIN].module && new_section(report, line))
		return true;
	next = splat_pattern_of(line);
	return next && !(many_sections(report) && next->kind == report->pattern->kind);
}

/* Is the report over with this line? */
static bool over_with(const struct splat_report *report, const struct splat_line *line)
{
	if (report->pattern->no_trace)
		return report->pattern->kind != SPLAT_LOCKDEP ||
		       (report->traces[TRACE_HELD].count && !splat_line_starts(line, " #"));
	if (!report->traced || many_sections(report))
		return false;
	if (report->ruled)
		return row_of_equals(line);
	if (report->ends)
		return splat_line_starts(line, "---[ end trace");
	return report->open == TRACE_NONE;
}

/* Chooses the trace that names the place. */
static const struct trace *choose(const struct splat_report *report)
{
	static const enum trace_id usual[] = {
		TRACE_MAIN, TRACE_FREED, TRACE_ORIGIN, TRACE_HELD,
	};
	const struct trace *traces = report->traces;
	size_t i;

	if (report->pattern->origin && traces[TRACE_ORIGIN].module)
		return &traces[TRACE_ORIGIN];
	for (i = 0; i < sizeof(usual) / sizeof(usual[0]); i++) {
		if (traces[usual[i]].module)
			return &traces[usual[i]];
	}
	return &traces[TRACE_MAIN];
}

static void copy_headline(struct splat *splat, const struct splat_line *line)
{
	size_t n = line->len < sizeof(splat->headline) - 1 ? line->len : sizeof(splat->headline) - 1;
	size_t i;

	for (i = 0; i < n; i++) {
		char c = line->text[i];

		splat->headline[i] = c >= ' ' && c <= '~' ? c : '?';
	}
	splat->headline[n] = '\0';
}

/* Some reports show after their end where the object was mapped or inserted. */
static void read_origin(const char *text, size_t len, struct splat_report *report)
{
	struct splat_line line;

	report->open = TRACE_NONE;
	while (splat_line_at(text, len, report->splat->end, &line)) {
		if (report->open == TRACE_NONE && heading(&line) != TRACE_ORIGIN)
			return;
		if (!take_line(report, &line))
			return;
		report->splat->end = line.next;
	}
}

/* The code that uses freed memory is one half of the cause; the code that freed it is the other. */
static void copy_freed(struct splat *splat, const struct trace *freed)
{
	size_t i;

	for (i = 0; i < freed->count && splat->freed_count < SPLAT_FREED; i++) {
		if (freed->frames[i].module)
			splat->freed[splat->freed_count++] = freed->frames[i];
	}
}

/*
 * Reads a report whose first line is @first; it began at @begin, with a line that only
 * announces it.
 */
static void read_report(const char *text, size_t len, size_t begin, const struct splat_line *first,
			const struct splat_pattern *pattern, struct splat *splat)
{
	struct splat_report report = { .splat = splat, .pattern = pattern, .open = TRACE_NONE };
	struct splat_line line;
	const struct trace *trace;
	const char *rule;
	size_t lines;

	memset(splat, 0, sizeof(*splat));
	splat->kind = pattern->kind;
	splat->rule = pattern->rule;
	splat->timed = pattern->timed;
	splat->maybe_freed = pattern->maybe_freed;
	splat->begin = begin;
	splat->end = first->next;
	copy_headline(splat, first);
	report.ruled = pattern->kind == SPLAT_KASAN || pattern->kind == SPLAT_UBSAN;
	report.ends = pattern->kind == SPLAT_OOPS || pattern->kind == SPLAT_LIST;
	if (splat_line_at(text, len, begin, &line) && splat_line_starts(&line, CUT_HERE)) {
		report.ends = true;
		report.ruled = false;
	}
	for (lines = 0; lines < REPORT_LINES; lines++) {
		if (!splat_line_at(text, len, splat->end, &line) || over_before(&report, &line))
			break;
		splat->end = line.next;
		rule = splat_body_rule(splat, &line);
		if (rule) {
			splat->rule = rule;
			splat->maybe_freed = false;
		}
		if (!take_line(&report, &line) && over_with(&report, &line))
			break;
	}
	read_origin(text, len, &report);
	trace = choose(&report);
	memcpy(splat->frames, trace->frames, sizeof(trace->frames));
	splat->frame_count = trace->count;
	if (trace != &report.traces[TRACE_FREED])
		copy_freed(splat, &report.traces[TRACE_FREED]);
	if (pattern->nowhere && !trace->module)
		splat->rule = pattern->nowhere;
	else if (pattern->elsewhere && trace != &report.traces[TRACE_MAIN])
		splat->rule = pattern->elsewhere;
	else if (many_sections(&report) && trace->module)
		splat->rule = splat_wait_rule(splat);
}

/* Ranks the reports that do not name a cause by themselves. */
static int weight(const struct splat *splat)
{
	int n = splat->kind == SPLAT_LOCKUP ? 3 : splat->kind == SPLAT_PANIC ? 1 : 2;
	size_t i;

	for (i = 0; i < splat->frame_count; i++) {
		if (splat->frames[i].module)
			return n + 4;
	}
	return n;
}

/*
 * Finds the first line of the report that a line announces, among the next few lines.
 * The message of a WARN() stands above "WARNING: CPU: ..." and tells more.
 */
static const struct splat_pattern *announced(const char *text, size_t len,
					     const struct splat_line *cut, struct splat_line *first)
{
	const struct splat_pattern *pattern;
	struct splat_line line;
	size_t at = cut->next;
	int i;

	for (i = 0; i < CUT_HERE_LINES && splat_line_at(text, len, at, &line); i++) {
		if (splat_line_starts(&line, CUT_HERE))
			break;
		if (i == 0)
			*first = line;
		pattern = splat_pattern_of(&line);
		if (pattern) {
			if (pattern->kind != SPLAT_WARNING)
				*first = line;
			return pattern;
		}
		at = line.next;
	}
	return NULL;
}

/* @timed: count the watchdogs' reports as well. */
static bool find(const char *text, size_t len, bool timed, struct splat *splat)
{
	const struct splat_pattern *pattern;
	struct splat_line line, first;
	size_t at, begin, row = SIZE_MAX;
	struct splat found;

	memset(splat, 0, sizeof(*splat));
	for (at = 0; splat_line_at(text, len, at, &line); at = line.next) {
		begin = line.begin;
		first = line;
		if (splat_line_starts(&line, CUT_HERE))
			pattern = announced(text, len, &line, &first);
		else
			pattern = splat_pattern_of(&line);
		if (pattern) {
			if (row != SIZE_MAX)
				begin = row;
			read_report(text, len, begin, &first, pattern, &found);
			if ((timed || !pattern->timed) &&
			    (!splat->rule || !pattern->weak || weight(&found) > weight(splat)))
				*splat = found;
			/* Everything after a panic is a consequence of the panic. */
			if (!pattern->weak || pattern->kind == SPLAT_PANIC)
				return true;
			line.next = found.end;
		}
		row = row_of_equals(&line) ? line.begin : SIZE_MAX;
	}
	return splat->rule != NULL;
}

bool splat_find(const char *text, size_t len, struct splat *splat)
{
	return find(text, len, true, splat);
}

bool splat_find_untimed(const char *text, size_t len, struct splat *splat)
{
	return find(text, len, false, splat);
}

const char *splat_name(enum splat_kind kind)
{
	static const char *const names[] = {
		[SPLAT_NONE] = "nothing",
		[SPLAT_OOPS] = "oops",
		[SPLAT_PANIC] = "panic",
		[SPLAT_KASAN] = "KASAN",
		[SPLAT_UBSAN] = "UBSAN",
		[SPLAT_WARNING] = "warning",
		[SPLAT_REFCOUNT] = "refcount",
		[SPLAT_LIST] = "list",
		[SPLAT_LOCKDEP] = "lockdep",
		[SPLAT_SLEEP] = "sleep",
		[SPLAT_DMA_API] = "DMA-API",
		[SPLAT_OBJECTS] = "objects",
		[SPLAT_LEAK] = "leak",
		[SPLAT_HUNG_TASK] = "hung-task",
		[SPLAT_LOCKUP] = "lockup",
		[SPLAT_OTHER] = "report",
	};

	return names[kind];
}

const char *splat_rule(const struct splat *splat)
{
	return splat->rule ? splat->rule : "the kernel has nothing to say against it";
}
