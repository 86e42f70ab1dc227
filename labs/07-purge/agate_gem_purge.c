// SPDX-License-Identifier: GPL-2.0-only
/*
 * Purging memory that its owner does not need at the moment.
 *
 * The kernel calls the shrinker when memory runs short, perhaps in a thread that is
 * itself inside this driver.  So the shrinker only tries locks, and skips a BO when
 * a lock is taken.  It purges only BOs that no job, no other file or driver, and no
 * kernel mapping uses; processes that have mapped such a BO get SIGBUS.  The
 * contract is agate_purge.h.
 */
#include <linux/dma-resv.h>
#include <linux/shrinker.h>
#include <drm/drm_vma_manager.h>

#include "agate_backing.h"
#include "agate_compat.h"
#include "agate_device.h"
#include "agate_gem.h"
#include "agate_purge.h"

/*
 * STEP 3: write two helpers.  One answers whether anybody else than one file uses the BO; the
 * other, whether a job, or anybody who has left a fence, may still be using it.
 */

/* STEP 2: write a helper: does a BO have pages that its owner does not need? */

/*
 * STEP 2: write a helper that purges one BO, if nobody needs it and no lock is taken, and tells
 * how many pages that gave.  Step 3 asks who needs it.
 */

/*
 * STEP 2: write the two functions of a shrinker: one tells how many pages there may be to take,
 * and one takes some.
 */

int agate_purge_topic_init(struct agate_device *adev)
{
	/* STEP 1: with 0 here the topic is there. */
	return -EOPNOTSUPP;
}

void agate_purge_topic_fini(struct agate_device *adev)
{
	/* STEP 2: no call of the shrinker comes after this one. */
}

/*
 * STEP 1: write what checks the arguments, what gives the BO its new advice, and what gives it a
 * label.
 */

/* STEP 1: the advice, and the label.  A call that fails changes neither of them. */
int agate_purge_madvise_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	return -EOPNOTSUPP;
}

void agate_purge_forget(struct agate_bo *bo)
{
	/* STEP 1: the BO dies: no list leads to it afterwards. */
}
