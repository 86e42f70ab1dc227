/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Runs: a BO's memory, or a part of it, as consecutive ranges of GPU-physical addresses.
 */
#ifndef AGATE_RUNS_H
#define AGATE_RUNS_H

#include <linux/types.h>

struct scatterlist;

/**
 * struct agate_run - consecutive GPU-physical addresses
 * @addr: the first one
 * @size: bytes
 */
struct agate_run {
	u64 addr;
	u64 size;
};

/**
 * struct agate_runs - a walk over the runs of a part of a BO, see agate_runs_next()
 * @sg: the walk is at this entry of a table that is mapped for DMA, or NULL: one run
 *	is left
 * @addr: without @sg: the first address of that run
 * @skip: bytes that come before what is left, from the beginning of @sg; they may be more than
 *	that entry has
 * @left: bytes
 *
 * Plain data: a copy is another walk.
 */
struct agate_runs {
	struct scatterlist *sg;
	u64 addr;
	u64 skip;
	u64 left;
};

/**
 * agate_runs_next - the next run of a walk
 * @runs: the walk
 * @run: out
 *
 * Return: false at the end.
 */
bool agate_runs_next(struct agate_runs *runs, struct agate_run *run);

#endif /* AGATE_RUNS_H */
