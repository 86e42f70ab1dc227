/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much system memory placed BOs may have: the accounting of topic "tt" (struct agate_glob),
 * of which there is one, because all cards of a machine share its memory.
 *
 * A worker swaps BOs that nobody uses as long as they have more than seven eighths of the limit.
 * A thread for which nothing is left swaps for itself, and may wait for what it swaps.
 */
#ifndef AGATE_LIMIT_H
#define AGATE_LIMIT_H

#include <linux/types.h>

struct agate_device;
struct agate_ttm_ctx;
struct seq_file;

/** agate_limit_init - set the limit, before the first device */
void agate_limit_init(void);

/** agate_limit_exit - end the worker; there are no devices any more */
void agate_limit_exit(void);

/** agate_limit_add - the BOs of this device may have to be swapped from now on */
void agate_limit_add(struct agate_device *adev);

/** agate_limit_remove - they need not any more: the device is unplugged */
void agate_limit_remove(struct agate_device *adev);

/**
 * agate_limit_charge - account for pages before they are allocated
 * @adev: for a BO of this device
 * @n: pages
 * @dma32: they are to be below 4 GiB
 * @ctx: how to wait.  Without an exec nothing is waited for but the fences of memory that
 *	no BO has any more
 *
 * Swaps until there is room.  It takes idle BOs of all cards first, and then those of this
 * device that others use or hold.
 *
 * Context: may sleep; the caller may hold reservations.
 * Return: 0; -ENOMEM: the limit forbids it, whoever is swapped; -EDEADLK, for
 * agate_exec_retry(); -EINTR or -ERESTARTSYS.
 */
int agate_limit_charge(struct agate_device *adev, unsigned long n, bool dma32,
		       struct agate_ttm_ctx *ctx);

/** agate_limit_uncharge - the opposite */
void agate_limit_uncharge(unsigned long n, bool dma32);

/** agate_limit_parked - pages have no BO any more: wake the threads that wait for such */
void agate_limit_parked(void);

/**
 * agate_limit_leave_begin - a BO that may have pages is about to leave its list
 *
 * Until agate_limit_leave_end() nobody finds its pages, on a list or parked.  A thread that
 * needs memory waits for agate_limit_parked() meanwhile.
 *
 * Context: what comes before agate_limit_leave_end() waits for nobody who may need memory.
 */
void agate_limit_leave_begin(void);

/** agate_limit_leave_end - they are parked, or there are none */
void agate_limit_leave_end(void);

/** agate_limit_bytes - the limit, and in @used how much of it is in use */
u64 agate_limit_bytes(u64 *used);

/** agate_limit_show - the limit and what is in use, in pages, for debugfs */
void agate_limit_show(struct seq_file *m);

#endif /* AGATE_LIMIT_H */
