/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where a BO's memory comes from: its backing, which is chosen when the BO is made, and
 * never changes.
 *
 * Each kind of backing is one table of operations in one file; agate_backing_kinds.c lists
 * them.  The address spaces, SUBMIT, the shrinker, CPU mappings, debugfs and fdinfo know
 * this file only, and no kind.
 *
 * A backing gives the GPU *runs*: ranges of GPU-physical addresses.  For system memory
 * these are DMA addresses.
 */
#ifndef AGATE_BACKING_H
#define AGATE_BACKING_H

#include <linux/atomic.h>
#include <linux/bits.h>
#include <linux/dma-direction.h>
#include <linux/iosys-map.h>
#include <linux/mm_types.h>
#include <linux/mutex.h>
#include <linux/scatterlist.h>
#include <linux/sizes.h>
#include <linux/spinlock.h>

#include "agate_runs.h"

struct agate_bo;
struct agate_device;
struct agate_exec;
struct device;
struct drm_gem_object;
struct file;
struct mem_cgroup;

/* Processes may map the BO: fault(), and mmap() if it fills in the table; FOREIGN: mmap() only. */
#define AGATE_BACKING_CPU_VISIBLE	BIT(0)
/* The shrinker may take the memory of a BO that nobody needs: purge(). */
#define AGATE_BACKING_PURGEABLE		BIT(1)
/* Other drivers may use the BO: pin(), unpin() and get_sg_table(). */
#define AGATE_BACKING_EXPORTABLE	BIT(2)
/* Memory comes when the GPU faults, one chunk at a time: reserve() before that. */
#define AGATE_BACKING_GROWS		BIT(3)
/* All memory is there from the beginning to the end: create(). */
#define AGATE_BACKING_EARLY		BIT(4)
/* The memory is another driver's, and so is a VMA after mmap(). */
#define AGATE_BACKING_FOREIGN		BIT(5)

#define AGATE_HEAP_CHUNK	SZ_2M

/**
 * struct agate_backing_ops - a kind of backing
 * @flags: AGATE_BACKING_*; only what they name needs the operations that they name
 * @create: takes the memory of a new BO, which nobody else knows, and of which only the GEM
 *	object is initialised.  0; -ENOMEM
 * @validate: is NULL, or brings a BO whose memory moves to where the GPU may use it.  The caller
 *	holds its reservation in @exec, and others may be locked there.  0; -EDEADLK for
 *	agate_exec_retry(); -ENOSPC; -ENOMEM; -EINTR or -ERESTARTSYS
 * @populate: makes a part of the BO present for the GPU, and gives its runs.  The part is
 *	some of its pages, or one chunk if the BO GROWS.  The memory stays where it is while
 *	the BO counts a job in gpu_users and the caller is between drm_dev_enter() and
 *	drm_dev_exit().  If the BO GROWS this is on a fence's way to its signal: it waits for no
 *	memory, nor for a mutex.  0; -ENOMEM; -EFAULT when purged; -EINVAL for what is no part;
 *	-ENODEV when the device is unplugged
 * @reserve: GROWS only: takes memory, so that a later @populate of one more chunk cannot
 *	fail because there is none.  The BO counts a job in gpu_users.  0; -ENOMEM; -EFAULT when
 *	purged; -ENODEV
 * @open: counts one more VMA that maps the BO, or is NULL
 * @close: undoes one @open
 * @fault: a CPU has touched the page with that index, counted from the BO's start, where
 *	a VMA maps it: insert it.  Pages behind it that are present may be inserted, too, up to
 *	the end of the VMA.  What vmf_insert_pfn() returns for the page that was touched, or
 *	VM_FAULT_SIGBUS
 * @access: is NULL, or copies bytes of the BO from or to @buf for a debugger that looks at a
 *	process's memory.  The caller holds that process's mmap_lock.  How many bytes, which may
 *	be less than it was asked for; -EINTR or -ERESTARTSYS; -EIO; -ENOMEM; -ENODEV when the
 *	memory is the device's, which is unplugged
 * @mmap: is NULL, or fills in the whole page table of a new VMA, which may begin inside the
 *	BO and is allowed.  0, or the error of mmap().  There may be faults all the same: the
 *	core empties the page tables when the device is unplugged.  If the backing is
 *	FOREIGN, it leaves the VMA, and not the caller's reference to the BO, to another
 *	driver
 * @pin: makes the whole BO present and keeps it where it is.  0; -ENOMEM; -EFAULT when purged;
 *	another error of a BO that has to move for it
 * @unpin: undoes one @pin
 * @get_sg_table: the pages of a pinned BO, not mapped for DMA, in entries of at most
 *	max_segment bytes, which is whole pages; the caller frees the table.  An ERR_PTR when
 *	it fails
 * @vmap: maps the BO into the kernel's address space, and keeps it where it is, or is NULL.
 *	0; -ENOMEM; -EFAULT when purged; another error of a BO that has to move for it
 * @vunmap: undoes one @vmap
 * @purge: gives back all memory of a BO that nobody uses, and with it the contents, present or
 *	in its file; the caller holds backing.lock
 * @detach: undoes all DMA mappings, because the device goes; what the CPUs see stays
 * @release: gives everything back, because the BO dies.  The BO is still in gem.bos, so
 *	@detach may come before and after
 *
 * All may sleep except as said, and @purge runs in reclaim.  The caller holds none of the
 * locks from backing.lock on, except that of @purge; they may take backing.lock.
 */
struct agate_backing_ops {
	u32 flags;
	int (*create)(struct agate_bo *bo);
	int (*validate)(struct agate_bo *bo, struct agate_exec *exec);
	int (*populate)(struct agate_bo *bo, u64 offset, u64 size, struct agate_runs *runs);
	int (*reserve)(struct agate_bo *bo);
	void (*open)(struct agate_bo *bo);
	void (*close)(struct agate_bo *bo);
	vm_fault_t (*fault)(struct agate_bo *bo, struct vm_fault *vmf, unsigned long index);
	int (*access)(struct agate_bo *bo, u64 offset, void *buf, int len, bool write);
	int (*mmap)(struct agate_bo *bo, struct vm_area_struct *vma);
	int (*pin)(struct agate_bo *bo);
	void (*unpin)(struct agate_bo *bo);
	struct sg_table *(*get_sg_table)(struct agate_bo *bo, unsigned int max_segment);
	int (*vmap)(struct agate_bo *bo, struct iosys_map *map);
	void (*vunmap)(struct agate_bo *bo, struct iosys_map *map);
	void (*purge)(struct agate_bo *bo);
	void (*detach)(struct agate_bo *bo);
	void (*release)(struct agate_bo *bo);
};

/**
 * struct agate_backing - the part that all kinds share
 * @ops: the kind
 * @lock: protects all of this, bo->madv, and what the kind keeps; taken after dma_resv.
 *	Memory is allocated under it, so nobody on a fence's way to its signal takes it.
 *	Reclaim never waits for it: the shrinker only tries it.
 *	agate_backing_init() initialises it, and topic "gem" destroys it when it frees the BO
 * @fault_lock: protects what a kind that GROWS keeps for the thread that serves faults, and
 *	its @nr_pages; innermost
 * @nr_pages: present pages; may be read without the lock
 * @pins: users that stand on no list, and rely on the memory: a dma-buf, other drivers that
 *	have imported the BO, and mappings of the kernel.  While there are any, the BO is not
 *	purged
 * @sgt: the BO's pages, mapped for DMA, if they are the driver's own, or NULL; stays, and is
 *	read, as @bounced
 * @bounced: the CPUs and the GPU see different memory, and this table syncs them at the
 *	edges of jobs; NULL where they see the same.  It stays while the BO counts a job in
 *	gpu_users, and may then be read without the lock
 * @owners: jobs that own the BO; see agate_hand_over.h
 * @memcg: memory cgroup of the task that made the BO, with a reference, or NULL: a
 *	thread of the kernel that takes memory for the BO charges it there, and
 *	agate_backing_file() does, whoever calls it
 * @gfp_mask: how the pages of its shmem file will be allocated; 0: as shmem does
 */
struct agate_backing {
	const struct agate_backing_ops *ops;
	struct mutex lock;	/* all of this, and bo->madv */
	spinlock_t fault_lock;	/* memory that has come by faults */
	unsigned long nr_pages;
	unsigned int pins;
	struct sg_table *sgt;
	struct sg_table *bounced;
	atomic_t owners;
	struct mem_cgroup *memcg;
	gfp_t gfp_mask;
};

/**
 * agate_backing_choose - choose a kind of backing (agate_backing_kinds.c)
 * @flags: AGATE_BO_* bits of a new BO
 */
const struct agate_backing_ops *agate_backing_choose(u32 flags);

/**
 * agate_backing_check_flags - may a client ask for this kind of backing?
 * @adev: the device
 * @flags: AGATE_BO_* bits, known or unknown
 *
 * Return: 0; -EINVAL for flags that exclude each other, and for those that are the driver's
 * own; -EOPNOTSUPP if the topic that provides the kind is absent.
 */
int agate_backing_check_flags(const struct agate_device *adev, u32 flags);

/**
 * agate_backing_object_init - initialise the GEM object of a new BO for its backing
 * @adev: the device
 * @bo: its base.funcs are set
 * @size: bytes, whole pages
 * @flags: AGATE_BO_* bits
 *
 * Calls drm_gem_private_object_init(): a BO has no shmem file before it needs a page.  Then takes
 * the memory of an EARLY backing, which agate_backing_release() gives back.  So a caller for which
 * this has succeeded calls agate_backing_init() before any other step that can fail.
 *
 * Return: 0; -ENOMEM, or another error of an EARLY backing.  drm_gem_object_release() has to be
 * called in all cases.
 */
int agate_backing_object_init(struct agate_device *adev, struct agate_bo *bo, size_t size,
			      u32 flags);

/**
 * agate_backing_set_gfp_mask - say how the pages of a BO's shmem file will be allocated
 * @bo: its GEM object is initialised, and nobody else knows it; it need not have a file yet, and
 *	some kinds never have one
 * @mask: GFP_*
 */
void agate_backing_set_gfp_mask(struct agate_bo *bo, gfp_t mask);

/**
 * agate_backing_init - prepare the backing of a new BO; takes no memory
 * @bo: its GEM object is initialised
 * @flags: AGATE_BO_* bits
 *
 * Initialises the locks of @bo->backing, and takes a reference to the memory cgroup of the
 * task, which agate_backing_release() puts: a BO that is given up after this call needs
 * that one, too.
 * The rest relies on the BO's memory being zero.
 */
void agate_backing_init(struct agate_bo *bo, u32 flags);

/**
 * agate_backing_file - the shmem file of a BO whose kind of backing takes pages from one
 * @bo: the caller holds its backing.lock
 *
 * The first call makes the file, and from then on it is bo->base.filp, until
 * drm_gem_object_release() puts it.  Many BOs die before anybody touches them, and a file is most
 * of what a BO costs: drm_gem_object_init() makes it at once, and TTM makes one only to swap.
 *
 * The file, not its pages, is charged to the cgroup of the task that made the BO, as if CREATE_BO
 * had made it.  If that cgroup is full the call fails, whoever makes it.
 *
 * Context: may sleep, and allocates, so nobody on a fence's way to its signal calls it.
 * Return: the file; ERR_PTR(-ENOMEM), also if the system has no room for one more open file.
 */
struct file *agate_backing_file(struct agate_bo *bo);

/**
 * agate_backing_release - give everything back when the BO dies
 * @bo: no VMA, no importer and no mapping of the kernel uses it.  A BO that was listed is
 *	still in gem.bos, so removal may visit it before and after this call; therefore
 *	backing.lock stays usable, and the caller destroys it
 *
 * Context: may sleep, and takes prime.lock and a reservation for a BO that was imported: the
 * caller does not hold gem.lock, which is inside of both.
 */
void agate_backing_release(struct agate_bo *bo);

/**
 * agate_backing_detach_all - undo the DMA mappings of all BOs
 * @adev: the device, which is unplugged: no new mapping can appear.  Topic "gem" has been
 *	present
 *
 * BOs of files that are still open live on.
 */
void agate_backing_detach_all(struct agate_device *adev);

/** agate_backing_is - does the BO's backing have all of these AGATE_BACKING_* flags? */
bool agate_backing_is(const struct agate_bo *bo, u32 flags);

/**
 * agate_backing_account - count pages that have become present, or are gone
 * @bo: the lock is held under which its kind of backing counts: backing.lock, or fault_lock
 *	if it GROWS
 * @n: how many more there are
 */
void agate_backing_account(struct agate_bo *bo, long n);

/**
 * agate_backing_open - a VMA maps the BO
 * @bo: CPU_VISIBLE
 */
void agate_backing_open(struct agate_bo *bo);

/** agate_backing_close - undo one agate_backing_open() */
void agate_backing_close(struct agate_bo *bo);

/**
 * agate_backing_access - vm_operations_struct.access: a debugger looks at a process's memory
 * @vma: maps a BO
 * @addr: where in the VMA
 * @buf: memory of the kernel
 * @len: bytes, which may be more than there are behind @addr
 * @write: from @buf
 *
 * A debugger writes no more than the process could: upstream, ttm_bo_vm_access() leaves that to
 * its caller, which does not look.
 *
 * Context: the mmap_lock of the VMA's process is held.
 * Return: how many bytes were copied; -EACCES for a write where the VMA allows none; -EIO for a
 * backing that has no access(); else its error.
 */
int agate_backing_access(struct vm_area_struct *vma, unsigned long addr, void *buf, int len,
			 int write);

/** agate_backing_resident - bytes that are present */
size_t agate_backing_resident(const struct agate_bo *bo);

/**
 * agate_backing_reserve - take memory for faults to come: see agate_backing_ops.reserve
 * @bo: GROWS, and counts a job in gpu_users
 *
 * Context: may sleep; takes backing.lock.
 */
int agate_backing_reserve(struct agate_bo *bo);

/**
 * agate_backing_validate - bring a BO to where the GPU may use it: see agate_backing_ops
 * @bo: the BO
 * @exec: holds its reservation
 */
int agate_backing_validate(struct agate_bo *bo, struct agate_exec *exec);

/**
 * agate_backing_populate - make a part of a BO present: see agate_backing_ops.populate
 * @bo: the BO
 * @offset: bytes
 * @size: bytes
 * @runs: out
 */
int agate_backing_populate(struct agate_bo *bo, u64 offset, u64 size, struct agate_runs *runs);

/**
 * agate_backing_hold - keep a BO's contents: it is not purged from here on
 * @bo: the BO
 *
 * Context: may sleep; takes backing.lock.
 * Return: 0; -EFAULT when purged.
 */
int agate_backing_hold(struct agate_bo *bo);

/** agate_backing_let_go - undo one agate_backing_hold() */
void agate_backing_let_go(struct agate_bo *bo);

/**
 * agate_backing_pin - drm_gem_object_funcs.pin: another driver attaches to the BO
 * @obj: the BO
 *
 * Context: may sleep; takes backing.lock.
 * Return: 0; -ENOMEM; -EFAULT when purged; -EOPNOTSUPP for a backing that is not
 * EXPORTABLE.
 */
int agate_backing_pin(struct drm_gem_object *obj);

/**
 * agate_backing_unpin - drm_gem_object_funcs.unpin: undo one agate_backing_pin()
 * @obj: the BO
 */
void agate_backing_unpin(struct drm_gem_object *obj);

/**
 * agate_backing_get_sg_table - drm_gem_object_funcs.get_sg_table: the pages of a BO
 * @obj: the BO; the caller has pinned it
 *
 * Return: a table that is not mapped for DMA, which the caller frees; or an ERR_PTR.
 */
struct sg_table *agate_backing_get_sg_table(struct drm_gem_object *obj);

/**
 * agate_backing_map_for - map the pages of a BO for another device
 * @bo: the BO; the caller has pinned it
 * @dev: that device, whose limits the entries of the table keep to
 * @dir: direction
 *
 * Whoever uses the mapping syncs it.
 *
 * Return: the table, which drm_gem_unmap_dma_buf() unmaps and frees; or an ERR_PTR.
 */
struct sg_table *agate_backing_map_for(struct agate_bo *bo, struct device *dev,
				       enum dma_data_direction dir);

/**
 * agate_backing_vmap - map the BO into the kernel's address space; this pins it
 * @bo: the BO
 * @map: out
 *
 * Context: may sleep; takes backing.lock.
 * Return: 0; -ENOMEM; -EFAULT when purged; -EOPNOTSUPP for a backing that cannot; another error
 * of a BO that has to move for it.
 */
int agate_backing_vmap(struct agate_bo *bo, struct iosys_map *map);

/**
 * agate_backing_vunmap - undo one agate_backing_vmap()
 * @bo: the BO
 * @map: what that call returned
 */
void agate_backing_vunmap(struct agate_bo *bo, struct iosys_map *map);

/**
 * agate_backing_purge_locked - give the memory of an unused BO back to the system
 * @bo: PURGEABLE; the caller holds its backing.lock; no page-table entry of a CPU or the
 *	GPU leads to the memory, and nobody has pinned it
 *
 * From here on bo->madv is -1: the BO's contents are lost for good.  A BO that has never had a
 * page has nothing to give back, and its backing hears nothing.
 *
 * Return: the number of pages given back.
 */
unsigned long agate_backing_purge_locked(struct agate_bo *bo);

#endif /* AGATE_BACKING_H */
