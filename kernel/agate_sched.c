// SPDX-License-Identifier: GPL-2.0-only
/*
 * drm_sched behind the same calls on every kernel: see agate_sched.h.
 */
#include <linux/slab.h>
#include <drm/drm_file.h>

#include "agate_compat.h"
#include "agate_sched.h"

#ifdef HAVE_SCHED_INIT_ARGS

int agate_sched_init(struct drm_gpu_scheduler *sched, const struct drm_sched_backend_ops *ops,
		     unsigned int depth, long timeout, struct workqueue_struct *timeout_wq,
		     const char *name, struct device *dev)
{
	const struct drm_sched_init_args args = {
		.ops = ops,
#ifdef HAVE_SCHED_SUBMIT_WQ
		.num_rqs = DRM_SCHED_PRIORITY_COUNT,
#endif
		.credit_limit = depth,
		.timeout = timeout,
		.timeout_wq = timeout_wq,
		.name = name,
		.dev = dev,
	};

	return drm_sched_init(sched, &args);
}

#else

int agate_sched_init(struct drm_gpu_scheduler *sched, const struct drm_sched_backend_ops *ops,
		     unsigned int depth, long timeout, struct workqueue_struct *timeout_wq,
		     const char *name, struct device *dev)
{
#ifdef HAVE_SCHED_SUBMIT_WQ
	return drm_sched_init(sched, ops, NULL, DRM_SCHED_PRIORITY_COUNT, depth, 0, timeout,
			      timeout_wq, NULL, name, dev);
#else
	return drm_sched_init(sched, ops, depth, 0, timeout, timeout_wq, NULL, name, dev);
#endif
}

#endif

struct agate_scheds *agate_scheds_alloc(struct agate_stats *stats)
{
	struct agate_scheds *scheds;

	scheds = kzalloc(sizeof(*scheds), GFP_KERNEL);
	if (!scheds)
		return NULL;
	kref_init(&scheds->ref);
	spin_lock_init(&scheds->lock);
	scheds->stats = stats;
	return scheds;
}

static void scheds_release(struct kref *ref)
{
	/* Like a fence: a reader may be reading a name under RCU. */
	kfree_rcu(container_of(ref, struct agate_scheds, ref), rcu);
}

void agate_scheds_put(struct agate_scheds *scheds)
{
	unsigned long flags;

	spin_lock_irqsave(&scheds->lock, flags);
	atomic64_set(&scheds->stats->v[AGATE_STAT_FENCES], 0);
	scheds->stats = NULL;
	spin_unlock_irqrestore(&scheds->lock, flags);
	kref_put(&scheds->ref, scheds_release);
}

struct agate_scheds *agate_scheds_get_fence(struct agate_scheds *scheds)
{
	kref_get(&scheds->ref);
	agate_stat_inc(scheds->stats, AGATE_STAT_FENCES);
	return scheds;
}

void agate_scheds_put_fence(struct agate_scheds *scheds)
{
	unsigned long flags;

	spin_lock_irqsave(&scheds->lock, flags);
	if (scheds->stats)
		agate_stat_dec(scheds->stats, AGATE_STAT_FENCES);
	spin_unlock_irqrestore(&scheds->lock, flags);
	kref_put(&scheds->ref, scheds_release);
}

void agate_sched_fini(struct drm_gpu_scheduler *sched)
{
	drm_sched_fini(sched);
}

int agate_sched_entity_init(struct drm_sched_entity *entity, struct drm_gpu_scheduler *sched)
{
	return drm_sched_entity_init(entity, DRM_SCHED_PRIORITY_NORMAL, &sched, 1, NULL);
}

int agate_sched_job_init(struct drm_sched_job *job, struct drm_sched_entity *entity,
			 struct drm_file *file)
{
#if defined(HAVE_SCHED_JOB_INIT_CLIENT)
	return drm_sched_job_init(job, entity, 1, file, file ? file->client_id : 0);
#elif defined(HAVE_SCHED_JOB_INIT_CREDITS)
	return drm_sched_job_init(job, entity, 1, file);
#else
	return drm_sched_job_init(job, entity, file);
#endif
}

void agate_sched_job_cancel(struct drm_sched_job *job)
{
	drm_sched_job_cleanup(job);
}

void agate_sched_job_free(struct drm_sched_job *job, struct dma_fence *done)
{
	/* The job is off the scheduler's lists: nobody else reads its parent any more. */
	if (!job->s_fence->parent)
		job->s_fence->parent = dma_fence_get(done);
	drm_sched_job_cleanup(job);
}

void agate_sched_job_set_error(struct drm_sched_job *job, int error)
{
	dma_fence_set_error(&job->s_fence->finished, error);
}

void agate_sched_stop(struct drm_gpu_scheduler *sched, struct drm_sched_job *bad)
{
	drm_sched_stop(sched, bad);
}

void agate_sched_restart(struct drm_gpu_scheduler *sched)
{
	drm_sched_resubmit_jobs(sched);
#if defined(HAVE_SCHED_START_RECOVERY)
	drm_sched_start(sched, true);
#elif defined(HAVE_SCHED_START_ERRNO)
	drm_sched_start(sched, 0);
#else
	drm_sched_start(sched);
#endif
}
