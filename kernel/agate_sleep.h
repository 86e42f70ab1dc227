/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The driver's struct dev_pm_ops, and system sleep.  A card's function stays in D0 while runtime
 * PM has the GPU off.
 *
 * The GPU loses its power, and everything that it knew, but no job and no memory is lost.
 * Each topic puts its own part to sleep, see agate_topics.h.  agate_pm.h has runtime PM.
 */
#ifndef AGATE_SLEEP_H
#define AGATE_SLEEP_H

#include <linux/pm.h>
#include <linux/types.h>

struct agate_device;

extern const struct dev_pm_ops agate_pm_ops;

/**
 * agate_sleep_protect - let the GPU enter or leave protected mode
 * @adev: the device
 * @on: it enters
 *
 * The L2 has to be off when its protocol changes, and only a reset ends protected mode.  So
 * the GPU goes to sleep, and wakes up in the other mode; its jobs go on.
 *
 * Context: may sleep; takes unplug_lock, but does not wait for it.
 * Return: 0; -EOPNOTSUPP without topics "coherency" and "power"; -EBUSY while the device comes,
 * goes, or falls asleep; -ENODEV when the GPU is gone or asleep; the error of a topic
 * that cannot sleep now; that of a GPU that does not wake up, and then it is lost.
 */
int agate_sleep_protect(struct agate_device *adev, bool on);

#endif /* AGATE_SLEEP_H */
