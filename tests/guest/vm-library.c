// SPDX-License-Identifier: MIT
/*
 * libagate's address spaces on the real driver: what the kernel refuses reaches the caller, what
 * is bound is what the GPU sees, and nothing stays.
 */
#include "guest.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <xf86drm.h>

#include "agate_bo.h"

#define BLOCK		(64 * 1024ull)	/* every card's memory can be divided so */
#define JOBS		0x10000000ull
#define SEEN		(JOBS + BLOCK / 2)
#define AREA		0x40000000ull

/* An address space whose first BO is for jobs, and for what they bring back. */
struct client {
	struct agate_device *dev;
	struct agate_vm *vm;
	struct agate_bo *jobs;
};

static struct agate_device *open_device(void)
{
	struct agate_device *dev;

	assert_int_equal(agate_device_open_fd(guest_open(), &dev), 0);
	return dev;
}

static int bind_part(struct agate_vm *vm, struct agate_bo *bo, uint64_t offset, uint64_t address,
		     uint64_t size)
{
	const struct agate_vm_bind bind = {
		.bo = bo, .offset = offset, .address = address, .size = size,
	};

	return agate_vm_bind(vm, &bind);
}

static int bind_bo(struct agate_vm *vm, struct agate_bo *bo, uint64_t address)
{
	return bind_part(vm, bo, 0, address, agate_bo_size(bo));
}

static int unbind(struct agate_vm *vm, uint64_t address, uint64_t size)
{
	const struct agate_vm_bind bind = { .address = address, .size = size };

	return agate_vm_unbind(vm, &bind);
}

static struct agate_bo *bo_in(struct agate_vm *vm, uint64_t size, uint32_t flags)
{
	struct agate_bo *bo = NULL;

	assert_int_equal(agate_vm_create_bo(vm, size, flags, "test", &bo), 0);
	return bo;
}

static struct client client_with(struct agate_device *dev, uint32_t flags)
{
	struct client client = { .dev = dev };

	assert_int_equal(agate_vm_create(dev, flags, &client.vm), 0);
	client.jobs = bo_in(client.vm, BLOCK, 0);
	assert_int_equal(bind_bo(client.vm, client.jobs, JOBS), 0);
	return client;
}

static struct client client_on(struct agate_device *dev)
{
	return client_with(dev, 0);
}

static void client_end(struct client *client)
{
	agate_bo_unreference(client->jobs);
	agate_vm_destroy(client->vm);
}

static void end_all(struct agate_device *dev)
{
	agate_device_close(dev);
	guest_assert_nothing_left();
}

/* Submit one job behind a sync object (0: none), with another one for its fence. */
static int submit_after(struct client *client, const struct agate_compute_payload *payload,
			uint32_t before, uint32_t after)
{
	const struct drm_agate_sync in = { .handle = before }, out = { .handle = after };
	struct agate_submit submit = {
		.in_syncs = &in, .in_sync_count = before != 0,
		.out_syncs = &out, .out_sync_count = 1,
	};
	struct agate_chain chain;

	assert_int_equal(agate_chain_begin_at(&chain, client->jobs, 0, JOBS), 0);
	assert_int_equal(agate_chain_compute(&chain, 0, payload), 0);
	submit.jc = agate_chain_address(&chain);
	return agate_vm_submit(client->vm, &submit);
}

/* Run one job to its end: 0, its fence's error, or that of the call. */
static int run(struct client *client, const struct agate_compute_payload *payload)
{
	uint32_t sync = guest_syncobj(agate_device_fd(client->dev));
	int err = submit_after(client, payload, 0, sync);
	int result = 0;

	if (!err)
		assert_int_equal(agate_bo_wait(client->jobs, INT64_MAX, true), 0);
	if (!err)
		assert_int_equal(agate_sync_result(client->dev, sync, &result), 0);
	drmSyncobjDestroy(agate_device_fd(client->dev), sync);
	return err ? err : result;
}

static struct agate_compute_payload fill_job(uint64_t address, uint64_t value)
{
	return (struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = address, .size = 8, .value = value,
	};
}

static int fill(struct client *client, uint64_t address, uint64_t value)
{
	const struct agate_compute_payload payload = fill_job(address, value);

	return run(client, &payload);
}

/* What the GPU reads at an address. */
static int look(struct client *client, uint64_t address, uint64_t *value)
{
	const struct agate_compute_payload payload = {
		.op = AGATE_COMPUTE_COPY, .dst = SEEN, .src = address, .size = 8,
	};
	int result = run(client, &payload);
	void *cpu;

	assert_int_equal(agate_bo_mmap(client->jobs, &cpu), 0);
	*value = *(volatile uint64_t *)((char *)cpu + (SEEN - JOBS));
	return result;
}

static void holds(struct client *client, uint64_t address, uint64_t want)
{
	uint64_t value;

	assert_int_equal(look(client, address, &value), 0);
	assert_int_equal(value, want);
}

static void is_hole(struct client *client, uint64_t address)
{
	uint64_t value;

	assert_int_equal(look(client, address, &value), -EINVAL);
}

/* ---- Bindings ------------------------------------------------------------ */

/* One address, two address spaces, two BOs; and one BO at two addresses. */
static void two_spaces(void **state)
{
	struct agate_device *dev = open_device();
	struct client one = client_on(dev), two = client_on(dev);
	struct agate_bo *first = bo_in(one.vm, BLOCK, 0), *second = bo_in(two.vm, BLOCK, AGATE_ALLOC_VRAM);
	uint64_t start, end;

	(void)state;
	agate_vm_range(one.vm, &start, &end);
	assert_true(start <= JOBS && end > AREA);
	assert_int_equal(bind_bo(one.vm, first, AREA), 0);
	assert_int_equal(bind_bo(one.vm, first, AREA + 2 * BLOCK), 0);
	assert_int_equal(bind_bo(two.vm, second, AREA), 0);
	assert_int_equal(fill(&one, AREA, 0x11), 0);
	assert_int_equal(fill(&two, AREA, 0x22), 0);
	holds(&one, AREA, 0x11);
	holds(&one, AREA + 2 * BLOCK, 0x11);
	is_hole(&one, AREA + BLOCK);
	holds(&two, AREA, 0x22);
	is_hole(&two, AREA + 2 * BLOCK);
	agate_bo_unreference(first);
	agate_bo_unreference(second);
	client_end(&one);
	client_end(&two);
	end_all(dev);
}

static void part_goes(void **state)
{
	struct agate_device *dev = open_device();
	struct client client = client_on(dev);
	struct agate_bo *bo = bo_in(client.vm, 4 * BLOCK, AGATE_ALLOC_VRAM | AGATE_ALLOC_SPILL);

	(void)state;
	assert_int_equal(bind_bo(client.vm, bo, AREA), 0);
	for (uint64_t i = 0; i < 4; i++)
		assert_int_equal(fill(&client, AREA + i * BLOCK, i + 1), 0);
	assert_int_equal(unbind(client.vm, AREA + BLOCK, BLOCK), 0);
	holds(&client, AREA, 1);
	is_hole(&client, AREA + BLOCK);
	holds(&client, AREA + 2 * BLOCK, 3);
	/* The last block comes instead of the first one. */
	assert_int_equal(bind_part(client.vm, bo, 3 * BLOCK, AREA, BLOCK), 0);
	holds(&client, AREA, 4);
	holds(&client, AREA + 3 * BLOCK, 4);
	/* It has gone from here; the bindings keep its memory. */
	agate_bo_unreference(bo);
	holds(&client, AREA + 2 * BLOCK, 3);
	client_end(&client);
	end_all(dev);
}

static void readonly(void **state)
{
	struct agate_device *dev = open_device();
	struct client client = client_on(dev);
	struct agate_bo *bo = bo_in(client.vm, BLOCK, 0);
	const struct agate_vm_bind bind = {
		.bo = bo, .address = AREA, .size = BLOCK, .flags = AGATE_VM_BIND_READONLY,
	};

	(void)state;
	assert_int_equal(agate_vm_bind(client.vm, &bind), 0);
	holds(&client, AREA, 0);
	assert_int_equal(fill(&client, AREA, 1), -EINVAL);
	holds(&client, AREA, 0);
	agate_bo_unreference(bo);
	client_end(&client);
	end_all(dev);
}

/* Memory of the process, with the same bytes for both. */
static void process_memory(void **state)
{
	struct agate_device *dev = open_device();
	struct client client = client_on(dev);
	uint64_t *at = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct agate_vm_bind bind = { .memory = at, .address = AREA, .size = BLOCK };

	(void)state;
	assert_ptr_not_equal(at, MAP_FAILED);
	at[0] = 7;
	assert_int_equal(agate_vm_bind(client.vm, &bind), 0);
	holds(&client, AREA, 7);
	assert_int_equal(fill(&client, AREA + 8, 8), 0);
	assert_int_equal(at[1], 8);
	munmap(at, BLOCK);
	assert_int_equal(fill(&client, AREA, 9), -EFAULT);
	assert_int_equal(unbind(client.vm, AREA, BLOCK), 0);
	is_hole(&client, AREA);
	assert_int_equal(agate_vm_bind(client.vm, &bind), -EFAULT);
	client_end(&client);
	end_all(dev);
}

/* ---- Order ----------------------------------------------------------------- */

/* A change waits for its in-syncs, a job for the change, and so does who asks for it. */
static void changes_in_order(void **state)
{
	struct agate_device *dev = open_device();
	struct client client = client_on(dev);
	struct agate_bo *bo = bo_in(client.vm, BLOCK, 0);
	const int fd = agate_device_fd(dev), timeline = guest_timeline();
	const struct drm_agate_sync in = { .handle = guest_timeline_syncobj(fd, timeline) };
	const struct drm_agate_sync out = { .handle = guest_syncobj(fd) };
	struct agate_vm_bind bind = {
		.bo = bo, .address = AREA, .size = BLOCK, .in_syncs = &in, .in_sync_count = 1,
		.out_syncs = &out, .out_sync_count = 1,
	};
	const struct agate_compute_payload payload = fill_job(AREA, 3);
	uint32_t done = guest_syncobj(fd);
	int result;

	(void)state;
	assert_int_equal(agate_vm_bind(client.vm, &bind), 0);
	assert_int_equal(submit_after(&client, &payload, 0, done), 0);
	assert_int_equal(agate_sync_result(dev, out.handle, &result), -EBUSY);
	assert_int_equal(agate_sync_result(dev, done, &result), -EBUSY);
	guest_timeline_advance(timeline);
	bind = (struct agate_vm_bind){ .address = AREA, .size = BLOCK, .wait = true };
	/* It waits for the job, which has its fence behind it then. */
	assert_int_equal(agate_vm_unbind(client.vm, &bind), 0);
	assert_int_equal(agate_sync_result(dev, out.handle, &result), 0);
	assert_int_equal(result, 0);
	assert_int_equal(agate_sync_result(dev, done, &result), 0);
	assert_int_equal(result, 0);
	is_hole(&client, AREA);
	assert_int_equal(bind_bo(client.vm, bo, AREA), 0);
	holds(&client, AREA, 3);
	close(timeline);
	agate_bo_unreference(bo);
	client_end(&client);
	end_all(dev);
}

/* The submission names no BO, and yet a wait for a bound one is a wait for its job. */
static void wait_sees_jobs(void **state)
{
	struct agate_device *dev = open_device();
	struct client client = client_on(dev);
	const int fd = agate_device_fd(dev), timeline = guest_timeline();
	uint32_t in = guest_timeline_syncobj(fd, timeline), done = guest_syncobj(fd);
	const struct agate_compute_payload payload = fill_job(AREA, 5);
	struct agate_bo *bo;

	(void)state;
	assert_int_equal(agate_bo_create(dev, BLOCK, AGATE_ALLOC_VRAM, NULL, &bo), 0);
	assert_int_equal(bind_bo(client.vm, bo, AREA), 0);
	assert_int_equal(agate_bo_wait(bo, 0, true), 0);
	assert_int_equal(submit_after(&client, &payload, in, done), 0);
	assert_int_equal(agate_bo_wait(bo, 0, false), -EBUSY);
	assert_int_equal(agate_bo_wait(client.jobs, 0, false), -EBUSY);
	guest_timeline_advance(timeline);
	assert_int_equal(agate_bo_wait(bo, INT64_MAX, false), 0);
	holds(&client, AREA, 5);
	close(timeline);
	agate_bo_unreference(bo);
	client_end(&client);
	end_all(dev);
}

/* ---- Errors ---------------------------------------------------------------- */

static void refused(void **state)
{
	struct agate_device *dev = open_device();
	struct client one = client_on(dev), two = client_on(dev);
	struct agate_bo *own = bo_in(one.vm, BLOCK, 0), *paged, *more = NULL;
	const struct drm_agate_sync none = { .handle = 77 };
	const struct agate_vm_bind late = {
		.bo = own, .address = AREA, .size = BLOCK, .in_syncs = &none, .in_sync_count = 1,
	};
	const struct agate_compute_payload payload = fill_job(AREA, 5);
	uint64_t start, end;
	int fd = -1;

	(void)state;
	agate_vm_range(one.vm, &start, &end);
	assert_int_equal(agate_bo_create(dev, BLOCK, 0, NULL, &paged), 0);
	assert_int_equal(bind_bo(two.vm, own, AREA), -EPERM);
	assert_int_equal(bind_bo(one.vm, paged, AREA), -EINVAL);
	assert_int_equal(bind_part(one.vm, own, 0, AREA + 1, BLOCK), -EINVAL);
	assert_int_equal(bind_part(one.vm, own, 0, start - PAGE, BLOCK), -EINVAL);
	assert_int_equal(bind_part(one.vm, own, 0, end - PAGE, BLOCK), -EINVAL);
	assert_int_equal(bind_part(one.vm, own, PAGE, AREA, BLOCK), -EINVAL);
	assert_int_equal(bind_part(one.vm, own, 0, AREA, 0), -EINVAL);
	assert_int_equal(unbind(one.vm, AREA, 1), -EINVAL);
	assert_int_equal(agate_vm_bind(one.vm, &late), -ENOENT);
	assert_int_equal(submit_after(&one, &payload, 77, 0), -ENOENT);
	assert_int_equal(agate_bo_export(own, &fd), -EPERM);
	assert_int_equal(agate_vm_create_bo(one.vm, 0, 0, NULL, &more), -EINVAL);
	/* Nothing of all this is bound. */
	is_hole(&one, AREA);
	is_hole(&two, AREA);
	agate_bo_unreference(paged);
	agate_bo_unreference(own);
	client_end(&one);
	client_end(&two);
	end_all(dev);
}

/* ---- Ends ------------------------------------------------------------------ */

static uint64_t vram_used(struct agate_device *dev)
{
	struct drm_agate_region regions[4];
	uint32_t count = 4;

	assert_int_equal(agate_device_get_regions(dev, regions, &count), 0);
	for (uint32_t i = 0; i < count; i++) {
		if (regions[i].type == DRM_AGATE_REGION_VRAM)
			return regions[i].used;
	}
	fail_msg("there is no VRAM");
	return 0;
}

/* A BO that only a binding keeps goes with the address space, when the last job has ended. */
static void destroyed(void **state)
{
	struct agate_device *dev = open_device();
	const uint64_t before = vram_used(dev);
	struct client client = client_on(dev);
	struct agate_bo *bo = bo_in(client.vm, 16 * BLOCK, AGATE_ALLOC_VRAM);
	const struct agate_compute_payload payload = fill_job(AREA, 5);
	const int timeline = guest_timeline();
	uint32_t in = guest_timeline_syncobj(agate_device_fd(dev), timeline);
	uint32_t done = guest_syncobj(agate_device_fd(dev));
	const int64_t limit = guest_deadline(30000);
	int result = -1;

	(void)state;
	assert_int_equal(bind_bo(client.vm, bo, AREA), 0);
	assert_int_equal(submit_after(&client, &payload, in, done), 0);
	agate_bo_unreference(bo);
	client_end(&client);
	assert_true(vram_used(dev) >= before + 16 * BLOCK);
	guest_timeline_advance(timeline);
	for (; agate_sync_result(dev, done, &result) == -EBUSY; usleep(1000))
		assert_true(guest_deadline(0) < limit);
	assert_int_equal(result, 0);
	/* Only the last steps of freeing a job come after its fence. */
	for (; vram_used(dev) != before; usleep(1000))
		assert_true(guest_deadline(0) < limit);
	close(timeline);
	end_all(dev);
}

/*
 * The child goes on with the device: it may use its copy of an address space, but not where
 * memory of its parent is bound.
 */
static void forked(void **state)
{
	struct agate_device *dev = open_device();
	struct client with = client_on(dev), without = client_on(dev);
	uint64_t *at = mmap(NULL, BLOCK, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct agate_vm_bind bind = { .memory = at, .address = AREA, .size = BLOCK };
	struct agate_bo *bo = bo_in(without.vm, BLOCK, 0);
	int status = -1;
	pid_t pid;

	(void)state;
	assert_int_equal(agate_vm_bind(with.vm, &bind), 0);
	assert_int_equal(bind_bo(without.vm, bo, AREA), 0);
	holds(&with, AREA, 0);
	pid = fork();
	assert_true(pid >= 0);
	if (!pid)
		_exit(fill(&with, AREA, 4) != -EPERM || fill(&without, AREA, 5) != 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(at[0], 0);
	holds(&without, AREA, 5);
	munmap(at, BLOCK);
	agate_bo_unreference(bo);
	client_end(&with);
	client_end(&without);
	end_all(dev);
}

/* A job that writes the time, one that shows it to the CPU, and the first one again. */
static int submit_endless(struct client *client)
{
	const struct agate_write_value_payload stamp = {
		.address = SEEN, .type = AGATE_WRITE_SYSTEM_TIMESTAMP,
	};
	const struct agate_cache_flush_payload flush = { .l2 = AGATE_FLUSH_L2_CLEAN };
	const struct drm_agate_sync out = { .handle = guest_syncobj(agate_device_fd(client->dev)) };
	struct agate_submit submit = { .jc = JOBS, .out_syncs = &out, .out_sync_count = 1 };
	struct bo jobs = { .va = JOBS, .size = BLOCK };

	assert_int_equal(agate_bo_mmap(client->jobs, &jobs.cpu), 0);
	guest_job(&jobs, 0, AGATE_JOB_WRITE_VALUE, JOBS + 0x80, &stamp, sizeof(stamp));
	guest_job(&jobs, 0x80, AGATE_JOB_CACHE_FLUSH, JOBS, &flush, sizeof(flush));
	/* No fence could tell when it has ended. */
	assert_int_equal(agate_vm_submit(client->vm, &submit), -EINVAL);
	submit.out_sync_count = 0;
	return agate_vm_submit(client->vm, &submit);
}

/* The chain comes by, and writes another time. */
static void goes_on(struct client *client)
{
	const int64_t limit = guest_deadline(30000);
	volatile uint64_t *seen;
	uint64_t before;
	void *cpu;

	assert_int_equal(agate_bo_mmap(client->jobs, &cpu), 0);
	seen = (volatile uint64_t *)((char *)cpu + (SEEN - JOBS));
	for (before = *seen; *seen == before; usleep(1000))
		assert_true(guest_deadline(0) < limit);
}

/* Bindings change under a job that never ends, and the end of its address space ends it. */
static void long_running(void **state)
{
	struct agate_device *dev = open_device();
	struct client client = client_with(dev, AGATE_VM_LONG_RUNNING);
	struct agate_bo *bo = bo_in(client.vm, BLOCK, AGATE_ALLOC_VRAM);
	const struct agate_vm_bind bind = { .bo = bo, .address = AREA, .size = BLOCK, .wait = true };
	const struct agate_vm_bind gap = { .address = AREA, .size = BLOCK, .wait = true };

	(void)state;
	assert_int_equal(submit_endless(&client), 0);
	goes_on(&client);
	assert_int_equal(agate_vm_bind(client.vm, &bind), 0);
	goes_on(&client);
	assert_int_equal(agate_vm_unbind(client.vm, &gap), 0);
	goes_on(&client);
	agate_bo_unreference(bo);
	client_end(&client);
	end_all(dev);
}

/* Again and again: the counters of the driver show what stays. */
static void many_times(void **state)
{
	struct agate_device *dev = open_device();

	(void)state;
	for (unsigned int i = 0; i < 50; i++) {
		struct client client = client_on(dev);
		struct agate_bo *bo = bo_in(client.vm, BLOCK, i % 2 ? AGATE_ALLOC_VRAM : 0);

		assert_int_equal(bind_bo(client.vm, bo, AREA), 0);
		assert_int_equal(fill(&client, AREA, i), 0);
		agate_bo_unreference(bo);
		client_end(&client);
	}
	end_all(dev);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_spaces),
		cmocka_unit_test(part_goes),
		cmocka_unit_test(readonly),
		cmocka_unit_test(process_memory),
		cmocka_unit_test(changes_in_order),
		cmocka_unit_test(wait_sees_jobs),
		cmocka_unit_test(refused),
		cmocka_unit_test(destroyed),
		cmocka_unit_test(forked),
		cmocka_unit_test(long_running),
		cmocka_unit_test(many_times),
	};

	return cmocka_run_group_tests_name("vm-library", tests, NULL, NULL);
}
