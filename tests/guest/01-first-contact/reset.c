// SPDX-License-Identifier: MIT
/* Resets: slow ones, stuck ones, and what has to be done after one. */
#include <stdio.h>
#include <unistd.h>

#include "function.h"
#include "graded.h"
#include "hardware.h"
#include "tests.h"
#include "topic.h"

/* kernel/agate_bus.h, which is not for programs. */
#define AGATE_POLL_READS	10000
/* Of a driver that looks once more before or after its loop. */
#define FEW_READS		8

static void bind_and_open(const char *when)
{
	driver_load();
	rule("%s: the driver takes the GPU all the same", when);
	check_errno(driver_bind(), 0, "the probe");
	close(guest_open());
	check_nothing_left();
}

/* What a reset clears after its command, and how often it looks. */
static void check_end_of_reset(void)
{
	topic(TOPIC_STICK, 0, 0);
	rule("a reset that completes says so");
	check_errno(-topic(TOPIC_RESET, 0, 0), 0, "agate_gpu_soft_reset()");
	rule("after its command a reset clears RESET_COMPLETED at the most: another bit of RAWSTAT may be "
	     "an event that came since, and nobody has read it");
	if (topic_seen().clears_late)
		broken("no other bits written to GPU_INT_CLEAR", "bits %#x", topic_seen().clears_late);
	topic(TOPIC_STICK, 0, 2);
	rule("a reset that does not complete says so");
	check_errno(-topic(TOPIC_RESET, 0, 0), ETIMEDOUT, "agate_gpu_soft_reset()");
	rule("a reset is taken for stuck after AGATE_POLL_READS reads: the limit is their number, and no "
	     "time");
	if (topic_seen().reads_most > AGATE_POLL_READS + FEW_READS)
		broken("10,000 reads of GPU_INT_RAWSTAT after the command", "%u reads",
		       topic_seen().reads_most);
	topic(TOPIC_STICK, 0, 0);
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
	topic(TOPIC_SLOW, 0, AGATE_POLL_READS - 1);
	rule("a reset that completes with the last of AGATE_POLL_READS reads, while other bits of "
	     "RAWSTAT are set: the driver takes the GPU all the same");
	check_errno(driver_bind(), 0, "the probe");
	rule("a reset gets its whole limit, AGATE_POLL_READS reads, before it is taken for stuck");
	check_equal(topic_seen().hard_resets, 0,
		    "GPU_CMD_HARD_RESET in GPU_CMD, though the soft reset completes");
	topic(TOPIC_STICK, 0, 1);
	rule("a hard reset gets its own limit, AGATE_POLL_READS reads, after a soft one that sticks");
	check_errno(-topic(TOPIC_RESET, 0, 0), 0, "agate_gpu_soft_reset()");
	check_end_of_reset();
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

/*
 * agate_pci_init() and agate_pci_fini(), again and again, until the GPU has gone at each
 * access once.  Every answer that is believed has to be followed by a look at
 * agate_bus_lost().
 */
static void check_losses(enum topic_rehearsal what, const char *when)
{
	struct topic_seen seen;
	char after[120];

	topic(TOPIC_REHEARSE, 0, what);
	rule("agate_pci_init() returns, wherever the GPU goes, and so does agate_pci_fini()");
	check_errno(driver_bind(), ECANCELED, "the probe, in which they were called many times");
	seen = topic_seen();
	snprintf(after, sizeof(after), when, seen.rehearsed_nth);
	rule("a probe whose GPU goes at %s gives ENODEV", after);
	if (seen.rehearsed_answers)
		check_errno(-seen.rehearsed, ENODEV, "agate_pci_init()");
	check_true(!seen.rehearsed || seen.rehearsed == -ENODEV, "agate_pci_init(): success or ENODEV",
		   "another error");
	rule("a GPU that goes at %s: nothing of the driver is left", after);
	check_taken(seen.rehearsed_left);
}

void test_lost(void **state)
{
	(void)state;
	driver_load();
	topic(TOPIC_WATCH, 0, 0);
	check_losses(REHEARSE_LOSSES, "register access %u (the first one of the probe is 1)");
	topic(TOPIC_STICK, 0, 1);
	check_losses(REHEARSE_HARD_LOSS, "a read after the command of a hard reset");
	topic_end();
	driver_take();
	rule("a reset whose GPU goes at a read of GPU_INT_RAWSTAT gives ENODEV: all ones are no "
	     "RESET_COMPLETED");
	topic(TOPIC_LOSE_AT, 0, GPU_INT_RAWSTAT);
	check_errno(-topic(TOPIC_RESET, 0, 0), ENODEV, "agate_gpu_soft_reset()");
	rule("the driver lets the GPU go");
	check_errno(driver_unbind(), 0, "unbinding");
	hardware_alive(true);
}

/* The grader makes both stick. */
void test_reset_never_ends(void **state)
{
	(void)state;
	driver_load();
	topic(TOPIC_WATCH, 0, 0);
	rule("a GPU whose resets do not complete is not taken");
	check_errno(driver_bind(), ETIMEDOUT, "the probe");
	rule("a hard reset is for a soft one that does not complete");
	check_equal(topic_seen().hard_first, 0, "hard resets before any soft one");
	rule("a call of agate_gpu_soft_reset() whose hard reset does not complete writes nothing more "
	     "to the GPU");
	check_equal(topic_seen().after_hard, 0, "writes after the command of the hard reset");
	check_left_clean("a probe that failed at the reset");
}
