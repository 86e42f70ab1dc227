// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of topics, in the order in which they start.
 */
#include <linux/kernel.h>
#include <linux/moduleparam.h>

#include "agate_backing.h"
#include "agate_card_device.h"
#include "agate_cma.h"
#include "agate_devfreq.h"
#include "agate_device.h"
#include "agate_fault.h"
#include "agate_mmap.h"
#include "agate_pm.h"
#include "agate_submit.h"
#include "agate_topics.h"
#include "agate_vm_bind.h"
#include "agate_vm_pt.h"

static bool runtime_pm = true;
module_param(runtime_pm, bool, 0444);
MODULE_PARM_DESC(runtime_pm, "Give the GPU power only while it works (default Y)");

/**
 * struct agate_topic - one part of the driver
 * @name: for the log
 * @feature: its bit in the feature mask that userspace reads
 * @needs: bits of the topics that it needs; without them it is absent
 * @init: starts it; returns -EOPNOTSUPP when it is absent
 * @fini: stops it; objects of open files stay
 * @suspend: ends its use of the GPU until @resume, or is NULL; after an error the topic is
 *	awake
 * @resume: undoes @suspend, or is NULL; the GPU may have been reset, and may have lost its
 *	power, but need not; after an error the topic is asleep
 */
struct agate_topic {
	const char *name;
	u64 feature;
	u64 needs;
	int (*init)(struct agate_device *adev);
	void (*fini)(struct agate_device *adev);
	int (*suspend)(struct agate_device *adev);
	int (*resume)(struct agate_device *adev);
};

static int pm_topic_init(struct agate_device *adev)
{
	return runtime_pm ? agate_pm_topic_init(adev) : -EOPNOTSUPP;
}

static const struct agate_topic topics[] = {
	/* First, because it says which memory the device reaches. */
	{ "card", AGATE_FEATURE_CARD, 0,
	  agate_card_topic_init, agate_card_topic_fini },
	{ "gem", AGATE_FEATURE_GEM, 0,
	  agate_gem_topic_init, agate_gem_topic_fini },
	{ "cma", AGATE_FEATURE_CMA, AGATE_FEATURE_GEM,
	  agate_cma_topic_init, agate_cma_topic_fini },
	{ "shmem", AGATE_FEATURE_SHMEM, AGATE_FEATURE_GEM,
	  agate_shmem_topic_init, agate_shmem_topic_fini },
	{ "mmap", AGATE_FEATURE_MMAP, AGATE_FEATURE_SHMEM,
	  agate_mmap_topic_init, agate_mmap_topic_fini },
	{ "purge", AGATE_FEATURE_PURGE, AGATE_FEATURE_SHMEM,
	  agate_purge_topic_init, agate_purge_topic_fini },
	{ "prime", AGATE_FEATURE_PRIME, AGATE_FEATURE_GEM,
	  agate_prime_topic_init, agate_prime_topic_fini },
	{ "coherency", AGATE_FEATURE_COHERENCY, 0,
	  agate_coherency_topic_init, agate_coherency_topic_fini },
	{ "power", AGATE_FEATURE_POWER, 0,
	  agate_power_topic_init, agate_power_topic_fini,
	  agate_power_topic_suspend, agate_power_topic_resume },
	{ "dvfs", AGATE_FEATURE_DVFS, AGATE_FEATURE_POWER,
	  agate_devfreq_topic_init, agate_devfreq_topic_fini,
	  agate_devfreq_topic_suspend, agate_devfreq_topic_resume },
	{ "pgtable", AGATE_FEATURE_PGTABLE, 0,
	  agate_pgtable_topic_init, agate_pgtable_topic_fini },
	{ "mmu", AGATE_FEATURE_MMU, AGATE_FEATURE_PGTABLE | AGATE_FEATURE_SHMEM,
	  agate_mmu_topic_init, agate_mmu_topic_fini,
	  agate_mmu_topic_suspend, NULL },
	{ "fault", AGATE_FEATURE_FAULT, AGATE_FEATURE_MMU,
	  agate_fault_topic_init, agate_fault_topic_fini,
	  agate_fault_topic_suspend, agate_fault_topic_resume },
	{ "slot", AGATE_FEATURE_SLOT, AGATE_FEATURE_MMU | AGATE_FEATURE_POWER,
	  agate_slot_topic_init, agate_slot_topic_fini,
	  agate_slot_topic_suspend, agate_slot_topic_resume },
	{ "submit", AGATE_FEATURE_SUBMIT, AGATE_FEATURE_SLOT,
	  agate_submit_topic_init, agate_submit_topic_fini,
	  agate_submit_topic_suspend, NULL },
	{ "reset", AGATE_FEATURE_RESET, AGATE_FEATURE_SUBMIT,
	  agate_reset_topic_init, agate_reset_topic_fini,
	  agate_reset_topic_suspend, agate_reset_topic_resume },
	{ "engines", AGATE_FEATURE_ENGINES, AGATE_FEATURE_CARD | AGATE_FEATURE_SUBMIT,
	  agate_engines_topic_init, agate_engines_topic_fini },
	{ "vm-tables", AGATE_FEATURE_VM_TABLES, AGATE_FEATURE_ENGINES,
	  agate_vm_tables_topic_init, agate_vm_tables_topic_fini },
	{ "vm-bind", AGATE_FEATURE_VM_BIND, AGATE_FEATURE_VM_TABLES,
	  agate_vm_bind_topic_init, agate_vm_bind_topic_fini },
	/* Last, so that the GPU is awake before any other topic starts to stop. */
	{ "pm", AGATE_FEATURE_PM, AGATE_FEATURE_POWER,
	  pm_topic_init, agate_pm_topic_fini },
};

/* Stop the topics below @end that were started, the last one first. */
static void topics_fini(struct agate_device *adev, size_t end)
{
	while (end--) {
		if (adev->features & topics[end].feature)
			topics[end].fini(adev);
		adev->features &= ~topics[end].feature;
	}
}

static int topic_init(struct agate_device *adev, const struct agate_topic *topic)
{
	int ret = -EOPNOTSUPP;

	if ((adev->features & topic->needs) == topic->needs)
		ret = topic->init(adev);
	if (ret == -EOPNOTSUPP) {
		/* Most GPUs have no card. */
		if (topic->feature != AGATE_FEATURE_CARD &&
		    !(topic->needs & ~adev->features & AGATE_FEATURE_CARD))
			dev_info(&adev->pdev->dev, "topic %s is absent\n", topic->name);
		return 0;
	}
	if (ret) {
		dev_err(&adev->pdev->dev, "topic %s failed: %d\n", topic->name, ret);
		return ret;
	}
	adev->features |= topic->feature;
	return 0;
}

int agate_topics_init(struct agate_device *adev)
{
	size_t i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(topics); i++) {
		ret = topic_init(adev, &topics[i]);
		if (ret) {
			topics_fini(adev, i);
			return ret;
		}
	}
	return 0;
}

/* BOs of files that are still open live on, but the device's DMA mappings must go. */
void agate_topics_fini(struct agate_device *adev)
{
	bool has_bos = agate_topic_present(adev, AGATE_FEATURE_GEM);

	topics_fini(adev, ARRAY_SIZE(topics));
	if (has_bos)
		agate_backing_detach_all(adev);
}

/* ---- Sleep ------------------------------------------------------------ */

/* Call @suspend or @resume of a topic; @name is its name. */
static int topic_call(struct agate_device *adev, const struct agate_topic *topic,
		      int (*call)(struct agate_device *adev), const char *name)
{
	int ret = 0;

	if (call && agate_topic_present(adev, topic->feature))
		ret = call(adev);
	if (ret)
		dev_err(&adev->pdev->dev, "topic %s does not %s: %d\n", topic->name, name, ret);
	return ret;
}

static int topic_suspend(struct agate_device *adev, const struct agate_topic *topic)
{
	return topic_call(adev, topic, topic->suspend, "suspend");
}

static int topic_resume(struct agate_device *adev, const struct agate_topic *topic)
{
	return topic_call(adev, topic, topic->resume, "resume");
}

int agate_topics_suspend(struct agate_device *adev)
{
	size_t i = ARRAY_SIZE(topics);
	int ret = 0;

	while (!ret && i--)
		ret = topic_suspend(adev, &topics[i]);
	if (!ret)
		return 0;
	while (++i < ARRAY_SIZE(topics)) {
		/* Its jobs cannot go on, so they have to end. */
		if (topic_resume(adev, &topics[i]))
			agate_device_lost(adev);
	}
	return ret;
}

int agate_topics_resume(struct agate_device *adev)
{
	size_t i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(topics); i++) {
		ret = topic_resume(adev, &topics[i]);
		if (ret)
			break;
	}
	if (i == ARRAY_SIZE(topics))
		return 0;
	while (i--)
		topic_suspend(adev, &topics[i]);
	return ret;
}

bool agate_topic_present(const struct agate_device *adev, u64 feature)
{
	return (adev->features & feature) == feature;
}
