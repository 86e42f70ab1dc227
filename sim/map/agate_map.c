// SPDX-License-Identifier: MIT
/*
 * agate-map: a run's GPU address spaces, from its event log (map.h); without a log the memory of
 * this machine's cards, from debugfs (map_card.h).
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "agate_stdio.h"
#include "map_card.h"
#include "map.h"

static const char usage[] =
	"usage: agate-map [--svg FILE] [--text FILE] LOG\n"
	"       agate-map [--once] [--json] [--interval MS] [--debugfs DIR]\n"
	"       agate-map --trace FILE [--debugfs DIR]\n"
	"Draws what a GPU's event log (agate-sim --log, --log-level walks) says of address\n"
	"spaces, page tables and residency.  FILE - is the standard output; text on it is\n"
	"what happens without options.  LOG - is the standard input.\n"
	"Without a log it shows the memory of this machine's cards: who has which part of VRAM and\n"
	"of the global table, where each BO is, and why it moved.\n"
	"  --once         print it and end\n"
	"  --json         print JSON, a line for each interval; with --once one line\n"
	"  --interval MS  milliseconds between two looks (1000)\n"
	"  --trace FILE   write the first card's moves in Chrome's trace format, and end\n"
	"  --debugfs DIR  the folder of the devices (/sys/kernel/debug/dri)\n";

#define INTERVAL_MIN_MS	10u
#define INTERVAL_MAX_MS	3600000u

struct options {
	const char *svg, *text;
	struct card_options card;
	bool of_card;		/* one of the options that want no log */
};

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

static bool parse_interval(const char *text, unsigned int *ms)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	*ms = (unsigned int)value;
	return end != text && !*end && value >= INTERVAL_MIN_MS && value <= INTERVAL_MAX_MS;
}

/* Returns the exit status, or -1 to go on. */
static int parse_options(int argc, char **argv, struct options *options)
{
	static const struct option known[] = {
		{ "svg", required_argument, NULL, 's' }, { "text", required_argument, NULL, 't' },
		{ "once", no_argument, NULL, 'o' }, { "json", no_argument, NULL, 'j' },
		{ "interval", required_argument, NULL, 'i' },
		{ "trace", required_argument, NULL, 'r' },
		{ "debugfs", required_argument, NULL, 'd' },
		{ "help", no_argument, NULL, 'h' }, { 0 },
	};
	struct card_options *card = &options->card;
	bool good = true;
	int id;

	while ((id = getopt_long(argc, argv, "", known, NULL)) != -1) {
		options->of_card |= id && strchr("ojird", id);
		switch (id) {
		case 's':
			options->svg = optarg;
			break;
		case 't':
			options->text = optarg;
			break;
		case 'o':
			card->once = true;
			break;
		case 'j':
			card->json = true;
			break;
		case 'i':
			good &= parse_interval(optarg, &card->interval_ms);
			break;
		case 'r':
			card->trace = optarg;
			break;
		case 'd':
			card->debugfs = optarg;
			break;
		case 'h':
			fputs(usage, stdout);
			return 0;
		default:
			good = false;
			break;
		}
	}
	if (options->of_card)
		good &= !options->svg && !options->text && optind == argc;
	else
		good &= optind == argc - 1 || (optind == argc && argc == 1);
	if (good)
		return -1;
	fputs(usage, stderr);
	return 2;
}

static int show_log(const char *path, const struct options *options)
{
	const char *text = options->svg || options->text ? options->text : "-";
	struct map map = { 0 };
	bool good = load(path, &map);

	if (good) {
		map_finish(&map);
		good = (!options->svg || write_to(options->svg, &map, map_svg)) &&
		       (!text || write_to(text, &map, map_text));
	}
	map_free(&map);
	return good ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct options options = {
		.card = { .debugfs = "/sys/kernel/debug/dri", .interval_ms = 1000 },
	};
	int status;

	if (!stdio_fill())
		return 1;
	status = parse_options(argc, argv, &options);
	if (status >= 0)
		return status;
	if (optind == argc)
		return card_show(&options.card);
	return show_log(argv[optind], &options);
}
