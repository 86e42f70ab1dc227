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
#include <linux/dma-resv.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <drm/drm_drv.h>
#include <drm/drm_gem.h>
#include <drm/drm_utils.h>

#include "agate_device.h"
#include "agate_exec.h"
#include "agate_gem.h"
#include "agate_long.h"
#include "agate_pm.h"
#include "agate_queue.h"
#include "agate_sched.h"
#include "agate_slot.h"
#include "agate_submit.h"
#include "agate_submit_lists.h"
#include "agate_userptr.h"
#include "agate_vm.h"
#include "agate_vm_bind.h"
#include "agate_vm_ioctl.h"

/* How often a job is pushed whose memory is a process's, and changes meanwhile. */
#define TRIES	16

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

	if (agate_vm_is_bound(job->vm))
		return agate_vm_add_dependencies(job);
	for (i = 0; !ret && i < job->bo_count; i++)
		ret = add_bo_dependencies(job, &job->bos[i]);
	return ret;
}

static void publish(struct agate_job *job, struct dma_fence *finished, struct agate_syncs *syncs)
{
	u32 i;

	if (agate_vm_is_bound(job->vm))
		agate_vm_publish(job->vm, finished);
	for (i = 0; i < job->bo_count; i++)
		dma_resv_add_fence(job->bos[i].obj->resv, finished,
				   job->bos[i].flags & AGATE_SUBMIT_BO_WRITE ?
				   DMA_RESV_USAGE_WRITE : DMA_RESV_USAGE_READ);
	agate_syncs_publish(syncs, finished);
}

/*
 * From here on nothing fails, unless memory of a process has gone meanwhile: -EAGAIN.
 */
static int push(struct agate_job *job, struct agate_syncs *syncs)
{
	struct dma_fence *finished;
	int ret;

	mutex_lock(&job->entities->lock);
	ret = agate_userptr_hold(job->vm);
	if (ret) {
		mutex_unlock(&job->entities->lock);
		return ret;
	}
	drm_sched_job_arm(&job->base);
	finished = dma_fence_get(&job->base.s_fence->finished);
	publish(job, finished, syncs);
	kref_get(&job->ref);
	drm_sched_entity_push_job(&job->base);
	agate_userptr_let_go(job->vm);
	mutex_unlock(&job->entities->lock);
	dma_fence_put(finished);
	return 0;
}

static int lock_bos(struct agate_job *job, struct agate_exec *exec)
{
	unsigned int i;
	int ret = 0;

	if (agate_vm_is_bound(job->vm))
		return agate_vm_lock_all(job->vm, exec);
	for (i = 0; !ret && i < job->bo_count; i++)
		ret = agate_exec_lock(exec, job->bos[i].obj);
	return ret;
}

static int validate_bos(struct agate_job *job, struct agate_exec *exec)
{
	unsigned int i;
	int ret = 0;

	if (agate_vm_is_bound(job->vm)) {
		ret = agate_vm_rebind(job->vm, exec);
		return ret ? ret : agate_userptr_rebind(job->vm);
	}
	for (i = 0; !ret && i < job->bo_count; i++) {
		ret = agate_backing_validate(to_agate_bo(job->bos[i].obj), exec);
		if (!ret)
			ret = agate_mapping_populate(job->bos[i].mapping);
	}
	return ret;
}

static int lock_and_push(struct agate_job *job, struct agate_syncs *syncs)
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
		ret = push(job, syncs);
	agate_exec_fini(&exec);
	return ret;
}

/* Memory of processes may go until the job is pushed. */
static int collect_and_push(struct agate_job *job, struct agate_syncs *syncs)
{
	unsigned int tries = TRIES;
	int ret;

	do {
		ret = agate_userptr_collect(job->vm);
		if (!ret)
			ret = lock_and_push(job, syncs);
	} while (ret == -EAGAIN && --tries && !signal_pending(current));
	return ret;
}

/* The worker finds what it needs when its turn comes, and nobody waits for it. */
static int hand_over(struct agate_job *job)
{
	if (agate_userptr_of_others(job->vm))
		return -EPERM;
	mutex_lock(&job->entities->lock);
	drm_sched_job_arm(&job->base);
	kref_get(&job->ref);
	drm_sched_entity_push_job(&job->base);
	mutex_unlock(&job->entities->lock);
	return 0;
}

static int begin_and_push(struct agate_job *job, struct agate_syncs *syncs)
{
	int ret = agate_userptr_begin(job->vm);

	if (!ret) {
		ret = collect_and_push(job, syncs);
		agate_userptr_end(job->vm);
	}
	return ret;
}

/* What is bound stays so meanwhile.  A file's own address space needs no such care. */
static int steady_and_push(struct agate_job *job, struct agate_syncs *syncs)
{
	int ret = 0;

	if (!agate_vm_is_bound(job->vm))
		return lock_and_push(job, syncs);
	ret = down_read_interruptible(&job->vm->lock);
	if (ret)
		return ret;
	ret = agate_vm_is_long(job->vm) ? hand_over(job) : begin_and_push(job, syncs);
	up_read(&job->vm->lock);
	return ret;
}

/* The caller has called agate_sched_job_init(); this undoes it after a failure. */
static int gather_and_push(struct agate_job *job, struct drm_file *file,
			   const struct drm_agate_submit *args, struct agate_submit_lists *lists)
{
	int ret;

	ret = agate_syncs_gather(&lists->syncs, &job->base, file);
	if (!ret)
		ret = gather_bos(job, file, lists->bos, args->bo_handle_count);
	if (!ret)
		ret = agate_job_add_done(job);
	if (!ret)
		ret = steady_and_push(job, &lists->syncs);
	if (ret)
		agate_sched_job_cancel(&job->base);
	return ret;
}

/* ---- ioctls ----------------------------------------------------------- */

static bool submit_args_are_valid(const struct drm_agate_submit *args)
{
	return args->jc && IS_ALIGNED(args->jc, 64) && !args->flags &&
	       !(args->vm_id && args->bo_handle_count) &&
	       !(args->requirements & ~(AGATE_JD_REQ_FS | AGATE_JD_REQ_ONLY_COMPUTE)) &&
	       args->bo_handle_count <= AGATE_SUBMIT_MAX_BOS;
}

static unsigned int slot_of(const struct agate_vm *vm, const struct drm_agate_submit *args)
{
	if (agate_vm_is_long(vm))
		return AGATE_SLOT_COMPUTE;
	return args->requirements & AGATE_JD_REQ_FS ? AGATE_SLOT_FRAGMENT : AGATE_SLOT_VERTEX;
}

/* A job that may run for ever has no fence. */
static int vm_takes(const struct agate_vm *vm, const struct drm_agate_submit *args)
{
	if (!agate_vm_is_long(vm))
		return 0;
	if (args->out_sync_count || args->requirements & AGATE_JD_REQ_FS)
		return -EINVAL;
	return agate_vm_banned(vm);
}

/*
 * Inside drm_dev_enter(), so that unplugging waits for the push.  The caller has called
 * agate_queues_reserve().
 */
static int submit(struct drm_file *file, struct agate_vm *vm,
		  const struct drm_agate_submit *args, struct agate_submit_lists *lists)
{
	unsigned int slot = slot_of(vm, args);
	struct agate_job *job;
	int ret;

	job = agate_job_create(to_agate_file(file), vm, args->jc, slot);
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

static int enter_and_submit(struct drm_file *file, struct agate_vm *vm,
			    const struct drm_agate_submit *args, struct agate_submit_lists *lists)
{
	struct agate_file *afile = to_agate_file(file);
	int idx, ret;

	ret = agate_queues_reserve(afile);
	if (ret)
		return ret;
	if (!drm_dev_enter(&afile->adev->drm, &idx)) {
		agate_queues_unreserve(afile);
		return -ENODEV;
	}
	ret = submit(file, vm, args, lists);
	drm_dev_exit(idx);
	return ret;
}

/* Memory of processes that is not there may come late: nothing is held meanwhile. */
static int touch_and_submit(struct drm_file *file, struct agate_vm *vm,
			    const struct drm_agate_submit *args, struct agate_submit_lists *lists)
{
	unsigned int tries = TRIES;
	int ret;

	while ((ret = enter_and_submit(file, vm, args, lists)) == -ENODATA) {
		ret = --tries ? agate_userptr_touch(vm) : -EAGAIN;
		if (ret)
			break;
	}
	return ret;
}

int agate_submit_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	const struct drm_agate_submit *args = data;
	struct agate_file *afile = to_agate_file(file);
	struct agate_submit_lists lists = {};
	struct agate_vm *vm;
	int ret;

	if (!submit_args_are_valid(args))
		return -EINVAL;
	vm = args->vm_id ? agate_vm_lookup(afile, args->vm_id) : agate_vm_get(afile->vm);
	if (!vm)
		return -ENOENT;
	ret = vm_takes(vm, args);
	if (!ret)
		ret = agate_submit_lists_copy(&lists, args);
	if (!ret)
		ret = touch_and_submit(file, vm, args, &lists);
	agate_submit_lists_free(&lists);
	agate_vm_put(vm);
	return ret;
}

/*
 * The clock of jiffies may be late, as on a virtual CPU that did not run for a while, and what
 * is counted in jiffies from then on ends early.  So ask the clock that the deadline is told by.
 */
static long wait_until(struct dma_resv *resv, enum dma_resv_usage usage, s64 deadline)
{
	unsigned long timeout;
	long left;

	do {
		timeout = drm_timeout_abs_to_jiffies(deadline);
		left = dma_resv_wait_timeout(resv, usage, true, timeout);
	} while (!left && timeout);
	return left;
}

int agate_submit_wait_bo_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	const struct drm_agate_wait_bo *args = data;
	bool readers = !(args->flags & AGATE_WAIT_BO_WRITERS);
	struct drm_gem_object *obj;
	long left;

	if (args->flags & ~AGATE_WAIT_BO_WRITERS)
		return -EINVAL;
	obj = drm_gem_object_lookup(file, args->handle);
	if (!obj)
		return -ENOENT;

	/* No fence would say when its jobs have ended. */
	if (to_agate_bo(obj)->flags & AGATE_BO_LONG) {
		drm_gem_object_put(obj);
		return -EINVAL;
	}
	left = wait_until(obj->resv, dma_resv_usage_rw(readers), args->timeout_ns);
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
