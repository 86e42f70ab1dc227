/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Where placed BOs are and why they moved, for whoever looks: fdinfo and debugfs.
 *
 * Nothing in the driver decides by this.
 */
#ifndef AGATE_RESIDENCY_H
#define AGATE_RESIDENCY_H

#include <linux/spinlock.h>
#include <linux/types.h>

struct agate_bo;
struct agate_device;
struct agate_ttm_bo;
struct drm_minor;
struct seq_file;

/** enum agate_where - where a placed BO's contents are */
enum agate_where {
	AGATE_NOWHERE,		/* it has none yet, or not any more */
	AGATE_IN_SYSTEM,	/* pages that the GPU cannot reach */
	AGATE_IN_TT,		/* pages that it reaches */
	AGATE_IN_VRAM,
	AGATE_IN_SWAP,
	AGATE_WHERES,
};

/** enum agate_cause - why a BO moves */
enum agate_cause {
	AGATE_CAUSE_NONE,	/* it has not moved */
	AGATE_CAUSE_VALIDATE,	/* a job needs it, or CREATE_BO populates it */
	AGATE_CAUSE_EVICT,	/* another BO needs its memory */
	AGATE_CAUSE_FLIP,	/* the display shows it */
	AGATE_CAUSE_SHARE,	/* another driver uses it */
	AGATE_CAUSE_SWAP,	/* system memory is short */
	AGATE_CAUSE_FAULT,	/* a CPU touched it */
	AGATE_CAUSE_FREE,	/* it dies */
	AGATE_CAUSES,
};

/**
 * struct agate_residency - what is known of one BO; all under its reservation
 * @id: a number that no other placed BO of the device has
 * @moves: how often it moved
 * @where: enum agate_where; fdinfo reads it without the reservation
 * @why: enum agate_cause, of its last move; likewise
 * @next: why it moves, if it does
 */
struct agate_residency {
	u64 id;
	u32 moves;
	u8 where;
	u8 why;
	u8 next;
};

/**
 * struct agate_moved - one move
 * @time_ns: CLOCK_MONOTONIC, when the move was decided; the mover copies later
 * @id: the BO
 * @size: bytes
 * @start: the first byte, if it is in VRAM now
 * @from: enum agate_where
 * @to: enum agate_where
 * @why: enum agate_cause
 */
struct agate_moved {
	u64 time_ns;
	u64 id;
	u64 size;
	u64 start;
	u8 from;
	u8 to;
	u8 why;
};

/* A power of two. */
#define AGATE_MOVES_KEPT	512u

/**
 * struct agate_move_log - the last moves of a device
 * @lock: protects all of this; innermost
 * @count: moves since the beginning; the last AGATE_MOVES_KEPT are in @ring
 * @ids: BOs since the beginning
 * @ring: move n is at n modulo AGATE_MOVES_KEPT
 */
struct agate_move_log {
	spinlock_t lock;	/* all of this */
	u64 count;
	u64 ids;
	struct agate_moved *ring;
};

/**
 * agate_residency_init - begin to keep the log
 * @adev: the device, which has a card
 *
 * Return: 0 or -ENOMEM.
 */
int agate_residency_init(struct agate_device *adev);

/** agate_residency_begin - a new BO, which nobody else knows, gets its number */
void agate_residency_begin(struct agate_ttm_bo *bo);

/** agate_residency_expect - if the BO moves now, this is why; its reservation is held */
void agate_residency_expect(struct agate_ttm_bo *bo, enum agate_cause why);

/** agate_residency_moved - the BO has left its place for bo->res; its reservation is held */
void agate_residency_moved(struct agate_ttm_bo *bo);

/** agate_residency_gone - the BO has no place any more; its reservation is held, or it dies */
void agate_residency_gone(struct agate_ttm_bo *bo, enum agate_where to, enum agate_cause why);

/** agate_residency_where - where a placed BO is now; takes no lock */
enum agate_where agate_residency_where(const struct agate_bo *bo);

/** agate_residency_bytes - how much of any BO is in memory now; takes no lock */
size_t agate_residency_bytes(const struct agate_bo *bo);

/** agate_residency_show - debugfs: a BO's part of its line in "bos" */
void agate_residency_show(struct seq_file *m, const struct agate_bo *bo);

/** agate_card_debugfs_init - the card's files (agate_card_debugfs.c) */
void agate_card_debugfs_init(struct drm_minor *minor);

/** agate_where_name - for people and programs */
const char *agate_where_name(enum agate_where where);

/** agate_cause_name - likewise */
const char *agate_cause_name(enum agate_cause why);

#endif /* AGATE_RESIDENCY_H */
