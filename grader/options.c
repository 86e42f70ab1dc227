// SPDX-License-Identifier: MIT
/*
 * The command line (options.h).
 */
#include "options.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

static const char usage[] =
"usage: agate-grade --lab LAB [OPTION]...\n"
"       agate-grade hint --lab LAB --test NAME [--out DIR]\n"
"       agate-grade list [--lab LAB]\n"
"\n"
"Run from the top of the tree; BUILD in the environment is where it is built (build).\n"
"LAB is 02, 2, gem-object, 02-gem-object; `all` grades every lab.\n"
"\n"
"  --from labs|solutions|DIR  whose files: DIR/NN-topic/FILE (default labs)\n"
"  --test GLOB                only the tests whose names match\n"
"  --step K                   only the tests of the steps up to K\n"
"  --debug                    on the debug kernel, too\n"
"  --chain                    that folder's files for all earlier labs, too\n"
"  --seed N                   draws the same numbers again\n"
"  --out DIR                  result.json and logs (default BUILD/results)\n"
"  --guests 1|2               so many of one kernel at the same time (default 1)\n"
"  --stop-on-fail             leave out what comes after the first failure\n"
"  --timings                  tell where the time went\n"
"\n"
"Exit status: 0 graded, whatever the score; 1 the grader itself failed; 2 wrong usage.\n";

enum { OPT_LAB, OPT_FROM, OPT_TEST, OPT_STEP, OPT_DEBUG, OPT_CHAIN, OPT_SEED, OPT_OUT,
       OPT_GUESTS, OPT_STOP, OPT_TIMINGS, OPT_HELP };

static const struct option table[] = {
	{ "lab", required_argument, NULL, OPT_LAB },
	{ "from", required_argument, NULL, OPT_FROM },
	{ "test", required_argument, NULL, OPT_TEST },
	{ "step", required_argument, NULL, OPT_STEP },
	{ "debug", no_argument, NULL, OPT_DEBUG },
	{ "chain", no_argument, NULL, OPT_CHAIN },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "out", required_argument, NULL, OPT_OUT },
	{ "guests", required_argument, NULL, OPT_GUESTS },
	{ "stop-on-fail", no_argument, NULL, OPT_STOP },
	{ "timings", no_argument, NULL, OPT_TIMINGS },
	{ "help", no_argument, NULL, OPT_HELP },
	{ 0 }
};

void options_help(void)
{
	fputs(usage, stdout);
}

static bool wrong(const char *what, const char *arg)
{
	fprintf(stderr, "agate-grade: %s%s%s\n\n%s", what, arg ? ": " : "", arg ? arg : "", usage);
	return false;
}

/* Only a value is wrong, so do not print the usage: a user of make did not type the options. */
static bool wrong_value(const char *what, const char *arg)
{
	char text[128];

	text_clean(text, sizeof(text), arg, strlen(arg));
	fprintf(stderr, "agate-grade: %s%s%s\n", what, *text ? ", not " : "", text);
	return false;
}

static bool parse_seed(struct options *o, const char *text)
{
	char *end;

	errno = 0;
	o->seed = strtoull(text, &end, 10);
	o->seeded = true;
	return !errno && end != text && !*end && strspn(text, "0123456789") == strlen(text) &&
	       o->seed <= INT64_MAX;
}

/* Step 0 is the starter, to which no test belongs. */
static bool parse_step(struct options *o, const char *text)
{
	if (!*text || strlen(text) > 2 || strspn(text, "0123456789") != strlen(text))
		return false;
	o->step = (unsigned int)atoi(text);
	return o->step;
}

static bool set(struct options *o, int id, const char *text)
{
	switch (id) {
	case OPT_LAB:
		o->lab = text;
		break;
	case OPT_FROM:
		o->from = text;
		break;
	case OPT_TEST:
		o->test = text;
		break;
	case OPT_STEP:
		if (!parse_step(o, text))
			return wrong_value("a step is a whole number from 1", text);
		break;
	case OPT_DEBUG:
		o->debug = true;
		break;
	case OPT_CHAIN:
		o->chain = true;
		break;
	case OPT_SEED:
		if (!parse_seed(o, text))
			return wrong_value("a seed is a whole number", text);
		break;
	case OPT_OUT:
		o->out = text;
		break;
	case OPT_GUESTS:
		if (strcmp(text, "1") && strcmp(text, "2"))
			return wrong_value("so many guests are 1 or 2", text);
		o->guests = (unsigned int)(*text - '0');
		break;
	case OPT_STOP:
		o->stop_on_fail = true;
		break;
	case OPT_TIMINGS:
		o->timings = true;
		break;
	case OPT_HELP:
		o->command = COMMAND_HELP;
		break;
	default:
		return wrong("wrong usage", NULL);
	}
	if (text && !*text)
		return wrong_value("an option's value is empty", "");
	return true;
}

bool options_parse(struct options *o, int argc, char **argv)
{
	int id;

	memset(o, 0, sizeof(*o));
	o->build = getenv("BUILD");
	if (!o->build || !*o->build)
		o->build = "build";
	o->from = "labs";
	if (argc > 1 && !strcmp(argv[1], "hint"))
		o->command = COMMAND_HINT;
	else if (argc > 1 && !strcmp(argv[1], "list"))
		o->command = COMMAND_LIST;
	if (o->command != COMMAND_GRADE) {
		argc--;
		argv++;
	}
	opterr = 0;
	while ((id = getopt_long(argc, argv, "", table, NULL)) != -1)
		if (!set(o, id, optarg))
			return false;
	if (o->command == COMMAND_HELP)
		return true;
	if (optind < argc)
		return wrong("nothing is known of", argv[optind]);
	if (!o->lab && o->command != COMMAND_LIST)
		return wrong("which lab? --lab is missing", NULL);
	if (!o->test && o->command == COMMAND_HINT)
		return wrong("which test? --test is missing", NULL);
	return true;
}
