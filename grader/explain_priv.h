/* SPDX-License-Identifier: MIT */
#ifndef AGATE_GRADER_EXPLAIN_PRIV_H
#define AGATE_GRADER_EXPLAIN_PRIV_H

#include "explain.h"

/* The rule that a file breaks when the compiler, or the symbol check, prints this. */
const char *explain_compiler_rule(const char *said);
const char *explain_symbol_rule(const char *said);

#endif /* AGATE_GRADER_EXPLAIN_PRIV_H */
