// SPDX-License-Identifier: GPL-2.0-only
/*
 * BOs in a process's address space.
 *
 * The core finds the BO by its fake offset.  It checks that the file has a handle
 * to the BO, and that the mapping starts at the BO's first page and fits.  This
 * file decides which kinds of mapping are allowed, and has the BO's backing insert
 * pages, all of them at once or each when the CPU touches it.  The contract is agate_mmap.h.
 */
#include <linux/mm.h>
#include <drm/drm_gem.h>
#include <drm/drm_vma_manager.h>

#include "agate_backing.h"
#include "agate_compat.h"
#include "agate_device.h"
#include "agate_gem.h"
#include "agate_mmap.h"

int agate_mmap_topic_init(struct agate_device *adev)
{
	/* STEP 1: the topic is there; it keeps nothing in the device. */
	return -EOPNOTSUPP;
}

void agate_mmap_topic_fini(struct agate_device *adev)
{
}

/*
 * STEP 1: refuse flags that nobody defined, find the BO by its handle, refuse a BO that no CPU
 * may see, and answer with the BO's fake offset.  No path keeps the reference of the lookup.
 */
int agate_mmap_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	return -EOPNOTSUPP;
}

/*
 * STEP 3: a CPU that touches a page gets that page of the BO, wherever the VMA begins.  Each
 * VMA is counted as long as it exists: in the BO's backing, and in AGATE_STAT_CPU_MAPS.
 */
const struct vm_operations_struct agate_vm_ops = {
	.open = drm_gem_vm_open,
	.close = drm_gem_vm_close,
	.access = agate_backing_access,
};

/*
 * STEP 2: refuse the mappings that the contract refuses, now and by a later mprotect(); set
 * the flags of the VMA; let the backing fill in the page table if it wants to.
 */
int agate_mmap_object(struct drm_gem_object *obj, struct vm_area_struct *vma)
{
	return -EOPNOTSUPP;
}
