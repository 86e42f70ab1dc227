/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the shim offers to upstream's Panfrost, which calls it by the macros of redirect.h.
 */
#ifndef UPSTREAM_SHIM_H
#define UPSTREAM_SHIM_H

#include <linux/property.h>
#include <linux/types.h>

struct drm_gem_shmem_object;
struct drm_gpu_scheduler;
struct drm_sched_init_args;
struct panfrost_compatible;
struct platform_device;
struct platform_driver;

/* The platform driver that panfrost_drv.c defines. */
extern struct platform_driver *const upstream_driver;

/**
 * upstream_registers - in place of a mapping of the registers
 * @pdev: the platform device
 *
 * Return: an address that only upstream_read() and upstream_write() understand.
 */
void __iomem *upstream_registers(struct platform_device *pdev);

/**
 * upstream_read - read a register
 * @addr: its address, from upstream_registers()
 *
 * Context: any.
 * Return: its value; 0 once the GPU is gone, because upstream's interrupt threads go on
 * until the status registers read 0.
 */
u32 upstream_read(const void __iomem *addr);

/**
 * upstream_write - write a register
 * @value: what to write
 * @addr: its address, from upstream_registers()
 *
 * Context: any.
 */
void upstream_write(u32 value, void __iomem *addr);

/** upstream_compatible - what upstream knows of a board with nothing special */
const struct panfrost_compatible *upstream_compatible(void);

/** upstream_dma_attr - what the device tree would say about coherency */
enum dev_dma_attr upstream_dma_attr(void);

/**
 * upstream_sched_init - drm_sched_init(), with the time limit of the module's parameter
 * @sched: the scheduler
 * @args: its arguments
 *
 * Return: what drm_sched_init() returns.
 */
int upstream_sched_init(struct drm_gpu_scheduler *sched, struct drm_sched_init_args *args);

/**
 * upstream_shmem_free - drm_gem_shmem_free(), for heaps with holes, too
 * @shmem: a BO of upstream's
 */
void upstream_shmem_free(struct drm_gem_shmem_object *shmem);

#endif /* UPSTREAM_SHIM_H */
