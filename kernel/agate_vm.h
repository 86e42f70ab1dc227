/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A file's GPU address space: which range belongs to which BO.
 *
 * A range is reserved when a file gets its first handle to a BO and released
 * when it closes the last one; page-table entries appear at the first submit
 * that lists the BO, or, in a heap, when the GPU faults.  A job keeps the
 * mappings it lists, so closing a handle never pulls memory from under it.
 */
#ifndef AGATE_VM_H
#define AGATE_VM_H

#include <linux/kref.h>
#include <linux/mutex.h>
#include <linux/workqueue.h>
#include <drm/drm_mm.h>

#include "agate_mmu.h"

struct agate_bo;
struct agate_device;

/* GPU addresses handed out: never 0, and all within 32 bits for 32-bit chains. */
#define AGATE_VA_START		SZ_32M
#define AGATE_VA_END		SZ_4G

/**
 * struct agate_vm - one GPU address space
 * @ref: the file and each job hold one
 * @adev: the device
 * @id: drm-client-id of its file, for debugfs
 * @lock: protects @mm and the page table; innermost of the driver's mutexes.
 *	The GPU's fault thread takes it, so nothing under it may wait for a job
 * @mm: ranges taken
 * @as: page table and place in the hardware (topics "pgtable" and "mmu")
 * @put_work: frees it for agate_vm_put_later()
 */
struct agate_vm {
	struct kref ref;
	struct agate_device *adev;
	u64 id;
	/* Protects ranges and page table. */
	struct mutex lock;
	struct drm_mm mm;
	struct agate_as as;
	struct work_struct put_work;
};

/**
 * struct agate_mapping - one BO's range in one address space
 * @ref: the file's handle and each job that lists the BO hold one
 * @vm: the address space, with a reference
 * @bo: the BO, with a reference
 * @node: the range, in vm->mm
 * @link: in bo->mappings
 * @handles: how many handles of the file stand behind it
 * @active: page-table entries are there; under bo->mappings_lock
 * @put_work: releases it for agate_mapping_put_later()
 */
struct agate_mapping {
	struct kref ref;
	struct agate_vm *vm;
	struct agate_bo *bo;
	struct drm_mm_node node;
	struct list_head link;
	unsigned int handles;
	bool active;
	struct work_struct put_work;
};

/** agate_mapping_va - GPU address of the BO's first byte */
static inline u64 agate_mapping_va(const struct agate_mapping *mapping)
{
	return mapping->node.start << PAGE_SHIFT;
}

/** agate_mapping_prot - what the GPU may do with the BO, AGATE_PROT_* */
u32 agate_mapping_prot(const struct agate_mapping *mapping);

/**
 * agate_vm_create - a new, empty address space
 * @adev: the device
 *
 * Return: the address space with one reference, or an ERR_PTR.
 */
struct agate_vm *agate_vm_create(struct agate_device *adev);
struct agate_vm *agate_vm_get(struct agate_vm *vm);

/**
 * agate_vm_put - let go of an address space
 * @vm: the address space
 *
 * Context: may wait for a reset of the GPU, see agate_reset_flush().
 */
void agate_vm_put(struct agate_vm *vm);

/**
 * agate_vm_put_later - let go of an address space where a reset must not be waited for
 * @vm: the address space
 *
 * For the MMU vector's thread, which every reset waits for.
 */
void agate_vm_put_later(struct agate_vm *vm);

/**
 * agate_vm_open_bo - a file got a handle: reserve a range, or count one more
 * @vm: the file's address space
 * @bo: the BO
 *
 * Context: may sleep; takes bo->mappings_lock, then vm->lock.
 * Return: 0; -ENOSPC when no range is free; -ENOMEM.
 */
int agate_vm_open_bo(struct agate_vm *vm, struct agate_bo *bo);

/**
 * agate_vm_close_bo - a file closed a handle; with the last one the range goes,
 * as soon as no job uses it
 * @vm: the file's address space
 * @bo: the BO
 */
void agate_vm_close_bo(struct agate_vm *vm, struct agate_bo *bo);

/**
 * agate_vm_find - the mapping of a BO in an address space
 * @vm: the address space
 * @bo: the BO
 *
 * Return: the mapping with a reference, or NULL (the handle was just closed).
 */
struct agate_mapping *agate_vm_find(struct agate_vm *vm, struct agate_bo *bo);

/**
 * agate_vm_find_addr - which mapping covers an address?
 * @vm: the address space
 * @va: a GPU address
 *
 * Context: takes vm->lock; the fault thread's way in.
 * Return: the mapping with a reference, which keeps its BO, or NULL.
 */
struct agate_mapping *agate_vm_find_addr(struct agate_vm *vm, u64 va);

/**
 * agate_mapping_put - let go of a mapping
 * @mapping: the mapping
 *
 * Context: as agate_vm_put(); no lock of the driver is held.
 */
void agate_mapping_put(struct agate_mapping *mapping);

/**
 * agate_mapping_put_later - let go of a mapping where a reset must not be waited for
 * @mapping: the mapping
 *
 * As agate_vm_put_later().
 */
void agate_mapping_put_later(struct agate_mapping *mapping);

/**
 * agate_mapping_populate - pages and page-table entries for a whole BO
 * @mapping: its BO counts a job in gpu_users; a heap, which grows by faults, is
 *	only checked
 *
 * Context: may sleep; takes shmem.lock, bo->mappings_lock, vm->lock.
 * Return: 0, or an error with nothing left mapped; -EFAULT when purged.
 */
int agate_mapping_populate(struct agate_mapping *mapping);

/**
 * agate_vm_try_teardown_bo - remove the page-table entries of a BO everywhere
 * @bo: bo->mappings_lock is held; no job uses it
 *
 * Called in reclaim, which may run under any vm->lock (a page table is being
 * grown): so it only tries those locks.  When it returns true no GPU can reach
 * the pages any more.
 *
 * Return: false when a lock was taken; whatever was torn down stays so, and is
 * rebuilt by the next submit.
 */
bool agate_vm_try_teardown_bo(struct agate_bo *bo);

#endif /* AGATE_VM_H */
