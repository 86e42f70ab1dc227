/* SPDX-License-Identifier: MIT */
/*
 * Whether two tests failed for one reason.
 */
#ifndef AGATE_GRADER_CAUSE_H
#define AGATE_GRADER_CAUSE_H

#include "result.h"

/*
 * Both broke the same rule in the same way; or crashed or hung at the same place; or
 * met a call that fails with the same error where it has to succeed; or met a topic
 * that is absent; or broke the same rule of the hardware; or left the same counters off.  A student who has read of the one has read of the other.
 */
bool cause_same(const struct standing *a, const struct standing *b);

#endif /* AGATE_GRADER_CAUSE_H */
