// SPDX-License-Identifier: MIT
/* The driver around lab 07; see fake_driver.h. */
#include <stdarg.h>
#include <setjmp.h>
#include <stdio.h>
#include <cmocka.h>

struct fake fake;

void fake_log(const void *dev, const char *fmt, ...)
{
	(void)dev;
	(void)fmt;
}

bool fake_warn(bool wrong, const char *what)
{
	if (wrong)
		fail_msg("WARN_ON(%s)", what);
	return wrong;
}

void mutex_init(struct mutex *lock)
{
	lock->locked = false;
}

void mutex_lock(struct mutex *lock)
{
	if (fake.in_reclaim)
		fail_msg("the shrinker waits for a lock: it may only try");
	if (lock->locked)
		fail_msg("mutex_lock() of a lock that is taken");
	lock->locked = true;
	fake.locks++;
}

int mutex_trylock(struct mutex *lock)
{
	const bool taken = !lock->locked;

	lock->locked = true;
	fake.locks += taken;
	return taken;
}

void mutex_unlock(struct mutex *lock)
{
	if (!lock->locked)
		fail_msg("mutex_unlock() of a lock that is free");
	lock->locked = false;
	fake.locks--;
}

bool mutex_is_locked(struct mutex *lock)
{
	return lock->locked;
}

void fake_assert_held(const struct mutex *lock, const char *name)
{
	if (!lock->locked)
		fail_msg("%s is not held", name);
}

bool dma_fence_is_signaled(struct dma_fence *fence)
{
	return fence->signaled;
}

bool dma_resv_test_signaled(struct dma_resv *resv, enum dma_resv_usage usage)
{
	for (int i = 0; i <= (int)usage; i++)
		if (!resv->fences[i].signaled)
			return false;
	return true;
}

void dma_resv_iter_begin(struct dma_resv_iter *cursor, struct dma_resv *resv,
			 enum dma_resv_usage usage)
{
	cursor->resv = resv;
	cursor->usage = usage;
	cursor->at = -1;
}

void dma_resv_iter_end(struct dma_resv_iter *cursor)
{
	cursor->resv = NULL;
}

struct dma_fence *dma_resv_iter_next_unlocked(struct dma_resv_iter *cursor)
{
	cursor->at++;
	return cursor->at <= (int)cursor->usage ? &cursor->resv->fences[cursor->at] : NULL;
}

struct dma_fence *dma_resv_iter_first_unlocked(struct dma_resv_iter *cursor)
{
	cursor->at = -1;
	return dma_resv_iter_next_unlocked(cursor);
}

bool drm_mm_node_allocated(const struct drm_mm_node *node)
{
	return node->allocated;
}

/* The fake's offsets are addresses of nodes, so that a range leads back to its node. */
u64 drm_vma_node_offset_addr(struct drm_vma_offset_node *node)
{
	return (uintptr_t)node;
}

void drm_vma_node_unmap(struct drm_vma_offset_node *node, struct address_space *mapping)
{
	struct agate_bo *bo = container_of(node, struct agate_bo, base.vma_node);

	assert_ptr_equal(mapping, bo->base.dev->anon_inode->i_mapping);
	/* To unmap may wait for a job, whose fault takes this lock. */
	if (bo->mappings_lock.locked)
		fail_msg("processes lose their maps while mappings_lock is held");
	node->mapped = false;
}

void unmap_mapping_range(struct address_space *mapping, u64 begin, u64 size, int even_cows)
{
	struct drm_vma_offset_node *node = (void *)(uintptr_t)begin;

	(void)even_cows;
	assert_int_equal(size, container_of(node, struct agate_bo, base.vma_node)->base.size);
	drm_vma_node_unmap(node, mapping);
}

void *agate_shrinker_data(const struct shrinker *shrinker)
{
	return shrinker->data;
}

int agate_shrinker_register(struct agate_shrinker *shrinker, void *data, agate_shrinker_fn count,
			    agate_shrinker_fn scan, const char *name)
{
	assert_non_null(name);
	if (fake.register_error)
		return fake.register_error;
	assert_false(shrinker->registered);
	*shrinker = (struct agate_shrinker) { { data }, count, scan, true };
	return 0;
}

void agate_shrinker_unregister(struct agate_shrinker *shrinker)
{
	assert_true(shrinker->registered);
	shrinker->registered = false;
}

struct agate_device *to_agate_device(struct drm_device *drm)
{
	return container_of(drm, struct agate_device, drm);
}

struct agate_bo *to_agate_bo(struct drm_gem_object *obj)
{
	return container_of(obj, struct agate_bo, base);
}

size_t agate_bo_size(const struct agate_bo *bo)
{
	return bo->base.size;
}

struct agate_bo *agate_gem_lookup(struct drm_file *file, u32 handle)
{
	struct agate_bo *bo = handle - 1 < 8 ? file->bos[handle - 1] : NULL;

	fake.refs += bo != NULL;
	return bo;
}

struct drm_gem_object *drm_gem_object_lookup(struct drm_file *file, u32 handle)
{
	struct agate_bo *bo = agate_gem_lookup(file, handle);

	return bo ? &bo->base : NULL;
}

void agate_bo_put(struct agate_bo *bo)
{
	if (!bo)
		return;
	if (fake.locks)
		fail_msg("a reference is put under a lock: the last one takes locks itself");
	fake.refs--;
}

void drm_gem_object_get(struct drm_gem_object *obj)
{
	(void)obj;
	fake.refs++;
}

void drm_gem_object_put(struct drm_gem_object *obj)
{
	agate_bo_put(obj ? to_agate_bo(obj) : NULL);
}

int agate_gem_set_label_ioctl(struct drm_device *dev, void *data, struct drm_file *file)
{
	const struct drm_agate_set_label *args = data;

	(void)dev;
	assert_non_null(file->bos[args->handle - 1]);
	if (fake.locks)
		fail_msg("the label is set under a lock: the text may be a page of this BO");
	fake.labels += !fake.label_error;
	return fake.label_error;
}

bool agate_backing_is(const struct agate_bo *bo, u32 flags)
{
	return (bo->backing.kind & flags) == flags;
}

size_t agate_backing_resident(const struct agate_bo *bo)
{
	return bo->backing.nr_pages << PAGE_SHIFT;
}

/* Whatever the file did before: nothing may lead to the pages that go. */
unsigned long agate_backing_purge_locked(struct agate_bo *bo)
{
	const unsigned long pages = bo->backing.nr_pages;

	fake_assert_held(&bo->backing.lock, "backing.lock");
	if (bo->madv != AGATE_MADV_DONTNEED)
		fail_msg("a BO is purged that its owner needs");
	if (bo->gpu_maps)
		fail_msg("a BO is purged that the GPU has in its page tables");
	if (bo->base.vma_node.mapped)
		fail_msg("a BO is purged that a process has mapped");
	bo->madv = -1;
	bo->backing.nr_pages = 0;
	bo->backing.sgt = NULL;
	bo->purges = ++fake.purges;
	return pages;
}

bool agate_vm_try_teardown_bo(struct agate_bo *bo)
{
	fake_assert_held(&bo->mappings_lock, "mappings_lock");
	if (bo->gpu_keeps)
		return false;
	bo->gpu_maps = false;
	return true;
}
