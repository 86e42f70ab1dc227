// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device that owns memory of the DMA API: see agate_mem_dev.h.
 */
#include <linux/device.h>
#include <linux/dma-map-ops.h>
#include <linux/slab.h>
#include <drm/drm_managed.h>

#include "agate_device.h"
#include "agate_mem_dev.h"

static void mem_dev_release(struct device *dev)
{
	kfree(dev);
}

static void mem_dev_put(struct drm_device *drm, void *dev)
{
	put_device(dev);
}

int agate_mem_dev_init(struct agate_device *adev)
{
	struct device *gpu = &adev->pdev->dev;
	struct device *dev;
	int ret;

	if (get_dma_ops(gpu) || gpu->dma_range_map)
		return -EOPNOTSUPP;

	dev = kzalloc(sizeof(*dev), GFP_KERNEL_ACCOUNT);
	if (!dev)
		return -ENOMEM;
	device_initialize(dev);
	dev->release = mem_dev_release;
	dev->coherent_dma_mask = gpu->coherent_dma_mask;
	dev->dma_mask = &dev->coherent_dma_mask;
	dev->bus_dma_limit = gpu->bus_dma_limit;
	ret = dev_set_name(dev, "%s-memory", dev_name(gpu));
	if (ret) {
		put_device(dev);
		return ret;
	}
	ret = drmm_add_action_or_reset(&adev->drm, mem_dev_put, dev);
	if (!ret)
		adev->mem_dev = dev;
	return ret;
}
