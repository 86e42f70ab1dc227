// SPDX-License-Identifier: MIT
/*
 * The uAPI's error contract, second half: GET_PARAM and SUBMIT.
 *
 * A submit that fails changes nothing: the BO is idle at once, no sync object
 * is signalled, and nothing is left.
 */
#include "guest.h"

#include <stdlib.h>
#include <unistd.h>

#define NO_HANDLE	0x7fffffffu
#define MAGIC		0x1122334455667788ull

static int get_param(int fd, uint32_t param, uint32_t pad, uint64_t *value)
{
	struct drm_agate_get_param arg = { .param = param, .pad = pad };
	int err = guest_ioctl(fd, DRM_IOCTL_AGATE_GET_PARAM, &arg);

	*value = arg.value;
	return err;
}

static void get_params(void **state)
{
	int fd = guest_open();
	uint64_t value;

	(void)state;
	assert_int_equal(get_param(fd, DRM_AGATE_PARAM_GPU_ID, 0, &value), 0);
	assert_int_equal(value >> 16, AGATE_PRODUCT_MIDGARD);
	assert_int_equal(get_param(fd, DRM_AGATE_PARAM_SHADER_PRESENT, 0, &value), 0);
	assert_int_equal(value, 0xf);
	assert_int_equal(get_param(fd, DRM_AGATE_PARAM_AS_PRESENT, 0, &value), 0);
	assert_int_equal(value, 0xff);
	assert_int_equal(get_param(fd, DRM_AGATE_PARAM_JS_PRESENT, 0, &value), 0);
	assert_int_equal(value, 0x7);
	assert_int_equal(get_param(fd, DRM_AGATE_PARAM_MMU_FEATURES, 0, &value), 0);
	assert_int_equal(value & 0xffff, 0x2830);
	assert_int_equal(get_param(fd, DRM_AGATE_PARAM_GPU_ID, 1, &value), EINVAL);
	assert_int_equal(get_param(fd, DRM_AGATE_PARAM_FEATURES + 1, 0, &value), EINVAL);
	assert_int_equal(get_param(fd, UINT32_MAX, 0, &value), EINVAL);
	close(fd);
}

/* A BO with one valid WRITE_VALUE job, and a valid submit of it for the tests to break. */
struct rig {
	int fd;
	struct bo bo;
	uint32_t handles[2];
	struct drm_agate_sync sync;
	struct drm_agate_submit arg;
};

static uint32_t new_syncobj(int fd)
{
	struct drm_syncobj_create arg = { 0 };

	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_CREATE, &arg), 0);
	return arg.handle;
}

static struct rig rig_open(void)
{
	struct rig rig = { .fd = guest_open() };

	rig.bo = guest_bo(rig.fd, PAGE, 0);
	guest_job_write64(&rig.bo, 0, 0, rig.bo.va + 2048, MAGIC);
	rig.handles[0] = rig.bo.handle;
	rig.sync.handle = new_syncobj(rig.fd);
	rig.arg = (struct drm_agate_submit){
		.jc = rig.bo.va,
		.bo_handle_count = 1,
	};
	return rig;
}

static int rig_submit(struct rig *rig)
{
	struct drm_agate_submit arg = rig->arg;

	if (!arg.bo_handles)
		arg.bo_handles = (uintptr_t)rig->handles;
	return guest_ioctl(rig->fd, DRM_IOCTL_AGATE_SUBMIT, &arg);
}

static void rig_close(struct rig *rig)
{
	assert_int_equal(guest_wait(rig->fd, rig->bo.handle, 0), 0);
	assert_int_equal(*(uint64_t *)((char *)rig->bo.cpu + 2048), 0);
	rig->arg = (struct drm_agate_submit){ .jc = rig->bo.va, .bo_handle_count = 1 };
	assert_int_equal(rig_submit(rig), 0);
	assert_int_equal(guest_wait(rig->fd, rig->bo.handle, FOREVER), 0);
	assert_int_equal(*(uint64_t *)((char *)rig->bo.cpu + 2048), MAGIC);
	guest_destroy(&rig->bo);
	close(rig->fd);
}

static void bad_chain_addresses(void **state)
{
	struct rig rig = rig_open();

	(void)state;
	rig.arg.jc = 0;
	assert_int_equal(rig_submit(&rig), EINVAL);
	rig.arg.jc = rig.bo.va + 32;
	assert_int_equal(rig_submit(&rig), EINVAL);
	rig.arg.jc = rig.bo.va + 1;
	assert_int_equal(rig_submit(&rig), EINVAL);
	rig_close(&rig);
}

static void bad_requirements(void **state)
{
	struct rig rig = rig_open();

	(void)state;
	for (unsigned int bit = 2; bit < 32; bit++) {
		rig.arg.requirements = 1u << bit;
		assert_int_equal(rig_submit(&rig), EINVAL);
	}
	rig_close(&rig);
}

/* So many that one more would be too many for lockdep to count their reservations. */
static void as_many_bos_as_allowed(void **state)
{
	static uint32_t handles[AGATE_SUBMIT_MAX_BOS + 1];
	struct rig rig = rig_open();

	(void)state;
	handles[0] = rig.bo.handle;
	for (uint32_t i = 1; i <= AGATE_SUBMIT_MAX_BOS; i++) {
		struct bo bo;

		assert_int_equal(guest_create(rig.fd, PAGE, 0, &bo), 0);
		handles[i] = bo.handle;
	}
	rig.arg.bo_handles = (uintptr_t)handles;
	rig.arg.bo_handle_count = AGATE_SUBMIT_MAX_BOS + 1;
	assert_int_equal(rig_submit(&rig), EINVAL);
	rig.arg.bo_handle_count = AGATE_SUBMIT_MAX_BOS;
	assert_int_equal(rig_submit(&rig), 0);
	assert_int_equal(guest_wait(rig.fd, rig.bo.handle, FOREVER), 0);
	assert_int_equal(*(uint64_t *)((char *)rig.bo.cpu + 2048), MAGIC);
	guest_destroy(&rig.bo);
	close(rig.fd);
}

static void bad_bo_lists(void **state)
{
	struct rig rig = rig_open();

	(void)state;
	rig.handles[1] = rig.bo.handle;
	rig.arg.bo_handle_count = 2;
	assert_int_equal(rig_submit(&rig), EINVAL);
	rig.handles[1] = NO_HANDLE;
	assert_int_equal(rig_submit(&rig), ENOENT);
	rig.handles[1] = 0;
	assert_int_equal(rig_submit(&rig), ENOENT);
	rig.arg.bo_handle_count = AGATE_SUBMIT_MAX_BOS + 1;
	assert_int_equal(rig_submit(&rig), EINVAL);
	rig.arg.bo_handle_count = UINT32_MAX;
	assert_int_equal(rig_submit(&rig), EINVAL);
	rig.arg.bo_handle_count = 1;
	rig.arg.bo_handles = 8;
	assert_int_equal(rig_submit(&rig), EFAULT);
	rig.arg.bo_handles = UINT64_MAX - 3;
	assert_int_equal(rig_submit(&rig), EFAULT);
	rig.arg.bo_handles = 0;
	rig_close(&rig);
}

static void bad_bo_flags(void **state)
{
	struct rig rig = rig_open();
	uint32_t flags;

	(void)state;
	rig.arg.bo_flags = (uintptr_t)&flags;
	for (unsigned int bit = 3; bit < 32; bit++) {
		flags = AGATE_SUBMIT_BO_WRITE | 1u << bit;
		assert_int_equal(rig_submit(&rig), EINVAL);
	}
	flags = 0;
	assert_int_equal(rig_submit(&rig), EINVAL);
	flags = AGATE_SUBMIT_BO_NO_IMPLICIT;
	assert_int_equal(rig_submit(&rig), EINVAL);
	rig.arg.bo_flags = 8;
	assert_int_equal(rig_submit(&rig), EFAULT);
	rig_close(&rig);
}

/* The struct of version 1.0, and something behind it that a driver must not read. */
static void older_struct(void **state)
{
	struct older {
		char begin[offsetof(struct drm_agate_submit, bo_flags)];
	};
	struct {
		struct older arg;
		uint64_t behind;
	} old = { .behind = 8 };
	struct rig rig = rig_open();

	(void)state;
	rig.arg.bo_handles = (uintptr_t)rig.handles;
	memcpy(&old.arg, &rig.arg, sizeof(old.arg));
	assert_int_equal(guest_ioctl(rig.fd, DRM_IOW(DRM_COMMAND_BASE + DRM_AGATE_SUBMIT,
						     struct older), &old), 0);
	assert_int_equal(guest_wait(rig.fd, rig.bo.handle, FOREVER), 0);
	assert_int_equal(*(uint64_t *)((char *)rig.bo.cpu + 2048), MAGIC);
	guest_destroy(&rig.bo);
	close(rig.fd);
}

static void version(void **state)
{
	struct drm_version arg = { 0 };
	int fd = guest_open();

	(void)state;
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_VERSION, &arg), 0);
	assert_int_equal(arg.version_major, AGATE_DRM_MAJOR);
	assert_int_equal(arg.version_minor, AGATE_DRM_MINOR);
	close(fd);
}

static void bad_syncs(void **state)
{
	struct rig rig = rig_open();
	uint64_t good = (uintptr_t)&rig.sync;
	uint32_t handle = rig.sync.handle;

	(void)state;
	for (int out = 0; out < 2; out++) {
		__u64 *array = out ? &rig.arg.out_syncs : &rig.arg.in_syncs;
		__u32 *count = out ? &rig.arg.out_sync_count : &rig.arg.in_sync_count;

		*array = good;
		*count = AGATE_SUBMIT_MAX_SYNCS + 1;
		assert_int_equal(rig_submit(&rig), EINVAL);
		*count = UINT32_MAX;
		assert_int_equal(rig_submit(&rig), EINVAL);
		*count = 1;
		*array = 8;
		assert_int_equal(rig_submit(&rig), EFAULT);
		*array = good;
		rig.sync.pad = 1;
		assert_int_equal(rig_submit(&rig), EINVAL);
		rig.sync.pad = 0;
		rig.sync.handle = NO_HANDLE;
		assert_int_equal(rig_submit(&rig), ENOENT);
		rig.sync.handle = handle;
		*count = 0;
	}
	/* The driver refuses an in-sync that nothing will ever signal. */
	rig.arg.in_syncs = good;
	rig.arg.in_sync_count = 1;
	assert_int_equal(rig_submit(&rig), EINVAL);
	rig_close(&rig);
}

/* A job cannot list the BO of another file. */
static void foreign_handle(void **state)
{
	struct rig rig = rig_open();
	int other = guest_open();
	struct bo bo[8];

	(void)state;
	for (int i = 0; i < 8; i++)
		assert_int_equal(guest_create(other, PAGE, 0, &bo[i]), 0);
	rig.handles[0] = bo[7].handle;
	assert_int_equal(rig_submit(&rig), ENOENT);
	rig.handles[0] = rig.bo.handle;
	close(other);
	rig_close(&rig);
}

/* A GPU without a card has no address spaces but each file's own one. */
static void no_address_spaces(void **state)
{
	struct rig rig = rig_open();
	struct drm_agate_create_bo create = { .size = PAGE, .vm_id = 1 };
	struct drm_agate_vm_create begin = { 0 };
	struct drm_agate_vm_destroy end = { .vm_id = 1 };
	struct drm_agate_vm_bind bind = {
		.vm_id = 1, .op = AGATE_VM_BIND_UNMAP, .addr = 1u << 30, .range = PAGE,
	};
	uint64_t features;

	(void)state;
	assert_int_equal(get_param(rig.fd, DRM_AGATE_PARAM_FEATURES, 0, &features), 0);
	assert_false(features & AGATE_FEATURE_VM_BIND);
	assert_int_equal(guest_ioctl(rig.fd, DRM_IOCTL_AGATE_VM_CREATE, &begin), EOPNOTSUPP);
	assert_int_equal(guest_ioctl(rig.fd, DRM_IOCTL_AGATE_VM_DESTROY, &end), EOPNOTSUPP);
	assert_int_equal(guest_ioctl(rig.fd, DRM_IOCTL_AGATE_VM_BIND, &bind), EOPNOTSUPP);
	assert_int_equal(guest_ioctl(rig.fd, DRM_IOCTL_AGATE_CREATE_BO, &create), EINVAL);
	rig.arg.bo_handle_count = 0;
	rig.arg.vm_id = 1;
	assert_int_equal(guest_ioctl(rig.fd, DRM_IOCTL_AGATE_SUBMIT, &rig.arg), ENOENT);
	rig_close(&rig);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(get_params, guest_teardown),
		cmocka_unit_test_teardown(bad_chain_addresses, guest_teardown),
		cmocka_unit_test_teardown(bad_requirements, guest_teardown),
		cmocka_unit_test_teardown(bad_bo_lists, guest_teardown),
		cmocka_unit_test_teardown(bad_bo_flags, guest_teardown),
		cmocka_unit_test_teardown(older_struct, guest_teardown),
		cmocka_unit_test_teardown(version, guest_teardown),
		cmocka_unit_test_teardown(as_many_bos_as_allowed, guest_teardown),
		cmocka_unit_test_teardown(bad_syncs, guest_teardown),
		cmocka_unit_test_teardown(foreign_handle, guest_teardown),
		cmocka_unit_test_teardown(no_address_spaces, guest_teardown),
	};

	return cmocka_run_group_tests_name("uapi-submit", tests, NULL, NULL);
}
