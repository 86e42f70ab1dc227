/* SPDX-License-Identifier: MIT */
/*
 * A flat model of an address space: an array that says of each byte which node has it.  It
 * knows where a range has to go, for the property test and for the fuzz target.
 */
#ifndef AGATE_TEST_RANGE_MODEL_H
#define AGATE_TEST_RANGE_MODEL_H

#include "agate_range.h"

#define RANGE_MODEL_BYTES	600u

/**
 * struct range_model - an address space
 * @start: its first address
 * @owner: for each byte a node's number + 1; 0 when it is free
 */
struct range_model {
	u64 start;
	u8 owner[RANGE_MODEL_BYTES];
};

/** struct range_request - what agate_range_insert() is asked for */
struct range_request {
	u64 size;
	u64 align;
	u64 first;
	u64 last;
	enum agate_range_mode mode;
};

/* Is [@offset, @offset + size) free, aligned and in bounds? */
bool range_model_possible(const struct range_model *m, const struct range_request *q,
			  u64 offset);

/* The offset at which a valid request must go; -1: there is none. */
int range_model_place(const struct range_model *m, const struct range_request *q);

/* Give a node's bytes to an owner. */
void range_model_own(struct range_model *m, const struct agate_range_node *n, u8 owner);

/* Are the holes from an offset on the model's? */
bool range_model_has_holes(const struct range_model *m, const struct agate_range *r, u64 from);

#endif /* AGATE_TEST_RANGE_MODEL_H */
