/* SPDX-License-Identifier: MIT */
/*
 * From a frame of a trace to a line of source, by the module's debug information.
 */
#ifndef AGATE_GRADER_DECODE_H
#define AGATE_GRADER_DECODE_H

#include "splat.h"

#define DECODE_FREED	3

struct decode_place {
	char file[256];		/* the name in @files; any other file relative to the tree */
	unsigned int line;
	char function[80];
	char source[3][160];	/* the line with its neighbours; decode_splat() only has it
				 * if it is in @files */
};

/*
 * The innermost frame of @splat in one of @files, inlined functions included; when
 * there is none, the innermost in the module.
 *
 * @module: agate.ko with debug information
 * @tree: the folder to which the files' names are relative
 * @files: "labs/02-gem-object/agate_gem.c", NULL-terminated
 *
 * Returns false when no frame could be decoded.
 */
bool decode_splat(const struct splat *splat, const char *module, const char *tree,
		  const char *const *files, struct decode_place *place);

/*
 * The same, and with it the innermost frame in the module if it lies further in than @place;
 * otherwise @inner->line is 0.
 */
bool decode_both(const struct splat *splat, const char *module, const char *tree,
		 const char *const *files, struct decode_place *place,
		 struct decode_place *inner);

/*
 * The code that freed the memory that @splat is about: those of its frames that are in
 * @files, from the innermost on, each as a place of its own.  Returns their number.
 */
size_t decode_freed(const struct splat *splat, const char *module, const char *tree,
		    const char *const *files, struct decode_place places[DECODE_FREED]);

/*
 * The three lines around @place->line, read from the tree: the working folder ("."), or
 * one with copies of files below their names, where "/a/b.c" is TREE/a/b.c.
 */
void decode_source(const char *tree, struct decode_place *place);

#endif /* AGATE_GRADER_DECODE_H */
