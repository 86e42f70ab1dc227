/* SPDX-License-Identifier: MIT */
/*
 * The debug kernel's fault injection by number: one of the allocations, or of the
 * copies from and to user memory, that this thread's next call makes, fails.
 */
#ifndef AGATE_TEST_FAIL_NTH_H
#define AGATE_TEST_FAIL_NTH_H

#include <stdbool.h>

/*
 * Open it for one test, in the thread that makes the calls; fails the test if the
 * kernel has none.
 */
int fail_nth_open(void);

/* Make number n fail, counted from 1. */
void fail_nth_arm(int fail_nth, int n);

/* Disarm; true when the armed failure has happened. */
bool fail_nth_fired(int fail_nth);

#endif /* AGATE_TEST_FAIL_NTH_H */
