// SPDX-License-Identifier: GPL-2.0-only
/*
 * SUBMIT and WAIT_BO.
 *
 * A submit first gathers everything that the job needs.  Each step may fail; then
 * the submit drops the incomplete job, and nothing has changed.  Once the job is
 * armed, its finished fence exists and must signal, so from there on nothing may
 * fail.  The submit then publishes the fence in BOs and sync objects, and pushes
 * the job.  It holds the BOs' reservations all the time, so that two jobs that
 * share BOs agree on their order.
 */
#include <linux/dma-fence-chain.h>
#include <linux/dma-resv.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <drm/drm_drv.h>
#include <drm/drm_gem.h>
#include <drm/drm_syncobj.h>
#include <drm/drm_utils.h>

#include "agate_device.h"
#include "agate_gem.h"
#include "agate_queue.h"
#include "agate_sched.h"
#include "agate_slot.h"
#include "agate_submit.h"
#include "agate_vm.h"

/**
 * struct submit_out - one sync object to be signalled
 * @syncobj: with a reference
 * @chain: for a timeline point, else NULL
 * @point: that point
 */
struct submit_out {
	struct drm_syncobj *syncobj;
	struct dma_fence_chain *chain;
	u64 point;
};

/* ---- Gathering -------------------------------------------------------- */

static int gather_bos(struct agate_job *job, struct drm_file *file,
		      const struct drm_agate_submit *args)
{
	unsigned int i;
	int ret;

	job->bo_count = args->bo_handle_count;
	ret = drm_gem_objects_lookup(file, u64_to_user_ptr(args->bo_handles), job->bo_count,
				     &job->bos);
	if (ret || !job->bo_count)
		return ret;
	job->mappings = kvcalloc(job->bo_count, sizeof(*job->mappings), GFP_KERNEL);
	if (!job->mappings)
		return -ENOMEM;

	for (i = 0; i < job->bo_count; i++) {
		struct agate_bo *bo = to_agate_bo(job->bos[i]);

		job->mappings[i] = agate_vm_find(job->vm, bo);
		if (!job->mappings[i])
			return -ENOENT;
		/* From here on the shrinker skips the BO. */
		atomic_inc(&bo->gpu_users);
		atomic_inc(&job->busy);
		ret = agate_mapping_populate(job->mappings[i]);
		if (ret)
			return ret;
	}
	return 0;
}

static struct drm_agate_sync *copy_syncs(u64 pointer, u32 count)
{
	struct drm_agate_sync *syncs;
	u32 i;

	syncs = vmemdup_user(u64_to_user_ptr(pointer), count * sizeof(*syncs));
	if (IS_ERR(syncs))
		return syncs;
	for (i = 0; i < count; i++) {
		if (syncs[i].pad) {
			kvfree(syncs);
			return ERR_PTR(-EINVAL);
		}
	}
	return syncs;
}

static int gather_in_syncs(struct agate_job *job, struct drm_file *file,
			   const struct drm_agate_submit *args)
{
	struct drm_agate_sync *syncs;
	int ret = 0;
	u32 i;

	if (!args->in_sync_count)
		return 0;
	syncs = copy_syncs(args->in_syncs, args->in_sync_count);
	if (IS_ERR(syncs))
		return PTR_ERR(syncs);

	for (i = 0; !ret && i < args->in_sync_count; i++) {
		struct dma_fence *fence;

		ret = drm_syncobj_find_fence(file, syncs[i].handle, syncs[i].point, 0, &fence);
		/* It takes over the reference even when it fails. */
		if (!ret)
			ret = drm_sched_job_add_dependency(&job->base, fence);
	}
	kvfree(syncs);
	return ret;
}

static void free_outs(struct submit_out *outs, u32 count)
{
	u32 i;

	for (i = 0; outs && i < count; i++) {
		if (outs[i].syncobj)
			drm_syncobj_put(outs[i].syncobj);
		dma_fence_chain_free(outs[i].chain);
	}
	kvfree(outs);
}

static int fill_outs(struct submit_out *outs, struct drm_file *file,
		     const struct drm_agate_sync *syncs, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++) {
		outs[i].syncobj = drm_syncobj_find(file, syncs[i].handle);
		if (!outs[i].syncobj)
			return -ENOENT;
		outs[i].point = syncs[i].point;
		if (!outs[i].point)
			continue;
		outs[i].chain = dma_fence_chain_alloc();
		if (!outs[i].chain)
			return -ENOMEM;
	}
	return 0;
}

/* NULL for none. */
static struct submit_out *gather_outs(struct drm_file *file, const struct drm_agate_submit *args)
{
	struct drm_agate_sync *syncs;
	struct submit_out *outs;
	int ret;

	if (!args->out_sync_count)
		return NULL;
	syncs = copy_syncs(args->out_syncs, args->out_sync_count);
	if (IS_ERR(syncs))
		return ERR_CAST(syncs);

	ret = -ENOMEM;
	outs = kvcalloc(args->out_sync_count, sizeof(*outs), GFP_KERNEL);
	if (outs)
		ret = fill_outs(outs, file, syncs, args->out_sync_count);
	kvfree(syncs);
	if (ret) {
		free_outs(outs, args->out_sync_count);
		return ERR_PTR(ret);
	}
	return outs;
}

/* ---- Pushing ---------------------------------------------------------- */

/* Every job counts as a writer.  The caller holds the reservations. */
static int add_bo_dependencies(struct agate_job *job)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < job->bo_count; i++) {
		ret = dma_resv_reserve_fences(job->bos[i]->resv, 1);
		if (!ret)
			ret = drm_sched_job_add_implicit_dependencies(&job->base, job->bos[i],
								      true);
	}
	return ret;
}

static void publish(struct agate_job *job, struct dma_fence *finished, struct submit_out *outs,
		    u32 out_count)
{
	u32 i;

	for (i = 0; i < job->bo_count; i++)
		dma_resv_add_fence(job->bos[i]->resv, finished, DMA_RESV_USAGE_WRITE);
	for (i = 0; i < out_count; i++) {
		if (outs[i].chain) {
			drm_syncobj_add_point(outs[i].syncobj, outs[i].chain, finished,
					      outs[i].point);
			outs[i].chain = NULL;
		} else {
			drm_syncobj_replace_fence(outs[i].syncobj, finished);
		}
	}
}

static int push(struct agate_job *job, struct submit_out *outs, u32 out_count)
{
	struct ww_acquire_ctx ctx;
	struct dma_fence *finished;
	int ret;

	ret = drm_gem_lock_reservations(job->bos, job->bo_count, &ctx);
	if (ret)
		return ret == -EALREADY ? -EINVAL : ret;
	ret = add_bo_dependencies(job);
	if (ret)
		goto unlock;

	mutex_lock(&job->entities->lock);
	drm_sched_job_arm(&job->base);
	finished = dma_fence_get(&job->base.s_fence->finished);
	publish(job, finished, outs, out_count);
	kref_get(&job->ref);
	drm_sched_entity_push_job(&job->base);
	mutex_unlock(&job->entities->lock);
	dma_fence_put(finished);
unlock:
	drm_gem_unlock_reservations(job->bos, job->bo_count, &ctx);
	return ret;
}

/* The caller has called agate_sched_job_init(); this undoes it after a failure. */
static int gather_and_push(struct agate_job *job, struct drm_file *file,
			   const struct drm_agate_submit *args)
{
	struct submit_out *outs;
	int ret;

	outs = gather_outs(file, args);
	if (IS_ERR(outs)) {
		ret = PTR_ERR(outs);
		outs = NULL;
		goto cleanup;
	}
	ret = gather_in_syncs(job, file, args);
	if (!ret)
		ret = gather_bos(job, file, args);
	if (ret)
		goto cleanup;

	ret = agate_job_add_done(job);
	if (!ret)
		ret = push(job, outs, args->out_sync_count);
cleanup:
	if (ret)
		agate_sched_job_cancel(&job->base);
	free_outs(outs, args->out_sync_count);
	return ret;
}

/* ---- ioctls ----------------------------------------------------------- */

static bool submit_args_are_valid(const struct drm_agate_submit *args)
{
	return args->jc && IS_ALIGNED(args->jc, 64) &&
	       !(args->requirements & ~AGATE_JD_REQ_FS) &&
	       args->in_sync_count <= AGATE_SUBMIT_MAX_SYNCS &&
	       args->out_sync_count <= AGATE_SUBMIT_MAX_SYNCS &&
	       args->bo_handle_count <= AGATE_SUBMIT_MAX_BOS;
}

int agate_submit_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	const struct drm_agate_submit *args = data;
	unsigned int slot = AGATE_SLOT_VERTEX;
	struct agate_job *job;
	int ret = -ENOMEM;
	int idx;

	if (!submit_args_are_valid(args))
		return -EINVAL;
	/* Stay inside until the end, so that unplugging waits for the push. */
	if (!drm_dev_enter(dev, &idx))
		return -ENODEV;

	if (args->requirements & AGATE_JD_REQ_FS)
		slot = AGATE_SLOT_FRAGMENT;
	job = agate_job_create(to_agate_file(file), args->jc, slot);
	if (job) {
		ret = agate_sched_job_init(&job->base, &job->entities->entity[slot], file);
		if (!ret)
			ret = gather_and_push(job, file, args);
		agate_job_put(job);
	}
	drm_dev_exit(idx);
	return ret;
}

int agate_submit_wait_bo_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	const struct drm_agate_wait_bo *args = data;
	struct drm_gem_object *obj;
	unsigned long timeout;
	long left;

	if (args->pad)
		return -EINVAL;
	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;

	timeout = drm_timeout_abs_to_jiffies(args->timeout_ns);
	left = dma_resv_wait_timeout(obj->resv, DMA_RESV_USAGE_READ, true, timeout);
	drm_gem_object_put(obj);
	/* The fences of a lost device signal, too. */
	if (drm_dev_is_unplugged(dev) || agate_bus_lost(to_agate_device(dev)))
		return -ENODEV;
	if (!left)
		return args->timeout_ns ? -ETIMEDOUT : -EBUSY;
	return left < 0 ? left : 0;
}

/* ---- Topic ------------------------------------------------------------ */

int agate_submit_topic_init(struct agate_device *adev)
{
	return agate_queues_init(adev);
}

void agate_submit_topic_fini(struct agate_device *adev)
{
	agate_queues_fini(adev);
}
