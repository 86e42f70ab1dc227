// SPDX-License-Identifier: MIT
/*
 * agate-map: a run's GPU address spaces, from its event log (map.h).
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "agate_stdio.h"
#include "map.h"

static const char usage[] =
	"usage: agate-map [--svg FILE] [--text FILE] LOG\n"
	"Draws what a GPU's event log (agate-sim --log, --log-level walks) says of address\n"
	"spaces, page tables and residency.  FILE - is the standard output; text on it is\n"
	"what happens without options.  LOG - is the standard input.\n";

static bool write_to(const char *path, const struct map *map,
		     void (*show)(const struct map *, FILE *))
{
	FILE *out = strcmp(path, "-") ? fopen(path, "we") : stdout;
	bool good;

	if (!out) {
		fprintf(stderr, "agate-map: %s: %s\n", path, strerror(errno));
		return false;
	}
	show(map, out);
	good = !fflush(out) && !ferror(out);
	if (out != stdout)
		good = !fclose(out) && good;
	if (!good)
		fprintf(stderr, "agate-map: %s cannot be written\n", path);
	return good;
}

static bool load(const char *path, struct map *map)
{
	FILE *log = strcmp(path, "-") ? fopen(path, "re") : stdin;

	if (!log) {
		fprintf(stderr, "agate-map: %s: %s\n", path, strerror(errno));
		return false;
	}
	map_load(map, log);
	if (log != stdin)
		fclose(log);
	if (map->lines == map->odd) {
		fprintf(stderr, "agate-map: %s is no event log\n", path);
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "svg", required_argument, NULL, 's' }, { "text", required_argument, NULL, 't' },
		{ "help", no_argument, NULL, 'h' }, { 0 },
	};
	const char *svg = NULL, *text = NULL;
	struct map map = { 0 };
	bool good;
	int id;

	if (!stdio_fill())
		return 1;
	while ((id = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (id == 's') {
			svg = optarg;
		} else if (id == 't') {
			text = optarg;
		} else {
			fputs(usage, id == 'h' ? stdout : stderr);
			return id == 'h' ? 0 : 2;
		}
	}
	if (optind != argc - 1) {
		fputs(usage, stderr);
		return 2;
	}
	if (!svg && !text)
		text = "-";
	good = load(argv[optind], &map);
	if (good) {
		map_finish(&map);
		good = (!svg || write_to(svg, &map, map_svg)) && (!text || write_to(text, &map, map_text));
	}
	map_free(&map);
	return good ? 0 : 1;
}
