// SPDX-License-Identifier: MIT
/*
 * Events to tracks (trace.h).
 *
 * Every event's text is a constant of ours without anything to escape, except a
 * mark's, which arrives as JSON already.  A comma precedes each event except the first,
 * so that at any time the file lacks only the closing bracket.
 */
#include "trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "names.h"

#define TRACE_PID	1
#define TRACE_LINE	1024u	/* no event is longer */
#define TRACE_TEXT	256u

/* Writes a whole event, without its braces; flushes the buffer first if the event might not fit. */
__attribute__((format(printf, 2, 3)))
static void trace_line(struct trace *trace, const char *format, ...)
{
	char line[TRACE_LINE];
	va_list args;
	int n;

	va_start(args, format);
	n = vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= sizeof(line))
		return;
	if (trace->unflushed + n + 8 > TRACE_BUFFER)
		trace_flush(trace);
	n = fprintf(trace->file, "%s{%s}", trace->bytes ? ",\n" : "[\n", line);
	if (n > 0) {
		trace->bytes += n;
		trace->unflushed += n;
	}
}

/* Model time in microseconds, exactly: a bus cycle is 1.25 ns. */
static void trace_stamp(char buf[32], uint64_t time)
{
	uint64_t parts = time % AGATE_BUS_MHZ * (100000 / AGATE_BUS_MHZ);

	snprintf(buf, 32, "%" PRIu64 ".%05" PRIu64, time / AGATE_BUS_MHZ, parts);
}

static const char *track_name(unsigned int track, char buf[32])
{
	static const char *const names[] = {
		[TRACE_FLUSH] = "flushes", [TRACE_POWER] = "power and resets",
		[TRACE_MOVER] = "mover", [TRACE_FLIPS] = "flips",
		[TRACE_FAULTS] = "faults", [TRACE_IRQ] = "interrupts",
		[TRACE_HINTS] = "hints and marks",
	};

	if (track < TRACE_AS)
		snprintf(buf, 32, "slot %u", track - TRACE_SLOT);
	else if (track < TRACE_FLUSH)
		snprintf(buf, 32, "address space %u", track - TRACE_AS);
	else
		return names[track];
	return buf;
}

/* A track has a name from its first event on. */
static void track_need(struct trace *trace, unsigned int track)
{
	char buf[32];

	if (trace->named[track])
		return;
	trace->named[track] = true;
	trace_line(trace, "\"name\": \"thread_name\", \"ph\": \"M\", \"pid\": %d, \"tid\": %u, "
		   "\"args\": {\"name\": \"%s\"}", TRACE_PID, track + 1, track_name(track, buf));
	trace_line(trace, "\"name\": \"thread_sort_index\", \"ph\": \"M\", \"pid\": %d, \"tid\": %u, "
		   "\"args\": {\"sort_index\": %u}", TRACE_PID, track + 1, track);
}

static void emit(struct trace *trace, unsigned int track, char phase, const char *text)
{
	char stamp[32];

	track_need(trace, track);
	trace_stamp(stamp, trace->time);
	trace_line(trace, "\"name\": \"%s\", \"ph\": \"%c\", \"ts\": %s, \"pid\": %d, \"tid\": %u%s",
		   text, phase, stamp, TRACE_PID, track + 1, phase == 'i' ? ", \"s\": \"t\"" : "");
}

__attribute__((format(printf, 3, 4)))
void trace_instant(struct trace *trace, unsigned int track, const char *format, ...)
{
	char text[TRACE_TEXT];
	va_list args;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	emit(trace, track, 'i', text);
}

__attribute__((format(printf, 3, 4)))
void trace_begin(struct trace *trace, unsigned int track, const char *format, ...)
{
	char text[TRACE_TEXT];
	va_list args;

	if (trace->depth[track] == TRACE_DEPTH)
		return;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	trace->depth[track]++;
	emit(trace, track, 'B', text);
}

/* Ends spans until only so many are open. */
void trace_end_to(struct trace *trace, unsigned int track, unsigned int depth)
{
	while (trace->depth[track] > depth) {
		trace->depth[track]--;
		emit(trace, track, 'E', "");
	}
}

/* A counter's values, "name": value and so on. */
__attribute__((format(printf, 3, 4)))
void trace_counter(struct trace *trace, const char *name, const char *format, ...)
{
	char values[TRACE_TEXT], stamp[32];
	va_list args;

	va_start(args, format);
	vsnprintf(values, sizeof(values), format, args);
	va_end(args);
	trace_stamp(stamp, trace->time);
	trace_line(trace, "\"name\": \"%s\", \"ph\": \"C\", \"ts\": %s, \"pid\": %d, \"tid\": 0, "
		   "\"args\": {%s}", name, stamp, TRACE_PID, values);
}

/* ---- Slots ------------------------------------------------------------------- */

enum { DEPTH_CHAIN = 1, DEPTH_JOB, DEPTH_FAULT };

static void trace_chain(struct trace *trace, const struct agate_sim_event *e)
{
	unsigned int slot = (unsigned int)e->a, track = TRACE_SLOT + slot;

	if (e->kind == AGATE_EV_CHAIN_START) {
		trace_end_to(trace, track, 0);
		trace_begin(trace, track, "chain 0x%" PRIx64 ", address space %u", e->b,
			    (unsigned int)JS_CONFIG_AS(e->c));
		return;
	}
	trace->faulted[slot] = false;
	trace_end_to(trace, track, 0);
	if (e->text || e->c != AGATE_EXC_DONE)
		trace_instant(trace, track, "chain ended: %s",
			      e->text ? e->text : name_exception((unsigned int)e->c));
}

static void trace_job(struct trace *trace, const struct agate_sim_event *e)
{
	unsigned int slot = (unsigned int)e->a, track = TRACE_SLOT + slot;

	if (e->kind == AGATE_EV_JOB_START) {
		trace_end_to(trace, track, DEPTH_CHAIN);
		trace_begin(trace, track, "%s 0x%" PRIx64, name_job_type((unsigned int)e->c), e->b);
	} else {
		trace->faulted[slot] = false;
		trace_end_to(trace, track, DEPTH_CHAIN);
	}
}

static void trace_traffic(struct trace *trace, const struct agate_sim_event *e)
{
	uint64_t read = 0, written = 0;
	unsigned int i;

	trace->read[e->a] = e->b;
	trace->written[e->a] = e->c;
	for (i = 0; i < AGATE_MAX_SLOTS; i++) {
		read += trace->read[i];
		written += trace->written[i];
	}
	trace_counter(trace, "memory traffic (bytes)",
		      "\"read\": %" PRIu64 ", \"written\": %" PRIu64, read, written);
}

/* ---- Faults -------------------------------------------------------------------- */

static void trace_fault(struct trace *trace, const struct agate_sim_event *e)
{
	const char *exception = name_exception(AS_FAULTSTATUS_EXCEPTION((uint32_t)e->c));
	unsigned int slot = AS_FAULTSTATUS_SOURCE_ID((uint32_t)e->c);

	trace_instant(trace, TRACE_FAULTS, "%s 0x%" PRIx64 ", address space %" PRIu64, exception,
		      e->b, e->a);
	if (slot >= AGATE_MAX_SLOTS || trace->faulted[slot])
		return;
	trace->faulted[slot] = true;
	trace->fault[slot] = e->b;
	trace_begin(trace, TRACE_SLOT + slot, "waits: %s 0x%" PRIx64, exception, e->b);
}

static void trace_resumed(struct trace *trace, const struct agate_sim_event *e)
{
	unsigned int slot;

	for (slot = 0; slot < AGATE_MAX_SLOTS; slot++)
		if (trace->faulted[slot] && trace->fault[slot] == e->b) {
			trace->faulted[slot] = false;
			trace_end_to(trace, TRACE_SLOT + slot, trace->depth[TRACE_SLOT + slot] - 1);
			return;
		}
}

/* ---- Address spaces ---------------------------------------------------------------- */

static void trace_as(struct trace *trace, const struct agate_sim_event *e)
{
	unsigned int track = TRACE_AS + (unsigned int)e->a;

	trace_begin(trace, track, "%s", name_as_command((unsigned int)e->b));
	trace->command[e->a] = true;
	if (e->b == AS_COMMAND_FLUSH_PT || e->b == AS_COMMAND_FLUSH_MEM)
		trace_instant(trace, TRACE_FLUSH, "%s, address space %" PRIu64,
			      name_as_command((unsigned int)e->b), e->a);
}

/* A locked region is a span around the commands until UNLOCK. */
static void trace_as_done(struct trace *trace, const struct agate_sim_event *e)
{
	unsigned int track = TRACE_AS + (unsigned int)e->a;
	bool *locked = &trace->locked[e->a];

	if (trace->command[e->a])
		trace_end_to(trace, track, trace->depth[track] - 1);
	trace->command[e->a] = false;
	if (e->b == AS_COMMAND_LOCK && !*locked) {
		*locked = true;
		trace_begin(trace, track, "locked");
	} else if (e->b != AS_COMMAND_LOCK && e->b != AS_COMMAND_UPDATE && *locked) {
		*locked = false;
		trace_end_to(trace, track, 0);
	}
	if (e->b == AS_COMMAND_UPDATE)
		trace_instant(trace, track, "%s, table 0x%" PRIx64, e->text, e->c);
}

/* ---- The rest ------------------------------------------------------------------------ */

/* A reset ends every transition but the card's; the slots report their chains themselves. */
static void trace_reset(struct trace *trace, const struct agate_sim_event *e)
{
	unsigned int track;

	for (track = TRACE_AS; track < TRACE_MOVER; track++)
		trace_end_to(trace, track, 0);
	memset(trace->locked, 0, sizeof(trace->locked));
	memset(trace->command, 0, sizeof(trace->command));
	memset(trace->ready, 0, sizeof(trace->ready));
	trace_instant(trace, TRACE_POWER, "%s", name_gpu_command((unsigned int)e->a));
	trace_counter(trace, "cores on", "\"SHADER\": 0, \"TILER\": 0, \"L2\": 0");
}

static void trace_power(struct trace *trace, const struct agate_sim_event *e)
{
	trace->ready[e->a] = e->b;
	trace_instant(trace, TRACE_POWER, "%s %s", name_power_domain((unsigned int)e->a), e->text);
	trace_counter(trace, "cores on", "\"SHADER\": %d, \"TILER\": %d, \"L2\": %d",
		      __builtin_popcountll(trace->ready[0]), __builtin_popcountll(trace->ready[1]),
		      __builtin_popcountll(trace->ready[2]));
}

static void trace_clock(struct trace *trace, const struct agate_sim_event *e)
{
	trace_counter(trace, "clock (MHz)", "\"MHz\": %" PRIu64, e->a);
	trace_counter(trace, "supply (mV)", "\"mV\": %" PRIu64, e->c ? e->b : 0);
}

static void trace_one(struct trace *trace, const struct agate_sim_event *e)
{
	switch (e->kind) {
	case AGATE_EV_CHAIN_START:
	case AGATE_EV_CHAIN_END:
		trace_chain(trace, e);
		break;
	case AGATE_EV_CHAIN_CYCLIC:
		trace_instant(trace, TRACE_SLOT + (unsigned int)e->a, "goes in circles");
		break;
	case AGATE_EV_JOB_START:
	case AGATE_EV_JOB_END:
		trace_job(trace, e);
		break;
	case AGATE_EV_TRAFFIC:
		trace_traffic(trace, e);
		break;
	case AGATE_EV_FAULT:
		trace_fault(trace, e);
		break;
	case AGATE_EV_FAULT_RESUMED:
		trace_resumed(trace, e);
		break;
	case AGATE_EV_AS:
		trace_as(trace, e);
		break;
	case AGATE_EV_AS_DONE:
		trace_as_done(trace, e);
		break;
	case AGATE_EV_FLUSH:
		trace_begin(trace, TRACE_FLUSH, "%s", name_gpu_command((unsigned int)e->a));
		break;
	case AGATE_EV_FLUSH_DONE:
		trace_end_to(trace, TRACE_FLUSH, 0);
		break;
	case AGATE_EV_RESET:
		trace_reset(trace, e);
		break;
	case AGATE_EV_POWER:
		trace_power(trace, e);
		break;
	case AGATE_EV_CLOCK:
		trace_clock(trace, e);
		break;
	case AGATE_EV_IRQ:
		trace_instant(trace, TRACE_IRQ, "%s 0x%" PRIx64, name_vector((unsigned int)e->a),
			      e->b);
		break;
	case AGATE_EV_INJECTED:
		trace_instant(trace, TRACE_HINTS, "injected: %s",
			      name_injection((unsigned int)e->a));
		break;
	case AGATE_EV_UNLISTED:
		trace_instant(trace, TRACE_HINTS, "not listed: slot %" PRIu64 ", job 0x%" PRIx64
			      ", %s 0x%" PRIx64, e->a, e->c, e->text, e->b);
		break;
	case AGATE_EV_CARD_POWER:
		trace_instant(trace, TRACE_POWER, "card %s", e->text);
		break;
	case AGATE_EV_GGTT_INVALIDATE:
		trace_instant(trace, TRACE_FLUSH, "GGTT");
		break;
	case AGATE_EV_FW:
	case AGATE_EV_MOVER_BEGIN:
	case AGATE_EV_MOVER_END:
	case AGATE_EV_MOVER_FAULT:
	case AGATE_EV_FLIP:
	case AGATE_EV_FLIP_DONE:
		trace_card(trace, e);
		break;
	case AGATE_EV_HINT:
		trace_instant(trace, TRACE_HINTS, "hint: %s", e->text);
		break;
	case AGATE_EV_REG_WRITE:
	case AGATE_EV_REG_READ:
	case AGATE_EV_WALK:
	case AGATE_EV_FAULT_AGAIN:
	case AGATE_EV_GGTT_COMMIT:
		break;
	}
}

/* Only the ends of open spans follow. */
static void trace_end_spans(struct trace *trace)
{
	unsigned int track;

	for (track = 0; track < TRACE_TRACKS; track++)
		trace_end_to(trace, track, 0);
}

static bool trace_wanted(struct trace *trace, uint64_t time)
{
	if (!trace->file || trace->full)
		return false;
	if (trace->bytes > trace->limit) {
		trace->full = true;
		trace_instant(trace, TRACE_HINTS, "the trace has reached its limit");
		trace_end_spans(trace);
		return false;
	}
	trace->time = time;
	return true;
}

void trace_event(struct trace *trace, const struct agate_sim_event *e)
{
	if (trace_wanted(trace, e->time))
		trace_one(trace, e);
}

void trace_mark(struct trace *trace, uint64_t time, const char *json_text)
{
	char stamp[32];

	if (!trace_wanted(trace, time))
		return;
	track_need(trace, TRACE_HINTS);
	trace_stamp(stamp, time);
	trace_line(trace, "\"name\": \"mark\", \"ph\": \"i\", \"s\": \"g\", \"ts\": %s, \"pid\": %d, "
		   "\"tid\": %u, \"args\": {\"text\": %.512s}", stamp, TRACE_PID, TRACE_HINTS + 1,
		   strlen(json_text) <= 512 ? json_text : "\"(too long)\"");
}

const char *trace_open(struct trace *trace, const char *path, uint64_t limit)
{
	trace->limit = limit;
	trace->file = fopen(path, "we");
	if (!trace->file)
		return "the trace cannot be opened";
	if (setvbuf(trace->file, trace->buffer, _IOFBF, sizeof(trace->buffer)))
		return "the trace has no buffer";
	trace_line(trace, "\"name\": \"process_name\", \"ph\": \"M\", \"pid\": %d, \"tid\": 0, "
		   "\"args\": {\"name\": \"Agate GPU\"}", TRACE_PID);
	return NULL;
}

void trace_flush(struct trace *trace)
{
	if (trace->file)
		fflush(trace->file);
	trace->unflushed = 0;
}

bool trace_close(struct trace *trace)
{
	bool good;

	if (!trace->file)
		return true;
	trace_end_spans(trace);
	fputs("\n]\n", trace->file);
	/* The last flush may succeed after an earlier one lost data, so check both. */
	good = !ferror(trace->file);
	good = !fclose(trace->file) && good;
	trace->file = NULL;
	return good;
}
