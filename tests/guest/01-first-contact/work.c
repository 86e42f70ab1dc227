// SPDX-License-Identifier: MIT
/* Something for the GPU to do; see work.h. */
#include "work.h"

#include "function.h"
#include "graded.h"

#define NOWHERE		0x7000000000ull
#define TARGET		2048u

/*
 * A wait that ends in ETIMEDOUT, again and again, means that nobody tells the driver
 * that the job is done.
 */
int work_wait(int fd, uint32_t handle)
{
	int err = ETIMEDOUT;

	for (unsigned int look = 0; look < PATIENCE_LOOKS / 10 && err == ETIMEDOUT; look++)
		err = guest_wait(fd, handle, guest_deadline(10));
	return err == ETIMEDOUT ? ETIME : err;
}

int work_job(int fd)
{
	struct bo bo = guest_bo(fd, PAGE, 0);
	int err;

	guest_job_write64(&bo, 0, 0, bo.va + TARGET, 0xa6a7e);
	err = guest_submit(fd, bo.va, 0, &bo.handle, 1, 0);
	if (!err)
		err = work_wait(fd, bo.handle);
	if (!err && *(volatile uint64_t *)((char *)bo.cpu + TARGET) != 0xa6a7e)
		err = EIO;
	guest_destroy(&bo);
	return err;
}

int work_fault(int fd)
{
	struct bo bo = guest_bo(fd, PAGE, 0);
	struct agate_job_header *job = guest_job_write64(&bo, 0, 0, NOWHERE, 1);
	int err = guest_submit(fd, bo.va, 0, &bo.handle, 1, 0);

	if (!err)
		err = work_wait(fd, bo.handle);
	/* A job that the GPU has done says so in its header. */
	if (!err && *(volatile uint32_t *)&job->exception_status == AGATE_EXC_DONE)
		err = EIO;
	guest_destroy(&bo);
	return err;
}

void work_endless(int fd)
{
	struct bo bo = guest_bo(fd, PAGE, 0);

	guest_job_write64(&bo, 0, bo.va, bo.va + TARGET, 1);
	check_errno(guest_submit(fd, bo.va, 0, &bo.handle, 1, 0), 0, "SUBMIT");
}

void check_jobs(int fd, unsigned int count, const char *when)
{
	for (unsigned int i = 1; i <= count; i++) {
		int err = work_job(fd);

		rule("%s: every job's end is served", when);
		if (err == ETIME)
			broken("a job that ends soon after it was submitted",
			       "no end of job %u of %u", i, count);
		check_errno(err, 0, "the wait for a job");
	}
}

int work_param(int fd, uint32_t which, uint64_t *value)
{
	struct drm_agate_get_param arg = { .param = which };
	int err = guest_ioctl(fd, DRM_IOCTL_AGATE_GET_PARAM, &arg);

	*value = arg.value;
	return err;
}
