/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Topic "submit" (lab 14): from an ioctl to a job that the scheduler will run.
 *
 * Everything that can fail happens before the job is pushed: finding the BOs, locking
 * their reservations, making their pages present, mapping them, and reserving room for
 * fences.  After that nothing can fail, and the job's finished fence is in every listed
 * BO and in every out-sync.
 */
#ifndef AGATE_SUBMIT_H
#define AGATE_SUBMIT_H

struct agate_device;
struct drm_device;
struct drm_file;

/**
 * agate_submit_topic_init - start the queues
 * @adev: the device
 */
int agate_submit_topic_init(struct agate_device *adev);
void agate_submit_topic_fini(struct agate_device *adev);

/**
 * agate_submit_topic_suspend - refuse to sleep with jobs that nobody can stop
 * @adev: the device
 *
 * Topic "reset" has taken all jobs off the GPU if it is present.
 *
 * Return: 0; -EBUSY with jobs and without topic "reset".
 */
int agate_submit_topic_suspend(struct agate_device *adev);

/**
 * agate_submit_ioctl - SUBMIT
 * @dev: the device
 * @data: struct drm_agate_submit
 * @file: the file that owns the handles, the sync objects and the address space
 *
 * Return: 0, or the error of the uAPI with nothing changed.
 */
int agate_submit_ioctl(struct drm_device *dev, void *data, struct drm_file *file);

/**
 * agate_submit_wait_bo_ioctl - WAIT_BO
 * @dev: the device
 * @data: struct drm_agate_wait_bo
 * @file: whose handle it is
 *
 * Return: exactly 0, or the error of the uAPI; -ERESTARTSYS when interrupted.  The
 * restarted call has the same absolute timeout.
 */
int agate_submit_wait_bo_ioctl(struct drm_device *dev, void *data, struct drm_file *file);

#endif /* AGATE_SUBMIT_H */
