// SPDX-License-Identifier: MIT
/*
 * agate-map as a user runs it: the file it reads, the places of its pictures, and
 * its messages when it cannot read or write.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static const char one_page[] =
	"{\"time\": 1, \"event\": \"as_done\", \"as\": 0, \"command\": \"UPDATE\", "
	"\"format\": \"lpae\", \"table\": \"0x1000\"}\n"
	"{\"time\": 2, \"event\": \"walk\", \"as\": 0, \"va\": \"0x5000\", \"level\": 3, "
	"\"maps\": \"0x9000\", \"access\": \"rw\", \"tables\": \"0x1000 0x2000 0x3000 0x4000\"}\n"
	"{\"time\": 9, \"event\": \"mark\", \"text\": \"end\"}\n";

/* This program's own folder, which each test leaves empty. */
static char folder[] = "/tmp/agate-map-XXXXXX";
static char out[8192], err[8192];

static char *path_of(const char *name)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	return path;
}

static void put(const char *name, const char *text)
{
	FILE *file = fopen(path_of(name), "w");
	int failed;

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	failed = fclose(file);
	assert_int_equal(failed, 0);
}

/* Read the file's beginning and delete the file; false when there is none. */
static bool take(const char *name, char *text, size_t size)
{
	FILE *file = fopen(path_of(name), "r");

	if (!file)
		return false;
	text[fread(text, 1, size - 1, file)] = '\0';
	fclose(file);
	unlink(path_of(name));
	return true;
}

/* Runs it in the folder, with arguments for a shell; returns its exit status. */
static int run(const char *arguments)
{
	char command[512], *program = realpath(AGATE_MAP_SAN, NULL);
	int status;

	assert_non_null(program);
	snprintf(command, sizeof(command), "cd %s && { %s %s; } >out 2>err", folder, program,
		 arguments);
	free(program);
	status = system(command);
	assert_true(WIFEXITED(status));
	assert_true(take("out", out, sizeof(out)));
	assert_true(take("err", err, sizeof(err)));
	return WEXITSTATUS(status);
}

static void test_text_is_what_it_prints(void **state)
{
	char first[sizeof(out)];

	(void)state;
	put("log", one_page);
	assert_int_equal(run("log"), 0);
	assert_non_null(strstr(out, "root table at 0x0000001000, lpae"));
	assert_string_equal(err, "");
	strcpy(first, out);
	assert_int_equal(run("--text - log"), 0);
	assert_string_equal(out, first);
	assert_int_equal(run("- <log"), 0);
	assert_string_equal(out, first);
	unlink(path_of("log"));
}

static void test_pictures_go_where_they_are_told(void **state)
{
	char text[sizeof(out)], svg[sizeof(out)];

	(void)state;
	put("log", one_page);
	assert_int_equal(run("--svg map.svg --text map.txt log"), 0);
	assert_string_equal(out, "");
	assert_string_equal(err, "");
	assert_true(take("map.svg", svg, sizeof(svg)));
	assert_true(take("map.txt", text, sizeof(text)));
	assert_memory_equal(svg, "<svg ", 5);
	assert_non_null(strstr(text, "root table at 0x0000001000"));
	/* With only one picture requested there is no other. */
	assert_int_equal(run("--svg - log"), 0);
	assert_string_equal(out, svg);
	unlink(path_of("log"));
}

static void test_wrong_command_lines(void **state)
{
	static const char *const wrong[] = {
		"--svg x", "one two", "--picture x log", "--svg", "--once log", "--json --svg x",
		"--interval 9 --once", "--interval 1s --once", "--trace",
	};
	unsigned int i;

	(void)state;
	assert_int_equal(run("--help"), 0);
	assert_memory_equal(out, "usage: agate-map", 16);
	assert_string_equal(err, "");
	for (i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		assert_int_equal(run(wrong[i]), 2);
		assert_string_equal(out, "");
		assert_non_null(strstr(err, "usage: agate-map"));
	}
}

static void test_nothing_to_read(void **state)
{
	(void)state;
	assert_int_equal(run("log"), 1);
	assert_string_equal(err, "agate-map: log: No such file or directory\n");
	put("log", "");
	assert_int_equal(run("--svg map.svg log"), 1);
	assert_string_equal(err, "agate-map: log is no event log\n");
	put("log", "[ 0.5] a kernel's log\n[ 0.6] is none of these\n");
	assert_int_equal(run("--svg map.svg log"), 1);
	assert_string_equal(err, "agate-map: log is no event log\n");
	assert_string_equal(out, "");
	/* A log that cannot be drawn leaves no picture. */
	assert_false(take("map.svg", out, sizeof(out)));
	unlink(path_of("log"));
}

static void test_nowhere_to_write(void **state)
{
	(void)state;
	put("log", one_page);
	assert_int_equal(run("--svg nowhere/map.svg log"), 1);
	assert_string_equal(err, "agate-map: nowhere/map.svg: No such file or directory\n");
	assert_int_equal(run("--text nowhere/map.txt log"), 1);
	assert_string_equal(err, "agate-map: nowhere/map.txt: No such file or directory\n");
	assert_int_equal(run("--svg /dev/full log"), 1);
	assert_string_equal(err, "agate-map: /dev/full cannot be written\n");
	assert_int_equal(run("log >/dev/full"), 1);
	assert_string_equal(err, "agate-map: - cannot be written\n");
	unlink(path_of("log"));
}

static int folder_make(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int folder_remove(void **state)
{
	(void)state;
	return rmdir(folder);	/* not empty: a test left something */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_text_is_what_it_prints),
		cmocka_unit_test(test_pictures_go_where_they_are_told),
		cmocka_unit_test(test_wrong_command_lines),
		cmocka_unit_test(test_nothing_to_read),
		cmocka_unit_test(test_nowhere_to_write),
	};

	return cmocka_run_group_tests_name("sim-map_program", tests, folder_make, folder_remove);
}
