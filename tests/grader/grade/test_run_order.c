// SPDX-License-Identifier: MIT
/*
 * The order in which two guests take the tests, and the times from which it follows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "lab_text.h"
#include "run_order.h"

static const char *const names[] = { "a", "b", "c", "d", "e", NULL };

/* The tests' names in the order that follows from a file with this text. */
static const char *order_from(const char *text)
{
	static struct run_order order;
	static char found[8];
	struct lab *lab = lab_of(names);

	run_order_load(&order, lab, text ? scratch_file("times", text) : "/nowhere/times");
	for (size_t i = 0; i < 5; i++)
		found[i] = *names[order.order[i]];
	lab_free(lab);
	return found;
}

static void test_unknown(void **state)
{
	(void)state;
	assert_string_equal(order_from(NULL), "abcde");
	assert_string_equal(order_from(""), "abcde");
}

static void test_long_ones_first(void **state)
{
	(void)state;
	assert_string_equal(order_from("c 300\n"), "cabde");
	assert_string_equal(order_from("c 300\ne 500\nb 300\n"), "ebcad");
	assert_string_equal(order_from("a 59\nb 1\nc 58\nd 60\ne 3\n"), "dabce");
}

/* Whatever the file says, each test has its place once. */
static void test_damaged(void **state)
{
	(void)state;
	assert_string_equal(order_from("c\nz 900\n-5\n\n c 400 x\nd -1\n\x01\x02"), "dcabe");
	assert_string_equal(order_from("c 99999999999999999999\n\n\n"), "cabde");
}

static void test_kept(void **state)
{
	struct lab *lab = lab_of(names);
	const char *path = scratch_path("kept");
	struct run_order order, again;

	(void)state;
	run_order_load(&order, lab, path);
	order.took_ms[1] = 70;
	order.took_ms[4] = 80;
	run_order_save(&order, lab, path);
	run_order_load(&again, lab, path);
	assert_int_equal(again.took_ms[1], 70);
	assert_int_equal(again.took_ms[4], 80);
	assert_int_equal(again.took_ms[0], 0);
	assert_int_equal(again.order[0], 4);
	assert_int_equal(again.order[1], 1);
	run_order_save(&order, lab, "/nowhere/times");
	lab_free(lab);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unknown),
		cmocka_unit_test(test_long_ones_first),
		cmocka_unit_test(test_damaged),
		cmocka_unit_test(test_kept),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
