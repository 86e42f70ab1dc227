// SPDX-License-Identifier: GPL-2.0-only
/*
 * The part of the shim that knows upstream's structures.
 */
#include "panfrost_device.h"
#include "panfrost_gem.h"
#include "shim.h"

static const char * const supplies[] = { "mali", NULL };

static const struct panfrost_compatible compatible = {
	.num_supplies = ARRAY_SIZE(supplies) - 1,
	.supply_names = supplies,
	.num_pm_domains = 1,
};

const struct panfrost_compatible *upstream_compatible(void)
{
	return &compatible;
}

/*
 * On x86 the helper makes pages of a write-combining BO cached again.  A heap's table has
 * holes, which it takes for pages; and the page fault handler, which fills the table, left
 * the pages of a heap cached.
 */
void upstream_shmem_free(struct drm_gem_shmem_object *shmem)
{
	if (to_panfrost_bo(&shmem->base)->is_heap)
		shmem->map_wc = false;
	drm_gem_shmem_free(shmem);
}
