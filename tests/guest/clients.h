/* SPDX-License-Identifier: MIT */
/*
 * Clients of other kinds than the test itself: threads, processes that are killed in
 * mid-job, and memory that is not there yet.
 */
#ifndef AGATE_TESTS_CLIENTS_H
#define AGATE_TESTS_CLIENTS_H

#include <stdbool.h>
#include <stddef.h>

/* Run @threads threads; each has to return @each, the number of its jobs that went well. */
void clients_run(int threads, void *(*thread)(void *arg), long each);

/*
 * Run @child in a process of its own, and kill it with SIGKILL once it has written a byte to
 * @ready.  @child never returns: it exits when something goes wrong, or waits.
 */
void clients_kill(void (*child)(int ready));

/* Run @child in a process of its own, which ends after it: by SIGKILL if it is to be killed. */
void clients_end(void (*child)(void *arg), void *arg, bool killed);

/*
 * A page fault on these pages, which nobody has touched yet, waits until the test serves it.
 * Returns the userfaultfd for that.
 */
int clients_stall(void *pages, size_t size);

#endif /* AGATE_TESTS_CLIENTS_H */
