/* SPDX-License-Identifier: MIT */
/*
 * Whether two tests failed for one reason.
 */
#ifndef AGATE_GRADER_CAUSE_H
#define AGATE_GRADER_CAUSE_H

#include "result.h"

/*
 * True if both broke the same rule in the same way, crashed or hung at the same place, saw a
 * call fail with the same error where it has to succeed, found a topic absent, broke the same
 * rule of the hardware, or left the same counters wrong.  The explanation of the one then
 * explains the other.
 */
bool cause_same(const struct standing *a, const struct standing *b);

#endif /* AGATE_GRADER_CAUSE_H */
