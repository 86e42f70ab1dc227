// SPDX-License-Identifier: MIT
/*
 * Failures that the student did not cause: the test runs again in another guest, and if
 * that does not help the grader reports a failure of the machine or of Agate.
 */
#include <inttypes.h>
#include <string.h>

#include "session_priv.h"

/*
 * The time that a test may take besides its limit: to load and unload the module, to wait
 * for a mark, to ask a hung guest where it hangs.
 */
#define ALLOWANCE_MS	10000

/* How often a test runs until the grader believes such a failure. */
static const unsigned int runs[TROUBLES] = {
	[TROUBLE_BLIND] = 3,
	[TROUBLE_GPU] = 2,
	[TROUBLE_LATE] = 2,
	[TROUBLE_PROBE] = 6,
};

/* How often the same test has to stop QEMU until the grader blames its code. */
#define STOPS	2
/* ... and in all tests together: code that does it by chance rarely meets the same test twice. */
#define STOPS_IN_ALL	4

/*
 * A processor that never gets beyond the entry of the breakpoint exception runs a probe of
 * the test's, and nothing of the driver's.  QEMU before 8.1 may translate a function while
 * another processor takes the probe out of it, and then keeps the breakpoint for ever.  Some
 * machines do that once in thousands of tests, and some twice in a row.
 */
static bool stuck_in_probe(const struct evidence *e)
{
	static const char entry[] = "RIP: 0010:asm_exc_int3+0x";

	return memmem(e->console, e->console_len, entry, sizeof(entry) - 1);
}

static enum trouble trouble_of(const struct state *st, const struct verdict *verdict)
{
	const struct evidence *e = &st->evidence;

	if (e->gpu_failed)
		return TROUBLE_GPU;
	if (verdict->status == VERDICT_NOT_RUN)
		return TROUBLE_BLIND;
	if (verdict->status != VERDICT_TIMEOUT)
		return TROUBLE_NONE;
	/*
	 * On a busy host the grader's clock stands still, but not always for exactly the
	 * right time.
	 */
	if (stuck_in_probe(e))
		return TROUBLE_PROBE;
	return (st->busy || !e->timed_out) && !st->waits_for_lock ? TROUBLE_LATE : TROUBLE_NONE;
}

bool state_believe(struct state *st, struct verdict *verdict)
{
	char why[sizeof(verdict->seen)];
	enum trouble trouble;

	if (!state_believe_hang(st, verdict))
		return false;
	trouble = trouble_of(st, verdict);
	if (trouble != TROUBLE_NONE && ++st->troubles[trouble] < runs[trouble])
		return false;
	if (trouble == TROUBLE_BLIND) {
		memcpy(why, verdict->seen, sizeof(why));
		verdict_set(verdict, VERDICT_NOT_RUN, "", "",
			    "in %u runs the test could not look at what it is about: %.300s",
			    runs[TROUBLE_BLIND], why);
	}
	if (trouble == TROUBLE_PROBE)
		verdict_set(verdict, VERDICT_NOT_RUN, "", "",
			    "in %u runs a processor did not get out of a probe of the test's",
			    runs[TROUBLE_PROBE]);
	memset(st->troubles, 0, sizeof(st->troubles));
	state_note_hang(st, verdict);
	return true;
}

/*
 * Code in the guest can make QEMU abort, or keep it from answering, so that is not always a
 * failure of the machine.  A test that loads the module itself runs nothing of the student's before GO.
 */
bool state_stopped(struct state *st, size_t test, struct verdict *verdict)
{
	const char *words = st->ops->guest_did(st->guest);

	if (!words || (st->s->lab->by_test && !st->evidence.went))
		return false;
	st->stopped = true;
	st->stops_in_all++;
	if (++st->stops[test] < STOPS && st->stops_in_all < STOPS_IN_ALL)
		return false;
	memset(verdict, 0, sizeof(*verdict));
	verdict_set(verdict, VERDICT_CRASH, "the driver runs code that the machine survives",
		    "a guest that runs on", "%sthe guest's code %.250s",
		    test == AT_INSMOD ? "while the module is loaded: " : "", words);
	return true;
}

/* In milliseconds of the guests' clocks. */
static uint64_t whole_lab(const struct state *st)
{
	const struct lab *lab = st->s->lab;
	uint64_t sum = state_limit(st, ALLOWANCE_MS);
	size_t i;

	for (i = 0; i < lab->test_count; i++)
		if (st->s->wanted(st->s->arg, i))
			sum += state_limit(st, lab->tests[i].limit_ms + ALLOWANCE_MS);
	return sum;
}

bool state_out_of_time(struct state *st, struct verdict *why)
{
	if (!st->budget)
		st->budget = whole_lab(st);
	if (st->spent / 1000000u < st->budget)
		return false;
	memset(why, 0, sizeof(*why));
	verdict_set(why, VERDICT_TIMEOUT, "the whole lab comes to its end",
		    "an end within what its tests may take together",
		    "none after %" PRIu64 " s: what the driver holds up goes on behind a test's end, "
		    "or where it is loaded and unloaded", st->budget / 1000);
	return true;
}
