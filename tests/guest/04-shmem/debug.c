// SPDX-License-Identifier: MIT
/* Lab 04, for the debug kernel: every allocation fails once; KASAN and the DMA layer look on. */
#include "shmem.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fail_nth.h"

#define MOST_ALLOCATIONS	300

static void every_allocation(int fail_nth, const char *command, const char *undo)
{
	int n, failures = 0, idle = shmem_open();
	bool hit = true;

	for (n = 1; hit && n < MOST_ALLOCATIONS; n++) {
		int fd = guest_open(), file, err;
		struct bo bo = make_bo(fd, 5);
		char what[64];

		file = look_at_newest();
		if (!strcmp(command, "table 4096"))
			told(file, "pin");
		fail_nth_arm(fail_nth, n);
		err = tell(file, "%s", command);
		hit = fail_nth_fired(fail_nth);
		snprintf(what, sizeof(what), "%s, failure number %d", command, n);
		rule("whichever allocation fails, the call says ENOMEM, or works all the same");
		if (err && err != ENOMEM && err != EFAULT)
			check_errno(err, ENOMEM, what);
		failures += err == ENOMEM;
		if (!err && undo)
			told(file, undo);
		rule("whichever allocation fails, nothing is left");
		if (err && strcmp(command, "table 4096"))
			check_present(file, 0, what);
		close(file);
		check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
		close(fd);
	}
	rule("a call comes to its end once nothing fails any more");
	check_true(!hit, "success in the end", "failures without end");
	check_at_least(failures, 1, "failures that the call told of");
	close(idle);
	rule("whichever allocation fails, nothing is left");
	check_nothing_left();
}

void test_allocations(void **state)
{
	int fail_nth, fd = shmem_open();

	(void)state;
	close(fd);
	fail_nth = fail_nth_open();
	every_allocation(fail_nth, "pin", "unpin");
	every_allocation(fail_nth, "vmap", "vunmap");
	every_allocation(fail_nth, "table 4096", NULL);
	every_allocation(fail_nth, "populate 0 4096", NULL);
	close(fail_nth);
}

/* One BO with all users, and then none. */
static void one_life(int fd, unsigned int pages, bool purged)
{
	struct bo jobs, bo;
	uint64_t seen;
	int file;

	rule("a job finds all pages of its BOs, whoever has touched them");
	jobs = guest_bo(fd, PAGE, 0);
	bo = make_bo(fd, pages);
	file = look_at_newest();
	bo.cpu = map_more(&bo, pages);
	check_true(can_read(word(bo.cpu, pages - 1), &seen), "a page", "SIGBUS");
	check_errno(gpu_copy(&jobs, &bo, 8, 0), 0, "a job");
	told(file, "vmap");
	told(file, "table 8192");
	told(file, "vunmap");
	told(file, "pin");
	told(file, "table 4096");
	told(file, "unpin");
	for (unsigned int i = 0; i < pages; i++)
		check_true(can_read(word(bo.cpu, i), &seen), "a page", "SIGBUS");
	check_errno(guest_wait(fd, bo.handle, FOREVER), 0, "WAIT_BO");
	if (purged)
		purge(&bo, file);
	close(file);
	guest_destroy(&bo);
	guest_destroy(&jobs);
}

/* The DMA layer of the debug kernel compares what is mapped with what is undone. */
static void gone_device(void)
{
	int fd = shmem_open();
	struct bo jobs, bo;

	rule("a job finds all pages of its BOs, whoever has touched them");
	jobs = guest_bo(fd, PAGE, 0);
	bo = make_bo(fd, 9);
	check_errno(gpu_copy(&jobs, &bo, 8, 0), 0, "a job");
	rule("a DMA mapping is undone as it was made: the same table, direction and attributes");
	guest_destroy(&jobs);
	jobs = guest_bo(fd, PAGE, 0);
	check_errno(gpu_copy(&jobs, &bo, 8, 0), 0, "a job");
	rule("no DMA mapping of a BO outlasts the device: detach undoes it");
	check_errno(device_unbind(), 0, "unbinding the device");
	munmap(jobs.cpu, jobs.size);
	close(fd);
	check_errno(device_bind(), 0, "binding the device");
	done_with_device();
}

void test_lives(void **state)
{
	int fd = shmem_open();

	(void)state;
	for (unsigned int i = 0; i < 4; i++)
		one_life(fd, 3 + 15 * i, i & 1);
	close(fd);
	rule("a BO that dies gives all back");
	check_nothing_left();
	gone_device();
}
