/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System sleep: the GPU loses its power, and everything that it knew, but no job and no
 * memory is lost.
 *
 * Each topic puts its own part to sleep, see agate_topics.h.
 */
#ifndef AGATE_SLEEP_H
#define AGATE_SLEEP_H

#include <linux/pm.h>

extern const struct dev_pm_ops agate_pm_ops;

#endif /* AGATE_SLEEP_H */
