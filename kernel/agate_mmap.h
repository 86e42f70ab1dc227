/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "mmap" (lab 05): BOs in a process's address space.
 *
 * A BO's fake offset names it on the device's file; it is not an address.  Only a
 * file that has a handle to the BO may map it.  Some backings fill in the page table at
 * once; for the others a fault inserts the page that was touched.  The page stays the right
 * one when munmap() or mprotect() splits the VMA.
 */
#ifndef AGATE_MMAP_H
#define AGATE_MMAP_H

#include <drm/drm_gem.h>

struct agate_device;

int agate_mmap_topic_init(struct agate_device *adev);
void agate_mmap_topic_fini(struct agate_device *adev);

/**
 * agate_mmap_ioctl - MMAP_BO
 * @dev: the device
 * @data: struct drm_agate_mmap_bo
 * @file: whose handle it is
 *
 * Return: 0, and the fake offset in @data; -EINVAL for any flag, or for a BO that is not
 * CPU_VISIBLE; -ENOENT for no handle of @file; the error of drm_gem_create_mmap_offset().
 */
int agate_mmap_ioctl(struct drm_device *dev, void *data, struct drm_file *file);

/**
 * agate_mmap_object - drm_gem_object_funcs.mmap
 * @obj: the BO, with a reference that the VMA keeps
 * @vma: the new mapping; lies in the BO, and starts at the BO's first page unless it is one of
 *	a dma-buf; its vm_private_data may not be set yet
 *
 * Sets vm_flags, and then vm_page_prot, before the backing maps anything; counts the VMA at
 * the end, unless the backing is FOREIGN.
 *
 * Return: 0; -EINVAL for a BO that is not CPU_VISIBLE, or a private (copy on write) mapping;
 * -EPERM for an executable one; -EACCES for a writable map of a CPU_READONLY BO; the error of
 * agate_backing_ops.mmap.
 */
int agate_mmap_object(struct drm_gem_object *obj, struct vm_area_struct *vma);

extern const struct vm_operations_struct agate_vm_ops;

#endif /* AGATE_MMAP_H */
