/* SPDX-License-Identifier: MIT */
/*
 * Something for the GPU to do: the interrupts that a driver has to serve.
 */
#ifndef AGATE_TESTS_WORK_H
#define AGATE_TESTS_WORK_H

#include <stdint.h>

/* Wait for the jobs on a BO: 0, or the errno of what went wrong; ETIME when no interrupt came. */
int work_wait(int fd, uint32_t handle);
/* A job that stores a number; the same. */
int work_job(int fd);
/* A job that touches what is mapped nowhere: 0 when it ended, as it must, in an error. */
int work_fault(int fd);
/* A chain that never ends, on a BO of its own that stays. */
void work_endless(int fd);

/* Rules and checks in one: so many jobs, one after another. */
void check_jobs(int fd, unsigned int count, const char *when);

/* GET_PARAM: 0 or the errno. */
int work_param(int fd, uint32_t which, uint64_t *value);

#endif /* AGATE_TESTS_WORK_H */
