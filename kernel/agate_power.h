/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "power": the GPU's power domains.
 *
 * While topic "pm" is present, everything here is its work, see agate_pm.h.
 *
 * Shader cores and tiler need the L2 cache, so the L2 goes up first and down last.
 * A domain is up when READY says so, not when PWRON has been written: the
 * transition takes time, and a job that starts too early ends in JOB_POWER_FAULT.
 */
#ifndef AGATE_POWER_H
#define AGATE_POWER_H

#include <linux/types.h>

struct agate_device;

/**
 * struct agate_power - the state of the GPU's power
 * @on: all domains are up; only probe, removal, sleep and reset change it, and they
 *	exclude each other
 */
struct agate_power {
	bool on;
};

int agate_power_topic_init(struct agate_device *adev);
void agate_power_topic_fini(struct agate_device *adev);
int agate_power_topic_suspend(struct agate_device *adev);
int agate_power_topic_resume(struct agate_device *adev);

/**
 * agate_power_on - select the coherency protocol, then power up L2, shaders, tiler
 * @adev: the device; just reset, so that everything is off
 *
 * Return: 0; -ETIMEDOUT when a domain did not come up, or the GPU is not in the mode that it
 * shall be in, and then all domains are off; with topic "pm" also -EIO, when the transition of a
 * domain has ended and the domain is not up; -ENODEV when the GPU is gone.
 */
int agate_power_on(struct agate_device *adev);

/**
 * agate_power_off - power down tiler and shaders, then L2
 * @adev: the device; no job is running
 */
void agate_power_off(struct agate_device *adev);

#endif /* AGATE_POWER_H */
