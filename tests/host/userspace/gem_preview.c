// SPDX-License-Identifier: MIT
/*
 * Replaces the device that agate-gem opens with the fake kernel and the GPU model's
 * job types.
 */
#include "fake_gpu.h"

int __wrap_agate_device_open(struct agate_device **dev);
int __wrap_agate_device_open(struct agate_device **dev)
{
	fake_reset();
	*dev = fake_open();
	fake_submit(fake_gpu_run);
	return 0;
}
