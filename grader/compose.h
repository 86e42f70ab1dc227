/* SPDX-License-Identifier: MIT */
/*
 * Builds a driver, or a library, from a student's files and the reference's other files,
 * with kernel/compose-lab.sh and userspace/compose-lab.sh, and puts their results into
 * words.
 */
#ifndef AGATE_GRADER_COMPOSE_H
#define AGATE_GRADER_COMPOSE_H

#include <stdbool.h>
#include <sys/types.h>

#include "decode.h"
#include "judge.h"

#define COMPOSE_PATH	1024

/* One run of such a script. */
struct compose {
	pid_t pid;		/* 0: not running */
	int pidfd;
	char out[COMPOSE_PATH];
};

/* How it ended; the numbers are the scripts' exit status. */
enum compose_end {
	COMPOSE_OK = 0,
	COMPOSE_HOST = 1,
	COMPOSE_SOURCE = 10,	/* a file does not compile */
	COMPOSE_SYMBOLS = 11,	/* a symbol that the file may not use, or that does not exist */
	COMPOSE_INTERRUPTED = 20,
};

/*
 * Starts it, in a process group that ends with this process.  @argv: the script and its
 * arguments, NULL-terminated; @out: the folder that it fills, created if necessary, with its
 * output in compose.log.
 */
bool compose_start(struct compose *compose, const char *const *argv, const char *out);

/* Has its end not come yet?  Does not wait. */
bool compose_runs(const struct compose *compose);

/* Waits for its end.  If @interrupt_fd (unless it is -1) becomes readable, kills it. */
enum compose_end compose_wait(struct compose *compose, int interrupt_fd);

/*
 * The folder with copies of the labs' files, in the state that was compiled, under their
 * own names.
 */
void compose_tree(const struct compose *compose, char *path, size_t size);

/* False if the compiler ran without a sandbox. */
bool compose_boxed(const struct compose *compose);

/*
 * Why it failed, as the verdict on every test of the lab, and the place (explain.h) in
 * the lab's files @files.
 */
void compose_explain(const struct compose *compose, enum compose_end end,
		     const char *const *files, struct verdict *why, struct decode_place *place);

/* The script's last message, for a person. */
void compose_last_words(const struct compose *compose, char *text, size_t size);

#endif /* AGATE_GRADER_COMPOSE_H */
