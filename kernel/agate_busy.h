/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long the GPU works, and how long it waits for work.  A client's own time is in
 * struct agate_entities, and counts when a chain ends; these times go on while a chain
 * runs, so a governor that looks in its middle sees a busy GPU.
 */
#ifndef AGATE_BUSY_H
#define AGATE_BUSY_H

#include <linux/ktime.h>
#include <linux/types.h>

struct agate_device;

/**
 * struct agate_busy - the times of one device; all under slots.lock
 * @chains: chains on the slots
 * @since: when @chains last changed from 0 or to 0, or the device started
 * @busy_ns: time with chains, up to @since
 * @idle_ns: time without one, up to @since
 */
struct agate_busy {
	unsigned int chains;
	ktime_t since;
	u64 busy_ns;
	u64 idle_ns;
};

/** agate_busy_init - the device waits for work from now on */
void agate_busy_init(struct agate_device *adev);

/**
 * agate_busy_begin - a chain goes to a slot
 * @adev: the device; the caller holds slots.lock
 */
void agate_busy_begin(struct agate_device *adev);

/**
 * agate_busy_end - a chain leaves its slot
 * @adev: the device; the caller holds slots.lock
 */
void agate_busy_end(struct agate_device *adev);

/**
 * agate_busy_read - both times up to now, in nanoseconds since agate_busy_init()
 * @adev: the device
 * @busy_ns: how long at least one chain was on a slot
 * @idle_ns: how long none was
 *
 * The sum of both is the time that has passed.
 *
 * Context: a thread; takes slots.lock.
 */
void agate_busy_read(struct agate_device *adev, u64 *busy_ns, u64 *idle_ns);

#endif /* AGATE_BUSY_H */
