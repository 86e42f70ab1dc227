// SPDX-License-Identifier: MIT
/*
 * Memory of a process in an address space whose owner chooses the ranges: what the GPU sees of
 * it, and what VM_BIND refuses.
 */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "user_memory.h"

/* The argument with which the program runs itself. */
#define AFTER_EXEC	"--after-exec"

static void both_see_it(void **state)
{
	struct space space = space_on(guest_open());
	uint64_t *at = memory(MIB);

	(void)state;
	at[3] = 0x77;
	user_map(&space, at, AREA, MIB);
	space_holds(&space, AREA + 24, 0x77);
	assert_int_equal(space_fill(&space, AREA + BLOCK, BLOCK, 0x1234), 1);
	assert_int_equal(at[BLOCK / 8], 0x1234);
	assert_int_equal(at[2 * BLOCK / 8 - 1], 0x1234);
	assert_int_equal(at[BLOCK / 8 - 1], 0);
	assert_int_equal(at[2 * BLOCK / 8], 0);
	/* Nobody makes the entries again for what the CPU writes. */
	at[4] = 0x78;
	space_holds(&space, AREA + 32, 0x78);
	space_unmap(&space, AREA, MIB);
	space_is_hole(&space, AREA);
	space_end(&space);
	close(space.fd);
	munmap(at, MIB);
	guest_assert_nothing_left();
}

/* The GPU may not write, and neither need the process. */
static void readonly(void **state)
{
	struct space space = space_on(guest_open());
	uint64_t *at = memory(4 * PAGE);

	(void)state;
	at[0] = 5;
	assert_int_equal(mprotect(at, 4 * PAGE, PROT_READ), 0);
	assert_int_equal(space_bind(&space, user_part(at, AREA, 4 * PAGE, 0), 0, 0), EFAULT);
	assert_int_equal(space_bind(&space, user_part(at, AREA, 4 * PAGE, AGATE_VM_BIND_READONLY),
				    0, 0), 0);
	space_holds(&space, AREA, 5);
	assert_int_equal(space_fill(&space, AREA, 8, 6), -EINVAL);
	assert_int_equal(at[0], 5);
	/* A page that nobody has written yet is everybody's zeros, until somebody does. */
	space_holds(&space, AREA + 2 * PAGE, 0);
	assert_int_equal(mprotect(at, 4 * PAGE, PROT_READ | PROT_WRITE), 0);
	at[2 * PAGE / 8] = 9;
	space_holds(&space, AREA + 2 * PAGE, 9);
	space_end(&space);
	close(space.fd);
	munmap(at, 4 * PAGE);
	guest_assert_nothing_left();
}

/* The middle of a binding goes, a BO comes there, and each part keeps its own pages. */
static void parts(void **state)
{
	struct space space = space_on(guest_open());
	struct bo bo = space_bo(&space, BLOCK, SYSTEM);
	uint64_t *at = memory(8 * MIB);

	(void)state;
	for (uint64_t i = 0; i < 8 * MIB; i += BLOCK)
		at[i / 8] = i + 1;
	user_map(&space, at, AREA, 8 * MIB);
	space_holds(&space, AREA + 5 * MIB, 5 * MIB + 1);
	space_unmap(&space, AREA + MIB, 3 * MIB);
	space_map(&space, &bo, AREA + 2 * MIB);
	space_holds(&space, AREA + 2 * MIB, 0);
	/* Both parts lose their pages, and get others. */
	assert_int_equal(madvise(at, 8 * MIB, MADV_DONTNEED), 0);
	for (uint64_t i = 0; i < 8 * MIB; i += BLOCK)
		at[i / 8] = i + 2;
	for (uint64_t i = 0; i < 8 * MIB; i += 4 * BLOCK) {
		if (i < MIB || i >= 4 * MIB)
			space_holds(&space, AREA + i, i + 2);
	}
	space_is_hole(&space, AREA + MIB);
	space_is_hole(&space, AREA + 4 * MIB - 8);
	/* Memory that is bound no more may go, at the ends. */
	space_unmap(&space, AREA + 7 * MIB, MIB);
	munmap(at + 7 * MIB / 8, MIB);
	space_holds(&space, AREA + 6 * MIB, 6 * MIB + 2);
	guest_destroy(&bo);
	space_end(&space);
	close(space.fd);
	munmap(at, 7 * MIB);
	guest_assert_nothing_left();
}

/* The same memory at two addresses, over a BO, and beside it. */
static void over_others(void **state)
{
	struct space space = space_on(guest_open());
	struct bo bo = space_bo(&space, 4 * MIB, VRAM);
	uint64_t *at = memory(MIB);

	(void)state;
	space_map(&space, &bo, AREA);
	assert_int_equal(space_fill(&space, AREA, 4 * MIB, 0xb0), 1);
	user_map(&space, at, AREA + MIB, MIB);
	user_map(&space, at, AREA + 8 * MIB, MIB);
	space_holds(&space, AREA + MIB - 8, 0xb0);
	space_holds(&space, AREA + MIB, 0);
	space_holds(&space, AREA + 2 * MIB, 0xb0);
	assert_int_equal(space_fill(&space, AREA + MIB, 8, 0xa), 1);
	space_holds(&space, AREA + 8 * MIB, 0xa);
	space_map(&space, &bo, AREA);
	space_holds(&space, AREA + MIB, 0xb0);
	space_holds(&space, AREA + 8 * MIB, 0xa);
	assert_int_equal(at[0], 0xa);
	guest_destroy(&bo);
	space_end(&space);
	close(space.fd);
	munmap(at, MIB);
	guest_assert_nothing_left();
}

/* ---- What is refused --------------------------------------------------------------- */

static void refuses(void **state)
{
	struct space space = space_on(guest_open());
	struct bo bo = space_bo(&space, BLOCK, SYSTEM), visible = guest_bo(space.fd, BLOCK, 0);
	uint64_t *at = memory(2 * BLOCK);
	const struct drm_agate_vm_bind good = user_part(at, AREA, BLOCK, 0);
	struct drm_agate_vm_bind arg;

	(void)state;
#define REFUSED(error, change) do {						\
		arg = good;							\
		change;								\
		assert_int_equal(space_bind(&space, arg, 0, 0), error);		\
	} while (0)
	REFUSED(EINVAL, arg.handle = bo.handle);
	REFUSED(EINVAL, arg.flags |= 1u << 3);
	REFUSED(EINVAL, arg.op = AGATE_VM_BIND_UNMAP);
	REFUSED(EINVAL, arg.offset += 8);
	REFUSED(EINVAL, arg.offset = -(uint64_t)PAGE);
	REFUSED(EINVAL, arg.range = 0);
	REFUSED(EINVAL, arg.range = 1ull << 32);
	REFUSED(EFAULT, arg.offset = 0);
	REFUSED(EFAULT, arg.offset = 0xffff888000000000ull);
	REFUSED(EFAULT, arg.offset = 1ull << 62);
	munmap((char *)at + BLOCK, BLOCK);
	REFUSED(EFAULT, arg.range = 2 * BLOCK);
	/* Memory of a BO that the driver maps has no pages of the process. */
	REFUSED(EFAULT, arg.offset = (uintptr_t)visible.cpu);
#undef REFUSED
	space_is_hole(&space, AREA);
	guest_destroy(&bo);
	guest_destroy(&visible);
	space_end(&space);
	close(space.fd);
	munmap(at, BLOCK);
	guest_assert_nothing_left();
}

/* A call that fails for another reason leaves nothing, and what was bound stays. */
static void changes_nothing(void **state)
{
	struct space space = space_on(guest_open());
	uint64_t *at = memory(2 * BLOCK);

	(void)state;
	at[0] = 1;
	at[BLOCK / 8] = 2;
	user_map(&space, at, AREA, BLOCK);
	assert_int_equal(space_bind(&space, user_part(at, AREA, 2 * BLOCK, 0), 4711, 0), ENOENT);
	munmap((char *)at + BLOCK, BLOCK);
	assert_int_equal(space_bind(&space, user_part(at, AREA, 2 * BLOCK, 0), 0, 0), EFAULT);
	space_holds(&space, AREA, 1);
	space_is_hole(&space, AREA + BLOCK);
	space_end(&space);
	close(space.fd);
	munmap(at, BLOCK);
	guest_assert_nothing_left();
}

#define MOST	2000u

/* Each page once: the debug kernel complains of a page that is mapped for DMA more than seven times. */
static void too_many(void **state)
{
	struct space space = space_on(guest_open());
	uint64_t *at = memory((MOST + 1) * PAGE);

	(void)state;
	for (uint64_t i = 0; i < MOST; i++)
		user_map(&space, at + i * PAGE / 8, AREA + i * PAGE, PAGE);
	assert_int_equal(space_bind(&space, user_part(at + MOST * PAGE / 8,
							  AREA + MOST * PAGE, PAGE, 0), 0, 0),
			 ENOSPC);
	at[0] = 3;
	at[(MOST - 1) * PAGE / 8] = 4;
	space_holds(&space, AREA + (MOST - 1) * PAGE, 4);
	space_unmap(&space, AREA, MOST / 2 * PAGE);
	user_map(&space, at, AREA, PAGE);
	space_holds(&space, AREA, 3);
	space_end(&space);
	close(space.fd);
	munmap(at, (MOST + 1) * PAGE);
	guest_assert_nothing_left();
}

/* Memory of another process: a child has the file, and a copy of the memory. */
static void other_process(void **state)
{
	struct space space = space_on(guest_open());
	uint64_t *at = memory(BLOCK);
	int status;
	pid_t pid;

	(void)state;
	at[0] = 11;
	user_map(&space, at, AREA, BLOCK);
	pid = fork();
	if (!pid)
		_exit(refused_submit(&space) == EPERM ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	space_holds(&space, AREA, 11);
	space_end(&space);
	close(space.fd);
	munmap(at, BLOCK);
	guest_assert_nothing_left();
}

/* Where chains may run for ever, a worker looks for the memory, and so for one process's alone. */
static void other_process_long(void **state)
{
	struct space space = space_with(guest_open(), AGATE_VM_LONG_RUNNING);
	uint64_t *at = memory(BLOCK);
	int status;
	pid_t pid;

	(void)state;
	user_map(&space, at, AREA, BLOCK);
	pid = fork();
	if (!pid)
		_exit(refused_submit(&space) != EPERM ||
		      space_bind(&space, user_part(at, AREA + MIB, BLOCK, 0), 0, 0) != EPERM);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	assert_int_equal(refused_submit(&space), 0);
	space_end(&space);
	close(space.fd);
	munmap(at, BLOCK);
	guest_assert_nothing_left();
}

static int submit_after_exec(char *argv[])
{
	struct drm_agate_submit arg = { .jc = JOBS_VA, .vm_id = (uint32_t)atoi(argv[1]) };

	return guest_ioctl_once(atoi(argv[0]), DRM_IOCTL_AGATE_SUBMIT, &arg);
}

/* The process that bound it has other memory: exec() took all away. */
static void after_exec(void **state)
{
	static const uint32_t flags[] = { 0, AGATE_VM_LONG_RUNNING };
	int status;

	(void)state;
	for (unsigned int i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		pid_t pid = fork();

		if (!pid) {
			struct space space = space_with(guest_open(), flags[i]);
			char fd[16], vm[16];

			user_map(&space, memory(BLOCK), AREA, BLOCK);
			snprintf(fd, sizeof(fd), "%d", dup(space.fd));
			snprintf(vm, sizeof(vm), "%u", space.vm);
			execl("/proc/self/exe", "userptr", AFTER_EXEC, fd, vm, NULL);
			_exit(0);
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), EPERM);
	}
	guest_assert_nothing_left();
}

/* The file is closed, or the address space's name given back, with memory bound. */
static void ends_bound(void **state)
{
	uint64_t *at = memory(4 * MIB);

	(void)state;
	for (int i = 0; i < 4; i++) {
		struct space space = space_on(guest_open());

		user_map(&space, at, AREA, 4 * MIB);
		if (i & 1)
			assert_int_equal(space_fill(&space, AREA, 4 * MIB, i), 1);
		if (i & 2) {
			space_end(&space);
			close(space.fd);
		} else {
			space_let_go(&space);
			close(space.fd);
		}
	}
	assert_int_equal(at[MIB / 8], 3);
	munmap(at, 4 * MIB);
	guest_assert_nothing_left();
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(both_see_it, guest_teardown),
		cmocka_unit_test_teardown(readonly, guest_teardown),
		cmocka_unit_test_teardown(parts, guest_teardown),
		cmocka_unit_test_teardown(over_others, guest_teardown),
		cmocka_unit_test_teardown(refuses, guest_teardown),
		cmocka_unit_test_teardown(changes_nothing, guest_teardown),
		cmocka_unit_test_teardown(too_many, guest_teardown),
		cmocka_unit_test_teardown(other_process, guest_teardown),
		cmocka_unit_test_teardown(other_process_long, guest_teardown),
		cmocka_unit_test_teardown(after_exec, guest_teardown),
		cmocka_unit_test_teardown(ends_bound, guest_teardown),
	};

	if (argc == 4 && !strcmp(argv[1], AFTER_EXEC))
		return submit_after_exec(argv + 2);
	guest_choose(argc > 1 ? argv[1] : "*");
	return cmocka_run_group_tests_name("userptr", tests, NULL, NULL);
}
