/* SPDX-License-Identifier: MIT */
/* Contract of lab 90: fill a part of a buffer object. */
#ifndef AGATE_FILL_H
#define AGATE_FILL_H

#include "agate.h"

/* For the test program of the lab; libagate.map hides it from everybody else. */
#pragma GCC visibility push(default)

/**
 * agate_fill - write one word again and again into a part of a BO
 * @bo: the BO
 * @offset: where the part begins, in bytes; whole words of 4 bytes
 * @size: bytes of the part, whole words; 0 changes nothing, and maps nothing
 * @word: what to write
 *
 * Return: 0; -EINVAL when offset or size is not in whole words, or the part is not inside the
 * BO; or the error of agate_bo_mmap().  After an error the BO has the contents that it had, and
 * after -EINVAL it is not mapped either.
 */
int agate_fill(struct agate_bo *bo, uint64_t offset, uint64_t size, uint32_t word);

#pragma GCC visibility pop

#endif /* AGATE_FILL_H */
