/* SPDX-License-Identifier: MIT */
/*
 * The numbers of a run: its seed, the parameters drawn from it, and nonces.
 */
#ifndef AGATE_GRADER_PARAMS_H
#define AGATE_GRADER_PARAMS_H

#include <stdbool.h>
#include <stdint.h>

#include "judge.h"
#include "lab.h"

/* A seed that nobody can predict, short enough to type again; false with errno. */
bool params_seed(uint64_t *seed);

/*
 * A parameter of a test: the same for the same seed, lab, test and name, whichever
 * other tests run, and within its bounds.
 */
int64_t params_draw(uint64_t seed, const char *lab, const char *test,
		    const struct lab_param *param);

/* NONCE_DIGITS digits that nobody can predict, and a NUL; false with errno. */
bool params_nonce(char nonce[NONCE_DIGITS + 1]);

#endif /* AGATE_GRADER_PARAMS_H */
