// SPDX-License-Identifier: MIT
/*
 * Lines that a report left in the guest's memory: which page counts, and what of it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "held.h"

static struct held page(const char *test, uint64_t begun, uint64_t changes, const char *text)
{
	struct held p = { .magic = HELD_MAGIC, .begun = begun, .changes = changes };

	strcpy(p.test, test);
	p.len = (uint32_t)strlen(text);
	memcpy(p.text, text, p.len);
	return p;
}

/* Of these pages the lines of test "a" are @expected, in any order. */
static void lines(const struct held *pages, size_t count, const char *expected)
{
	char text[sizeof(pages->text)];
	size_t len;

	for (size_t turn = 0; turn < 2; turn++) {
		struct held_choice choice = { .test = "a" };

		for (size_t i = 0; i < count; i++)
			held_choose(&choice, &pages[turn ? count - 1 - i : i]);
		len = held_lines(&choice, text, sizeof(text));
		assert_int_equal(len, strlen(expected));
		assert_memory_equal(text, expected, len);
	}
}

static void test_newest(void **state)
{
	struct held pages[] = {
		page("a", 5, 9, "RULE old\n"),
		page("a", 7, 3, "RULE moved\n"),
		page("a", 7, 4, "RULE one\nRULE two\n"),
		page("ab", 9, 9, "RULE of another test\n"),
	};

	(void)state;
	lines(pages, 4, "RULE one\nRULE two\n");
	lines(pages, 1, "RULE old\n");
	lines(pages + 3, 1, "");
	lines(pages, 0, "");
}

/* A page is the guest's: nothing in it has to make sense. */
static void test_nonsense(void **state)
{
	struct held p = page("a", 1, 1, "RULE r\n");
	struct held_choice choice = { .test = "a" };
	char text[8];

	(void)state;
	p.len = sizeof(p.text) + 1;
	lines(&p, 1, "");
	p = page("a", 1, 1, "RULE r\n");
	p.magic[3] = 'x';
	lines(&p, 1, "");
	memset(&p, 0xff, sizeof(p));
	lines(&p, 1, "");
	p = page("a", 1, 1, "RULE r\nRULE cut");
	lines(&p, 1, "RULE r\n");
	p = page("a", 1, 1, "RULE r\nDONE 0123\nRULE s\n");
	lines(&p, 1, "RULE r\n");
	/* There is room for one line. */
	p = page("a", 1, 1, "RULE r\nRULE s\n");
	held_choose(&choice, &p);
	assert_int_equal(held_lines(&choice, text, sizeof(text)), 7);
	assert_int_equal(held_lines(&choice, text, 6), 0);
	/* As long as a page can hold. */
	p = page("a", 1, 1, "");
	memset(p.text, 'x', sizeof(p.text));
	memcpy(p.text, "RULE ", 5);
	p.len = sizeof(p.text);
	lines(&p, 1, "");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_newest),
		cmocka_unit_test(test_nonsense),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
