/* SPDX-License-Identifier: MIT */
/*
 * A session from its first guest to its last, on canned guests.
 */
#ifndef AGATE_TESTS_PLAY_H
#define AGATE_TESTS_PLAY_H

#include "canned.h"
#include "session.h"

#define OOPS "[    1.0] BUG: kernel NULL pointer dereference, address: 0000000000000008\n"
#define FAILS .report = "RULE r\nEXPECTED e\nSEEN s\nDONE {NONCE}\n", \
	.output = "1..1\nnot ok 1 - x\n", .value = 1
#define STUCK(place) "[    6.0] sysrq: Show backtrace of all active CPUs\n" \
	"[    6.0] NMI backtrace for cpu 1\n[    6.0] CPU: 1 PID: 77 Comm: test\n" \
	"[    6.0] RIP: 0010:" place "+0x1b/0x40 [agate]\n[    6.0] Call Trace:\n" \
	"[    6.0]  <TASK>\n[    6.0]  agate_ioctl+0x10/0x20 [agate]\n[    6.0]  </TASK>\n"

/* Names for a lab of three tests. */
extern const char *const abc[];

/* The outcome of each test as a letter; P once a pass counts. */
struct outcome {
	char letters[16];
	struct verdict verdicts[16];
	unsigned int seals;
	char remarks[256], why[256];
	bool no_module;
	unsigned int building;		/* so often the module is being built when asked for */
	bool library;			/* the lab is one of the library */
	bool inject;			/* there is a module for injections */
	const struct canned *guest;	/* run_in() sets it */
	unsigned int puts_before;	/* files that the guest had when the session asked for the module */
	const size_t *order;		/* of the tests, or NULL */
	size_t stop_at;
	FILE *log;
};

/* Runs every test of @lab; the outcomes are in @o. */
enum session_end run_in(struct canned *c, const struct lab *lab, struct outcome *o);
/* Runs tests a, b and c, of which some misbehave; @letters are the expected outcomes. */
void play(struct canned *c, const struct act *acts, struct outcome *o, const char *letters);
/*
 * One test among good ones misbehaves, b unless it has a name: which test ran in which
 * guest, and the expected result of b.
 */
void play_one(struct act act, const char *letters, const char *ran, const char *seen);

#endif /* AGATE_TESTS_PLAY_H */
