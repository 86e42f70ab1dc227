// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver's frame: probe and removal, open files, and the GPU's sudden end.
 *
 * struct agate_device lives until its last file is closed, possibly long after the
 * GPU or the driver's binding to it has gone.  So remove() stops everything that
 * needs the device, and leaves everything that needs only memory to the open files.
 */
#include <linux/dma-fence.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/workqueue.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>
#include <drm/drm_gem.h>
#include <drm/drm_managed.h>
#include <drm/drm_prime.h>

#include "agate_bar2.h"
#include "agate_compat.h"
#include "agate_device.h"
#include "agate_limit.h"
#include "agate_lock_order.h"
#include "agate_park.h"
#include "agate_sleep.h"
#include "agate_vm_ioctl.h"

static atomic64_t next_client_id = ATOMIC64_INIT(1);

static int agate_file_open(struct agate_device *adev, struct agate_file *afile)
{
	afile->adev = adev;
	afile->id = atomic64_fetch_inc(&next_client_id);
	afile->vm = agate_vm_create(adev);
	if (IS_ERR(afile->vm))
		return PTR_ERR(afile->vm);
	afile->vm->id = afile->id;
	xa_init_flags(&afile->vms, XA_FLAGS_ALLOC1);
	if (!agate_topic_present(adev, AGATE_FEATURE_SUBMIT))
		return 0;

	afile->entities = agate_queues_open(adev);
	if (IS_ERR(afile->entities)) {
		agate_vm_put(afile->vm);
		return PTR_ERR(afile->entities);
	}
	return 0;
}

/* drm_dev_enter() keeps removal from stopping a topic while this asks it for a queue. */
static int agate_open(struct drm_device *drm, struct drm_file *file)
{
	struct agate_device *adev = to_agate_device(drm);
	struct agate_file *afile;
	int idx, ret;

	afile = kzalloc(sizeof(*afile), GFP_KERNEL_ACCOUNT);
	if (!afile)
		return -ENOMEM;

	ret = -ENODEV;
	if (drm_dev_enter(drm, &idx)) {
		ret = agate_file_open(adev, afile);
		drm_dev_exit(idx);
	}
	if (ret) {
		kfree(afile);
		return ret;
	}
	file->driver_priv = afile;
	agate_stat_inc(&adev->stats, AGATE_STAT_FILES);
	return 0;
}

/* The core has closed the file's handles already. */
static void agate_postclose(struct drm_device *drm, struct drm_file *file)
{
	struct agate_device *adev = to_agate_device(drm);
	struct agate_file *afile = to_agate_file(file);

	if (agate_topic_present(adev, AGATE_FEATURE_ENGINES))
		agate_scan_close(adev, afile);
	if (afile->entities)
		agate_queues_close(adev, afile->entities);
	agate_vms_close(afile);
	agate_vm_put(afile->vm);
	kfree(afile);
	agate_stat_dec(&adev->stats, AGATE_STAT_FILES);
}

/* The core's calls for PRIME do not pass the gate of the driver's own ioctls. */
static int prime_gate(struct drm_device *drm)
{
	struct agate_device *adev = to_agate_device(drm);

	if (agate_bus_lost(adev))
		return -ENODEV;
	return agate_topic_present(adev, AGATE_FEATURE_PRIME) ? 0 : -EOPNOTSUPP;
}

static int agate_handle_to_fd(struct drm_device *drm, struct drm_file *file, u32 handle,
			      u32 flags, int *fd)
{
	int ret = prime_gate(drm);

	return ret ? ret : drm_gem_prime_handle_to_fd(drm, file, handle, flags, fd);
}

static int agate_fd_to_handle(struct drm_device *drm, struct drm_file *file, int fd,
			      u32 *handle)
{
	int ret = prime_gate(drm);

	return ret ? ret : drm_gem_prime_fd_to_handle(drm, file, fd, handle);
}

static const struct file_operations agate_fops = {
	.owner = THIS_MODULE,
	.open = drm_open,
	.release = drm_release,
	.unlocked_ioctl = agate_ioctl,
	.compat_ioctl = agate_compat_ioctl,
	.poll = drm_poll,
	.read = drm_read,
	.llseek = noop_llseek,
	.mmap = drm_gem_mmap,
	.show_fdinfo = agate_show_fdinfo,
	AGATE_FOP_FLAGS
};

static const struct drm_driver agate_drm_driver = {
	.driver_features = DRIVER_GEM | DRIVER_RENDER | DRIVER_SYNCOBJ | DRIVER_SYNCOBJ_TIMELINE,
	.open = agate_open,
	.postclose = agate_postclose,
	.debugfs_init = agate_debugfs_init,
	.prime_handle_to_fd = agate_handle_to_fd,
	.prime_fd_to_handle = agate_fd_to_handle,
	.gem_prime_import = agate_prime_import,
	.gem_prime_import_sg_table = agate_prime_import_sg_table,
	.ioctls = agate_ioctls,
	.num_ioctls = AGATE_NUM_IOCTLS,
	.fops = &agate_fops,
	.name = "agate",
	.desc = "Agate GPU",
	.date = "20261121",
	.major = AGATE_DRM_MAJOR,
	.minor = AGATE_DRM_MINOR,
};

/*
 * Disable DMA first: the owners of memory get it back as soon as their jobs end,
 * and a GPU that was only slow may still write to it.  Then end all jobs, which
 * wakes their waiters, because drm_dev_unplug() waits for every thread inside the
 * driver.  Probe and removal notice a lost GPU by themselves.
 */
static void agate_lost_work(struct work_struct *work)
{
	struct agate_device *adev = container_of(work, struct agate_device, lost_work);

	mutex_lock(&adev->unplug_lock);
	if (adev->running) {
		dev_err(&adev->pdev->dev, "the GPU is gone\n");
		/* To wake a function restores its bits, so this comes before DMA ends. */
		agate_pm_keep(adev);
		pci_clear_master(adev->pdev);
		agate_devfreq_suspend(adev);
		if (agate_topic_present(adev, AGATE_FEATURE_RESET))
			agate_reset_device_lost(adev);
		if (agate_topic_present(adev, AGATE_FEATURE_SLOT))
			agate_slot_shutdown(adev);
		if (agate_topic_present(adev, AGATE_FEATURE_ENGINES)) {
			agate_mover_shutdown(adev);
			agate_scan_shutdown(adev);
		}
		agate_pm_put(adev);
		drm_dev_unplug(&adev->drm);
	}
	mutex_unlock(&adev->unplug_lock);
}

void agate_device_lost(struct agate_device *adev)
{
	schedule_work(&adev->lost_work);
}

/* Runs after the last user of the device has gone. */
static void agate_check_stats(struct drm_device *drm, void *unused)
{
	struct agate_device *adev = to_agate_device(drm);
	unsigned int i;

	for (i = 0; i < AGATE_STAT_COUNT; i++) {
		s64 left = atomic64_read(&adev->stats.v[i]);

		if (left)
			drm_err(drm, "leaked: %s %lld\n", agate_stat_name(i), left);
	}
}

/*
 * Locks of topics that other topics take, too: they must work while the topic itself
 * is absent.
 */
static int agate_locks_init(struct agate_device *adev)
{
	int ret;

	INIT_LIST_HEAD(&adev->purge.list);
	INIT_LIST_HEAD(&adev->prime.imports);
	spin_lock_init(&adev->slots.lock);
	agate_lock_class(&adev->slots.lock, AGATE_LOCK_SLOTS);
	spin_lock_init(&adev->reset.queue_lock);
	agate_busy_init(adev);
	agate_userptr_init(adev);
	ret = drmm_mutex_init(&adev->drm, &adev->purge.lock);
	if (!ret)
		ret = drmm_mutex_init(&adev->drm, &adev->prime.lock);
	if (!ret)
		ret = drmm_mutex_init(&adev->drm, &adev->reset.lock);
	if (!ret)
		ret = drmm_mutex_init(&adev->drm, &adev->pm.lock);
	if (!ret)
		ret = drmm_mutex_init(&adev->drm, &adev->hand_over_lock);
	if (ret)
		return ret;
	agate_lock_class(&adev->prime.lock, AGATE_LOCK_PRIME);
	agate_lock_class(&adev->purge.lock, AGATE_LOCK_PURGE);
	agate_lock_class(&adev->reset.lock, AGATE_LOCK_RESET);
	agate_lock_class(&adev->pm.lock, AGATE_LOCK_PM);
	agate_lock_class(&adev->hand_over_lock, AGATE_LOCK_HAND_OVER);
	return 0;
}

/* Start the topics and the DRM device.  If the GPU goes now, lost_work waits for this to end. */
static int agate_start(struct agate_device *adev)
{
	int ret;

	mutex_lock(&adev->unplug_lock);
	ret = agate_topics_init(adev);
	if (ret)
		goto out;
	if (agate_topic_present(adev, AGATE_FEATURE_MMU))
		agate_lock_class(&adev->mmu.lock, AGATE_LOCK_MMU);
	ret = agate_bus_lost(adev) ? -ENODEV : drm_dev_register(&adev->drm, 0);
	if (ret)
		agate_topics_fini(adev);
out:
	adev->running = !ret;
	mutex_unlock(&adev->unplug_lock);
	return ret;
}

static struct lock_class_key park_key;

static int agate_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	struct agate_device *adev;
	int ret;

	adev = devm_drm_dev_alloc(&pdev->dev, &agate_drm_driver, struct agate_device, drm);
	if (IS_ERR(adev))
		return PTR_ERR(adev);
	adev->pdev = pdev;
	mutex_init(&adev->unplug_lock);
	agate_lock_class(&adev->unplug_lock, AGATE_LOCK_UNPLUG);
	INIT_WORK(&adev->lost_work, agate_lost_work);
	pci_set_drvdata(pdev, adev);
	/* The system's sleep stops the schedulers even if the GPU is off already. */
	dev_pm_set_driver_flags(&pdev->dev, DPM_FLAG_NO_DIRECT_COMPLETE);
	ret = drmm_add_action(&adev->drm, agate_check_stats, NULL);
	if (!ret)
		ret = agate_locks_init(adev);
	if (!ret)
		ret = agate_park_init(adev, &adev->park, &park_key);
	if (ret)
		return ret;

	ret = agate_pci_init(adev);
	if (ret)
		goto out;
	ret = agate_start(adev);
	if (ret) {
		agate_pci_fini(adev);
		goto out;
	}
	dev_info(&pdev->dev, "GPU %#x, features %#llx\n", adev->id.gpu_id, adev->features);
	return 0;

out:
	cancel_work_sync(&adev->lost_work);
	return ret;
}

static void agate_remove(struct pci_dev *pdev)
{
	struct agate_device *adev = pci_get_drvdata(pdev);

	mutex_lock(&adev->unplug_lock);
	adev->running = false;
	drm_dev_unplug(&adev->drm);
	mutex_unlock(&adev->unplug_lock);

	agate_topics_fini(adev);
	agate_pci_fini(adev);
	cancel_work_sync(&adev->lost_work);
}

static const struct pci_device_id agate_pci_ids[] = {
	{ PCI_DEVICE(AGATE_PCI_VENDOR, AGATE_PCI_DEVICE) },
	{ }
};
MODULE_DEVICE_TABLE(pci, agate_pci_ids);

static struct pci_driver agate_pci_driver = {
	.name = "agate",
	.id_table = agate_pci_ids,
	.probe = agate_probe,
	.remove = agate_remove,
	.driver.pm = pm_ptr(&agate_pm_ops),
};

static int __init agate_init(void)
{
	int ret;

	agate_lock_order_prime();
	agate_limit_init();
	ret = pci_register_driver(&agate_pci_driver);
	if (ret)
		agate_limit_exit();
	return ret;
}
module_init(agate_init);

static void __exit agate_exit(void)
{
	pci_unregister_driver(&agate_pci_driver);
	agate_limit_exit();
	agate_fence_flush();
}
module_exit(agate_exit);

MODULE_DESCRIPTION("DRM driver for the Agate GPU");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(DMA_BUF);
