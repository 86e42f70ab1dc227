// SPDX-License-Identifier: GPL-2.0-only
#include "agate_busy.h"

#include "agate_device.h"

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

void agate_busy_begin(struct agate_device *adev)
{
	if (!adev->busy.chains)
		busy_pass(adev);
	adev->busy.chains++;
	agate_stat_inc(&adev->stats, AGATE_STAT_SLOT_BUSY);
}

void agate_busy_end(struct agate_device *adev)
{
	if (adev->busy.chains == 1)
		busy_pass(adev);
	adev->busy.chains--;
	agate_stat_dec(&adev->stats, AGATE_STAT_SLOT_BUSY);
}

void agate_busy_read(struct agate_device *adev, u64 *busy_ns, u64 *idle_ns)
{
	spin_lock(&adev->slots.lock);
	busy_pass(adev);
	*busy_ns = adev->busy.busy_ns;
	*idle_ns = adev->busy.idle_ns;
	spin_unlock(&adev->slots.lock);
}
