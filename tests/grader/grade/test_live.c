// SPDX-License-Identifier: MIT
/* The live line of a terminal: its text, and that nothing of it stays. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "live.h"
#include "timing.h"

#define SECOND	1000000000ull

static void assert_text(uint64_t now, const char *expected)
{
	char text[240];

	live_text(now, text, sizeof(text));
	assert_string_equal(text, expected);
}

/* The text names what runs on each kernel, and how long it is silent. */
static void test_text(void **state)
{
	uint64_t begun;

	(void)state;
	live_count("02-gem", 3, 20);
	assert_text(0, "  02-gem 3/20");
	live_task("02-gem", FLAVOUR_FAST, "label-lock", 4500);
	begun = timing_now();
	assert_text(begun, "  02-gem 3/20  label-lock");
	assert_text(begun + 3 * SECOND, "  02-gem 3/20  label-lock: no answer for 3 s of at most 5 s");
	live_task("02-gem", FLAVOUR_DEBUG, "locks", 0);
	begun = timing_now();
	assert_text(begun + SECOND, "  02-gem 3/20  label-lock  locks (debug kernel)");
	live_task("02-gem", FLAVOUR_FAST, NULL, 0);
	assert_text(begun + 3 * SECOND, "  02-gem 3/20  locks (debug kernel): no answer for 3 s");
	live_task("02-gem", FLAVOUR_DEBUG, NULL, 0);
}

/* The line says of which lab a test is that runs beside the lab of the report. */
static void test_side_by_side(void **state)
{
	uint64_t begun;

	(void)state;
	live_count("02-gem", 3, 20);
	live_task("02-gem", FLAVOUR_FAST, "label-lock", 4500);
	live_task("03-cma", FLAVOUR_FAST, "gpu", 4500);
	begun = timing_now();
	assert_text(begun, "  02-gem 3/20  label-lock  03-cma/gpu");
	live_task("02-gem", FLAVOUR_FAST, NULL, 0);
	assert_text(begun, "  02-gem 3/20  03-cma/gpu");
	live_count("03-cma", 7, 19);
	assert_text(begun, "  03-cma 7/19  gpu");
	live_task("03-cma", FLAVOUR_FAST, NULL, 0);
	assert_text(begun, "  03-cma 7/19");
}

/* In the end a terminal shows nothing but what other code printed. */
static void test_terminal(void **state)
{
	int saved = dup(STDERR_FILENO), terminal = posix_openpt(O_RDWR | O_NOCTTY), slave;
	char got[4096];
	ssize_t some;
	size_t n;

	(void)state;
	assert_true(saved >= 0 && terminal >= 0);
	assert_int_equal(grantpt(terminal) | unlockpt(terminal), 0);
	slave = open(ptsname(terminal), O_RDWR | O_NOCTTY);
	assert_true(slave >= 0);
	assert_int_equal(dup2(slave, STDERR_FILENO), STDERR_FILENO);
	live_begin();
	live_count("02-gem", 3, 20);
	live_hide();
	fputs("printed", stderr);
	live_show();
	live_end();
	assert_int_equal(dup2(saved, STDERR_FILENO), STDERR_FILENO);
	close(slave);
	for (n = 0; n < sizeof(got) - 1; n += (size_t)some) {
		/* Fails when all is read, because nobody has the other end open. */
		some = read(terminal, got + n, sizeof(got) - 1 - n);
		if (some <= 0)
			break;
	}
	close(terminal);
	close(saved);
	got[n] = '\0';
	assert_non_null(strstr(got, "02-gem 3/20"));
	/* Erased before the text, and at the end. */
	assert_non_null(strstr(got, "\r\033[Kprinted"));
	assert_string_equal(got + n - strlen("\r\033[K"), "\r\033[K");
}

/* A log gets nothing. */
static void test_log(void **state)
{
	int saved = dup(STDERR_FILENO), end[2];
	char got[16];

	(void)state;
	assert_int_equal(pipe2(end, O_NONBLOCK), 0);
	assert_int_equal(dup2(end[1], STDERR_FILENO), STDERR_FILENO);
	live_begin();
	live_count("02-gem", 3, 20);
	live_task("02-gem", FLAVOUR_FAST, "label-lock", 4500);
	live_end();
	assert_int_equal(dup2(saved, STDERR_FILENO), STDERR_FILENO);
	close(end[1]);
	assert_int_equal(read(end[0], got, sizeof(got)), 0);
	close(end[0]);
	close(saved);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_side_by_side),
		cmocka_unit_test(test_terminal),
		cmocka_unit_test(test_log),
	};

	return cmocka_run_group_tests_name("live", tests, NULL, NULL);
}
