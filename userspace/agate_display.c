// SPDX-License-Identifier: MIT
/*
 * The card: what memory it has, and what its display shows.
 */
#include <errno.h>

#include "agate_bo.h"

int agate_device_get_regions(struct agate_device *dev, struct drm_agate_region *regions,
			     uint32_t *count)
{
	struct drm_agate_query_regions arg = {
		.regions = (uintptr_t)regions, .count = *count, .region_size = sizeof(*regions),
	};
	int err;

	if (!agate_device_knows_display(dev))
		return -EOPNOTSUPP;
	err = agate_ioctl(dev, DRM_IOCTL_AGATE_QUERY_REGIONS, &arg);
	if (!err)
		*count = arg.count;
	return err;
}

int agate_flip(struct agate_device *dev, const struct agate_flip *flip)
{
	struct drm_agate_flip arg = { 0 };

	if (!agate_device_knows_display(dev))
		return -EOPNOTSUPP;
	if (flip && flip->bo->dev != dev)
		return -EINVAL;
	if (flip) {
		arg = (struct drm_agate_flip){
			.handle = agate_bo_handle(flip->bo), .flags = flip->flags,
			.offset = flip->offset, .width = flip->width, .height = flip->height,
			.stride = flip->stride, .format = flip->format,
		};
	}
	return agate_ioctl(dev, DRM_IOCTL_AGATE_FLIP, &arg);
}
