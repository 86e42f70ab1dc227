/* SPDX-License-Identifier: MIT */
/*
 * A guest that exists only on paper: a script says what each test does in it.
 */
#ifndef AGATE_TESTS_CANNED_H
#define AGATE_TESTS_CANNED_H

#include "agate_regs.h"
#include "guest_ops.h"

/* A look at the health of the kernel takes very long where the host is busy. */
#define LOOK_MS		1000u

/*
 * The script of a program.  In texts {NONCE} stands for the nonce from GO, and {NAME} for
 * the parameter from SET.
 */
struct act {
	const char *test;		/* argv[1]; NULL ends a list */
	unsigned int runs;		/* it does this so many times, and then behaves well; 0:
					 * always */
	bool silent;			/* does not say READY */
	const char *early;		/* sent with READY, before GO */
	const char *report;		/* NULL: "DONE {NONCE}\n" */
	const char *held;		/* lines that the program has not sent */
	const char *gpu;		/* text for the GPU's log */
	const char *output;		/* NULL: one plan and "ok 1 - TEST" */
	const char *console;
	const char *where;		/* the kernel's answer when it is asked, after the limit */
	unsigned long repeat;		/* the console's text, so often; 0: once */
	unsigned long output_repeat;
	enum guest_status end;
	enum guest_status mark;		/* result of the mark after it */
	enum guest_status look;		/* result of the look at the kernel's health after that */
	const char *later;		/* the kernel's output meanwhile */
	bool signaled;
	int value;
	bool timed_out;
	unsigned int stands;		/* the clock stands still for that long meanwhile, ms */
	const char *guest_does;		/* to QEMU; the guest is gone */
	bool gpu_dies, gpu_stands;	/* it ends, or no longer answers */
	uint64_t grows;			/* every counter rises by that much */
};

struct canned {
	const struct act *acts;
	const char *gpu_log;		/* where; NULL: nowhere */
	const char *module;		/* the file whose build id the guest shows; NULL: it
					 * shows another */
	int insmod;			/* its exit status */
	const char *insmod_words;
	const char *insmod_console;
	unsigned long insmod_repeat;	/* that text, so often; 0: once */
	enum guest_status insmod_end;
	unsigned int insmod_stops;	/* this many insmods stop the processor */
	unsigned int insmod_late;	/* this many insmods have the following, or a late mark */
	bool insmod_hangs, insmod_kills_gpu, insmod_stops_gpu;
	const char *insmod_where;	/* the kernel's answer when it is asked, after the limit */
	unsigned int stands;		/* the clock stands still for that long meanwhile, ms */
	bool coming;			/* the module's init function does not return */
	bool no_node;			/* the driver's probe fails */
	int rmmod;
	enum guest_status rmmod_end;
	enum guest_status start_end;
	enum guest_status list_end;	/* of the program that only lists its tests */
	unsigned int start_fails;	/* so many starts */
	unsigned int refuses;		/* this many requests to the control socket fail */
	const char *health, *health_exact;	/* NULL: nothing; the same when it has to be exact */
	const char *const *health_exacts;	/* exact looks one after the other; the last one stays */
	enum guest_status health_end;
	const char *driver_counters;	/* the driver's counters, as `cat` prints them */
	void (*before_run)(struct canned *canned, const char *test);	/* or NULL */

	/* what happened */
	bool kept;			/* the last test was run by a kept program */
	size_t files, programs;		/* of the preparation of the last guest */
	bool keeps;			/* the last of these programs is kept */
	unsigned int executed, forked;	/* insmods and rmmods */
	unsigned int starts, stops, lists, healths, insmods, rmmods, puts, kills, abandons;
	char ran[512];			/* names, each with a space behind it; | is a start */
	char requests[1024];		/* to the control socket, the counters' and pings left out */
	char input[512];		/* of the program that runs */
	uint64_t counters[AGATE_CNT_COUNT];
	uint64_t clock, stood;
	bool loaded, gpu_dead, gpu_still, abandoned;
	enum guest_status next_mark, next_look;
	const char *next_words;
	const char *guest_did;
	struct guest_events events;
	const char *held;		/* by the program that ran last, or NULL */
	const char *gpu_held;		/* by the GPU, but not in its log yet */
	const char *go;			/* in @input, or NULL */
};

extern const struct guest_ops canned_ops;

#endif /* AGATE_TESTS_CANNED_H */
