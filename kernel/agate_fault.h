/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "fault" (lab 12): what to do when a GPU access has no translation.
 *
 * The access stalls, and the GPU sets the address space's bit in MMU_INT.  In a
 * heap the driver adds the missing 2 MiB, and the access continues.  Anywhere else
 * the driver stops the chain that touched it, and no other chain.  A heap for which there
 * is no memory does not grow: the chain ends with -ENOMEM.
 */
#ifndef AGATE_FAULT_H
#define AGATE_FAULT_H

#include <linux/types.h>

struct agate_device;

int agate_fault_topic_init(struct agate_device *adev);
void agate_fault_topic_fini(struct agate_device *adev);
int agate_fault_topic_suspend(struct agate_device *adev);
int agate_fault_topic_resume(struct agate_device *adev);

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
 * Context: may sleep; on a fence's way to its signal.  So it waits for no memory, takes
 * bo->mappings_lock and vm->pt_lock, under which nobody does, and never a backing.lock, a
 * reservation or a vm->lock.  What it needs in order to grow a heap comes from
 * agate_backing_populate(), which waits for nothing, and from mapping->tables.
 */
void agate_fault_serve(struct agate_device *adev);

#endif /* AGATE_FAULT_H */
