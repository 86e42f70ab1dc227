/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The ioctls of address spaces whose owner chooses the ranges.  The uAPI says what they do.
 */
#ifndef AGATE_VM_IOCTL_H
#define AGATE_VM_IOCTL_H

#include <linux/types.h>

struct agate_file;
struct agate_job;
struct agate_vm;
struct drm_device;
struct drm_file;

int agate_vm_create_ioctl(struct drm_device *dev, void *data, struct drm_file *file);
int agate_vm_destroy_ioctl(struct drm_device *dev, void *data, struct drm_file *file);
int agate_vm_bind_ioctl(struct drm_device *dev, void *data, struct drm_file *file);

/**
 * agate_vm_lookup - find an address space of VM_CREATE
 * @afile: the file
 * @id: its number there
 *
 * Return: the address space with a reference; NULL if there is none.
 */
struct agate_vm *agate_vm_lookup(struct agate_file *afile, u32 id);

/** agate_vms_close - the file is closed, and has no jobs any more */
void agate_vms_close(struct agate_file *afile);

#endif /* AGATE_VM_IOCTL_H */
