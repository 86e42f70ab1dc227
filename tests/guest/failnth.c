// SPDX-License-Identifier: MIT
/*
 * Every allocation fails once: the debug kernel's fault injection, call by call.
 *
 * For each kind of call, the test makes its first allocation fail, then its second,
 * and so on until the call succeeds.  Each failed call must return an errno for
 * lack of memory, leave nothing behind, and leave a working device.
 */
#include "guest.h"

#include "dmabuf.h"
#include "fail_nth.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* One call under test: returns 0 or an errno, and leaves in *world what must be undone. */
struct world {
	int fd;
	struct bo bo;		/* holds a job; its page was touched */
	struct bo fresh;
	void *map;		/* a second map of bo */
	bool ran;		/* the job was submitted and waited for */
	int dmabuf;		/* of bo, or -1 */
};

typedef int (*call_fn)(struct world *world);

static void world_open(struct world *world)
{
	*world = (struct world){ .fd = guest_open(), .dmabuf = -1 };
	world->bo = guest_bo(world->fd, 4 * PAGE, 0);
	guest_job_write64(&world->bo, 0, 0, world->bo.va + 2048, 1);
}

static void world_close(struct world *world)
{
	if (world->map)
		munmap(world->map, world->bo.size);
	munmap(world->bo.cpu, world->bo.size);
	if (world->dmabuf >= 0)
		close(world->dmabuf);
	close(world->fd);
}

static void still_works(void)
{
	int fd = guest_open();
	struct bo bo = guest_bo(fd, PAGE, 0);

	guest_job_write64(&bo, 0, 0, bo.va + 2048, 77);
	assert_int_equal(guest_submit(fd, bo.va, 0, &bo.handle, 1, 0), 0);
	assert_int_equal(guest_wait(fd, bo.handle, FOREVER), 0);
	assert_int_equal(*(volatile uint64_t *)((char *)bo.cpu + 2048), 77);
	guest_destroy(&bo);
	close(fd);
}

/* The call under test, and what it works on. */
static call_fn subject;
static struct world the_world;

static void before(void)
{
	world_open(&the_world);
}

static int call(void)
{
	return subject(&the_world);
}

static void after(void)
{
	if (the_world.ran)
		assert_int_equal(*(volatile uint64_t *)((char *)the_world.bo.cpu + 2048), 1);
	world_close(&the_world);
	guest_assert_nothing_left();
}

static void every_allocation(const char *name, call_fn fn)
{
	const struct fail_nth_call it = { name, before, call, after };

	subject = fn;
	fail_nth_each(&it);
	still_works();
}

static int call_open(struct world *world)
{
	int fd = guest_try_open();

	(void)world;
	/* guest_try_open() does not find a render node that it cannot open. */
	if (fd < 0)
		return errno == ENOENT ? ENOMEM : errno;
	close(fd);
	return 0;
}

static int call_create(struct world *world)
{
	return guest_create(world->fd, 8 * PAGE, 0, &world->fresh);
}

static int call_create_heap(struct world *world)
{
	return guest_create(world->fd, 4u << 20, AGATE_BO_HEAP | AGATE_BO_NOEXEC, &world->fresh);
}

static int call_create_contiguous(struct world *world)
{
	return guest_create(world->fd, 8 * PAGE, AGATE_BO_CONTIGUOUS, &world->fresh);
}

static int call_label(struct world *world)
{
	struct drm_agate_set_label arg = {
		.handle = world->bo.handle, .len = 5, .label = (uintptr_t)"label",
	};

	return guest_ioctl(world->fd, DRM_IOCTL_AGATE_SET_LABEL, &arg);
}

static int call_mmap(struct world *world)
{
	struct drm_agate_mmap_bo arg = { .handle = world->bo.handle };
	int err = guest_ioctl(world->fd, DRM_IOCTL_AGATE_MMAP_BO, &arg);
	void *cpu;

	if (err)
		return err;
	cpu = mmap(NULL, world->bo.size, PROT_READ | PROT_WRITE, MAP_SHARED, world->fd,
		   (off_t)arg.offset);
	if (cpu == MAP_FAILED)
		return errno;
	world->map = cpu;	/* unmap it later: munmap() may fail, too */
	return 0;
}

/* One BO has its pages already; the submit allocates the other one's. */
static int call_submit(struct world *world)
{
	uint32_t handles[2];
	int err;

	err = guest_create(world->fd, 4 * PAGE, AGATE_BO_NOEXEC, &world->fresh);
	if (err)
		return err;
	handles[0] = world->bo.handle;
	handles[1] = world->fresh.handle;
	err = guest_submit(world->fd, world->bo.va, 0, handles, 2, 0);
	if (err)
		return err;
	err = guest_wait(world->fd, world->bo.handle, FOREVER);
	world->ran = !err;
	return err;
}

static int call_submit_syncs(struct world *world)
{
	struct drm_syncobj_create create = { 0 };
	struct drm_syncobj_destroy destroy = { 0 };
	struct drm_agate_sync out = { .point = 3 };
	struct drm_agate_submit arg = {
		.jc = world->bo.va, .bo_handles = (uintptr_t)&world->bo.handle,
		.bo_handle_count = 1, .out_syncs = (uintptr_t)&out, .out_sync_count = 1,
	};
	int err = guest_ioctl(world->fd, DRM_IOCTL_SYNCOBJ_CREATE, &create);

	if (err)
		return err;
	out.handle = create.handle;
	err = guest_ioctl(world->fd, DRM_IOCTL_AGATE_SUBMIT, &arg);
	if (!err) {
		err = guest_wait(world->fd, world->bo.handle, FOREVER);
		world->ran = !err;
	}
	destroy.handle = create.handle;
	guest_ioctl(world->fd, DRM_IOCTL_SYNCOBJ_DESTROY, &destroy);
	return err;
}

/*
 * When the core cannot say which descriptor it has made, the file is there all the same, with
 * the lowest free number.
 */
static int call_export(struct world *world)
{
	int next = dup(world->fd), err;

	close(next);
	err = dmabuf_try_export(world->fd, world->bo.handle, DRM_RDWR, &world->dmabuf);
	if (err == EFAULT)
		close(next);
	return err;
}

static int call_map_dmabuf(struct world *world)
{
	int err = call_export(world);
	void *cpu;

	if (err)
		return err;
	cpu = mmap(NULL, world->bo.size, PROT_READ | PROT_WRITE, MAP_SHARED, world->dmabuf, 0);
	if (cpu == MAP_FAILED)
		return errno;
	world->map = cpu;
	return 0;
}

static int stranger;	/* a dma-buf of another driver, or that driver's device */

static int call_import(struct world *world)
{
	uint32_t handle;

	return dmabuf_try_import(world->fd, stranger, &handle);
}

/* Another driver pins the BO, and maps it; as above, the handle may be there, and is 1. */
static int call_lend(struct world *world)
{
	int err = call_export(world);
	uint32_t handle;

	if (err)
		return err;
	err = dmabuf_try_import(stranger, world->dmabuf, &handle);
	if (err == EFAULT)
		guest_close_handle(stranger, 1);
	/* The close may be the call that fails: then the handle is still there. */
	if (!err && guest_close_handle(stranger, handle))
		assert_int_equal(guest_close_handle(stranger, handle), 0);
	return err;
}

#define TEST(name)							\
	static void fail_##name(void **state)				\
	{								\
		(void)state;						\
		every_allocation(#name, call_##name);			\
	}

TEST(open)
TEST(create)
TEST(create_heap)
TEST(create_contiguous)
TEST(export)
TEST(map_dmabuf)
TEST(label)
TEST(mmap)
TEST(submit)
TEST(submit_syncs)

static void fail_import(void **state)
{
	void *cpu = NULL;

	(void)state;
	stranger = dmabuf_of_memory(8 * PAGE, &cpu);
	every_allocation("import", call_import);
	close(stranger);
	munmap(cpu, 8 * PAGE);
}

static void fail_lend(void **state)
{
	(void)state;
	stranger = stranger_open("vgem");
	every_allocation("lend", call_lend);
	close(stranger);
	stranger_unload("vgem");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(fail_open, guest_teardown),
		cmocka_unit_test_teardown(fail_create, guest_teardown),
		cmocka_unit_test_teardown(fail_create_heap, guest_teardown),
		cmocka_unit_test_teardown(fail_create_contiguous, guest_teardown),
		cmocka_unit_test_teardown(fail_label, guest_teardown),
		cmocka_unit_test_teardown(fail_mmap, guest_teardown),
		cmocka_unit_test_teardown(fail_submit, guest_teardown),
		cmocka_unit_test_teardown(fail_submit_syncs, guest_teardown),
		cmocka_unit_test_teardown(fail_export, guest_teardown),
		cmocka_unit_test_teardown(fail_map_dmabuf, guest_teardown),
		cmocka_unit_test_teardown(fail_import, guest_teardown),
		cmocka_unit_test_teardown(fail_lend, guest_teardown),
	};

	/* All allocations, or those of one turn. */
	if (argc > 1)
		fail_nth_take_turn(atoi(argv[1]));
	return cmocka_run_group_tests_name("failnth", tests, NULL, NULL);
}
