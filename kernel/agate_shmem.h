/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "shmem" (lab 04): a BO's pages, taken from shmem when first needed.
 *
 * Four kinds of users hold the pages, and pages_use counts them all: every VMA and
 * every importer counts once, the sg table counts once while it is there, and the
 * kernel mapping counts once.  A VMA takes pages one at a time, when a CPU touches
 * them; all others need all pages at once.  When the last user has gone, the pages
 * return to the shmem file, which keeps their contents.
 *
 * The topic makes the backing (agate_backing.h) of all BOs that ask for no other one.
 */
#ifndef AGATE_SHMEM_H
#define AGATE_SHMEM_H

#include <linux/scatterlist.h>

#include "agate_backing.h"

struct agate_device;

/**
 * struct agate_shmem - what this backing keeps of one BO; all under backing.lock
 * @pages: one pointer for each page, NULL where the page is not present; the array may
 *	be NULL while no page is present
 * @pages_use: users of @pages: VMAs, importers, the sg table, the kernel map
 * @sgt: the whole BO mapped for DMA, or NULL
 * @vaddr: kernel mapping, or NULL
 * @vmap_use: users of @vaddr
 */
struct agate_shmem {
	struct page **pages;
	unsigned int pages_use;
	struct sg_table *sgt;
	void *vaddr;
	unsigned int vmap_use;
};

int agate_shmem_topic_init(struct agate_device *adev);
void agate_shmem_topic_fini(struct agate_device *adev);

/*
 * All pages come at the first use by the GPU, and stay until the BO dies or is purged, or the
 * device goes: the first populate() makes the sg table, whatever part it is asked for.
 */
extern const struct agate_backing_ops agate_shmem_backing;

#endif /* AGATE_SHMEM_H */
