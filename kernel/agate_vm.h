/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * GPU address spaces, and the BOs that own their ranges.
 *
 * Every file has an address space of its own, and may have others, whose ranges it chooses
 * (agate_vm_bind.h).  In its own:
 *
 * The driver reserves a range when a file gets its first handle to a BO, and
 * releases it when the file closes the last one.  The first submit that lists the
 * BO makes the page-table entries; in a heap, the GPU's faults do.  A job keeps the
 * mappings of the BOs that it lists, so closing a handle never takes memory away
 * from a job.
 */
#ifndef AGATE_VM_H
#define AGATE_VM_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/rwsem.h>
#include <drm/drm_mm.h>

#include "agate_bind.h"
#include "agate_mmu.h"
#include "agate_park.h"
#include "agate_table.h"

struct agate_bo;
struct agate_device;
struct mem_cgroup;

/* GPU addresses handed out: never 0, and all within 32 bits for 32-bit chains. */
#define AGATE_VA_START		SZ_32M
#define AGATE_VA_END		SZ_4G

/**
 * struct agate_vm - one GPU address space
 * @ref: the file and each job hold one
 * @adev: the device
 * @id: drm-client-id of its file, for debugfs
 * @lock: what is bound changes only while it is held for writing: records and mappings
 *	are made, ranges taken and given back.  Its holder may allocate memory, and wait for
 *	a reservation or a fence, so the GPU's fault thread never takes it
 * @pt_lock: protects the page table; innermost of the driver's mutexes.  The GPU's fault
 *	thread takes it, so nobody may wait for a job or for memory while holding it
 * @mm: ranges taken; under @lock
 * @as: page table and place in the hardware (topics "pgtable" and "mmu")
 * @parked: for when a pending reset keeps its table
 * @memcg: memory cgroup of the task that made it, with a reference, or NULL: it pays for what a
 *	worker allocates for the address space
 * @bound: what an address space has whose owner chooses the ranges
 * @rcu: the callback of a bind job's last dependency accesses @bound after the job has run
 */
struct agate_vm {
	struct kref ref;
	struct agate_device *adev;
	u64 id;
	struct rw_semaphore lock;	/* what is bound */
	struct mutex pt_lock;		/* page table */
	struct drm_mm mm;
	struct agate_as as;
	struct agate_parked parked;
	struct mem_cgroup *memcg;
	struct agate_bound bound;
	struct rcu_head rcu;
};

/** agate_vm_is_bound - does its owner choose the ranges? */
static inline bool agate_vm_is_bound(const struct agate_vm *vm)
{
	return vm->bound.root;
}

/**
 * struct agate_mapping - a part of a BO at a range of addresses
 * @ref: the handles of the file together hold one, and so does each job that lists the
 *	BO; not counted in an address space whose owner chooses the ranges
 * @vm_bo: whose BO and where, with a reference
 * @link: in vm_bo->mappings, under bo->mappings_lock
 * @node: the range, in vm->mm
 * @offset: its first byte in the BO
 * @size: bytes
 * @prot: what the GPU may do there, AGATE_PROT_*
 * @active: the page-table entries exist; under bo->mappings_lock
 * @tables: table pages for one more chunk of a BO that GROWS
 * @parked: for when a pending reset keeps its range
 * @step: in struct agate_va_steps while it is about to go
 * @bo: the BO, with a reference, once it has gone from the records, and has no @vm_bo
 *
 * A file's handles map the whole BO, once.
 */
struct agate_mapping {
	struct kref ref;
	struct agate_vm_bo *vm_bo;
	struct list_head link;
	struct drm_mm_node node;
	u64 offset;
	u64 size;
	u32 prot;
	bool active;
	struct agate_table_reserve tables;
	struct agate_parked parked;
	struct list_head step;
	struct agate_bo *bo;
};

/**
 * struct agate_vm_bo - one BO in one address space
 * @ref: each of @mappings holds one; the last one is put under bo->mappings_lock
 * @vm: the address space, with a reference if it is a file's own: others own the record
 * @bo: the BO, with a reference
 * @link: in bo->vm_bos; under bo->mappings_lock, as the rest
 * @mappings: struct agate_mapping
 * @handles: the number of the file's handles to the BO
 * @first: the first of @mappings, which is made with the record; later ones, which there are
 *	if a file opens the BO again while a job or the GPU still uses the first, are not here.
 *	Not used where the owner chooses the ranges, nor is @handles
 * @external: in bound.externals if the BO is not private; under vm->lock
 * @userptr: in bound.userptrs if it is memory of a process; under vm->lock
 * @evicted: in bound.evicted; under bound.evicted_lock
 */
struct agate_vm_bo {
	struct kref ref;
	struct agate_vm *vm;
	struct agate_bo *bo;
	struct list_head link;
	struct list_head mappings;
	unsigned int handles;
	struct agate_mapping first;
	struct list_head external;
	struct list_head userptr;
	struct list_head evicted;
};

/** agate_mapping_va - the first GPU address of the range */
static inline u64 agate_mapping_va(const struct agate_mapping *mapping)
{
	return mapping->node.start << PAGE_SHIFT;
}

/**
 * agate_vm_create - create an empty address space
 * @adev: the device
 *
 * Return: the address space with one reference, or an ERR_PTR.
 */
struct agate_vm *agate_vm_create(struct agate_device *adev);
struct agate_vm *agate_vm_get(struct agate_vm *vm);

/**
 * agate_vm_create_bound - the same, of an address space whose owner chooses the ranges
 * @adev: the device
 * @flags: AGATE_VM_*
 */
struct agate_vm *agate_vm_create_bound(struct agate_device *adev, u32 flags);

/**
 * agate_vm_bo_obtain - the record of a BO in an address space whose owner chooses the ranges
 * @vm: its lock is held for writing
 * @bo: the BO
 *
 * Return: the record with a reference, or an ERR_PTR: -ENOMEM; -ENOSPC when there are too many of
 * external BOs, or of memory of processes.
 */
struct agate_vm_bo *agate_vm_bo_obtain(struct agate_vm *vm, struct agate_bo *bo);

/**
 * agate_vm_bo_put - drop a reference to such a record
 * @vm_bo: the record
 *
 * Context: may sleep; no lock of the driver is held.
 */
void agate_vm_bo_put(struct agate_vm_bo *vm_bo);

/**
 * agate_vm_bo_leave - the same under the lock, and keep the BO
 * @vm_bo: the record; vm->lock is held for writing
 *
 * Return: the BO, with a reference.
 */
struct agate_bo *agate_vm_bo_leave(struct agate_vm_bo *vm_bo);

/** agate_bo_prot - what the GPU may do with a BO, AGATE_PROT_* */
u32 agate_bo_prot(const struct agate_bo *bo);

/**
 * agate_vm_put - drop a reference to an address space
 * @vm: the address space
 *
 * Context: may sleep; no lock of the driver is held.  Waits for a reset of the GPU that is under
 * way, and not for one that is to come.
 */
void agate_vm_put(struct agate_vm *vm);

/**
 * agate_vm_open_bo - count a file's new handle; for the first one, reserve a range
 * @vm: the file's address space
 * @bo: the BO
 *
 * Context: may sleep; takes vm->lock, bo->mappings_lock, vm->pt_lock.
 * Does nothing for a BO that is AGATE_BO_NO_VA.
 *
 * Return: 0; -ENOSPC when no range is free; -ENOMEM.
 */
int agate_vm_open_bo(struct agate_vm *vm, struct agate_bo *bo);

/**
 * agate_vm_close_bo - count a closed handle; after the last one, release the range
 * as soon as no job uses it
 * @vm: the file's address space
 * @bo: the BO
 *
 * Context: as agate_mapping_put().
 */
void agate_vm_close_bo(struct agate_vm *vm, struct agate_bo *bo);

/**
 * agate_vm_find - find the mapping of a BO in an address space
 * @vm: the address space
 * @bo: the BO
 *
 * Return: the mapping with a reference, or NULL (the handle was just closed).
 */
struct agate_mapping *agate_vm_find(struct agate_vm *vm, struct agate_bo *bo);

/**
 * agate_mapping_put - drop a reference to a mapping
 * @mapping: the mapping
 *
 * Context: as agate_vm_put(); takes vm->lock, so no reservation is held either, and this is
 * not on a fence's way to its signal.
 */
void agate_mapping_put(struct agate_mapping *mapping);

/**
 * agate_mapping_populate - make the pages and page-table entries of a mapping present
 * @mapping: its BO counts a job in gpu_users.  A heap grows by faults: this takes the memory
 *	that the next one needs
 *
 * Context: may sleep; takes backing.lock, bo->mappings_lock, vm->pt_lock.
 * Return: 0, or an error with nothing left mapped; -EFAULT when purged.
 */
int agate_mapping_populate(struct agate_mapping *mapping);

/**
 * agate_vm_teardown_bo - remove the page-table entries of a BO everywhere
 * @bo: its reservation is held, and all its jobs have ended
 *
 * Afterwards the GPU cannot reach the memory any more, not even for a job that did not
 * list the BO.
 *
 * Context: may sleep, also until a reset is over; takes bo->mappings_lock, vm->pt_lock.
 */
void agate_vm_teardown_bo(struct agate_bo *bo);

/**
 * agate_vm_zap_userptr - remove the entries of a process's memory in an address space in fault mode
 * @bo: that memory; no change of its entries waits in the queue, and none comes meanwhile
 *
 * Elsewhere it does nothing: no job runs there, and the next one finds new entries.
 *
 * Context: as agate_vm_teardown_bo(); also in reclaim.
 */
void agate_vm_zap_userptr(struct agate_bo *bo);

/**
 * agate_vm_try_teardown_bo - remove the page-table entries of a BO everywhere
 * @bo: bo->mappings_lock is held; no job uses it
 *
 * Called in reclaim, which may run under other locks of the driver, so it only tries these
 * locks.  When it returns true the GPU cannot reach the pages any more.
 *
 * Return: false when a lock was not free or the GPU may still reach the pages.
 * Entries that are already removed stay removed, and the next submit makes them
 * again.
 */
bool agate_vm_try_teardown_bo(struct agate_bo *bo);

#endif /* AGATE_VM_H */
