// SPDX-License-Identifier: GPL-2.0-only
/*
 * The GPU's configuration space as it was when this module was loaded, which is before any
 * driver had the GPU: what a test finds at its begin may be what an earlier one left.
 * /sys/kernel/debug/agate_config has it.
 */
#include <linux/debugfs.h>
#include <linux/pci.h>

#include "agate_bar2.h"
#include "watch.h"

static u8 found[PCI_CFG_SPACE_SIZE];
static struct debugfs_blob_wrapper blob = { .data = found, .size = sizeof(found) };
static struct dentry *config_file;

int config_init(void)
{
	struct pci_dev *pdev = pci_get_device(AGATE_PCI_VENDOR, AGATE_PCI_DEVICE, NULL);
	unsigned int i;

	for (i = 0; i < sizeof(found) && pdev; i++)
		pci_read_config_byte(pdev, i, &found[i]);
	pci_dev_put(pdev);
	config_file = debugfs_create_blob("agate_config", 0400, NULL, &blob);
	return PTR_ERR_OR_ZERO(config_file);
}

void config_exit(void)
{
	debugfs_remove(config_file);
}
