/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "shmem" (lab 04): a BO's pages, taken from shmem when first needed.
 *
 * Three kinds of user hold the pages, each counted: CPU mappings count every
 * VMA, GPU use takes the sg table once for the BO's life, kernel mappings count
 * for themselves.  A VMA brings pages in one at a time, as they are touched; the
 * GPU and the kernel need them all.  A heap BO's pages come 2 MiB at a time, when
 * the GPU faults.  With the last user the pages go back to the shmem file, which
 * keeps what is in them.
 */
#ifndef AGATE_SHMEM_H
#define AGATE_SHMEM_H

#include <linux/iosys-map.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/sizes.h>

struct agate_bo;
struct agate_device;

#define AGATE_HEAP_CHUNK	SZ_2M

/**
 * struct agate_shmem - backing state of one BO
 * @lock: protects all of this; taken after dma_resv, before the vm's lock.
 *	Reclaim never waits for it: the shrinker only tries.  Initialised by
 *	agate_shmem_init(), destroyed by topic "gem" when it frees the BO
 * @pages: one pointer a page, NULL where the page is not there; a NULL array
 *	while none is
 * @nr_pages: pages that are there; may be read without the lock
 * @pages_use: users of @pages: VMAs, the sg table, chunks, the kernel map
 * @sgt: the whole BO mapped for DMA, or NULL (always NULL in a heap BO)
 * @chunks: heap BO: one sg table for each 2 MiB, NULL where not grown
 * @vaddr: kernel mapping, or NULL
 * @vmap_use: users of @vaddr
 */
struct agate_shmem {
	struct mutex lock;	/* all of this */
	struct page **pages;
	unsigned long nr_pages;
	unsigned int pages_use;
	struct sg_table *sgt;
	struct sg_table **chunks;
	void *vaddr;
	unsigned int vmap_use;
};

int agate_shmem_topic_init(struct agate_device *adev);
void agate_shmem_topic_fini(struct agate_device *adev);

/**
 * agate_shmem_init - prepare the backing of a new BO; takes no page
 * @bo: its GEM object is initialised with a shmem file
 *
 * Initialises shmem.lock.  The rest relies on the BO's memory being zero.
 */
void agate_shmem_init(struct agate_bo *bo);

/**
 * agate_shmem_release - give everything back when the BO dies
 * @bo: no user of its pages but the sg table is left; still in gem.bos, so
 *	agate_shmem_topic_fini() may look at it before and after, and shmem.lock
 *	stays usable: to destroy it is left to the caller
 *
 * Context: may sleep.
 */
void agate_shmem_release(struct agate_bo *bo);

/**
 * agate_shmem_hold - count a VMA as user of the pages; takes no page
 * @bo: not a heap BO
 *
 * Context: may sleep; takes shmem.lock.
 */
void agate_shmem_hold(struct agate_bo *bo);

/**
 * agate_shmem_unhold - undo one agate_shmem_hold()
 * @bo: the BO
 */
void agate_shmem_unhold(struct agate_bo *bo);

/**
 * agate_shmem_page_locked - one page, made present if it is not
 * @bo: shmem.lock is held, and the caller counts as a user of the pages
 * @index: number of the page in the BO
 *
 * Context: may sleep.
 * Return: the page; -EFAULT when the BO was purged or ends before the page;
 * -ENOMEM.
 */
struct page *agate_shmem_page_locked(struct agate_bo *bo, unsigned long index);

/**
 * agate_shmem_get_sgt - the BO's pages as the GPU addresses them
 * @bo: not a heap BO
 *
 * Made once, kept until the BO dies or is purged.
 *
 * Context: may sleep; takes shmem.lock.
 * Return: the table, owned by the BO; it stays while the BO counts a job in
 * gpu_users and the caller is between drm_dev_enter() and drm_dev_exit().
 * -ENOMEM; -EFAULT when purged; -ENODEV when the device is unplugged.
 */
struct sg_table *agate_shmem_get_sgt(struct agate_bo *bo);

/**
 * agate_shmem_grow - make one chunk of a heap BO present
 * @bo: a heap BO
 * @chunk: index of the chunk, bytes / AGATE_HEAP_CHUNK
 *
 * A second call for the same chunk returns the same table, and a call that
 * failed leaves nothing behind, so that the next one starts afresh.  The last
 * chunk of a BO may be shorter than AGATE_HEAP_CHUNK.
 *
 * Context: may sleep; takes shmem.lock.
 * Return: the chunk's table, owned by the BO; it stays while the caller counts
 * in gpu_users and is between drm_dev_enter() and drm_dev_exit().  -EINVAL
 * beyond the BO; -ENOMEM; -EFAULT when purged; -ENODEV when the device is
 * unplugged.
 */
struct sg_table *agate_shmem_grow(struct agate_bo *bo, unsigned int chunk);

/**
 * agate_shmem_vmap - map the BO into the kernel's address space
 * @bo: not a heap BO
 * @map: out
 *
 * Context: may sleep; takes shmem.lock.
 * Return: 0; -ENOMEM; -EFAULT when purged.
 */
int agate_shmem_vmap(struct agate_bo *bo, struct iosys_map *map);

/**
 * agate_shmem_vunmap - undo one agate_shmem_vmap()
 * @bo: the BO
 */
void agate_shmem_vunmap(struct agate_bo *bo);

/**
 * agate_shmem_purge_locked - give the pages of an unused BO back to the system
 * @bo: shmem.lock is held; no page-table entry of a CPU or the GPU leads to the
 *	pages, and the kernel has not mapped them
 *
 * From here on bo->madv is -1: what was in the BO is gone for good.
 *
 * Return: the number of pages given back.
 */
unsigned long agate_shmem_purge_locked(struct agate_bo *bo);

#endif /* AGATE_SHMEM_H */
