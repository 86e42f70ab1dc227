/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The queue of an address space's changes.
 *
 * A change of what is bound has two halves.  The ioctl changes the records of the address space,
 * at once; a job of the scheduler changes the page table, when what it waits for has ended.  So
 * one who looks at the records sees what the last job of the queue will leave.
 *
 * Until its job has run, a change has its fence in the reservations of all BOs that it
 * concerns: nobody takes their memory away before that.
 */
#ifndef AGATE_BIND_H
#define AGATE_BIND_H

#include <linux/dma-fence.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>
#include <drm/gpu_scheduler.h>

#include "agate_backing.h"
#include "agate_fault_vm.h"
#include "agate_long.h"
#include "agate_park.h"
#include "agate_vm_pt.h"

struct agate_device;
struct agate_file;
struct agate_mapping;
struct agate_mover_job;
struct agate_toucher;
struct agate_vm;
struct agate_vm_bo;
struct drm_gem_object;

/**
 * struct agate_bound - the part of an address space whose owner chooses the ranges
 * @root: its reservation is that of all private BOs, which have a reference each; NULL: a
 *	file's own address space
 * @pt_locks: under which the page table changes
 * @externals: struct agate_vm_bo: those of BOs with a reservation of their own; under vm->lock
 * @external_count: how many, at most AGATE_SUBMIT_MAX_BOS; under vm->lock
 * @userptrs: struct agate_vm_bo: those of memory of processes; under vm->lock
 * @userptr_count: how many, at most AGATE_SUBMIT_MAX_BOS; under vm->lock
 * @userptr_lock: one SUBMIT or worker at a time looks after them; see agate_userptr.h
 * @evicted_lock: protects @evicted; innermost
 * @evicted: struct agate_vm_bo: those with a mapping whose entries are gone
 * @entity: the queue
 * @last: the fence of the last change, with a reference, or NULL; under the root's reservation
 * @chains: jobs that may run for ever
 * @faults: what the GPU misses
 * @toucher: waits for memory of processes in place of the workers, or has done so, with a
 *	reference; or NULL; under @userptr_lock
 */
struct agate_bound {
	struct drm_gem_object *root;
	struct agate_pt_locks pt_locks;
	struct list_head externals;
	unsigned int external_count;
	struct list_head userptrs;
	unsigned int userptr_count;
	struct mutex userptr_lock;	/* their pages */
	spinlock_t evicted_lock;	/* @evicted */
	struct list_head evicted;
	struct drm_sched_entity entity;
	struct dma_fence *last;
	struct agate_chains chains;
	struct agate_faults faults;
	struct agate_toucher *toucher;
};

/**
 * struct agate_va_steps - how the records change
 * @drop: struct agate_mapping (step): those that overlap, lowest address first
 * @left: what stays of the first one, below the range; its vm_bo is NULL if there is nothing
 * @right: what stays of the last one, above it; likewise
 * @add: what comes, or NULL
 *
 * All three have their memory before anything changes.
 */
struct agate_va_steps {
	struct list_head drop;
	struct agate_mapping *left;
	struct agate_mapping *right;
	struct agate_mapping *add;
};

/**
 * struct agate_bind_job - one change
 * @base: the scheduler's part
 * @vm: the address space, with a reference
 * @jobs: of its file: counts this one; NULL: the driver's own
 * @addr: the first address of the range
 * @range: bytes
 * @steps: the records
 * @stage: the change of the page table
 * @staged: there is one
 * @over: the range may have entries, and no record says so
 * @store: the mover's job that writes it; NULL: the CPU does
 * @storing: the fence of that job, which the mover has got
 * @stored: its callback
 * @work: what comes after it, or after a reset of the GPU
 * @done: signals when the page table has changed, and the GPU knows
 * @parked: to be freed in a context that may sleep
 */
struct agate_bind_job {
	struct drm_sched_job base;
	struct agate_vm *vm;
	atomic_t *jobs;
	u64 addr;
	u64 range;
	struct agate_va_steps steps;
	struct agate_pt_stage stage;
	bool staged;
	bool over;
	struct agate_mover_job *store;
	struct dma_fence *storing;
	struct dma_fence_cb stored;
	struct work_struct work;
	struct dma_fence *done;
	struct agate_parked parked;
};

/**
 * agate_bind_init - start the scheduler
 * @adev: the device
 *
 * It ends with the DRM device, as those of agate_queues_init().
 *
 * Return: 0 or an error.
 */
int agate_bind_init(struct agate_device *adev);

/**
 * agate_bind_open - make the queue, and the root, of a new address space
 * @vm: the address space
 * @flags: AGATE_VM_*
 *
 * Return: 0 or -ENOMEM.
 */
int agate_bind_open(struct agate_vm *vm, u32 flags);

/**
 * agate_bind_close - drop all records, because the address space dies
 * @vm: has no job, and the GPU does not walk its table
 *
 * Context: may sleep; no lock of the driver is held.
 */
void agate_bind_close(struct agate_vm *vm);

/**
 * agate_bind_job_create - make an empty change
 * @afile: the file that asks for it
 * @vm: the address space
 *
 * Takes over what agate_queues_reserve() counted, also when it fails.
 *
 * Return: the job, or an ERR_PTR.
 */
struct agate_bind_job *agate_bind_job_create(struct agate_file *afile, struct agate_vm *vm);

/**
 * agate_bind_again - bring back the entries of a mapping whose BO has moved
 * @mapping: not active; its BO's reservation and the root's are held
 *
 * They come by a job of the queue, behind the changes that wait there already.
 *
 * Return: 0 or an error.
 */
int agate_bind_again(struct agate_mapping *mapping);

/**
 * agate_bind_for_fault - the same, for a chain that waits for them
 * @mapping: of an address space in fault mode; its BO's reservation and the root's are held
 *
 * The entries come behind the moves of the BO, and then the GPU tries the access again.  A
 * mapping that has its entries, or will have them, gets only the second.
 *
 * Return: 0; -EAGAIN: the process's memory has changed meanwhile; -ENOMEM, or another error.
 */
int agate_bind_for_fault(struct agate_mapping *mapping);

/**
 * agate_bind_plan_write - choose who writes the page table
 * @job: staged, with all its dependencies
 *
 * The CPU, if nothing has to be waited for: else the mover, which reacts faster than a thread.
 * In fault mode the mover adds entries, and the CPU takes them away.
 *
 * Return: 0 or an error.
 */
int agate_bind_plan_write(struct agate_bind_job *job);

/** agate_bind_job_abandon - free a change that was not pushed */
void agate_bind_job_abandon(struct agate_bind_job *job);

/**
 * agate_bind_arm - from here on nothing fails, and agate_bind_push() has to follow
 * @job: complete
 *
 * The page table's view by the CPU changes, and the fence becomes bound.last.
 *
 * Context: the root's reservation is held, until after the push: it orders the changes.
 * Return: the fence of the change, which bound.last keeps.
 */
struct dma_fence *agate_bind_arm(struct agate_bind_job *job);

/** agate_bind_push - queue an armed change, which belongs to the scheduler from here on */
void agate_bind_push(struct agate_bind_job *job);

#endif /* AGATE_BIND_H */
