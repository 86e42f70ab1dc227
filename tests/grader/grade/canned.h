/* SPDX-License-Identifier: MIT */
/*
 * A guest that only exists on paper: what each test does in it is written down.
 */
#ifndef AGATE_TESTS_CANNED_H
#define AGATE_TESTS_CANNED_H

#include "agate_regs.h"
#include "guest.h"

/*
 * What a program does.  In texts {NONCE} stands for the nonce that GO brought, and
 * {NAME} for the parameter that SET brought.
 */
struct act {
	const char *test;		/* argv[1]; NULL ends a list */
	unsigned int runs;		/* so often it does this, and then it is good; 0: always */
	bool silent;			/* does not say READY */
	const char *early;		/* said with READY, before GO */
	const char *report;		/* NULL: "DONE {NONCE}\n" */
	const char *gpu;		/* what the GPU's log gets */
	const char *output;		/* NULL: one plan and "ok 1 - TEST" */
	const char *console;
	const char *where;		/* what the kernel says when it is asked, after the limit */
	unsigned long repeat;		/* the console's text, so often; 0: once */
	unsigned long output_repeat;
	enum guest_status end;
	enum guest_status mark;		/* of the mark after it */
	enum guest_status look;		/* of the look at the kernel's health after that */
	const char *later;		/* what the kernel says meanwhile */
	bool signaled;
	int value;
	bool timed_out;
	unsigned int stands;		/* so long the clock stands still meanwhile, ms */
	bool gpu_dies, gpu_stands;	/* it ends, or does not answer any more */
	uint64_t grows;			/* by so much every counter does */
};

struct canned {
	const struct act *acts;
	const char *gpu_log;		/* where; NULL: nowhere */
	const char *module;		/* whose build id the guest shows; NULL: shows another */
	int insmod;			/* its exit status */
	const char *insmod_words;
	const char *insmod_console;
	unsigned long insmod_repeat;	/* that text, so often; 0: once */
	enum guest_status insmod_end;
	unsigned int insmod_late;	/* so many insmods have what follows, or a late mark */
	bool insmod_hangs, insmod_kills_gpu, insmod_stops_gpu;
	const char *insmod_where;	/* what the kernel says when it is asked, after the limit */
	unsigned int stands;		/* so long the clock stands still meanwhile, ms */
	bool coming;			/* the module's init function does not come back */
	bool no_node;			/* the driver's probe fails */
	int rmmod;
	enum guest_status rmmod_end;
	enum guest_status start_end;
	unsigned int start_fails;	/* so many starts */
	unsigned int refuses;		/* so many requests to the control socket */
	const char *health, *health_exact;	/* NULL: nothing; the same when it has to be exact */
	enum guest_status health_end;
	const char *driver_counters;	/* what `cat` says of the driver's */
	void (*before_run)(struct canned *canned, const char *test);	/* or NULL */

	/* what happened */
	unsigned int starts, stops, healths, insmods, rmmods, puts, kills, abandons;
	char ran[512];			/* names, each with a space behind it; | is a start */
	char requests[1024];		/* to the control socket, the counters' and pings left out */
	char input[512];		/* of the program that runs */
	uint64_t counters[AGATE_CNT_COUNT];
	uint64_t clock, stood;
	bool loaded, gpu_dead, gpu_still, abandoned;
	enum guest_status next_mark, next_look;
	const char *next_words;
	struct guest_events events;
	const char *gpu_held;		/* by the GPU, and not in its log yet */
	const char *go;			/* in @input, or NULL */
};

extern const struct guest_ops canned_ops;

#endif /* AGATE_TESTS_CANNED_H */
