// SPDX-License-Identifier: MIT
/*
 * agate-map without a log: what it makes of the driver's files about a card, of files that make
 * no sense, and of a machine without cards.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "map_card.h"

static char root[] = "/tmp/agate-map-card-XXXXXX";
static char out[65536];

static void put(const char *minor, const char *name, const char *text)
{
	char path[96];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", root, minor);
	mkdir(path, 0700);
	snprintf(path, sizeof(path), "%s/%s/%s", root, minor, name);
	file = fopen(path, "we");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
}

static const char moves[] =
	"n=7 time=1000000 id=3 size=8388608 from=tt to=vram start=0x100000 why=validate\n"
	"n=8 time=3000000 id=4 size=4096 from=nowhere to=tt start=0x0 why=fault\n"
	"n=9 time=5000500 id=3 size=8388608 from=vram to=tt start=0x0 why=evict\n"
	"n=10 time=6000000 id=5 size=16777216 from=tt to=vram start=0x2000000 why=flip\n";

/* As the driver writes them, in any order, with a card beside a GPU that has none. */
static int put_card(void **state)
{
	(void)state;
	put("0", "name", "agate dev=0000:00:03.0 unique=0000:00:03.0\n");
	put("0", "regions", "system size=125829120 used=4096 visible=125829120 visible_used=4096\n"
	    "vram size=67108864 used=33554432 visible=16777216 visible_used=1048576\n");
	put("0", "vram", "start=0x2000000 size=16777216 bo id=5 why=flip pins=1\n"
	    "start=0x3000000 size=15728640 parked\nstart=0x0 size=1048576 driver\n");
	put("0", "ggtt", "start=0x800000 size=65536 driver addr=0x0 in=vram vf=0\n"
	    "start=0x820000 size=4096 bo vf=0\nstart=0x810000 size=65536 free\n");
	put("0", "bos", "size=16777216 resident=16777216 handles=1 refs=2 madv=willneed flags=noexec "
	    "id=5 where=vram why=flip moves=1 label=\"front\"\n"
	    "  client=1 va=0x1000 handles=1 mapped\n"
	    "size=4096 resident=4096 handles=1 refs=1 madv=willneed label=\"not placed\"\n"
	    "size=8388608 resident=8388608 handles=1 refs=1 madv=willneed id=3 where=tt why=evict "
	    "moves=8 label=\"a\033[2J\"b\\\"\n"
	    "size=4096 resident=0 handles=1 refs=1 madv=willneed id=4 where=swap why=swap moves=3 "
	    "label=\"\"\n");
	put("0", "moves", moves);
	put("128", "name", "agate dev=0000:00:03.0 unique=0000:00:03.0\n");
	put("128", "regions", "vram size=67108864 used=0 visible=16777216 visible_used=0\n");
	put("1", "name", "agate dev=0000:00:04.0 unique=0000:00:04.0\n");
	put("1", "regions", "");
	return 0;
}

static int run(const char *arguments)
{
	char command[640];
	FILE *pipe;
	int status;

	snprintf(command, sizeof(command), AGATE_MAP_SAN " --debugfs %s %s 2>&1", root, arguments);
	pipe = popen(command, "r");
	assert_non_null(pipe);
	out[fread(out, 1, sizeof(out) - 1, pipe)] = '\0';
	status = pclose(pipe);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void test_text(void **state)
{
	(void)state;
	assert_int_equal(run("--once"), 0);
	assert_memory_equal(out, "0000:00:03.0\n", 13);
	assert_non_null(strstr(out, "  vram: 32 MiB of 64 MiB; of the part that CPUs reach 1 MiB of "
			       "16 MiB\n"));
	/* Four characters of 256 KiB are the driver's; the BO begins the third row. */
	assert_non_null(strstr(out, "    0x000000000 |DDDD...."));
	assert_non_null(strstr(out, "    0x002000000 |aaaa"));
	assert_non_null(strstr(out, "PPPP....|\n"));
	assert_non_null(strstr(out, "    a  0x002000000 +     16 MiB  BO 5 \"front\", here by flip, "
			       "1 moves, pinned\n"));
	assert_non_null(strstr(out, "    a  0x000820000 +      4 KiB  bo\n"));
	assert_non_null(strstr(out, "    tt            8 MiB  BO 3 \"a?[2J\"b\\\", there by evict, "
			       "8 moves\n"));
	assert_non_null(strstr(out, "    swap          4 KiB  BO 4, there by swap, 3 moves\n"));
	assert_non_null(strstr(out, " s  vram     -> tt       evict         8 MiB  BO 3 "));
	assert_null(strchr(out, '\033'));
	assert_null(strstr(out, "not placed"));
	/* Each card once, and none that is not there. */
	assert_null(strstr(out + 1, "0000:00:0"));
}

static json_t *member(json_t *from, const char *list, size_t n)
{
	json_t *one = json_array_get(json_object_get(from, list), n);

	assert_non_null(one);
	return one;
}

static json_int_t number(json_t *from, const char *key)
{
	assert_true(json_is_integer(json_object_get(from, key)));
	return json_integer_value(json_object_get(from, key));
}

static void test_json(void **state)
{
	json_t *parsed, *card, *one;

	(void)state;
	assert_int_equal(run("--once --json"), 0);
	assert_ptr_equal(strchr(out, '\n'), out + strlen(out) - 1);
	parsed = json_loads(out, 0, NULL);
	assert_int_equal(json_array_size(json_object_get(parsed, "devices")), 1);
	card = member(parsed, "devices", 0);
	one = json_object_get(json_object_get(card, "regions"), "vram");
	assert_int_equal(number(one, "visible_used"), 1 << 20);
	assert_int_equal(json_array_size(json_object_get(card, "vram")), 3);
	one = member(card, "vram", 1);
	assert_int_equal(number(one, "start"), 32 << 20);
	assert_int_equal(number(one, "bo"), 5);
	assert_int_equal(number(one, "pins"), 1);
	assert_string_equal(json_string_value(json_object_get(one, "why")), "flip");
	assert_string_equal(json_string_value(json_object_get(member(card, "vram", 2), "owner")),
			    "parked");
	assert_string_equal(json_string_value(json_object_get(member(card, "ggtt", 1), "owner")),
			    "free");
	one = member(card, "bos", 0);
	assert_int_equal(number(one, "bo"), 3);
	assert_string_equal(json_string_value(json_object_get(one, "where")), "tt");
	assert_string_equal(json_string_value(json_object_get(one, "label")), "a?[2J\"b\\");
	one = member(card, "moves", 2);
	assert_int_equal(number(one, "time_ns"), 5000500);
	assert_string_equal(json_string_value(json_object_get(one, "why")), "evict");
	json_decref(parsed);
}

/* The n-th event of that phase and track, or NULL. */
static json_t *find_event(json_t *trace, const char *phase, json_int_t tid, size_t n)
{
	json_t *event;
	size_t i;

	json_array_foreach(trace, i, event) {
		if (!strcmp(json_string_value(json_object_get(event, "ph")), phase) &&
		    number(event, "tid") == tid && !n--)
			return event;
	}
	return NULL;
}

static void assert_stay(json_t *event, const char *where, const char *why, double from, double us)
{
	assert_non_null(event);
	assert_string_equal(json_string_value(json_object_get(event, "name")), where);
	assert_string_equal(json_string_value(json_object_get(json_object_get(event, "args"), "why")),
			    why);
	assert_true(json_real_value(json_object_get(event, "ts")) == from);
	assert_true(json_real_value(json_object_get(event, "dur")) == us);
}

static json_int_t counted(json_t *trace, size_t n)
{
	json_t *event = find_event(trace, "C", 0, n);

	assert_non_null(event);
	return number(json_object_get(event, "args"), "bytes");
}

/* A track for each BO, and a counter. */
static void test_trace(void **state)
{
	json_t *trace, *name;

	(void)state;
	assert_int_equal(run("--trace /dev/stdout"), 0);
	trace = json_loads(out, 0, NULL);
	assert_non_null(trace);
	name = find_event(trace, "M", 3, 0);
	assert_string_equal(json_string_value(json_object_get(json_object_get(name, "args"), "name")),
			    "BO 3 a?[2J?b?");
	/* Its place before its first move is known, but not why it was there. */
	assert_stay(find_event(trace, "X", 5, 0), "tt", "unknown", 1000.0, 5000.0);
	assert_stay(find_event(trace, "X", 3, 1), "vram", "validate", 1000.0, 4000.5);
	assert_stay(find_event(trace, "X", 3, 2), "tt", "evict", 5000.5, 999.5);
	assert_stay(find_event(trace, "X", 4, 0), "tt", "fault", 3000.0, 3000.0);
	assert_int_equal(counted(trace, 0), 8 << 20);
	assert_int_equal(counted(trace, 1), 8 << 20);
	assert_int_equal(counted(trace, 2), 0);
	assert_int_equal(counted(trace, 3), 16 << 20);
	assert_null(find_event(trace, "C", 0, 4));
	json_decref(trace);
}

static void test_nonsense(void **state)
{
	static const char *const names[] = { "vram", "ggtt", "bos", "moves" };
	json_t *trace;

	(void)state;
	put("0", "regions", "vram size=1 used=1 visible=1 visible_used=1\nvram size=\n\nsize=5 x\n");
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		put("0", names[i], "\n=\nstart=0xffffffffffffffff size=2 bo\nstart=0x0 size=0 driver\n"
		    "id=1 size=1 moves=x where=vram why=x\nn=1 time=-1 id=1\nstart= size= bo\n"
		    "start=0x0 size=4096 nobody\n label=\"\n");
	assert_int_equal(run("--once"), 0);
	assert_non_null(strstr(out, "  vram: 1 B of 1 B\n"));
	assert_null(strstr(out, "Last moves"));
	assert_int_equal(run("--once --json"), 0);
	assert_non_null(strstr(out, "\"vram\":[],\"ggtt\":[],\"bos\":[],\"moves\":[]}]}\n"));
	assert_int_equal(run("--trace /dev/stdout"), 0);
	trace = json_loads(out, 0, NULL);
	assert_int_equal(json_array_size(trace), 1);
	json_decref(trace);
	assert_int_equal(run("--trace /dev/full"), 1);
	assert_string_equal(out, "agate-map: /dev/full cannot be written\n");
	assert_int_equal(run("--trace /nowhere/trace"), 1);
	assert_string_equal(out, "agate-map: /nowhere/trace: No such file or directory\n");
}

static void test_no_card(void **state)
{
	(void)state;
	put("0", "regions", "");
	assert_int_equal(run("--once"), 0);
	assert_string_equal(out, "There is no card whose driver shows its memory.\n");
	assert_int_equal(run("--once --json"), 0);
	assert_string_equal(out, "{\"devices\":[]}\n");
	assert_int_equal(run("--trace /dev/stdout"), 1);
	assert_int_equal(run("--once --debugfs /nowhere"), 1);
	assert_string_equal(out, "agate-map: /nowhere: No such file or directory\n");
	assert_int_equal(run("--once >/dev/full"), 1);
	put_card(state);
	assert_int_equal(run("--once >/dev/full"), 1);
	/* A second look follows until nobody reads any more. */
	assert_int_equal(run("--json --interval 10 | head -n 3"), 0);
	assert_non_null(strstr(out, "]}]}\n{\"devices\":[{"));
}

/* The second one's BO has ended between two files. */
static void test_two_cards(void **state)
{
	(void)state;
	put("1", "regions", "vram size=4096 used=4096 visible=4096 visible_used=4096\n");
	put("1", "vram", "start=0x0 size=4096 bo id=9 why=validate pins=0\n");
	assert_int_equal(run("--once"), 0);
	assert_memory_equal(out, "0000:00:03.0\n", 13);
	assert_non_null(strstr(out, "\n\n0000:00:04.0\n  vram: 4 KiB of 4 KiB\n"));
	assert_non_null(strstr(out, "    a  0x000000000 +      4 KiB  BO 9, here by validate\n"));
	put("1", "regions", "");
}

/* It looks again and again, until the folder is gone. */
static void test_again(void **state)
{
	char arguments[384], gone[64];
	const char *again;

	(void)state;
	snprintf(gone, sizeof(gone), "%s.gone", root);
	/* The shell may look before the file is there. */
	snprintf(arguments, sizeof(arguments), "--interval 10 >%s.out 2>&1 & "
		 "until [ \"$(grep -scF 0000:00:03.0 %s.out)\" -ge 2 ] 2>/dev/null; do sleep 0.1; done; "
		 "mv %s %s; wait $!; status=$?; cat %s.out; rm %s.out; exit $status",
		 root, root, root, gone, root, root);
	assert_int_equal(run(arguments), 1);
	assert_memory_equal(out, "\033[H\033[2J0000:00:03.0\n", 20);
	again = strstr(out + 1, "\033[H\033[2J0000:00:03.0\n");
	assert_non_null(again);
	assert_non_null(strstr(again, ": No such file or directory\n"));
	assert_int_equal(rename(gone, root), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_text, put_card),
		cmocka_unit_test_setup(test_json, put_card),
		cmocka_unit_test_setup(test_trace, put_card),
		cmocka_unit_test_setup(test_nonsense, put_card),
		cmocka_unit_test_setup(test_no_card, put_card),
		cmocka_unit_test_setup(test_two_cards, put_card),
		cmocka_unit_test_setup(test_again, put_card),
	};
	char command[64];
	int failed;

	if (!mkdtemp(root))
		return 1;
	failed = cmocka_run_group_tests_name("map-card", tests, NULL, NULL);
	snprintf(command, sizeof(command), "rm -r %s", root);
	return system(command) ? 1 : failed;
}
