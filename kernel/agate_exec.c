// SPDX-License-Identifier: GPL-2.0-only
/*
 * Holding the reservations of many BOs at once: see agate_exec.h.
 */
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "agate_exec.h"

void agate_exec_init(struct agate_exec *exec, u32 flags)
{
	ww_acquire_init(&exec->ticket, &reservation_ww_class);
	exec->flags = flags;
	exec->count = 0;
	exec->room = AGATE_EXEC_FEW;
	exec->locked = exec->few;
	exec->contended = NULL;
}

static void unlock_all(struct agate_exec *exec)
{
	unsigned int i;

	for (i = exec->count; i--;)
		dma_resv_unlock(exec->locked[i]->resv);
	for (i = exec->count; i--;)
		drm_gem_object_put(exec->locked[i]);
	exec->count = 0;
}

void agate_exec_fini(struct agate_exec *exec)
{
	unlock_all(exec);
	ww_acquire_fini(&exec->ticket);
	if (exec->contended)
		drm_gem_object_put(exec->contended);
	if (exec->locked != exec->few)
		kvfree(exec->locked);
}

/* Before a lock is taken: it cannot be given back unless it is in the list. */
static int make_room(struct agate_exec *exec)
{
	struct drm_gem_object **more;

	if (exec->count < exec->room)
		return 0;
	more = kvmalloc_array(2 * exec->room, sizeof(*more), GFP_KERNEL_ACCOUNT);
	if (!more)
		return -ENOMEM;
	memcpy(more, exec->locked, exec->count * sizeof(*more));
	if (exec->locked != exec->few)
		kvfree(exec->locked);
	exec->locked = more;
	exec->room *= 2;
	return 0;
}

static int resv_lock(struct agate_exec *exec, struct dma_resv *resv)
{
	if (exec->flags & AGATE_EXEC_INTERRUPTIBLE)
		return dma_resv_lock_interruptible(resv, &exec->ticket);
	return dma_resv_lock(resv, &exec->ticket);
}

int agate_exec_lock(struct agate_exec *exec, struct drm_gem_object *obj)
{
	int ret = make_room(exec);

	if (!ret)
		ret = resv_lock(exec, obj->resv);
	if (ret == -EALREADY)
		return 0;
	if (ret && ret != -EDEADLK)
		return ret;

	drm_gem_object_get(obj);
	if (ret)
		exec->contended = obj;
	else
		exec->locked[exec->count++] = obj;
	return ret;
}

int agate_exec_reserve(struct agate_exec *exec, unsigned int fences)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < exec->count; i++)
		ret = dma_resv_reserve_fences(exec->locked[i]->resv, fences);
	return ret;
}

/* Nothing is held, so this wait cannot be a part of a deadlock. */
static int resv_lock_slow(struct agate_exec *exec, struct dma_resv *resv)
{
	if (exec->flags & AGATE_EXEC_INTERRUPTIBLE)
		return dma_resv_lock_slow_interruptible(resv, &exec->ticket);
	dma_resv_lock_slow(resv, &exec->ticket);
	return 0;
}

bool agate_exec_retry(struct agate_exec *exec, int *ret)
{
	if (*ret != -EDEADLK || WARN_ON(!exec->contended))
		return false;

	unlock_all(exec);
	*ret = resv_lock_slow(exec, exec->contended->resv);
	if (*ret)
		return false;
	exec->locked[exec->count++] = exec->contended;
	exec->contended = NULL;
	return true;
}
