// SPDX-License-Identifier: GPL-2.0-only
#include "agate_busy.h"

#include "agate_device.h"
#include "agate_pm.h"
#include "agate_regs.h"
#include "agate_slot.h"

void agate_busy_init(struct agate_device *adev)
{
	adev->busy = (struct agate_busy){ .since = ktime_get() };
}

/* Count the time since the last change. */
static void busy_pass(struct agate_device *adev)
{
	struct agate_busy *busy = &adev->busy;
	ktime_t now = ktime_get();
	u64 passed = ktime_to_ns(ktime_sub(now, busy->since));

	lockdep_assert_held(&adev->slots.lock);

	if (busy->chains)
		busy->busy_ns += passed;
	else
		busy->idle_ns += passed;
	busy->since = now;
}

/* The GPU's clock says @now, and said @busy->stamp before.  A GPU that is gone says all ones. */
static void clock_pass(struct agate_device *adev, u32 now, bool idle)
{
	struct agate_busy *busy = &adev->busy;
	u32 passed = now - busy->stamp;

	if (agate_bus_lost(adev))
		return;
	if (idle)
		busy->idle_cycles += passed;
	else
		busy->busy_cycles += passed;
	busy->ticks += (u64)passed * busy->mhz;
	busy->stamp = now;
}

/* Count up to the start of the chain that began last. */
static void clock_settle(struct agate_device *adev)
{
	struct agate_busy *busy = &adev->busy;

	lockdep_assert_held(&adev->slots.lock);

	if (!busy->begun)
		return;
	clock_pass(adev, gpu_read_posted(adev), busy->was_idle);
	busy->begun->start_cycles = agate_busy_gpu_cycles(adev);
	busy->begun = NULL;
}

static void clock_begin(struct agate_device *adev, struct agate_job *job)
{
	struct agate_busy *busy = &adev->busy;

	clock_settle(adev);
	gpu_read_post(adev, GPU_TIMESTAMP_LO);
	busy->was_idle = !busy->chains;
	busy->begun = job;
}

u32 agate_busy_look_at(struct agate_device *adev, u32 reg)
{
	u32 value;

	lockdep_assert_held(&adev->slots.lock);

	if (!adev->busy.mhz)
		return gpu_read(adev, reg);
	clock_settle(adev);
	gpu_read_post(adev, GPU_TIMESTAMP_LO);
	value = gpu_read(adev, reg);
	clock_pass(adev, gpu_read_posted(adev), !adev->busy.chains);
	return value;
}

void agate_busy_look(struct agate_device *adev)
{
	lockdep_assert_held(&adev->slots.lock);

	if (!adev->busy.mhz)
		return;
	clock_settle(adev);
	clock_pass(adev, gpu_read(adev, GPU_TIMESTAMP_LO), !adev->busy.chains);
}

void agate_busy_begin(struct agate_device *adev, struct agate_job *job, bool first)
{
	if (!adev->busy.chains)
		busy_pass(adev);
	job->start_cycles = agate_busy_gpu_cycles(adev);
	if (first && adev->busy.mhz)
		clock_begin(adev, job);
	adev->busy.chains++;
	agate_stat_inc(&adev->stats, AGATE_STAT_SLOT_BUSY);
	agate_pm_chain_begin(adev);
}

void agate_busy_end(struct agate_device *adev)
{
	clock_settle(adev);
	if (adev->busy.chains == 1)
		busy_pass(adev);
	adev->busy.chains--;
	agate_stat_dec(&adev->stats, AGATE_STAT_SLOT_BUSY);
	agate_pm_put(adev);
}

void agate_busy_read(struct agate_device *adev, u64 *busy_ns, u64 *idle_ns)
{
	spin_lock(&adev->slots.lock);
	busy_pass(adev);
	*busy_ns = adev->busy.busy_ns;
	*idle_ns = adev->busy.idle_ns;
	spin_unlock(&adev->slots.lock);
}

void agate_busy_clock(struct agate_device *adev, unsigned int mhz)
{
	struct agate_busy *busy = &adev->busy;

	lockdep_assert_held(&adev->slots.lock);

	if (busy->mhz)
		agate_busy_look(adev);
	else if (mhz)
		busy->stamp = gpu_read(adev, GPU_TIMESTAMP_LO);
	busy->mhz = mhz;
}

u64 agate_busy_gpu_cycles(const struct agate_device *adev)
{
	return div_u64(adev->busy.ticks, AGATE_BUS_MHZ);
}
