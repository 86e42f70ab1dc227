// SPDX-License-Identifier: GPL-2.0-only
/*
 * The queue of an address space's changes: see agate_bind.h.
 */
#include <linux/slab.h>
#include <drm/drm_drv.h>
#include <drm/drm_gem.h>
#include <drm/drm_managed.h>

#include "agate_bind.h"
#include "agate_device.h"
#include "agate_reset.h"
#include "agate_sched.h"
#include "agate_slot.h"
#include "agate_vm.h"

static struct agate_bind_job *to_bind_job(struct drm_sched_job *base)
{
	return container_of(base, struct agate_bind_job, base);
}

static struct drm_gpu_scheduler *sched_of(struct agate_device *adev)
{
	return &adev->queues.scheds->bind;
}

/* ---- What the scheduler calls ------------------------------------------ */

/* Return: 0; -EIO if the GPU did not answer.  There is a table page for whatever this needs. */
static int change_table(struct agate_bind_job *job)
{
	struct agate_vm *vm = job->vm;
	int ret = 0, mapped = 0;

	mutex_lock(&vm->pt_lock);
	if (!list_empty(&job->steps.drop)) {
		vm->as.reserve = &job->tables;
		ret = agate_mmu_unmap(vm, job->addr, job->range);
		vm->as.reserve = NULL;
	}
	if (job->steps.add)
		mapped = agate_mmu_map_runs(vm, job->addr, job->runs, job->prot, &job->tables);
	mutex_unlock(&vm->pt_lock);
	WARN_ON(mapped || ret == -ENOMEM);
	return ret;
}

/* A GPU that did not answer forgets the old entries in its reset, which is scheduled. */
static int change(struct agate_bind_job *job)
{
	struct agate_device *adev = job->vm->adev;
	int ret = -ENODEV;
	int idx;

	if (!drm_dev_enter(&adev->drm, &idx))
		return -ENODEV;
	ret = change_table(job);
	if (ret == -EIO && agate_topic_present(adev, AGATE_FEATURE_RESET))
		flush_work(&adev->reset.work);
	drm_dev_exit(idx);
	return ret == -EIO ? 0 : ret;
}

static struct dma_fence *bind_run(struct drm_sched_job *base)
{
	struct agate_bind_job *job = to_bind_job(base);
	bool cookie = dma_fence_begin_signalling();
	int ret = change(job);

	if (ret) {
		agate_sched_job_set_error(base, ret);
		dma_fence_set_error(job->done, ret);
	}
	dma_fence_signal(job->done);
	dma_fence_end_signalling(cookie);
	return dma_fence_get(job->done);
}

/* Nothing here waits for the GPU. */
static enum drm_gpu_sched_stat bind_timedout(struct drm_sched_job *base)
{
	WARN_ON(1);
	return DRM_GPU_SCHED_STAT_NOMINAL;
}

static void free_dropped(struct agate_va_steps *steps)
{
	struct agate_mapping *mapping, *next;

	list_for_each_entry_safe(mapping, next, &steps->drop, step) {
		agate_vm_bo_put(mapping->vm_bo);
		kfree(mapping);
	}
}

static void job_free_memory(struct agate_bind_job *job)
{
	struct agate_device *adev = job->vm->adev;
	atomic_t *jobs = job->jobs;

	agate_table_reserve_drain(job->vm, &job->tables);
	dma_fence_put(job->done);
	agate_vm_put(job->vm);
	kfree(job);
	agate_stat_dec(&adev->stats, AGATE_STAT_JOBS);
	atomic_dec(jobs);
	atomic_dec(&adev->queues.jobs);
	wake_up_all(&adev->queues.idle);
}

static void job_release(struct agate_parked *parked)
{
	struct agate_bind_job *job = container_of(parked, struct agate_bind_job, parked);

	free_dropped(&job->steps);
	job_free_memory(job);
}

static void bind_free(struct drm_sched_job *base)
{
	struct agate_bind_job *job = to_bind_job(base);

	agate_sched_job_free(base, job->done);
	agate_park(&job->vm->adev->park, &job->parked, NULL, job_release);
}

static const struct drm_sched_backend_ops bind_sched_ops = {
	.run_job = bind_run,
	.timedout_job = bind_timedout,
	.free_job = bind_free,
};

/* ---- Jobs -------------------------------------------------------------- */

static int steps_init(struct agate_va_steps *steps)
{
	INIT_LIST_HEAD(&steps->drop);
	steps->left = kzalloc(sizeof(*steps->left), GFP_KERNEL_ACCOUNT);
	steps->right = kzalloc(sizeof(*steps->right), GFP_KERNEL_ACCOUNT);
	return steps->left && steps->right ? 0 : -ENOMEM;
}

struct agate_bind_job *agate_bind_job_create(struct agate_file *afile, struct agate_vm *vm)
{
	struct agate_device *adev = afile->adev;
	struct agate_bind_job *job = kzalloc(sizeof(*job), GFP_KERNEL_ACCOUNT);
	int ret = -ENOMEM;

	if (!job) {
		agate_queues_unreserve(afile);
		return ERR_PTR(-ENOMEM);
	}
	atomic_inc(&adev->queues.jobs);
	agate_stat_inc(&adev->stats, AGATE_STAT_JOBS);
	job->vm = agate_vm_get(vm);
	job->jobs = &afile->entities->jobs;
	agate_table_reserve_init(&job->tables);
	ret = steps_init(&job->steps);
	if (!ret) {
		job->done = agate_fence_create(adev, AGATE_FENCE_BIND);
		ret = job->done ? 0 : -ENOMEM;
	}
	if (!ret)
		ret = agate_sched_job_init(&job->base, &vm->bound.entity, NULL);
	if (!ret)
		return job;
	kfree(job->steps.left);
	kfree(job->steps.right);
	job_free_memory(job);
	return ERR_PTR(ret);
}

void agate_bind_job_abandon(struct agate_bind_job *job)
{
	agate_sched_job_cancel(&job->base);
	kfree(job->steps.left);
	kfree(job->steps.right);
	kfree(job->steps.add);
	job_free_memory(job);
}

struct dma_fence *agate_bind_arm(struct agate_bind_job *job)
{
	lockdep_assert_held_write(&job->vm->lock);

	drm_sched_job_arm(&job->base);
	return dma_fence_get(&job->base.s_fence->finished);
}

void agate_bind_push(struct agate_bind_job *job)
{
	drm_sched_entity_push_job(&job->base);
}

/* ---- Address spaces ---------------------------------------------------- */

static void root_free(struct drm_gem_object *root)
{
	drm_gem_object_release(root);
	kfree(root);
}

static const struct drm_gem_object_funcs root_funcs = {
	.free = root_free,
};

int agate_bind_open(struct agate_vm *vm)
{
	struct agate_bound *bound = &vm->bound;
	struct drm_gem_object *root;
	int ret;

	INIT_LIST_HEAD(&bound->externals);
	spin_lock_init(&bound->evicted_lock);
	INIT_LIST_HEAD(&bound->evicted);
	root = kzalloc(sizeof(*root), GFP_KERNEL_ACCOUNT);
	if (!root)
		return -ENOMEM;
	ret = agate_sched_entity_init(&bound->entity, sched_of(vm->adev));
	if (ret) {
		kfree(root);
		return ret;
	}
	root->funcs = &root_funcs;
	drm_gem_private_object_init(&vm->adev->drm, root, PAGE_SIZE);
	bound->root = root;
	return 0;
}

static void drop_all(struct agate_vm *vm)
{
	struct drm_mm_node *node, *next;

	drm_mm_for_each_node_safe(node, next, &vm->mm) {
		struct agate_mapping *mapping = container_of(node, struct agate_mapping, node);
		struct agate_vm_bo *vm_bo = mapping->vm_bo;

		mutex_lock(&vm_bo->bo->mappings_lock);
		list_del(&mapping->link);
		mutex_unlock(&vm_bo->bo->mappings_lock);
		drm_mm_remove_node(node);
		agate_stat_dec(&vm->adev->stats, AGATE_STAT_VA_NODES);
		kfree(mapping);
		agate_vm_bo_put(vm_bo);
	}
}

void agate_bind_close(struct agate_vm *vm)
{
	drop_all(vm);
	drm_sched_entity_destroy(&vm->bound.entity);
	dma_fence_put(vm->bound.last);
	drm_gem_object_put(vm->bound.root);
}

/* ---- Life -------------------------------------------------------------- */

/* The last file is closed; what is parked may still be an address space with its queue. */
static void bind_release(struct drm_device *drm, void *unused)
{
	struct agate_device *adev = to_agate_device(drm);

	agate_park_flush(&adev->park);
	agate_sched_fini(sched_of(adev));
}

int agate_bind_init(struct agate_device *adev)
{
	int ret;

	ret = agate_sched_init(sched_of(adev), &bind_sched_ops, 1, MAX_SCHEDULE_TIMEOUT,
			       adev->queues.timeout_wq, "agate-bind", &adev->pdev->dev);
	if (ret)
		return ret;
	return drmm_add_action_or_reset(&adev->drm, bind_release, NULL);
}
