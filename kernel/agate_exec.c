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
	exec->contended.obj = NULL;
}

static void unlock_all(struct agate_exec *exec)
{
	unsigned int i;

	for (i = exec->count; i--;)
		dma_resv_unlock(exec->locked[i].obj->resv);
	for (i = exec->count; i--;)
		drm_gem_object_put(exec->locked[i].obj);
	exec->count = 0;
}

void agate_exec_fini(struct agate_exec *exec)
{
	unlock_all(exec);
	ww_acquire_fini(&exec->ticket);
	if (exec->contended.obj)
		drm_gem_object_put(exec->contended.obj);
	if (exec->locked != exec->few)
		kvfree(exec->locked);
}

/* Before a lock is taken: it cannot be given back unless it is in the list. */
static int make_room(struct agate_exec *exec)
{
	struct agate_exec_lock *more;

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

static struct agate_exec_lock *find(const struct agate_exec *exec, const struct dma_resv *resv)
{
	unsigned int i;

	for (i = 0; i < exec->count; i++) {
		if (exec->locked[i].obj->resv == resv)
			return &exec->locked[i];
	}
	return NULL;
}

static int lock_one(struct agate_exec *exec, struct drm_gem_object *obj, bool victim)
{
	int ret = make_room(exec);

	if (!ret)
		ret = resv_lock(exec, obj->resv);
	if (ret && ret != -EDEADLK)
		return ret;

	drm_gem_object_get(obj);
	if (ret)
		exec->contended = (struct agate_exec_lock){ obj, victim };
	else
		exec->locked[exec->count++] = (struct agate_exec_lock){ obj, victim };
	return ret;
}

/* A victim of the pass before may be somebody whom this pass asks for. */
int agate_exec_lock(struct agate_exec *exec, struct drm_gem_object *obj)
{
	int ret = lock_one(exec, obj, false);

	if (ret != -EALREADY)
		return ret;
	find(exec, obj->resv)->victim = false;
	return 0;
}

int agate_exec_lock_victim(struct agate_exec *exec, struct drm_gem_object *obj)
{
	return lock_one(exec, obj, true);
}

bool agate_exec_holds(const struct agate_exec *exec, struct dma_resv *resv)
{
	return dma_resv_locking_ctx(resv) == &exec->ticket;
}

bool agate_exec_holds_victim(const struct agate_exec *exec, struct dma_resv *resv)
{
	const struct agate_exec_lock *lock = NULL;

	/* A reservation that was tried for, and not asked for, is in no list. */
	if (agate_exec_holds(exec, resv))
		lock = find(exec, resv);
	return lock && lock->victim;
}

int agate_exec_reserve(struct agate_exec *exec, unsigned int fences)
{
	unsigned int i;
	int ret = 0;

	for (i = 0; !ret && i < exec->count; i++)
		ret = dma_resv_reserve_fences(exec->locked[i].obj->resv, fences);
	return ret;
}

void agate_exec_add_fence(struct agate_exec *exec, struct dma_fence *fence,
			  enum dma_resv_usage usage)
{
	unsigned int i;

	for (i = 0; i < exec->count; i++) {
		if (!exec->locked[i].victim)
			dma_resv_add_fence(exec->locked[i].obj->resv, fence, usage);
	}
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
	if (*ret != -EDEADLK || WARN_ON(!exec->contended.obj))
		return false;

	unlock_all(exec);
	*ret = resv_lock_slow(exec, exec->contended.obj->resv);
	if (*ret)
		return false;
	exec->locked[exec->count++] = exec->contended;
	exec->contended.obj = NULL;
	return true;
}
