// SPDX-License-Identifier: MIT
/*
 * The driver's range allocator: any calls, also wrong ones, at both ends of the address space.
 * After each one the allocator has to agree with the flat model of its property test.
 */
#include <stdio.h>
#include <stdlib.h>

#include <linux/errno.h>
#include <linux/limits.h>
#include <linux/log2.h>

#include "input.h"
#include "range_model.h"

#define NODES	40u

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct {
	unsigned long inputs, inserted, reserved, removed, full, refused;
} reached;

struct world {
	struct range_model model;
	struct agate_range range;
	struct agate_range_node nodes[NODES];
};

static void require(bool what)
{
	if (!what)
		abort();
}

static void tell_reached(void)
{
	fprintf(stderr, "reached: inputs=%lu inserted=%lu reserved=%lu removed=%lu full=%lu "
		"refused=%lu\n", reached.inputs, reached.inserted, reached.reserved,
		reached.removed, reached.full, reached.refused);
}

static void take_result(int ret, int wanted)
{
	require(ret == wanted);
	reached.full += ret == -ENOSPC;
	reached.refused += ret == -EINVAL;
}

/* Mostly small numbers. */
static u64 take_size(struct input *in)
{
	const u8 byte = take8(in);

	return byte == 0xff ? take64(in) : byte;
}

static u64 take_align(struct input *in)
{
	const u8 byte = take8(in);

	return byte == 0xff ? take64(in) : 1ull << byte % 64;
}

static void insert(struct world *w, struct input *in, unsigned int i)
{
	struct range_request q = { .last = U64_MAX };
	const u8 kind = take8(in);
	int wanted, ret;

	q.mode = kind % 4;
	q.size = take_size(in);
	q.align = take_align(in);
	if (kind & 0x40)
		q.first = w->model.start + take16(in);
	if (kind & 0x80)
		q.last = w->model.start + take16(in);
	ret = agate_range_insert(&w->range, &w->nodes[i], q.size, q.align, q.first, q.last,
				 q.mode);
	if (!q.size || !is_power_of_2(q.align) || q.first > q.last || q.mode > AGATE_RANGE_HIGH) {
		take_result(ret, -EINVAL);
		return;
	}
	wanted = range_model_place(&w->model, &q);
	take_result(ret, wanted < 0 ? -ENOSPC : 0);
	if (ret)
		return;
	require(w->nodes[i].start == w->model.start + wanted && w->nodes[i].size == q.size);
	range_model_own(&w->model, &w->nodes[i], i + 1);
	reached.inserted++;
}

static void reserve(struct world *w, struct input *in, unsigned int i)
{
	const u16 offset = take16(in);
	struct range_request q = { .size = take_size(in), .align = 1, .last = U64_MAX };
	const u64 start = w->model.start + offset;
	int ret = agate_range_reserve(&w->range, &w->nodes[i], start, q.size);

	if (!q.size || q.size - 1 > U64_MAX - start) {
		take_result(ret, -EINVAL);
		return;
	}
	/* Behind the top of all addresses the space is not the model's any more. */
	take_result(ret, start >= w->model.start &&
			 range_model_possible(&w->model, &q, offset) ? 0 : -ENOSPC);
	if (ret)
		return;
	require(w->nodes[i].start == start && w->nodes[i].size == q.size);
	range_model_own(&w->model, &w->nodes[i], i + 1);
	reached.reserved++;
}

static void step(struct world *w, struct input *in)
{
	const u8 what = take8(in);
	const unsigned int i = (what & 0x7f) % NODES;

	if (agate_range_node_allocated(&w->nodes[i])) {
		range_model_own(&w->model, &w->nodes[i], 0);
		agate_range_remove(&w->range, &w->nodes[i]);
		require(!agate_range_node_allocated(&w->nodes[i]));
		reached.removed++;
	} else if (what & 0x80) {
		reserve(w, in, i);
	} else {
		insert(w, in, i);
	}
	require(range_model_has_holes(&w->model, &w->range, 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const u64 starts[] = { 0, 0x8000000013ull, U64_MAX - RANGE_MODEL_BYTES };
	struct input in = input_of(data, size);
	struct world *w = calloc(1, sizeof(*w));
	unsigned int i;

	require(w);
	if (!reached.inputs++)
		require(!atexit(tell_reached));
	w->model.start = starts[take8(&in) % 3];
	agate_range_init(&w->range, w->model.start, RANGE_MODEL_BYTES);
	while (input_left(&in))
		step(w, &in);
	for (i = 0; i < NODES; i++) {
		if (agate_range_node_allocated(&w->nodes[i]))
			agate_range_remove(&w->range, &w->nodes[i]);
	}
	require(!agate_range_fini(&w->range));
	free(w);
	return 0;
}
