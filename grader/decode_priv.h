/* SPDX-License-Identifier: MIT */
/*
 * The two helpers of decode: the module's symbols, and addr2line.
 */
#ifndef AGATE_GRADER_DECODE_PRIV_H
#define AGATE_GRADER_DECODE_PRIV_H

#include <stdint.h>

#include "splat.h"

/* A place in the module's code: its section, and the offset in it. */
struct decode_address {
	char section[64];
	uint64_t offset;
};

/*
 * Finds the place in @module of each of @frames that is the module's; @found tells which
 * ones it found.  False when the file cannot be read.
 */
bool decode_addresses(const char *module, const struct splat_frame *frames, size_t count,
		      struct decode_address *addresses, bool *found);

/*
 * Runs addr2line on these offsets in one section and stores its output, at most @size - 1
 * bytes and NUL-terminated.  False when it failed or took too long.
 */
bool decode_run(const char *module, const char *section, const uint64_t *offsets, size_t count,
		char *out, size_t size);

#endif /* AGATE_GRADER_DECODE_PRIV_H */
