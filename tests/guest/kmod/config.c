// SPDX-License-Identifier: GPL-2.0-only
/*
 * The GPU's PCI function, for tests.
 *
 * /sys/kernel/debug/agate_config has the configuration space as it was before any driver had the
 * GPU: what a test finds at its begin may be what an earlier one left.  It is read when this
 * module is loaded, or when the first driver gets the GPU, if the GPU is plugged in later: a
 * change between plugging and the first driver counts as found.
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

static void look_at(struct pci_dev *pdev)
{
	unsigned int i;

	for (i = 0; i < sizeof(found); i++)
		pci_read_config_byte(pdev, i, &found[i]);
}

static int on_bus(struct notifier_block *self, unsigned long what, void *data)
{
	struct pci_dev *pdev = to_pci_dev(data);

	if (what == BUS_NOTIFY_BIND_DRIVER && pdev->vendor == AGATE_PCI_VENDOR &&
	    pdev->device == AGATE_PCI_DEVICE && !found[PCI_VENDOR_ID])
		look_at(pdev);
	return NOTIFY_DONE;
}

static struct notifier_block bus_notifier = { .notifier_call = on_bus };

void config_exit(void)
{
	debugfs_remove(config_file);
	debugfs_remove(bar2_file);
	bus_unregister_notifier(&pci_bus_type, &bus_notifier);
}

int config_init(void)
{
	struct pci_dev *pdev = pci_get_device(AGATE_PCI_VENDOR, AGATE_PCI_DEVICE, NULL);
	int ret = bus_register_notifier(&pci_bus_type, &bus_notifier);

	if (!ret && pdev)
		look_at(pdev);
	pci_dev_put(pdev);
	if (ret)
		return ret;
	/* Not the full proxy of debugfs, which has no mmap. */
	bar2_file = debugfs_create_file_unsafe("agate_bar2", 0600, NULL, NULL, &bar2_fops);
	config_file = debugfs_create_blob("agate_config", 0400, NULL, &blob);
	ret = PTR_ERR_OR_ZERO(config_file);
	if (ret)
		config_exit();
	return ret;
}
