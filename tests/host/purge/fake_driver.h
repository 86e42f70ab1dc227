/* SPDX-License-Identifier: MIT */
/*
 * What lab 07's file sees of the kernel and of the driver: every name that it may use, on
 * fakes that look at how it is used.
 *
 * The compiler reads this before the file.  The headers that the file includes are empty then:
 * those of the driver because of their guards, those of the kernel because module.mk makes
 * empty ones.  agate_purge.h alone is the real one.
 */
#ifndef AGATE_TESTS_FAKE_DRIVER_H
#define AGATE_TESTS_FAKE_DRIVER_H

#include <linux/container_of.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/types.h>

#include "agate_drm.h"

#define AGATE_BACKING_H
#define AGATE_COMPAT_H
#define AGATE_DEVICE_H
#define AGATE_GEM_H
#define AGATE_VM_H
#define AGATE_SHIM_MUTEX_H

#define PAGE_SHIFT	12
#define PAGE_SIZE	4096ul
#define SHRINK_STOP	(~0ul)
#define SHRINK_EMPTY	(~0ul - 1)

#define likely(x)	(x)
#define unlikely(x)	(x)
#define WARN_ON(x)	fake_warn(x, #x)
#define WARN_ON_ONCE(x)	fake_warn(x, #x)
#define drm_err(dev, ...)	fake_log(dev, __VA_ARGS__)
#define drm_warn(dev, ...)	fake_log(dev, __VA_ARGS__)
#define drm_info(dev, ...)	fake_log(dev, __VA_ARGS__)
#define drm_dbg(dev, ...)	fake_log(dev, __VA_ARGS__)
#define u64_to_user_ptr(x)	((void *)(uintptr_t)(x))

typedef struct {
	int counter;
} atomic_t;

#define atomic_read(v)	READ_ONCE((v)->counter)

/* Locks: one thread, which must not wait while it is in reclaim. */
struct mutex {
	bool locked;
};

void mutex_init(struct mutex *lock);
void mutex_lock(struct mutex *lock);
int mutex_trylock(struct mutex *lock);
void mutex_unlock(struct mutex *lock);
bool mutex_is_locked(struct mutex *lock);
void fake_assert_held(const struct mutex *lock, const char *name);
#define lockdep_assert_held(lock)	fake_assert_held(lock, #lock)

/* Fences: whether one of each usage is left. */
enum dma_resv_usage {
	DMA_RESV_USAGE_KERNEL,
	DMA_RESV_USAGE_WRITE,
	DMA_RESV_USAGE_READ,
	DMA_RESV_USAGE_BOOKKEEP,
	FAKE_USAGES
};

struct dma_fence {
	bool signaled;
};

struct dma_resv {
	struct mutex lock;
	struct dma_fence fences[FAKE_USAGES];
};

struct dma_resv_iter {
	struct dma_resv *resv;
	enum dma_resv_usage usage;
	int at;
};

#define dma_resv_lock(resv, ctx)	(mutex_lock(&(resv)->lock), 0)
#define dma_resv_trylock(resv)		mutex_trylock(&(resv)->lock)
#define dma_resv_unlock(resv)		mutex_unlock(&(resv)->lock)

bool dma_resv_test_signaled(struct dma_resv *resv, enum dma_resv_usage usage);
bool dma_fence_is_signaled(struct dma_fence *fence);
void dma_resv_iter_begin(struct dma_resv_iter *cursor, struct dma_resv *resv,
			 enum dma_resv_usage usage);
void dma_resv_iter_end(struct dma_resv_iter *cursor);
struct dma_fence *dma_resv_iter_first_unlocked(struct dma_resv_iter *cursor);
struct dma_fence *dma_resv_iter_next_unlocked(struct dma_resv_iter *cursor);
#define dma_resv_for_each_fence_unlocked(cursor, fence)				\
	for (fence = dma_resv_iter_first_unlocked(cursor); fence;		\
	     fence = dma_resv_iter_next_unlocked(cursor))

/* The maps of processes. */
struct address_space {
	int unused;
};

struct inode {
	struct address_space *i_mapping;
};

struct drm_mm_node {
	bool allocated;
};

struct drm_vma_offset_node {
	struct drm_mm_node vm_node;
	bool mapped;
};

bool drm_mm_node_allocated(const struct drm_mm_node *node);
u64 drm_vma_node_offset_addr(struct drm_vma_offset_node *node);
void drm_vma_node_unmap(struct drm_vma_offset_node *node, struct address_space *mapping);
void unmap_mapping_range(struct address_space *mapping, u64 begin, u64 size, int even_cows);

/* Objects. */
struct drm_device {
	struct inode *anon_inode;
};

struct drm_file {
	struct agate_bo *bos[8];	/* by handle - 1 */
};

struct drm_gem_object {
	int refs;
	struct drm_device *dev;
	size_t size;
	struct dma_resv *resv;
	void *dma_buf;
	void *import_attach;
	struct drm_vma_offset_node vma_node;
};

struct shrink_control {
	unsigned long nr_to_scan;
	unsigned long nr_scanned;
	unsigned int gfp_mask;
};

struct shrinker {
	void *data;
};

typedef unsigned long (*agate_shrinker_fn)(struct shrinker *, struct shrink_control *);

struct agate_shrinker {
	struct shrinker base;
	agate_shrinker_fn count, scan;
	bool registered;
};

void *agate_shrinker_data(const struct shrinker *shrinker);
int agate_shrinker_register(struct agate_shrinker *shrinker, void *data, agate_shrinker_fn count,
			    agate_shrinker_fn scan, const char *name);
void agate_shrinker_unregister(struct agate_shrinker *shrinker);

/* The driver. */
#include "agate_purge.h"

#define AGATE_BACKING_PURGEABLE	(1u << 2)

struct agate_backing {
	struct mutex lock;
	unsigned long nr_pages;
	unsigned int pins;
	void *sgt;
	u32 kind;		/* AGATE_BACKING_* */
};

struct agate_vm_bo {
	struct list_head link;
	unsigned int handles;
};

struct agate_bo {
	struct drm_gem_object base;
	struct list_head link;
	u32 flags;
	struct agate_backing backing;
	struct mutex mappings_lock;
	struct list_head vm_bos;
	atomic_t gpu_users;
	int madv;
	struct list_head purge_link;
	char label[AGATE_LABEL_MAX + 1];
	/* The fake's own. */
	struct dma_resv fences;
	struct agate_vm_bo files[2];
	bool gpu_maps, gpu_keeps;
	int purges;		/* 0, or which purge took it */
};

struct agate_device {
	struct drm_device drm;
	struct agate_purge purge;
};

struct agate_device *to_agate_device(struct drm_device *drm);
struct agate_bo *to_agate_bo(struct drm_gem_object *obj);
size_t agate_bo_size(const struct agate_bo *bo);
struct agate_bo *agate_gem_lookup(struct drm_file *file, u32 handle);
struct drm_gem_object *drm_gem_object_lookup(struct drm_file *file, u32 handle);
void agate_bo_put(struct agate_bo *bo);
void drm_gem_object_get(struct drm_gem_object *obj);
void drm_gem_object_put(struct drm_gem_object *obj);
int agate_gem_set_label_ioctl(struct drm_device *dev, void *data, struct drm_file *file);
bool agate_backing_is(const struct agate_bo *bo, u32 flags);
size_t agate_backing_resident(const struct agate_bo *bo);
unsigned long agate_backing_purge_locked(struct agate_bo *bo);
bool agate_vm_try_teardown_bo(struct agate_bo *bo);

/* What a test sets, and looks at. */
struct fake {
	bool in_reclaim;
	int locks;		/* that are taken by the file */
	int refs;		/* of lookups, that are not put */
	int purges;
	int label_error;
	int labels;		/* that were set */
	int register_error;
};

extern struct fake fake;

void fake_log(const void *dev, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
bool fake_warn(bool wrong, const char *what);

#endif /* AGATE_TESTS_FAKE_DRIVER_H */
