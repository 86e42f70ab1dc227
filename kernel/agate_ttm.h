/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory that moves: the types of memory, and how a BO gets its place in one of them.
 *
 * A placed BO is in one of three types of memory:
 *
 *   SYSTEM  pages, which the GPU cannot reach.  They may have gone to a swap file
 *   TT      the same pages, mapped for DMA, with the lists by which the mover finds them
 *   VRAM    a range of the card's own memory, always in one piece
 *
 * A manager gives out each type.  A BO's placement says where it may be; while it waits for
 * its turn it may also be in TT or SYSTEM, outside of its placement: then no job uses it.
 *
 * TTM's three kinds of BO are three things here: a client's is a placed BO, the kernel's memory is
 * a struct agate_kmem, which is no BO, and other drivers' pages are the backing of imports
 * (agate_prime.h), which is never placed.
 *
 * Three labs share this contract: placement (21), pages and pools (22), eviction (23).  They
 * decide; the frame moves the contents (agate_move.h), and the driver's hooks
 * (struct agate_ttm_ops) do what only a driver can.  All this speaks of bytes, never of pages.
 *
 * What a lock protects:
 *
 *   a BO's dma_resv   its resource, its pages, its pins, and all that changes them
 *   man->lock         the manager's ranges; no memory is allocated under it
 *   ttm->lru_lock     all lists of resources, and the counters of bytes; a spinlock
 */
#ifndef AGATE_TTM_H
#define AGATE_TTM_H

#include <linux/bits.h>
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "agate_kmap.h"
#include "agate_park.h"
#include "agate_range.h"
#include "agate_residency.h"

struct agate_bo;
struct agate_device;
struct agate_exec;
struct agate_resource;
struct agate_tt;
struct agate_ttm_bo;
struct dma_fence;
struct drm_gem_object;
struct drm_printer;

enum agate_mem_type {
	AGATE_MEM_SYSTEM = 0,
	AGATE_MEM_TT,
	AGATE_MEM_VRAM,
	AGATE_MEM_TYPES,
};

/* From the top of the range down. */
#define AGATE_PLACE_TOPDOWN	BIT(0)
/* Others may have to leave for it. */
#define AGATE_PLACE_FORCE	BIT(1)
/* The card translates none of it: a multiple of the page size will do, whatever man->min_align. */
#define AGATE_PLACE_PAGES	BIT(2)

/* One for VRAM, and one for system memory. */
#define AGATE_MAX_PLACES	2

/**
 * struct agate_place - where a BO may be
 * @type: enum agate_mem_type
 * @flags: AGATE_PLACE_*
 * @first: the lowest byte
 * @last: one past the highest byte; 0: no limit
 */
struct agate_place {
	u8 type;
	u8 flags;
	u64 first;
	u64 last;
};

/** enum agate_use - for which purpose a BO needs a place */
enum agate_use {
	AGATE_USE_VALIDATE,	/* a job wants it where its placement says */
	AGATE_USE_EVICT,	/* somebody else wants its memory */
	AGATE_USE_PIN_TT,	/* another driver wants its pages */
	AGATE_USE_PIN_HERE,	/* it is shown: wherever it may be, but it stays there */
};

/**
 * struct agate_io - a resource as the CPUs see it
 * @users: agate_io_reserve() calls that were not undone
 * @iomem: not memory of the kernel: ioremap() and vmf_insert_pfn()
 * @base: the first byte's physical address, if @iomem
 * @vaddr: where the frame keeps all of it mapped, if @iomem, or NULL
 * @caching: AGATE_CACHING_*, if @iomem: how any other mapping has to be
 */
struct agate_io {
	unsigned int users;
	bool iomem;
	phys_addr_t base;
	void __iomem *vaddr;
	u8 caching;
};

/**
 * struct agate_resource - memory of one type that belongs to one BO
 * @type: enum agate_mem_type
 * @start: VRAM: the first byte; else 0
 * @size: bytes
 * @man: its manager
 * @bo: whose it is; NULL once the BO has left it, and for the driver's own memory
 * @node: VRAM: the range
 * @lru: in man->lru; while it is parked, in man->parked; the driver's own, in man->kernel
 * @io: how the CPUs reach it
 * @parked: for when a fence still uses the memory
 */
struct agate_resource {
	u8 type;
	u64 start;
	u64 size;
	struct agate_man *man;
	struct agate_ttm_bo *bo;
	struct agate_range_node node;
	struct list_head lru;
	struct agate_io io;
	struct agate_parked parked;
};

/**
 * struct agate_man_ops - what is different from manager to manager
 * @alloc: takes memory inside @place for @res, whose size is set; fills in start and node.  0;
 *	-ENOSPC: there is none, but there would be if others left; -EINVAL: it can never fit.
 *	Called with man->lock held
 * @free: gives it back; likewise
 * @intersects: would @place get anything if the owner of @res left?
 * @compatible: is @res inside @place?
 * @debug: prints what is taken
 */
struct agate_man_ops {
	int (*alloc)(struct agate_man *man, u64 size, const struct agate_place *place,
		     struct agate_resource *res);
	void (*free)(struct agate_man *man, struct agate_resource *res);
	bool (*intersects)(struct agate_man *man, const struct agate_resource *res,
			   const struct agate_place *place, u64 size);
	bool (*compatible)(struct agate_man *man, const struct agate_resource *res,
			   const struct agate_place *place);
	void (*debug)(struct agate_man *man, struct drm_printer *p);
};

/**
 * struct agate_man - a manager: all memory of one type of one device
 * @adev: the device
 * @ops: the kind
 * @type: enum agate_mem_type
 * @used: it gives out memory
 * @size: bytes in all
 * @min_align: every range begins and ends at a multiple of this, except with AGATE_PLACE_PAGES
 * @visible: of these, the first bytes that the CPUs can reach
 * @lock: protects @range; what is taken there is also on a list, and what is not is on none
 * @range: what is taken
 * @taken: bytes in use, parked ones among them; under lru_lock, as the rest
 * @taken_visible: of these, below @visible
 * @given_back: how often somebody gave memory back, or parked it; wait_var_event() waits for it
 * @lru: struct agate_resource, the one that was used longest ago first
 * @parked: those whose BO has left, and that a fence still uses
 * @kernel: the driver's own, which never leave
 */
struct agate_man {
	struct agate_device *adev;
	const struct agate_man_ops *ops;
	u8 type;
	bool used;
	u64 size;
	u64 min_align;
	u64 visible;
	struct mutex lock;	/* @range */
	struct agate_range range;
	u64 taken;
	u64 taken_visible;
	u64 given_back;
	struct list_head lru;
	struct list_head parked;
	struct list_head kernel;
};

/**
 * struct agate_ttm_ctx - how an operation may wait
 * @exec: the reservations that the caller holds, and the ticket for more
 * @interruptible: a signal ends a wait
 * @no_wait: fail with -EBUSY where there would be a wait for jobs or for the mover
 */
struct agate_ttm_ctx {
	struct agate_exec *exec;
	bool interruptible;
	bool no_wait;
};

/**
 * struct agate_ttm_ops - what only the driver can do; the BO's reservation is held
 * @tt_create: makes the BO's page array, unpopulated.  NULL when there is no memory
 * @evict_flags: where an evicted BO goes; the number of places, 0 to drop its contents
 * @move: moves the contents from bo->res to @to, and makes that bo->res.  The old one is parked
 *	behind the move.  On failure nothing has changed
 * @move_notify: before a move: every translation of the BO goes
 * @io_reserve: fills in res->io
 * @io_free: undoes that
 */
struct agate_ttm_ops {
	struct agate_tt *(*tt_create)(struct agate_ttm_bo *bo);
	unsigned int (*evict_flags)(struct agate_ttm_bo *bo, struct agate_place *places);
	int (*move)(struct agate_ttm_bo *bo, struct agate_ttm_ctx *ctx, struct agate_resource *to);
	int (*move_notify)(struct agate_ttm_bo *bo, struct agate_ttm_ctx *ctx);
	int (*io_reserve)(struct agate_resource *res);
	void (*io_free)(struct agate_resource *res);
};

/**
 * struct agate_ttm - memory that moves, of one device
 * @ops: the driver's hooks
 * @man: the managers
 * @park: memory that a fence still uses, and nothing else: whoever holds a reservation may
 *	release what is due there
 * @lru_lock: see above
 * @bound_lock: protects @bound; innermost
 * @bound: struct agate_tt: those that are mapped for DMA.  An open file may outlive the device,
 *	but the mappings must not
 * @log: what moved
 */
struct agate_ttm {
	const struct agate_ttm_ops *ops;
	struct agate_man man[AGATE_MEM_TYPES];
	struct agate_park park;
	spinlock_t lru_lock;	/* lists of resources, counters */
	struct mutex bound_lock;	/* @bound */
	struct list_head bound;
	struct agate_move_log log;
};

/**
 * struct agate_ttm_bo - the part of a placed BO that moves; all under its reservation
 * @caching: AGATE_CACHING_*, of its pages
 * @size: bytes, a multiple of every region's alignment that it may be in
 * @visible: the CPUs map it, so its VRAM is where they can reach it
 * @placement: bits 1 << enum drm_agate_region: where its jobs find it
 * @pins: users that want it to stay where it is
 * @cpu_maps: VMAs may map it where it is: @res counts them all as one user of its io
 * @kmap: all of it as other drivers see it, while @kmap_users
 * @kmap_users: agate_placed_vmap() calls that were not undone
 * @res: where it is.  NULL: nowhere: its contents are in the swap file of @tt, or it has none
 * @tt: its pages, or NULL before it had any
 * @moved: the fence of its last move, with a reference, or NULL.  If that failed the contents
 *	are lost
 * @lost: an earlier move failed
 * @asleep: in card.sleepers while the system sleeps and this was in VRAM
 * @copy: then, the copy that saves it or brings it back, or NULL
 * @root: a private BO's: that of its address space, with a reference; else NULL
 * @residency: for whoever looks
 */
struct agate_ttm_bo {
	u8 caching;
	u64 size;
	bool visible;
	u32 placement;
	unsigned int pins;
	bool cpu_maps;
	struct agate_kmap kmap;
	unsigned int kmap_users;
	struct agate_resource *res;
	struct agate_tt *tt;
	struct dma_fence *moved;
	bool lost;
	struct list_head asleep;
	struct dma_fence *copy;
	struct drm_gem_object *root;
	struct agate_residency residency;
};

#endif /* AGATE_TTM_H */
