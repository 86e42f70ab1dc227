// SPDX-License-Identifier: GPL-2.0-only
/*
 * SUBMIT and WAIT_BO.
 *
 * A submit first gathers everything that the job needs, and then works in this order:
 *
 *   lock      it locks the reservations of all BOs, and keeps them until the end, so that
 *             two jobs that share BOs agree on their order
 *   validate  it makes the BOs present and maps them; a fence that this adds to a BO comes
 *             before the job, and nobody else can move the BO before the job's own fence
 *             is there
 *   depend    it collects the fences that the job waits for, and makes room for its own
 *   arm       the job's finished fence exists from here on, and must signal: the submit
 *             publishes it in BOs and sync objects, and pushes the job
 *
 * Each step except the last may fail.  Then the submit drops the incomplete job, and
 * nothing has changed.
 */
#include <linux/dma-fence-chain.h>
#include <linux/dma-resv.h>
#include <linux/slab.h>
#include <drm/drm_drv.h>
#include <drm/drm_gem.h>
#include <drm/drm_syncobj.h>
#include <drm/drm_utils.h>

#include "agate_device.h"
#include "agate_exec.h"
#include "agate_gem.h"
#include "agate_pm.h"
#include "agate_queue.h"
#include "agate_sched.h"
#include "agate_slot.h"
#include "agate_submit.h"
#include "agate_submit_lists.h"
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

static int gather_bo(struct agate_job *job, struct drm_file *file,
		     const struct agate_submit_bo *from)
{
	struct agate_job_bo *listed = &job->bos[job->bo_count];
	struct agate_bo *bo;

	listed->flags = from->flags;
	listed->obj = drm_gem_object_lookup(file, from->handle);
	if (!listed->obj)
		return -ENOENT;
	job->bo_count++;
	bo = to_agate_bo(listed->obj);
	listed->mapping = agate_vm_find(job->vm, bo);
	if (!listed->mapping)
		return -ENOENT;
	/* From here on the shrinker skips the BO. */
	atomic_inc(&bo->gpu_users);
	atomic_inc(&job->busy);
	return 0;
}

static int gather_bos(struct agate_job *job, struct drm_file *file,
		      const struct agate_submit_bo *bos, u32 count)
{
	int ret = 0;
	u32 i;

	if (!count)
		return 0;
	job->bos = kvcalloc(count, sizeof(*job->bos), GFP_KERNEL_ACCOUNT);
	if (!job->bos)
		return -ENOMEM;
	for (i = 0; !ret && i < count; i++)
		ret = gather_bo(job, file, &bos[i]);
	return ret;
}

static int gather_in_syncs(struct agate_job *job, struct drm_file *file,
			   const struct drm_agate_sync *syncs, u32 count)
{
	int ret = 0;
	u32 i;

	for (i = 0; !ret && i < count; i++) {
		struct dma_fence *fence;

		ret = drm_syncobj_find_fence(file, syncs[i].handle, syncs[i].point, 0, &fence);
		/* It takes over the reference even when it fails. */
		if (!ret)
			ret = drm_sched_job_add_dependency(&job->base, fence);
	}
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
static struct submit_out *gather_outs(struct drm_file *file, const struct drm_agate_sync *syncs,
				      u32 count)
{
	struct submit_out *outs;
	int ret;

	if (!count)
		return NULL;
	outs = kvcalloc(count, sizeof(*outs), GFP_KERNEL_ACCOUNT);
	if (!outs)
		return ERR_PTR(-ENOMEM);
	ret = fill_outs(outs, file, syncs, count);
	if (ret) {
		free_outs(outs, count);
		return ERR_PTR(ret);
	}
	return outs;
}

/* ---- Pushing ---------------------------------------------------------- */

/*
 * A reader waits for writers, and a writer for all.  The kernel's own work on a BO's
 * memory comes before any of them, whatever userspace says.
 */
static enum dma_resv_usage waits_for(const struct agate_job_bo *bo)
{
	if (bo->flags & AGATE_SUBMIT_BO_NO_IMPLICIT)
		return DMA_RESV_USAGE_KERNEL;
	return dma_resv_usage_rw(bo->flags & AGATE_SUBMIT_BO_WRITE);
}

static int add_bo_dependencies(struct agate_job *job, const struct agate_job_bo *bo)
{
	struct dma_resv_iter cursor;
	struct dma_fence *fence;
	int ret = 0;

	dma_resv_for_each_fence(&cursor, bo->obj->resv, waits_for(bo), fence) {
		/* It takes over the reference even when it fails. */
		ret = drm_sched_job_add_dependency(&job->base, dma_fence_get(fence));
		if (ret)
			break;
	}
	return ret;
}

static int add_dependencies(struct agate_job *job)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < job->bo_count; i++)
		ret = add_bo_dependencies(job, &job->bos[i]);
	return ret;
}

static void publish(struct agate_job *job, struct dma_fence *finished, struct submit_out *outs,
		    u32 out_count)
{
	u32 i;

	for (i = 0; i < job->bo_count; i++)
		dma_resv_add_fence(job->bos[i].obj->resv, finished,
				   job->bos[i].flags & AGATE_SUBMIT_BO_WRITE ?
				   DMA_RESV_USAGE_WRITE : DMA_RESV_USAGE_READ);
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

/* From here on nothing fails. */
static void push(struct agate_job *job, struct submit_out *outs, u32 out_count)
{
	struct dma_fence *finished;

	mutex_lock(&job->entities->lock);
	drm_sched_job_arm(&job->base);
	finished = dma_fence_get(&job->base.s_fence->finished);
	publish(job, finished, outs, out_count);
	kref_get(&job->ref);
	drm_sched_entity_push_job(&job->base);
	mutex_unlock(&job->entities->lock);
	dma_fence_put(finished);
}

static int lock_bos(struct agate_job *job, struct agate_exec *exec)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < job->bo_count; i++)
		ret = agate_exec_lock(exec, job->bos[i].obj);
	return ret;
}

static int validate_bos(struct agate_job *job, struct agate_exec *exec)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < job->bo_count; i++) {
		ret = agate_backing_validate(to_agate_bo(job->bos[i].obj), exec);
		if (!ret)
			ret = agate_mapping_populate(job->bos[i].mapping);
	}
	return ret;
}

static int lock_and_push(struct agate_job *job, struct submit_out *outs, u32 out_count)
{
	struct agate_exec exec;
	int ret;

	agate_exec_init(&exec, AGATE_EXEC_INTERRUPTIBLE);
	do {
		ret = lock_bos(job, &exec);
		if (!ret)
			ret = validate_bos(job, &exec);
	} while (agate_exec_retry(&exec, &ret));
	/* BOs that share a reservation may leave two fences there: a reader's and a writer's. */
	if (!ret)
		ret = agate_exec_reserve(&exec, 2);
	if (!ret)
		ret = add_dependencies(job);
	if (!ret)
		push(job, outs, out_count);
	agate_exec_fini(&exec);
	return ret;
}

/* The caller has called agate_sched_job_init(); this undoes it after a failure. */
static int gather_and_push(struct agate_job *job, struct drm_file *file,
			   const struct drm_agate_submit *args,
			   const struct agate_submit_lists *lists)
{
	struct submit_out *outs;
	int ret;

	outs = gather_outs(file, lists->out, args->out_sync_count);
	if (IS_ERR(outs)) {
		ret = PTR_ERR(outs);
		outs = NULL;
		goto cleanup;
	}
	ret = gather_in_syncs(job, file, lists->in, args->in_sync_count);
	if (!ret)
		ret = gather_bos(job, file, lists->bos, args->bo_handle_count);
	if (ret)
		goto cleanup;

	ret = agate_job_add_done(job);
	if (!ret)
		ret = lock_and_push(job, outs, args->out_sync_count);
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
	       !(args->requirements & ~(AGATE_JD_REQ_FS | AGATE_JD_REQ_ONLY_COMPUTE)) &&
	       args->in_sync_count <= AGATE_SUBMIT_MAX_SYNCS &&
	       args->out_sync_count <= AGATE_SUBMIT_MAX_SYNCS &&
	       args->bo_handle_count <= AGATE_SUBMIT_MAX_BOS;
}

/*
 * Inside drm_dev_enter(), so that unplugging waits for the push.  The caller has called
 * agate_queues_reserve().
 */
static int submit(struct drm_file *file, const struct drm_agate_submit *args,
		  const struct agate_submit_lists *lists)
{
	unsigned int slot = AGATE_SLOT_VERTEX;
	struct agate_job *job;
	int ret;

	if (args->requirements & AGATE_JD_REQ_FS)
		slot = AGATE_SLOT_FRAGMENT;
	job = agate_job_create(to_agate_file(file), args->jc, slot);
	if (!job)
		return -ENOMEM;
	if (args->requirements & AGATE_JD_REQ_ONLY_COMPUTE)
		job->domains = AGATE_PM_COMPUTE;
	ret = agate_sched_job_init(&job->base, &job->entities->entity[slot], file);
	if (!ret)
		ret = gather_and_push(job, file, args, lists);
	if (ret)
		agate_job_abandon(job);
	else
		agate_job_put(job);
	return ret;
}

int agate_submit_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	const struct drm_agate_submit *args = data;
	struct agate_file *afile = to_agate_file(file);
	struct agate_submit_lists lists = {};
	int idx, ret;

	if (!submit_args_are_valid(args))
		return -EINVAL;
	ret = agate_submit_lists_copy(&lists, args);
	if (!ret)
		ret = agate_queues_reserve(afile);
	if (!ret && !drm_dev_enter(dev, &idx)) {
		agate_queues_unreserve(afile);
		ret = -ENODEV;
	} else if (!ret) {
		ret = submit(file, args, &lists);
		drm_dev_exit(idx);
	}
	agate_submit_lists_free(&lists);
	return ret;
}

int agate_submit_wait_bo_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	const struct drm_agate_wait_bo *args = data;
	bool readers = !(args->flags & AGATE_WAIT_BO_WRITERS);
	struct drm_gem_object *obj;
	unsigned long timeout;
	long left;

	if (args->flags & ~AGATE_WAIT_BO_WRITERS)
		return -EINVAL;
	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;

	timeout = drm_timeout_abs_to_jiffies(args->timeout_ns);
	left = dma_resv_wait_timeout(obj->resv, dma_resv_usage_rw(readers), true, timeout);
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

int agate_submit_topic_suspend(struct agate_device *adev)
{
	if (agate_topic_present(adev, AGATE_FEATURE_RESET))
		return 0;
	return atomic_read(&adev->queues.jobs) ? -EBUSY : 0;
}
