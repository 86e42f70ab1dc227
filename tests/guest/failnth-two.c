// SPDX-License-Identifier: MIT
/*
 * Every allocation fails once, where two GPUs share BOs: of the calls that lend one, take it,
 * map it and use it on both sides.
 */
#include "fail_nth.h"
#include "gpus.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define VALUE	0x2b2b

/* A BO of the first GPU, and jobs of both that work on it. */
static struct {
	int fd[2];
	struct bo bo;			/* of the first */
	struct bo theirs;		/* the same, of the second */
	struct bo jobs[2];
	struct bo copy;			/* of the second */
	int dmabuf;			/* or -1 */
	void *map;
	bool ran;
} world;

static void open_both(void)
{
	memset(&world, 0, sizeof(world));
	world.dmabuf = -1;
	for (unsigned int i = 0; i < 2; i++) {
		world.fd[i] = gpus_open(i);
		world.jobs[i] = guest_bo(world.fd[i], PAGE, 0);
	}
	world.bo = guest_bo(world.fd[0], GPUS_SIZE, 0);
	world.copy = guest_bo(world.fd[1], GPUS_SIZE, 0);
}

static void with_dmabuf(void)
{
	open_both();
	world.dmabuf = dmabuf_export(&world.bo);
}

static void with_import(void)
{
	open_both();
	world.theirs = gpus_import(world.fd[1], &world.bo);
	gpus_fill_job(&world.jobs[0], 0, &world.bo, VALUE);
	gpus_copy_job(&world.jobs[1], 0, 0, &world.copy, 0, &world.theirs);
}

static void close_both(void)
{
	if (world.ran)
		gpus_check_words(world.copy.cpu, VALUE);
	if (world.map)
		munmap(world.map, GPUS_SIZE);
	if (world.dmabuf >= 0)
		close(world.dmabuf);
	munmap(world.copy.cpu, world.copy.size);
	munmap(world.bo.cpu, world.bo.size);
	for (unsigned int i = 0; i < 2; i++) {
		munmap(world.jobs[i].cpu, world.jobs[i].size);
		close(world.fd[i]);
	}
	gpus_nothing_left(NULL);
}

/* ---- Calls ------------------------------------------------------------- */

/*
 * When the core cannot say which descriptor it has made, the file is there all the same, with
 * the lowest free number.
 */
static int export_from(int fd, uint32_t handle)
{
	int next = dup(fd), err;

	close(next);
	err = dmabuf_try_export(fd, handle, DRM_RDWR, &world.dmabuf);
	if (err == EFAULT)
		close(next);
	return err;
}

/* Both sides of giving a BO away; what got a handle goes with its file. */
static int call_give(void)
{
	uint32_t handle;
	int err = export_from(world.fd[0], world.bo.handle);

	return err ? err : dmabuf_try_import(world.fd[1], world.dmabuf, &handle);
}

static int call_take(void)
{
	uint32_t handle;

	return dmabuf_try_import(world.fd[1], world.dmabuf, &handle);
}

static int call_take_and_map(void)
{
	struct drm_agate_mmap_bo arg = { 0 };
	int err = dmabuf_try_import(world.fd[1], world.dmabuf, &arg.handle);
	void *cpu;

	if (!err)
		err = guest_ioctl(world.fd[1], DRM_IOCTL_AGATE_MMAP_BO, &arg);
	if (err)
		return err;
	cpu = mmap(NULL, GPUS_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, world.fd[1],
		   (off_t)arg.offset);
	if (cpu == MAP_FAILED)
		return errno;
	world.map = cpu;
	return 0;
}

/* The second GPU gives the BO back to a file of the first that does not know it yet. */
static int call_give_back(void)
{
	uint32_t handle;
	int err = export_from(world.fd[1], world.theirs.handle), fd;

	if (err)
		return err;
	fd = gpus_try_open(0);
	/* A GPU that cannot be opened is not found. */
	if (fd < 0)
		return ENOMEM;
	err = dmabuf_try_import(fd, world.dmabuf, &handle);
	close(fd);
	return err;
}

/* The second GPU has never used the BO: its first job maps it. */
static int call_use(void)
{
	const uint32_t handles[] = { world.jobs[1].handle, world.theirs.handle, world.copy.handle };
	int err = guest_submit(world.fd[1], world.jobs[1].va, 0, handles, 3, 0);

	return err ? err : guest_wait(world.fd[1], world.copy.handle, FOREVER);
}

/* The first GPU draws, and the second one waits for that and copies: a SUBMIT of each. */
static int call_use_both(void)
{
	int err = gpus_submit(&world.jobs[0], 0, &world.bo, AGATE_SUBMIT_BO_WRITE, 0);

	if (!err)
		err = call_use();
	world.ran = !err;
	return err;
}

/* ---- Tests ------------------------------------------------------------- */

#define TEST(name, needs)							\
	static void fail_##name(void **state)					\
	{									\
		const struct fail_nth_call it = { #name, needs, call_##name, close_both }; \
										\
		(void)state;							\
		fail_nth_each(&it);						\
	}

TEST(give, open_both)
TEST(take, with_dmabuf)
TEST(take_and_map, with_dmabuf)
TEST(give_back, with_import)
TEST(use, with_import)
TEST(use_both, with_import)

/* After all that both still work, and together. */
static void still_work(void **state)
{
	(void)state;
	with_import();
	assert_int_equal(call_use_both(), 0);
	close_both();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fail_give),
		cmocka_unit_test(fail_take),
		cmocka_unit_test(fail_take_and_map),
		cmocka_unit_test(fail_give_back),
		cmocka_unit_test(fail_use),
		cmocka_unit_test(fail_use_both),
		cmocka_unit_test(still_work),
	};

	/* All allocations, or those of one turn. */
	if (argc > 1)
		fail_nth_take_turn(atoi(argv[1]));
	return cmocka_run_group_tests_name("failnth-two", tests, NULL, NULL);
}
