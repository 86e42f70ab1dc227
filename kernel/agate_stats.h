/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters of living objects.  All of them return to zero when the last file is
 * closed.  debugfs shows them, so a leak is visible without KASAN.
 */
#ifndef AGATE_STATS_H
#define AGATE_STATS_H

#include <linux/atomic.h>

enum agate_stat {
	AGATE_STAT_BOS,		/* buffer objects */
	AGATE_STAT_HANDLES,	/* (file, handle) names of BOs */
	AGATE_STAT_CPU_MAPS,	/* VMAs that map a BO */
	AGATE_STAT_KMAPS,	/* parts of placed BOs that the kernel has mapped */
	AGATE_STAT_PAGES,	/* pages held for BOs */
	AGATE_STAT_SG_TABLES,	/* sg tables mapped for DMA */
	AGATE_STAT_VMS,		/* GPU address spaces of files */
	AGATE_STAT_VA_NODES,	/* ranges of GPU addresses taken */
	AGATE_STAT_PT_PAGES,	/* page-table pages */
	AGATE_STAT_AS_REFS,	/* users of hardware address spaces */
	AGATE_STAT_JOBS,	/* jobs, the mover's among them, until they are freed */
	AGATE_STAT_FENCES,	/* hardware fences */
	AGATE_STAT_SLOT_BUSY,	/* jobs on hardware slots */
	AGATE_STAT_FILES,	/* open files */
	AGATE_STAT_COUNT
};

struct agate_stats {
	atomic64_t v[AGATE_STAT_COUNT];
};

static inline void agate_stat_add(struct agate_stats *stats, enum agate_stat which, s64 n)
{
	atomic64_add(n, &stats->v[which]);
}

static inline void agate_stat_inc(struct agate_stats *stats, enum agate_stat which)
{
	atomic64_inc(&stats->v[which]);
}

static inline void agate_stat_dec(struct agate_stats *stats, enum agate_stat which)
{
	atomic64_dec(&stats->v[which]);
}

#endif /* AGATE_STATS_H */
