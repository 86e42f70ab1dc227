/* SPDX-License-Identifier: MIT */
/*
 * A fuzzer's input as a stream of numbers; past its end everything is 0.
 *
 * A guest's numbers are rarely arbitrary: most addresses are mapped ones.  So one
 * byte selects a kind, and the kind determines how many bytes follow.
 */
#ifndef AGATE_FUZZ_INPUT_H
#define AGATE_FUZZ_INPUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct input {
	const uint8_t *at;
	const uint8_t *end;
};

static inline struct input input_of(const uint8_t *data, size_t size)
{
	return (struct input){ .at = data, .end = data + size };
}

static inline bool input_left(const struct input *in)
{
	return in->at < in->end;
}

static inline void take_bytes(struct input *in, void *buf, size_t len)
{
	size_t left = in->end - in->at, n = len < left ? len : left;

	memset(buf, 0, len);
	if (!n)
		return;
	memcpy(buf, in->at, n);
	in->at += n;
}

static inline uint8_t take8(struct input *in)
{
	return input_left(in) ? *in->at++ : 0;
}

static inline uint16_t take16(struct input *in)
{
	uint16_t value;

	take_bytes(in, &value, sizeof(value));
	return value;
}

static inline uint32_t take32(struct input *in)
{
	uint32_t value;

	take_bytes(in, &value, sizeof(value));
	return value;
}

static inline uint64_t take64(struct input *in)
{
	uint64_t value;

	take_bytes(in, &value, sizeof(value));
	return value;
}

#endif /* AGATE_FUZZ_INPUT_H */
