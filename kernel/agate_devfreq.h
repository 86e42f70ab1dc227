/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "dvfs" (lab 18): the GPU's frequency and supply voltage follow its load.
 *
 * The GPU's table lists its operating points: frequencies, each with the least voltage that
 * it needs.  The kernel's devfreq calls one of its governors every 50 ms; that reads the
 * load and chooses a frequency.  "simple_ondemand" is the default; the parameter `governor`
 * and /sys/class/devfreq/DEVICE/governor select another one.
 *
 * The rules:
 * - A frequency never has less than its voltage: the voltage goes up before the frequency,
 *   and down after it.
 * - Nothing is written when nothing changes, so a governor with one frequency causes no
 *   change of the clock.
 * - The driver reads back what it writes.  A change that the GPU does not take is undone,
 *   and the governor gets -EIO.
 * - A GPU that may have no power is not accessed: a frequency that is asked for meanwhile
 *   applies when the power is back.
 *
 * Clock and supply are registers of the GPU's function, which no other driver can reach, and
 * a PCI function has no device-tree node where a consumer could find a clock or a regulator.
 * So the topic gives the OPP library only the table, and makes the changes itself.
 *
 * Without this topic the GPU stays at the point that its firmware chose.
 */
#ifndef AGATE_DEVFREQ_H
#define AGATE_DEVFREQ_H

#include <linux/devfreq.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "agate_regs.h"

struct agate_device;

/**
 * struct agate_point - one operating point
 * @mhz: the frequency
 * @mv: the least supply voltage for it
 */
struct agate_point {
	u32 mhz;
	u32 mv;
};

/**
 * struct agate_devfreq - the state of the topic
 * @devfreq: the kernel's part, from init to fini of the topic, else NULL; it changes under
 *	slots.lock at the end
 * @profile: what the kernel knows of the device; each GPU has its own, because devfreq
 *	keeps the polling interval of a device in there
 * @ondemand: thresholds for the governor "simple_ondemand"
 * @table: the operating points, slowest first
 * @freq: their frequencies in Hz, for @profile
 * @count: how many there are
 * @point: the present one; under slots.lock, as all members below
 * @wanted: the one to select; another one than @point only while @off
 * @mv: the present supply voltage
 * @off: the GPU may have no power
 * @busy: busy.busy_cycles when the present window began
 * @idle: busy.idle_cycles then
 * @window: the load of the last whole window
 * @failed: changes that the GPU did not take
 * @poll: pauses or resumes the governor, as @off says
 * @paused: @poll has paused it
 */
struct agate_devfreq {
	struct devfreq *devfreq;
	struct devfreq_dev_profile profile;
	struct devfreq_simple_ondemand_data ondemand;
	struct agate_point table[AGATE_CLK_MAX_POINTS];
	unsigned long freq[AGATE_CLK_MAX_POINTS];
	unsigned int count;
	unsigned int point;
	unsigned int wanted;
	u32 mv;
	bool off;
	u64 busy;
	u64 idle;
	struct devfreq_dev_status window;
	u64 failed;
	struct work_struct poll;
	bool paused;
};

int agate_devfreq_topic_init(struct agate_device *adev);
void agate_devfreq_topic_fini(struct agate_device *adev);
int agate_devfreq_topic_suspend(struct agate_device *adev);
int agate_devfreq_topic_resume(struct agate_device *adev);

/**
 * agate_devfreq_suspend - the GPU is about to lose its power
 * @adev: the device; no chain is on a slot
 *
 * From here on the topic accesses no register of the GPU.  The governor pauses a little
 * later; until then it sees the load of the last window.  Without the topic this does
 * nothing.
 *
 * Context: any thread, also on a fence's way to its signal: takes slots.lock, allocates
 * nothing and waits for nobody.
 */
void agate_devfreq_suspend(struct agate_device *adev);

/**
 * agate_devfreq_resume - the GPU has its power again
 * @adev: the device; no chain is on a slot yet
 *
 * Selects the operating point that was asked for meanwhile, and counts on.  If the GPU does
 * not take it, the former point stays.
 *
 * Context: as agate_devfreq_suspend().
 */
void agate_devfreq_resume(struct agate_device *adev);

/**
 * agate_devfreq_max_hz - the fastest operating point
 * @adev: the device, which has the topic
 *
 * Return: Hz.
 */
unsigned long agate_devfreq_max_hz(const struct agate_device *adev);

/**
 * agate_devfreq_now_hz - the present frequency
 * @adev: the device, which has the topic
 *
 * Return: Hz.
 */
unsigned long agate_devfreq_now_hz(const struct agate_device *adev);

#endif /* AGATE_DEVFREQ_H */
