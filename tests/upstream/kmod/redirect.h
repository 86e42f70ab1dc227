/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the compiler reads before each of upstream's files.
 *
 * Upstream's driver expects a platform device of a device tree, with registers in memory.
 * Agate's GPU is a PCI function whose registers are behind a queue.  The macros here
 * replace the calls in which that shows; the files of upstream stay as they are.
 */
#ifndef UPSTREAM_REDIRECT_H
#define UPSTREAM_REDIRECT_H

#include <linux/io.h>
#include <linux/iopoll.h>
#include <linux/of.h>
#include <linux/of_device.h>
#include <linux/platform_device.h>
#include <linux/pm.h>
#include <linux/pm_opp.h>
#include <linux/property.h>
#include <drm/drm_gem_shmem_helper.h>
#include <drm/gpu_scheduler.h>

#include "shim.h"

/* ---- Registers: through the queue of agate_bus.c ----------------------- */

#undef readl
#undef writel
#undef readl_relaxed
#define readl(addr)			upstream_read(addr)
#define readl_relaxed(addr)		upstream_read(addr)
#define writel(value, addr)		upstream_write(value, addr)
#define devm_platform_ioremap_resource(pdev, index) \
	((void)(index), upstream_registers(pdev))

/*
 * Upstream gives a transition 1 to 100 ms of the host's time, in which a busy host may not
 * even run the GPU's process.  The GPU counts its latencies in register accesses, and so
 * a poll that is going to succeed ends after a few reads.
 */
#define UPSTREAM_PATIENCE	100

#undef readl_poll_timeout
#undef readl_relaxed_poll_timeout
#undef readl_relaxed_poll_timeout_atomic
#define readl_poll_timeout(addr, val, cond, sleep_us, timeout_us) \
	readx_poll_timeout(readl, addr, val, cond, sleep_us, UPSTREAM_PATIENCE * (timeout_us))
#define readl_relaxed_poll_timeout(addr, val, cond, sleep_us, timeout_us) \
	readl_poll_timeout(addr, val, cond, sleep_us, timeout_us)
#define readl_relaxed_poll_timeout_atomic(addr, val, cond, delay_us, timeout_us) \
	readx_poll_timeout_atomic(readl, addr, val, cond, delay_us, \
				  UPSTREAM_PATIENCE * (timeout_us))

/* ---- What a device tree would say -------------------------------------- */

#define of_device_get_match_data(dev)	((void)(dev), upstream_compatible())
#define device_get_dma_attr(dev)	((void)(dev), upstream_dma_attr())

/* No voltages and no frequencies.  Upstream takes the stub's own error for fatal. */
#define devm_pm_opp_set_regulators(dev, names) ((void)(dev), (void)(names), -ENODEV)
#define devm_pm_opp_of_add_table(dev)	((void)(dev), -ENODEV)

/* ---- How long a job may run -------------------------------------------- */

#define drm_sched_init(sched, args)	upstream_sched_init(sched, args)

/* ---- Heaps that are mapped write-combining ----------------------------- */

#define drm_gem_shmem_free(shmem)	upstream_shmem_free(shmem)

/* ---- What the driver that is built in exports already ------------------ */

#undef EXPORT_GPL_DEV_PM_OPS
#define EXPORT_GPL_DEV_PM_OPS(name)	const struct dev_pm_ops name

/* ---- The platform driver: registered by the shim, by another name ------ */

#undef module_platform_driver
#define module_platform_driver(driver) struct platform_driver *const upstream_driver = &(driver)

#endif /* UPSTREAM_REDIRECT_H */
