// SPDX-License-Identifier: MIT
/*
 * Finding and opening the GPU, and reading its parameters.
 *
 * The scan opens each render node and asks its driver's name.  It needs no
 * sysfs, so it also works in an initramfs and in a container that has only
 * /dev/dri.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <xf86drm.h>

#include "agate_bo.h"

/* Render nodes are minors 128..191. */
#define RENDER_MINOR_FIRST	128
#define RENDER_MINOR_LAST	191

/* 512 slots for each node: one node holds the BOs of most programs. */
#define BO_MAP_NODE_LOG2	9

int agate_ioctl(const struct agate_device *dev, unsigned long request, void *arg)
{
	return drmIoctl(dev->fd, request, arg) ? -errno : 0;
}

static bool is_agate(int fd)
{
	drmVersionPtr version = drmGetVersion(fd);
	bool match;

	if (!version)
		return false;
	match = version->name && !strcmp(version->name, "agate");
	drmFreeVersion(version);
	return match;
}

int agate_device_open_fd(int fd, struct agate_device **dev)
{
	struct agate_device *new;
	int err;

	if (!is_agate(fd))
		return -ENODEV;
	new = malloc(sizeof(*new));
	if (!new)
		return -ENOMEM;
	err = pthread_mutex_init(&new->bo_map_lock, NULL);
	if (err) {
		free(new);
		return -err;
	}
	agate_sparse_array_init(&new->bo_map, sizeof(struct agate_bo), BO_MAP_NODE_LOG2);
	new->fd = fd;
	*dev = new;
	return 0;
}

int agate_device_open(struct agate_device **dev)
{
	int err = -ENODEV;
	int minor;

	for (minor = RENDER_MINOR_FIRST; minor <= RENDER_MINOR_LAST; minor++) {
		char path[32];
		int fd, ret;

		snprintf(path, sizeof(path), "/dev/dri/renderD%d", minor);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0) {
			if (errno == EACCES || errno == EPERM)
				err = -EACCES;
			continue;
		}
		ret = agate_device_open_fd(fd, dev);
		if (!ret)
			return 0;
		close(fd);
		if (ret != -ENODEV)
			return ret;
	}
	return err;
}

void agate_device_close(struct agate_device *dev)
{
	if (!dev)
		return;
	agate_sparse_array_fini(&dev->bo_map);
	pthread_mutex_destroy(&dev->bo_map_lock);
	close(dev->fd);
	free(dev);
}

int agate_device_fd(const struct agate_device *dev)
{
	return dev->fd;
}

int agate_device_get_param(struct agate_device *dev, enum drm_agate_param param,
			   uint64_t *value)
{
	struct drm_agate_get_param arg = { .param = param };
	int err = agate_ioctl(dev, DRM_IOCTL_AGATE_GET_PARAM, &arg);

	if (!err)
		*value = arg.value;
	return err;
}
