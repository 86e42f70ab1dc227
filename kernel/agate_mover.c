// SPDX-License-Identifier: GPL-2.0-only
/*
 * The mover's ring, its jobs, and what happens when a command fails: see agate_mover.h.
 */
#include <linux/io.h>
#include <linux/slab.h>
#include <drm/drm_managed.h>

#include "agate_card.h"
#include "agate_card_device.h"
#include "agate_device.h"
#include "agate_fw.h"
#include "agate_lock_order.h"
#include "agate_mover.h"
#include "agate_sched.h"
#include "agate_slot.h"

/* The mover gives a command up after some seconds: nothing takes longer than these looks. */
#define MOST_LOOKS	50
/* A move of 1 GiB takes less, and a look at HEAD tells a slow one from a hung one. */
#define MOVER_TIMEOUT	msecs_to_jiffies(2000)

static struct agate_mover_job *to_mover_job(struct drm_sched_job *base)
{
	return container_of(base, struct agate_mover_job, base);
}

static struct drm_gpu_scheduler *sched_of(struct agate_device *adev)
{
	return &adev->queues.scheds->mover;
}

/* ---- The ring ---------------------------------------------------------- */

/* It is memory of the card: written in order, and never read. */
static void ring_write(struct agate_mover *mover, u32 number, const struct agate_mover_cmd *cmd)
{
	lockdep_assert_held(&mover->lock);

	memcpy_toio(&mover->ring[number % AGATE_RING_COMMANDS], cmd, sizeof(*cmd));
}

static void ring_append(struct agate_mover *mover, struct agate_mover_job *job)
{
	const struct agate_mover_cmd fence = {
		.op = AGATE_MOVER_FENCE, .flags = AGATE_MOVER_IRQ, .seqno = job->seqno,
	};
	unsigned int i;

	for (i = 0; i < job->count; i++)
		ring_write(mover, mover->tail++, &job->cmds[i]);
	ring_write(mover, mover->tail++, &fence);
	/* The commands leave the CPU's write buffers before the mover hears of them. */
	wmb();
}

/* The mover skips what a job has left, and carries out its FENCE. */
static void ring_skip(struct agate_mover *mover, struct agate_mover_job *job, u32 head)
{
	static const struct agate_mover_cmd nop = { .op = AGATE_MOVER_NOP };

	for (; head != job->head + job->count; head++)
		ring_write(mover, head, &nop);
	/* As in ring_append(). */
	wmb();
}

/* ---- Jobs end ---------------------------------------------------------- */

/* The first error is the one that is told. */
static void job_set_error(struct agate_mover_job *job, int error)
{
	if (job->done->error)
		return;
	agate_sched_job_set_error(&job->base, error);
	dma_fence_set_error(job->done, error);
}

static void job_end(struct agate_mover_job *job, int error)
{
	struct agate_mover *mover = &job->adev->mover;

	lockdep_assert_held(&mover->lock);

	if (error)
		job_set_error(job, error);
	list_del_init(&job->link);
	dma_fence_signal(job->done);
	if (!--mover->undone)
		wake_up_all(&mover->idle);
}

static void end_all(struct agate_mover *mover, int error)
{
	while (!list_empty(&mover->running))
		job_end(list_first_entry(&mover->running, struct agate_mover_job, link), error);
}

/* FENCE commands are carried out in their order. */
static void end_completed(struct agate_device *adev)
{
	struct agate_mover *mover = &adev->mover;
	u32 seqno = gpu_read(adev, MOVER_SEQNO);
	struct agate_mover_job *job, *next;

	if (agate_bus_lost(adev))
		return;
	list_for_each_entry_safe(job, next, &mover->running, link) {
		if ((s32)(seqno - job->seqno) < 0)
			break;
		job_end(job, 0);
	}
}

/*
 * The fences' signals free the memory that the jobs use, so the mover has to stand still before
 * them.  If nothing stops it, it may at least reach no memory of the system any more.
 *
 * Return: false: nothing stops it.
 */
static bool mover_stop(struct agate_device *adev)
{
	if (!agate_fw_stop(adev))
		return true;
	WRITE_ONCE(adev->mover.cut_off, true);
	/* Either agate_mover_wakes() sees it, or what woke the function was before this. */
	smp_mb();
	pci_clear_master(adev->pdev);
	/* While runtime PM has the function asleep, to wake it restores the bits of before. */
	if (adev->pdev->state_saved)
		pci_save_state(adev->pdev);
	return false;
}

void agate_mover_wakes(struct agate_device *adev)
{
	/* Pairs with mover_stop(). */
	smp_mb();
	if (READ_ONCE(adev->mover.cut_off))
		pci_clear_master(adev->pdev);
}

/* ---- Faults ------------------------------------------------------------ */

/* The job that the command belongs to. */
static struct agate_mover_job *job_at(struct agate_mover *mover, u32 head)
{
	struct agate_mover_job *job;

	list_for_each_entry(job, &mover->running, link) {
		if (head - job->head <= job->count)
			return job;
	}
	return NULL;
}

/* It fails at a FENCE, or at nothing: no job is left that could be dropped. */
static void give_up(struct agate_device *adev)
{
	dev_err(&adev->pdev->dev, "the mover does not go on\n");
	adev->mover.dead = -EIO;
	/* It stands still, or has to: what its fences guard is freed next. */
	if (!mover_stop(adev))
		agate_device_lost(adev);
	end_all(&adev->mover, -EIO);
}

/*
 * The mover stands at @head.  A command may fail by chance; one that fails twice takes its job
 * with it, which ends with @error.
 */
static void go_on(struct agate_device *adev, u32 head, int error)
{
	struct agate_mover *mover = &adev->mover;
	struct agate_mover_job *job = job_at(mover, head);

	if (mover->retried == head && (!job || job->done->error)) {
		give_up(adev);
		return;
	}
	if (mover->retried == head) {
		job_set_error(job, error);
		ring_skip(mover, job, head);
	}
	mover->retried = head;
	gpu_write(adev, MOVER_CMD, MOVER_CMD_RESET);
}

static void recover(struct agate_device *adev, u32 status)
{
	u32 head = gpu_read(adev, RING_HEAD);
	u64 addr = gpu_read64(adev, MOVER_FAULT_ADDR_LO);

	dev_warn_ratelimited(&adev->pdev->dev, "mover fault, reason %u, address %#llx\n",
			     MOVER_STATUS_REASON(status), addr);
	go_on(adev, head, -EIO);
}

void agate_mover_serve(struct agate_device *adev)
{
	struct agate_mover *mover = &adev->mover;
	bool cookie = dma_fence_begin_signalling();
	u32 status;

	spin_lock(&mover->lock);
	if (!mover->dead) {
		end_completed(adev);
		status = gpu_read(adev, MOVER_STATUS);
		if (status & MOVER_STATUS_FAULT && !agate_bus_lost(adev))
			recover(adev, status);
	}
	spin_unlock(&mover->lock);
	dma_fence_end_signalling(cookie);
}

/* ---- What the scheduler calls ------------------------------------------ */

static void job_start(struct agate_mover_job *job)
{
	struct agate_mover *mover = &job->adev->mover;

	lockdep_assert_held(&mover->lock);

	job->started = true;
	list_add_tail(&job->link, &mover->running);
	if (mover->dead) {
		job_end(job, mover->dead);
		return;
	}
	job->seqno = ++mover->seqno;
	job->head = mover->tail;
	job->seen = job->head;
	ring_append(mover, job);
	gpu_write(job->adev, RING_TAIL, mover->tail);
}

static struct dma_fence *mover_run(struct drm_sched_job *base)
{
	struct agate_mover_job *job = to_mover_job(base);
	struct agate_device *adev = job->adev;
	struct agate_mover *mover = &adev->mover;
	bool cookie = dma_fence_begin_signalling();

	spin_lock(&mover->lock);
	/* After a timeout the scheduler hands out once more what it handed out before. */
	if (!job->started)
		job_start(job);
	spin_unlock(&mover->lock);
	dma_fence_end_signalling(cookie);
	return dma_fence_get(job->done);
}

/*
 * Its interrupt may be lost, so look first, and clear it: a line that stays up sends no other
 * message.  Progress is no timeout.  A mover that stands still is reset once; the next time it
 * loses the job; then it is given up.
 */
static void unstick(struct agate_mover_job *job)
{
	struct agate_device *adev = job->adev;
	struct agate_mover *mover = &adev->mover;
	u32 head;

	agate_card_serve(adev);
	spin_lock(&mover->lock);
	if (!list_empty(&job->link) && !mover->dead) {
		head = gpu_read(adev, RING_HEAD);
		if (!agate_bus_lost(adev) && head == job->seen)
			go_on(adev, head, -ETIME);
		job->seen = head;
	}
	spin_unlock(&mover->lock);
}

static enum drm_gpu_sched_stat mover_timedout(struct drm_sched_job *base)
{
	struct agate_mover_job *job = to_mover_job(base);
	bool cookie;

	agate_sched_stop(sched_of(job->adev), base);
	cookie = dma_fence_begin_signalling();
	unstick(job);
	agate_sched_restart(sched_of(job->adev));
	dma_fence_end_signalling(cookie);
	return DRM_GPU_SCHED_STAT_NOMINAL;
}

static struct drm_sched_entity *entity_create(struct agate_device *adev)
{
	struct drm_sched_entity *entity = kzalloc(sizeof(*entity), GFP_KERNEL_ACCOUNT);

	if (entity && agate_sched_entity_init(entity, sched_of(adev))) {
		kfree(entity);
		return NULL;
	}
	return entity;
}

/* Only a job that was counted keeps the entity: others may get one as soon as the lock is free. */
static bool count_job(struct agate_mover *mover, struct drm_sched_entity **fresh)
{
	bool counted;

	mutex_lock(&mover->push_lock);
	if (!mover->entity)
		swap(mover->entity, *fresh);
	counted = mover->entity;
	if (counted)
		mover->jobs++;
	mutex_unlock(&mover->push_lock);
	return counted;
}

/*
 * Count a job that is about to be made.  The first one makes the queue, without the lock, which
 * is on a fence's way to its signal.
 */
static struct drm_sched_entity *entity_get(struct agate_device *adev)
{
	struct agate_mover *mover = &adev->mover;
	struct drm_sched_entity *fresh = NULL;
	bool counted = count_job(mover, &fresh);

	if (!counted) {
		fresh = entity_create(adev);
		counted = count_job(mover, &fresh);
	}
	if (fresh) {
		drm_sched_entity_destroy(fresh);
		kfree(fresh);
	}
	return counted ? mover->entity : NULL;
}

static void entity_put(struct agate_device *adev)
{
	struct agate_mover *mover = &adev->mover;

	mutex_lock(&mover->push_lock);
	if (!--mover->jobs) {
		drm_sched_entity_destroy(mover->entity);
		kfree(mover->entity);
		mover->entity = NULL;
	}
	mutex_unlock(&mover->push_lock);
	wake_up_all(&mover->idle);
}

static void job_free_memory(struct agate_mover_job *job)
{
	struct agate_device *adev = job->adev;

	dma_fence_put(job->done);
	kvfree(job);
	entity_put(adev);
	agate_stat_dec(&adev->stats, AGATE_STAT_JOBS);
}

static void job_release(struct agate_parked *parked)
{
	job_free_memory(container_of(parked, struct agate_mover_job, parked));
}

static void mover_free(struct drm_sched_job *base)
{
	struct agate_mover_job *job = to_mover_job(base);

	agate_sched_job_free(base, job->done);
	agate_park(&job->adev->park, &job->parked, NULL, job_release);
}

static const struct drm_sched_backend_ops mover_sched_ops = {
	.run_job = mover_run,
	.timedout_job = mover_timedout,
	.free_job = mover_free,
};

/* ---- Jobs -------------------------------------------------------------- */

struct agate_mover_job *agate_mover_job_create(struct agate_device *adev, unsigned int count)
{
	struct drm_sched_entity *entity;
	struct agate_mover_job *job;
	int ret = -ENOMEM;

	job = kvzalloc(struct_size(job, cmds, count), GFP_KERNEL_ACCOUNT);
	if (!job)
		return ERR_PTR(-ENOMEM);
	entity = entity_get(adev);
	if (!entity) {
		kvfree(job);
		return ERR_PTR(-ENOMEM);
	}
	agate_stat_inc(&adev->stats, AGATE_STAT_JOBS);
	job->adev = adev;
	job->count = count;
	INIT_LIST_HEAD(&job->link);
	job->done = agate_fence_create(adev, AGATE_FENCE_MOVER);
	if (job->done)
		ret = agate_sched_job_init(&job->base, entity, NULL);
	if (ret) {
		job_free_memory(job);
		return ERR_PTR(ret);
	}
	return job;
}

void agate_mover_job_abandon(struct agate_mover_job *job)
{
	agate_sched_job_cancel(&job->base);
	job_free_memory(job);
}

struct dma_fence *agate_mover_push(struct agate_mover_job *job)
{
	struct agate_mover *mover = &job->adev->mover;
	struct dma_fence *finished;

	mutex_lock(&mover->push_lock);
	/* First, because it may end at once. */
	spin_lock(&mover->lock);
	mover->undone++;
	spin_unlock(&mover->lock);
	drm_sched_job_arm(&job->base);
	finished = dma_fence_get(&job->base.s_fence->finished);
	drm_sched_entity_push_job(&job->base);
	mutex_unlock(&mover->push_lock);
	return finished;
}

/* ---- Life -------------------------------------------------------------- */

static void mover_release(struct drm_device *drm, void *unused)
{
	struct agate_device *adev = to_agate_device(drm);

	agate_sched_fini(sched_of(adev));
	mutex_destroy(&adev->mover.push_lock);
}

int agate_mover_init(struct agate_device *adev, struct agate_mover_cmd __iomem *ring)
{
	struct agate_mover *mover = &adev->mover;
	int ret;

	mutex_init(&mover->push_lock);
	agate_lock_class(&mover->push_lock, AGATE_LOCK_PUSH);
	spin_lock_init(&mover->lock);
	agate_lock_class(&mover->lock, AGATE_LOCK_MOVER);
	INIT_LIST_HEAD(&mover->running);
	init_waitqueue_head(&mover->idle);
	mover->ring = ring;
	mover->retried = ~0u;
	ret = agate_sched_init(sched_of(adev), &mover_sched_ops, AGATE_MOVER_DEPTH, MOVER_TIMEOUT,
			       adev->queues.timeout_wq, "agate-mover", &adev->pdev->dev);
	if (ret)
		return ret;
	return drmm_add_action_or_reset(&adev->drm, mover_release, NULL);
}

void agate_mover_shutdown(struct agate_device *adev)
{
	struct agate_mover *mover = &adev->mover;
	bool cookie = dma_fence_begin_signalling();

	spin_lock(&mover->lock);
	mover->dead = -ENODEV;
	spin_unlock(&mover->lock);
	/* The card wants to finish what is in the ring, unless that takes too long. */
	gpu_poll(adev, MOVER_STATUS, MOVER_STATUS_BUSY, 0);
	spin_lock(&mover->lock);
	end_completed(adev);
	spin_unlock(&mover->lock);
	mover_stop(adev);
	spin_lock(&mover->lock);
	end_all(mover, -ENODEV);
	spin_unlock(&mover->lock);
	dma_fence_end_signalling(cookie);
}

/* ---- Sleep ------------------------------------------------------------- */

/**
 * struct stop_work - stopping the scheduler, on queues.timeout_wq
 * @base: the work
 * @adev: the device
 */
struct stop_work {
	struct work_struct base;
	struct agate_device *adev;
};

static void stop_work(struct work_struct *work)
{
	agate_sched_stop(sched_of(container_of(work, struct stop_work, base)->adev), NULL);
}

/* The queue is ordered, so no timeout handler is at work that would restart the scheduler. */
static void sched_stop(struct agate_device *adev)
{
	struct stop_work stop = { .adev = adev };

	INIT_WORK_ONSTACK(&stop.base, stop_work);
	queue_work(adev->queues.timeout_wq, &stop.base);
	flush_work(&stop.base);
	destroy_work_on_stack(&stop.base);
}

int agate_mover_look_again(struct agate_device *adev, unsigned int look)
{
	if (agate_bus_lost(adev))
		return -ENODEV;
	return look < MOST_LOOKS ? 0 : -EBUSY;
}

/*
 * A BO may have left VRAM before, with no other one in its place that would have to wait for its
 * copy.  If the scheduler still has that, it would run after the sleep, and read what is lost.
 */
static int all_end(struct agate_device *adev)
{
	struct agate_mover *mover = &adev->mover;
	unsigned int look = 0;
	int ret = 0;

	while (!ret && !wait_event_timeout(mover->idle, !READ_ONCE(mover->undone),
					   AGATE_MOVER_LOOK))
		ret = agate_mover_look_again(adev, ++look);
	return ret;
}

/* Its interrupt may be lost, so look. */
static int run_empty(struct agate_device *adev)
{
	struct agate_mover *mover = &adev->mover;
	int ret = gpu_poll(adev, MOVER_STATUS, MOVER_STATUS_BUSY, 0);
	bool empty;

	if (ret)
		return ret == -ENODEV ? ret : -EBUSY;
	agate_mover_serve(adev);
	spin_lock(&mover->lock);
	empty = list_empty(&mover->running);
	spin_unlock(&mover->lock);
	return empty ? 0 : -EBUSY;
}

int agate_mover_status(struct agate_device *adev)
{
	struct agate_mover *mover = &adev->mover;
	int dead;

	spin_lock(&mover->lock);
	dead = mover->dead;
	spin_unlock(&mover->lock);
	return dead;
}

int agate_mover_suspend(struct agate_device *adev)
{
	int ret = all_end(adev);

	if (ret)
		return ret;
	/* Only changes of page tables may come from here on, and those are restored first. */
	sched_stop(adev);
	ret = run_empty(adev);
	if (ret)
		agate_sched_restart(sched_of(adev));
	return ret;
}

void agate_mover_resume(struct agate_device *adev)
{
	agate_sched_restart(sched_of(adev));
}

void agate_mover_fini(struct agate_device *adev)
{
	struct agate_mover *mover = &adev->mover;

	agate_mover_shutdown(adev);
	agate_park_release(&adev->park);
	wait_event(mover->idle, !READ_ONCE(mover->jobs));
	/* The last one still holds the lock. */
	mutex_lock(&mover->push_lock);
	mutex_unlock(&mover->push_lock);
}
