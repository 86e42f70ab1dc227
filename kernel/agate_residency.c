// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where placed BOs are and why they moved: see agate_residency.h.
 */
#include <linux/ktime.h>
#include <linux/seq_file.h>
#include <drm/drm_managed.h>

#include "agate_device.h"
#include "agate_gem.h"
#include "agate_residency.h"
#include "agate_ttm.h"

static const char * const where_names[AGATE_WHERES] = {
	[AGATE_NOWHERE] = "nowhere",
	[AGATE_IN_SYSTEM] = "system",
	[AGATE_IN_TT] = "tt",
	[AGATE_IN_VRAM] = "vram",
	[AGATE_IN_SWAP] = "swap",
};

static const char * const cause_names[AGATE_CAUSES] = {
	[AGATE_CAUSE_NONE] = "none",
	[AGATE_CAUSE_VALIDATE] = "validate",
	[AGATE_CAUSE_EVICT] = "evict",
	[AGATE_CAUSE_FLIP] = "flip",
	[AGATE_CAUSE_SHARE] = "share",
	[AGATE_CAUSE_SWAP] = "swap",
	[AGATE_CAUSE_FAULT] = "fault",
	[AGATE_CAUSE_FREE] = "free",
};

const char *agate_where_name(enum agate_where where)
{
	return where_names[where];
}

const char *agate_cause_name(enum agate_cause why)
{
	return cause_names[why];
}

static struct agate_move_log *log_of(struct agate_ttm_bo *bo)
{
	return &to_agate_device(container_of(bo, struct agate_bo, ttm)->base.dev)->ttm.log;
}

int agate_residency_init(struct agate_device *adev)
{
	struct agate_move_log *log = &adev->ttm.log;

	spin_lock_init(&log->lock);
	log->ring = drmm_kcalloc(&adev->drm, AGATE_MOVES_KEPT, sizeof(*log->ring),
				 GFP_KERNEL_ACCOUNT);
	return log->ring ? 0 : -ENOMEM;
}

void agate_residency_begin(struct agate_ttm_bo *bo)
{
	struct agate_move_log *log = log_of(bo);

	spin_lock(&log->lock);
	bo->residency.id = ++log->ids;
	spin_unlock(&log->lock);
}

void agate_residency_expect(struct agate_ttm_bo *bo, enum agate_cause why)
{
	bo->residency.next = why;
}

static void record(struct agate_ttm_bo *bo, enum agate_where to, enum agate_cause why)
{
	struct agate_residency *now = &bo->residency;
	struct agate_move_log *log = log_of(bo);
	const struct agate_moved moved = {
		.time_ns = ktime_get_ns(), .id = now->id, .size = bo->size,
		.start = to == AGATE_IN_VRAM ? bo->res->start : 0,
		.from = now->where, .to = to, .why = why,
	};

	WRITE_ONCE(now->where, to);
	WRITE_ONCE(now->why, why);
	WRITE_ONCE(now->moves, now->moves + 1);
	spin_lock(&log->lock);
	log->ring[log->count++ % AGATE_MOVES_KEPT] = moved;
	spin_unlock(&log->lock);
}

void agate_residency_moved(struct agate_ttm_bo *bo)
{
	static const u8 wheres[AGATE_MEM_TYPES] = {
		[AGATE_MEM_SYSTEM] = AGATE_IN_SYSTEM,
		[AGATE_MEM_TT] = AGATE_IN_TT,
		[AGATE_MEM_VRAM] = AGATE_IN_VRAM,
	};

	record(bo, wheres[bo->res->type], bo->residency.next);
}

void agate_residency_gone(struct agate_ttm_bo *bo, enum agate_where to, enum agate_cause why)
{
	if (bo->residency.where != to)
		record(bo, to, why);
}

enum agate_where agate_residency_where(const struct agate_bo *bo)
{
	return READ_ONCE(bo->ttm.residency.where);
}

size_t agate_residency_bytes(const struct agate_bo *bo)
{
	if (!(bo->flags & AGATE_BO_PLACED))
		return agate_backing_resident(bo);
	switch (agate_residency_where(bo)) {
	case AGATE_IN_SYSTEM:
	case AGATE_IN_TT:
	case AGATE_IN_VRAM:
		return agate_bo_size(bo);
	default:
		return 0;
	}
}

void agate_residency_show(struct seq_file *m, const struct agate_bo *bo)
{
	const struct agate_residency *now = &bo->ttm.residency;

	seq_printf(m, " id=%llu where=%s why=%s moves=%u", now->id,
		   agate_where_name(READ_ONCE(now->where)), agate_cause_name(READ_ONCE(now->why)),
		   READ_ONCE(now->moves));
}
