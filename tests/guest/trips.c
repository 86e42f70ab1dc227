// SPDX-License-Identifier: MIT
/*
 * How often a job waits for an answer of the GPU: with each read of a register it waits for
 * another process, so this is what one job after the other costs.
 *
 * Needs a GPU that keeps its power, and a driver that counts the cycles of its clock.
 */
#include "devfreq.h"
#include "graded.h"

#include <stdio.h>
#include <unistd.h>

#define JOBS		20u
#define FILES		9	/* one more than the GPU has address spaces */

static void run_one(const struct bo *job)
{
	assert_int_equal(guest_submit(job->fd, job->va, 0, &job->handle, 1, 0), 0);
	assert_int_equal(guest_wait(job->fd, job->handle, FOREVER), 0);
}

static struct bo new_job(int fd)
{
	struct bo job = guest_bo(fd, PAGE, 0);

	guest_job(&job, 0, AGATE_JOB_NULL, 0, NULL, 0);
	run_one(&job);
	return job;
}

static unsigned int calls_meanwhile(const char *symbol, const struct bo *jobs, unsigned int files)
{
	unsigned int calls;

	guest_wait_counter("slot_busy", 0);
	inject_load();
	inject_anybody(true);
	inject_count(symbol);
	for (unsigned int i = 0; i < JOBS; i++)
		run_one(&jobs[i % files]);
	guest_wait_counter("slot_busy", 0);
	calls = inject_hits(symbol);
	inject_clear();
	printf("# %u jobs of %u files: %u times %s()\n", JOBS, files, calls, symbol);
	return calls;
}

/*
 * The interrupt's handler reads STAT and its thread RAWSTAT.  The GPU's clock goes with
 * these.  A message that comes for nothing costs a read more.
 */
static void one_by_one(void **state)
{
	int fd = guest_open();
	struct bo job = new_job(fd);

	(void)state;
	/* A governor that looks at no load. */
	devfreq_choose("userspace");
	assert_in_range(calls_meanwhile("gpu_read", &job, 1), 2 * JOBS, 2 * JOBS + JOBS / 4);
	guest_destroy(&job);
	close(fd);
}

/* To put a table into the hardware takes one command, and one wait for its end. */
static void other_spaces(void **state)
{
	struct bo jobs[FILES];

	(void)state;
	for (int i = 0; i < FILES; i++)
		jobs[i] = new_job(guest_open());
	assert_int_equal(calls_meanwhile("gpu_poll", jobs, FILES), JOBS);
	for (int i = 0; i < FILES; i++) {
		int fd = jobs[i].fd;

		guest_destroy(&jobs[i]);
		close(fd);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_by_one),
		cmocka_unit_test(other_spaces),
	};

	return cmocka_run_group_tests_name("trips", tests, NULL, NULL);
}
