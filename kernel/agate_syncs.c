// SPDX-License-Identifier: GPL-2.0-only
/*
 * The sync objects of a call: see agate_syncs.h.
 */
#include <linux/dma-fence-chain.h>
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <drm/drm_syncobj.h>
#include <drm/gpu_scheduler.h>

#include "agate_syncs.h"

/**
 * struct agate_sync_out - one sync object to be signalled
 * @syncobj: with a reference
 * @chain: for a timeline point, else NULL
 * @point: that point
 */
struct agate_sync_out {
	struct drm_syncobj *syncobj;
	struct dma_fence_chain *chain;
	u64 point;
};

static int copy(struct drm_agate_sync **to, u64 from, u32 count)
{
	struct drm_agate_sync *syncs;
	u32 i;

	if (count > AGATE_SUBMIT_MAX_SYNCS)
		return -EINVAL;
	syncs = vmemdup_user(u64_to_user_ptr(from), count * sizeof(*syncs));
	if (IS_ERR(syncs))
		return PTR_ERR(syncs);
	*to = syncs;
	for (i = 0; i < count; i++) {
		if (syncs[i].pad)
			return -EINVAL;
	}
	return 0;
}

int agate_syncs_copy(struct agate_syncs *syncs, u64 in, u32 in_count, u64 out, u32 out_count)
{
	int ret;

	syncs->in_count = in_count;
	ret = copy(&syncs->in, in, in_count);
	if (ret)
		return ret;
	syncs->out_count = out_count;
	return copy(&syncs->out, out, out_count);
}

static int gather_ins(struct agate_syncs *syncs, struct drm_sched_job *job, struct drm_file *file)
{
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < syncs->in_count; i++) {
		struct dma_fence *fence;

		ret = drm_syncobj_find_fence(file, syncs->in[i].handle, syncs->in[i].point, 0,
					     &fence);
		/* It takes over the reference even when it fails. */
		if (!ret)
			ret = drm_sched_job_add_dependency(job, fence);
	}
	return ret;
}

static int gather_out(struct agate_sync_out *out, const struct drm_agate_sync *sync,
		      struct drm_file *file)
{
	out->syncobj = drm_syncobj_find(file, sync->handle);
	if (!out->syncobj)
		return -ENOENT;
	out->point = sync->point;
	if (out->point)
		out->chain = dma_fence_chain_alloc();
	return out->point && !out->chain ? -ENOMEM : 0;
}

static int gather_outs(struct agate_syncs *syncs, struct drm_file *file)
{
	int ret = 0;
	u32 i;

	if (!syncs->out_count)
		return 0;
	syncs->outs = kvcalloc(syncs->out_count, sizeof(*syncs->outs), GFP_KERNEL_ACCOUNT);
	if (!syncs->outs)
		return -ENOMEM;
	for (i = 0; !ret && i < syncs->out_count; i++)
		ret = gather_out(&syncs->outs[i], &syncs->out[i], file);
	return ret;
}

static void free_outs(struct agate_syncs *syncs)
{
	u32 i;

	for (i = 0; syncs->outs && i < syncs->out_count; i++) {
		if (syncs->outs[i].syncobj)
			drm_syncobj_put(syncs->outs[i].syncobj);
		dma_fence_chain_free(syncs->outs[i].chain);
	}
	kvfree(syncs->outs);
	syncs->outs = NULL;
}

int agate_syncs_gather(struct agate_syncs *syncs, struct drm_sched_job *job,
		       struct drm_file *file)
{
	int ret;

	free_outs(syncs);
	ret = gather_outs(syncs, file);
	return ret ? ret : gather_ins(syncs, job, file);
}

void agate_syncs_publish(struct agate_syncs *syncs, struct dma_fence *fence)
{
	struct agate_sync_out *outs = syncs->outs;
	u32 i;

	for (i = 0; i < syncs->out_count; i++) {
		if (outs[i].chain) {
			drm_syncobj_add_point(outs[i].syncobj, outs[i].chain, fence, outs[i].point);
			outs[i].chain = NULL;
		} else {
			drm_syncobj_replace_fence(outs[i].syncobj, fence);
		}
	}
}

void agate_syncs_free(struct agate_syncs *syncs)
{
	free_outs(syncs);
	kvfree(syncs->out);
	kvfree(syncs->in);
}
