/* SPDX-License-Identifier: MIT */
/*
 * The rules of the hardware that a driver broke, as the simulator saw it: the hints of
 * its event log (book/hardware.md, sections 8.2 and 8.3), in words.
 */
#ifndef AGATE_GRADER_GPU_HINTS_H
#define AGATE_GRADER_GPU_HINTS_H

#include <stddef.h>

/*
 * Writes the hints among the lines of @log to @text, each once and with the registers
 * whose access gave it, and returns their total number.  It leaves out the hints with the
 * texts @provoked, which ends with NULL and may be NULL.
 */
unsigned int gpu_hints(const char *log, size_t len, const char *const *provoked, char *text,
		       size_t size);

#endif /* AGATE_GRADER_GPU_HINTS_H */
