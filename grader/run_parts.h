/* SPDX-License-Identifier: MIT */
/*
 * The files of which a driver is composed.
 */
#ifndef AGATE_GRADER_RUN_PARTS_H
#define AGATE_GRADER_RUN_PARTS_H

#include "run.h"

#define PARTS_MAX	32

struct run_parts {
	char dir[RUN_PATH];			/* of the lab's files */
	char paths[LAB_FILES][RUN_PATH];	/* the lab's files */
	const char *files[LAB_FILES + 1];	/* the same, NULL-terminated */
	char missing[RUN_PATH];			/* a file that does not exist, or "" */
	char args[PARTS_MAX][RUN_PATH];		/* NN-topic=DIR, for compose-lab.sh */
	size_t arg_count;
};

/*
 * Chooses the lab's own part and, for a chain, the parts before it whose files exist; a
 * remark names the parts that a chain leaves out.  False with @error.
 */
bool run_parts_find(const struct run_config *config, struct result_lab *result,
		    struct run_parts *parts, char error[RUN_ERROR]);

#endif /* AGATE_GRADER_RUN_PARTS_H */
