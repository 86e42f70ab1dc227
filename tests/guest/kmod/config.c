// SPDX-License-Identifier: GPL-2.0-only
/*
 * The GPU's PCI function, for tests.
 *
 * /sys/kernel/debug/agate_config has the configuration space as it was when this module was
 * loaded, which is before any driver had the GPU: what a test finds at its begin may be what an
 * earlier one left.
 *
 * /sys/kernel/debug/agate_bar2 maps BAR2 as the driver does, write-back.  The kernel allows no
 * second mapping of another kind, and that of sysfs is one.
 */
#include <linux/debugfs.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/pci.h>

#include "agate_bar2.h"
#include "watch.h"

static u8 found[PCI_CFG_SPACE_SIZE];
static struct debugfs_blob_wrapper blob = { .data = found, .size = sizeof(found) };
static struct dentry *config_file, *bar2_file;

static int bar2_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct pci_dev *pdev = pci_get_device(AGATE_PCI_VENDOR, AGATE_PCI_DEVICE, NULL);
	int ret = pdev ? vm_iomap_memory(vma, pci_resource_start(pdev, 2),
					 pci_resource_len(pdev, 2)) : -ENODEV;

	pci_dev_put(pdev);
	return ret;
}

static const struct file_operations bar2_fops = { .owner = THIS_MODULE, .mmap = bar2_mmap };

int config_init(void)
{
	struct pci_dev *pdev = pci_get_device(AGATE_PCI_VENDOR, AGATE_PCI_DEVICE, NULL);
	unsigned int i;

	for (i = 0; i < sizeof(found) && pdev; i++)
		pci_read_config_byte(pdev, i, &found[i]);
	pci_dev_put(pdev);
	/* Not the full proxy of debugfs, which has no mmap. */
	bar2_file = debugfs_create_file_unsafe("agate_bar2", 0600, NULL, NULL, &bar2_fops);
	config_file = debugfs_create_blob("agate_config", 0400, NULL, &blob);
	return PTR_ERR_OR_ZERO(config_file);
}

void config_exit(void)
{
	debugfs_remove(config_file);
	debugfs_remove(bar2_file);
}
