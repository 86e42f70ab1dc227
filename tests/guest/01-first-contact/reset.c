// SPDX-License-Identifier: MIT
/* Resets: slow ones, stuck ones, and what has to be done after one. */
#include <unistd.h>

#include "function.h"
#include "graded.h"
#include "hardware.h"
#include "tests.h"
#include "topic.h"

/* kernel/agate_bus.h, which is not for programs. */
#define AGATE_POLL_READS	10000

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

	/* The GPU's own time leaps to what a reader waits for: this counts the reads. */
	rule("the driver lets the GPU go");
	check_errno(driver_unbind(), 0, "unbinding");
	topic(TOPIC_WATCH, 0, 0);
	topic(TOPIC_SLOW, 0, AGATE_POLL_READS / 10 * 9);
	bind_and_open("a reset that completes after nine tenths of AGATE_POLL_READS");
	rule("a reset gets its whole limit, AGATE_POLL_READS reads, before it is taken for stuck");
	check_equal(topic_seen().hard_resets, 0,
		    "GPU_CMD_HARD_RESET in GPU_CMD, though the soft reset completes");
}

/* The grader makes soft resets stick. */
void test_reset_falls_back(void **state)
{
	(void)state;
	bind_and_open("a soft reset that sticks");
}

/*
 * A GPU that is well: one command is enough.  The probe fails in any case, in a step
 * after the reset that may not be written yet, and ETIMEDOUT can come from nowhere else.
 */
void test_reset(void **state)
{
	struct topic_seen seen;
	int err;

	(void)state;
	driver_load();
	topic(TOPIC_WATCH, 0, 0);
	inject_fail("__pci_enable_msix_range", 1, ENOSPC);
	err = driver_bind();
	inject_clear();
	seen = topic_seen();
	rule("a GPU is reset before it is used: what it did before, nobody knows");
	check_at_least(seen.soft_resets, 1, "GPU_CMD_SOFT_RESET in GPU_CMD");
	rule("a reset is done when GPU_IRQ_RESET_COMPLETED is set in GPU_INT_RAWSTAT");
	check_true(err != ETIMEDOUT, "a reset that completes is seen to complete",
		   "the probe: ETIMEDOUT");
	rule("a hard reset is for a soft one that does not complete");
	check_equal(seen.hard_resets, 0, "GPU_CMD_HARD_RESET in GPU_CMD");
}

/* The ALIVE word goes at the moment when the driver reads a certain register. */
static void check_lost(uint32_t reg, const char *when)
{
	int err;

	topic(TOPIC_LOSE_AT, 0, reg);
	inject_fail("agate_topics_init", 1, EIO);
	err = driver_bind();
	inject_clear();
	topic_end();
	hardware_alive(true);
	rule("a probe that finds the GPU gone while it %s gives ENODEV", when);
	check_errno(err, ENODEV, "the probe");
	check_left_clean("a probe that found the GPU gone");
}

void test_lost(void **state)
{
	(void)state;
	driver_load();
	driver_take();
	rule("the driver lets the GPU go");
	check_errno(driver_unbind(), 0, "unbinding");
	hardware_alive(true);			/* maps the BARs */
	check_lost(GPU_INT_RAWSTAT, "waits for the reset");
	check_lost(GPU_ID, "reads the identity");
	driver_take();
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
