/* SPDX-License-Identifier: MIT */
/*
 * What the records of an address space see of the kernel: drm_mm, locks and counters, which look at
 * how they are used.
 *
 * The compiler reads this before the file.  The records are the driver's own (agate_vm.h,
 * agate_bind.h), and so are all other headers; those of the kernel that are not in the shim are
 * empty (module.mk).  Of the device and of a BO there is only what the file uses.
 */
#ifndef FAKE_MM_H
#define FAKE_MM_H

#include <assert.h>
#include <stdlib.h>

#include <linux/container_of.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "fake_atomic.h"

#define AGATE_DEVICE_H
#define AGATE_GEM_H

#define PAGE_SHIFT	12
#define PAGE_SIZE	4096ull
#define SZ_2M		(2u << 20)
#define SZ_32M		(32u << 20)
#define SZ_4G		(1ull << 32)

/* Types that the driver's headers name. */
typedef unsigned int gfp_t;
typedef unsigned int vm_fault_t;
typedef s64 ktime_t;
typedef struct { int unused; } wait_queue_head_t;
enum dma_data_direction { DMA_BIDIRECTIONAL };
struct delayed_work { int unused; };
struct dma_fence_cb { int unused; };
struct drm_sched_entity { int unused; };
struct drm_sched_job { int unused; };
struct llist_head { void *first; };
struct llist_node { void *next; };
struct rcu_head { int unused; };
struct work_struct { int unused; };
struct iosys_map;
struct lock_class_key;
struct vm_area_struct;
struct vm_fault;

/* One thread: a lock says who forgot it. */
struct rw_semaphore {
	bool written;
};

#define lockdep_assert_held_write(lock)	assert((lock)->written)

bool fake_warn(bool wrong, const char *what);
#define WARN_ON(x)	fake_warn(x, #x)
#define WARN_ON_ONCE(x)	fake_warn(x, #x)

/* Every reference here is to a struct agate_vm_bo. */
struct kref {
	unsigned int refs;
};

void kref_get(struct kref *ref);

/* Ranges: a list, by address. */
struct drm_mm_node {
	struct list_head node_list;
	u64 start, size;
	bool allocated;
};

struct drm_mm {
	struct list_head nodes;
	u64 start, end;
};

int drm_mm_reserve_node(struct drm_mm *mm, struct drm_mm_node *node);
void drm_mm_remove_node(struct drm_mm_node *node);
struct drm_mm_node *fake_first_node(const struct drm_mm *mm, u64 start);
struct drm_mm_node *fake_next_node(const struct drm_mm *mm, struct drm_mm_node *node);

static inline bool drm_mm_node_allocated(const struct drm_mm_node *node)
{
	return node->allocated;
}

#define drm_mm_for_each_node_in_range(node, mm, from, to)			\
	for (node = fake_first_node(mm, from); node && node->start < (to);	\
	     node = fake_next_node(mm, node))

/* Mappings that are not freed. */
extern int fake_live;

void *fake_alloc(size_t size);
void kfree(const void *memory);

/* The driver. */
#include "agate_stats.h"

struct agate_device {
	struct agate_stats stats;
};

struct agate_bo {
	struct mutex mappings_lock;
	struct list_head vm_bos;
};

#endif /* FAKE_MM_H */
