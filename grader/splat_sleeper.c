// SPDX-License-Identifier: MIT
/*
 * A hang in which somebody waits for a lock: finds the thread that sleeps in the driver meanwhile,
 * because that one may have the lock.
 */
#include <stdio.h>
#include <string.h>

#include "splat_priv.h"

/* The trace of a blocked task: the function of the kernel that the module called. */
struct sleeper {
	char name[32];
	struct splat_frame called, caller;
	bool other;		/* it sleeps for a lock itself, or at a gate of the test's */
};

/* What waits for a lock. */
static bool is_lock(const char *symbol)
{
	return strstr(symbol, "mutex_lock") || strstr(symbol, "spin_lock") ||
	       strstr(symbol, "rwsem_down");
}

/* "task:NAME   state:D stack:..." begins the next trace. */
static bool begins(const struct splat_line *line, struct sleeper *s)
{
	char name[sizeof(s->name)];

	if (!splat_line_starts(line, "task:") || !splat_line_has(line, " state:") ||
	    sscanf(line->text, "task:%31[^ \n]", name) != 1)
		return false;
	*s = (struct sleeper){ .other = false };
	strcpy(s->name, name);
	return true;
}

/* The innermost frame of the module ends it.  True when the task may have the lock. */
static bool add_line(const struct splat_line *line, struct sleeper *s)
{
	struct splat_frame frame;
	size_t at = strspn(line->text, " ");

	if (!s->name[0] || s->caller.symbol[0] || at >= line->len ||
	    !splat_frame_parse(line->text + at, line->len - at, &frame))
		return false;
	if (!frame.module) {
		s->other = s->other || is_lock(frame.symbol) ||
			   !strcmp(frame.symbol, "gated_call");
		s->called = frame;
		return false;
	}
	s->caller = frame;
	return !s->other && s->called.symbol[0];
}

bool splat_sleeper(const struct splat *splat, const char *text, size_t len, char *out, size_t size)
{
	struct sleeper s = { .other = false };
	struct splat_line line;
	bool waits = false, listed = false;
	size_t at, i;

	for (i = 0; i < splat->frame_count && !splat->frames[i].module; i++)
		waits = waits || is_lock(splat->frames[i].symbol);
	for (at = 0; waits && splat_line_at(text, len, at, &line); at = line.next) {
		listed = listed || splat_line_starts(&line, "sysrq: Show Blocked State");
		if (!listed || begins(&line, &s) || !add_line(&line, &s))
			continue;
		snprintf(out, size, "the thread \"%s\" sleeps in %s(), which %s() called", s.name,
			 s.called.symbol, s.caller.symbol);
		return true;
	}
	return false;
}
