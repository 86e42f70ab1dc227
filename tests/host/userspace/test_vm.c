// SPDX-License-Identifier: MIT
/*
 * Address spaces of their own: what the library passes to the kernel, what it refuses, and
 * that nothing stays.
 */
#include "harness.h"

#include <string.h>

#include "agate_bo.h"
#include "agate_regs.h"

#define ADDRESS		0x10000000ull
#define SIZE		(64 * 1024ull)

static struct drm_agate_submit seen;

static int record(const struct drm_agate_submit *args, const uint32_t *handles)
{
	(void)handles;
	seen = *args;
	return 0;
}

static struct agate_vm *vm_new(struct agate_device *dev)
{
	struct agate_vm *vm = NULL;

	assert_int_equal(agate_vm_create(dev, 0, &vm), 0);
	assert_non_null(vm);
	return vm;
}

static struct agate_bo *private_bo(struct agate_vm *vm, uint32_t flags)
{
	struct agate_bo *bo = NULL;

	assert_int_equal(agate_vm_create_bo(vm, SIZE, flags, "private", &bo), 0);
	assert_non_null(bo);
	return bo;
}

static void test_create(void **state)
{
	struct agate_vm *one = vm_new(*state), *two = vm_new(*state);
	uint64_t start, end;

	assert_ptr_equal(agate_vm_device(one), *state);
	assert_int_not_equal(agate_vm_id(one), 0);
	assert_int_not_equal(agate_vm_id(one), agate_vm_id(two));
	agate_vm_range(one, &start, &end);
	assert_true(start && start <= ADDRESS && end > ADDRESS);
	agate_vm_destroy(one);
	assert_int_equal(fake_live_vms(), 1);
	agate_vm_destroy(two);
	agate_vm_destroy(NULL);
}

/* A driver that has none is not asked, nor one that knows no memory of processes. */
static void test_older_drivers(void **state)
{
	struct agate_vm *vm = (struct agate_vm *)state;
	static char memory[SIZE] __attribute__((aligned(4096)));
	const struct agate_vm_bind bind = { .memory = memory, .address = ADDRESS, .size = SIZE };

	agate_device_close(*state);
	fake_set_minor(5);
	*state = fake_open();
	assert_int_equal(agate_vm_create(*state, 0, &vm), -EOPNOTSUPP);
	assert_ptr_equal(vm, state);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_VM_CREATE), 0);
	agate_device_close(*state);
	fake_set_minor(7);
	*state = fake_open();
	vm = vm_new(*state);
	assert_int_equal(agate_vm_bind(vm, &bind), -EOPNOTSUPP);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_VM_BIND), 0);
	agate_vm_destroy(vm);
}

static void test_long_running(void **state)
{
	struct agate_vm *vm = (struct agate_vm *)state;

	assert_int_equal(agate_vm_create(*state, 4, &vm), -EINVAL);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_VM_CREATE), 0);
	assert_ptr_equal(vm, state);
	assert_int_equal(agate_vm_create(*state, AGATE_VM_LONG_RUNNING, &vm), 0);
	assert_int_equal(fake_vm_flags(agate_vm_id(vm)), AGATE_VM_LONG_RUNNING);
	agate_vm_destroy(vm);
	vm = vm_new(*state);
	assert_int_equal(fake_vm_flags(agate_vm_id(vm)), 0);
	agate_vm_destroy(vm);
	agate_device_close(*state);
	fake_set_minor(8);
	*state = fake_open();
	assert_int_equal(agate_vm_create(*state, AGATE_VM_LONG_RUNNING, &vm), -EOPNOTSUPP);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_VM_CREATE), 2);
}

static void test_fault_mode(void **state)
{
	const uint32_t both = AGATE_VM_LONG_RUNNING | AGATE_VM_FAULT_MODE;
	struct agate_vm *vm = (struct agate_vm *)state;

	assert_int_equal(agate_vm_create(*state, AGATE_VM_FAULT_MODE, &vm), -EINVAL);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_VM_CREATE), 0);
	assert_int_equal(agate_vm_create(*state, both, &vm), 0);
	assert_int_equal(fake_vm_flags(agate_vm_id(vm)), both);
	agate_vm_destroy(vm);
	agate_device_close(*state);
	fake_set_minor(9);
	*state = fake_open();
	assert_int_equal(agate_vm_create(*state, both, &vm), -EOPNOTSUPP);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_VM_CREATE), 1);
	assert_int_equal(agate_vm_create(*state, AGATE_VM_LONG_RUNNING, &vm), 0);
	agate_vm_destroy(vm);
}

static void test_create_fails(void **state)
{
	struct agate_vm *vm = (struct agate_vm *)state;

	fake_fail(DRM_IOCTL_AGATE_VM_CREATE, 1, ENOMEM);
	assert_int_equal(agate_vm_create(*state, 0, &vm), -ENOMEM);
	assert_ptr_equal(vm, state);
}

/* ---- BOs ----------------------------------------------------------------- */

static void test_private_bo(void **state)
{
	static const struct {
		uint32_t flags, kernel, placement, caching;
	} kinds[] = {
		{ 0, AGATE_BO_NOEXEC, 1, AGATE_CACHING_WB },
		{ AGATE_ALLOC_EXECUTE, 0, 1, AGATE_CACHING_WB },
		{ AGATE_ALLOC_CPU_READONLY | AGATE_ALLOC_GPU_READONLY,
		  AGATE_BO_NOEXEC | AGATE_BO_CPU_READONLY | AGATE_BO_GPU_READONLY, 1,
		  AGATE_CACHING_WB },
		{ AGATE_ALLOC_VRAM, AGATE_BO_NOEXEC | AGATE_BO_CPU_VISIBLE, 2, AGATE_CACHING_WC },
		{ AGATE_ALLOC_VRAM | AGATE_ALLOC_SPILL | AGATE_ALLOC_INVISIBLE, AGATE_BO_NOEXEC,
		  3, AGATE_CACHING_WC },
	};
	struct agate_vm *vm = vm_new(*state);
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct agate_bo *bo = private_bo(vm, kinds[i].flags);
		struct fake_bo seen_bo;

		assert_true(fake_bo(agate_bo_handle(bo), &seen_bo));
		assert_int_equal(seen_bo.flags, kinds[i].kernel);
		assert_int_equal(seen_bo.placement, kinds[i].placement);
		assert_int_equal(seen_bo.caching, kinds[i].caching);
		assert_int_equal(seen_bo.vm_id, agate_vm_id(vm));
		assert_string_equal(seen_bo.label, "private");
		assert_int_equal(agate_bo_flags(bo), kinds[i].flags);
		assert_int_equal(agate_bo_size(bo), SIZE);
		assert_int_equal(agate_bo_address(bo), 0);
		assert_int_equal(fake_live_maps(), !(kinds[i].flags & AGATE_ALLOC_INVISIBLE));
		agate_bo_unreference(bo);
		assert_int_equal(fake_live_handles(), 0);
	}
	agate_vm_destroy(vm);
}

static void test_private_bo_refused(void **state)
{
	static const uint32_t bad[] = {
		AGATE_ALLOC_GROWABLE | AGATE_ALLOC_INVISIBLE, AGATE_ALLOC_CONTIGUOUS,
		AGATE_ALLOC_SHARED, AGATE_ALLOC_SPILL, 1u << 31,
	};
	struct agate_vm *vm = vm_new(*state);
	struct agate_bo *bo = (struct agate_bo *)state;
	size_t i;
	int fd;

	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(agate_vm_create_bo(vm, SIZE, bad[i], NULL, &bo), -EINVAL);
	assert_int_equal(agate_vm_create_bo(vm, 0, 0, NULL, &bo), -EINVAL);
	assert_int_equal(agate_vm_create_bo(vm, AGATE_BO_MAX_SIZE + 1, 0, NULL, &bo), -EINVAL);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_CREATE_BO), 0);
	assert_int_equal(agate_vm_create_bo(vm, SIZE, 0, "\n", &bo), -EINVAL);
	assert_ptr_equal(bo, state);
	bo = private_bo(vm, 0);
	assert_int_equal(agate_bo_export(bo, &fd), -EPERM);
	assert_int_equal(agate_bo_flags(bo), 0);
	agate_bo_unreference(bo);
	agate_vm_destroy(vm);
}

/* Each call that makes a BO fails in turn, and leaves nothing. */
static void test_private_bo_fails(void **state)
{
	static const unsigned long requests[] = {
		DRM_IOCTL_AGATE_CREATE_BO, DRM_IOCTL_AGATE_SET_LABEL, DRM_IOCTL_AGATE_MMAP_BO, FAKE_MMAP,
	};
	struct agate_vm *vm = vm_new(*state);
	struct agate_bo *bo = (struct agate_bo *)state;
	size_t i;

	for (i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		fake_fail(requests[i], 1, ENOMEM);
		assert_int_equal(agate_vm_create_bo(vm, SIZE, 0, "private", &bo), -ENOMEM);
		assert_ptr_equal(bo, state);
		assert_int_equal(fake_live_handles(), 0);
		assert_int_equal(fake_live_maps(), 0);
	}
	agate_vm_destroy(vm);
}

/* It has a placement, so the cache gets nothing of it. */
static void test_never_cached(void **state)
{
	struct agate_bo_cache_stats stats;
	struct agate_vm *vm = vm_new(*state);

	agate_bo_unreference(private_bo(vm, 0));
	agate_bo_unreference(private_bo(vm, AGATE_ALLOC_VRAM));
	assert_int_equal(fake_live_handles(), 0);
	assert_int_equal(agate_bo_cache_get_stats(*state, &stats), 0);
	assert_int_equal(stats.puts, 0);
	assert_int_equal(stats.cached, 0);
	agate_vm_destroy(vm);
}

/* The next user of a BO that was bound, or was to be, would ask the kernel at each wait. */
static void test_bound_never_cached(void **state)
{
	struct agate_vm *vm = vm_new(*state);
	struct agate_bo *bo = bo_new(*state, SIZE, 0);
	const struct agate_vm_bind bind = { .bo = bo, .address = ADDRESS, .size = 4096 };
	struct agate_bo_cache_stats stats;

	fake_fail(DRM_IOCTL_AGATE_VM_BIND, 1, EINVAL);
	assert_int_equal(agate_vm_bind(vm, &bind), -EINVAL);
	agate_bo_unreference(bo);
	assert_int_equal(fake_live_handles(), 0);
	assert_int_equal(agate_bo_cache_get_stats(*state, &stats), 0);
	assert_int_equal(stats.cached, 0);
	agate_vm_destroy(vm);
}

/* ---- Bindings ------------------------------------------------------------ */

static void test_bind(void **state)
{
	static char memory[SIZE] __attribute__((aligned(4096)));
	struct agate_vm *vm = vm_new(*state);
	struct agate_bo *bo = private_bo(vm, 0);
	const struct drm_agate_sync in = { .handle = 5, .point = 9 }, out = { .handle = 6 };
	struct agate_vm_bind bind = {
		.bo = bo, .offset = 4096, .address = ADDRESS, .size = 8192,
		.flags = AGATE_VM_BIND_READONLY | AGATE_VM_BIND_NOEXEC,
		.in_syncs = &in, .in_sync_count = 1, .out_syncs = &out, .out_sync_count = 1,
	};
	struct drm_agate_vm_bind arg;

	assert_int_equal(agate_vm_bind(vm, &bind), 0);
	arg = fake_bound();
	assert_int_equal(arg.vm_id, agate_vm_id(vm));
	assert_int_equal(arg.op, AGATE_VM_BIND_MAP);
	assert_int_equal(arg.flags, AGATE_VM_BIND_READONLY | AGATE_VM_BIND_NOEXEC);
	assert_int_equal(arg.handle, agate_bo_handle(bo));
	assert_int_equal(arg.addr, ADDRESS);
	assert_int_equal(arg.range, 8192);
	assert_int_equal(arg.offset, 4096);
	assert_ptr_equal(arg.in_syncs, &in);
	assert_ptr_equal(arg.out_syncs, &out);
	assert_int_equal(arg.in_sync_count, 1);
	assert_int_equal(arg.out_sync_count, 1);
	assert_int_equal(fake_calls(DRM_IOCTL_SYNCOBJ_CREATE), 0);

	bind = (struct agate_vm_bind){ .memory = memory, .address = ADDRESS, .size = SIZE };
	assert_int_equal(agate_vm_bind(vm, &bind), 0);
	arg = fake_bound();
	assert_int_equal(arg.op, AGATE_VM_BIND_MAP);
	assert_int_equal(arg.flags, AGATE_VM_BIND_USERPTR);
	assert_int_equal(arg.handle, 0);
	assert_ptr_equal(arg.offset, memory);

	bind = (struct agate_vm_bind){ .address = ADDRESS, .size = SIZE };
	assert_int_equal(agate_vm_unbind(vm, &bind), 0);
	arg = fake_bound();
	assert_int_equal(arg.op, AGATE_VM_BIND_UNMAP);
	assert_int_equal(arg.range, SIZE);
	agate_bo_unreference(bo);
	agate_vm_destroy(vm);
}

static void test_refused(void **state)
{
	static char memory[SIZE] __attribute__((aligned(4096)));
	struct agate_vm *vm = vm_new(*state), *other = vm_new(*state);
	struct agate_bo *bo = private_bo(vm, 0), *paged = bo_new(*state, SIZE, 0);
	const struct agate_vm_bind good = { .bo = bo, .address = ADDRESS, .size = SIZE };
	const struct agate_vm_bind gap = { .address = ADDRESS, .size = SIZE };
	struct agate_vm_bind bad[6];
	size_t i;

	for (i = 0; i < 6; i++)
		bad[i] = good;
	bad[0].memory = memory;
	bad[1].bo = NULL;
	bad[2].flags = AGATE_VM_BIND_USERPTR;
	bad[3] = (struct agate_vm_bind){ .memory = memory, .offset = 4096, .address = ADDRESS,
					 .size = 4096 };
	bad[4].in_sync_count = AGATE_SUBMIT_MAX_SYNCS + 1;
	bad[5].out_sync_count = AGATE_SUBMIT_MAX_SYNCS;
	bad[5].wait = true;
	for (i = 0; i < 6; i++)
		assert_int_equal(agate_vm_bind(vm, &bad[i]), -EINVAL);
	for (i = 0; i < 4; i++)
		bad[i] = gap;
	bad[0].bo = bo;
	bad[1].memory = memory;
	bad[2].offset = 4096;
	bad[3].flags = AGATE_VM_BIND_NOEXEC;
	for (i = 0; i < 4; i++)
		assert_int_equal(agate_vm_unbind(vm, &bad[i]), -EINVAL);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_VM_BIND), 0);

	/* These the kernel refuses. */
	assert_int_equal(agate_vm_bind(other, &good), -EPERM);
	bad[0] = good;
	bad[0].bo = paged;
	assert_int_equal(agate_vm_bind(vm, &bad[0]), -EINVAL);
	agate_bo_unreference(paged);
	agate_bo_unreference(bo);
	agate_vm_destroy(other);
	agate_vm_destroy(vm);
}

/* Its handle may be the name of another BO there. */
static void test_other_device(void **state)
{
	struct agate_vm *vm = vm_new(*state);
	struct agate_bo *bo = private_bo(vm, 0);
	struct agate_device other = { 0 };
	struct agate_bo foreign = { .dev = &other, .handle = agate_bo_handle(bo) };
	const struct agate_vm_bind bind = { .bo = &foreign, .address = ADDRESS, .size = SIZE };

	assert_int_equal(agate_vm_bind(vm, &bind), -EINVAL);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_VM_BIND), 0);
	agate_bo_unreference(bo);
	agate_vm_destroy(vm);
}

/* ---- Waiting ------------------------------------------------------------- */

static struct drm_agate_sync passed[2];
static unsigned int passed_count;

/* After the bind its array is gone. */
static void look_at_syncs(unsigned long request, enum fake_when when, void *arg)
{
	if (request == DRM_IOCTL_AGATE_VM_BIND && when == FAKE_AFTER) {
		const struct drm_agate_vm_bind *bind = arg;

		passed_count = bind->out_sync_count;
		memcpy(passed, (const void *)(uintptr_t)bind->out_syncs,
		       passed_count * sizeof(passed[0]));
	}
}

static void test_bind_and_wait(void **state)
{
	struct agate_vm *vm = vm_new(*state);
	struct agate_bo *bo = private_bo(vm, 0);
	const struct drm_agate_sync out = { .handle = 6, .point = 3 };
	const struct agate_vm_bind bind = {
		.bo = bo, .address = ADDRESS, .size = SIZE, .wait = true,
		.out_syncs = &out, .out_sync_count = 1,
	};

	fake_hook(look_at_syncs);
	assert_int_equal(agate_vm_bind(vm, &bind), 0);
	fake_hook(NULL);
	assert_int_equal(passed_count, 2);
	assert_memory_equal(&passed[0], &out, sizeof(out));
	assert_int_equal(passed[1].handle, 1);
	assert_int_equal(fake_calls(DRM_IOCTL_SYNCOBJ_WAIT), 1);
	assert_int_equal(fake_calls(DRM_IOCTL_SYNCOBJ_DESTROY), 1);
	agate_bo_unreference(bo);
	agate_vm_destroy(vm);
}

/* However it ends, the sync object goes; and nobody waits for a change that is none. */
static void test_wait_fails(void **state)
{
	static const unsigned long requests[] = {
		DRM_IOCTL_SYNCOBJ_CREATE, DRM_IOCTL_AGATE_VM_BIND, DRM_IOCTL_SYNCOBJ_WAIT,
	};
	struct agate_vm *vm = vm_new(*state);
	struct agate_bo *bo = private_bo(vm, 0);
	const struct agate_vm_bind bind = {
		.bo = bo, .address = ADDRESS, .size = SIZE, .wait = true,
	};
	size_t i;

	for (i = 0; i < sizeof(requests) / sizeof(requests[0]); i++) {
		fake_fail(requests[i], 1, ENOMEM);
		assert_int_equal(agate_vm_bind(vm, &bind), -ENOMEM);
		assert_int_equal(fake_calls(DRM_IOCTL_SYNCOBJ_DESTROY), i);
		assert_int_equal(fake_calls(DRM_IOCTL_SYNCOBJ_WAIT), i == 2);
	}
	agate_bo_unreference(bo);
	agate_vm_destroy(vm);
}

/*
 * Any job of an address space may use what is bound there, and a submission says nothing of it: so
 * the library asks the kernel whenever somebody waits, also after a wait.
 */
static void test_wait_for_bound(void **state)
{
	struct agate_vm *vm = vm_new(*state);
	struct agate_bo *bo = bo_new(*state, SIZE, AGATE_ALLOC_VRAM), *own = private_bo(vm, 0);
	struct agate_vm_bind bind = { .bo = bo, .address = ADDRESS, .size = SIZE };
	const struct agate_submit submit = { .jc = ADDRESS };

	fake_submit(record);
	assert_int_equal(agate_bo_wait(bo, 0, true), 0);
	assert_int_equal(agate_bo_wait(own, 0, true), 0);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_WAIT_BO), 0);
	assert_int_equal(agate_vm_bind(vm, &bind), 0);
	bind.bo = own;
	assert_int_equal(agate_vm_bind(vm, &bind), 0);
	assert_int_equal(agate_bo_wait(bo, 0, false), 0);
	assert_int_equal(agate_bo_wait(bo, 0, true), 0);
	assert_int_equal(agate_bo_wait(own, 0, true), 0);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_WAIT_BO), 3);
	assert_int_equal(agate_vm_submit(vm, &submit), 0);
	fake_set_busy(agate_bo_handle(bo), true);
	fake_set_busy(agate_bo_handle(own), true);
	assert_int_equal(agate_bo_wait(bo, 0, false), -EBUSY);
	assert_int_equal(agate_bo_wait(own, 0, false), -EBUSY);
	agate_bo_unreference(own);
	agate_bo_unreference(bo);
	/* Another BO in the same slot is not bound. */
	bo = bo_new(*state, SIZE, 0);
	assert_int_equal(agate_bo_wait(bo, 0, true), 0);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_WAIT_BO), 5);
	agate_bo_unreference(bo);
	agate_vm_destroy(vm);
}

/* ---- Jobs ---------------------------------------------------------------- */

static void test_submit(void **state)
{
	struct agate_vm *vm = vm_new(*state);
	struct agate_bo *bo = private_bo(vm, 0);
	const struct agate_submit_bo listed = { bo, AGATE_ACCESS_RW };
	const struct drm_agate_sync out = { .handle = 6 };
	struct agate_submit submit = {
		.jc = ADDRESS, .requirements = AGATE_JD_REQ_FS, .out_syncs = &out,
		.out_sync_count = 1,
	};

	fake_submit(record);
	assert_int_equal(agate_vm_submit(vm, &submit), 0);
	assert_int_equal(seen.vm_id, agate_vm_id(vm));
	assert_int_equal(seen.jc, ADDRESS);
	assert_int_equal(seen.requirements, AGATE_JD_REQ_FS);
	assert_int_equal(seen.bo_handle_count, 0);
	assert_ptr_equal(seen.out_syncs, &out);
	submit.bos = &listed;
	submit.bo_count = 1;
	assert_int_equal(agate_vm_submit(vm, &submit), -EINVAL);
	assert_int_equal(fake_calls(DRM_IOCTL_AGATE_SUBMIT), 1);
	/* Without an address space nothing has changed. */
	assert_int_equal(agate_submit(*state, &submit), 0);
	assert_int_equal(seen.vm_id, 0);
	agate_bo_unreference(bo);
	agate_vm_destroy(vm);
}

/* The jobs of a chain point at each other where they are bound. */
static void test_chain(void **state)
{
	struct agate_vm *vm = vm_new(*state);
	struct agate_bo *bo = private_bo(vm, 0);
	struct agate_chain chain = { .jobs = 77 };
	struct agate_chain_result result;
	struct agate_job_header header;
	void *cpu;

	assert_int_equal(agate_chain_begin(&chain, bo, 128), -EINVAL);
	assert_int_equal(agate_chain_begin_at(&chain, bo, 128, 0), -EINVAL);
	assert_int_equal(agate_chain_begin_at(&chain, bo, 128, ADDRESS + 32), -EINVAL);
	assert_int_equal(agate_chain_begin_at(&chain, bo, SIZE, ADDRESS), -EINVAL);
	assert_int_equal(chain.jobs, 77);
	assert_int_equal(agate_chain_begin_at(&chain, bo, 128, ADDRESS), 0);
	assert_int_equal(agate_chain_address(&chain), 0);
	assert_int_equal(agate_chain_null(&chain, 0), 0);
	assert_int_equal(agate_chain_null(&chain, 1), 0);
	assert_int_equal(agate_chain_address(&chain), ADDRESS);
	assert_int_equal(agate_bo_mmap(bo, &cpu), 0);
	memcpy(&header, (char *)cpu + 128, sizeof(header));
	assert_int_equal(header.next, ADDRESS + chain.last - 128);
	memcpy(&header, (char *)cpu + chain.last, sizeof(header));
	assert_int_equal(header.next, 0);
	assert_int_equal(header.dependency1, 1);
	assert_int_equal(agate_chain_check(&chain, &result), -EIO);
	assert_int_equal(result.job, 1);
	/* The GPU has come to the first one's end, and then to the end of both. */
	for (unsigned int job = 1; job <= 2; job++) {
		header.exception_status = AGATE_EXC_DONE;
		memcpy((char *)cpu + (job == 1 ? 128 : chain.last) +
		       offsetof(struct agate_job_header, exception_status),
		       &header.exception_status, sizeof(header.exception_status));
		assert_int_equal(agate_chain_check(&chain, &result), job == 1 ? -EIO : 0);
	}
	assert_int_equal(result.job, 2);
	agate_bo_unreference(bo);
	agate_vm_destroy(vm);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		with_device(test_create),
		with_device(test_older_drivers),
		with_device(test_long_running),
		with_device(test_fault_mode),
		with_device(test_create_fails),
		with_device(test_private_bo),
		with_device(test_private_bo_refused),
		with_device(test_private_bo_fails),
		with_cached_device(test_never_cached),
		with_cached_device(test_bound_never_cached),
		with_device(test_bind),
		with_device(test_refused),
		with_device(test_other_device),
		with_device(test_bind_and_wait),
		with_device(test_wait_fails),
		with_device(test_wait_for_bound),
		with_device(test_submit),
		with_device(test_chain),
	};

	return cmocka_run_group_tests_name("vm", tests, NULL, NULL);
}
