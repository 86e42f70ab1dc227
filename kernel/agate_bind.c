// SPDX-License-Identifier: GPL-2.0-only
/*
 * The queue of an address space's changes: see agate_bind.h.
 */
#include <linux/dma-resv.h>
#include <linux/slab.h>
#include <drm/drm_drv.h>
#include <drm/drm_gem.h>
#include <drm/drm_managed.h>

#include "agate_bind.h"
#include "agate_device.h"
#include "agate_gem.h"
#include "agate_lock_order.h"
#include "agate_mover.h"
#include "agate_reset.h"
#include "agate_sched.h"
#include "agate_slot.h"
#include "agate_touch.h"
#include "agate_userptr.h"
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

/* Nobody reached the range before. */
static bool is_new(const struct agate_bind_job *job)
{
	return !job->over && list_empty(&job->steps.drop) && list_empty(&job->stage.gone);
}

/* A GPU that does not answer sees it after its reset. */
static void write_new(struct agate_bind_job *job)
{
	agate_pt_write_cpu(&job->stage);
	agate_mmu_flush(job->vm, job->addr, job->range, AS_COMMAND_FLUSH_PT);
}

/*
 * No chain uses an entry that the GPU still has and the table has no more.  If the GPU does not
 * answer, it may still walk the tables that have gone.
 */
static int write_over(struct agate_bind_job *job)
{
	struct agate_vm *vm = job->vm;
	int locked, ret;

	locked = agate_mmu_lock_region(vm, job->addr, job->range);
	agate_pt_write_cpu(&job->stage);
	ret = agate_mmu_unlock_region(vm, AS_COMMAND_FLUSH_MEM);
	if (locked || ret)
		list_splice_init(&job->stage.gone, &vm->as.limbo);
	return locked ? locked : ret;
}

/* Return: 0; -EIO if the GPU did not answer. */
static int change_table(struct agate_bind_job *job)
{
	struct agate_vm *vm = job->vm;
	int ret = 0;

	mutex_lock(&vm->pt_lock);
	if (is_new(job))
		write_new(job);
	else
		ret = write_over(job);
	mutex_unlock(&vm->pt_lock);
	return ret;
}

/* The mover's stores go past the GPU's caches, and past its TLB. */
static int flush_table(struct agate_bind_job *job)
{
	struct agate_vm *vm = job->vm;
	int ret;

	mutex_lock(&vm->pt_lock);
	ret = agate_mmu_flush(vm, job->addr, job->range, AS_COMMAND_FLUSH_MEM);
	if (ret)
		list_splice_init(&job->stage.gone, &vm->as.limbo);
	mutex_unlock(&vm->pt_lock);
	return ret;
}

/* The scheduler may free the job as soon as the fence signals. */
static void finish(struct agate_bind_job *job, int error)
{
	struct dma_fence *done = dma_fence_get(job->done);

	if (error) {
		agate_sched_job_set_error(&job->base, error);
		dma_fence_set_error(done, error);
	}
	dma_fence_signal(done);
	dma_fence_put(done);
}

static void gpu_forgot(struct work_struct *work)
{
	bool cookie = dma_fence_begin_signalling();

	finish(container_of(work, struct agate_bind_job, work), 0);
	dma_fence_end_signalling(cookie);
}

/*
 * While the device goes, too: chains run until their slots shut down, and what this job gives back
 * must not be in a table by then.  Removal waits for the job before it stops the address spaces.
 *
 * A GPU that did not answer forgets the old entries in its reset, which is on its way: the queue
 * of resets is ordered, so the fence signals behind it.
 */
static void change(struct agate_bind_job *job, int (*how)(struct agate_bind_job *job))
{
	struct agate_device *adev = job->vm->adev;
	int ret = how(job);

	if (ret == -EIO && agate_topic_present(adev, AGATE_FEATURE_RESET)) {
		INIT_WORK(&job->work, gpu_forgot);
		queue_work(adev->queues.timeout_wq, &job->work);
		return;
	}
	if (ret == -EIO)
		ret = 0;
	finish(job, drm_dev_is_unplugged(&adev->drm) ? -ENODEV : ret);
}

/* What the mover could not write, the CPU writes. */
static void bind_stored(struct work_struct *work)
{
	struct agate_bind_job *job = container_of(work, struct agate_bind_job, work);
	bool failed = dma_fence_get_status(job->storing) < 0;
	bool cookie = dma_fence_begin_signalling();

	change(job, failed ? change_table : flush_table);
	dma_fence_end_signalling(cookie);
}

/* Called with the fence's lock held, as a rule. */
static void queue_stored(struct dma_fence *fence, struct dma_fence_cb *cb)
{
	struct agate_bind_job *job = container_of(cb, struct agate_bind_job, stored);

	queue_work(job->vm->adev->queues.bind_wq, &job->work);
}

static void store(struct agate_bind_job *job)
{
	job->storing = agate_mover_push(job->store);
	job->store = NULL;
	if (dma_fence_add_callback(job->storing, &job->stored, queue_stored))
		queue_stored(job->storing, &job->stored);
}

static struct dma_fence *bind_run(struct drm_sched_job *base)
{
	struct agate_bind_job *job = to_bind_job(base);
	struct dma_fence *done = dma_fence_get(job->done);
	bool cookie = dma_fence_begin_signalling();

	if (job->store)
		store(job);
	else
		change(job, change_table);
	dma_fence_end_signalling(cookie);
	return done;
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
		agate_bo_put(mapping->bo);
		kfree(mapping);
	}
}

static void job_free_memory(struct agate_bind_job *job)
{
	struct agate_device *adev = job->vm->adev;
	atomic_t *jobs = job->jobs;

	dma_fence_put(job->storing);
	dma_fence_put(job->done);
	agate_vm_put(job->vm);
	kfree(job);
	agate_stat_dec(&adev->stats, AGATE_STAT_JOBS);
	if (jobs)
		atomic_dec(jobs);
	atomic_dec(&adev->queues.jobs);
	wake_up_all(&adev->queues.idle);
}

static void job_release(struct agate_parked *parked)
{
	struct agate_bind_job *job = container_of(parked, struct agate_bind_job, parked);

	free_dropped(&job->steps);
	agate_pt_stage_fini(&job->stage);
	job_free_memory(job);
}

static void bind_free(struct drm_sched_job *base)
{
	struct agate_bind_job *job = to_bind_job(base);
	bool cookie = dma_fence_begin_signalling();

	agate_sched_job_free(base, job->done);
	agate_park(&job->vm->adev->park, &job->parked, NULL, job_release);
	dma_fence_end_signalling(cookie);
}

static const struct drm_sched_backend_ops bind_sched_ops = {
	.run_job = bind_run,
	.timedout_job = bind_timedout,
	.free_job = bind_free,
};

/* ---- Jobs -------------------------------------------------------------- */

static int steps_init(struct agate_va_steps *steps)
{
	steps->left = kzalloc(sizeof(*steps->left), GFP_KERNEL_ACCOUNT);
	steps->right = kzalloc(sizeof(*steps->right), GFP_KERNEL_ACCOUNT);
	return steps->left && steps->right ? 0 : -ENOMEM;
}

static struct agate_bind_job *job_alloc(struct agate_vm *vm)
{
	struct agate_device *adev = vm->adev;
	struct agate_bind_job *job = kzalloc(sizeof(*job), GFP_KERNEL_ACCOUNT);

	if (!job)
		return NULL;
	atomic_inc(&adev->queues.jobs);
	agate_stat_inc(&adev->stats, AGATE_STAT_JOBS);
	job->vm = agate_vm_get(vm);
	INIT_LIST_HEAD(&job->steps.drop);
	INIT_WORK(&job->work, bind_stored);
	return job;
}

static int job_init(struct agate_bind_job *job)
{
	job->done = agate_fence_create(job->vm->adev, AGATE_FENCE_BIND);
	if (!job->done)
		return -ENOMEM;
	return agate_sched_job_init(&job->base, &job->vm->bound.entity, NULL);
}

struct agate_bind_job *agate_bind_job_create(struct agate_file *afile, struct agate_vm *vm)
{
	struct agate_bind_job *job = job_alloc(vm);
	int ret;

	if (!job) {
		agate_queues_unreserve(afile);
		return ERR_PTR(-ENOMEM);
	}
	job->jobs = &afile->entities->jobs;
	ret = steps_init(&job->steps);
	if (!ret)
		ret = job_init(job);
	if (!ret)
		return job;
	kfree(job->steps.left);
	kfree(job->steps.right);
	job_free_memory(job);
	return ERR_PTR(ret);
}

static bool has_to_wait(struct agate_bind_job *job)
{
	struct dma_fence *fence;
	unsigned long index;

	xa_for_each(&job->base.dependencies, index, fence) {
		if (!dma_fence_is_signaled(fence))
			return true;
	}
	return false;
}

int agate_bind_plan_write(struct agate_bind_job *job)
{
	struct agate_mover_job *store;

	if (!job->stage.updates || !has_to_wait(job))
		return 0;
	/* Here chains go on meanwhile, and only the CPU can lock the range before it writes. */
	if (agate_vm_faults(job->vm) && !is_new(job))
		return 0;
	store = agate_mover_job_create(job->vm->adev, job->stage.updates);
	if (IS_ERR(store))
		return PTR_ERR(store);
	agate_pt_write_gpu(&job->stage, store->cmds);
	job->store = store;
	return 0;
}

void agate_bind_job_abandon(struct agate_bind_job *job)
{
	if (job->store)
		agate_mover_job_abandon(job->store);
	if (job->staged)
		agate_pt_abort(&job->stage);
	agate_sched_job_cancel(&job->base);
	kfree(job->steps.left);
	kfree(job->steps.right);
	kfree(job->steps.add);
	job_free_memory(job);
}

struct dma_fence *agate_bind_arm(struct agate_bind_job *job)
{
	struct agate_vm *vm = job->vm;
	struct agate_bound *bound = &vm->bound;

	lockdep_assert_held(&vm->lock);
	dma_resv_assert_held(bound->root->resv);

	drm_sched_job_arm(&job->base);
	mutex_lock(&vm->pt_lock);
	agate_pt_commit(&job->stage);
	mutex_unlock(&vm->pt_lock);
	dma_fence_put(bound->last);
	bound->last = dma_fence_get(&job->base.s_fence->finished);
	return bound->last;
}

void agate_bind_push(struct agate_bind_job *job)
{
	drm_sched_entity_push_job(&job->base);
}

/* ---- What has moved ---------------------------------------------------- */

static int stage_again(struct agate_bind_job *job, struct agate_mapping *mapping)
{
	struct dma_resv *resv = mapping->vm_bo->bo->base.resv;
	struct agate_runs runs;
	int ret;

	job->addr = agate_mapping_va(mapping);
	job->range = mapping->size;
	job->over = agate_is_userptr(mapping->vm_bo->bo);
	ret = agate_backing_populate(mapping->vm_bo->bo, mapping->offset, mapping->size, &runs);
	if (!ret)
		ret = dma_resv_reserve_fences(resv, 1);
	if (!ret)
		ret = agate_pt_stage_map(&job->stage, &job->vm->as.pgt, job->addr, runs,
					 mapping->prot);
	job->staged = !ret;
	return ret;
}

/* Its memory stays until the job has run: as for every other change. */
static void push_again(struct agate_bind_job *job, struct agate_mapping *mapping)
{
	struct agate_bo *bo = mapping->vm_bo->bo;
	struct dma_fence *fence;

	dma_resv_assert_held(bo->base.resv);

	fence = agate_bind_arm(job);
	mutex_lock(&bo->mappings_lock);
	mapping->active = true;
	mutex_unlock(&bo->mappings_lock);
	dma_resv_add_fence(bo->base.resv, fence, DMA_RESV_USAGE_BOOKKEEP);
	agate_bind_push(job);
}

static struct agate_bind_job *create_again(struct agate_vm *vm)
{
	struct agate_bind_job *job = job_alloc(vm);
	int ret;

	if (!job)
		return ERR_PTR(-ENOMEM);
	ret = job_init(job);
	if (!ret)
		return job;
	job_free_memory(job);
	return ERR_PTR(ret);
}

int agate_bind_again(struct agate_mapping *mapping)
{
	struct agate_bind_job *job = create_again(mapping->vm_bo->vm);
	int ret;

	if (IS_ERR(job))
		return PTR_ERR(job);
	ret = stage_again(job, mapping);
	if (ret)
		agate_bind_job_abandon(job);
	else
		push_again(job, mapping);
	return ret;
}

/* ---- What the GPU misses ----------------------------------------------- */

/* Its turn in the queue comes behind the change that makes the entries, and it only flushes. */
static int stage_nothing(struct agate_bind_job *job, struct agate_mapping *mapping)
{
	job->addr = agate_mapping_va(mapping);
	job->range = mapping->size;
	job->stage.pgt = &job->vm->as.pgt;
	INIT_LIST_HEAD(&job->stage.fresh);
	INIT_LIST_HEAD(&job->stage.gone);
	return dma_resv_reserve_fences(mapping->vm_bo->bo->base.resv, 1);
}

/* No chain comes to memory before its contents. */
static int add_moves(struct agate_bind_job *job, struct dma_resv *resv)
{
	struct dma_resv_iter cursor;
	struct dma_fence *fence;
	int ret = 0;

	dma_resv_for_each_fence(&cursor, resv, DMA_RESV_USAGE_KERNEL, fence) {
		/* It takes over the reference even when it fails. */
		ret = drm_sched_job_add_dependency(&job->base, dma_fence_get(fence));
		if (ret)
			break;
	}
	return ret;
}

int agate_bind_for_fault(struct agate_mapping *mapping)
{
	struct agate_bo *bo = mapping->vm_bo->bo;
	struct agate_bind_job *job = create_again(mapping->vm_bo->vm);
	int ret;

	if (IS_ERR(job))
		return PTR_ERR(job);
	ret = READ_ONCE(mapping->active) ? stage_nothing(job, mapping) :
					   stage_again(job, mapping);
	if (!ret)
		ret = add_moves(job, bo->base.resv);
	if (!ret)
		ret = agate_bind_plan_write(job);
	if (!ret)
		ret = agate_userptr_hold_one(bo);
	if (ret) {
		agate_bind_job_abandon(job);
		return ret;
	}
	push_again(job, mapping);
	agate_userptr_let_go_one(bo);
	return 0;
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

int agate_bind_open(struct agate_vm *vm, u32 flags)
{
	struct agate_bound *bound = &vm->bound;
	struct drm_gem_object *root;
	int ret;

	INIT_LIST_HEAD(&bound->externals);
	INIT_LIST_HEAD(&bound->userptrs);
	mutex_init(&bound->userptr_lock);
	agate_lock_class(&bound->userptr_lock, AGATE_LOCK_COLLECT);
	spin_lock_init(&bound->evicted_lock);
	INIT_LIST_HEAD(&bound->evicted);
	agate_chains_init(&bound->chains, flags & AGATE_VM_LONG_RUNNING);
	agate_faults_init(&bound->faults, flags & AGATE_VM_FAULT_MODE);
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
	bound->pt_locks = (struct agate_pt_locks) {
		.vm = &vm->lock, .resv = root->resv, .pt = &vm->pt_lock,
	};
	vm->as.pgt.locks = &bound->pt_locks;
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
	agate_toucher_forget(vm);
	drop_all(vm);
	drm_sched_entity_destroy(&vm->bound.entity);
	agate_chains_fini(&vm->bound.chains);
	dma_fence_put(vm->bound.last);
	drm_gem_object_put(vm->bound.root);
	mutex_destroy(&vm->bound.userptr_lock);
}

/* ---- Life -------------------------------------------------------------- */

/* The last file is closed; what is parked may still be an address space with its queue. */
static void bind_release(struct drm_device *drm, void *unused)
{
	struct agate_device *adev = to_agate_device(drm);

	agate_park_flush(&adev->park);
	agate_sched_fini(sched_of(adev));
	destroy_workqueue(adev->queues.bind_wq);
}

int agate_bind_init(struct agate_device *adev)
{
	int ret;

	adev->queues.bind_wq = alloc_workqueue("agate-bind", WQ_MEM_RECLAIM, 0);
	if (!adev->queues.bind_wq)
		return -ENOMEM;
	ret = agate_sched_init(sched_of(adev), &bind_sched_ops, 1, MAX_SCHEDULE_TIMEOUT,
			       adev->queues.timeout_wq, "agate-bind", &adev->pdev->dev);
	if (ret) {
		destroy_workqueue(adev->queues.bind_wq);
		return ret;
	}
	return drmm_add_action_or_reset(&adev->drm, bind_release, NULL);
}
