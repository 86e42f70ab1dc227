// SPDX-License-Identifier: MIT
/*
 * agate_gem_purge.c: which BOs the shrinker counts, which it takes and in what order, which it
 * passes over, and what advice a client may give.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

#define BOS	6
#define NONE	-1

static struct address_space processes;
static struct inode inode = { &processes };
static struct agate_device adev;
static struct drm_file file;
static struct agate_bo bos[BOS];

static struct shrinker *shrinker(void)
{
	return &adev.purge.shrinker.base;
}

static int setup(void **state)
{
	(void)state;
	memset(&adev, 0, sizeof(adev));
	memset(&file, 0, sizeof(file));
	memset(bos, 0, sizeof(bos));
	memset(&fake, 0, sizeof(fake));
	adev.drm.anon_inode = &inode;
	INIT_LIST_HEAD(&adev.purge.list);
	for (int i = 0; i < BOS; i++) {
		struct agate_bo *bo = &bos[i];

		file.bos[i] = bo;
		bo->base.dev = &adev.drm;
		bo->base.size = 16 * PAGE_SIZE;
		bo->base.resv = &bo->fences;
		bo->base.vma_node.vm_node.allocated = true;
		bo->base.vma_node.mapped = true;
		bo->backing.nr_pages = 10;
		bo->backing.kind = AGATE_BACKING_PURGEABLE;
		bo->backing.sgt = bo;
		bo->gpu_maps = true;
		for (int u = 0; u < FAKE_USAGES; u++)
			bo->fences.fences[u].signaled = true;
		INIT_LIST_HEAD(&bo->purge_link);
		INIT_LIST_HEAD(&bo->vm_bos);
		for (int f = 0; f < 2; f++)
			list_add_tail(&bo->files[f].link, &bo->vm_bos);
		bo->files[0].handles = 1;
	}
	assert_int_equal(agate_purge_topic_init(&adev), 0);
	assert_true(adev.purge.shrinker.registered);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	agate_purge_topic_fini(&adev);
	assert_false(adev.purge.shrinker.registered);
	return 0;
}

static void no_locks(void)
{
	assert_int_equal(fake.locks, 0);
	assert_int_equal(fake.refs, 0);
}

static int call(struct drm_agate_madvise *args)
{
	const int ret = agate_purge_madvise_ioctl(&adev.drm, args, &file);

	no_locks();
	return ret;
}

/* Advise BO number @i; the answer, or the error. */
static int advise(int i, u32 madv)
{
	struct drm_agate_madvise args = { .handle = i + 1, .madv = madv, .retained = 77 };
	const int ret = call(&args);

	return ret ? ret : (int)args.retained;
}

static void unwanted(int n)
{
	for (int i = 0; i < n; i++)
		assert_int_equal(advise(i, AGATE_MADV_DONTNEED), 1);
}

/* A kernel without pages asks: how many there are, 0 also for "empty"; and for some. */
static unsigned long count(void)
{
	struct shrink_control sc = { 0 };
	unsigned long pages;

	fake.in_reclaim = true;
	pages = adev.purge.shrinker.count(shrinker(), &sc);
	fake.in_reclaim = false;
	return pages == SHRINK_EMPTY ? 0 : pages;
}

static unsigned long scan(unsigned long pages)
{
	struct shrink_control sc = { .nr_to_scan = pages, .nr_scanned = pages };
	const int locks = fake.locks;
	unsigned long freed;

	fake.in_reclaim = true;
	freed = adev.purge.shrinker.scan(shrinker(), &sc);
	fake.in_reclaim = false;
	assert_int_equal(fake.locks, locks);
	return freed;
}

/* The list is exactly these BOs; NONE ends them. */
static void check_list(const int *numbers)
{
	struct agate_bo *bo;

	list_for_each_entry(bo, &adev.purge.list, purge_link)
		assert_int_equal(bo - bos, *numbers++);
	assert_int_equal(*numbers, -1);
}
#define LISTED(...)	check_list((const int[]) { __VA_ARGS__, -1 })

static void test_count(void **state)
{
	(void)state;
	assert_int_equal(count(), 0);
	unwanted(3);
	assert_int_equal(count(), 30);
	bos[1].backing.nr_pages = 4;
	assert_int_equal(count(), 24);
	/* The count asks nobody who uses them. */
	bos[0].gpu_users.counter = 1;
	bos[2].backing.pins = 1;
	assert_int_equal(count(), 24);
	assert_int_equal(advise(0, AGATE_MADV_WILLNEED), 1);
	assert_int_equal(count(), 14);
	mutex_lock(&adev.purge.lock);
	assert_int_equal(count(), 0);
	mutex_unlock(&adev.purge.lock);
}

static void test_enough_and_no_more(void **state)
{
	static const struct {
		unsigned long wanted, freed;
	} cases[] = { { 1, 10 }, { 10, 10 }, { 11, 20 }, { 29, 30 }, { 1000, 60 } };

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		unwanted(BOS);
		assert_int_equal(scan(cases[i].wanted), cases[i].freed);
		assert_int_equal(fake.purges, cases[i].freed / 10);
		teardown(state);
		setup(state);
	}
	assert_int_equal(scan(1), SHRINK_STOP);
}

/* The advice that counts is the latest. */
static void test_oldest_first(void **state)
{
	(void)state;
	unwanted(4);
	assert_int_equal(advise(1, AGATE_MADV_DONTNEED), 1);
	assert_int_equal(advise(0, AGATE_MADV_WILLNEED), 1);
	assert_int_equal(advise(0, AGATE_MADV_DONTNEED), 1);
	LISTED(2, 3, 1, 0);
	assert_int_equal(scan(15), 20);
	assert_int_equal(bos[2].purges, 1);
	assert_int_equal(bos[3].purges, 2);
	LISTED(1, 0);
}

static void test_purged_for_ever(void **state)
{
	(void)state;
	unwanted(2);
	assert_int_equal(scan(1), 10);
	assert_int_equal(bos[0].madv, -1);
	LISTED(1);
	assert_int_equal(advise(0, AGATE_MADV_WILLNEED), 0);
	assert_int_equal(advise(0, AGATE_MADV_DONTNEED), 0);
	assert_int_equal(bos[0].madv, -1);
	LISTED(1);
}

/* Somebody needs BO 1: those beside it go, it stays where it is, and goes later. */
static void passed_over(const char *who, void (*set)(struct agate_bo *bo, bool on))
{
	unwanted(4);
	set(&bos[1], true);
	if (scan(20) != 20 || bos[1].purges)
		fail_msg("a BO is not passed over: %s", who);
	LISTED(1, 3);
	assert_int_equal(scan(1000), 10);
	LISTED(1);
	assert_true(bos[1].base.vma_node.mapped);
	if (!bos[1].gpu_maps)
		fail_msg("the GPU has lost a BO that is passed over: %s", who);
	if (scan(1000) != SHRINK_STOP)
		fail_msg("nothing was taken, and that was not said: %s", who);
	set(&bos[1], false);
	assert_int_equal(scan(1000), 10);
	LISTED(NONE);
}

/* A job, and the fence of each usage. */
static void set_job(struct agate_bo *bo, bool on)
{
	bo->gpu_users.counter = on;
}

static void set_fence(struct agate_bo *bo, bool on, enum dma_resv_usage usage)
{
	bo->fences.fences[usage].signaled = !on;
}

static void set_kernel_fence(struct agate_bo *bo, bool on)
{
	set_fence(bo, on, DMA_RESV_USAGE_KERNEL);
}

static void set_write_fence(struct agate_bo *bo, bool on)
{
	set_fence(bo, on, DMA_RESV_USAGE_WRITE);
}

static void set_read_fence(struct agate_bo *bo, bool on)
{
	set_fence(bo, on, DMA_RESV_USAGE_READ);
}

static void set_bookkeep_fence(struct agate_bo *bo, bool on)
{
	set_fence(bo, on, DMA_RESV_USAGE_BOOKKEEP);
}

static void set_gpu_keeps(struct agate_bo *bo, bool on)
{
	bo->gpu_keeps = on;
}

static void test_busy(void **state)
{
	static const struct {
		const char *who;
		void (*set)(struct agate_bo *bo, bool on);
	} users[] = {
		{ "a job counts in gpu_users", set_job },
		{ "a fence of the kernel", set_kernel_fence },
		{ "a fence that writes", set_write_fence },
		{ "a fence that reads", set_read_fence },
		{ "a fence for the books", set_bookkeep_fence },
		{ "the GPU's tables cannot change now", set_gpu_keeps },
	};

	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++) {
		passed_over(users[i].who, users[i].set);
		teardown(state);
		setup(state);
	}
}

static void set_mutex(struct mutex *lock, bool on)
{
	if (on)
		mutex_lock(lock);
	else
		mutex_unlock(lock);
}

static void set_backing_lock(struct agate_bo *bo, bool on)
{
	set_mutex(&bo->backing.lock, on);
}

static void set_mappings_lock(struct agate_bo *bo, bool on)
{
	set_mutex(&bo->mappings_lock, on);
}

static void test_a_lock_is_taken(void **state)
{
	passed_over("backing.lock is taken", set_backing_lock);
	teardown(state);
	setup(state);
	passed_over("mappings_lock is taken", set_mappings_lock);
}

/* A dma-buf pins its BO, and lives as long as two files that share it have handles. */
static void set_pinned(struct agate_bo *bo, bool on)
{
	bo->backing.pins = on ? 2 : 0;
}

static void set_exported(struct agate_bo *bo, bool on)
{
	bo->base.dma_buf = on ? bo : NULL;
	bo->backing.pins = on;
}

static void set_two_files(struct agate_bo *bo, bool on)
{
	set_exported(bo, on);
	bo->files[1].handles = on;
}

static void test_shared_later(void **state)
{
	passed_over("pins", set_pinned);
	teardown(state);
	setup(state);
	passed_over("a dma-buf", set_exported);
	teardown(state);
	setup(state);
	passed_over("a second file", set_two_files);
}

/* Several handles of one file are one owner. */
static void test_one_file(void **state)
{
	(void)state;
	bos[0].files[0].handles = 3;
	unwanted(1);
	assert_int_equal(scan(1), 10);
}

static void test_without_pages(void **state)
{
	(void)state;
	unwanted(2);
	bos[0].backing.nr_pages = 0;
	bos[0].backing.sgt = NULL;
	assert_int_equal(scan(1), 10);
	assert_int_equal(bos[0].purges, 0);
	assert_int_equal(bos[0].madv, AGATE_MADV_DONTNEED);
	LISTED(0);
}

static void test_list_is_locked(void **state)
{
	(void)state;
	unwanted(1);
	mutex_lock(&adev.purge.lock);
	assert_int_equal(scan(1), SHRINK_STOP);
	mutex_unlock(&adev.purge.lock);
	assert_int_equal(scan(1), 10);
}

static void test_bad_calls(void **state)
{
	static const struct drm_agate_madvise bad[] = {
		{ .handle = 1, .madv = 2 }, { .handle = 1, .madv = ~0u },
		{ .handle = 1, .madv = AGATE_MADV_DONTNEED, .pad = 1 },
		{ .handle = 1, .madv = AGATE_MADV_DONTNEED, .pad2 = 1 },
		{ .handle = 1, .madv = AGATE_MADV_DONTNEED, .len = 1 },
	};
	struct drm_agate_madvise args;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		args = bad[i];
		assert_int_equal(call(&args), -EINVAL);
	}
	assert_int_equal(advise(6, AGATE_MADV_WILLNEED), -ENOENT);
	assert_int_equal(bos[0].madv, AGATE_MADV_WILLNEED);
	LISTED(NONE);
}

/* The owner may not give up what others use; that it needs a BO it may say always. */
static void test_shared(void **state)
{
	static void (*const users[])(struct agate_bo *bo, bool on) = {
		set_pinned, set_exported, set_two_files,
	};

	(void)state;
	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++) {
		users[i](&bos[0], true);
		assert_int_equal(advise(0, AGATE_MADV_DONTNEED), -EINVAL);
		assert_int_equal(advise(0, AGATE_MADV_WILLNEED), 1);
		users[i](&bos[0], false);
	}
	/* Another driver's, or in one piece. */
	bos[0].backing.kind = 0;
	assert_int_equal(advise(0, AGATE_MADV_DONTNEED), -EINVAL);
	LISTED(NONE);
	/* A job is nobody else. */
	set_job(&bos[1], true);
	set_write_fence(&bos[1], true);
	assert_int_equal(advise(1, AGATE_MADV_DONTNEED), 1);
}

static void test_label(void **state)
{
	struct drm_agate_madvise args = { .handle = 1, .madv = AGATE_MADV_DONTNEED, .label = 4096 };

	(void)state;
	fake.label_error = -EFAULT;
	assert_int_equal(call(&args), -EFAULT);
	assert_int_equal(bos[0].madv, AGATE_MADV_WILLNEED);
	LISTED(NONE);
	fake.label_error = 0;
	assert_int_equal(call(&args), 0);
	assert_int_equal(fake.labels, 1);
	LISTED(0);
	/* A call that is refused leaves the old label. */
	bos[1].backing.pins = 1;
	args.handle = 2;
	assert_int_equal(call(&args), -EINVAL);
	assert_int_equal(fake.labels, 1);
}

static void test_forget(void **state)
{
	(void)state;
	unwanted(3);
	agate_purge_forget(&bos[1]);
	agate_purge_forget(&bos[4]);
	no_locks();
	LISTED(0, 2);
}

static void test_no_shrinker(void **state)
{
	(void)state;
	fake.register_error = -ENOMEM;
	adev.purge.shrinker.registered = false;
	assert_int_equal(agate_purge_topic_init(&adev), -ENOMEM);
	assert_false(adev.purge.shrinker.registered);
	adev.purge.shrinker.registered = true;
}

int main(void)
{
#define TEST(name)	cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_count), TEST(test_enough_and_no_more), TEST(test_oldest_first),
		TEST(test_purged_for_ever), TEST(test_busy), TEST(test_a_lock_is_taken),
		TEST(test_shared_later), TEST(test_one_file), TEST(test_without_pages),
		TEST(test_list_is_locked), TEST(test_bad_calls),
		TEST(test_shared), TEST(test_label), TEST(test_forget), TEST(test_no_shrinker),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
