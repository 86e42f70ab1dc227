/* SPDX-License-Identifier: MIT */
/*
 * The command line.
 */
#ifndef AGATE_GRADER_OPTIONS_H
#define AGATE_GRADER_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum command {
	COMMAND_GRADE,
	COMMAND_HINT,
	COMMAND_LIST,
	COMMAND_HELP,
};

struct options {
	enum command command;
	const char *build;
	const char *lab;	/* as it was typed; NULL: none */
	const char *from;
	const char *test;
	const char *out;	/* NULL: the default */
	unsigned int step;	/* 0: all of them */
	unsigned int guests;	/* of one kernel at the same time; 0: the default */
	bool debug;
	bool chain;
	bool stop_on_fail;
	bool timings;
	bool seeded;
	uint64_t seed;
};

/* If they are wrong, prints the reason and returns false. */
bool options_parse(struct options *options, int argc, char **argv);
void options_help(void);

#endif /* AGATE_GRADER_OPTIONS_H */
