/* SPDX-License-Identifier: MIT */
/*
 * Graded tests: one process per test, which gets its parameters from outside and reports
 * its observations. grader/README.md has the protocol that this file implements.
 *
 * A test states a rule, then checks it:
 *
 *	rule("a size of 0 is refused");
 *	check_errno(create(fd, 0), EINVAL, "CREATE_BO of 0 bytes");
 *
 * so that a failure reads as rule, expected, seen.  For a run by hand, without a
 * grader: PROGRAM --alone TEST [NAME=NUMBER]...
 */
#ifndef AGATE_TESTS_GRADED_H
#define AGATE_TESTS_GRADED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "guest.h"

struct graded_test {
	const char *name;		/* as in lab.json */
	void (*run)(void **state);
	int (*teardown)(void **state);	/* or NULL */
};

/* The whole of a test program's main(): runs the test that the command line names. */
int graded_main(int argc, char **argv, const struct graded_test *tests, size_t count);
#define GRADED_MAIN(tests)							\
	int main(int argc, char **argv)						\
	{									\
		return graded_main(argc, argv, tests, sizeof(tests) / sizeof((tests)[0])); \
	}

/* A parameter that the grader chose; fails the test when there is none with that name. */
int64_t param(const char *name);

/* Report an observation to the grader, which compares it.  Use each name once. */
void see(const char *name, int64_t value);

/* A remark that costs no points. */
void note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* Set the rule that the following checks verify: a sentence that a student reads. */
void rule(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Report that the rule is broken, with the expected and the seen value.  In a child
 * process, or in another thread than the test's, the process ends: without DONE the test
 * does not pass.
 */
_Noreturn void broken(const char *expected, const char *seen_fmt, ...)
	__attribute__((format(printf, 2, 3)));

/*
 * The test could not look at its subject: it neither passes nor fails, and the grader
 * runs it again.  Use this only for something that a slow machine causes and no driver
 * can cause.  Only the test's own thread may call it.
 */
_Noreturn void could_not_look(const char *why_fmt, ...) __attribute__((format(printf, 1, 2)));

/* @err is 0 or an errno, as the calls of guest.h return it; @what names the call. */
void check_errno(int err, int expected, const char *what);
void check_equal(int64_t seen, int64_t expected, const char *what);
void check_at_least(int64_t seen, int64_t lowest, const char *what);
void check_true(bool ok, const char *expected, const char *seen);
/* Wait a moment for the driver's counters to be zero; if they are not, the rule is broken. */
void check_nothing_left(void);

/*
 * Load the module with these parameters ("" for none), and unload it; 0 or the errno.  Tests
 * use the GPU's registers when they like, so it keeps its power, except with runtime_pm=1.
 * Its file is the one that the grader delivered.
 */
int module_load(const char *args);
int module_unload(void);

/*
 * Take the GPU from the driver that is loaded, and give it back: 0 or the errno.
 * Loading a module does not report its probe's result; this call returns the probe's
 * errno.
 */
int device_unbind(void);
int device_bind(void);
/* The same for one of several GPUs, by its name on the PCI bus. */
int device_unbind_one(const char *name);
int device_bind_one(const char *name);

/* Write a text to a file of sysfs or procfs: 0 or the errno. */
int file_write(const char *path, const char *text);

/*
 * Start the other processor, for a test in which two have to be at work at the same moment.  The
 * guest's later tests have it, too.
 */
void both_processors(void);

/*
 * Make kernel functions fail, dawdle or wait (tests/guest/kmod/): only calls that this
 * process and its children make.  @nth counts from 1, and 0 stands for every call.  The
 * symbol is a kernel function, or one of a module, now or when it is loaded.  A function that
 * fails is not entered; it returns -@err, or NULL.  If the compiler inlined a call into its
 * caller, an injection cannot hit it.
 *
 * "a|b" are two functions of which a driver calls one or the other, or of which this kernel has
 * only one.  Each counts its own calls; inject_hits() adds them up, and a gate is held when
 * one of both is.
 */
void inject_fail(const char *symbol, unsigned int nth, int err);
void inject_fail_null(const char *symbol, unsigned int nth);
/* The call does all that it does, and returns -err. */
void inject_fail_return(const char *symbol, unsigned int nth, int err);
void inject_delay_entry(const char *symbol, unsigned int nth, unsigned int us);
void inject_delay_return(const char *symbol, unsigned int nth, unsigned int us);
/* They give a page of a BO's file; the core's drm_gem_get_pages() calls the second in 6.12. */
#define INJECT_READS	"shmem_read_mapping_page_gfp|shmem_read_folio_gfp"
/*
 * Gates: the call sleeps before it begins, or before its caller goes on, until the
 * test lets it go.  The locks of its caller stay taken, and its CPU is free.  If the test
 * does not open a gate, the gate gives up after @bound_ms of the guest's time, at most
 * 25,000; it does not hold a call that must not sleep.  A function has one gate at a time,
 * and at most six arguments.  All gates are at calls that may sleep: a task that makes one with
 * interrupts off fails the test, when that waits for the call.
 */
#define INJECT_BOUND_MS		20000
void inject_hold_entry(const char *symbol, unsigned int nth, unsigned int bound_ms);
void inject_hold_return(const char *symbol, unsigned int nth, unsigned int bound_ms);
/* Wait for the call; false when none is held after @timeout_ms, or because the gate gave up. */
bool inject_await_held(const char *symbol, unsigned int timeout_ms);
/* Open the gate.  False when the call was not held until now: the test could not look. */
bool inject_let_go(const char *symbol);
/* Choose whether the injections set from now on hit all callers, including interrupts. */
void inject_anybody(bool anybody);
/*
 * Injections set from now on hit, and count, only calls that a task makes inside this
 * function: until inject_clear().
 */
void inject_within(const char *symbol);
/*
 * The first @count sleeps in these calls of @symbol, a function that sleeps for as long as its
 * first argument says, are over at once: what gives up after a number of them gives up now.
 */
void inject_hurry(const char *symbol, unsigned int count);
/* Only count the calls, for inject_hits(). */
void inject_count(const char *symbol);
/* The number of calls since the injection was set. */
unsigned int inject_hits(const char *symbol);
/* Take back all injections and open the gates; the end of the process does the same. */
void inject_clear(void);
/* Load agate_inject.ko, whose other files in debugfs a test wants, if nothing did yet. */
void inject_load(void);
/* The same, and open a file of the module in debugfs; -1 with errno. */
int inject_open(const char *path, int flags);
/* Where in the kernel's memory there is a text of more than 13 letters. */
uint64_t inject_kernel_text(void);

#endif /* AGATE_TESTS_GRADED_H */
