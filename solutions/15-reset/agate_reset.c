// SPDX-License-Identifier: GPL-2.0-only
/*
 * Recovery: from a job that runs for too long, and from a GPU that hangs.
 *
 * The driver first stops only the guilty chain: it tries a soft stop, which is
 * enough for an endless chain of short jobs, then a hard stop.  If that does not
 * help, or if the GPU left a command unfinished, the driver resets the whole GPU:
 * it stops all schedulers, takes innocent chains off the slots, and runs them again
 * afterwards.
 *
 * The timeouts of all slots and the work below share one ordered workqueue, so when
 * two slots hang at once, the driver recovers one after the other, and the second
 * recovery finds out if the first has already solved the problem.
 */
#include <linux/dma-fence.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/slab.h>

#include "agate_device.h"
#include "agate_long.h"
#include "agate_mmu.h"
#include "agate_pm.h"
#include "agate_power.h"
#include "agate_queue.h"
#include "agate_reset.h"
#include "agate_sched.h"
#include "agate_slot.h"

static unsigned int timeout_ms = 500;
module_param(timeout_ms, uint, 0444);
MODULE_PARM_DESC(timeout_ms, "How long a job may run, in milliseconds (default 500)");

long agate_reset_timeout(void)
{
	return max(msecs_to_jiffies(timeout_ms), 1ul);
}

/*
 * All that happens under reset.lock is on the way to a fence's signal.  The lock is outside
 * of the section that says so to lockdep, and so is agate_sched_stop(), which see.
 */
static bool recovery_begin(struct agate_device *adev)
{
	mutex_lock(&adev->reset.lock);
	return dma_fence_begin_signalling();
}

static void recovery_end(struct agate_device *adev, bool cookie)
{
	dma_fence_end_signalling(cookie);
	mutex_unlock(&adev->reset.lock);
}

/* Leaves the section that @cookie belongs to while a scheduler's work comes to its end. */
static void stop_schedulers(struct agate_device *adev, const struct drm_gpu_scheduler *but,
			    bool *cookie)
{
	unsigned int n;

	dma_fence_end_signalling(*cookie);
	for (n = 0; n < AGATE_SLOTS_USED; n++) {
		if (&adev->queues.scheds->slot[n] != but)
			agate_sched_stop(&adev->queues.scheds->slot[n], NULL);
	}
	*cookie = dma_fence_begin_signalling();
}

static void restart_schedulers(struct agate_device *adev, const struct drm_gpu_scheduler *but)
{
	unsigned int n;

	for (n = 0; n < AGATE_SLOTS_USED; n++) {
		if (&adev->queues.scheds->slot[n] != but)
			agate_sched_restart(&adev->queues.scheds->slot[n]);
	}
}

/* ---- A pending reset as a fence ---------------------------------------- */

static const char *fence_driver_name(struct dma_fence *fence)
{
	return "agate";
}

static const char *fence_timeline_name(struct dma_fence *fence)
{
	return "reset";
}

static const struct dma_fence_ops reset_fence_ops = {
	.get_driver_name = fence_driver_name,
	.get_timeline_name = fence_timeline_name,
};

/*
 * The reset itself must not allocate anything, so the one who asks first makes the fence.
 * Without it the memory could never be freed: so this cannot fail.
 */
struct dma_fence *agate_reset_fence(struct agate_device *adev)
{
	struct agate_reset *reset = &adev->reset;
	struct dma_fence *fence, *spare;

	if (!atomic_read(&reset->pending))
		return NULL;
	spare = kzalloc(sizeof(*spare), GFP_KERNEL_ACCOUNT | __GFP_NOFAIL);
	dma_fence_init(spare, &reset_fence_ops, &reset->fence_lock, dma_fence_context_alloc(1), 1);

	spin_lock_irq(&reset->queue_lock);
	if (!reset->fence && atomic_read(&reset->pending))
		reset->fence = dma_fence_get(spare);
	fence = dma_fence_get(reset->fence);
	spin_unlock_irq(&reset->queue_lock);
	dma_fence_put(spare);
	return fence;
}

/* No reset is pending any more.  Return: was one? */
static bool reset_over(struct agate_reset *reset)
{
	struct dma_fence *fence;
	bool pending;

	spin_lock_irq(&reset->queue_lock);
	pending = atomic_xchg(&reset->pending, 0);
	fence = reset->fence;
	reset->fence = NULL;
	spin_unlock_irq(&reset->queue_lock);
	if (fence)
		dma_fence_signal(fence);
	dma_fence_put(fence);
	return pending;
}

/* ---- Down and up -------------------------------------------------------- */

/*
 * No scheduler starts a job, no interrupt is served, and no chain is on the GPU, unless this
 * returns false: then it may still run one, and only a reset helps.  The caller has stopped
 * the scheduler @but itself.
 */
static bool gpu_down(struct agate_device *adev, const struct drm_gpu_scheduler *but,
		     bool *cookie)
{
	lockdep_assert_held(&adev->reset.lock);

	stop_schedulers(adev, but, cookie);
	agate_long_hold(adev);
	agate_irq_suspend(adev, AGATE_VECTOR_JOB);
	agate_irq_suspend(adev, AGATE_VECTOR_MMU);
	return agate_slot_halt(adev, (s64)timeout_ms * NSEC_PER_MSEC);
}

static void gpu_up(struct agate_device *adev, const struct drm_gpu_scheduler *but)
{
	lockdep_assert_held(&adev->reset.lock);

	agate_irq_resume(adev, AGATE_VECTOR_MMU);
	agate_irq_resume(adev, AGATE_VECTOR_JOB);
	restart_schedulers(adev, but);
	agate_long_let_go(adev);
}

/*
 * The GPU is down.  Only after its reset the address spaces are given up: until then a chain
 * that did not stop uses them, so threads that take memory out of them wait for the end of the
 * reset.  A GPU that does not come back is lost, and its jobs end.
 */
static int reset_gpu(struct agate_device *adev)
{
	int ret;

	lockdep_assert_held(&adev->reset.lock);

	dev_warn(&adev->pdev->dev, "resetting the GPU\n");
	agate_mmu_reset_begin(adev);
	ret = agate_gpu_soft_reset(adev);
	if (!ret)
		ret = agate_power_on(adev);
	agate_mmu_reset(adev);
	if (ret) {
		dev_err(&adev->pdev->dev, "the GPU does not come back: %d\n", ret);
		/* The GPU must not reach the memory of the jobs that end now. */
		pci_clear_master(adev->pdev);
		agate_device_lost(adev);
		agate_slot_shutdown(adev);
	}
	reset_over(&adev->reset);
	return ret;
}

/* ---- Resets ------------------------------------------------------------- */

/* The job's own scheduler is stopped. */
static void recover(struct agate_device *adev, struct agate_job *job, bool *cookie)
{
	struct drm_gpu_scheduler *own = &adev->queues.scheds->slot[job->slot];

	lockdep_assert_held(&adev->reset.lock);

	dev_err(&adev->pdev->dev, "slot%u: chain 0x%llx runs for too long\n", job->slot, job->jc);
	if (agate_slot_stop(job, false, -ETIME) || agate_slot_stop(job, true, -ETIME))
		return;

	gpu_down(adev, own, cookie);
	reset_gpu(adev);
	gpu_up(adev, own);
}

void agate_reset_timedout(struct agate_job *job)
{
	struct agate_device *adev = job->adev;
	struct drm_gpu_scheduler *own = &adev->queues.scheds->slot[job->slot];
	bool cookie;

	mutex_lock(&adev->reset.lock);
	agate_sched_stop(own, &job->base);
	cookie = dma_fence_begin_signalling();
	/* Perhaps the job has ended, and only the interrupt was lost. */
	agate_slot_serve(adev);
	/* Removal and loss of the device end all jobs and reset the GPU themselves. */
	if (READ_ONCE(job->on_slot) && adev->reset.ready)
		recover(adev, job, &cookie);
	agate_sched_restart(own);
	recovery_end(adev, cookie);
}

static void reset_work(struct work_struct *work)
{
	struct agate_device *adev = container_of(work, struct agate_device, reset.work);
	bool cookie;

	agate_pm_keep(adev);
	cookie = recovery_begin(adev);
	/* A GPU that sleeps is reset when it wakes up. */
	if (atomic_read(&adev->reset.pending) && !adev->reset.down) {
		gpu_down(adev, NULL, &cookie);
		reset_gpu(adev);
		gpu_up(adev, NULL);
	}
	recovery_end(adev, cookie);
	agate_pm_put(adev);
}

void agate_reset_schedule(struct agate_device *adev)
{
	struct agate_reset *reset = &adev->reset;
	unsigned long flags;

	/* @work is initialised only if the topic has been present. */
	if (!READ_ONCE(reset->ready))
		return;
	spin_lock_irqsave(&reset->queue_lock, flags);
	if (reset->ready) {
		atomic_set(&reset->pending, 1);
		queue_work(adev->queues.timeout_wq, &reset->work);
	}
	spin_unlock_irqrestore(&reset->queue_lock, flags);
}

/*
 * While a reset is pending agate_slot_run() starts nothing, and the reset runs those
 * jobs again.  When it does not come, somebody else has to: they are refused now.  So are
 * the jobs of a GPU that did not wake up.
 */
void agate_reset_device_lost(struct agate_device *adev)
{
	struct agate_reset *reset = &adev->reset;
	bool cookie = recovery_begin(adev);
	bool pending;

	spin_lock_irq(&reset->queue_lock);
	WRITE_ONCE(reset->ready, false);
	spin_unlock_irq(&reset->queue_lock);
	recovery_end(adev, cookie);
	cancel_work_sync(&reset->work);

	cookie = recovery_begin(adev);
	agate_slot_shutdown(adev);
	pending = reset_over(reset);
	if (pending && !reset->down)
		stop_schedulers(adev, NULL, &cookie);
	if (pending || reset->down)
		restart_schedulers(adev, NULL);
	reset->down = false;
	recovery_end(adev, cookie);
}

/* ---- Sleep -------------------------------------------------------------- */

/**
 * struct sleep_work - going to sleep, on queues.timeout_wq
 * @base: the work
 * @adev: the device
 * @ret: how it went
 */
struct sleep_work {
	struct work_struct base;
	struct agate_device *adev;
	int ret;
};

static void sleep_work(struct work_struct *work)
{
	struct sleep_work *sleep = container_of(work, struct sleep_work, base);
	struct agate_device *adev = sleep->adev;
	bool cookie = recovery_begin(adev);

	/* A loss of the device may be faster. */
	if (adev->reset.ready) {
		if (!gpu_down(adev, NULL, &cookie) || atomic_read(&adev->reset.pending))
			sleep->ret = reset_gpu(adev);
		if (sleep->ret)
			gpu_up(adev, NULL);
		else
			adev->reset.down = true;
	}
	recovery_end(adev, cookie);
}

/*
 * A timeout handler must not wait for this: its job is off the scheduler's list, and only
 * agate_sched_stop(), called for a scheduler that runs, puts it back.  The queue is ordered,
 * so no handler is at work now, and a scheduler that is stopped has no timeout.
 */
int agate_reset_topic_suspend(struct agate_device *adev)
{
	struct sleep_work sleep = { .adev = adev };

	INIT_WORK_ONSTACK(&sleep.base, sleep_work);
	queue_work(adev->queues.timeout_wq, &sleep.base);
	flush_work(&sleep.base);
	destroy_work_on_stack(&sleep.base);
	return sleep.ret;
}

int agate_reset_topic_resume(struct agate_device *adev)
{
	bool cookie = recovery_begin(adev);

	if (adev->reset.down) {
		adev->reset.down = false;
		gpu_up(adev, NULL);
	}
	recovery_end(adev, cookie);
	if (atomic_read(&adev->reset.pending))
		agate_reset_schedule(adev);
	return 0;
}

int agate_reset_topic_init(struct agate_device *adev)
{
	INIT_WORK(&adev->reset.work, reset_work);
	atomic_set(&adev->reset.pending, 0);
	adev->reset.fence = NULL;
	adev->reset.down = false;
	spin_lock_init(&adev->reset.fence_lock);
	WRITE_ONCE(adev->reset.ready, true);
	return 0;
}

void agate_reset_topic_fini(struct agate_device *adev)
{
	agate_reset_device_lost(adev);
}
