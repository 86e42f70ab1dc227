/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "shmem" (lab 04): a BO's pages, taken from shmem when first needed.
 *
 * Three kinds of users hold the pages, and pages_use counts them all: every VMA
 * counts once, the sg table counts once for the BO's life, and the kernel mapping
 * counts once.  A VMA gets pages one at a time, when a CPU touches them; the GPU
 * and the kernel need all pages at once.  A heap BO gets 2 MiB of pages at a time,
 * when the GPU faults.  When the last user has gone, the pages return to the shmem
 * file, which keeps their contents.
 */
#ifndef AGATE_SHMEM_H
#define AGATE_SHMEM_H

#include <linux/atomic.h>
#include <linux/iosys-map.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/sizes.h>

struct agate_bo;
struct agate_device;
struct mem_cgroup;

#define AGATE_HEAP_CHUNK	SZ_2M

/**
 * struct agate_shmem - backing state of one BO
 * @lock: protects all of this; taken after dma_resv, before the vm's lock.
 *	Reclaim never waits for it: the shrinker only tries it.  agate_shmem_init()
 *	initialises it, and topic "gem" destroys it when it frees the BO
 * @pages: one pointer for each page, NULL where the page is not present; the array
 *	is NULL while no page is present
 * @nr_pages: number of present pages; may be read without the lock
 * @pages_use: users of @pages: VMAs, the sg table, chunks, the kernel map
 * @sgt: the whole BO mapped for DMA, or NULL (always NULL in a heap BO)
 * @needs_sync: agate_sgt_needs_sync() of @sgt; false without one
 * @owners: jobs that own the BO; see agate_coherency.h
 * @chunks: heap BO: one sg table for each 2 MiB, NULL where the heap has not grown
 * @vaddr: kernel mapping, or NULL
 * @vmap_use: users of @vaddr
 * @memcg: memory cgroup of the task that made the BO, with a reference, or NULL: a
 *	thread of the kernel that takes memory for the BO charges it there
 */
struct agate_shmem {
	struct mutex lock;	/* all of this */
	struct page **pages;
	unsigned long nr_pages;
	unsigned int pages_use;
	struct sg_table *sgt;
	bool needs_sync;
	atomic_t owners;
	struct sg_table **chunks;
	void *vaddr;
	unsigned int vmap_use;
	struct mem_cgroup *memcg;
};

int agate_shmem_topic_init(struct agate_device *adev);
void agate_shmem_topic_fini(struct agate_device *adev);

/**
 * agate_shmem_init - prepare the backing of a new BO; takes no page
 * @bo: its GEM object is initialised with a shmem file
 *
 * Initialises shmem.lock, and takes a reference to the memory cgroup of the task, which
 * agate_shmem_release() puts: a BO that is given up after this call needs that one, too.  The
 * rest relies on the BO's memory being zero.
 */
void agate_shmem_init(struct agate_bo *bo);

/**
 * agate_shmem_release - give everything back when the BO dies
 * @bo: only its sg table still uses the pages.  A BO that was listed is still in gem.bos, so
 *	agate_shmem_topic_fini() may visit it before and after this call; therefore
 *	shmem.lock stays usable, and the caller destroys it
 *
 * Context: may sleep.
 */
void agate_shmem_release(struct agate_bo *bo);

/**
 * agate_shmem_hold - count a VMA as a user of the pages; takes no page
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
 * agate_shmem_page_locked - get one page, and make it present if necessary
 * @bo: shmem.lock is held, and the caller counts as a user of the pages
 * @index: number of the page in the BO
 *
 * Context: may sleep.
 * Return: the page; -EFAULT when the BO was purged or ends before the page;
 * -ENOMEM.
 */
struct page *agate_shmem_page_locked(struct agate_bo *bo, unsigned long index);

/**
 * agate_shmem_get_sgt - get the sg table of all of the BO's pages, mapped for DMA
 * @bo: not a heap BO
 *
 * The first call makes the table; it stays until the BO dies or is purged.
 *
 * Context: may sleep; takes shmem.lock.
 * Return: the table, which the BO owns; it stays while the BO counts a job in
 * gpu_users and the caller is between drm_dev_enter() and drm_dev_exit(). -ENOMEM;
 * -EFAULT when purged; -ENODEV when the device is unplugged.
 */
struct sg_table *agate_shmem_get_sgt(struct agate_bo *bo);

/**
 * agate_shmem_grow - make one chunk of a heap BO present
 * @bo: a heap BO
 * @chunk: index of the chunk, bytes / AGATE_HEAP_CHUNK
 *
 * A second call for the same chunk returns the same table.  A call that fails
 * leaves nothing behind, so the next call starts from scratch.  The last chunk of a
 * BO may be shorter than AGATE_HEAP_CHUNK.
 *
 * Context: may sleep; takes shmem.lock.
 * Return: the chunk's table, which the BO owns; it stays while the caller counts in
 * gpu_users and is between drm_dev_enter() and drm_dev_exit().  -EINVAL beyond the
 * BO; -ENOMEM; -EFAULT when purged; -ENODEV when the device is unplugged.
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
 * @bo: the caller holds its shmem.lock; no page-table entry of a CPU or the GPU
 *	leads to the pages, and the kernel has not mapped them
 *
 * From here on bo->madv is -1: the BO's contents are lost for good.
 *
 * Return: the number of pages given back.
 */
unsigned long agate_shmem_purge_locked(struct agate_bo *bo);

#endif /* AGATE_SHMEM_H */
