/* SPDX-License-Identifier: MIT */
/*
 * The device inside libagate, which its own files share and users do not see.
 */
#ifndef AGATE_DEVICE_PRIV_H
#define AGATE_DEVICE_PRIV_H

#include <pthread.h>

#include "agate.h"
#include "agate_bo_cache.h"
#include "agate_sparse_array.h"

/**
 * struct agate_device - one open file of the driver
 * @fd: the file; it owns every GEM handle
 * @minor: minor version of the driver
 * @bo_map: struct agate_bo by GEM handle
 * @bo_map_lock: held while a thread gives a slot of @bo_map another meaning that
 *	other threads could be looking at: when it drops the last reference, and
 *	when it imports
 * @bo_closed: a handle that was being closed is closed; with @bo_map_lock
 * @has_cache: false: lab 09 is not written yet, and every BO comes from the kernel
 * @cache: unused BOs.  Its lock is never held while @bo_map_lock is taken, nor the other
 *	way round
 */
struct agate_device {
	int fd;
	uint32_t minor;
	struct agate_sparse_array bo_map;
	pthread_mutex_t bo_map_lock;
	pthread_cond_t bo_closed;
	bool has_cache;
	struct agate_bo_cache cache;
};

/* Does the driver tell jobs that read a BO from jobs that write it? */
static inline bool agate_device_knows_access(const struct agate_device *dev)
{
	return dev->minor >= 1;
}

/* Does the driver know AGATE_BO_CONTIGUOUS? */
static inline bool agate_device_knows_contiguous(const struct agate_device *dev)
{
	return dev->minor >= 2;
}

/* Does the driver know placements? */
static inline bool agate_device_knows_placement(const struct agate_device *dev)
{
	return dev->minor >= 4;
}

/* Does the driver know QUERY_REGIONS and FLIP? */
static inline bool agate_device_knows_display(const struct agate_device *dev)
{
	return dev->minor >= 5;
}

/* Does the driver know address spaces? */
static inline bool agate_device_knows_vms(const struct agate_device *dev)
{
	return dev->minor >= 6;
}

/* Do these take memory of a process? */
static inline bool agate_device_binds_memory(const struct agate_device *dev)
{
	return dev->minor >= 8;
}

/* Do they know AGATE_VM_LONG_RUNNING? */
static inline bool agate_device_runs_long(const struct agate_device *dev)
{
	return dev->minor >= 9;
}

/* Do they know AGATE_VM_FAULT_MODE? */
static inline bool agate_device_serves_faults(const struct agate_device *dev)
{
	return dev->minor >= 10;
}

/* Does MADVISE take a label? */
static inline bool agate_device_labels_advice(const struct agate_device *dev)
{
	return dev->minor >= 7;
}

/* Call ioctl(), and restart it when a signal interrupts it; return 0 or -errno. */
int agate_ioctl(const struct agate_device *dev, unsigned long request, void *arg);

#endif /* AGATE_DEVICE_PRIV_H */
