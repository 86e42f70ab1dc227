/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "fault" (lab 12): what to do when a GPU access has no translation.
 *
 * The access stalls, and the address space's bit in MMU_INT goes up.  In a heap
 * the missing 2 MiB are made present and the access goes on; anywhere else the
 * address space is switched off, which ends the jobs in it and no others.
 */
#ifndef AGATE_FAULT_H
#define AGATE_FAULT_H

#include <linux/types.h>

struct agate_device;

int agate_fault_topic_init(struct agate_device *adev);
void agate_fault_topic_fini(struct agate_device *adev);

/**
 * agate_exception_name - an exception code in words
 * @code: enum agate_exception, as in FAULTSTATUS 7:0 and JS_STATUS
 *
 * Return: a constant string, never NULL.
 */
const char *agate_exception_name(u32 code);

/**
 * agate_exception_errno - what a job ends with when its chain failed
 * @code: JS_STATUS, not DONE and not STOPPED
 *
 * Return: -ECANCELED for a chain that was hard-stopped, -EIO where power or the
 * bus failed, -EINVAL for everything that the chain itself brought about.
 */
int agate_exception_errno(u32 code);

/**
 * agate_fault_serve - the MMU vector's thread: serve every fault that is up
 * @adev: the device
 *
 * An address space's bit is cleared before its fault is served: the served
 * access may fault again before this returns, and clearing late would lose that.
 *
 * Context: may sleep, takes shmem.lock, bo->mappings_lock, vm->lock.  Jobs wait
 * for it, and yet it allocates memory with GFP_KERNEL: growing a heap on demand
 * cannot be done otherwise.  Our own shrinker waits for no job: it only tries
 * locks and skips BOs that jobs use.  What else is called in reclaim may wait for
 * one that this fault has stalled.  That is the known weak point of growing on
 * demand: the job's timeout ends it if the chain can be stopped, but a reset of
 * the whole GPU waits for this thread.
 */
void agate_fault_serve(struct agate_device *adev);

#endif /* AGATE_FAULT_H */
