// SPDX-License-Identifier: MIT
#include "range_model.h"

#include <string.h>

#define BYTES	RANGE_MODEL_BYTES

bool range_model_possible(const struct range_model *m, const struct range_request *q,
			  u64 offset)
{
	const u64 start = m->start + offset;
	size_t i;

	if (q->size > BYTES || offset > BYTES - q->size || start & (q->align - 1))
		return false;
	if (start < q->first || start + (q->size - 1) > q->last)
		return false;
	for (i = offset; i < offset + q->size; i++) {
		if (m->owner[i])
			return false;
	}
	return true;
}

/* The size of the hole that an offset is in. */
static size_t hole_around(const struct range_model *m, size_t offset)
{
	size_t first = offset, end = offset;

	while (first && !m->owner[first - 1])
		first--;
	while (end < BYTES && !m->owner[end])
		end++;
	return end - first;
}

int range_model_place(const struct range_model *m, const struct range_request *q)
{
	size_t best = BYTES + 1;
	int found = -1;
	size_t i;

	for (i = 0; i < BYTES; i++) {
		if (!range_model_possible(m, q, i))
			continue;
		if (q->mode == AGATE_RANGE_LOW)
			return i;
		if (q->mode == AGATE_RANGE_HIGH) {
			found = i;
		} else if (hole_around(m, i) < best) {
			best = hole_around(m, i);
			found = i;
		}
	}
	return found;
}

void range_model_own(struct range_model *m, const struct agate_range_node *n, u8 owner)
{
	memset(&m->owner[n->start - m->start], owner, n->size);
}

static bool all_owned(const struct range_model *m, u64 from, u64 end)
{
	for (; from < end; from++) {
		if (!m->owner[from])
			return false;
	}
	return true;
}

bool range_model_has_holes(const struct range_model *m, const struct agate_range *r, u64 from)
{
	u64 start = m->start + from;
	u64 size;

	while (agate_range_next_hole(r, &start, &size)) {
		const u64 offset = start - m->start;

		if (offset >= BYTES || size > BYTES - offset || !all_owned(m, from, offset))
			return false;
		for (from = offset; from < offset + size; from++) {
			if (m->owner[from])
				return false;
		}
		if (from < BYTES && !m->owner[from])
			return false;
		start += size;
	}
	return all_owned(m, from, BYTES);
}
