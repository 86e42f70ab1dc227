// SPDX-License-Identifier: MIT
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xf86drm.h>

#include "gem_memory.h"

#define DEVICES_MAX	64

const char *const gem_bos_names[GEM_BOS_KINDS] = {
	[GEM_BOS_PAGED] = "paged",
	[GEM_BOS_CONTIGUOUS] = "contiguous",
	[GEM_BOS_IMPORTED] = "imported",
	[GEM_BOS_VRAM] = "vram",
	[GEM_BOS_SPILLED] = "spilled",
};

/* Is this open node another one than that of the device? */
static bool is_other(int fd, const struct agate_device *dev)
{
	struct stat node, own;

	return !fstat(fd, &node) && !fstat(agate_device_fd(dev), &own) &&
	       node.st_rdev != own.st_rdev;
}

static int open_node(const char *path, const struct agate_device *dev,
		     struct agate_device **other)
{
	int fd = open(path, O_RDWR | O_CLOEXEC);
	int err = -ENODEV;

	if (fd < 0)
		return -ENODEV;
	if (is_other(fd, dev))
		err = agate_device_open_fd(fd, other);
	if (err)
		close(fd);
	return err;
}

static int open_other(const struct agate_device *dev, struct agate_device **other)
{
	drmDevicePtr devices[DEVICES_MAX];
	int count = drmGetDevices2(0, devices, DEVICES_MAX);
	int err = -ENODEV;
	int i;

	if (count > DEVICES_MAX)
		count = DEVICES_MAX;
	for (i = 0; i < count && err; i++) {
		if (devices[i]->available_nodes & 1 << DRM_NODE_RENDER)
			err = open_node(devices[i]->nodes[DRM_NODE_RENDER], dev, other);
	}
	if (count > 0)
		drmFreeDevices(devices, count);
	return err;
}

int gem_memory_open(struct gem_memory *memory, struct agate_device *dev, enum gem_bos bos)
{
	*memory = (struct gem_memory){ .bos = bos, .dev = dev };
	return bos == GEM_BOS_IMPORTED ? open_other(dev, &memory->other) : 0;
}

void gem_memory_close(struct gem_memory *memory)
{
	agate_device_close(memory->other);
	memory->other = NULL;
}

/* The import keeps the memory, so the other GPU's BO need not stay. */
static int import_bo(struct gem_memory *memory, uint64_t size, uint32_t flags, const char *label,
		     struct agate_bo **bo)
{
	struct agate_bo *theirs;
	int fd, err;

	err = agate_bo_create(memory->other, size, flags, label, &theirs);
	if (err)
		return err;
	err = agate_bo_export(theirs, &fd);
	if (!err) {
		err = agate_bo_import(memory->dev, fd, bo);
		close(fd);
	}
	agate_bo_unreference(theirs);
	return err;
}

uint32_t gem_memory_flags(const struct gem_memory *memory)
{
	switch (memory->bos) {
	case GEM_BOS_CONTIGUOUS:
		return AGATE_ALLOC_CONTIGUOUS;
	case GEM_BOS_VRAM:
		return AGATE_ALLOC_VRAM;
	case GEM_BOS_SPILLED:
		return AGATE_ALLOC_VRAM | AGATE_ALLOC_SPILL;
	default:
		return 0;
	}
}

int gem_memory_create_bo(struct gem_memory *memory, uint64_t size, uint32_t flags,
			 const char *label, struct agate_bo **bo)
{
	flags |= AGATE_ALLOC_DELAY_MMAP;
	if (flags & AGATE_ALLOC_GROWABLE)
		return agate_bo_create(memory->dev, size, flags, label, bo);
	if (memory->bos == GEM_BOS_IMPORTED)
		return import_bo(memory, size, flags, label, bo);
	return agate_bo_create(memory->dev, size, flags | gem_memory_flags(memory), label, bo);
}
