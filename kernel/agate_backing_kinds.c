// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kinds of backing, and the flags that choose them.
 */
#include <linux/errno.h>
#include <linux/kernel.h>

#include "agate_backing.h"
#include "agate_cma.h"
#include "agate_device.h"
#include "agate_drm.h"
#include "agate_gem.h"
#include "agate_heap.h"
#include "agate_placed.h"
#include "agate_prime.h"
#include "agate_shmem.h"
#include "agate_userptr.h"

/* The first kind whose flags a BO has: the last one is for all that are left. */
static const struct {
	u32 flags;
	const struct agate_backing_ops *ops;
} kinds[] = {
	{ AGATE_BO_IMPORTED, &agate_prime_backing },
	{ AGATE_BO_USERPTR, &agate_userptr_backing },
	{ AGATE_BO_PLACED | AGATE_BO_CPU_VISIBLE, &agate_placed_backing },
	{ AGATE_BO_PLACED, &agate_hidden_backing },
	{ AGATE_BO_CONTIGUOUS, &agate_cma_backing },
	{ AGATE_BO_HEAP, &agate_heap_backing },
	{ 0, &agate_shmem_backing },
};

const struct agate_backing_ops *agate_backing_choose(u32 flags)
{
	unsigned int i = 0;

	while ((flags & kinds[i].flags) != kinds[i].flags)
		i++;
	return kinds[i].ops;
}

int agate_backing_check_flags(const struct agate_device *adev, u32 flags)
{
	if (flags & AGATE_BO_NO_CLIENTS)
		return -EINVAL;
	/* These need a placement. */
	if (flags & (AGATE_BO_CPU_VISIBLE | AGATE_BO_POPULATE))
		return -EINVAL;
	if (!(flags & AGATE_BO_CONTIGUOUS))
		return 0;
	if (flags & AGATE_BO_HEAP)
		return -EINVAL;
	return agate_topic_present(adev, AGATE_FEATURE_CMA) ? 0 : -EOPNOTSUPP;
}
