/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The device that owns memory of the DMA API.
 *
 * Such memory belongs to a struct device, and must be given back before that device's
 * driver leaves it.  A BO may live longer: processes have mapped it, and other drivers have
 * imported it.  So the driver takes the memory for a device of its own, which no driver
 * is bound to, and which lives as long as the DRM device.  It reaches the same memory by
 * the same addresses as the GPU.
 */
#ifndef AGATE_MEM_DEV_H
#define AGATE_MEM_DEV_H

struct agate_device;

/**
 * agate_mem_dev_init - make adev->mem_dev
 * @adev: the device, whose DMA mask is set
 *
 * Return: 0; -ENOMEM; -EOPNOTSUPP if the GPU is behind an IOMMU: then another device's
 * addresses are not the GPU's.
 */
int agate_mem_dev_init(struct agate_device *adev);

#endif /* AGATE_MEM_DEV_H */
