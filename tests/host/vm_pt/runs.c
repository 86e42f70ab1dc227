// SPDX-License-Identifier: MIT
#include <stddef.h>

#include "runs.h"

struct agate_runs runs_of(struct scatterlist *entry, unsigned int count)
{
	struct agate_runs runs = { .sg = entry };
	unsigned int i;

	for (i = 0; i < count; i++)
		runs.left += entry[i].run.size;
	return runs;
}

struct agate_runs runs_of_one(u64 addr, u64 size)
{
	return (struct agate_runs){ .addr = addr, .left = size };
}

bool agate_runs_next(struct agate_runs *runs, struct agate_run *run)
{
	if (!runs->left)
		return false;
	if (runs->sg)
		*run = (runs->sg++)->run;
	else
		*run = (struct agate_run){ .addr = runs->addr, .size = runs->left };
	runs->left -= run->size;
	return true;
}
