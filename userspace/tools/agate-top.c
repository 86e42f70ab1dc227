// SPDX-License-Identifier: MIT
/*
 * agate-top: shows which processes use the GPUs, and how much of their time and of memory.
 *
 * It reads fdinfo, which all drivers fill in with the same keys, devfreq and runtime PM, so it
 * shows the devices and clients of any driver; of agate's it shows more, from debugfs.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "top_print.h"
#include "top_scan.h"

#define PROC		"/proc"
#define DEBUGFS		"/sys/kernel/debug/dri"
#define DEVFREQ		"/sys/class/devfreq"
#define DRM		"/sys/class/drm"
#define INTERVAL_MIN_MS	10
#define INTERVAL_MAX_MS	3600000

struct options {
	struct top_screen screen;
	bool once, json;
};

static void usage(FILE *out)
{
	fputs("usage: agate-top [--once] [--json] [--interval MS]\n"
	      "Shows the GPUs, with load, frequency and power, and who uses them: memory, and how busy\n"
	      "each engine is with it.\n"
	      "  --once         print a table and end\n"
	      "  --json         print JSON, a line for each interval; with --once one line\n"
	      "  --interval MS  milliseconds between two looks (1000)\n", out);
}

/* strtoul() takes also a sign, and what is negative as a large number. */
static bool parse_interval(const char *text, unsigned int *interval_ms)
{
	unsigned long ms;
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	ms = strtoul(text, &end, 10);
	if (*end || ms < INTERVAL_MIN_MS || ms > INTERVAL_MAX_MS)
		return false;
	*interval_ms = (unsigned int)ms;
	return true;
}

/* Returns the exit status, or -1 to go on. */
static int parse_options(int argc, char **argv, struct options *options)
{
	static const struct option known[] = {
		{ "once", no_argument, NULL, 'o' },
		{ "json", no_argument, NULL, 'j' },
		{ "interval", required_argument, NULL, 'i' },
		{ "help", no_argument, NULL, 'h' },
		{ 0 }
	};
	bool ok = true;
	int c;

	while ((c = getopt_long(argc, argv, "h", known, NULL)) != -1) {
		switch (c) {
		case 'o':
			options->once = true;
			break;
		case 'j':
			options->json = true;
			break;
		case 'i':
			ok &= parse_interval(optarg, &options->screen.interval_ms);
			break;
		case 'h':
			usage(stdout);
			return 0;
		default:
			ok = false;
			break;
		}
	}
	if (ok && optind == argc)
		return -1;
	usage(stderr);
	return 2;
}

static void sleep_ms(unsigned int ms)
{
	struct timespec left = { ms / 1000, (long)(ms % 1000) * 1000000 };

	while (nanosleep(&left, &left) && errno == EINTR)
		;
}

/* Returns the exit status. */
static int failed(int err)
{
	if (err)
		fprintf(stderr, "agate-top: %s\n", strerror(-err));
	return err ? 1 : 0;
}

/* Two looks tell how busy it was in between. */
static int print(const struct options *options)
{
	const struct top_screen *screen = &options->screen;
	struct top_sample now = { 0 }, before = { 0 };
	int err = top_scan(&screen->folders, &now);

	do {
		top_sample_clear(&before);
		before = now;
		memset(&now, 0, sizeof(now));
		sleep_ms(screen->interval_ms);
		if (!err)
			err = top_scan(&screen->folders, &now);
		if (err)
			break;
		top_sort(&now, &before, false);
		if (options->json)
			err = top_print_json(stdout, &now, &before);
		else
			err = top_print_table(stdout, &now, &before);
	} while (!err && !options->once);
	top_sample_clear(&now);
	top_sample_clear(&before);
	return err;
}

/* Returns the exit status. */
static int show_screen(const struct top_screen *screen)
{
	const char *type = getenv("TERM");
	int err;

	/* A file or a pipe has no keys, and nobody to look at the screen. */
	if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
		fputs("agate-top: standard input and output have to be a terminal, except with --once "
		      "or --json\n", stderr);
		return 2;
	}
	err = top_show_screen(screen);
	if (err == -ENOTTY) {
		fprintf(stderr, "agate-top: TERM is \"%s\", a terminal that curses does not know; --once "
			"and --json need none\n", type ? type : "");
		return 2;
	}
	return failed(err);
}

int main(int argc, char **argv)
{
	struct options options = {
		.screen = {
			.folders = { PROC, DEBUGFS, DEVFREQ, DRM },
			.interval_ms = 1000,
		},
	};
	int status = parse_options(argc, argv, &options);

	if (status >= 0)
		return status;
	return options.once || options.json ? failed(print(&options)) : show_screen(&options.screen);
}
