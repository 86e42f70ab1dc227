// SPDX-License-Identifier: MIT
/*
 * The BO cache of libagate on the driver: real labels, real jobs, real memory pressure.
 *
 * The program has the library's objects inside, so it can reach the cache's clock.  It asks
 * the kernel itself what became of a BO, with raw ioctls and in debugfs.
 */
#include "guest.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <unistd.h>

#include "agate_bo.h"

#define MiB		(1ull << 20)
#define GiB		(1ull << 30)
#define NS_PER_S	1000000000ull
#define HEAP		(AGATE_ALLOC_INVISIBLE | AGATE_ALLOC_GROWABLE)
#define DATA		2048u
#define THREADS		4
#define ROUNDS		20

/* ---- Helpers ------------------------------------------------------------- */

static uint64_t clock_ns;

static uint64_t test_clock(void)
{
	return clock_ns;
}

static struct agate_device *open_device(void)
{
	struct agate_device *dev;

	assert_int_equal(agate_device_open_fd(guest_open(), &dev), 0);
	clock_ns = 1000 * NS_PER_S;
	dev->cache.now_ns = test_clock;
	return dev;
}

static void close_device(struct agate_device *dev)
{
	agate_device_close(dev);
	guest_assert_nothing_left();
}

static struct agate_bo *bo_new(struct agate_device *dev, uint64_t size, uint32_t flags,
			       const char *label)
{
	struct agate_bo *bo = NULL;

	assert_int_equal(agate_bo_create(dev, size, flags, label, &bo), 0);
	return bo;
}

static volatile uint64_t *map_of(struct agate_bo *bo)
{
	void *cpu = NULL;

	assert_int_equal(agate_bo_mmap(bo, &cpu), 0);
	return cpu;
}

static struct agate_bo_cache_stats stats_of(struct agate_device *dev)
{
	struct agate_bo_cache_stats stats;

	assert_int_equal(agate_bo_cache_get_stats(dev, &stats), 0);
	assert_int_equal(stats.puts, stats.hits + stats.waits + stats.purged + stats.stale +
				     stats.evicted + stats.cached);
	return stats;
}

/* How many BOs does debugfs list with all of these texts on their line? */
static unsigned int listed(const char *one, const char *two)
{
	char line[512];
	unsigned int count = 0;
	FILE *file;

	file = guest_debugfs_open("bos");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		count += strstr(line, one) && strstr(line, two);
	fclose(file);
	return count;
}

/* Submit a job that writes value to word DATA of its own BO, after a sync object (0: none). */
static int write_by_gpu(struct agate_bo *bo, uint64_t value, uint32_t in_sync)
{
	const struct agate_write_value_payload payload = {
		.address = agate_bo_address(bo) + DATA,
		.type = AGATE_WRITE_IMMEDIATE_64,
		.immediate = value,
	};
	const struct agate_submit_bo listed_bo = { bo, AGATE_ACCESS_RW };
	const struct drm_agate_sync in = { .handle = in_sync };
	struct agate_submit submit = {
		.bos = &listed_bo, .bo_count = 1, .in_syncs = &in, .in_sync_count = in_sync != 0,
	};
	struct agate_chain chain;
	int err;

	err = agate_chain_begin(&chain, bo, 0);
	if (!err)
		err = agate_chain_write_value(&chain, 0, &payload);
	submit.jc = agate_chain_address(&chain);
	return err ? err : agate_submit(agate_bo_device(bo), &submit);
}

static void press(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, "2", 1), 1);
	close(fd);
}

/* ---- Tests --------------------------------------------------------------- */

static void round_trip(void **state)
{
	struct agate_device *dev = open_device();
	struct agate_bo *bo = bo_new(dev, 3 * PAGE, 0, "first user");
	const uint32_t handle = agate_bo_handle(bo);
	const uint64_t address = agate_bo_address(bo);

	(void)state;
	assert_int_equal(write_by_gpu(bo, 6, 0), 0);
	assert_int_equal(agate_bo_wait(bo, FOREVER, true), 0);
	map_of(bo)[0] = 0xa6a7e;
	agate_bo_unreference(bo);
	assert_int_equal(listed("label=\"Unused (BO cache)\"", "madv=dontneed"), 1);
	assert_int_equal(guest_counter("cpu_maps"), 0);
	assert_int_equal(guest_counter("pages"), 3);

	bo = bo_new(dev, 2 * PAGE + 1, 0, "second user");
	assert_int_equal(agate_bo_handle(bo), handle);
	assert_int_equal(agate_bo_address(bo), address);
	assert_int_equal(agate_bo_size(bo), 3 * PAGE);
	assert_int_equal(map_of(bo)[0], 0xa6a7e);
	assert_int_equal(map_of(bo)[DATA / 8], 6);
	assert_int_equal(listed("label=\"second user\"", "madv=willneed"), 1);
	assert_int_equal(listed("label=\"Unused (BO cache)\"", ""), 0);
	/* The GPU still has it at its address. */
	assert_int_equal(write_by_gpu(bo, 7, 0), 0);
	assert_int_equal(agate_bo_wait(bo, FOREVER, true), 0);
	assert_int_equal(map_of(bo)[DATA / 8], 7);
	agate_bo_unreference(bo);

	bo = bo_new(dev, 3 * PAGE, 0, NULL);
	assert_int_equal(agate_bo_handle(bo), handle);
	assert_int_equal(listed("label=\"\"", ""), 1);
	agate_bo_unreference(bo);
	close_device(dev);
}

static void busy(void **state)
{
	struct agate_device *dev = open_device();
	int fd = agate_device_fd(dev), timeline = guest_timeline();
	uint32_t gate = guest_timeline_syncobj(fd, timeline);
	struct agate_bo *bo = bo_new(dev, PAGE, 0, "busy"), *other;
	const uint32_t handle = agate_bo_handle(bo);

	(void)state;
	assert_int_equal(write_by_gpu(bo, 1, gate), 0);
	agate_bo_unreference(bo);
	other = bo_new(dev, PAGE, 0, "other");
	assert_int_not_equal(agate_bo_handle(other), handle);
	assert_int_equal(stats_of(dev).busy, 1);
	guest_timeline_advance(timeline);
	assert_int_equal(guest_wait(fd, handle, FOREVER), 0);
	bo = bo_new(dev, PAGE, 0, "idle");
	assert_int_equal(agate_bo_handle(bo), handle);
	assert_int_equal(map_of(bo)[DATA / 8], 1);
	agate_bo_unreference(bo);
	agate_bo_unreference(other);
	close(timeline);
	close_device(dev);
}

/* Fill the GPU's address space with heaps, which take no memory; returns one of them. */
static struct agate_bo *fill(struct agate_device *dev, struct agate_bo **all, unsigned int *count)
{
	int err;

	for (*count = 0; *count < 2048; (*count)++) {
		err = agate_bo_create(dev, GiB, HEAP, NULL, &all[*count]);
		if (err) {
			assert_int_equal(err, -ENOSPC);
			break;
		}
	}
	assert_in_range(*count, 1, 2047);
	return all[--*count];
}

static void release(struct agate_bo **all, unsigned int count)
{
	while (count)
		agate_bo_unreference(all[--count]);
}

static void full_and_evicted(void **state)
{
	static struct agate_bo *all[2048];
	struct agate_device *dev = open_device();
	unsigned int count;
	struct agate_bo *bo;

	(void)state;
	agate_bo_unreference(fill(dev, all, &count));
	assert_int_equal(stats_of(dev).cached, 1);
	/* It has other flags, so it does not fit, but its addresses are needed. */
	bo = bo_new(dev, GiB, AGATE_ALLOC_INVISIBLE, "plain");
	assert_int_equal(stats_of(dev).evicted, 1);
	agate_bo_unreference(bo);
	release(all, count);
	close_device(dev);
}

/* Opens the gate as soon as the other thread has found the BO busy. */
struct gate_keeper {
	struct agate_device *dev;
	int timeline;
};

static void *open_gate(void *arg)
{
	struct gate_keeper *keeper = arg;
	struct agate_bo_cache_stats stats = { 0 };

	while (!stats.busy) {
		if (agate_bo_cache_get_stats(keeper->dev, &stats))
			return NULL;
		usleep(1000);
	}
	guest_timeline_advance(keeper->timeline);
	return NULL;
}

static void full_and_waited_for(void **state)
{
	static struct agate_bo *all[2048];
	struct agate_device *dev = open_device();
	struct gate_keeper keeper = { dev, guest_timeline() };
	uint32_t gate = guest_timeline_syncobj(agate_device_fd(dev), keeper.timeline);
	struct agate_bo *jobs = bo_new(dev, PAGE, 0, "jobs"), *bo;
	struct agate_submit_bo used[2] = { { jobs, AGATE_ACCESS_RW } };
	const struct drm_agate_sync in = { .handle = gate };
	struct agate_submit submit = { .bos = used, .bo_count = 2, .in_syncs = &in,
				       .in_sync_count = 1 };
	struct agate_chain chain;
	unsigned int count;
	pthread_t thread;
	uint32_t handle;

	(void)state;
	bo = fill(dev, all, &count);
	handle = agate_bo_handle(bo);
	used[1] = (struct agate_submit_bo){ bo, AGATE_ACCESS_WRITE };
	assert_int_equal(agate_chain_begin(&chain, jobs, 0), 0);
	assert_int_equal(agate_chain_null(&chain, 0), 0);
	submit.jc = agate_chain_address(&chain);
	assert_int_equal(agate_submit(dev, &submit), 0);
	agate_bo_unreference(bo);
	assert_int_equal(pthread_create(&thread, NULL, open_gate, &keeper), 0);
	bo = bo_new(dev, GiB, HEAP, "waited for");
	pthread_join(thread, NULL);
	assert_int_equal(agate_bo_handle(bo), handle);
	assert_int_equal(stats_of(dev).waits, 1);
	agate_bo_unreference(bo);
	agate_bo_unreference(jobs);
	release(all, count);
	close(keeper.timeline);
	close_device(dev);
}

/* Under pressure the kernel takes the pages of cached BOs, and of no others. */
static void pressure(void **state)
{
	enum { CACHED = 8 };
	struct agate_device *dev = open_device();
	struct agate_bo *used = bo_new(dev, 16 * PAGE, 0, "used"), *bo[CACHED];
	unsigned int i;

	(void)state;
	assert_int_equal(write_by_gpu(used, 0x600d, 0), 0);
	assert_int_equal(agate_bo_wait(used, FOREVER, true), 0);
	for (i = 0; i < CACHED; i++) {
		bo[i] = bo_new(dev, 16 * PAGE, 0, NULL);
		assert_int_equal(write_by_gpu(bo[i], i, 0), 0);
		assert_int_equal(agate_bo_wait(bo[i], FOREVER, true), 0);
	}
	for (i = 0; i < CACHED; i++)
		agate_bo_unreference(bo[i]);
	/* The shrinker takes only a part each time. */
	for (i = 0; i < 1000 && listed("madv=purged", "Unused (BO cache)") < CACHED; i++)
		press();
	assert_int_equal(listed("madv=purged", "Unused (BO cache)"), CACHED);
	assert_int_equal(listed("madv=purged", ""), CACHED);
	assert_int_equal(map_of(used)[DATA / 8], 0x600d);

	bo[0] = bo_new(dev, 16 * PAGE, 0, "new");
	assert_int_equal(map_of(bo[0])[0], 0);
	assert_int_equal(stats_of(dev).purged, CACHED);
	guest_wait_counter("bos", 2);
	agate_bo_unreference(bo[0]);
	agate_bo_unreference(used);
	close_device(dev);
}

static void stale(void **state)
{
	struct agate_device *dev = open_device();
	struct agate_bo *bo = bo_new(dev, MiB, 0, NULL);

	(void)state;
	agate_bo_unreference(bo_new(dev, PAGE, 0, NULL));
	agate_bo_unreference(bo_new(dev, 4 * PAGE, 0, NULL));
	clock_ns += 3 * NS_PER_S - 1;
	agate_bo_unreference(bo);
	assert_int_equal(guest_counter("handles"), 3);
	bo = bo_new(dev, MiB, 0, NULL);
	clock_ns += 1;
	agate_bo_unreference(bo);
	assert_int_equal(guest_counter("handles"), 1);
	close_device(dev);
}

static void never_cached(void **state)
{
	struct agate_device *dev = open_device();

	(void)state;
	agate_bo_unreference(bo_new(dev, PAGE, AGATE_ALLOC_SHARED, NULL));
	assert_int_equal(guest_counter("handles"), 0);
	assert_int_equal(agate_bo_cache_enable(dev, false), 0);
	agate_bo_unreference(bo_new(dev, PAGE, 0, NULL));
	assert_int_equal(guest_counter("handles"), 0);
	assert_int_equal(stats_of(dev).puts, 0);
	close_device(dev);
}

/* Neither what the library exported, nor what somebody else did: the kernel knows. */
static void exported(void **state)
{
	struct agate_device *dev = open_device();
	struct agate_bo *bo = bo_new(dev, PAGE, 0, NULL), *again;
	struct drm_prime_handle arg = { .flags = DRM_CLOEXEC };
	int fd = -1;

	(void)state;
	assert_int_equal(agate_bo_export(bo, &fd), 0);
	agate_bo_unreference(bo);
	assert_int_equal(guest_counter("handles"), 0);
	assert_int_equal(agate_bo_import(dev, fd, &again), 0);
	agate_bo_unreference(again);
	assert_int_equal(guest_counter("handles"), 0);
	close(fd);

	bo = bo_new(dev, PAGE, 0, NULL);
	arg.handle = agate_bo_handle(bo);
	assert_int_equal(guest_ioctl(agate_device_fd(dev), DRM_IOCTL_PRIME_HANDLE_TO_FD, &arg), 0);
	agate_bo_unreference(bo);
	assert_int_equal(guest_counter("handles"), 0);
	close(arg.fd);
	assert_int_equal(stats_of(dev).puts, 0);
	close_device(dev);
}

static void closed(void **state)
{
	enum { MANY = 200 };
	struct agate_device *dev = open_device();
	struct agate_bo *bo[MANY];
	unsigned int i;

	(void)state;
	for (i = 0; i < MANY; i++)
		bo[i] = bo_new(dev, PAGE << i % 6, AGATE_ALLOC_DELAY_MMAP, NULL);
	for (i = 0; i < MANY; i++)
		agate_bo_unreference(bo[i]);
	assert_int_equal(guest_counter("handles"), MANY);
	close_device(dev);
}

struct crowd {
	struct agate_device *dev;
	_Atomic unsigned int next_id;
	_Atomic unsigned int failures;
	_Atomic bool over;
};

/* Each BO is this thread's alone: its CPU and its jobs write it, and nobody else's do. */
static bool use_bo(struct agate_device *dev, uint64_t mark)
{
	struct agate_bo *bo;
	uint64_t *cpu;
	bool right;

	if (agate_bo_create(dev, PAGE, 0, "crowd", &bo))
		return false;
	right = !agate_bo_mmap(bo, (void **)&cpu);
	if (right) {
		cpu[PAGE / 8 - 1] = mark;
		right = !write_by_gpu(bo, mark, 0);
		/* Every other BO goes back while its job runs. */
		if (right && mark % 2)
			right = !agate_bo_wait(bo, FOREVER, true) && cpu[DATA / 8] == mark &&
				cpu[PAGE / 8 - 1] == mark;
	}
	agate_bo_unreference(bo);
	return right;
}

static void *crowd_member(void *arg)
{
	struct crowd *crowd = arg;
	const uint64_t id = crowd->next_id++;

	for (uint64_t i = 0; i < ROUNDS; i++)
		crowd->failures += !use_bo(crowd->dev, id << 32 | i);
	return NULL;
}

static void *presser(void *arg)
{
	struct crowd *crowd = arg;

	while (!crowd->over) {
		press();
		crowd->failures += agate_bo_cache_trim(crowd->dev) != 0;
		usleep(2000);
	}
	return NULL;
}

static void crowded(void **state)
{
	struct crowd crowd = { .dev = open_device() };
	pthread_t thread[THREADS], pressing;
	unsigned int i;

	(void)state;
	assert_int_equal(pthread_create(&pressing, NULL, presser, &crowd), 0);
	for (i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, crowd_member, &crowd), 0);
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	crowd.over = true;
	pthread_join(pressing, NULL);
	assert_int_equal(crowd.failures, 0);
	stats_of(crowd.dev);
	close_device(crowd.dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(round_trip, guest_teardown),
		cmocka_unit_test_teardown(busy, guest_teardown),
		cmocka_unit_test_teardown(full_and_evicted, guest_teardown),
		cmocka_unit_test_teardown(full_and_waited_for, guest_teardown),
		cmocka_unit_test_teardown(pressure, guest_teardown),
		cmocka_unit_test_teardown(stale, guest_teardown),
		cmocka_unit_test_teardown(never_cached, guest_teardown),
		cmocka_unit_test_teardown(exported, guest_teardown),
		cmocka_unit_test_teardown(closed, guest_teardown),
		cmocka_unit_test_teardown(crowded, guest_teardown),
	};

	return cmocka_run_group_tests_name("bo-cache", tests, NULL, NULL);
}
