// SPDX-License-Identifier: GPL-2.0-only
/*
 * QUERY_REGIONS: what memory there is for BOs with a placement.
 */
#include <linux/uaccess.h>

#include "agate_device.h"
#include "agate_drm.h"
#include "agate_placed.h"
#include "agate_placement.h"

/* A client of a later version has a longer struct, and gets zeros at its end. */
static int copy_one(void __user *to, const struct drm_agate_region *region, u32 size)
{
	if (copy_to_user(to, region, sizeof(*region)))
		return -EFAULT;
	return clear_user(to + sizeof(*region), size - sizeof(*region)) ? -EFAULT : 0;
}

int agate_query_regions_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	struct drm_agate_region regions[AGATE_MAX_REGIONS] = {};
	struct drm_agate_query_regions *args = data;
	void __user *to = u64_to_user_ptr(args->regions);
	unsigned int count, i;
	int ret;

	if (args->regions &&
	    (args->region_size < sizeof(*regions) || args->region_size > PAGE_SIZE))
		return -EINVAL;
	count = agate_regions_fill(to_agate_device(dev), regions);
	for (i = 0; args->regions && i < args->count && i < count; i++) {
		ret = copy_one(to + i * args->region_size, &regions[i], args->region_size);
		if (ret)
			return ret;
	}
	args->count = count;
	args->region_size = sizeof(*regions);
	return 0;
}
