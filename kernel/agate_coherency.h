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
 * finds what the last hand-over left.
 *
 * A heap has no owner: no CPU can map it.
 */
#ifndef AGATE_COHERENCY_H
#define AGATE_COHERENCY_H

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
 * only the first call for a job has an effect.
 *
 * Context: a thread in the fence-signalling path; takes hand_over_lock, allocates nothing.
 */
void agate_job_to_device(struct agate_job *job);

/**
 * agate_job_to_cpu - hand a job's BOs back to the CPUs
 * @job: the GPU does not work on it any more, and its fence has not signalled yet
 *
 * Called once for each job that agate_job_to_device() was called for.
 *
 * Context: as agate_job_to_device().
 */
void agate_job_to_cpu(struct agate_job *job);

#endif /* AGATE_COHERENCY_H */
