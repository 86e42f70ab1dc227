// SPDX-License-Identifier: MIT
/*
 * Puts the fake kernel, with the GPU model's job types behind it, in the place
 * of the device that agate-gem opens.
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
