/* SPDX-License-Identifier: MIT */
/*
 * Declarations that the session's files share.
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
#define GUEST_LIBRARY	"/lib/libagate.so.0"

/* How much a test may print before it is killed, and how much of that is kept. */
#define STREAM_MAX	(64u << 10)
/* How much is kept of the kernel's output during one test: the beginning and the end. */
#define CONSOLE_KEEP	(1u << 20)
#define CONSOLE_TAIL	(CONSOLE_KEEP / 4)
/*
 * After so much output the grader does not wait for the kernel to finish: a whole debug
 * run of a driver that works prints less.
 */
#define CONSOLE_FLOOD	(128u << 10)
#define CONSOLE_LOG_MAX	(16u << 20)

/* How much the grader reads of the GPU's event log of one test: its beginning. */
#define GPU_LOG_KEEP	(256u << 10)

/*
 * Reasons why a run says nothing about the student's work, and how often at most the test
 * runs before the grader believes such a reason (session_trouble.c).
 */
enum trouble {
	TROUBLE_NONE,
	TROUBLE_BLIND,		/* the test could not look */
	TROUBLE_GPU,		/* the GPU's process ended, or failed a request */
	TROUBLE_LATE,		/* the test, or the mark after it, was late on a busy host */
	TROUBLE_PROBE,		/* a processor did not get out of a probe of the test's */
	TROUBLES
};

/* Results of an attempt to load the module. */
enum load {
	LOAD_DONE,
	LOAD_FAILED,		/* the module is to blame */
	LOAD_LATE,		/* insmod was late, and nobody knows where it hung */
	LOAD_VOID,		/* something else is to blame: try again in another guest */
};

struct stream {
	char text[STREAM_MAX];
	size_t len;
};

/* A place where a test hung for its whole limit: all frames of the module, innermost first. */
struct hang {
	struct splat_frame frames[SPLAT_FRAMES];
	size_t count;
	bool lock;			/* a task sleeps there until a lock is given back */
	unsigned int tests;		/* that hung there */
};

#define HANGS	8

struct state {
	const struct session *s;
	const struct guest_ops *ops;
	void *guest;
	size_t logged;			/* bytes in the console's log */

	char console[CONSOLE_KEEP];
	size_t console_len;
	bool console_flooded;
	uint64_t limit;			/* end of the part that belongs to a test; 0: all of it */
	size_t console_at_limit;

	/*
	 * Tests that need not run again: a pass is among them only once its guest has its
	 * end record.
	 */
	bool settled[LAB_TESTS], passed[LAB_TESTS];
	unsigned int verdicts;		/* that were given */
	bool started;			/* this guest */
	uint64_t budget;		/* time limit of all of them together, ms */
	uint64_t born, spent;		/* this guest's clock when it started; the time that
					 * they took, ns */
	unsigned int troubles[TROUBLES];	/* of the test that runs */
	unsigned int stops[LAB_TESTS + 1];	/* state_stopped() of each test, and of insmod */
	unsigned int stops_in_all;	/* the same, of all of them */
	bool stopped;			/* this guest ended so */
	uint64_t stood;			/* when the running program began */
	bool busy;			/* the host was busy while the program ran */
	struct hang hangs[HANGS];
	size_t hang_count;
	unsigned int silent_tests;	/* that ended with a guest in which nothing answers */
	unsigned int part;		/* the test that runs has this part of its limit */
	bool hurried;			/* and that is not the whole of it */
	bool patient;			/* it has to run again, with its whole limit */
	bool waits_for_lock;		/* the test that ran, as an earlier one did */

	struct health health;		/* of this guest: its checks before its first test, its
					 * memory before the test that runs */
	bool health_known;
	char counters[1024];		/* the driver's own, at the last look */

	struct stream report, output, errors;
	char gpu_log[GPU_LOG_KEEP];	/* of the test that runs */
	off_t gpu_log_at;		/* size of the file when the test began */
	bool killed;			/* the grader killed the GPU's process, because the test
					 * wanted it */
	struct evidence evidence;	/* of the test that runs */
};

/* session_test.c */

/* Begins a new piece of the kernel's log. */
void state_console_begin(struct state *st);
/* The same, for a program that starts and has a limit. */
void state_begin(struct state *st, unsigned int limit_ms);
void state_console(void *arg, const char *text, size_t len);
/* Writes a mark with the text @what; everything that the kernel printed before has then arrived. */
enum guest_status state_mark(struct state *st, const char *what);
/* A time limit on this machine and this kernel. */
unsigned int state_limit(const struct state *st, unsigned int ms);
/*
 * Runs one test and judges it.  GUEST_OK: the guest can run further tests, unless the
 * verdict is a crash or a timeout.
 */
enum guest_status state_test(struct state *st, const struct lab_test *test,
			     struct verdict *verdict);

/* Does the GPU's process live and take requests? */
bool state_gpu_answers(struct state *st);
/* Checks whether the host was busy while the program with that limit ran. */
void state_note_busy(struct state *st, unsigned int limit_ms);

/* session_health.c */

/* Records the state of a guest's kernel before its first test. */
enum guest_status state_health_begin(struct state *st);
/* Checks it after a test that the guest survived; @changed: the guest is useless from now on. */
enum guest_status state_health(struct state *st, struct verdict *verdict, bool *changed);

/* session_trouble.c */

/*
 * Does the run that just ended say something about the student's work, or has the test
 * run often enough?  False: run the test again in another guest.  @verdict may change.
 */
bool state_believe(struct state *st, struct verdict *verdict);
#define AT_INSMOD	LAB_TESTS

/*
 * The guest is gone.  When the code in it may have stopped QEMU, and that has happened twice in
 * this test (or AT_INSMOD), or several times in all, true, with the verdict on the test.
 */
bool state_stopped(struct state *st, size_t test, struct verdict *verdict);
/*
 * True when the time for the whole lab is used up; @why is then the verdict on the
 * remaining tests.
 */
bool state_out_of_time(struct state *st, struct verdict *why);

/* session_hang.c */

/* The limit of the test that is about to run: the whole one, or a part of it. */
unsigned int state_hang_limit(struct state *st, unsigned int limit_ms);
/*
 * Is a test that did not end in a part of its limit known to hang?  False: run it again,
 * with its whole limit.
 */
bool state_believe_hang(struct state *st, struct verdict *verdict);
/* Remembers where a test hung whose verdict stands. */
void state_note_hang(struct state *st, const struct verdict *verdict);

/* session_gpu.c */

/* From the first call on the GPU's events belong to the test; the second makes them evidence. */
void state_gpu_log_begin(struct state *st);
void state_gpu_log_end(struct state *st);

/* session_module.c */

/*
 * While the module is being built, starts the test program, which only lists its tests: QEMU
 * then has translated much of the code that starts a program, and the tests need not wait for that.
 */
enum guest_status state_warm_up(struct state *st);
/*
 * May one process of the test program fork all that run a test?  Not where the program is
 * linked with what a student wrote: that would run in the process that forks, too.
 */
bool state_keeps_program(const struct state *st);

/*
 * Loads the module, and checks that it is the delivered one and drives the GPU.  Unless
 * the result is LOAD_DONE, the caller has to replace the guest, and @why has the reason.
 */
enum guest_status state_load(struct state *st, enum load *load, struct verdict *why);
/*
 * No guest with the module gets as far as a verdict, and this one does not answer any more.  True if
 * the machine is not busy, the GPU's process answers, and the kernel sees a processor in the module:
 * @why has the verdict.
 */
bool state_blames_module(struct state *st, struct verdict *why);
/*
 * Unloads the module if it is loaded.  False when that failed, or when the kernel
 * complained; @why is VERDICT_NOT_RUN when the machine may be to blame.
 */
bool state_unload(struct state *st, struct verdict *why);

#endif /* AGATE_GRADER_SESSION_PRIV_H */
