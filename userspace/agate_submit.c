// SPDX-License-Identifier: MIT
/*
 * Submitting a job chain to the kernel, with the BOs it touches.
 *
 * The kernel takes a list of handles and, from version 1.1 on, a list of what the chain
 * does with each.  This library also records whether a chain reads or writes a BO, which
 * saves wait calls later.
 */
#include <errno.h>
#include <linux/sync_file.h>
#include <stdlib.h>
#include <unistd.h>

#include <xf86drm.h>

#include "agate_bo.h"
#include "agate_space.h"

static int check(const struct agate_device *dev, const struct agate_submit *submit)
{
	uint32_t i;

	if (!submit->jc || submit->jc % AGATE_JOB_ALIGN)
		return -EINVAL;
	if (submit->requirements & ~(uint32_t)(AGATE_JD_REQ_FS | AGATE_JD_REQ_ONLY_COMPUTE))
		return -EINVAL;
	if (submit->bo_count > AGATE_SUBMIT_MAX_BOS ||
	    submit->in_sync_count > AGATE_SUBMIT_MAX_SYNCS ||
	    submit->out_sync_count > AGATE_SUBMIT_MAX_SYNCS)
		return -EINVAL;
	for (i = 0; i < submit->bo_count; i++) {
		uint32_t access = submit->bos[i].access;

		if (!access || access & ~AGATE_ACCESS_RW)
			return -EINVAL;
		/* On this device its handle would be the name of another BO, or of none. */
		if (submit->bos[i].bo->dev != dev)
			return -EINVAL;
	}
	return 0;
}

_Static_assert(AGATE_ACCESS_READ == AGATE_SUBMIT_BO_READ &&
	       AGATE_ACCESS_WRITE == AGATE_SUBMIT_BO_WRITE, "the kernel reads them as they are");

/* An older driver does not read bo_flags, and takes the chain for a writer. */
static int submit_with(struct agate_device *dev, const struct agate_submit *submit,
		       struct drm_agate_submit *arg)
{
	uint32_t count = submit->bo_count;
	uint32_t *handles = calloc(count ? 2 * (size_t)count : 1, sizeof(*handles));
	uint32_t *flags;
	uint32_t i;
	int err;

	if (!handles)
		return -ENOMEM;
	flags = handles + count;
	for (i = 0; i < count; i++) {
		handles[i] = submit->bos[i].bo->handle;
		flags[i] = submit->bos[i].access;
	}
	arg->bo_handles = (uintptr_t)handles;
	arg->bo_flags = (uintptr_t)flags;
	err = agate_ioctl(dev, DRM_IOCTL_AGATE_SUBMIT, arg);
	free(handles);
	return err;
}

int agate_submit_in(struct agate_device *dev, uint32_t vm_id, const struct agate_submit *submit)
{
	struct drm_agate_submit arg = {
		.jc = submit->jc,
		.in_syncs = (uintptr_t)submit->in_syncs,
		.out_syncs = (uintptr_t)submit->out_syncs,
		.in_sync_count = submit->in_sync_count,
		.out_sync_count = submit->out_sync_count,
		.bo_handle_count = submit->bo_count,
		.requirements = submit->requirements,
		.vm_id = vm_id,
	};
	uint32_t i;
	int err;

	err = check(dev, submit);
	/* It is advice, which an older driver would refuse. */
	if (agate_device_minor(dev) < 3)
		arg.requirements &= ~(uint32_t)AGATE_JD_REQ_ONLY_COMPUTE;
	if (!err)
		err = submit_with(dev, submit, &arg);
	if (err)
		return err;
	/*
	 * Mark the BOs only now.  If they were marked before the call, a wait in
	 * another thread could find a BO idle and clear the mark before the job
	 * exists.
	 */
	for (i = 0; i < submit->bo_count; i++)
		agate_bo_mark_submitted(submit->bos[i].bo, submit->bos[i].access);
	return 0;
}

int agate_submit(struct agate_device *dev, const struct agate_submit *submit)
{
	return agate_submit_in(dev, 0, submit);
}

/* Only a sync_file tells the error of a fence: waiting for a sync object does not. */
int agate_sync_result(struct agate_device *dev, uint32_t syncobj, int *result)
{
	struct drm_syncobj_handle arg = {
		.handle = syncobj,
		.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE,
		.fd = -1,
	};
	struct sync_file_info info = { .num_fences = 0 };
	int err;

	err = agate_ioctl(dev, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &arg);
	if (err)
		return err;
	err = drmIoctl(arg.fd, SYNC_IOC_FILE_INFO, &info) ? -errno : 0;
	close(arg.fd);
	if (!err && !info.status)
		err = -EBUSY;
	if (!err)
		*result = info.status < 0 ? info.status : 0;
	return err;
}
