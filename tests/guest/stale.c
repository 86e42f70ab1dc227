// SPDX-License-Identifier: MIT
/*
 * Translations that outlive the memory that they lead to.
 *
 * The GPU caches translations until the driver flushes them.  If a driver frees
 * pages without a flush, a later job can read and write memory that belongs to
 * somebody else by then.
 */
#include "guest.h"

#include <unistd.h>

#define DATA	2048u
#define SPACES	8		/* address spaces of the GPU */

static uint64_t word(const struct bo *bo, uint32_t offset)
{
	return *(volatile uint64_t *)((char *)bo->cpu + offset);
}

/* Run one WRITE_VALUE job that stores value at va; returns the job's status. */
static uint32_t store(struct bo *job, const struct bo *listed, uint64_t va, uint64_t value)
{
	uint32_t handles[2] = { job->handle, listed ? listed->handle : 0 };
	struct agate_job_header *header = guest_job_write64(job, 0, 0, va, value);

	assert_int_equal(guest_submit(job->fd, job->va, 0, handles, listed ? 2 : 1, 0), 0);
	assert_int_equal(guest_wait(job->fd, job->handle, FOREVER), 0);
	return *(volatile uint32_t *)&header->exception_status;
}

/* After the last handle is closed and the last job is done, no job can access the BO. */
static void closed_bo_is_gone(void **state)
{
	int fd = guest_open();
	struct bo job = guest_bo(fd, PAGE, 0), target = guest_bo(fd, PAGE, 0);
	uint64_t va = target.va;

	(void)state;
	assert_int_equal(store(&job, &target, va + DATA, 1), AGATE_EXC_DONE);
	guest_destroy(&target);
	guest_wait_counter("bos", 1);
	assert_int_not_equal(store(&job, NULL, va + DATA, 2), AGATE_EXC_DONE);
	guest_destroy(&job);
	close(fd);
}

/* Make a new BO at va, if the driver hands out that address within some tries. */
static bool bo_at(int fd, uint64_t size, uint64_t va, struct bo *bo)
{
	struct bo other[32];
	int n = 0;

	while (n < 32) {
		assert_int_equal(guest_create(fd, size, AGATE_BO_NOEXEC, &other[n]), 0);
		if (other[n].va == va)
			break;
		n++;
	}
	*bo = n < 32 ? other[n] : (struct bo){ 0 };
	for (int i = 0; i < n; i++)
		guest_destroy(&other[i]);
	return n < 32;
}

/* Other files, as many as the GPU has address spaces. */
struct crowd {
	struct bo job[SPACES];
};

static void crowd_come(struct crowd *crowd)
{
	for (int i = 0; i < SPACES; i++)
		crowd->job[i] = guest_bo(guest_open(), PAGE, 0);
}

/* Each runs a job, and after that no other file has an address space. */
static void crowd_run(struct crowd *crowd)
{
	for (int i = 0; i < SPACES; i++) {
		struct bo *job = &crowd->job[i];

		assert_int_equal(store(job, NULL, job->va + DATA, (uint64_t)i), AGATE_EXC_DONE);
	}
}

static void crowd_go(struct crowd *crowd)
{
	for (int i = 0; i < SPACES; i++) {
		int fd = crowd->job[i].fd;

		guest_destroy(&crowd->job[i]);
		close(fd);
	}
}

/*
 * An address that is handed out again leads to the new BO, whatever its size.  With a crowd,
 * the file's table changes while it is in no address space.
 */
static void given_out_again(struct crowd *crowd)
{
	static const uint64_t sizes[] = { PAGE, 16 * PAGE, 2u << 20, 4u << 20 };
	int fd = guest_open(), seen = 0;
	struct bo job = guest_bo(fd, PAGE, 0);

	for (int i = 0; i < 4; i++) {
		struct bo old = guest_bo(fd, sizes[i], AGATE_BO_NOEXEC), new;
		uint64_t va = old.va;

		assert_int_equal(store(&job, &old, va + DATA, 0x01d), AGATE_EXC_DONE);
		if (crowd)
			crowd_run(crowd);
		/* The map keeps the old pages alive; only the GPU loses access to them. */
		assert_int_equal(guest_close_handle(fd, old.handle), 0);
		old.handle = 0;
		if (bo_at(fd, sizes[i], va, &new)) {
			guest_map(&new);
			assert_int_equal(store(&job, &new, va + DATA, 0x4e3), AGATE_EXC_DONE);
			assert_int_equal(word(&new, DATA), 0x4e3);
			assert_int_equal(word(&old, DATA), 0x01d);
			guest_destroy(&new);
			seen++;
		}
		guest_destroy(&old);
	}
	print_message("# %d of 4 addresses were given out again\n", seen);
	guest_destroy(&job);
	close(fd);
}

static void address_given_out_again(void **state)
{
	(void)state;
	given_out_again(NULL);
}

static void table_changes_outside(void **state)
{
	struct crowd crowd;

	(void)state;
	crowd_come(&crowd);
	given_out_again(&crowd);
	crowd_go(&crowd);
}

/* Two files use the same addresses; neither sees the other's memory. */
static void same_address_in_two_files(void **state)
{
	int fd[2] = { guest_open(), guest_open() };
	struct bo job[2], target[2];

	(void)state;
	for (int i = 0; i < 2; i++) {
		job[i] = guest_bo(fd[i], PAGE, 0);
		target[i] = guest_bo(fd[i], PAGE, 0);
	}
	assert_int_equal(target[0].va, target[1].va);
	for (int round = 0; round < 3; round++)
		for (int i = 0; i < 2; i++)
			assert_int_equal(store(&job[i], &target[i], target[i].va + DATA,
					       (uint64_t)(10 * round + i + 1)), AGATE_EXC_DONE);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(word(&target[i], DATA), 20 + i + 1);
		guest_destroy(&job[i]);
		guest_destroy(&target[i]);
		close(fd[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(closed_bo_is_gone, guest_teardown),
		cmocka_unit_test_teardown(address_given_out_again, guest_teardown),
		cmocka_unit_test_teardown(table_changes_outside, guest_teardown),
		cmocka_unit_test_teardown(same_address_in_two_files, guest_teardown),
	};

	return cmocka_run_group_tests_name("stale", tests, NULL, NULL);
}
