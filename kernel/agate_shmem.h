/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "shmem" (lab 04): a BO's pages, taken from shmem when first needed.
 *
 * Three kinds of user hold the pages, each counted: CPU mappings take and drop
 * a reference with every VMA, GPU use takes the sg table once for the BO's
 * life, kernel mappings count for themselves.  A heap BO has no pages of its
 * own at first: they come 2 MiB at a time, when the GPU faults.
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
 *	Reclaim never waits for it: the shrinker only tries
 * @pages: one pointer a page, NULL array while nothing is there; in a heap BO
 *	NULL entries are pages not yet grown
 * @pages_use: users of @pages: VMAs, the sg table, the kernel map
 * @sgt: the whole BO mapped for DMA, or NULL (always NULL in a heap BO)
 * @chunks: heap BO: one sg table for each 2 MiB, NULL where not grown
 * @vaddr: kernel mapping, or NULL
 * @vmap_use: users of @vaddr
 */
struct agate_shmem {
	struct mutex lock;
	struct page **pages;
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
 */
void agate_shmem_init(struct agate_bo *bo);

/**
 * agate_shmem_release - give everything back when the BO dies
 * @bo: no user of its pages but the sg table is left
 *
 * Context: may sleep.
 */
void agate_shmem_release(struct agate_bo *bo);

/**
 * agate_shmem_get_pages - make the pages present and hold them
 * @bo: not a heap BO
 *
 * Context: may sleep; takes shmem.lock.
 * Return: 0; -ENOMEM; -EFAULT when the BO was purged.
 */
int agate_shmem_get_pages(struct agate_bo *bo);

/**
 * agate_shmem_put_pages - undo one agate_shmem_get_pages()
 * @bo: the BO
 */
void agate_shmem_put_pages(struct agate_bo *bo);

/**
 * agate_shmem_get_sgt - the BO's pages as the GPU addresses them
 * @bo: not a heap BO
 *
 * Made once, kept until the BO dies or is purged.
 *
 * Context: may sleep; takes shmem.lock.
 * Return: the table, owned by the BO; -ENOMEM; -EFAULT when purged.
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
 * Return: the chunk's table, owned by the BO; -EINVAL beyond the BO; -ENOMEM.
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
 * @bo: shmem.lock is held; no VMA has faulted pages in and no GPU mapping is live
 *
 * Return: the number of pages given back.
 */
unsigned long agate_shmem_purge_locked(struct agate_bo *bo);

#endif /* AGATE_SHMEM_H */
