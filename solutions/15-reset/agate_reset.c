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

#include "agate_device.h"
#include "agate_mmu.h"
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
 * of the section that says so to lockdep: drm_sched_stop() waits for fences under it, for
 * no longer than another CPU needs to finish their callbacks.
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

static void stop_schedulers(struct agate_device *adev, const struct drm_gpu_scheduler *but)
{
	unsigned int n;

	for (n = 0; n < AGATE_SLOTS_USED; n++) {
		if (&adev->queues.scheds->slot[n] != but)
			agate_sched_stop(&adev->queues.scheds->slot[n], NULL);
	}
}

static void restart_schedulers(struct agate_device *adev, const struct drm_gpu_scheduler *but)
{
	unsigned int n;

	for (n = 0; n < AGATE_SLOTS_USED; n++) {
		if (&adev->queues.scheds->slot[n] != but)
			agate_sched_restart(&adev->queues.scheds->slot[n]);
	}
}

/* The schedulers are stopped.  A GPU that does not come back is lost, and its jobs end. */
static void reset_gpu(struct agate_device *adev)
{
	int ret;

	lockdep_assert_held(&adev->reset.lock);

	dev_warn(&adev->pdev->dev, "resetting the GPU\n");
	agate_irq_suspend(adev, AGATE_VECTOR_JOB);
	agate_irq_suspend(adev, AGATE_VECTOR_MMU);
	agate_slot_halt(adev, (s64)timeout_ms * NSEC_PER_MSEC);

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
	atomic_set(&adev->reset.pending, 0);
	agate_irq_resume(adev, AGATE_VECTOR_MMU);
	agate_irq_resume(adev, AGATE_VECTOR_JOB);
}

/* The job's own scheduler is stopped. */
static void recover(struct agate_device *adev, struct agate_job *job)
{
	struct drm_gpu_scheduler *own = &adev->queues.scheds->slot[job->slot];

	lockdep_assert_held(&adev->reset.lock);

	dev_err(&adev->pdev->dev, "slot%u: chain 0x%llx runs for too long\n", job->slot, job->jc);
	if (agate_slot_stop(job, false, -ETIME) || agate_slot_stop(job, true, -ETIME))
		return;

	stop_schedulers(adev, own);
	reset_gpu(adev);
	restart_schedulers(adev, own);
}

void agate_reset_timedout(struct agate_job *job)
{
	struct agate_device *adev = job->adev;
	struct drm_gpu_scheduler *own = &adev->queues.scheds->slot[job->slot];
	bool cookie = recovery_begin(adev);

	agate_sched_stop(own, &job->base);
	/* Perhaps the job has ended, and only the interrupt was lost. */
	agate_slot_serve(adev);
	/* Removal and loss of the device end all jobs and reset the GPU themselves. */
	if (READ_ONCE(job->on_slot) && adev->reset.ready)
		recover(adev, job);
	agate_sched_restart(own);
	recovery_end(adev, cookie);
}

static void reset_work(struct work_struct *work)
{
	struct agate_device *adev = container_of(work, struct agate_device, reset.work);
	bool cookie = recovery_begin(adev);

	if (atomic_read(&adev->reset.pending)) {
		stop_schedulers(adev, NULL);
		reset_gpu(adev);
		restart_schedulers(adev, NULL);
	}
	recovery_end(adev, cookie);
}

void agate_reset_schedule(struct agate_device *adev)
{
	struct agate_reset *reset = &adev->reset;
	unsigned long flags;

	/* @work is initialised only if the topic has been present. */
	if (!READ_ONCE(reset->ready))
		return;
	/*
	 * Every caller queues the work: a caller that finds the reset pending may
	 * call agate_reset_flush() before the first caller has queued it.
	 */
	spin_lock_irqsave(&reset->queue_lock, flags);
	if (reset->ready) {
		atomic_set(&reset->pending, 1);
		queue_work(adev->queues.timeout_wq, &reset->work);
	}
	spin_unlock_irqrestore(&reset->queue_lock, flags);
}

void agate_reset_flush(struct agate_device *adev)
{
	if (READ_ONCE(adev->reset.ready))
		flush_work(&adev->reset.work);
}

/*
 * While a reset is pending agate_slot_run() starts nothing, and the reset runs those
 * jobs again.  When it does not come, somebody else has to: they are refused now.
 */
void agate_reset_device_lost(struct agate_device *adev)
{
	struct agate_reset *reset = &adev->reset;
	bool cookie = recovery_begin(adev);

	spin_lock_irq(&reset->queue_lock);
	WRITE_ONCE(reset->ready, false);
	spin_unlock_irq(&reset->queue_lock);
	recovery_end(adev, cookie);
	cancel_work_sync(&reset->work);

	cookie = recovery_begin(adev);
	agate_slot_shutdown(adev);
	if (atomic_xchg(&reset->pending, 0)) {
		stop_schedulers(adev, NULL);
		restart_schedulers(adev, NULL);
	}
	recovery_end(adev, cookie);
}

int agate_reset_topic_init(struct agate_device *adev)
{
	INIT_WORK(&adev->reset.work, reset_work);
	atomic_set(&adev->reset.pending, 0);
	WRITE_ONCE(adev->reset.ready, true);
	return 0;
}

void agate_reset_topic_fini(struct agate_device *adev)
{
	agate_reset_device_lost(adev);
}
