/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lab 06: another driver, which exports memory of four pages as it is told to, and imports and
 * maps dma-bufs.  ioctl() on /sys/kernel/debug/agate_foreign.
 */
#ifndef AGATE_TESTS_FOREIGN_H
#define AGATE_TESTS_FOREIGN_H

#include <linux/ioctl.h>
#include <linux/types.h>

#define FOREIGN_PAGES	4

/* How the memory lies, or what is wrong with the table that an importer gets. */
enum foreign_kind {
	FOREIGN_SCATTERED,	/* an entry a page, and none begins where another one ends */
	FOREIGN_IN_ENTRIES,	/* an entry a page, and each begins where the one before ends */
	FOREIGN_UNEQUAL,	/* likewise, and the entries have 1, 2 and 1 pages */
	/*
	 * An entry a page, which an IOMMU has mapped as 3 pages and 1 page, which do not touch:
	 * nents is 2, orig_nents is 4, and the other two have no addresses.
	 */
	FOREIGN_MERGED,
	/* Its pages are consecutive, and an IOMMU has given them addresses the other way round. */
	FOREIGN_REVERSED,
	FOREIGN_PAIR,		/* an entry a page; only the last ones touch, the first is away */
	/* An entry a page, one run by its addresses, which begin below 4 GiB and end above. */
	FOREIGN_HIGH,
	FOREIGN_ODD_START,	/* the last entry begins and ends inside pages */
	FOREIGN_ODD_END,	/* the last entry is longer than whole pages */
	FOREIGN_SHORT,		/* the last entry is missing */
	FOREIGN_SHORT_END,	/* two entries, of 2 pages and of 1, where both should have 2 */
	FOREIGN_LONG,		/* the dma-buf ends before the last entry begins */
	FOREIGN_LONG_ODD,	/* likewise, and the last entry is longer than whole pages */
	FOREIGN_LONG_GAP,	/* likewise, and only the last entry does not touch the others */
	/* The dma-buf has four pages, and the table four entries of 1 GiB: 0 in 32 bits. */
	FOREIGN_VAST,
	FOREIGN_HUGE,		/* the table and the dma-buf are as long as no BO */
	FOREIGN_REFUSES,	/* no importer attaches: -EXDEV */
};

#define FOREIGN_NO_MMAP	1u	/* its mmap() gives -ENXIO */
#define FOREIGN_NO_VMAP	2u	/* it has no vmap(), so dma_buf_vmap() gives -EINVAL */
#define FOREIGN_READ	4u	/* the file of the dma-buf is for reading only */

struct foreign_make {
	__u32 kind;
	__u32 flags;
	__s32 fd;		/* out */
	__u32 pad;
};

/* What importers did to the newest of these dma-bufs. */
struct foreign_seen {
	__u32 attached;		/* calls */
	__u32 detached;
	__u32 mapped;
	__u32 unmapped;
	__u32 vmapped;
	__u32 vunmapped;
	__u32 mmapped;
	__u32 wrong;		/* unmapped in another direction, twice, or not at all */
	__u32 late;		/* calls after the importer had put the dma-buf */
	__u32 unlocked;		/* calls without the reservation that they need */
	__u32 unguarded;	/* calls of unmap and detach by a task without prime.lock */
	__u32 vma_used;		/* mmap() found vm_ops or vm_private_data of somebody else */
	__u32 alive;		/* the dma-buf is there */
};

/* Import a dma-buf as another driver: attach, map, map to and from the kernel, undo it. */
struct foreign_import {
	__s32 fd;
	__s32 attach;		/* result of attaching to it: 0 or a negative errno, and no more */
	__s32 none;		/* result of mapping in the direction DMA_NONE */
	__s32 result;		/* of mapping it: 0 or a negative errno */
	__u32 same;		/* the second mapping was the first one */
	__u32 entries;
	__u32 other_device;	/* entries longer than this device takes */
	__s32 vmap;		/* result of mapping it for the kernel */
	__u32 turned;		/* it was mapped in another direction than was asked for */
	__u32 pad;
	__u64 word;		/* the first one, as the kernel reads it */
};

/* The newest BO, also if it has no reference any more, all imports, and the device. */
struct foreign_look {
	__u64 size;		/* of the BO */
	__u32 dying;		/* no reference is left */
	__u32 own_resv;		/* the BO has its own reservation */
	__u32 listed;		/* there is an import on the device's list */
	__u32 bounced;		/* the BO's backing.bounced is its table */
	__u32 needs_sync;	/* what agate_sgt_needs_sync() says of that table */
	__u32 tables;		/* imported BOs whose import.sgt is not NULL */
	__u32 attachments;	/* imported BOs whose base.import_attach is not NULL */
	__s32 device_refs;	/* references to the drm_device, but those of open files */
	__u32 unlocked;		/* since FOREIGN_WATCH: changes of the list without prime.lock */
	__u32 tables_bounced;	/* imported BOs whose backing.bounced is not NULL */
	__u32 own_resvs;	/* imported BOs that have their own reservation */
	__u32 pad;
};

#define FOREIGN_MAKE	_IOWR('A', 32, struct foreign_make)
#define FOREIGN_SEEN	_IOR('A', 33, struct foreign_seen)
#define FOREIGN_IMPORT	_IOWR('A', 34, struct foreign_import)
#define FOREIGN_LOOK	_IOR('A', 36, struct foreign_look)
#define FOREIGN_PRIVATE	_IO('A', 35)	/* 1: the newest BO's ttm.root is set; 0: it is not */
#define FOREIGN_WATCH	_IO('A', 37)	/* 1: watch the list of imports; 0: not any more */
/* A dma-buf's fd: the result is a file to read and write whose mmap() calls dma_buf_mmap(). */
#define FOREIGN_MAPPER	_IO('A', 38)

#endif /* AGATE_TESTS_FOREIGN_H */
