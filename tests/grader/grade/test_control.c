// SPDX-License-Identifier: MIT
/*
 * The control socket's client, with the other end on paper.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "gpu_control.h"

struct line {
	struct gpu_control control;
	int other;
	unsigned int looks;		/* how many questions until the answer is late */
};

static void begin(struct line *l)
{
	int fds[2];

	memset(l, 0, sizeof(*l));
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds), 0);
	l->control.fd = fds[0];
	l->other = fds[1];
}

static void end(const struct line *l)
{
	close(l->control.fd);
	if (l->other >= 0)
		close(l->other);
}

static bool late(void *arg)
{
	struct line *l = arg;

	return !l->looks--;
}

static void says(const struct line *l, const char *text)
{
	assert_int_equal(write(l->other, text, strlen(text)), strlen(text));
}

/* The number in the answer; -1 when there is none. */
static json_int_t ask(struct line *l)
{
	json_t *request = json_pack("{s:s}", "cmd", "ping"), *answer;
	json_int_t n = -1;

	answer = gpu_control_ask(&l->control, request, late, l);
	if (answer)
		n = json_integer_value(json_object_get(answer, "n"));
	json_decref(answer);
	json_decref(request);
	return n;
}

static void test_answer(void **state)
{
	char sent[256] = "";
	struct line l;

	(void)state;
	begin(&l);
	says(&l, "{\"id\": 1, \"n\": 7}\n");
	assert_int_equal(ask(&l), 7);
	assert_true(read(l.other, sent, sizeof(sent) - 1) > 0);
	assert_string_equal(sent, "{\"cmd\":\"ping\",\"id\":1}\n");
	end(&l);
}

/* An answer that comes too late is dropped: later requests still get their own answers. */
static void test_late(void **state)
{
	struct line l;

	(void)state;
	begin(&l);
	assert_int_equal(ask(&l), -1);
	says(&l, "{\"id\": 1, \"n\": 7}\n{\"id\": 2, ");
	says(&l, "\"n\": 8}\n{\"id\": 3, \"n\"");
	assert_int_equal(ask(&l), 8);
	says(&l, ": 9}\n");
	assert_int_equal(ask(&l), 9);
	end(&l);
}

/* The client waits for the answer until it is late. */
static void test_slow(void **state)
{
	struct line l;

	(void)state;
	begin(&l);
	l.looks = 3;
	assert_int_equal(ask(&l), -1);
	assert_int_equal(l.looks, (unsigned int)-1);
	end(&l);
}

static void test_damaged(void **state)
{
	char endless[GPU_CONTROL_ANSWER + 1];
	struct line l;

	(void)state;
	begin(&l);
	l.looks = 100;
	says(&l, "{\"id\": 1, \"n\"\n");
	assert_int_equal(ask(&l), -1);
	says(&l, "{\"id\": 2, \"n\": 8}\n");
	assert_int_equal(ask(&l), 8);
	memset(endless, 'x', sizeof(endless));
	endless[sizeof(endless) - 1] = '\0';
	says(&l, endless);
	assert_int_equal(ask(&l), -1);
	end(&l);
	begin(&l);
	l.looks = 100;
	close(l.other);
	l.other = -1;
	assert_int_equal(ask(&l), -1);
	assert_int_equal(l.looks, 100);
	end(&l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_answer),
		cmocka_unit_test(test_late),
		cmocka_unit_test(test_slow),
		cmocka_unit_test(test_damaged),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
