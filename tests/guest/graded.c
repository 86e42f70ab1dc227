// SPDX-License-Identifier: MIT
/*
 * Graded tests: the test's side of the protocol in grader/README.md; see graded.h.
 *
 * How its report's lines arrive: graded_report.c.
 */
#include "graded.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "graded_kept.h"
#include "graded_module.h"
#include "graded_report.h"
#include "kept_proto.h"

#define LINE_LEN	REPORT_LINE
#define NAME_LEN	64
#define PARAMS_MAX	32
#define NONCE_LEN	32
#define SETTLE_MS	2000	/* how long the last steps of freeing may take */
#define EXIT_USAGE	2

static struct {
	char name[NAME_LEN];
	int64_t value;
} params[PARAMS_MAX];
static size_t param_count;

static char nonce[NONCE_LEN + 1];
static char rule_text[LINE_LEN] = "what a test prepares has to work";
static bool alone;
static bool explained;		/* why the test fails is in the report */
static pid_t test_thread;

int64_t param(const char *name)
{
	for (size_t i = 0; i < param_count; i++) {
		if (!strcmp(params[i].name, name))
			return params[i].value;
	}
	broken("a parameter of that name in lab.json, or on the command line",
	       "the test was not given its parameter %s", name);
}

void see(const char *name, int64_t value)
{
	report_line("SEE %s %" PRId64, name, value);
}

void note(const char *fmt, ...)
{
	char text[LINE_LEN];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	report_line("NOTE %s", text);
}

void rule(const char *fmt, ...)
{
	char text[LINE_LEN];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	/* The report of a crash or a hang names the rule that the test was looking at. */
	if (!alone && strcmp(text, rule_text))
		report_where("RULE %s", text);
	strcpy(rule_text, text);
}

static void explain(const char *expected, const char *seen)
{
	report_line("RULE %s", rule_text);
	report_line("EXPECTED %s", expected);
	report_line("SEEN %s", seen);
	explained = true;
	/* cmocka leaves a failed test by longjmp(), which another thread or a child must not do. */
	if (syscall(SYS_gettid) != test_thread)
		_exit(1);
}

void broken(const char *expected, const char *seen_fmt, ...)
{
	char seen[LINE_LEN];
	va_list ap;

	va_start(ap, seen_fmt);
	vsnprintf(seen, sizeof(seen), seen_fmt, ap);
	va_end(ap);
	explain(expected, seen);
	fail();
	abort();
}

void could_not_look(const char *why_fmt, ...)
{
	char why[LINE_LEN];
	va_list ap;

	va_start(ap, why_fmt);
	vsnprintf(why, sizeof(why), why_fmt, ap);
	va_end(ap);
	report_line("BLIND %s", why);
	if (syscall(SYS_gettid) != test_thread)
		_exit(1);
	skip();
	abort();
}

void check_errno(int err, int expected, const char *what)
{
	char text[LINE_LEN], seen[32], want[32];

	if (err == expected)
		return;
	snprintf(text, sizeof(text), "%s: %s", what,
		 guest_errno_name(expected, want, sizeof(want)));
	broken(text, "%s: %s", what, guest_errno_name(err, seen, sizeof(seen)));
}

void check_equal(int64_t seen, int64_t expected, const char *what)
{
	char text[LINE_LEN];

	if (seen == expected)
		return;
	snprintf(text, sizeof(text), "%s: %" PRId64, what, expected);
	broken(text, "%s: %" PRId64, what, seen);
}

void check_at_least(int64_t seen, int64_t lowest, const char *what)
{
	char text[LINE_LEN];

	if (seen >= lowest)
		return;
	snprintf(text, sizeof(text), "%s: %" PRId64 " or more", what, lowest);
	broken(text, "%s: %" PRId64, what, seen);
}

void check_true(bool ok, const char *expected, const char *seen)
{
	if (!ok)
		broken(expected, "%s", seen);
}

void check_nothing_left(void)
{
	char left[LINE_LEN];

	if (!guest_nothing_left(SETTLE_MS, left, sizeof(left)))
		broken("every counter of the driver back at 0 after the last close",
		       "still there:%s", left);
}

static bool is_number(const char *text, int64_t *value)
{
	char *end;

	errno = 0;
	*value = strtoll(text, &end, 10);
	return end != text && !*end && !errno;
}

static bool add_param(const char *name, const char *number)
{
	int64_t value;

	if (param_count == PARAMS_MAX || !*name || strlen(name) >= NAME_LEN ||
	    !is_number(number, &value))
		return false;
	strcpy(params[param_count].name, name);
	params[param_count++].value = value;
	return true;
}

/* Takes SET lines until GO; false when the grader says anything else. */
static bool listen_for_go(void)
{
	char line[LINE_LEN + 2], *name, *number;

	while (fgets(line, sizeof(line), stdin)) {
		line[strcspn(line, "\n")] = '\0';
		if (!strncmp(line, "GO ", 3) && strlen(line + 3) == NONCE_LEN) {
			strcpy(nonce, line + 3);
			return true;
		}
		if (strncmp(line, "SET ", 4))
			return false;
		name = line + 4;
		number = strchr(name, ' ');
		if (!number)
			return false;
		*number++ = '\0';
		if (!add_param(name, number))
			return false;
	}
	return false;
}

/* cmocka runs the test, prints its TAP, and returns whether it passed. */
static int run(const struct graded_test *test)
{
	const struct CMUnitTest tests[] = {
		{ .name = test->name, .test_func = test->run, .teardown_func = test->teardown },
	};
	int failed;

	test_thread = (pid_t)syscall(SYS_gettid);
	guest_explain = explain;
	cmocka_set_message_output(CM_OUTPUT_TAP);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	if (failed && !explained)
		explain("the test runs to its end",
			"a check of the test failed, or a signal: its own output says which");
	return failed ? 1 : 0;
}

static int run_graded(const struct graded_test *test)
{
	int status;

	if (fcntl(REPORT_FD, F_SETFD, FD_CLOEXEC)) {
		fputs("no report on descriptor 3: is a grader there?  See --alone.\n", stderr);
		return EXIT_USAGE;
	}
	report_begin(test->name, REPORT_FD, true);
	report_line("READY");
	if (!listen_for_go()) {
		fputs("the grader did not say GO\n", stderr);
		return EXIT_USAGE;
	}
	status = run(test);
	report_line("DONE %s", nonce);
	return status;
}

static int run_alone(const struct graded_test *test, int argc, char **argv)
{
	char *equals;

	alone = true;
	report_begin(test->name, STDERR_FILENO, false);
	for (int i = 0; i < argc; i++) {
		equals = strchr(argv[i], '=');
		if (equals)
			*equals++ = '\0';
		if (!equals || !add_param(argv[i], equals)) {
			fprintf(stderr, "not NAME=NUMBER: %s\n", argv[i]);
			return EXIT_USAGE;
		}
	}
	return run(test);
}

static const struct graded_test *find(const struct graded_test *tests, size_t count,
				      const char *name)
{
	for (size_t i = 0; name && i < count; i++) {
		if (!strcmp(tests[i].name, name))
			return &tests[i];
	}
	fprintf(stderr, "no test %s; see --list\n", name ? name : "given");
	return NULL;
}

static const struct graded_test *kept_tests;
static size_t kept_count;

static int kept_main(int argc, char **argv)
{
	return graded_main(argc, argv, kept_tests, kept_count);
}

int graded_main(int argc, char **argv, const struct graded_test *tests, size_t count)
{
	const struct graded_test *test;
	bool by_hand = argc > 2 && !strcmp(argv[1], "--alone");

	if (argc == 2 && !strcmp(argv[1], KEPT_OPTION)) {
		report_prepare();
		kept_tests = tests;
		kept_count = count;
		return graded_kept(kept_main);
	}
	if (argc == 2 && !strcmp(argv[1], "--list")) {
		for (size_t i = 0; i < count; i++)
			puts(tests[i].name);
		return 0;
	}
	if (argc > 2 && !strcmp(argv[1], "--insmod"))
		return graded_insmod(argv + 2);
	if (argc == 3 && !strcmp(argv[1], "--rmmod"))
		return graded_rmmod(argv[2]);
	if (argc < 2 || (!by_hand && (argc != 2 || argv[1][0] == '-'))) {
		fprintf(stderr, "usage: %s TEST                             (by a grader)\n"
				"       %s --alone TEST [NAME=NUMBER]...\n"
				"       %s --list\n"
				"       %s --insmod FILE [NAME=VALUE]...         (by a grader)\n"
				"       %s --rmmod MODULE                        (by a grader)\n",
			argv[0], argv[0], argv[0], argv[0], argv[0]);
		return EXIT_USAGE;
	}
	test = find(tests, count, argv[by_hand ? 2 : 1]);
	if (!test)
		return EXIT_USAGE;
	return by_hand ? run_alone(test, argc - 3, argv + 3) : run_graded(test);
}
