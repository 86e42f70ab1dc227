// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lab 02 checks something about BOs that the driver's own debugfs does not show.
 *
 * /sys/kernel/debug/agate_masks has a line for each BO on the device's list, the oldest
 * first: its size, and 1 if the pages of its file are allocated with __GFP_RETRY_MAYFAIL and
 * __GFP_NOWARN, or 0.
 */
#include "watch.h"

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/module.h>
#include <linux/pagemap.h>
#include <linux/pci.h>
#include <linux/seq_file.h>

#include "agate_device.h"
#include "agate_gem.h"

static struct dentry *masks_file;

/* The GPU, while a driver has it; the test makes sure that the driver keeps it. */
static struct agate_device *find_device(void)
{
	struct pci_dev *pdev = pci_get_device(AGATE_PCI_VENDOR, AGATE_PCI_DEVICE, NULL);
	struct agate_device *adev = NULL;

	if (pdev && pdev->dev.driver)
		adev = pci_get_drvdata(pdev);
	pci_dev_put(pdev);
	return adev;
}

static bool is_silent(const struct agate_bo *bo)
{
	const gfp_t wanted = __GFP_RETRY_MAYFAIL | __GFP_NOWARN;

	return bo->base.filp && (mapping_gfp_mask(bo->base.filp->f_mapping) & wanted) == wanted;
}

static int masks_show(struct seq_file *seq, void *unused)
{
	struct agate_device *adev = find_device();
	struct agate_bo *bo;

	if (!adev)
		return -ENODEV;
	mutex_lock(&adev->gem.lock);
	list_for_each_entry(bo, &adev->gem.bos, link)
		seq_printf(seq, "%zu %d\n", agate_bo_size(bo), is_silent(bo));
	mutex_unlock(&adev->gem.lock);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(masks);

int bos_init(void)
{
	masks_file = debugfs_create_file("agate_masks", 0400, NULL, NULL, &masks_fops);
	return PTR_ERR_OR_ZERO(masks_file);
}

void bos_exit(void)
{
	debugfs_remove(masks_file);
}
