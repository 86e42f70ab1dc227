/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "vm-bind" (lab 24): address spaces whose owner chooses the ranges.
 *
 * A range may hold a part of a BO, and a BO may be at many ranges.  A job in such an address
 * space lists no BOs: all that is bound is the job's.  So that this costs little,
 * private BOs share one reservation, the address space's root; others, which are external,
 * have their own, and are locked one by one.
 *
 * A BO that moves loses its page-table entries, and its records go on a list of the
 * evicted.  The next SUBMIT brings back what is on the list, and looks at nothing else.
 *
 * The records are under vm->lock; see agate_bind.h for what they say.
 */
#ifndef AGATE_VM_BIND_H
#define AGATE_VM_BIND_H

#include <linux/types.h>

struct agate_bo;
struct agate_device;
struct agate_exec;
struct agate_job;
struct agate_va_steps;
struct agate_vm;
struct agate_vm_bo;
struct dma_fence;

int agate_vm_bind_topic_init(struct agate_device *adev);
void agate_vm_bind_topic_fini(struct agate_device *adev);

/**
 * agate_va_split - what has to go for a range, and what stays of it
 * @vm: its lock is held for writing
 * @addr: the first address
 * @range: bytes
 * @steps: @left and @right are zeroed mappings; out: @drop, and what @left and @right will be
 *
 * Changes no record.
 */
void agate_va_split(struct agate_vm *vm, u64 addr, u64 range, struct agate_va_steps *steps);

/**
 * agate_va_apply - change the records
 * @vm: its lock is held for writing, and so are the reservations of all BOs in @steps
 * @steps: from agate_va_split() under the same lock
 *
 * Puts @left, @right and @add into the address space, if they are something, and frees @left
 * and @right if they are nothing.  Afterwards @drop is in no list but this one.  Cannot fail.
 */
void agate_va_apply(struct agate_vm *vm, struct agate_va_steps *steps);

/**
 * agate_vm_may_bind - may a BO be bound in an address space?
 * @vm: the address space
 * @bo: the BO
 *
 * Return: 0; -EPERM: it belongs to another one; -EINVAL: its memory cannot move, and is not
 * another driver's; -EOPNOTSUPP: it is, and the GPU does not reach it where it lies.
 */
int agate_vm_may_bind(const struct agate_vm *vm, const struct agate_bo *bo);

/**
 * agate_vm_lock_all - lock the root, and each external BO
 * @vm: its lock is held
 * @exec: in its loop
 *
 * Return: as agate_exec_lock().
 */
int agate_vm_lock_all(struct agate_vm *vm, struct agate_exec *exec);

/**
 * agate_vm_bo_moved - the BO's entries are gone: remember to bring them back
 * @vm_bo: the BO's reservation is held, and bo->mappings_lock
 */
void agate_vm_bo_moved(struct agate_vm_bo *vm_bo);

/**
 * agate_vm_rebind - bring back what has moved
 * @vm: its lock is held
 * @exec: has the locks of agate_vm_lock_all()
 *
 * SUBMIT and the worker of long-running chains call it; why a fault does not is in
 * agate_fault_vm.h.  What could not be brought back stays on the list.
 *
 * Return: 0; the error of agate_backing_validate() or agate_bind_again().
 */
int agate_vm_rebind(struct agate_vm *vm, struct agate_exec *exec);

/**
 * agate_vm_add_dependencies - what a job has to wait for in its address space
 * @job: the locks of agate_vm_lock_all() are held
 *
 * The last change; moves of what is bound; and other jobs that use an external BO.
 *
 * Return: 0 or -ENOMEM.
 */
int agate_vm_add_dependencies(struct agate_job *job);

/**
 * agate_vm_publish - a job will use all that is bound
 * @vm: the locks of agate_vm_lock_all() are held, and have room for a fence
 * @fence: the job's
 */
void agate_vm_publish(struct agate_vm *vm, struct dma_fence *fence);

#endif /* AGATE_VM_BIND_H */
