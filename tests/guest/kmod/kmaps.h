/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Placed BOs as the kernel sees them.  ioctl() on /sys/kernel/debug/agate_kmaps; each open file
 * holds one dma-buf mapped at most.
 */
#ifndef AGATE_TESTS_KMAPS_H
#define AGATE_TESTS_KMAPS_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* Map a part of the newest BO by agate_kmap(), look, and unmap it. */
struct kmaps_look {
	__u64 first;
	__u64 n;
	__u64 at;		/* byte of the mapping; anything, if at + 8 is inside */
	__u64 word;		/* out: the eight bytes there, if there is a mapping */
	__s32 result;		/* out */
	__u32 kind;		/* out: enum agate_kmap_kind, also of a failure */
	__u32 caching;		/* out: AGATE_CACHING_*, as the kernel's page table says */
	__u32 left;		/* out: what the mapping still counts after its end */
};

/* Map a dma-buf as another driver, twice, and keep it so. */
struct kmaps_hold {
	__s32 fd;
	__s32 result;		/* out */
	__u32 same;		/* out: the second mapping is the first one */
	__u32 caching;		/* out */
};

/* Eight bytes of what is held. */
struct kmaps_bytes {
	__u64 at;
	__u64 word;
};

#define KMAPS_LOOK	_IOWR('A', 48, struct kmaps_look)
#define KMAPS_HOLD	_IOWR('A', 49, struct kmaps_hold)
#define KMAPS_PEEK	_IOWR('A', 50, struct kmaps_bytes)
#define KMAPS_POKE	_IOW('A', 51, struct kmaps_bytes)
#define KMAPS_LET_GO	_IO('A', 52)

#endif /* AGATE_TESTS_KMAPS_H */
