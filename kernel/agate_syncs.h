/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The sync objects of a call: what it waits for, and what it signals.
 *
 * SUBMIT and VM_BIND take the same two arrays.  Everything that can fail happens before the
 * job is armed: agate_syncs_publish() cannot.
 */
#ifndef AGATE_SYNCS_H
#define AGATE_SYNCS_H

#include <linux/types.h>

#include "agate_drm.h"

struct agate_sync_out;
struct dma_fence;
struct drm_file;
struct drm_sched_job;

/**
 * struct agate_syncs - both arrays
 * @in: to wait for
 * @out: to signal
 * @outs: the objects behind @out, each with a reference
 * @in_count: of @in
 * @out_count: of @out
 *
 * An array without entries is NULL, or ZERO_SIZE_PTR.
 */
struct agate_syncs {
	struct drm_agate_sync *in;
	struct drm_agate_sync *out;
	struct agate_sync_out *outs;
	u32 in_count;
	u32 out_count;
};

/**
 * agate_syncs_copy - copy both arrays from userspace
 * @syncs: zeroed; agate_syncs_free() frees it, also after a failure
 * @in: pointer to struct drm_agate_sync[@in_count]
 * @in_count: to wait for
 * @out: pointer to struct drm_agate_sync[@out_count]
 * @out_count: to signal
 *
 * Userspace may serve a page fault in its arrays whenever it likes, so this comes first,
 * while the call holds nothing that others wait for.
 *
 * Return: 0; -EINVAL for more than AGATE_SUBMIT_MAX_SYNCS and for a pad that is not zero;
 * -EFAULT; -ENOMEM.
 */
int agate_syncs_copy(struct agate_syncs *syncs, u64 in, u32 in_count, u64 out, u32 out_count);

/**
 * agate_syncs_gather - find the objects, and make a job wait for those to wait for
 * @syncs: copied
 * @job: initialised, and not armed
 * @file: whose handles they are
 *
 * A call that begins again, with another job, gathers again: what it had found before goes first.
 *
 * Return: 0; -ENOENT; -EINVAL for one to wait for that has no fence yet; -ENOMEM.
 */
int agate_syncs_gather(struct agate_syncs *syncs, struct drm_sched_job *job,
		       struct drm_file *file);

/**
 * agate_syncs_publish - make a fence the one to wait for in all objects to signal
 * @syncs: gathered
 * @fence: the fence
 */
void agate_syncs_publish(struct agate_syncs *syncs, struct dma_fence *fence);

/** agate_syncs_free - give everything back, whatever there is */
void agate_syncs_free(struct agate_syncs *syncs);

#endif /* AGATE_SYNCS_H */
