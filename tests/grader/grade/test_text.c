// SPDX-License-Identifier: MIT
/*
 * Numbers in what people read have their names.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "text.h"

static void named(const char *text, const char *wanted)
{
	char out[128];

	text_names(out, sizeof(out), text);
	assert_string_equal(out, wanted);
}

static void test_names(void **state)
{
	(void)state;
	named("CREATE_BO: errno 28 in round 3", "CREATE_BO: ENOSPC (28) in round 3");
	named("errno 5", "EIO (5)");
	named("it died of signal 11.", "it died of SIGSEGV (11).");
	named("signal 9: Killed", "SIGKILL (9): Killed");
	named("probe failed: -28", "probe failed: -28 (ENOSPC)");
	named("no vectors (-28), giving up", "no vectors (-28, ENOSPC), giving up");
	named("err=-110", "err=-110 (ETIMEDOUT)");
	named("probe with driver agate failed with error -95",
	      "probe with driver agate failed with error -95 (EOPNOTSUPP)");
}

/* What only looks like one is left alone. */
static void test_no_names(void **state)
{
	static const char *const texts[] = {
		"", "errno", "errno x", "errno 0", "errno 4000", "errno 28x", "errno 99999", "myerrno 28",
		"signal 0", "signal 99", "28", "2-28", "0x100-0x128", "at -28 degrees", "range: 1 - 28",
		"-28", "-", "a -0", "a -28.5", "minus -9999",
	};
	size_t i;

	(void)state;
	for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		named(texts[i], texts[i]);
}

static void test_bounds(void **state)
{
	char out[12];

	(void)state;
	text_names(out, sizeof(out), "abcdefghijklmnop");
	assert_string_equal(out, "abcdefghijk");
	text_names(out, sizeof(out), "ab errno 28");
	assert_int_equal(strlen(out), 11);
	text_names(out, sizeof(out), "errno 28");
	assert_string_equal(out, "ENOSPC (28)");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_no_names),
		cmocka_unit_test(test_bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
