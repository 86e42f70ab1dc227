/* SPDX-License-Identifier: MIT */
/*
 * The rules of the hardware that the simulator saw broken: the hints of its event log
 * (book/hardware.md, sections 8.2 and 8.3), in words.
 */
#ifndef AGATE_GRADER_GPU_HINTS_H
#define AGATE_GRADER_GPU_HINTS_H

#include <stddef.h>

/*
 * Writes the hints among the lines of @log to @text, each once and with the registers
 * at which it was given, and returns how many there are in all.
 */
unsigned int gpu_hints(const char *log, size_t len, char *text, size_t size);

#endif /* AGATE_GRADER_GPU_HINTS_H */
