// SPDX-License-Identifier: MIT
/* Reading a log from a string (map_log.h). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "map_log.h"

void read_log(struct map *map, const char *text)
{
	FILE *log = fmemopen((void *)text, strlen(text), "r");

	assert_non_null(log);
	memset(map, 0, sizeof(*map));
	map_load(map, log);
	fclose(log);
	map_finish(map);
}

char *shown(const char *log, void (*show)(const struct map *, FILE *))
{
	struct map map;
	char *text;
	size_t size;
	FILE *out = open_memstream(&text, &size);
	int failed;

	assert_non_null(out);
	read_log(&map, log);
	show(&map, out);
	map_free(&map);
	failed = fclose(out);
	assert_int_equal(failed, 0);
	return text;
}
