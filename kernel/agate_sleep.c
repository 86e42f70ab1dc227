// SPDX-License-Identifier: GPL-2.0-only
/*
 * Sleep of the system and of the function, and the way into and out of protected mode: see
 * agate_sleep.h.
 */
#include <linux/pci.h>
#include <linux/pm.h>
#include <linux/sched/mm.h>

#include "agate_coherency.h"
#include "agate_device.h"
#include "agate_mover.h"
#include "agate_pm.h"
#include "agate_sleep.h"
#include "agate_sleepers.h"
#include "agate_suspend.h"

/* A card without firmware holds nothing for anybody. */
static int card_suspend(struct agate_device *adev)
{
	if (agate_topic_present(adev, AGATE_FEATURE_ENGINES))
		return agate_suspend(adev);
	if (agate_topic_present(adev, AGATE_FEATURE_CARD))
		agate_card_power_off(adev);
	return 0;
}

static int card_resume(struct agate_device *adev)
{
	if (agate_topic_present(adev, AGATE_FEATURE_ENGINES))
		return agate_resume(adev);
	if (agate_topic_present(adev, AGATE_FEATURE_CARD))
		return agate_card_power_on(adev);
	return 0;
}

/*
 * From the first job that is halted to the last one that goes on nothing may wait for memory.  To
 * free some the kernel may call the notifier of a process's memory, and that waits for the job,
 * which only this thread starts again.
 */
static int device_halt(struct agate_device *adev)
{
	unsigned int flags = memalloc_noreclaim_save();
	int ret = agate_topics_suspend(adev);

	if (!ret) {
		ret = card_suspend(adev);
		if (ret && agate_topics_resume(adev))
			agate_device_lost(adev);
	}
	memalloc_noreclaim_restore(flags);
	return ret;
}

static int device_suspend(struct agate_device *adev)
{
	bool engines = agate_topic_present(adev, AGATE_FEATURE_ENGINES);
	int ret = 0;

	lockdep_assert_held(&adev->unplug_lock);

	if (engines)
		ret = agate_sleepers_prepare(adev);
	if (!ret)
		ret = device_halt(adev);
	if (ret) {
		dev_err(&adev->pdev->dev, "the device does not suspend: %d\n", ret);
		if (engines)
			agate_sleepers_release(adev);
		return ret;
	}
	agate_irq_suspend(adev, AGATE_VECTOR_GPU);
	agate_bus_sleep(adev);
	/* The bus reads it without the lock. */
	WRITE_ONCE(adev->asleep, true);
	return 0;
}

/* The GPU may have forgotten all its registers, so begin as probe does. */
static int device_resume(struct agate_device *adev)
{
	unsigned int flags = memalloc_noreclaim_save();
	int ret;

	lockdep_assert_held(&adev->unplug_lock);

	WRITE_ONCE(adev->asleep, false);
	agate_bus_wake(adev);
	/* First of all: the reset sets the masks of all vectors, the card's among them. */
	ret = card_resume(adev);
	if (!ret)
		ret = agate_gpu_soft_reset(adev);
	if (!ret) {
		agate_irq_resume(adev, AGATE_VECTOR_GPU);
		ret = agate_topics_resume(adev);
	}
	memalloc_noreclaim_restore(flags);
	return ret;
}

/*
 * Probe, removal and loss of the device exclude this; a device without a GPU just sleeps.  A
 * GPU whose power was off wakes up first: jobs may come until their schedulers are stopped.
 */
static int agate_sleep_begin(struct device *dev)
{
	struct agate_device *adev = pci_get_drvdata(to_pci_dev(dev));
	int ret = 0;

	agate_pm_keep(adev);
	/* It writes registers, and the bus is about to sleep. */
	flush_work(&adev->lost_work);
	mutex_lock(&adev->unplug_lock);
	if (adev->running && !agate_bus_lost(adev))
		ret = device_suspend(adev);
	mutex_unlock(&adev->unplug_lock);
	/* From now until agate_sleep_end() the reference keeps runtime PM away. */
	if (ret)
		agate_pm_put(adev);
	return ret;
}

/* A GPU that does not come back is lost, and its jobs end. */
static void device_stays_off(struct agate_device *adev, int error)
{
	dev_err(&adev->pdev->dev, "the GPU does not wake up: %d\n", error);
	pci_clear_master(adev->pdev);
	agate_device_lost(adev);
}

static int agate_sleep_end(struct device *dev)
{
	struct agate_device *adev = pci_get_drvdata(to_pci_dev(dev));
	int ret = 0;

	mutex_lock(&adev->unplug_lock);
	if (adev->asleep)
		ret = device_resume(adev);
	if (ret)
		device_stays_off(adev, ret);
	mutex_unlock(&adev->unplug_lock);
	agate_pm_put(adev);
	return ret;
}

/* ---- Protected mode ---------------------------------------------------- */

static int device_protect(struct agate_device *adev, bool on)
{
	int ret;

	lockdep_assert_held(&adev->unplug_lock);

	if (!adev->running || adev->asleep || agate_bus_lost(adev))
		return -ENODEV;
	ret = agate_topics_suspend(adev);
	if (ret)
		return ret;
	agate_coherency_protect(adev, on);
	ret = agate_gpu_soft_reset(adev);
	if (!ret)
		ret = agate_topics_resume(adev);
	if (ret)
		device_stays_off(adev, ret);
	return ret;
}

/* Removal waits, with unplug_lock, for debugfs calls to end: so they must not wait for it. */
int agate_sleep_protect(struct agate_device *adev, bool on)
{
	int ret;

	if (!agate_topic_present(adev, AGATE_FEATURE_COHERENCY | AGATE_FEATURE_POWER))
		return -EOPNOTSUPP;
	if (!mutex_trylock(&adev->unplug_lock))
		return -EBUSY;
	agate_pm_keep(adev);
	ret = device_protect(adev, on);
	mutex_unlock(&adev->unplug_lock);
	agate_pm_put(adev);
	return ret;
}

/* ---- Runtime PM -------------------------------------------------------- */

/*
 * The GPU's power input is the board's.  A card goes on without it, and sends messages: PCI's
 * core leaves a function in D0 whose state its driver has saved.
 */
static int runtime_suspend(struct device *dev)
{
	struct pci_dev *pdev = to_pci_dev(dev);
	int ret = 0;

	if (agate_topic_present(pci_get_drvdata(pdev), AGATE_FEATURE_CARD))
		ret = pci_save_state(pdev);
	return ret ? ret : agate_pm_runtime_suspend(dev);
}

/* PCI's core has just restored the command register, perhaps to what was before mover_stop(). */
static int runtime_resume(struct device *dev)
{
	agate_mover_wakes(pci_get_drvdata(to_pci_dev(dev)));
	return agate_pm_runtime_resume(dev);
}

const struct dev_pm_ops agate_pm_ops = {
	RUNTIME_PM_OPS(runtime_suspend, runtime_resume, NULL)
	SYSTEM_SLEEP_PM_OPS(agate_sleep_begin, agate_sleep_end)
};
