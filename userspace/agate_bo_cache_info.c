// SPDX-License-Identifier: MIT
/*
 * What an application sees of the BO cache: a switch, the statistics, and a way to empty it.
 */
#include <errno.h>

#include "agate_bo.h"

int agate_bo_cache_enable(struct agate_device *dev, bool enable)
{
	if (!dev->has_cache)
		return enable ? -EOPNOTSUPP : 0;
	pthread_mutex_lock(&dev->cache.lock);
	dev->cache.enabled = enable;
	pthread_mutex_unlock(&dev->cache.lock);
	if (!enable)
		agate_bo_cache_evict_all(dev);
	return 0;
}

int agate_bo_cache_trim(struct agate_device *dev)
{
	if (!dev->has_cache)
		return -EOPNOTSUPP;
	agate_bo_cache_evict_all(dev);
	return 0;
}

int agate_bo_cache_get_stats(struct agate_device *dev, struct agate_bo_cache_stats *stats)
{
	if (!dev->has_cache)
		return -EOPNOTSUPP;
	pthread_mutex_lock(&dev->cache.lock);
	*stats = dev->cache.stats;
	pthread_mutex_unlock(&dev->cache.lock);
	return 0;
}
