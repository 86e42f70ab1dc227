// SPDX-License-Identifier: MIT
/*
 * The project's labs: each description is valid, and refers to pages that exist.
 *
 * Runs at the top of the tree.
 */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lab_text.h"

#define LABS	"labs"

/*
 * The anchor of a heading: in lower case, without punctuation, and with a hyphen for
 * each space.
 */
static void slug(const char *heading, char *out)
{
	for (; *heading && *heading != '\n'; heading++) {
		if (isalnum((unsigned char)*heading) || *heading == '-' || *heading == '_')
			*out++ = (char)tolower((unsigned char)*heading);
		else if (*heading == ' ')
			*out++ = '-';
	}
	*out = '\0';
}

/* Does the page have a heading with this anchor, outside of code? */
static bool has_anchor(const char *page, const char *anchor)
{
	char line[1024], found[1024];
	FILE *file = fopen(page, "r");
	bool code = false, there = false;

	if (!file)
		return false;
	while (!there && fgets(line, sizeof(line), file)) {
		size_t depth = strspn(line, "#");

		if (!strncmp(line, "```", 3))
			code = !code;
		if (code || !depth || line[depth] != ' ')
			continue;
		slug(line + depth + 1, found);
		there = !strcmp(found, anchor);
	}
	fclose(file);
	return there;
}

static void test_slugs(void **state)
{
	char out[64];
	const char *page = scratch_file("page.md", "# Top\n```\n# Code\n```\n#Not one\n## Two words\n");

	(void)state;
	slug("2.3 Reset\n", out);
	assert_string_equal(out, "23-reset");
	slug("Which context am I in?", out);
	assert_string_equal(out, "which-context-am-i-in");
	slug("`agate_gem.c`, and more", out);
	assert_string_equal(out, "agate_gemc-and-more");
	assert_true(has_anchor(page, "top"));
	assert_true(has_anchor(page, "two-words"));
	assert_false(has_anchor(page, "code"));
	assert_false(has_anchor(page, "not-one"));
	assert_false(has_anchor(page, "two"));
	assert_false(has_anchor("/nonexistent", "top"));
}

/* "PAGE#ANCHOR" of one test. */
static void check_book(const struct lab *lab, const struct lab_test *test)
{
	const char *hash = strchr(test->book, '#');
	char page[512];

	if (!strncmp(test->book, "README#", 7))
		snprintf(page, sizeof(page), LABS "/%s/README.md", lab->name);
	else
		snprintf(page, sizeof(page), "book/%.*s.md", (int)(hash - test->book), test->book);
	if (!has_anchor(page, hash + 1))
		fail_msg("%s/%s: there is no %s%s", lab->name, test->name, page, hash);
}

static void check_lab(const struct lab *lab)
{
	size_t i, with_step = 0;

	for (i = 0; i < lab->test_count; i++) {
		check_book(lab, &lab->tests[i]);
		with_step += lab->tests[i].step > 0;
	}
	if (with_step && with_step < lab->test_count)
		fail_msg("%s: %zu of %zu tests have a step", lab->name, with_step,
			 lab->test_count);
}

static void test_labs(void **state)
{
	char (*names)[LAB_NAME], path[512], error[LAB_ERROR];
	int n = lab_names(LABS, &names), i;

	(void)state;
	assert_true(n > 0);
	for (i = 0; i < n; i++) {
		struct lab *lab;

		snprintf(path, sizeof(path), LABS "/%s/lab.json", names[i]);
		lab = lab_load(path, names[i], error);
		if (!lab)
			fail_msg("%s", error);
		check_lab(lab);
		lab_free(lab);
	}
	free(names);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slugs),
		cmocka_unit_test(test_labs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
