/* SPDX-License-Identifier: MIT */
/*
 * What the session's files share.
 */
#ifndef AGATE_GRADER_SESSION_PRIV_H
#define AGATE_GRADER_SESSION_PRIV_H

#include "session.h"

#define GUEST_DIR	"/run/agate"
#define GUEST_PROGRAM	GUEST_DIR "/test"
#define GUEST_MODULE	GUEST_DIR "/agate.ko"
#define GUEST_INJECT	GUEST_DIR "/agate_inject.ko"
#define GUEST_LIBRARY	"/lib/libagate.so"

/* What a test may say before it is killed, and what is kept of it. */
#define STREAM_MAX	(64u << 10)
/* What is kept of the kernel's words of one test: the beginning and the end. */
#define CONSOLE_KEEP	(1u << 20)
#define CONSOLE_TAIL	(CONSOLE_KEEP / 4)
/*
 * With so much it has not said what it has to in a few lines, and it is not waited for
 * until it is done: a whole debug run of a driver that works has less.
 */
#define CONSOLE_FLOOD	(128u << 10)
#define CONSOLE_LOG_MAX	(16u << 20)

#define HUNG_PLACES	8

/* How often a test is run that could not look at what it is about. */
#define BLIND_RUNS	3

struct stream {
	char text[STREAM_MAX];
	size_t len;
};

struct state {
	const struct session *s;
	const struct guest_ops *ops;
	void *guest;
	size_t logged;			/* bytes in the console's log */

	char console[CONSOLE_KEEP];
	size_t console_len;
	bool console_flooded;
	uint64_t limit;			/* until when it is a test's own; 0: always */
	size_t console_at_limit;

	/*
	 * Where tests hung that were waited for in full: functions of the module.  The
	 * next one that hangs there need not be waited for as long.
	 */
	char hung_in[HUNG_PLACES][sizeof(((struct splat_frame *)0)->symbol)];
	size_t hung_count;
	bool impatient;			/* the test that runs has the short limit */

	unsigned int blind_runs;	/* of the test that runs: those that saw nothing */

	struct stream report, output, errors;
	bool killed;			/* the GPU's process, because the test wanted it */
	struct evidence evidence;	/* of the test that runs */
};

/* session_test.c */

/* Begins a new piece of the kernel's log. */
void state_console_begin(struct state *st);
void state_console(void *arg, const char *text, size_t len);
/* Has a mark written that says @what; what the kernel said before has then arrived. */
enum guest_status state_mark(struct state *st, const char *what);
/* A time limit on this machine and this kernel. */
unsigned int state_limit(const struct state *st, unsigned int ms);
/*
 * Runs one test and judges it.  GUEST_OK: the guest can be used on, unless the
 * verdict is a crash or a timeout.
 */
enum guest_status state_test(struct state *st, const struct lab_test *test,
			     struct verdict *verdict);

/* session_module.c */

/*
 * Loads the module and sees that it is the one delivered, and serves the GPU.
 * When it is not, @why says so and the guest is to be replaced.
 */
enum guest_status state_load(struct state *st, bool *loaded, struct verdict *why);
/* Unloads it, if it is there.  False when that did not work, or not in silence. */
bool state_unload(struct state *st, struct verdict *why);

#endif /* AGATE_GRADER_SESSION_PRIV_H */
