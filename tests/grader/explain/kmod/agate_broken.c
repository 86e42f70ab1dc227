// SPDX-License-Identifier: GPL-2.0-only
/*
 * echo NAME >/sys/module/agate/parameters/what
 */
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/moduleparam.h>
#include <linux/string.h>

#include "agate_broken.h"

struct pci_dev *broken_pdev;

static int broken_run(const struct broken *list, const char *name)
{
	for (; list->name; list++) {
		if (sysfs_streq(name, list->name)) {
			list->run();
			return 0;
		}
	}
	return -ENOENT;
}

static int what_set(const char *val, const struct kernel_param *kp)
{
	int err = broken_run(broken_memory, val);

	if (err)
		err = broken_run(broken_locks, val);
	if (err)
		err = broken_run(broken_device, val);
	return err;
}

static const struct kernel_param_ops what_ops = {
	.set = what_set,
};

module_param_cb(what, &what_ops, NULL, 0200);

static int broken_probe(struct pci_dev *pdev, const struct pci_device_id *id)
{
	int err = pcim_enable_device(pdev);

	if (err)
		return err;
	pci_set_master(pdev);
	err = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(40));
	if (err)
		return err;
	broken_pdev = pdev;
	return 0;
}

static void broken_remove(struct pci_dev *pdev)
{
	broken_pdev = NULL;
}

static const struct pci_device_id broken_ids[] = {
	{ PCI_DEVICE(0x1af4, 0x1110) },
	{ }
};

static struct pci_driver broken_driver = {
	.name = "agate",
	.id_table = broken_ids,
	.probe = broken_probe,
	.remove = broken_remove,
};

module_pci_driver(broken_driver);

MODULE_DESCRIPTION("Does one thing wrong");
MODULE_LICENSE("GPL");
