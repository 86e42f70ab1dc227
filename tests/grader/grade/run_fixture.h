/* SPDX-License-Identifier: MIT */
/*
 * A run of a lab on paper: canned guests, and a script in place of the compiler.
 */
#ifndef AGATE_TESTS_RUN_FIXTURE_H
#define AGATE_TESTS_RUN_FIXTURE_H

#include "canned.h"
#include "run.h"

/* As many tests as make a second guest worth its start. */
extern const char *const ten_tests[];
/* The tests run on both kernels. */
extern const char both_kernels[];

/* The guest of each kernel, and what its programs do. */
extern struct canned guests[FLAVOURS];
extern const struct act *acts[FLAVOURS];
/* How often the run told its progress. */
extern unsigned int told;

/* Everything of one run; the module that the stand-in makes is this program. */
struct fixture {
	char out[4096], from[4096], labs[4096], script[4096], error[RUN_ERROR];
	struct lab *lab;
	struct result_lab labs_found[1];
	struct result result;
	struct run_config config;
	struct timing timing[FLAVOURS][LANES];
};

/* A script that makes a module: the running program. */
#define COMPOSES "#!/bin/sh\necho \"$@\" >\"$2/args\"\n" \
	"cp /proc/$PPID/exe \"$2/agate.ko\" && cp \"$2/agate.ko\" \"$2/agate.stripped.ko\"\n"

/* The tests a, b and c, or @names; @more is for lab.json. */
void begin(struct fixture *f, const char *more, const char *script);
void begin_with(struct fixture *f, const char *const *names, const char *more, const char *script);
void end(struct fixture *f);
enum run_end run(struct fixture *f);

/* In the result file. */
void has_status(const struct fixture *f, size_t test, const char *wanted);
unsigned int points(const struct fixture *f);
/* The first three fail because of that. */
void all_fail(struct fixture *f, const char *seen);

#endif /* AGATE_TESTS_RUN_FIXTURE_H */
