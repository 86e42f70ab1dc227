/* SPDX-License-Identifier: MIT */
/*
 * Requests to the control socket of the GPU's process (book/hardware.md, section 8.4).
 */
#ifndef AGATE_VM_GPU_CONTROL_H
#define AGATE_VM_GPU_CONTROL_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#define GPU_CONTROL_ANSWER	8192	/* bytes of an answer, with its newline */

/* One socket; all zeroes except for @fd. */
struct gpu_control {
	int fd;
	json_int_t last_id;
	char in[GPU_CONTROL_ANSWER];	/* the bytes that have come after the last whole line */
	size_t used;
};

/*
 * The answer to one request, which the caller releases; NULL when the other end is gone
 * or sends something that is not JSON, or when @late(@arg) becomes true first.  Each
 * request has an id; an answer with another id belongs to a request that was given up.
 */
json_t *gpu_control_ask(struct gpu_control *control, const json_t *request,
			bool (*late)(void *arg), void *arg);

#endif /* AGATE_VM_GPU_CONTROL_H */
