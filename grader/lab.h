/* SPDX-License-Identifier: MIT */
/*
 * A lab as its lab.json describes it (README.md has the schema).
 *
 * The grader checks all of a lab.json before it uses any part, so everything in a struct
 * lab is valid: names fit, numbers are in range, references resolve.
 */
#ifndef AGATE_GRADER_LAB_H
#define AGATE_GRADER_LAB_H

#include <jansson.h>
#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LAB_TESTS	128
#define LAB_FILES	3
#define LAB_HINTS	3
#define LAB_CASES	24
#define LAB_PROVOKED	4
#define LAB_STEPS	32
#define LAB_PARAMS	16
#define LAB_INJECTIONS	8
#define LAB_JUDGEMENTS	16
#define LAB_NAME	48	/* bytes of a name, with its NUL */
#define LAB_POINTS	100

enum lab_kernel {
	LAB_FAST = 1,
	LAB_DEBUG = 2,
};

enum lab_profile {
	LAB_NORMAL,
	LAB_TIGHT,
	LAB_SWIOTLB,
	LAB_PROFILES
};

enum lab_compare {
	LAB_EQUALS,
	LAB_AT_LEAST,
	LAB_AT_MOST,
};

struct lab_param {
	const char *name;
	int64_t lowest;
	int64_t highest;
};

struct lab_judgement {
	bool counter;		/* a counter of the simulator; else an observation */
	unsigned int index;	/* which counter */
	const char *name;
	enum lab_compare compare;
	int param;		/* index of the parameter to compare with, or -1 */
	int64_t number;		/* to compare with if there is no parameter */
	const char *rule;
};

/* A request for the simulator's control socket. */
struct lab_injection {
	const char *cmd;
	json_t *fields;		/* numbers, or texts "$PARAM" */
};

/* Hints for failures of one kind. */
struct lab_case {
	const char *when;	/* an extended regular expression */
	regex_t pattern;
	bool compiled;
	const char *hints[LAB_HINTS];
};

struct lab_test {
	const char *name;
	unsigned int points;
	const char *shows;
	unsigned int kernels;	/* of enum lab_kernel, any of */
	enum lab_profile profile;
	unsigned int limit_ms;
	struct lab_param params[LAB_PARAMS];
	size_t param_count;
	struct lab_injection injections[LAB_INJECTIONS];
	size_t injection_count;
	bool kill;		/* kill the GPU's process when the test reports LAB_KILL */
	struct lab_judgement judgements[LAB_JUDGEMENTS];
	size_t judgement_count;
	unsigned int step;	/* the solution's step after which it passes; 0: unknown */
	const char *hints[LAB_HINTS];	/* for failures that match none of the cases */
	struct lab_case cases[LAB_CASES];
	size_t case_count;
	const char *book;
	bool hidden;
	/* Hints of the GPU that come from what the test does; the last one is NULL. */
	const char *provokes[LAB_PROVOKED + 1];
};

struct lab {
	json_t *json;		/* owns every string below */
	const char *name;
	const char *title;
	const char *files[LAB_FILES];
	size_t file_count;
	bool library;
	unsigned int steps;
	unsigned int frees;	/* the step from which on the driver frees the memory of BOs */
	const char *program;
	bool by_test;		/* the tests load the module */
	const char *module_args;
	struct lab_test *tests;
	size_t test_count;
};

#define LAB_ERROR	512

/* The observation at which the grader kills the GPU's process, if the test wants that. */
#define LAB_KILL_NAME	"ready-to-lose"
#define LAB_KILL	"SEE " LAB_KILL_NAME " 1"

/*
 * Reads and checks the lab.json at @path, whose folder is called @name.  Returns NULL
 * when it is not valid: @error then names the file, the test and the key.
 */
struct lab *lab_load(const char *path, const char *name, char error[LAB_ERROR]);
void lab_free(struct lab *lab);

/* The test of this name, or NULL. */
const struct lab_test *lab_test_named(const struct lab *lab, const char *name);

/*
 * The test's case to which a failure belongs, from 1: the first whose pattern matches
 * @failure, which is rule, expected and seen, one line each, and then the kernel's
 * report with its innermost functions. 0: none of them.
 */
unsigned int lab_case_of(const struct lab_test *test, const char *failure);
/* The hints of a case; for any other number, the test's own hints. */
const char *const *lab_hints(const struct lab_test *test, unsigned int which);

/* The index of a test's parameter, or -1. */
int lab_param_index(const struct lab_test *test, const char *name);

const char *lab_profile_name(enum lab_profile profile);

/*
 * Finds the folder in @labs_dir that a person means by 05, 5, mmap or 05-mmap.  False
 * when there is none, or more than one: @error then says so.
 */
bool lab_find(const char *labs_dir, const char *word, char name[LAB_NAME], char error[LAB_ERROR]);

/*
 * Lists the folders in @labs_dir that hold a lab.json, in order of their names.  The
 * caller frees them with free(); -1 with errno when the folder cannot be read.
 */
int lab_names(const char *labs_dir, char (**names)[LAB_NAME]);

#endif /* AGATE_GRADER_LAB_H */
