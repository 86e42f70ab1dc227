// SPDX-License-Identifier: MIT
/* Lab 03, for the debug kernel: every allocation fails once, and memory outlives the driver. */
#include "cma.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fail_nth.h"

#define MOST_ALLOCATIONS	200

enum step { CREATE, TABLE, STEPS };

static int one_step(enum step step, int fd)
{
	struct bo bo;

	if (step == TABLE)
		return ask(PIECE_TABLE, 0, PAGE, 0).result;
	return guest_create(fd, 4 * PAGE, AGATE_BO_CONTIGUOUS, &bo);
}

/* The numbers count copies from and to user memory, too: those fail with EFAULT. */
static int step_fails(int fail_nth, int n, enum step step, bool *hit)
{
	int fd = guest_open(), err;
	struct bo bo = make_piece(fd, 16 * PAGE);

	/* The file for the questions is open from here on. */
	ask(PIECE_RUNS, 0, PAGE, 0);
	fail_nth_arm(fail_nth, n);
	err = one_step(step, fd);
	*hit = fail_nth_fired(fail_nth);
	guest_destroy(&bo);
	close(fd);
	return err;
}

static void every_allocation(int fail_nth, enum step step)
{
	static const char *const names[STEPS] = { "CREATE_BO", "get_sg_table()" };
	const long before = area_used();
	int n, failures = 0;
	bool hit = true;

	for (n = 1; hit && n < MOST_ALLOCATIONS; n++) {
		int err = step_fails(fail_nth, n, step, &hit);

		rule("whichever allocation fails, the call says ENOMEM");
		if (err && err != ENOMEM && err != EFAULT)
			broken("success, ENOMEM or EFAULT", "%s, failure number %d: errno %d",
			       names[step], n, err);
		failures += err == ENOMEM;
		rule("whichever allocation fails, nothing is left");
		check_area(before, "after the last close");
		check_nothing_left();
	}
	rule("a call comes to its end once nothing fails any more");
	check_true(!hit, "success in the end", "failures without end");
	check_at_least(failures, 1, "failures that the call told of");
}

static void all_of(enum step step)
{
	int fail_nth, fd = cma_open();
	struct bo bo = make_piece(fd, 16 * PAGE);

	rule("get_sg_table() gives the pages of a BO");
	if (step == TABLE)
		check_errno(ask(PIECE_TABLE, 0, PAGE, 0).result, 0, "get_sg_table()");
	guest_destroy(&bo);
	close(fd);
	fail_nth = fail_nth_open();
	/*
	 * Twice: the kernel makes an allocation of its own now and then, such as a new page of
	 * a slab.  That shifts the numbers of one round, which then passes one allocation over.
	 */
	every_allocation(fail_nth, step);
	every_allocation(fail_nth, step);
	close(fail_nth);
}

void test_allocations(void **state)
{
	(void)state;
	all_of(CREATE);
}

void test_table_allocations(void **state)
{
	(void)state;
	all_of(TABLE);
}

void test_outlives(void **state)
{
	int fd = cma_open();
	const long before = area_used();
	struct bo small = map_piece(fd, PAGE), bo = map_piece(fd, LARGE);
	volatile uint64_t *words = bo.cpu;
	const char *warning;

	(void)state;
	words[LARGE / 8 - 1] = 7;
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	log_watch();
	assert_int_equal(device_unbind(), 0);
	close(fd);
	rule("the memory belongs to adev->mem_dev: the GPU's driver leaves none of its own behind");
	warning = log_warning();
	if (warning)
		broken("nothing in the log", "\"%s\"", warning);
	rule("a BO that is mapped keeps its memory when its handle, its file and the GPU are gone");
	check_equal((int64_t)words[LARGE / 8 - 1], 7, "a word that was written before");
	words[0] = 8;
	check_equal((int64_t)words[0], 8, "a word that is written now");
	munmap(bo.cpu, bo.size);
	munmap(small.cpu, small.size);
	rule("a BO's memory goes back to the area when the BO dies");
	check_area(before, "after the last munmap()");
	assert_int_equal(device_bind(), 0);
}
