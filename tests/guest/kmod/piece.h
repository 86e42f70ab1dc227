/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lab 03: what the driver's other parts, and other drivers, ask the backing of a BO for.
 * ioctl() on /sys/kernel/debug/agate_piece asks the backing of the newest BO.
 */
#ifndef AGATE_TESTS_PIECE_H
#define AGATE_TESTS_PIECE_H

#include <linux/ioctl.h>
#include <linux/types.h>

enum piece_op {
	PIECE_RUNS,	/* populate() of size bytes at offset */
	PIECE_TABLE,	/* pin(), get_sg_table() with entries of at most size bytes, unpin() */
	/*
	 * pin(), vmap(), vmap() and vunmap() as another user would, word becomes the one at
	 * offset, vunmap(), unpin()
	 */
	PIECE_READ,
	PIECE_WRITE,	/* likewise, and the one at offset becomes word */
	/* word is an address where the caller has mapped the BO. */
	PIECE_PGOFF,	/* pages from the start of the BO's range of the file to the map */
	PIECE_FAULT,	/* fault() for that address, with the index offset */
};

struct piece_call {
	__u32 op;
	__s32 result;		/* of the call: 0 or a negative errno */
	__u64 offset;
	__u64 size;
	__u64 word;
	/* What PIECE_RUNS and PIECE_TABLE found. */
	__u64 addr;		/* where the first run, or entry, begins; PIECE_PGOFF: the pages */
	__u64 bytes;		/* all together */
	__u64 longest;		/* of the entries */
	__u32 count;		/* runs, or entries */
	__u32 gaps;		/* of them, those that do not begin where the one before ends */
	__u32 unset;		/* PIECE_RUNS: populate() left the table of the runs as it was */
	__u32 iomem;		/* PIECE_READ and PIECE_WRITE: the map says that it is a device's */
	__u32 strays;		/* PIECE_TABLE: pages that are not the next one of the BO */
	__u32 fault;		/* PIECE_FAULT: what fault() returned */
};

#define PIECE_CALL	_IOWR('A', 16, struct piece_call)

#endif /* AGATE_TESTS_PIECE_H */
