/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How long the GPU works, and how long it waits for work.  A client's own time is in
 * struct agate_entities, and counts when a chain ends; these times go on while a chain
 * runs, so a governor that looks in its middle sees a busy GPU.  A chain on a slot also keeps
 * the GPU's power on, see agate_pm.h.
 *
 * The times are in nanoseconds by the kernel's clock, and for topic "dvfs" also in cycles by
 * the GPU's.  The kernel's clock cannot tell the load of the GPU at another frequency: the
 * simulated GPU works as fast as its host can, at whatever frequency.  To read the
 * GPU's clock costs no trip to the GPU and back: where a chain goes to an empty slot the read is
 * posted, and where one ends it goes with that of the interrupt's status.
 */
#ifndef AGATE_BUSY_H
#define AGATE_BUSY_H

#include <linux/ktime.h>
#include <linux/types.h>

struct agate_device;
struct agate_job;

/**
 * struct agate_busy - the times of one device; all under slots.lock
 * @chains: chains on the slots
 * @since: when @chains last changed from 0 or to 0, or the device started
 * @busy_ns: time with chains, up to @since
 * @idle_ns: time without one, up to @since
 * @mhz: the GPU's clock; 0: nobody counts cycles, or the GPU may have no power
 * @stamp: TIMESTAMP_LO, when it was last read
 * @begun: the chain before whose start TIMESTAMP_LO was asked for, if nobody has taken the
 *	answer yet
 * @was_idle: no chain was on the slots before @begun
 * @busy_cycles: bus cycles with chains, up to @stamp
 * @idle_cycles: bus cycles without one, up to @stamp
 * @ticks: cycles of the GPU's clock, up to @stamp, in units of 1 / AGATE_BUS_MHZ
 */
struct agate_busy {
	unsigned int chains;
	ktime_t since;
	u64 busy_ns;
	u64 idle_ns;
	unsigned int mhz;
	u32 stamp;
	struct agate_job *begun;
	bool was_idle;
	u64 busy_cycles;
	u64 idle_cycles;
	u64 ticks;
};

/** agate_busy_init - the device waits for work from now on */
void agate_busy_init(struct agate_device *adev);

/**
 * agate_busy_begin - a chain is about to go to a slot
 * @adev: the device; the caller holds slots.lock, and something keeps the power on until now
 * @job: the chain's job: by the next agate_busy_look() or agate_busy_end() its @start_cycles
 *	are what agate_busy_gpu_cycles() is now
 * @first: the slot is empty, so the chain will run at once
 *
 * Called before the GPU knows of the chain, because the GPU does not wait: a chain may have
 * ended before the next access.
 */
void agate_busy_begin(struct agate_device *adev, struct agate_job *job, bool first);

/**
 * agate_busy_end - a chain has left its slot, or did not get there
 * @adev: the device; the caller holds slots.lock
 *
 * Of the GPU's clock only what passed up to the last agate_busy_look() has counted, so the
 * caller looks between the chain's end and this call.
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

/**
 * agate_busy_clock - count cycles, too, at this frequency from now on
 * @adev: the device; the caller holds slots.lock, and the GPU has power
 * @mhz: the GPU's clock; 0: count no cycles until the next call, so that the GPU can lose
 *	its power
 */
void agate_busy_clock(struct agate_device *adev, unsigned int mhz);

/**
 * agate_busy_look - count the cycles up to now; without agate_busy_clock() this does nothing
 * @adev: the device; the caller holds slots.lock
 *
 * Only the low word of TIMESTAMP is read, so somebody has to look at least every five
 * seconds of the GPU's time.
 */
void agate_busy_look(struct agate_device *adev);

/**
 * agate_busy_look_at - read a register, and look at the clock on the same way
 * @adev: the device; the caller holds slots.lock
 * @reg: offset of the register
 *
 * Return: the register's value, or all ones once the GPU is lost.
 */
u32 agate_busy_look_at(struct agate_device *adev, u32 reg);

/**
 * agate_busy_gpu_cycles - the GPU's clock when it was last looked at
 * @adev: the device; the caller holds slots.lock
 *
 * Return: cycles of the GPU's clock; only differences mean anything.
 */
u64 agate_busy_gpu_cycles(const struct agate_device *adev);

#endif /* AGATE_BUSY_H */
