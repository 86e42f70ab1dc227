/* SPDX-License-Identifier: MIT */
/*
 * A session from its first guest to its last, on guests that do as they are told.
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

/* What came of it, test by test: a letter for each, P once a pass counts. */
struct outcome {
	char letters[16];
	struct verdict verdicts[16];
	unsigned int seals;
	char remarks[256], why[256];
	bool no_module;
	size_t stop_at;
	FILE *log;
};

/* Every test of @lab; what came of them is in @o. */
enum session_end run_in(struct canned *c, const struct lab *lab, struct outcome *o);
/* Tests a, b and c, of which some misbehave; @letters is what has to come of them. */
void play(struct canned *c, const struct act *acts, struct outcome *o, const char *letters);
/*
 * One test misbehaves, b unless it has a name, among good ones: what ran in which guest, and
 * what is seen of b.
 */
void play_one(struct act act, const char *letters, const char *ran, const char *seen);

#endif /* AGATE_TESTS_PLAY_H */
