/* SPDX-License-Identifier: MIT */
/*
 * The GPU model's TILER and FRAGMENT, run by the fake kernel's SUBMIT on the memory
 * of the BOs that the submission lists, or that are bound in its address space: any other access
 * is a fault.
 */
#ifndef FAKE_GPU_H
#define FAKE_GPU_H

#include "fake_kernel.h"

/* For fake_submit(). */
int fake_gpu_run(const struct drm_agate_submit *args, const uint32_t *handles);

#endif /* FAKE_GPU_H */
