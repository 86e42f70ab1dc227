/* SPDX-License-Identifier: MIT */
/*
 * Why a student's file does not compile or link: the messages of the compiler and of the
 * symbol check, in plain words and with the line.
 */
#ifndef AGATE_GRADER_EXPLAIN_H
#define AGATE_GRADER_EXPLAIN_H

#include "decode.h"

/**
 * struct explanation - one error
 * @rule:	the rule that the file breaks, as a sentence; never NULL
 * @said:	the message of the compiler, or of the symbol check
 * @place:	where; @place.line is 0 when the line is unknown, and @place.file is empty
 *		when the file is unknown
 * @more:	how many more errors are in the log
 */
struct explanation {
	const char *rule;
	char said[256];
	struct decode_place place;
	unsigned int more;
};

/*
 * The first error in a compiler's output.  If the error is in a header, its place is the
 * line of one of @files (NULL-terminated, or NULL) that included it, if the output has
 * that line.  False when the output has no error.
 *
 * @tree: the folder to which the files' names are relative
 */
bool explain_compile(const char *log, size_t len, const char *tree, const char *const *files,
		     struct explanation *why);

/*
 * The first line of symbols.log, as kernel/compose-lab.sh writes it; the place is the
 * first use of the symbol in the one of @files that the line names.
 */
bool explain_symbols(const char *log, size_t len, const char *tree, const char *const *files,
		     struct explanation *why);

#endif /* AGATE_GRADER_EXPLAIN_H */
