/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The pages of a placed BO, without the BO: one step after the other.  ioctl() on
 * /sys/kernel/debug/agate_tt; each open file has one struct agate_tt at most, of the first GPU.
 */
#ifndef AGATE_TESTS_TT_STEPS_H
#define AGATE_TESTS_TT_STEPS_H

#include <linux/ioctl.h>
#include <linux/types.h>

struct tt_make {
	__u64 size;		/* bytes */
	__u32 caching;		/* AGATE_CACHING_* */
	__u32 pad;
};

enum tt_op {
	/* The function of that name in kernel/agate_tt.h. */
	TT_POPULATE,
	TT_UNPOPULATE,
	TT_BIND,
	TT_UNBIND,
	TT_SWAPOUT,
	TT_OPS,
	/* Write to the pages, different in each one. */
	TT_FILL = TT_OPS,
	/* Only look. */
	TT_LOOK,
};

/* What is not NULL. */
enum tt_has {
	TT_HAS_PAGES = 1,
	TT_HAS_TABLE = 2,	/* sgt.sgl */
	TT_HAS_LISTS = 4,
	TT_HAS_LIST_ADDRS = 8,
	TT_HAS_SWAP = 16,
};

/*
 * Make a step, and look at what is there afterwards.  Where a number counts what is right, it
 * counts from the first one to the first wrong one, whose number it is then.
 */
struct tt_step {
	__u32 op;		/* enum tt_op */
	/* All that follows is out. */
	__u32 state;		/* enum agate_tt_state */
	__s64 result;
	__u64 count;
	__u32 has;		/* enum tt_has */
	__u32 bound;		/* how often it is in ttm.bound */
	/* Where there are pages. */
	__u64 blank;		/* pages with zeros */
	__u64 filled;		/* pages with what TT_FILL wrote */
	/* In state BOUND, right: */
	__u64 sgt_pages;	/* pages that sgt names; more than count: it names too many */
	__u64 sgt_addresses;	/* their addresses for DMA; likewise */
	__u64 entries;		/* addresses in lists */
	__u64 list_addrs;
	/* The first wrong entry of lists. */
	__u64 entry_is;
	__u64 entry_should_be;
};

#define TT_MAKE		_IOW('A', 56, struct tt_make)
#define TT_STEP		_IOWR('A', 57, struct tt_step)
/* agate_tt_park() without a fence; closing the file does the same. */
#define TT_PARK		_IO('A', 58)

#endif /* AGATE_TESTS_TT_STEPS_H */
