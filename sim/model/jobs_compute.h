/* SPDX-License-Identifier: MIT */
/*
 * COMPUTE: fill, copy, copy of a rectangle, checksum.
 */
#ifndef AGATE_MODEL_JOBS_COMPUTE_H
#define AGATE_MODEL_JOBS_COMPUTE_H

#include "job_exec.h"

extern const struct agate_job_ops compute_ops;

#endif /* AGATE_MODEL_JOBS_COMPUTE_H */
