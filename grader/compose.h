/* SPDX-License-Identifier: MIT */
/*
 * Building a driver, or a library, from a student's files and the reference for
 * all the rest: kernel/compose-lab.sh and userspace/compose-lab.sh, and what they
 * say in words.
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
	COMPOSE_SYMBOLS = 11,	/* a symbol that may not be used, or is not there */
	COMPOSE_INTERRUPTED = 20,
};

/*
 * Starts it, in a process group that ends with this process.  @argv: the script and its arguments, NULL-terminated; @out: the folder
 * that it fills, made when it is not there, with what it says in compose.log.
 */
bool compose_start(struct compose *compose, const char *const *argv, const char *out);

/* Waits for its end, or until @interrupt_fd (or -1) is readable: then it is killed. */
enum compose_end compose_wait(struct compose *compose, int interrupt_fd);

/* The folder with copies of the labs' files, as they were compiled, below their names. */
void compose_tree(const struct compose *compose, char *path, size_t size);

/* False when the files were compiled without a sandbox around the compiler. */
bool compose_boxed(const struct compose *compose);

/*
 * Why it failed, as the verdict on every test of the lab, and the place (explain.h)
 * in @files, the lab's.
 */
void compose_explain(const struct compose *compose, enum compose_end end,
		     const char *const *files, struct verdict *why, struct decode_place *place);

/* The last thing that the script said, for a person. */
void compose_last_words(const struct compose *compose, char *text, size_t size);

#endif /* AGATE_GRADER_COMPOSE_H */
