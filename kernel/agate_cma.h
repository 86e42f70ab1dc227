/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "cma" (lab 03): BOs in one piece, for hardware that cannot gather pages.
 *
 * The DMA API takes the memory, from the kernel's area for contiguous memory (CMA) or,
 * when that is full, from the page allocator, which has pieces of up to 4 MiB.  A BO has all
 * of its memory from CREATE_BO until it dies: it is zeroed, one run, never moves and is never
 * purged.  The CPUs and the GPU always see the same bytes, so nobody syncs them.  The DMA
 * API is asked for a write-combining mapping; where DMA is coherent, as on a PC, it gives
 * a cached one.
 *
 * A CPU's page table is complete when mmap() returns, and no page fault follows, unless the
 * device is unplugged: then the core empties the page tables.
 *
 * The memory belongs to adev->mem_dev (agate_mem_dev.h), so it may outlive the driver's
 * hold of the GPU.
 */
#ifndef AGATE_CMA_H
#define AGATE_CMA_H

#include <linux/scatterlist.h>
#include <linux/types.h>

#include "agate_backing.h"

struct agate_device;

/**
 * struct agate_cma - what this backing keeps of one BO; never changes while the BO lives
 * @vaddr: where the kernel sees the memory
 * @addr: the first bus address
 * @sgt: the memory, one entry, not mapped for DMA; empty if create() keeps no table
 */
struct agate_cma {
	void *vaddr;
	dma_addr_t addr;
	struct sg_table sgt;
};

/**
 * agate_cma_topic_init - make adev->mem_dev
 * @adev: the device
 *
 * Return: 0, or the error of agate_mem_dev_init().
 */
int agate_cma_topic_init(struct agate_device *adev);
void agate_cma_topic_fini(struct agate_device *adev);

/*
 * AGATE_BO_CONTIGUOUS.  A client that asks for too much gets -ENOMEM: neither a warning
 * appears in the log, nor does the OOM killer run.
 */
extern const struct agate_backing_ops agate_cma_backing;

#endif /* AGATE_CMA_H */
