// SPDX-License-Identifier: MIT
/*
 * Messages of a compiler and of the symbol check, explained to a student.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "explain.h"

#define CODE	"tests/grader/explain/source/code.c"

static const char *const files[] = { CODE, "tests/grader/explain/source/more.c", NULL };

static bool compiled(const char *log, struct explanation *why)
{
	return explain_compile(log, strlen(log), ".", files, why);
}

static void test_error(void **state)
{
	struct explanation why;

	(void)state;
	assert_true(compiled(CODE ": In function 'caller_one':\n"
			     CODE ":19:16: error: implicit declaration of function 'same_nam'; did you "
			     "mean 'same_name'? [-Werror=implicit-function-declaration]\n"
			     "   19 |         return same_nam(n) + 1;\n"
			     "      |                ^~~~~~~~\n"
			     CODE ":30:1: error: expected ';' before '}' token\n"
			     "cc1: all warnings being treated as errors\n", &why));
	assert_string_equal(why.place.file, CODE);
	assert_int_equal(why.place.line, 19);
	assert_string_equal(why.said, "implicit declaration of function 'same_nam'; did you mean "
			    "'same_name'? [-Werror=implicit-function-declaration]");
	assert_non_null(strstr(why.rule, "declared before it is used"));
	assert_string_equal(why.place.source[1], "\treturn same_name(n) + 1;");
	assert_int_equal(why.more, 1);
}

/*
 * The mistake is in the student's line, although the compiler reports it inside a macro
 * or a header.
 */
static void test_error_in_header(void **state)
{
	struct explanation why;

	(void)state;
	assert_true(compiled("In file included from ./include/linux/kernel.h:21,\n"
			     "                 from " CODE ":5:\n"
			     CODE ": In function 'with_inline':\n"
			     "./include/linux/container_of.h:18:48: error: 'struct x' has no member named "
			     "'base'\n"
			     "   18 |         void *__mptr = (void *)(ptr);\n"
			     "./include/linux/build_bug.h:78:56: note: in definition of macro "
			     "'__static_assert'\n"
			     "kernel/agate_gem.h:20:9: note: in expansion of macro 'container_of'\n"
			     CODE ":36:16: note: in expansion of macro 'to_bo'\n", &why));
	assert_string_equal(why.place.file, CODE);
	assert_int_equal(why.place.line, 36);
	assert_non_null(strstr(why.rule, "no member"));
	assert_int_equal(why.more, 0);

	assert_true(compiled("In file included from " CODE ":5:\n"
			     "include/linux/no-such.h:12:1: error: unknown type name 'foo'\n", &why));
	assert_string_equal(why.place.file, CODE);
	assert_int_equal(why.place.line, 5);
	/* If nothing leads to the student's files, the place is the compiler's. */
	assert_true(compiled("include/linux/no-such.h:12:1: error: unknown type name 'foo'\n", &why));
	assert_string_equal(why.place.file, "include/linux/no-such.h");
	assert_int_equal(why.place.line, 12);
	assert_string_equal(why.place.source[1], "");
}

static void test_error_without_line(void **state)
{
	struct explanation why;

	(void)state;
	assert_true(compiled(CODE ": not there; lab 02 is about this file\n", &why));
	assert_string_equal(why.place.file, CODE);
	assert_int_equal(why.place.line, 0);
	assert_string_equal(why.rule, "the lab's file is there");
	assert_true(compiled(CODE ": error: includes /etc/passwd, which is not among lab 02's files\n",
			     &why));
	assert_string_equal(why.place.file, CODE);
	assert_int_equal(why.place.line, 0);
	assert_non_null(strstr(why.rule, "headers"));
	assert_false(compiled("", &why));
	assert_false(compiled(CODE ":20:16: warning: something\n", &why));
	assert_false(compiled("cc1: all warnings being treated as errors\n", &why));
}

static void test_symbols(void **state)
{
	static const char log[] =
		"code.c: uses leave, which lab 02 does not allow\n"
		"02-gem-object: does not define agate_gem_create, which other files of the driver need\n";
	static const char blamed[] = "code.c:2: `away` uses leave, which lab 02 does not allow\n";
	struct explanation why;

	(void)state;
	assert_true(explain_symbols(log, sizeof(log) - 1, ".", files, &why));
	assert_string_equal(why.said, "code.c: uses leave, which lab 02 does not allow");
	assert_non_null(strstr(why.rule, "what the lab allows"));
	assert_string_equal(why.place.file, CODE);
	/* Not the comment above it, which has the same word. */
	assert_string_equal(why.place.source[1], "_Noreturn void leave(void);");
	assert_int_equal(why.more, 1);

	/* A known line is shown, and named once. */
	assert_true(explain_symbols(blamed, sizeof(blamed) - 1, ".", files, &why));
	assert_string_equal(why.said, "code.c: `away` uses leave, which lab 02 does not allow");
	assert_string_equal(why.place.file, CODE);
	assert_int_equal(why.place.line, 2);
	assert_true(why.place.source[1][0]);

	assert_true(explain_symbols(strchr(log, '\n') + 1, strlen(strchr(log, '\n') + 1), ".", files,
				    &why));
	assert_non_null(strstr(why.rule, "defines all"));
	assert_string_equal(why.place.file, "");
	assert_int_equal(why.place.line, 0);
	assert_false(explain_symbols("", 0, ".", files, &why));
	assert_true(explain_symbols("x.c: defines y, and so does z.c", 31, ".", NULL, &why));
}

/* Any bytes, cut anywhere: the code reads no byte beyond them, and terminates every string. */
static void test_hostile(void **state)
{
	static const char log[] =
		"In file included from " CODE ":8,\n"
		"from " CODE ":99999999999999999999:\n"
		CODE ":4294967296:1: error: x\n:1:1: error: error: error: y\n::::: error: \n"
		"\x01\xff\x80: error: z\ncode.c: uses \xff, which\ncode.c: defines , which\n"
		": not there\nfrom \nerror: \n";
	struct explanation why;
	char *part;
	size_t cut;

	(void)state;
	for (cut = 0; cut <= sizeof(log) - 1; cut++) {
		part = malloc(cut ? cut : 1);
		assert_non_null(part);
		memcpy(part, log, cut);
		if (explain_compile(part, cut, ".", files, &why))
			assert_true(strlen(why.rule) && strlen(why.said) < sizeof(why.said));
		if (explain_symbols(part, cut, ".", files, &why))
			assert_true(strlen(why.rule) && strlen(why.said) < sizeof(why.said));
		free(part);
	}
	part = malloc(1 << 20);
	assert_non_null(part);
	memset(part, 'a', 1 << 20);
	memcpy(part, "code.c: uses ", 13);
	assert_true(explain_symbols(part, 1 << 20, ".", files, &why));
	assert_false(explain_compile(part, 1 << 20, ".", files, &why));
	free(part);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_error),
		cmocka_unit_test(test_error_in_header),
		cmocka_unit_test(test_error_without_line),
		cmocka_unit_test(test_symbols),
		cmocka_unit_test(test_hostile),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
