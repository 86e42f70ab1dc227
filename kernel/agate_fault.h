/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "fault" (lab 12): what to do when a GPU access has no translation.
 *
 * The access stalls, and the GPU sets the address space's bit in MMU_INT.  In a
 * heap the driver adds the missing 2 MiB, and the access continues.  Anywhere else
 * the driver stops the chain that touched it, and no other chain.
 */
#ifndef AGATE_FAULT_H
#define AGATE_FAULT_H

#include <linux/types.h>

struct agate_device;

int agate_fault_topic_init(struct agate_device *adev);
void agate_fault_topic_fini(struct agate_device *adev);

/**
 * agate_exception_name - an exception code as text
 * @code: enum agate_exception, as in FAULTSTATUS 7:0 and JS_STATUS
 *
 * Return: a constant string, never NULL.
 */
const char *agate_exception_name(u32 code);

/**
 * agate_exception_errno - the error of a job whose chain failed
 * @code: JS_STATUS, not DONE and not STOPPED
 *
 * Return: -ECANCELED for a chain that was hard-stopped, -EIO when power or the bus
 * failed, -EINVAL for every fault that the chain itself caused.
 */
int agate_exception_errno(u32 code);

/**
 * agate_fault_serve - the MMU vector's thread: serve every pending fault
 * @adev: the device
 *
 * Only the job that faulted counts: a heap grows for it if it listed the heap.
 *
 * Clears an address space's bit before it serves the fault: the served access may
 * fault again before this returns, and clearing the bit later would lose that
 * second fault.
 *
 * Context: may sleep; on a fence's way to its signal, except while it grows a heap.  Then
 * it takes backing.lock, bo->mappings_lock, vm->pt_lock, and never a reservation or a
 * vm->lock, whose holders may wait for a job.  Jobs wait for this thread then, too, and yet
 * it allocates memory with GFP_KERNEL, because a heap cannot grow on demand otherwise.
 * The driver's own shrinker waits for no job: it only tries locks and skips BOs that
 * jobs use.  Other code that runs in reclaim may wait for a job that this fault has
 * stalled.  This is the known weakness of growing on demand: the job's timeout
 * resolves it if the chain can be stopped, but a reset of the whole GPU waits for this
 * thread.
 */
void agate_fault_serve(struct agate_device *adev);

#endif /* AGATE_FAULT_H */
