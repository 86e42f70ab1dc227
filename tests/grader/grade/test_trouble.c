// SPDX-License-Identifier: MIT
/*
 * A session whose machine fails: guests that are late, get lost, or have lost their GPU.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lab_text.h"
#include "play.h"

/* The grader does not blame a module for a failed unload when the machine fails. */
static void test_unload(void **state)
{
	struct canned c = { .rmmod = 1 };
	struct outcome o = { .seals = 0 };

	(void)state;
	play(&c, NULL, &o, "PPP");
	assert_non_null(strstr(o.remarks, "rmmod does not succeed"));
	o.remarks[0] = '\0';
	c = (struct canned){ .rmmod_end = GUEST_GONE };
	play(&c, NULL, &o, "PPP");
	assert_int_equal(c.rmmods, 1);
	assert_string_equal(o.remarks, "");
}

/* A limit reached on a busy host, and a late mark, have to occur twice before they count. */
static void test_late(void **state)
{
	struct act late = { .timed_out = true, .stands = 4000, .runs = 1 };

	(void)state;
	play_one(late, "PPP", "|a b |b c ", "");
	late.runs = 0;
	play_one(late, "PTP", "|a b |b |c ", "none after 5000 ms");
	late.stands = 100;
	play_one(late, "PTP", "|a b |c ", "none after 5000 ms");
	play_one((struct act){ .mark = GUEST_TIMEOUT, .runs = 1 }, "PPP", "|a b |b c ", "");
	play_one((struct act){ .mark = GUEST_TIMEOUT }, "PTP", "|a b |b |c ", "");
	play_one((struct act){ .look = GUEST_TIMEOUT, .runs = 1 }, "PPP", "|a b |b c ", "");
	play_one((struct act){ .look = GUEST_TIMEOUT }, "PTP", "|a b |b |c ", "");
	play_one((struct act){ .look = GUEST_GONE, .runs = 1 }, "PPP", "|a b |a b c ", "");
}

/* A processor that does not get out of a probe of the test's proves nothing, however often. */
static void test_stuck_in_probe(void **state)
{
	struct act stuck = {
		.timed_out = true, .runs = 1,
		.where = "[    6.0] sysrq: Show backtrace of all active CPUs\n"
			 "[    6.0] NMI backtrace for cpu 0\n"
			 "[    6.0] CPU: 0 PID: 248 Comm: test\n"
			 "[    6.0] RIP: 0010:asm_exc_int3+0x0/0x40\n"
			 "[    6.0] Call Trace:\n[    6.0]  <TASK>\n"
			 "[    6.0]  ? gpu_write+0x1/0x80 [agate]\n"
			 "[    6.0]  agate_remove+0x3c/0x60 [agate]\n[    6.0]  </TASK>\n",
	};

	(void)state;
	play_one(stuck, "PPP", "|a b |b c ", "");
	stuck.runs = 5;
	play_one(stuck, "PPP", "|a b |b |b |b |b |b c ", "");
	stuck.runs = 0;
	play_one(stuck, "PNP", "|a b |b |b |b |b |b |c ",
		 "in 6 runs a processor did not get out of a probe of the test's");
}

/* The time limit of a whole lab: its limits, and an allowance for each test. */
static void slow_unload(struct canned *c, const char *test)
{
	(void)test;
	c->clock += 300 * 1000000000ull;
}

static void test_out_of_time(void **state)
{
	struct act acts[] = { { .test = "a", .timed_out = true }, { .test = NULL } };
	struct canned c = { .before_run = slow_unload };
	struct outcome o = { .seals = 0 };

	(void)state;
	play(&c, acts, &o, "TTT");
	assert_string_equal(c.ran, "|a ");
	assert_string_equal(o.verdicts[0].seen, "none after 5000 ms");
	assert_non_null(strstr(o.verdicts[2].seen, "none after 55 s"));
	assert_true(o.verdicts[2].before);
}

/* A guest that the machine loses proves nothing: its tests run again, the earlier ones as well. */
static void test_gone(void **state)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", NULL };
	struct act acts[] = { { .test = "b", FAILS }, { .test = "d", .end = GUEST_GONE, .runs = 1 },
			      { .test = NULL } };
	struct lab *lab = lab_of(names);
	struct canned c = { .acts = acts };
	struct outcome o = { .seals = 0 };

	(void)state;
	assert_int_equal(run_in(&c, lab, &o), SESSION_DONE);
	assert_string_equal(o.letters, "PFPPP");
	assert_string_equal(c.ran, "|a b c d |a c d e ");
	/* If it is lost again, the grader gives up, without a verdict. */
	acts[1].runs = 0;
	c = (struct canned){ .acts = acts };
	assert_int_equal(run_in(&c, lab, &o), SESSION_HOST);
	assert_string_equal(o.letters, "pFp--");
	assert_string_equal(c.ran, "|a b c d |a c d ");
	assert_string_equal(o.why, "the VM was lost twice: written down so");
	/* The loss may also show at the mark, and at the start. */
	acts[1] = (struct act){ .test = "e", .mark = GUEST_GONE, .runs = 1 };
	c = (struct canned){ .acts = acts };
	assert_int_equal(run_in(&c, lab, &o), SESSION_DONE);
	assert_string_equal(o.letters, "PFPPP");
	assert_string_equal(c.ran, "|a b c d e |a c d e ");
	acts[1].test = NULL;
	c = (struct canned){ .acts = acts, .start_fails = 1 };
	assert_int_equal(run_in(&c, lab, &o), SESSION_DONE);
	assert_string_equal(c.ran, "||a b c d e ");
	lab_free(lab);
}

static const char stops[] = "stopped the virtual processor: invalid tss";

/* Code in the guest can make QEMU abort: twice in the same test, or in insmod, is a crash. */
static void test_guest_stops_qemu(void **state)
{
	struct act acts[] = { { .test = "b", .guest_does = stops, .runs = 1 },
			      { .test = "c", .guest_does = stops, .runs = 1 },
			      { .test = NULL } };
	struct canned c = { .insmod_stops = 1 };
	struct lab *lab = lab_of(abc);
	struct outcome o = { .seals = 0 };

	(void)state;
	play_one((struct act){ .guest_does = stops, .runs = 1 }, "PPP", "|a b |a b c ", "");
	play_one((struct act){ .guest_does = stops }, "PCP", "|a b |a b |c ",
		 "the guest's code stopped the virtual processor: invalid tss");
	play_one((struct act){ .test = "a", .guest_does = stops }, "CPP", "|a |a |b c ", "");
	/* Not in the same test: each is tried again. */
	play(&c, acts, &o, "PPP");
	assert_string_equal(c.ran, "||a b |a b c |a b c ");
	c = (struct canned){ .insmod_stops = 1 };
	play(&c, NULL, &o, "PPP");
	assert_string_equal(c.ran, "||a b c ");
	c = (struct canned){ .insmod_stops = 9 };
	play(&c, NULL, &o, "CCC");
	assert_string_equal(c.ran, "||");
	assert_non_null(strstr(o.verdicts[2].seen, "while the module is loaded: the guest's code"));
	/* A test that loads the module itself runs nothing of the student's before GO. */
	lab->by_test = true;
	acts[0] = (struct act){ .test = "b", .silent = true, .guest_does = stops };
	c = (struct canned){ .acts = acts };
	assert_int_equal(run_in(&c, lab, &o), SESSION_HOST);
	lab_free(lab);
}

/* Each time in another test: the fourth time it is a crash, of the test that runs then. */
static void test_guest_stops_qemu_anywhere(void **state)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f", NULL };
	struct act acts[] = { { .test = "b", .guest_does = stops, .runs = 1 },
			      { .test = "c", .guest_does = stops, .runs = 1 },
			      { .test = "d", .guest_does = stops, .runs = 1 },
			      { .test = "e", .guest_does = stops, .runs = 1 },
			      { .test = "f", .guest_does = stops, .runs = 1 },
			      { .test = NULL } };
	struct lab *lab = lab_of(names);
	struct canned c = { .acts = acts };
	struct outcome o = { .seals = 0 };

	(void)state;
	assert_int_equal(run_in(&c, lab, &o), SESSION_DONE);
	assert_string_equal(o.letters, "PPPPCC");
	assert_string_equal(c.ran, "|a b |a b c |a b c d |a b c d e |f ");
	lab_free(lab);
}

/* The machine fails while the module is loaded: the grader tries that three times. */
static void test_late_load(void **state)
{
	struct lab *lab = lab_of(abc);
	struct canned c = { .insmod_late = 2 };
	struct outcome o = { .seals = 0 };

	(void)state;
	play(&c, NULL, &o, "PPP");
	assert_string_equal(c.ran, "|||a b c ");
	c = (struct canned){ .insmod_late = 3 };
	assert_int_equal(run_in(&c, lab, &o), SESSION_HOST);
	assert_string_equal(o.letters, "---");
	assert_string_equal(o.why, "in three starts no guest got as far as a verdict: while the module "
			    "is loaded: the guest, or its GPU, does not answer in time");
	c = (struct canned){ .insmod_late = 1, .insmod_kills_gpu = true, .no_node = true };
	play(&c, NULL, &o, "FFF");
	assert_string_equal(c.ran, "||");
	c = (struct canned){ .insmod_late = 1, .insmod_kills_gpu = true };
	play(&c, NULL, &o, "PPP");
	c = (struct canned){ .insmod_late = 1, .insmod_stops_gpu = true, .no_node = true };
	play(&c, NULL, &o, "FFF");
	assert_string_equal(c.ran, "||");
	c = (struct canned){ .insmod_late = 3, .insmod_kills_gpu = true };
	assert_int_equal(run_in(&c, lab, &o), SESSION_HOST);
	assert_non_null(strstr(o.why, "it was killed on paper"));
	lab_free(lab);
}

/* A module is to blame if its work keeps the guest from answering, and the kernel says so. */
static void test_module_works_on(void **state)
{
	struct lab *lab = lab_of(abc);
	struct canned c = { .insmod_late = 3, .insmod_console = STUCK("agate_later") };
	struct outcome o = { .seals = 0 };

	(void)state;
	play(&c, NULL, &o, "TTT");
	assert_int_equal(c.starts, 3);
	assert_non_null(strstr(o.verdicts[0].seen, "none in three starts"));
	assert_string_equal(o.verdicts[2].splat.frames[0].symbol, "agate_later");
	c = (struct canned){ .insmod_late = 2, .insmod_console = STUCK("agate_later") };
	play(&c, NULL, &o, "PPP");
	c = (struct canned){ .insmod_late = 3, .insmod_console = STUCK("agate_later"), .stands = 4000 };
	assert_int_equal(run_in(&c, lab, &o), SESSION_HOST);
	/* A driver that waits for the GPU is not to blame for a GPU's process that failed. */
	c = (struct canned){ .insmod_late = 3, .insmod_console = STUCK("agate_wait"),
			     .insmod_kills_gpu = true };
	assert_int_equal(run_in(&c, lab, &o), SESSION_HOST);
	c = (struct canned){ .insmod_late = 3, .insmod_console = STUCK("agate_wait"),
			     .insmod_stops_gpu = true, .no_node = true };
	assert_int_equal(run_in(&c, lab, &o), SESSION_HOST);
	lab_free(lab);
}

/* If insmod does not return, the module is to blame when the kernel, or sysfs, says so. */
static void test_hanging_load(void **state)
{
	struct canned c = { .insmod_late = 9, .insmod_hangs = true,
			    .insmod_where = STUCK("agate_init") };
	struct outcome o = { .seals = 0 };

	(void)state;
	play(&c, NULL, &o, "TTT");
	assert_int_equal(c.starts, 1);
	assert_non_null(strstr(o.verdicts[2].seen, "insmod does not come back"));
	c = (struct canned){ .insmod_late = 9, .insmod_hangs = true, .coming = true };
	play(&c, NULL, &o, "TTT");
	assert_int_equal(c.starts, 1);
	/*
	 * Nobody knows where it hung, or the host was busy: after three times the module
	 * is to blame, too.
	 */
	c = (struct canned){ .insmod_late = 9, .insmod_hangs = true };
	play(&c, NULL, &o, "TTT");
	assert_int_equal(c.starts, 3);
	c = (struct canned){ .insmod_late = 9, .insmod_hangs = true, .coming = true, .stands = 4000 };
	play(&c, NULL, &o, "TTT");
	assert_int_equal(c.starts, 3);
	c = (struct canned){ .insmod_late = 2, .insmod_hangs = true, .coming = true, .stands = 4000 };
	play(&c, NULL, &o, "PPP");
	assert_int_equal(c.starts, 3);
}

#define STALL "[   24.1] rcu: INFO: rcu_sched self-detected stall on CPU\n"

/* On a busy host the test ends in time by the grader's clock, and a watchdog reports early. */
static void test_watchdog(void **state)
{
	struct act acts[] = { { .test = "b", .console = STALL }, { .test = NULL } };
	struct canned c = { .insmod_console = STALL };
	struct outcome o = { .log = tmpfile() };
	char text[2000];
	size_t n;

	(void)state;
	play(&c, acts, &o, "PPP");
	assert_string_equal(c.ran, "|a b c ");
	assert_string_equal(o.remarks, "");
	rewind(o.log);
	n = fread(text, 1, sizeof(text) - 1, o.log);
	text[n] = '\0';
	assert_non_null(strstr(text, "=== b: pass\n--- the kernel's watchdog said, and it does not count "
			       "for a test that ends in time\nrcu: INFO: rcu_sched self-detected"));
	fclose(o.log);
	play_one((struct act){ .console = STALL, .timed_out = true }, "PTP", "|a b |c ",
		 "none after 5000 ms");
}

#define HANGS_IN(place)	.timed_out = true, .where = STUCK(place)
/* The same innermost function, called from elsewhere. */
#define OTHER_WAY "[    6.0] sysrq: Show backtrace of all active CPUs\n" \
	"[    6.0] NMI backtrace for cpu 1\n[    6.0] CPU: 1 PID: 77 Comm: test\n" \
	"[    6.0] RIP: 0010:agate_lock+0x1b/0x40 [agate]\n[    6.0] Call Trace:\n" \
	"[    6.0]  <TASK>\n[    6.0]  agate_ioctl+0x18/0x20 [agate]\n[    6.0]  </TASK>\n"

static const char *const five[] = { "a", "b", "c", "d", "e", NULL };

/* Tests a to e: the verdicts, the runs, and the clock's time for all limits, ms. */
static void hangs(const struct act *acts, const char *letters, const char *ran, unsigned int ms,
		  struct outcome *o)
{
	struct lab *lab = lab_of(five);
	struct canned c = { .acts = acts };

	*o = (struct outcome){ .seals = 0 };
	assert_int_equal(run_in(&c, lab, o), SESSION_DONE);
	assert_string_equal(o->letters, letters);
	assert_string_equal(c.ran, ran);
	/* The rest goes by in looks at the health of the kernel. */
	assert_in_range(c.clock / 1000000u - c.healths * LOOK_MS, ms, ms + 999);
	lab_free(lab);
}

/* A driver that hangs every test in one place costs two whole limits. */
static void test_same_hang(void **state)
{
	const struct act acts[] = {
		{ .test = "a", HANGS_IN("agate_lock") }, { .test = "b", HANGS_IN("agate_lock") },
		{ .test = "c", HANGS_IN("agate_lock") }, { .test = "d", HANGS_IN("agate_lock") },
		{ .test = NULL }
	};
	struct outcome o;

	(void)state;
	hangs(acts, "TTTTP", "|a |b |c |d |e ", 5000 + 5000 + 1250 + 1250, &o);
	assert_string_equal(o.verdicts[1].seen, "none after 5000 ms");
	assert_string_equal(o.verdicts[3].seen, "none after 1250 ms; it hangs where earlier tests "
			    "hung, so the grader waited for a part of the limit only");
}

/* A driver that takes PID 1 away from the guest leaves no trace of itself. */
static void test_silent_hang(void **state)
{
	struct act acts[] = {
		{ .test = "a", .timed_out = true, .end = GUEST_CRASHED },
		{ .test = "b", .timed_out = true, .end = GUEST_TIMEOUT },
		{ .test = "c", .timed_out = true, .end = GUEST_CRASHED },
		{ .test = "d", .timed_out = true, .end = GUEST_TIMEOUT },
		{ .test = "e", .timed_out = true, .runs = 1 },
		{ .test = NULL }
	};
	struct outcome o;

	(void)state;
	hangs(acts, "TTTTP", "|a |b |c |d |e |e ", 2 * 5000 + 3 * 1250, &o);
	assert_string_equal(o.verdicts[3].seen, "none after 1250 ms; it hangs as earlier tests did, "
			    "and nothing in the guest answers, so the grader waited for a part of the "
			    "limit only");
	/* On a busy host that proves nothing. */
	acts[1].stands = 1000;
	hangs(acts, "TTTTP", "|a |b |b |c |d |e |e ", 4 * 5000 + 2 * 1250, &o);
}

/* Any other test that is late in a part of its limit runs again, and has the whole of it. */
static void test_other_hang(void **state)
{
	struct act acts[] = {
		{ .test = "a", HANGS_IN("agate_lock") }, { .test = "b", HANGS_IN("agate_lock") },
		{ .test = "c", .timed_out = true, .runs = 1 },
		{ .test = "d", .timed_out = true, .where = OTHER_WAY, .runs = 1 },
		{ .test = "e", HANGS_IN("agate_wait"), .runs = 1 },
		{ .test = NULL }
	};
	struct outcome o;

	(void)state;
	hangs(acts, "TTPPP", "|a |b |c |c d |d e |e ", 2 * 5000 + 3 * 1250, &o);
	/* Those that really hang do so for their whole limit. */
	acts[2].runs = acts[3].runs = acts[4].runs = 0;
	hangs(acts, "TTTTT", "|a |b |c |c |d |d |e |e ", 2 * 5000 + 3 * 6250, &o);
	assert_string_equal(o.verdicts[3].seen, "none after 5000 ms");
	/* Two hangs that differ, or that nobody knows the place of, make nobody hurry. */
	acts[1] = (struct act){ .test = "b", .timed_out = true, .where = OTHER_WAY };
	acts[3].runs = acts[4].runs = 9;
	acts[3].test = acts[4].test = "-";
	hangs(acts, "TTTPP", "|a |b |c |d e ", 3 * 5000, &o);
	acts[0].where = acts[1].where = NULL;
	hangs(acts, "TTTPP", "|a |b |c |d e ", 3 * 5000, &o);
}

/* On a busy host a part of the limit proves nothing, and does not count as a late run. */
static void test_busy_hang(void **state)
{
	struct act acts[] = {
		{ .test = "a", HANGS_IN("agate_lock") }, { .test = "b", HANGS_IN("agate_lock") },
		{ .test = "c", HANGS_IN("agate_lock"), .stands = 1000, .runs = 1 },
		{ .test = "d", HANGS_IN("agate_lock"), .stands = 1000, .runs = 2 },
		{ .test = NULL }
	};
	struct outcome o;

	(void)state;
	hangs(acts, "TTPPP", "|a |b |c |c d |d |d e ", 2 * 5000 + 2 * 1250 + 5000, &o);
}

/* A task that sleeps in @place until a mutex is given back, as sysrq shows it. */
#define ASLEEP(place) "[    6.0] sysrq: Show Blocked State\n" \
	"[    6.0] task:test            state:D stack:0     pid:77    ppid:1      flags:0x00000002\n" \
	"[    6.0] Call Trace:\n[    6.0]  <TASK>\n[    6.0]  __schedule+0x205/0x590\n" \
	"[    6.0]  mutex_lock+0x2d/0x40\n[    6.0]  " place "+0x19/0x40 [agate]\n" \
	"[    6.0]  agate_ioctl+0x10/0x20 [agate]\n[    6.0]  </TASK>\n"
#define WAITS_IN(place)	.timed_out = true, .where = ASLEEP(place)
/* A gate of the test's holds another thread, which may have that mutex. */
#define GATED	"[    6.1] where: thread 78 (test) is in:\n" \
	"[    6.1] [<0>] gated_call+0x5a/0x100 [agate_inject]\n"

/* A wait for a mutex costs one whole limit, and a tenth after that, also on a busy host. */
static void test_same_lock(void **state)
{
	struct act acts[] = {
		{ .test = "a", WAITS_IN("agate_label") },
		{ .test = "b", WAITS_IN("agate_label") },
		{ .test = "c", WAITS_IN("agate_label"), .stands = 1000 },
		{ .test = "d", .timed_out = true, .where = ASLEEP("agate_label") GATED, .runs = 1 },
		{ .test = NULL }
	};
	struct outcome o;

	(void)state;
	hangs(acts, "TTTPP", "|a |b |c |d |d e ", 5000 + 3 * 500, &o);
	assert_string_equal(o.verdicts[1].seen, "none after 500 ms; it hangs where earlier tests "
			    "hung, so the grader waited for a part of the limit only");
	/* The first time a busy host may be to blame, and a loop needs a processor. */
	acts[0].stands = 1000;
	acts[0].runs = 1;
	acts[2] = (struct act){ .test = "c", HANGS_IN("agate_lock") };
	acts[3] = (struct act){ .test = "d", HANGS_IN("agate_lock") };
	hangs(acts, "PTTTP", "|a |a b |c |c |d |d |e ", 4 * 5000 + 2 * 500, &o);
}

#define BLIND	.report = "BLIND no window\nDONE {NONCE}\n", .output = "1..1\nnot ok 1 # SKIP b\n"

/* The grader runs it in a fresh guest each time until it could look, at most three times. */
static void test_blind(void **state)
{
	struct act acts[] = { { .test = "b", BLIND, .runs = 2 }, { .test = NULL } };
	struct canned c = { .acts = acts };
	struct outcome o = { .seals = 0 };

	(void)state;
	play(&c, acts, &o, "PPP");
	assert_string_equal(c.ran, "|a b |b |b c ");
	play_one((struct act){ BLIND }, "PNP", "|a b |b |b c ",
		 "in 3 runs the test could not look at what it is about: no window");
	play_one((struct act){ .test = "a", BLIND }, "NPP", "|a |a |a b c ", "");
	play_one((struct act){ .test = "c", BLIND }, "PPN", "|a b c |c |c ", "");
	play_one((struct act){ BLIND, .console = OOPS }, "PCP", "|a b |c ", "NULL pointer");
}

static void test_gpu_dies(void **state)
{
	(void)state;
	play_one((struct act){ .gpu_dies = true, .runs = 1 }, "PPP", "|a b |b c ", "");
	play_one((struct act){ .gpu_dies = true }, "PNP", "|a b |b |c ",
		 "the simulator itself failed in this test, and that is a bug of Agate: it was killed "
		 "on paper");
	/* A GPU process that stands still fails everything that waits for it. */
	play_one((struct act){ .gpu_stands = true, FAILS, .runs = 1 }, "PPP", "|a b |b c ", "");
	play_one((struct act){ .gpu_stands = true, .timed_out = true }, "PNP", "|a b |b |c ",
		 "that is a bug of Agate: it refused a request of the grader, or did not answer");
	/* A kernel may complain that its GPU is gone. */
	play_one((struct act){ .gpu_dies = true, .console = OOPS }, "PNP", "|a b |b |c ", "");
}

/* If an injection fails, nothing was tested; the same holds if it cannot be taken back. */
static void test_refused_injection(void **state)
{
	static const char *const names[] = { "a", "b", NULL };
	struct lab *lab = lab_with(names, "{\"inject\": [{\"latency\": {\"reset\": -1}}]}");
	struct canned c = { .refuses = 1 };
	struct outcome o = { .seals = 0 };

	(void)state;
	assert_int_equal(run_in(&c, lab, &o), SESSION_DONE);
	assert_string_equal(o.letters, "PP");
	assert_string_equal(c.ran, "|a |a b ");
	c = (struct canned){ .refuses = 9 };
	assert_int_equal(run_in(&c, lab, &o), SESSION_DONE);
	assert_string_equal(o.letters, "NN");
	assert_string_equal(c.ran, "|a |a |b |b ");
	assert_non_null(strstr(o.verdicts[0].seen, "it refused a request"));
	lab_free(lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unload),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_stuck_in_probe),
		cmocka_unit_test(test_out_of_time),
		cmocka_unit_test(test_gone),
		cmocka_unit_test(test_guest_stops_qemu),
		cmocka_unit_test(test_guest_stops_qemu_anywhere),
		cmocka_unit_test(test_late_load),
		cmocka_unit_test(test_module_works_on),
		cmocka_unit_test(test_hanging_load),
		cmocka_unit_test(test_watchdog),
		cmocka_unit_test(test_same_hang),
		cmocka_unit_test(test_same_lock),
		cmocka_unit_test(test_silent_hang),
		cmocka_unit_test(test_other_hang),
		cmocka_unit_test(test_busy_hang),
		cmocka_unit_test(test_blind),
		cmocka_unit_test(test_gpu_dies),
		cmocka_unit_test(test_refused_injection),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
