/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lab 05: what no client sees of a VMA, and what no client can do.
 * ioctl() on /sys/kernel/debug/agate_mapped.
 */
#ifndef AGATE_TESTS_MAPPED_H
#define AGATE_TESTS_MAPPED_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* The kernel's function that fills in a page table, for the backing. */
enum mapped_by {
	MAPPED_BY_DMA,		/* dma_mmap_attrs(): a contiguous BO */
	MAPPED_BY_DMABUF,	/* dma_buf_mmap(): memory of another driver */
};

struct mapped_vma {
	__u64 address;		/* in: where the caller has the VMA */
	/* vm_page_prot has caching of its own, and not that of vm_get_page_prot(vm_flags). */
	__u32 own_caching;
	/* Since MAPPED_WATCH, by this process. */
	__u32 filled;		/* calls of the function that succeeded */
	__u32 wrong;		/* calls where vm_page_prot was not vm_get_page_prot(vm_flags) */
	__u32 pfnmap;		/* calls for a VMA that had VM_PFNMAP */
};

/*
 * The range of the newest BO on the device's file, in bytes; it is made if there is none,
 * whatever BO it is.
 */
#define MAPPED_RANGE	_IOR('A', 48, __u64)
#define MAPPED_LOOK	_IOWR('A', 49, struct mapped_vma)
/*
 * Until the file is closed: enum mapped_by, which sets other caching in the VMA's vm_page_prot
 * when it has filled in the table, as a driver may.
 */
#define MAPPED_WATCH	_IO('A', 50)

#endif /* AGATE_TESTS_MAPPED_H */
