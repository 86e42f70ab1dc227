/* SPDX-License-Identifier: MIT */
/*
 * The counters that a guest may read.
 */
#ifndef AGATE_MODEL_COUNTERS_H
#define AGATE_MODEL_COUNTERS_H

#include "block.h"

extern const struct block counters_block;

#endif /* AGATE_MODEL_COUNTERS_H */
