// SPDX-License-Identifier: GPL-2.0-only
#include "agate_busy.h"

#include "agate_device.h"
#include "agate_pm.h"
#include "agate_regs.h"

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

/* A GPU that is gone reads as all ones. */
void agate_busy_look(struct agate_device *adev)
{
	struct agate_busy *busy = &adev->busy;
	u32 now, passed;

	lockdep_assert_held(&adev->slots.lock);

	if (!busy->mhz)
		return;
	now = gpu_read(adev, GPU_TIMESTAMP_LO);
	if (agate_bus_lost(adev))
		return;
	passed = now - busy->stamp;
	if (busy->chains)
		busy->busy_cycles += passed;
	else
		busy->idle_cycles += passed;
	busy->ticks += (u64)passed * busy->mhz;
	busy->stamp = now;
}

void agate_busy_begin(struct agate_device *adev, bool first)
{
	if (!adev->busy.chains)
		busy_pass(adev);
	if (first)
		agate_busy_look(adev);
	adev->busy.chains++;
	agate_stat_inc(&adev->stats, AGATE_STAT_SLOT_BUSY);
	agate_pm_chain_begin(adev);
}

void agate_busy_end(struct agate_device *adev)
{
	if (adev->busy.chains == 1)
		busy_pass(adev);
	agate_busy_look(adev);
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
