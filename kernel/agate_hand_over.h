/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The owner of a BO's memory: the CPUs or the GPU.
 *
 * The DMA layer may give the GPU other memory than the pages that the CPUs see (it
 * bounces them), or the CPUs may have caches that the GPU does not snoop.  Then a
 * write of one side reaches the other only when the driver hands the BO over:
 *
 *  - to the GPU, when the first job that lists the BO is about to run;
 *  - to the CPUs, when a job that lists it has ended, before its fence signals.
 *
 * From SUBMIT until the last of its jobs has ended a BO belongs to the GPU, and a
 * client that writes to it meanwhile loses the write.  Several jobs may own it at the
 * same time: readers on different slots, and two jobs of one slot, the second of which is
 * already in NEXT while the first runs.  Only the first owner takes the BO from the CPUs:
 * a second hand-over would put what the CPUs see, which is old, over what the first job
 * has written.  An owner that comes while the first still takes the BO waits for it.  Only
 * jobs that write the BO hand it back.
 *
 * A client maps a BO once and for its life, so the driver does not learn when a CPU
 * accesses it: a CPU's page fault, or a mapping of the kernel, syncs nothing, and
 * finds what the last hand-over left.  So these are the edges of a CPU's access:
 *
 *  - it begins when the client knows that the BO's jobs have ended: after WAIT_BO, after a
 *    wait for a job's fence, or after DMA_BUF_IOCTL_SYNC with DMA_BUF_SYNC_START, which waits
 *    for the same fences;
 *  - it ends at the next SUBMIT that lists the BO.  DMA_BUF_SYNC_END has nothing to do.
 *
 * A heap has no owner: no CPU can map it.
 *
 * Topic "coherency" does what the edges need (agate_coherency.h).  Without it the driver
 * takes for granted that no cache snoops any other: it syncs at every edge, and every chain
 * flushes at both ends, which is right on every machine.
 */
#ifndef AGATE_HAND_OVER_H
#define AGATE_HAND_OVER_H

#include <linux/types.h>

struct agate_device;
struct agate_job;
struct sg_table;

/**
 * agate_sgt_needs_sync - do the CPUs and the GPU see different memory?
 * @adev: the device
 * @sgt: mapped for DMA
 *
 * The answer stays the same while @sgt is mapped.  On a machine where they see the
 * same memory, jobs pay nothing for it.
 */
bool agate_sgt_needs_sync(struct agate_device *adev, struct sg_table *sgt);

/**
 * agate_job_to_device - hand a job's BOs to the GPU
 * @job: its dependencies have ended, and it is about to run
 *
 * The scheduler may run a job again after a reset, also one that has ended meanwhile:
 * the first call for a job hands its BOs over, and later ones see to the header of a chain that
 * starts again.
 *
 * Context: a thread in the fence-signalling path; takes hand_over_lock or slots.lock, allocates
 * nothing.
 */
void agate_job_to_device(struct agate_job *job);

/**
 * agate_job_to_cpu - hand a job's BOs back to the CPUs
 * @job: the GPU does not work on it any more, and its fence has not signalled yet
 *
 * Called once for each job that agate_job_to_device() was called for.
 *
 * Context: a thread in the fence-signalling path; takes hand_over_lock, allocates nothing.
 */
void agate_job_to_cpu(struct agate_job *job);

/**
 * agate_table_to_device - show the GPU what a CPU has written to a page table
 * @adev: the device
 * @addr: the first entry that changed, mapped for DMA
 * @size: bytes
 *
 * The GPU may have the old entries in its L2 and in its TLB: AS_COMMAND_FLUSH_PT drops those.
 *
 * Context: atomic.
 */
void agate_table_to_device(struct agate_device *adev, dma_addr_t addr, size_t size);

/**
 * agate_chain_flushes - what a chain does with the L2 when it starts and when it ends
 * @adev: the device
 *
 * Return: JS_CONFIG_START_FLUSH_* and JS_CONFIG_END_FLUSH_*.
 */
u32 agate_chain_flushes(struct agate_device *adev);

/**
 * agate_select_protocol - choose the coherency protocol of the L2
 * @adev: the device; its L2 is off
 *
 * Return: 0, or the error of agate_coherency_select().
 */
int agate_select_protocol(struct agate_device *adev);

#endif /* AGATE_HAND_OVER_H */
