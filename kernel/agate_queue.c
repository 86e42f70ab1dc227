// SPDX-License-Identifier: GPL-2.0-only
/*
 * Schedulers, files' queues, and jobs from creation to end.
 *
 * A job is freed in two steps: the scheduler's thread, which must wait for nothing,
 * parks the job; then the worker lets go of everything that the job held.
 */
#include <linux/slab.h>
#include <drm/drm_managed.h>

#include "agate_device.h"
#include "agate_gem.h"
#include "agate_hand_over.h"
#include "agate_listed.h"
#include "agate_lock_order.h"
#include "agate_long.h"
#include "agate_pm.h"
#include "agate_queue.h"
#include "agate_reset.h"
#include "agate_sched.h"
#include "agate_slot.h"
#include "agate_vm.h"

/* ---- A job's life ----------------------------------------------------- */

/*
 * Clients, the scheduler and other drivers wait for the fences of jobs, perhaps while
 * memory is short.  So whatever a fence's way to its signal needs must not wait for
 * memory, nor for a lock under which somebody does.  dma_fence_begin_signalling() tells
 * lockdep where that way is: what the scheduler calls here, agate_slot_serve(),
 * agate_fault_serve(), resets, and the loss of the device.
 */
static struct agate_job *to_agate_job(struct drm_sched_job *base)
{
	return container_of(base, struct agate_job, base);
}

static void entities_release(struct kref *ref)
{
	struct agate_entities *entities = container_of(ref, struct agate_entities, ref);

	mutex_destroy(&entities->lock);
	kfree_rcu(entities, rcu);
}

void agate_entities_put(struct agate_entities *entities)
{
	kref_put(&entities->ref, entities_release);
}

/* The hardware is done with the BOs, or will never start to use them. */
static void job_idle(struct agate_job *job)
{
	int busy = atomic_xchg(&job->busy, 0);

	while (busy--)
		atomic_dec(&to_agate_bo(job->bos[busy].obj)->gpu_users);
}

static void job_done(struct dma_fence *fence, struct dma_fence_cb *cb)
{
	job_idle(container_of(cb, struct agate_job, done_cb));
}

/* One that was handed over needs its scheduler's part until here. */
static void job_release_base(struct agate_job *job)
{
	if (job->base.s_fence)
		agate_sched_job_free(&job->base, job->done);
}

static void job_release(struct agate_parked *parked)
{
	struct agate_job *job = container_of(parked, struct agate_job, parked);
	struct agate_queues *queues = &job->adev->queues;
	struct agate_entities *entities = job->entities;
	unsigned int i;

	/*
	 * If the job never ran, the callback is still on the fence.  Otherwise it
	 * has run, or runs just now: a thread that sees the fence signalled, such
	 * as the scheduler's, has not waited for the callback.
	 * dma_fence_remove_callback() waits for it.
	 */
	if (job->done)
		dma_fence_remove_callback(job->done, &job->done_cb);
	job_idle(job);
	for (i = 0; i < job->bo_count; i++) {
		if (job->bos[i].mapping)
			agate_mapping_put(job->bos[i].mapping);
		drm_gem_object_put(job->bos[i].obj);
	}
	kvfree(job->bos);
	job_release_base(job);
	dma_fence_put(job->done);
	agate_vm_put(job->vm);

	agate_stat_dec(&job->adev->stats, AGATE_STAT_JOBS);
	kfree(job);
	atomic_dec(&entities->jobs);
	kref_put(&entities->ref, entities_release);
	atomic_dec(&queues->jobs);
	wake_up_all(&queues->idle);
}

int agate_queues_reserve(struct agate_file *afile)
{
	atomic_t *jobs = &afile->entities->jobs;

	if (atomic_add_unless(jobs, 1, AGATE_SUBMIT_MAX_JOBS))
		return 0;
	agate_park_release(&afile->adev->park);
	return wait_event_interruptible(afile->adev->queues.idle,
					atomic_add_unless(jobs, 1, AGATE_SUBMIT_MAX_JOBS));
}

void agate_queues_unreserve(struct agate_file *afile)
{
	atomic_dec(&afile->entities->jobs);
	wake_up_all(&afile->adev->queues.idle);
}

static void job_park(struct kref *ref)
{
	struct agate_job *job = container_of(ref, struct agate_job, ref);

	agate_park(&job->adev->park, &job->parked, NULL, job_release);
}

void agate_job_put(struct agate_job *job)
{
	kref_put(&job->ref, job_park);
}

void agate_job_abandon(struct agate_job *job)
{
	job_release(&job->parked);
}

struct agate_job *agate_job_create(struct agate_file *afile, struct agate_vm *vm, u64 jc,
				   unsigned int slot)
{
	struct agate_job *job;

	job = kzalloc(sizeof(*job), GFP_KERNEL_ACCOUNT);
	if (!job) {
		agate_queues_unreserve(afile);
		return NULL;
	}
	kref_init(&job->ref);
	job->adev = afile->adev;
	job->vm = agate_vm_get(vm);
	job->entities = afile->entities;
	kref_get(&job->entities->ref);
	INIT_LIST_HEAD(&job->turn);
	job->jc = jc;
	job->slot = slot;
	job->domains = slot == AGATE_SLOT_VERTEX ? AGATE_PM_ALL : AGATE_PM_COMPUTE;

	atomic_inc(&job->adev->queues.jobs);
	agate_stat_inc(&job->adev->stats, AGATE_STAT_JOBS);
	return job;
}

int agate_job_add_done(struct agate_job *job)
{
	job->done = agate_fence_create(job->adev, job->slot);
	if (!job->done)
		return -ENOMEM;
	/* This callback runs before the scheduler's, which is added when the job runs. */
	dma_fence_add_callback(job->done, &job->done_cb, job_done);
	return 0;
}

void agate_job_set_error(struct agate_job *job, int error)
{
	dma_fence_set_error(job->done, error);
	if (!agate_vm_is_long(job->vm))
		agate_sched_job_set_error(&job->base, error);
}

/* ---- What the scheduler calls ----------------------------------------- */

/*
 * A job that the slot refuses ends with its slot fence, like one that ran.  Without a fence
 * drm_sched_start() would end it with -ECANCELED after a reset, on kernels since 6.8.
 */
static struct dma_fence *queue_refuse(struct agate_job *job, int error)
{
	if (job->has_bos)
		agate_job_to_cpu(job);
	agate_job_set_error(job, error);
	dma_fence_signal(job->done);
	return dma_fence_get(job->done);
}

void agate_job_refuse(struct agate_job *job, int error)
{
	struct agate_slots *slots = &job->adev->slots;
	bool cookie = dma_fence_begin_signalling();
	bool refuse;

	spin_lock(&slots->lock);
	refuse = !job->on_slot && !job->ended;
	if (refuse)
		job->ended = true;
	spin_unlock(&slots->lock);
	if (refuse)
		dma_fence_put(queue_refuse(job, error));
	dma_fence_end_signalling(cookie);
}

/* The GPU has its power. */
static struct dma_fence *queue_start(struct agate_job *job)
{
	bool cookie = dma_fence_begin_signalling();
	struct dma_fence *fence;

	agate_job_to_device(job);
	agate_listed_tell(job);
	fence = agate_slot_run(job);
	if (IS_ERR(fence))
		fence = queue_refuse(job, PTR_ERR(fence));
	dma_fence_end_signalling(cookie);
	return fence;
}

/* A chain on its slot has a reference of its own, and a job that waits for a reset needs none. */
static struct dma_fence *queue_run(struct drm_sched_job *base)
{
	struct agate_job *job = to_agate_job(base);
	struct agate_device *adev = job->adev;
	struct dma_fence *fence;
	int ret;

	if (job->slot == AGATE_SLOT_COMPUTE) {
		agate_long_add(job);
		return dma_fence_get_stub();
	}
	ret = agate_pm_get(adev, job->domains);
	if (ret) {
		agate_job_refuse(job, ret);
		return dma_fence_get(job->done);
	}
	fence = queue_start(job);
	agate_pm_put(adev);
	return fence;
}

/* Without topic "reset" nobody recovers the GPU; a chain that can be stopped still ends. */
static void stop_without_recovery(struct agate_job *job)
{
	struct drm_gpu_scheduler *sched = &job->adev->queues.scheds->slot[job->slot];
	bool cookie;

	agate_sched_stop(sched, &job->base);
	cookie = dma_fence_begin_signalling();
	agate_slot_serve(job->adev);
	if (READ_ONCE(job->on_slot))
		agate_slot_stop(job, true, -ETIME);
	agate_sched_restart(sched);
	dma_fence_end_signalling(cookie);
}

static enum drm_gpu_sched_stat queue_timedout(struct drm_sched_job *base)
{
	struct agate_job *job = to_agate_job(base);
	struct agate_device *adev = job->adev;

	/* The job may have ended, and the GPU be off. */
	agate_pm_keep(adev);
	if (agate_topic_present(adev, AGATE_FEATURE_RESET))
		agate_reset_timedout(job);
	else
		stop_without_recovery(job);
	agate_pm_put(adev);
	return DRM_GPU_SCHED_STAT_NOMINAL;
}

static void queue_free(struct drm_sched_job *base)
{
	struct agate_job *job = to_agate_job(base);
	bool cookie = dma_fence_begin_signalling();

	if (job->slot != AGATE_SLOT_COMPUTE)
		agate_sched_job_free(base, job->done);
	agate_job_put(job);
	dma_fence_end_signalling(cookie);
}

static const struct drm_sched_backend_ops queue_sched_ops = {
	.run_job = queue_run,
	.timedout_job = queue_timedout,
	.free_job = queue_free,
};

/* ---- Files' queues ---------------------------------------------------- */

struct agate_entities *agate_queues_open(struct agate_device *adev)
{
	struct agate_entities *entities;
	unsigned int n;
	int ret;

	entities = kzalloc(sizeof(*entities), GFP_KERNEL_ACCOUNT);
	if (!entities)
		return ERR_PTR(-ENOMEM);
	kref_init(&entities->ref);
	mutex_init(&entities->lock);
	agate_lock_class(&entities->lock, AGATE_LOCK_ENTITIES);
	for (n = 0; n < AGATE_SLOTS_USED; n++) {
		ret = agate_sched_entity_init(&entities->entity[n], &adev->queues.scheds->slot[n]);
		if (ret) {
			while (n--)
				drm_sched_entity_destroy(&entities->entity[n]);
			agate_entities_put(entities);
			return ERR_PTR(ret);
		}
	}
	return entities;
}

/*
 * Wait for the jobs first: the schedulers hand out those that are queued, and
 * agate_slot_run() refuses them.  drm_sched_entity_destroy() must find none, because some
 * kernels leak a reference to the entity's last fence for each job that it has to kill
 * when that fence has signalled, and the fence keeps this module loaded.
 */
void agate_queues_close(struct agate_device *adev, struct agate_entities *entities)
{
	unsigned int n;

	agate_slot_cancel(adev, entities);
	agate_long_cancel(adev);
	agate_park_release(&adev->park);
	wait_event(adev->queues.idle, !atomic_read(&entities->jobs));
	for (n = 0; n < AGATE_SLOTS_USED; n++)
		drm_sched_entity_destroy(&entities->entity[n]);
	agate_entities_put(entities);
}

/* ---- Schedulers ------------------------------------------------------- */

/* The last file is closed: no entity points to a scheduler's run queue any more. */
static void queues_release(struct drm_device *drm, void *unused)
{
	struct agate_queues *queues = &to_agate_device(drm)->queues;
	unsigned int n;

	for (n = 0; n < AGATE_SLOTS_USED; n++)
		agate_sched_fini(&queues->scheds->slot[n]);
	agate_long_release(to_agate_device(drm));
	destroy_workqueue(queues->timeout_wq);
	agate_scheds_put(queues->scheds);
}

int agate_queues_init(struct agate_device *adev)
{
	static const char * const names[AGATE_SLOTS_USED] = {
		"agate-slot0", "agate-slot1", "agate-slot2",
	};
	struct agate_queues *queues = &adev->queues;
	unsigned int n;
	int ret = -ENOMEM;

	atomic_set(&queues->jobs, 0);
	init_waitqueue_head(&queues->idle);
	queues->scheds = agate_scheds_alloc(&adev->stats);
	if (!queues->scheds)
		return -ENOMEM;
	/* Fences wait for it, and memory for fences. */
	queues->timeout_wq = alloc_ordered_workqueue("agate-timeout", WQ_MEM_RECLAIM);
	if (!queues->timeout_wq)
		goto no_timeout_wq;
	ret = agate_long_init(adev);
	if (ret)
		goto no_long;

	for (n = 0; n < AGATE_SLOTS_USED; n++) {
		ret = agate_sched_init(&queues->scheds->slot[n], &queue_sched_ops,
				       adev->slots.depth, agate_reset_timeout(),
				       queues->timeout_wq, names[n], &adev->pdev->dev);
		if (ret)
			goto no_sched;
	}
	return drmm_add_action_or_reset(&adev->drm, queues_release, NULL);

no_sched:
	while (n--)
		agate_sched_fini(&queues->scheds->slot[n]);
	agate_long_release(adev);
no_long:
	destroy_workqueue(queues->timeout_wq);
no_timeout_wq:
	agate_scheds_put(queues->scheds);
	return ret;
}

void agate_queues_fini(struct agate_device *adev)
{
	/* The schedulers still run the queued jobs, and agate_slot_run() refuses each. */
	agate_slot_shutdown(adev);
	agate_long_end_all(adev);
	wait_event(adev->queues.idle, !atomic_read(&adev->queues.jobs));
}
