// SPDX-License-Identifier: MIT
/*
 * agate-map: logs that begin in the middle of a run, flushes of any width, tables that
 * change under an address, long runs; and no memory.
 *
 * Linked with --wrap=realloc, so that a test can make agate-map's allocations fail.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "map_log.h"

void *__real_realloc(void *old, size_t size);
void *__wrap_realloc(void *old, size_t size);

static bool no_memory;

void *__wrap_realloc(void *old, size_t size)
{
	return no_memory ? NULL : __real_realloc(old, size);
}


/* The UPDATE came before the log began: its table's events are neither odd nor shown. */
static void test_a_log_that_begins_in_the_middle(void **state)
{
	struct map map;

	(void)state;
	read_log(&map, WALK(1, 0, "0x5000", 3, "0xa000", "rw", TABLES) FAULT(2, 0, "0x6000")
		 FLUSHED(3, 0) RESUMED(4, 0, "0x6000")
		 "{\"time\": 5, \"event\": \"job_end\", \"slot\": 0}\n" END(9));
	assert_int_equal(map.odd, 0);
	assert_int_equal(map.space.count, 0);
	assert_int_equal(map.job.count, 0);
	map_free(&map);
	/* An UPDATE without a table makes no space, and does not count as an UPDATE. */
	read_log(&map, "{\"time\": 1, \"event\": \"as_done\", \"as\": 0, \"command\": \"UPDATE\"}\n"
		 WALK(2, 0, "0x5000", 3, "0xa000", "rw", TABLES));
	assert_int_equal(map.odd, 1);
	assert_int_equal(map.space.count, 0);
	map_free(&map);
}

/* When a flush of LOCKADDR's region dropped the page at 0x10000; 99: never. */
static uint64_t dropped(const char *log)
{
	struct map map;
	uint64_t to;

	read_log(&map, log);
	assert_int_equal(map.odd, 0);
	assert_int_equal(map.space.item[0].page.count, 1);
	to = map.space.item[0].page.item[0].to;
	map_free(&map);
	return to;
}

#define FLUSH_OF(lockaddr)							\
	UPDATE(1, 0, "0x1000") WALK(2, 0, "0x10000", 3, "0xa000", "rw", TABLES)		\
	LOCK(3, 0, lockaddr) FLUSHED(4, 0) END(99)

static void test_flushes_of_any_width(void **state)
{
	(void)state;
	assert_int_equal(dropped(FLUSH_OF("0x1000e")), 4);
	assert_int_equal(dropped(FLUSH_OF("0x1800e")), 99);
	/* A width below the smallest one counts as the smallest: 32 KiB. */
	assert_int_equal(dropped(FLUSH_OF("0x14000")), 4);
	assert_int_equal(dropped(FLUSH_OF("0x18001")), 99);
	/* Everything, whatever the address bits are. */
	assert_int_equal(dropped(FLUSH_OF("0x7fffffff003f")), 4);
}

/* Two tables have served the same addresses: the map shows each, with its entries. */
static void test_a_table_that_was_replaced(void **state)
{
	const struct map_table *table;
	struct map map;

	(void)state;
	read_log(&map, UPDATE(1, 0, "0x1000")
		 WALK(2, 0, "0x0", 3, "0xa000", "rw", "0x1000 0x2000 0x3000 0x9000")
		 WALK(3, 0, "0x1000", 3, "0xb000", "rw", "0x1000 0x2000 0x3000 0x9000")
		 WALK(4, 0, "0x2000", 3, "0xc000", "rw", "0x1000 0x2000 0x3000 0x4000") END(9));
	assert_int_equal(map.space.item[0].table_used.count, 5);
	table = map.space.item[0].table_used.item;
	assert_int_equal(table[3].pa, 0x4000);
	assert_int_equal(table[3].entries, 1);
	assert_int_equal(table[4].pa, 0x9000);
	assert_int_equal(table[4].entries, 2);
	map_free(&map);
}

/* A slot waits for one fault: a stop or a new table has ended the wait for the one before. */
static void test_faults_that_were_given_up(void **state)
{
	const struct map_fault *fault;
	struct map map;

	(void)state;
	read_log(&map, UPDATE(1, 0, "0x1000") FAULT(2, 0, "0x5000") FAULT(3, 0, "0x6000")
		 RESUMED(4, 0, "0x5000") RESUMED(5, 0, "0x6000") FAULT(6, 0, "0x5000")
		 UPDATE(7, 0, "0x9000") RESUMED(8, 0, "0x5000") END(9));
	assert_int_equal(map.odd, 0);
	assert_int_equal(map.space.item[0].fault.count, 3);
	fault = map.space.item[0].fault.item;
	assert_int_equal(fault[0].served, MAP_NEVER);
	assert_int_equal(fault[1].served, 5);
	assert_int_equal(fault[2].served, MAP_NEVER);
	map_free(&map);
}

/* A region is as old as its oldest page, wherever that page is. */
static void test_the_age_of_a_region(void **state)
{
	struct map map;

	(void)state;
	read_log(&map, UPDATE(1, 0, "0x1000") WALK(5, 0, "0x3000", 3, "0xa000", "rw", TABLES)
		 WALK(7, 0, "0x2000", 3, "0xb000", "rw", TABLES) END(9));
	assert_int_equal(map.space.item[0].region.count, 1);
	assert_int_equal(map.space.item[0].region.item[0].first, 0x2000);
	assert_int_equal(map.space.item[0].region.item[0].from, 5);
	map_free(&map);
}

static unsigned int count_of(const char *text, const char *part)
{
	unsigned int n = 0;

	while ((text = strstr(text, part))) {
		text += strlen(part);
		n++;
	}
	return n;
}

/* Neighbours of the same time and access are one box; others are not. */
static void test_pages_drawn_as_one(void **state)
{
	char *svg = shown(UPDATE(1, 0, "0x1000") WALK(2, 0, "0x0", 3, "0xa000", "rw", TABLES)
			  WALK(2, 0, "0x1000", 3, "0xb000", "rw", TABLES)
			  WALK(2, 0, "0x2000", 3, "0xc000", "r", TABLES)
			  WALK(8000, 0, "0x3000", 3, "0xd000", "r", TABLES) END(16000), map_svg);

	(void)state;
	assert_int_equal(count_of(svg, "known from"), 3);
	assert_int_equal(count_of(svg, "<title>0x0 - 0x1fff rw, known from"), 1);
	assert_int_equal(count_of(svg, "<title>0x2000 - 0x2fff r, known from"), 1);
	assert_int_equal(count_of(svg, "<title>0x3000 - 0x3fff r, known from"), 1);
	free(svg);
}

/* A page first used in the run's last moment was known for no time at all. */
static void test_a_page_at_the_very_end(void **state)
{
	static const char log[] = UPDATE(1, 0, "0x1000") WALK(2, 0, "0x0", 3, "0xa000", "rw", TABLES);
	char *svg = shown(log, map_svg), *text = shown(log, map_text);

	(void)state;
	assert_non_null(strstr(svg, "</svg>"));
	assert_null(strstr(svg, "residency"));
	assert_non_null(strstr(text, "1 pages of 4 KiB"));
	assert_null(strstr(text, "Residency"));
	free(svg);
	free(text);
}

static void test_a_long_run(void **state)
{
	char *text = shown(UPDATE(1, 0, "0x1000") WALK(2, 0, "0x0", 3, "0xa000", "rw", TABLES)
			   END(80000000), map_text);

	(void)state;
	assert_non_null(strstr(text, "GPU address spaces of a run of 100.00 ms"));
	free(text);
}

static void test_no_memory(void **state)
{
	char said[128] = "";
	int pipes[2], status;
	pid_t pid;

	(void)state;
	assert_int_equal(pipe(pipes), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid) {
		struct map map;

		dup2(pipes[1], STDERR_FILENO);
		no_memory = true;
		read_log(&map, UPDATE(1, 0, "0x1000") END(9));
		_exit(99);	/* it continued */
	}
	close(pipes[1]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 1);
	assert_true(read(pipes[0], said, sizeof(said) - 1) > 0);
	assert_memory_equal(said, "agate-map: out of memory\n", 25);
	close(pipes[0]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_log_that_begins_in_the_middle),
		cmocka_unit_test(test_flushes_of_any_width),
		cmocka_unit_test(test_a_table_that_was_replaced),
		cmocka_unit_test(test_faults_that_were_given_up),
		cmocka_unit_test(test_the_age_of_a_region),
		cmocka_unit_test(test_pages_drawn_as_one),
		cmocka_unit_test(test_a_page_at_the_very_end),
		cmocka_unit_test(test_a_long_run),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests_name("sim-map_edges", tests, NULL, NULL);
}
