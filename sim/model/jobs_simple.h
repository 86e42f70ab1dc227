/* SPDX-License-Identifier: MIT */
/*
 * The job types that are one unit of work each.
 */
#ifndef AGATE_MODEL_JOBS_SIMPLE_H
#define AGATE_MODEL_JOBS_SIMPLE_H

#include "job_exec.h"

extern const struct agate_job_ops null_ops;
extern const struct agate_job_ops write_value_ops;
extern const struct agate_job_ops cache_flush_ops;

#endif /* AGATE_MODEL_JOBS_SIMPLE_H */
