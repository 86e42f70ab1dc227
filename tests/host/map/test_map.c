// SPDX-License-Identifier: MIT
/*
 * agate-map: maps of logs, compared with values worked out by hand; invalid logs;
 * and complete pictures in both formats.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "map_log.h"

#define FAILED(time, as, va)							\
	"{\"time\": " #time ", \"event\": \"walk\", \"as\": " #as ", \"va\": \"" va "\", " \
	"\"entry\": \"0x0\", \"level\": 3, \"exception\": \"TRANSLATION_FAULT_3\", "	\
	"\"tables\": \"0x1000 0x2000 0x3000 0x4000\"}\n"
#define JOB(time, what)								\
	"{\"time\": " #time ", \"event\": \"" what "\", \"slot\": 1, \"job\": \"0x0\", "	\
	"\"type\": \"TILER\", \"exception\": \"DONE\"}\n"


/*
 * Pages 0x200000 and 0x201000 at 100 and 200; a fault at 0x202000, served from 300
 * to 400, with a flush of 32 KiB at 350 that drops both pages; then 0x202000 and
 * 0x200000 again.  The run ends at 1000.
 */
static const char example[] =
	UPDATE(50, 0, "0x1000")
	JOB(90, "job_start")
	WALK(100, 0, "0x200123", 3, "0xa000", "rw", TABLES)
	WALK(200, 0, "0x201000", 3, "0xb000", "r", TABLES)
	WALK(250, 0, "0x200fff", 3, "0xa000", "rw", TABLES)
	FAILED(300, 0, "0x202000")
	FAULT(300, 0, "0x202000")
	LOCK(320, 0, "0x20000e")
	FLUSHED(350, 0)
	WALK(390, 0, "0x202000", 3, "0xc000", "rw", TABLES)
	RESUMED(400, 0, "0x202000")
	WALK(500, 0, "0x200000", 3, "0xa000", "rw", TABLES)
	JOB(600, "job_end")
	END(1000);

static void test_pages_by_hand(void **state)
{
	static const struct map_page want[] = {
		{ .va = 0x200000, .pa = 0xa000, .size = 4096, .from = 100, .to = 350 },
		{ .va = 0x200000, .pa = 0xa000, .size = 4096, .from = 500, .to = 1000 },
		{ .va = 0x201000, .pa = 0xb000, .size = 4096, .from = 200, .to = 350 },
		{ .va = 0x202000, .pa = 0xc000, .size = 4096, .from = 390, .to = 1000 },
	};
	const struct map_space *space;
	struct map map;
	size_t i;

	(void)state;
	read_log(&map, example);
	assert_int_equal(map.odd, 0);
	assert_int_equal(map.end, 1000);
	assert_int_equal(map.space.count, 1);
	space = map.space.item;
	assert_int_equal(space->table, 0x1000);
	assert_string_equal(space->format, "lpae");
	assert_int_equal(space->stay.count, 1);
	assert_int_equal(space->stay.item[0].from, 50);
	assert_int_equal(space->stay.item[0].to, 1000);
	assert_int_equal(space->page.count, 4);
	for (i = 0; i < 4; i++) {
		assert_int_equal(space->page.item[i].va, want[i].va);
		assert_int_equal(space->page.item[i].pa, want[i].pa);
		assert_int_equal(space->page.item[i].size, want[i].size);
		assert_int_equal(space->page.item[i].from, want[i].from);
		assert_int_equal(space->page.item[i].to, want[i].to);
	}
	assert_int_equal(map_known(space, 99), 0);
	assert_int_equal(map_known(space, 100), 4096);
	assert_int_equal(map_known(space, 349), 8192);
	assert_int_equal(map_known(space, 350), 0);
	assert_int_equal(map_known(space, 999), 8192);
	map_free(&map);
}

static void test_regions_tables_faults_jobs_by_hand(void **state)
{
	const struct map_space *space;
	const struct map_region *r;
	struct map map;

	(void)state;
	read_log(&map, example);
	space = map.space.item;
	assert_int_equal(space->region.count, 1);
	r = space->region.item;
	assert_int_equal(r->first, 0x200000);
	assert_int_equal(r->last, 0x202fff);
	assert_int_equal(r->pages, 3);
	assert_int_equal(r->bytes, 12288);
	assert_int_equal(r->from, 100);
	assert_string_equal(r->access, "rw");
	assert_int_equal(space->table_used.count, 4);
	assert_int_equal(space->table_used.item[3].pa, 0x4000);
	assert_int_equal(space->table_used.item[3].va, 0x200000);
	assert_int_equal(space->table_used.item[3].entries, 3);
	assert_int_equal(space->table_used.item[2].entries, 1);
	assert_int_equal(space->fault.count, 1);
	assert_int_equal(space->fault.item[0].va, 0x202000);
	assert_int_equal(space->fault.item[0].time, 300);
	assert_int_equal(space->fault.item[0].served, 400);
	assert_int_equal(map.job.count, 1);
	assert_int_equal(map.job.item[0].from, 90);
	assert_int_equal(map.job.item[0].to, 600);
	map_free(&map);
}

static void test_blocks_and_far_regions(void **state)
{
	const struct map_space *space;
	struct map map;

	(void)state;
	read_log(&map, UPDATE(1, 3, "0x1000")
		 WALK(2, 3, "0x40234567", 2, "0x80200000", "rwx", "0x1000 0x2000 0x3000")
		 WALK(3, 3, "0x8000000000", 1, "0xc0000000", "r", "0x1000 0x5000")
		 END(10));
	space = map.space.item;
	assert_int_equal(space->region.count, 2);
	assert_int_equal(space->region.item[0].first, 0x40200000);
	assert_int_equal(space->region.item[0].last, 0x403fffff);
	assert_int_equal(space->region.item[1].bytes, 1 << 30);
	/* The root, two tables of level 1, one of level 2. */
	assert_int_equal(space->table_used.count, 4);
	assert_int_equal(space->table_used.item[0].entries, 2);
	assert_int_equal(space->table_used.item[2].va, 0x8000000000);
	map_free(&map);
}

/* A root that comes back, elsewhere, is the same address space. */
static void test_stays(void **state)
{
	const struct map_space *space;
	struct map map;

	(void)state;
	read_log(&map, UPDATE(10, 0, "0x1000")
		 WALK(20, 0, "0x0", 3, "0xa000", "rw", TABLES)
		 UPDATE(30, 0, "0x9000")
		 UPDATE(40, 5, "0x1000")
		 WALK(50, 5, "0x0", 3, "0xa000", "rw", TABLES)
		 "{\"time\": 60, \"event\": \"reset\", \"command\": \"SOFT_RESET\"}\n"
		 WALK(70, 5, "0x0", 3, "0xa000", "rw", TABLES)
		 END(100));
	assert_int_equal(map.space.count, 2);
	space = map.space.item;
	assert_int_equal(space->stay.count, 2);
	assert_int_equal(space->stay.item[0].to, 30);
	assert_int_equal(space->stay.item[1].as, 5);
	assert_int_equal(space->stay.item[1].to, 60);
	assert_int_equal(space->page.count, 2);		/* after the reset nothing is in force */
	assert_int_equal(space->page.item[0].to, 30);
	assert_int_equal(space->page.item[1].to, 60);
	assert_int_equal(map.space.item[1].stay.item[0].to, 60);
	map_free(&map);
}

/* Two hardware address spaces may use one table, and leave it one after the other. */
static void test_a_table_twice_in_force(void **state)
{
	const struct map_space *space;
	struct map map;

	(void)state;
	read_log(&map, UPDATE(10, 0, "0x1000")
		 UPDATE(20, 1, "0x1000")
		 UPDATE(30, 0, "0x9000")
		 UPDATE(40, 1, "0x9000")
		 END(100));
	space = map.space.item;
	assert_int_equal(space->stay.count, 2);
	assert_int_equal(space->stay.item[0].as, 0);
	assert_int_equal(space->stay.item[0].to, 30);
	assert_int_equal(space->stay.item[1].as, 1);
	assert_int_equal(space->stay.item[1].to, 40);
	map_free(&map);
}

/* ---- The pictures ----------------------------------------------------------------- */

static void test_text(void **state)
{
	char *text = shown(example, map_text), *line;

	(void)state;
	assert_non_null(strstr(text, "GPU address spaces of a run of 1.25 us"));
	assert_non_null(strstr(text, "root table at 0x0000001000, lpae"));
	assert_non_null(strstr(text, "0x000000200000 - 0x000000202fff      12 KiB  rw       "
				     "3 pages of 4 KiB, first used at 0.12 us"));
	assert_non_null(strstr(text, "level 3 at 0x0000004000  covers 0x000000200000 + 2 MiB, "
				     "3 of 512 entries used"));
	assert_non_null(strstr(text, "TRANSLATION_FAULT_3  WRITE at 0x000000202000, slot 1, "
				     "served after 0.12 us"));
	assert_non_null(strstr(text, "8 KiB |"));
	for (line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		assert_true(strlen(line) <= 120);
	free(text);
}

/* Items beyond a readable number are counted instead. */
static void test_much(void **state)
{
	static char log[64 * 1024];
	size_t n = (size_t)snprintf(log, sizeof(log), UPDATE(1, 0, "0x1000") "no JSON\n");
	unsigned int i;
	char *text;

	(void)state;
	for (i = 0; i < 60; i++) {
		n += (size_t)snprintf(log + n, sizeof(log) - n, "{\"time\": 2, \"event\": \"fault\", "
				      "\"as\": 0, \"va\": \"0x%x\", \"slot\": 0}\n", i << 21);
		n += (size_t)snprintf(log + n, sizeof(log) - n, "{\"time\": 2, \"event\": \"walk\", "
				      "\"as\": 0, \"va\": \"0x%x\", \"level\": 3, \"maps\": \"0x0\", "
				      "\"access\": \"rw\", \"tables\": \"0x1000 0x2000 0x3000 0x%x\"}\n",
				      i << 21, 0x100000 + i * 4096);
	}
	snprintf(log + n, sizeof(log) - n, END(100));
	text = shown(log, map_text);
	assert_non_null(strstr(text, "1 lines were not understood"));
	assert_non_null(strstr(text, "... and 36 more tables of level 3"));
	assert_non_null(strstr(text, "... and 36 more\n"));
	free(text);
	text = shown(log, map_svg);
	assert_non_null(strstr(text, "... and 23 more tables"));
	free(text);
}

/* Tags nest, attributes are quoted, and nothing else is a bracket. */
static void check_xml(const char *text)
{
	char open[16][16];
	unsigned int depth = 0;
	const char *p = text;

	while ((p = strchr(p, '<'))) {
		const char *end = strchr(p, '>'), *q;
		char name[16] = "";
		unsigned int quotes = 0;

		assert_non_null(end);
		for (q = p + 1; q < end; q++) {
			assert_true(*q != '<');
			quotes += *q == '"';
		}
		assert_int_equal(quotes % 2, 0);
		assert_int_equal(sscanf(p + (p[1] == '/' ? 2 : 1), "%15[a-z]", name), 1);
		if (p[1] == '/') {
			assert_true(depth > 0);
			assert_string_equal(name, open[--depth]);
		} else if (end[-1] != '/') {
			assert_true(depth < 16);
			strcpy(open[depth++], name);
		}
		p = end;
	}
	assert_int_equal(depth, 0);
	assert_null(strchr(text, '&'));
	assert_null(strstr(text, "nan"));
	assert_null(strstr(text, "inf"));
}

static void test_svg(void **state)
{
	char *svg = shown(example, map_svg);

	(void)state;
	check_xml(svg);
	assert_non_null(strstr(svg, "<title>0x200000 - 0x200fff rw, known from 0.12 us to 0.44 us"));
	assert_non_null(strstr(svg, "<circle class=\"fault\""));
	assert_non_null(strstr(svg, "L3 0x4000, 3 used"));
	assert_non_null(strstr(svg, "residency"));
	free(svg);
}

/* ---- Logs that make no sense ---------------------------------------------------------- */

static void test_nothing_to_show(void **state)
{
	static const char *const logs[] = {
		END(0), END(5), UPDATE(1, 0, "0x1000"), UPDATE(1, 0, "0x0"),
		UPDATE(1, 0, "0x1000") FAULT(2, 0, "0x5000"), JOB(1, "job_start"), JOB(3, "job_end"),
	};
	unsigned int i;
	char *text;

	(void)state;
	for (i = 0; i < sizeof(logs) / sizeof(logs[0]); i++) {
		text = shown(logs[i], map_svg);
		check_xml(text);
		free(text);
		text = shown(logs[i], map_text);
		assert_non_null(strstr(text, "--log-level walks"));
		free(text);
	}
}

static void test_lines_that_make_no_sense_are_counted(void **state)
{
	static const char *const odd[] = {
		"\n", "{}\n", "[]\n", "3\n", "{\"time\": 1}\n", "{\"event\": \"walk\"}\n",
		"{\"time\": -1, \"event\": \"walk\"}\n",
		"{\"time\": \"1\", \"event\": \"mark\"}\n",
		UPDATE(2, 16, "0x1000"), UPDATE(2, -1, "0x1000"), UPDATE(2, 0, "table"),
		UPDATE(2, 0, "0x1000z"), LOCK(2, 0, ""), LOCK(2, 99, "0x3f"), FAULT(2, 0, "x"),
		"{\"time\": 2, \"event\": \"fault\"}\n", RESUMED(2, 0, ""),
		"{\"time\": 2, \"event\": \"job_start\", \"slot\": 3}\n",
		"{\"time\": 2, \"event\": \"job_start\"}\n",
		UPDATE(2, 0, "0x1000") WALK(3, 0, "0x0", 4, "0x0", "r", TABLES),
		UPDATE(2, 0, "0x1000") WALK(3, 0, "0x0", 0, "0x0", "r", TABLES),
		UPDATE(2, 0, "0x1000") WALK(3, 0, "0x0", 3, "0x0", "r", "0x1000 0x2000 0x3000"),
		UPDATE(2, 0, "0x1000") WALK(3, 0, "0x0", 3, "0x0", "r", ""),
		UPDATE(2, 0, "0x1000") "{\"time\": 1, \"event\": \"mark\"}\n",	/* time goes back */
	};
	struct map map;
	unsigned int i;

	(void)state;
	for (i = 0; i < sizeof(odd) / sizeof(odd[0]); i++) {
		read_log(&map, odd[i]);
		if (map.odd != 1)
			fail_msg("%zu odd lines in: %s", map.odd, odd[i]);
		map_free(&map);
	}
}

/* Wherever a kill tears the last line, the lines before it count, and nothing is odd. */
static void test_a_torn_end_is_forgiven(void **state)
{
	static const char whole[] = UPDATE(2, 0, "0x1000") LOCK(3, 0, "0x3f");
	static const char first[] = UPDATE(2, 0, "0x1000");
	char log[sizeof(whole)];
	struct map map;
	size_t len;

	(void)state;
	for (len = sizeof(first) - 1; len < sizeof(whole) - 2; len++) {
		memcpy(log, whole, len);
		log[len] = '\0';
		read_log(&map, log);
		assert_int_equal(map.odd, 0);
		assert_int_equal(map.lines, 1);
		map_free(&map);
	}
}

static void test_names_cannot_break_out(void **state)
{
	static const char log[] =
		"{\"time\": 1, \"event\": \"as_done\", \"as\": 0, \"command\": \"UPDATE\", "
		"\"format\": \"<x y=\\\"&amp;\", \"table\": \"0x1000\"}\n"
		"{\"time\": 2, \"event\": \"fault\", \"as\": 0, \"va\": \"0x0\", \"exception\": "
		"\"</title><script>alert(1)</script>\", \"access\": \"\\\"<>\", \"slot\": 0}\n"
		WALK(3, 0, "0xffffffffffffffff", 3, "0xffffffffffffffff", "<>\\\"", TABLES)
		WALK(4, 0, "0x0", 1, "0x0", "rwxrwxrwx", TABLES)
		"{\"time\": 5, \"event\": \"job_start\", \"slot\": 0, \"type\": \"<<<&&&>>>\"}\n";
	char *svg = shown(log, map_svg), *text = shown(log, map_text);

	(void)state;
	check_xml(svg);
	assert_null(strstr(svg, "script>"));
	assert_null(strchr(text, '<'));
	free(svg);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pages_by_hand),
		cmocka_unit_test(test_regions_tables_faults_jobs_by_hand),
		cmocka_unit_test(test_blocks_and_far_regions),
		cmocka_unit_test(test_stays),
		cmocka_unit_test(test_a_table_twice_in_force),
		cmocka_unit_test(test_text),
		cmocka_unit_test(test_much),
		cmocka_unit_test(test_svg),
		cmocka_unit_test(test_nothing_to_show),
		cmocka_unit_test(test_lines_that_make_no_sense_are_counted),
		cmocka_unit_test(test_a_torn_end_is_forgiven),
		cmocka_unit_test(test_names_cannot_break_out),
	};

	return cmocka_run_group_tests_name("sim-map", tests, NULL, NULL);
}
