// SPDX-License-Identifier: MIT
/* Resets: slow ones, stuck ones, and what has to be done after one. */
#include <unistd.h>

#include "function.h"
#include "graded.h"
#include "tests.h"
#include "work.h"

static void bind_and_open(const char *when)
{
	driver_load();
	rule("%s: the driver takes the GPU all the same", when);
	check_errno(driver_bind(), 0, "the probe");
	close(guest_open());
	check_nothing_left();
}

/* The grader makes it slow, and counts what was written to a GPU in reset. */
void test_reset_waits(void **state)
{
	(void)state;
	bind_and_open("a reset that takes long");
}

/* The grader makes soft resets stick. */
void test_reset_falls_back(void **state)
{
	(void)state;
	bind_and_open("a soft reset that sticks");
}

/* The grader makes both stick. */
void test_reset_never_ends(void **state)
{
	(void)state;
	driver_load();
	rule("a GPU whose resets do not complete is not taken");
	check_errno(driver_bind(), ETIMEDOUT, "the probe");
	check_left_clean("a probe that failed at the reset");
}

/*
 * The grader makes one command to an address space stick, which costs the driver a
 * reset and the job its life, and gives the GPU a fault to tell after each reset.
 */
void test_reset_opens_masks(void **state)
{
	int fd;

	(void)state;
	driver_load();
	driver_take("reset in mid-life");
	rule("the mask of agate-gpu is open after the probe");
	check_true(handler_runs("agate-gpu", 0), "an interrupt of the GPU", "none");
	fd = guest_open();
	work_job(fd);
	rule("a reset closes every mask: who resets the GPU opens them again");
	check_true(handler_runs("agate-gpu", 1), "an interrupt of the GPU after its reset",
		   "none");
	check_jobs(fd, 3, "after a reset");
	close(fd);
}
