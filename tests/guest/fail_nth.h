/* SPDX-License-Identifier: MIT */
/*
 * The debug kernel's fault injection by number: of what the next call of this thread
 * allocates, or copies from and to user memory, one fails.
 */
#ifndef AGATE_TEST_FAIL_NTH_H
#define AGATE_TEST_FAIL_NTH_H

#include <stdbool.h>

/* For one test, in the thread that makes the calls; fails it when there is no injection. */
int fail_nth_open(void);

/* The failure is number n, from 1. */
void fail_nth_arm(int fail_nth, int n);

/* Disarm; true when the failure that was armed has happened. */
bool fail_nth_fired(int fail_nth);

#endif /* AGATE_TEST_FAIL_NTH_H */
