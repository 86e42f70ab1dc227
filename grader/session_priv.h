/* SPDX-License-Identifier: MIT */
/*
 * What the session's files share.
 */
#ifndef AGATE_GRADER_SESSION_PRIV_H
#define AGATE_GRADER_SESSION_PRIV_H

#include <sys/types.h>

#include "health.h"
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

/* What is looked at of the GPU's event log of one test: its beginning. */
#define GPU_LOG_KEEP	(256u << 10)

/*
 * What a test's run tells nothing by, and how often the test is run at the most before
 * that is believed (session_trouble.c).
 */
enum trouble {
	TROUBLE_NONE,
	TROUBLE_BLIND,		/* it could not look at what it is about */
	TROUBLE_GPU,		/* the GPU's process ended, or failed a request */
	TROUBLE_LATE,		/* it was late on a busy host, or the mark after it was */
	TROUBLES
};

/* What came of an attempt to load the module. */
enum load {
	LOAD_DONE,
	LOAD_FAILED,		/* the module is to blame */
	LOAD_LATE,		/* insmod was, and nobody knows where */
	LOAD_VOID,		/* something else is, and it is to be tried in another guest */
};

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

	/* Tests that need not run again: a pass counts only once its guest has its end record. */
	bool settled[LAB_TESTS], passed[LAB_TESTS];
	unsigned int verdicts;		/* that were given */
	bool started;			/* this guest */
	uint64_t budget;		/* what all of them may take together, ms */
	uint64_t born, spent;		/* this guest's clock when it started; what they took, ns */
	unsigned int troubles[TROUBLES];	/* of the test that runs */
	uint64_t stood;			/* at the beginning of the program that runs */
	bool busy;			/* the host was, while the program ran */

	struct health health;		/* of this guest, before its first test */
	bool health_known;
	char counters[1024];		/* the driver's own, when they were looked at */

	struct stream report, output, errors;
	char gpu_log[GPU_LOG_KEEP];	/* of the test that runs */
	off_t gpu_log_at;		/* where the file ended when it began */
	bool killed;			/* the GPU's process, because the test wanted it */
	struct evidence evidence;	/* of the test that runs */
};

/* session_test.c */

/* Begins a new piece of the kernel's log. */
void state_console_begin(struct state *st);
/* The same, for a program that begins and has a limit. */
void state_begin(struct state *st, unsigned int limit_ms);
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

/* Whether the GPU's process lives and takes requests. */
bool state_gpu_answers(struct state *st);
/* Looks whether the host was busy while the program ran, with that limit. */
void state_note_busy(struct state *st, unsigned int limit_ms);

/* session_health.c */

/* Looks how a guest's kernel is before its first test. */
enum guest_status state_health_begin(struct state *st);
/* And after a test that the guest survived; @changed: the guest is of no more use. */
enum guest_status state_health(struct state *st, struct verdict *verdict, bool *changed);

/* session_trouble.c */

/*
 * Whether the run that just ended tells something of the student's work, or has been
 * tried often enough.  False: the test is to be run again in another guest.  @verdict
 * may change.
 */
bool state_believe(struct state *st, struct verdict *verdict);
/* The time for the whole lab is used up, and @why is the verdict on what is left. */
bool state_out_of_time(struct state *st, struct verdict *why);

/* session_gpu.c */

/* From here on the GPU's events are the test's; then they are evidence. */
void state_gpu_log_begin(struct state *st);
void state_gpu_log_end(struct state *st);

/* session_module.c */

/*
 * Loads the module and sees that it is the one delivered, and serves the GPU.
 * Unless that is LOAD_DONE, the guest is to be replaced and @why has the reason.
 */
enum guest_status state_load(struct state *st, enum load *load, struct verdict *why);
/*
 * Unloads it, if it is there.  False when that did not work, or not in silence; @why is
 * VERDICT_NOT_RUN when that may be the machine's doing.
 */
bool state_unload(struct state *st, struct verdict *why);

#endif /* AGATE_GRADER_SESSION_PRIV_H */
