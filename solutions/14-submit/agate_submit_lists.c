// SPDX-License-Identifier: GPL-2.0-only
/*
 * The arrays that SUBMIT points to: see agate_submit_lists.h.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "agate_submit_lists.h"

void agate_submit_lists_free(struct agate_submit_lists *lists)
{
	kvfree(lists->bos);
	agate_syncs_free(&lists->syncs);
}

/* One array of @count elements, into @list; after a failure *@list is NULL. */
static int copy_list(void **list, u64 pointer, u32 count, size_t size)
{
	void *copy = vmemdup_user(u64_to_user_ptr(pointer), count * size);

	if (IS_ERR(copy))
		return PTR_ERR(copy);
	*list = copy;
	return 0;
}

/* @handles and @flags become one array; without @flags all BOs are read and written. */
static struct agate_submit_bo *join(const u32 *handles, const u32 *flags, u32 count)
{
	struct agate_submit_bo *bos = kvmalloc_array(count, sizeof(*bos), GFP_KERNEL_ACCOUNT);
	u32 i;

	for (i = 0; bos && i < count; i++) {
		bos[i].handle = handles[i];
		bos[i].flags = flags ? flags[i] : AGATE_SUBMIT_BO_READ | AGATE_SUBMIT_BO_WRITE;
	}
	return bos;
}

static int copy_bos(struct agate_submit_lists *lists, const struct drm_agate_submit *args)
{
	u32 count = args->bo_handle_count;
	u32 *handles = NULL, *flags = NULL;
	int ret;

	ret = copy_list((void **)&handles, args->bo_handles, count, sizeof(*handles));
	if (!ret && args->bo_flags)
		ret = copy_list((void **)&flags, args->bo_flags, count, sizeof(*flags));
	if (!ret) {
		lists->bos = join(handles, flags, count);
		ret = lists->bos ? 0 : -ENOMEM;
	}
	kvfree(handles);
	kvfree(flags);
	return ret;
}

static int compare_handles(const void *a, const void *b)
{
	u32 first = ((const struct agate_submit_bo *)a)->handle;
	u32 second = ((const struct agate_submit_bo *)b)->handle;

	return first < second ? -1 : first > second;
}

static bool flags_are_valid(u32 flags)
{
	const u32 access = AGATE_SUBMIT_BO_READ | AGATE_SUBMIT_BO_WRITE;

	return !(flags & ~(access | AGATE_SUBMIT_BO_NO_IMPLICIT)) && (flags & access);
}

/*
 * Sorts them: the reservations' locks do not tell a BO that is listed twice, because
 * another BO may share its reservation.
 */
static bool bos_are_valid(struct agate_submit_bo *bos, u32 count)
{
	u32 i;

	if (count)
		sort(bos, count, sizeof(*bos), compare_handles, NULL);
	for (i = 0; i < count; i++) {
		if (!flags_are_valid(bos[i].flags) || (i && bos[i].handle == bos[i - 1].handle))
			return false;
	}
	return true;
}

int agate_submit_lists_copy(struct agate_submit_lists *lists, const struct drm_agate_submit *args)
{
	int ret;

	ret = copy_bos(lists, args);
	if (!ret)
		ret = agate_syncs_copy(&lists->syncs, args->in_syncs, args->in_sync_count,
				       args->out_syncs, args->out_sync_count);
	if (!ret && !bos_are_valid(lists->bos, args->bo_handle_count))
		ret = -EINVAL;
	return ret;
}
