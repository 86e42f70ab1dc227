// SPDX-License-Identifier: MIT
/*
 * Finding the GPU among the devices that libdrm lists.
 */
#include "harness.h"

#include <fcntl.h>
#include <string.h>

#include <xf86drm.h>

#include "agate_bar2.h"

#define DEVICES	4

/* One device that libdrm lists, and its render node. */
struct listed {
	drmDevice device;
	drmPciDeviceInfo pci;
	char *nodes[DRM_NODE_MAX];
	char path[16];
	int major;		/* of an agate driver; 0: of another one */
	int err;		/* why the node cannot be opened, or 0 */
	unsigned int opened;
};

static struct listed listed[DEVICES];
static drmDevicePtr devices[DEVICES];

int __real_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...);
int __wrap_open(const char *path, int flags, ...)
{
	for (int i = 0; i < DEVICES; i++) {
		struct listed *l = &listed[i];
		int fd;

		if (strcmp(path, l->path))
			continue;
		l->opened++;
		errno = l->err;
		fd = l->err ? -1 : __real_open("/dev/null", flags);
		if (l->major)
			fake_driver(fd, l->major);
		return fd;
	}
	return __real_open(path, flags);
}

static void list(int i, int vendor, int major, int err)
{
	struct listed *l = &listed[i];

	memset(l, 0, sizeof(*l));
	strcpy(l->path, "node-0");
	l->path[5] = (char)('0' + i);
	l->nodes[DRM_NODE_RENDER] = l->path;
	l->pci.vendor_id = (uint16_t)vendor;
	l->pci.device_id = AGATE_PCI_DEVICE;
	l->device.nodes = l->nodes;
	l->device.available_nodes = 1 << DRM_NODE_PRIMARY | 1 << DRM_NODE_RENDER;
	l->device.bustype = DRM_BUS_PCI;
	l->device.deviceinfo.pci = &l->pci;
	l->major = major;
	l->err = err;
}

static int setup(void **state)
{
	(void)state;
	fake_reset();
	for (int i = 0; i < DEVICES; i++)
		devices[i] = &listed[i].device;
	fake_devices(devices, DEVICES);
	return 0;
}

/* Other GPUs are not even opened: that may wake them up. */
static void finds_ours(void **state)
{
	struct agate_device *dev;

	(void)state;
	list(0, 0x8086, 0, 0);
	list(1, AGATE_PCI_VENDOR, 0, 0);
	list(2, AGATE_PCI_VENDOR, AGATE_DRM_MAJOR, 0);
	list(3, AGATE_PCI_VENDOR, AGATE_DRM_MAJOR, 0);
	assert_int_equal(agate_device_open(&dev), 0);
	assert_int_equal(listed[0].opened, 0);
	assert_int_equal(listed[1].opened, 1);
	assert_int_equal(listed[2].opened, 1);
	assert_int_equal(listed[3].opened, 0);
	assert_int_equal(fake_devices_freed(), DEVICES);
	agate_device_close(dev);
}

/* libdrm lists devices in the order of a folder, which may be any. */
static void lowest_number(void **state)
{
	struct agate_device *dev;

	(void)state;
	for (int i = 0; i < DEVICES; i++) {
		list(i, AGATE_PCI_VENDOR, AGATE_DRM_MAJOR, 0);
		devices[i] = &listed[DEVICES - 1 - i].device;
	}
	strcpy(listed[0].path, "node-10");
	listed[2].device.available_nodes = 0;
	assert_int_equal(agate_device_open(&dev), 0);
	for (int i = 0; i < DEVICES; i++)
		assert_int_equal(listed[i].opened, i == 1);
	assert_int_equal(fake_devices_freed(), DEVICES);
	agate_device_close(dev);
}

/* Devices that are on no PCI bus, or have no render node, have nothing to look at. */
static void other_kinds(void **state)
{
	struct agate_device *dev;

	(void)state;
	for (int i = 0; i < DEVICES; i++)
		list(i, AGATE_PCI_VENDOR, AGATE_DRM_MAJOR, 0);
	listed[0].device.bustype = DRM_BUS_PLATFORM;
	listed[0].device.deviceinfo.pci = NULL;
	listed[1].device.available_nodes = 1 << DRM_NODE_PRIMARY;
	listed[1].nodes[DRM_NODE_RENDER] = NULL;
	listed[2].err = ENOENT;
	listed[3].err = EACCES;
	assert_int_equal(agate_device_open(&dev), -EACCES);
	listed[3].err = ENOENT;
	assert_int_equal(agate_device_open(&dev), -ENODEV);
}

static void other_major_version(void **state)
{
	struct agate_device *dev;

	(void)state;
	for (int i = 0; i < DEVICES; i++)
		list(i, 0x8086, 0, 0);
	list(1, AGATE_PCI_VENDOR, AGATE_DRM_MAJOR + 1, 0);
	assert_int_equal(agate_device_open(&dev), -EPROTONOSUPPORT);
	list(2, AGATE_PCI_VENDOR, AGATE_DRM_MAJOR, 0);
	assert_int_equal(agate_device_open(&dev), 0);
	agate_device_close(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(finds_ours, setup),
		cmocka_unit_test_setup(lowest_number, setup),
		cmocka_unit_test_setup(other_kinds, setup),
		cmocka_unit_test_setup(other_major_version, setup),
	};

	return cmocka_run_group_tests_name("device", tests, NULL, NULL);
}
