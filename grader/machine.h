/* SPDX-License-Identifier: MIT */
/*
 * Facts about this machine and this build that a run needs.
 */
#ifndef AGATE_GRADER_MACHINE_H
#define AGATE_GRADER_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

/*
 * How much slower this machine is than the one with scale 1, as `make doctor` measured
 * it; 1 without a measurement.
 */
double machine_scale(void);

/* "6.1.192 fast" or "6.1.192 fast+debug"; false with @error. */
bool machine_kernel(const char *build, bool debug, char *name, size_t size, char *error,
		    size_t error_size);

/*
 * Waits until the whole machine has had nothing to do for a processor for a while.  False as soon
 * as @wanted says no, or @interrupt_fd is readable.
 */
bool machine_await_free(bool (*wanted)(void *arg), void *arg, int interrupt_fd);

/* A file that becomes readable when the run has to end (^C, a kill); -1 with errno. */
int machine_interrupts(void);

/* Creates @dir with its parents; false with errno. */
bool machine_make_dirs(const char *dir);

/*
 * Creates @dir with its parents and keeps other runs out of it as long as this process
 * lives; false with @error.
 */
bool machine_claim(const char *dir, char *error, size_t error_size);

/*
 * Removes what is neither a folder nor a file of its own from @dir/@name and everything
 * below: whoever writes through a link writes elsewhere.  False with @error.
 */
bool machine_unlink(const char *dir, const char *name, char *error, size_t error_size);

#endif /* AGATE_GRADER_MACHINE_H */
