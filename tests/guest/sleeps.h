/* SPDX-License-Identifier: MIT */
/*
 * Threads and processes that sleep: in a call of the driver, or in a lock of the C library.
 */
#ifndef AGATE_TESTS_SLEEPS_H
#define AGATE_TESTS_SLEEPS_H

#include <stdbool.h>

/* How often a thread or process has gone to sleep, if it sleeps now; or -1, as for the id 0. */
long sleeps_of(int tid);

/*
 * One look of many at a thread, a millisecond apart: true when it has slept through the last
 * @looks of them without a break.  Zero *@rest before the first look.
 */
struct sleep_rest {
	long sleeps;
	unsigned int looks;
};
bool sleep_rests(int tid, unsigned int looks, struct sleep_rest *rest);

#endif /* AGATE_TESTS_SLEEPS_H */
