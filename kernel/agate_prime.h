/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "prime" (lab 06): BOs that other drivers and processes use, and BOs of other
 * drivers.
 *
 * A dma-buf stands for an exported BO: it holds a reference to the BO, the device and this
 * module, and it is the same one for as long as any file has a handle to the BO.  While it
 * lives, the BO is not purged.  An importer attaches to it, which pins the BO, and maps it
 * for its own device; processes map it by its file.
 *
 * A BO that was imported is an ordinary BO, with a handle, an address, and a backing
 * whose memory is another driver's.  It is mapped for DMA from the import until it
 * dies, or until the device goes.  Its reservation is the exporter's, so jobs of both drivers
 * wait for each other.  A dma-buf of the same device becomes the exported BO itself.
 *
 * There is no begin_cpu_access() and no end_cpu_access(): the core waits for the BO's
 * fences, and a job hands the BO to the CPUs before its fence signals (agate_hand_over.h).
 */
#ifndef AGATE_PRIME_H
#define AGATE_PRIME_H

#include <linux/list.h>
#include <linux/mutex.h>

#include "agate_backing.h"

struct agate_device;
struct dma_buf;
struct dma_buf_attachment;
struct drm_device;
struct drm_gem_object;

/**
 * struct agate_prime - what a device has imported
 * @lock: protects @imports, and the sgt of each, and is held while an import is undone; taken
 *	before a BO's dma_resv.  The frame initialises both, because imported BOs may outlive the
 *	topic
 * @imports: struct agate_bo, by import.link
 */
struct agate_prime {
	struct mutex lock;	/* @imports */
	struct list_head imports;
};

/**
 * struct agate_import - what this backing keeps of one BO
 * @link: in prime.imports
 * @dmabuf: with a reference; base.import_attach is this device's attachment to it
 * @sgt: the memory, mapped for DMA by the exporter; once the device is gone this,
 *	base.import_attach and backing.bounced are NULL.  None of them changes between
 *	drm_dev_enter() and drm_dev_exit(), so backing.bounced needs no backing.lock
 */
struct agate_import {
	struct list_head link;
	struct dma_buf *dmabuf;
	struct sg_table *sgt;
};

int agate_prime_topic_init(struct agate_device *adev);

/**
 * agate_prime_topic_fini - undo the DMA mappings of all imports, and detach from them
 * @adev: the device, which is unplugged, and has no jobs any more
 */
void agate_prime_topic_fini(struct agate_device *adev);

/**
 * agate_prime_export - drm_gem_object_funcs.export: make a BO's dma-buf
 * @obj: the BO; it was not imported
 * @flags: DRM_CLOEXEC, DRM_RDWR
 *
 * Context: object_name_lock is held; takes backing.lock.
 * Return: the dma-buf; -EPERM for a BO with the reservation of an address space; -EINVAL for one
 * that is not EXPORTABLE; an error of agate_backing_hold(), such as -EFAULT when purged; that of
 * the core, such as -ENOMEM.
 */
struct dma_buf *agate_prime_export(struct drm_gem_object *obj, int flags);

/**
 * agate_prime_import - drm_driver.gem_prime_import: find or make the BO of a dma-buf
 * @drm: the device
 * @dmabuf: the dma-buf
 *
 * Context: object_name_lock is held.
 * Return: the BO, with a reference; -ENODEV for a dma-buf of others when the device is unplugged;
 * the error of agate_prime_import_sg_table(); that of the exporter, who refuses.
 */
struct drm_gem_object *agate_prime_import(struct drm_device *drm, struct dma_buf *dmabuf);

/**
 * agate_prime_import_sg_table - drm_driver.gem_prime_import_sg_table: make a BO of memory
 * that another driver has mapped
 * @drm: the device
 * @attach: the attachment
 * @sgt: the memory, mapped for DMA
 *
 * The BO has the dma-buf's size, also if the memory is more, and is NOEXEC.  If the dma-buf was
 * exported without DRM_RDWR, the BO is CPU_READONLY and GPU_READONLY; if the memory is one run,
 * it is CONTIGUOUS.
 *
 * Return: the BO, which owns the dma-buf, @attach and @sgt from now on; -EINVAL for a size that no
 * BO has, for memory that is not whole pages, or less than the dma-buf's size, and for more than
 * one run if the module's parameter contiguous_imports is set; the error of agate_gem_create().
 */
struct drm_gem_object *agate_prime_import_sg_table(struct drm_device *drm,
						   struct dma_buf_attachment *attach,
						   struct sg_table *sgt);

/* AGATE_BO_IMPORTED. */
extern const struct agate_backing_ops agate_prime_backing;

#endif /* AGATE_PRIME_H */
