/* SPDX-License-Identifier: MIT */
/*
 * The device inside libagate: what its own files share and users do not see.
 */
#ifndef AGATE_DEVICE_H
#define AGATE_DEVICE_H

#include <pthread.h>

#include "agate.h"
#include "agate_sparse_array.h"

/**
 * struct agate_device - one open file of the driver
 * @fd: the file; it owns every GEM handle
 * @bo_map: struct agate_bo by GEM handle
 * @bo_map_lock: held by who gives a slot of @bo_map another meaning while
 *	others could be looking for the same handle: dropping the last reference
 *	on one side, import on the other
 */
struct agate_device {
	int fd;
	struct agate_sparse_array bo_map;
	pthread_mutex_t bo_map_lock;
};

/* An ioctl, restarted when a signal interrupts it; returns 0 or -errno. */
int agate_ioctl(const struct agate_device *dev, unsigned long request, void *arg);

#endif /* AGATE_DEVICE_H */
