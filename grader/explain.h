/* SPDX-License-Identifier: MIT */
/*
 * Why a student's file could not be made into a driver: what the compiler and the
 * check of symbols said, in words and with the line.
 */
#ifndef AGATE_GRADER_EXPLAIN_H
#define AGATE_GRADER_EXPLAIN_H

#include "decode.h"

/**
 * struct explanation - one thing that is wrong
 * @rule:	what does not hold, as a sentence; never NULL
 * @said:	what the compiler, or the check of symbols, said of it
 * @place:	where; @place.line is 0 when no line is known, and @place.file is empty
 *		when no file is
 * @more:	how many more such things are in the log
 */
struct explanation {
	const char *rule;
	char said[256];
	struct decode_place place;
	unsigned int more;
};

/*
 * The first error in a compiler's output; where it is in a header, the line of one
 * of @files (NULL-terminated, or NULL) that led there, if the output has one.  False
 * when there is no error in it.
 *
 * @tree: where the files' names are relative to
 */
bool explain_compile(const char *log, size_t len, const char *tree, const char *const *files,
		     struct explanation *why);

/*
 * The first line of symbols.log, as kernel/compose-lab.sh writes it; the place is
 * where the symbol stands first in the one of @files that the line names.
 */
bool explain_symbols(const char *log, size_t len, const char *tree, const char *const *files,
		     struct explanation *why);

#endif /* AGATE_GRADER_EXPLAIN_H */
