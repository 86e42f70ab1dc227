// SPDX-License-Identifier: MIT
/*
 * Finding and opening the GPU, and reading its parameters.
 *
 * libdrm lists the devices without opening them, in no order.  The PCI ids tell which ones can be
 * ours, and the driver's name which ones are: QEMU's other shared-memory devices have
 * the same ids.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <xf86drm.h>

#include "agate_bar2.h"
#include "agate_bo.h"

/* Render nodes are minors 128..191, so there cannot be more devices that have one. */
#define DEVICES_MAX	64

/* 512 slots for each node: one node holds the BOs of most programs. */
#define BO_MAP_NODE_LOG2	9

int agate_ioctl(const struct agate_device *dev, unsigned long request, void *arg)
{
	return drmIoctl(dev->fd, request, arg) ? -errno : 0;
}

static int check_driver(int fd, uint32_t *minor)
{
	drmVersionPtr version = drmGetVersion(fd);
	int err = 0;

	if (!version)
		return -ENODEV;
	if (!version->name || strcmp(version->name, "agate"))
		err = -ENODEV;
	else if (version->version_major != AGATE_DRM_MAJOR)
		err = -EPROTONOSUPPORT;
	*minor = (uint32_t)version->version_minor;
	drmFreeVersion(version);
	return err;
}

static uint64_t monotonic_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

/* A library without lab 09 works, and has no cache. */
static int open_cache(struct agate_device *dev)
{
	int err;

	dev->cache.now_ns = monotonic_ns;
	dev->cache.enabled = true;
	err = agate_bo_cache_init(&dev->cache);
	dev->has_cache = !err;
	return err == -EOPNOTSUPP ? 0 : err;
}

int agate_device_open_fd(int fd, struct agate_device **dev)
{
	struct agate_device *new;
	uint32_t minor;
	int err;

	err = check_driver(fd, &minor);
	if (err)
		return err;
	new = calloc(1, sizeof(*new));
	if (!new)
		return -ENOMEM;
	err = -pthread_mutex_init(&new->bo_map_lock, NULL);
	if (err)
		goto err_free;
	err = -pthread_cond_init(&new->bo_closed, NULL);
	if (err)
		goto err_lock;
	err = open_cache(new);
	if (err)
		goto err_cond;
	agate_sparse_array_init(&new->bo_map, sizeof(struct agate_bo), BO_MAP_NODE_LOG2);
	new->fd = fd;
	new->minor = minor;
	*dev = new;
	return 0;

err_cond:
	pthread_cond_destroy(&new->bo_closed);
err_lock:
	pthread_mutex_destroy(&new->bo_map_lock);
err_free:
	free(new);
	return err;
}

static bool may_be_agate(const drmDevice *device)
{
	return device->available_nodes & 1 << DRM_NODE_RENDER &&
	       device->bustype == DRM_BUS_PCI &&
	       device->deviceinfo.pci->vendor_id == AGATE_PCI_VENDOR &&
	       device->deviceinfo.pci->device_id == AGATE_PCI_DEVICE;
}

/* qsort() order: by the number of the render node, and devices without one last. */
static int compare_nodes(const void *a, const void *b)
{
	const drmDevice *one = *(const drmDevicePtr *)a, *other = *(const drmDevicePtr *)b;
	const bool has = one->available_nodes & 1 << DRM_NODE_RENDER;
	const bool other_has = other->available_nodes & 1 << DRM_NODE_RENDER;

	if (!has || !other_has)
		return other_has - has;
	return strverscmp(one->nodes[DRM_NODE_RENDER], other->nodes[DRM_NODE_RENDER]);
}

static int open_node(const char *path, struct agate_device **dev)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	int err;

	if (fd < 0)
		return errno == EACCES || errno == EPERM ? -EACCES : -ENODEV;
	err = agate_device_open_fd(fd, dev);
	if (err)
		close(fd);
	return err;
}

int agate_device_open(struct agate_device **dev)
{
	drmDevicePtr devices[DEVICES_MAX];
	int count = drmGetDevices2(0, devices, DEVICES_MAX);
	int err = -ENODEV;
	int i;

	if (count > DEVICES_MAX)
		count = DEVICES_MAX;
	if (count > 0)
		qsort(devices, (size_t)count, sizeof(devices[0]), compare_nodes);
	for (i = 0; i < count && err; i++) {
		int ret;

		if (!may_be_agate(devices[i]))
			continue;
		ret = open_node(devices[i]->nodes[DRM_NODE_RENDER], dev);
		/* Another device may be better; a reason is better than none. */
		if (ret != -ENODEV)
			err = ret;
	}
	if (count > 0)
		drmFreeDevices(devices, count);
	return err;
}

void agate_device_close(struct agate_device *dev)
{
	if (!dev)
		return;
	if (dev->has_cache)
		agate_bo_cache_fini(dev);
	agate_sparse_array_fini(&dev->bo_map);
	pthread_cond_destroy(&dev->bo_closed);
	pthread_mutex_destroy(&dev->bo_map_lock);
	close(dev->fd);
	free(dev);
}

int agate_device_fd(const struct agate_device *dev)
{
	return dev->fd;
}

uint32_t agate_device_minor(const struct agate_device *dev)
{
	return dev->minor;
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
