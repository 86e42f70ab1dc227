/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The arrays that SUBMIT points to.
 */
#ifndef AGATE_SUBMIT_LISTS_H
#define AGATE_SUBMIT_LISTS_H

#include <linux/types.h>

#include "agate_drm.h"
#include "agate_syncs.h"

/**
 * struct agate_submit_bo - a BO of the list
 * @handle: its handle
 * @flags: AGATE_SUBMIT_BO_*
 */
struct agate_submit_bo {
	u32 handle;
	u32 flags;
};

/**
 * struct agate_submit_lists - the arrays that SUBMIT points to, copied
 * @bos: the BOs, in the order of their handles
 * @syncs: the sync objects
 *
 * An array without entries is NULL, or ZERO_SIZE_PTR.
 */
struct agate_submit_lists {
	struct agate_submit_bo *bos;
	struct agate_syncs syncs;
};

/**
 * agate_submit_lists_copy - copy and check the arrays
 * @lists: zeroed; agate_submit_lists_free() frees it, also after a failure
 * @args: whose bo_handle_count is checked
 *
 * Userspace may serve a page fault in its arrays whenever it likes, so this comes first,
 * while the submit holds nothing that others wait for.
 *
 * Return: 0, -EFAULT, -ENOMEM; -EINVAL for a pad or flag that is wrong, for a handle that is
 * listed twice, and for too many sync objects.
 */
int agate_submit_lists_copy(struct agate_submit_lists *lists, const struct drm_agate_submit *args);
void agate_submit_lists_free(struct agate_submit_lists *lists);

#endif /* AGATE_SUBMIT_LISTS_H */
