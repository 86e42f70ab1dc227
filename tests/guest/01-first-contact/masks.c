// SPDX-License-Identifier: MIT
/* When a block's mask is open, and when it is closed. */
#include "function.h"
#include "graded.h"
#include "tests.h"
#include "topic.h"

#define GPU	AGATE_VECTOR_GPU
#define JOB	AGATE_VECTOR_JOB
#define MMU	AGATE_VECTOR_MMU
#define FAULTS	(GPU_IRQ_FAULT | GPU_IRQ_MULTIPLE_FAULT)

static void check_reset(void)
{
	check_errno(-topic(TOPIC_RESET, 0, 0), 0, "agate_gpu_soft_reset()");
}

/*
 * A reset that did not complete changes nothing of what later calls do: the next one
 * begins with a soft reset, and opens what should be open.
 */
static void check_failed_reset(uint32_t jobs, uint32_t mmu)
{
	struct topic_seen before, after;

	topic(TOPIC_SUSPEND, JOB, 0);
	topic(TOPIC_STICK, 0, 2);
	rule("a reset that does not complete says so");
	check_errno(-topic(TOPIC_RESET, 0, 0), ETIMEDOUT, "agate_gpu_soft_reset()");
	topic(TOPIC_STICK, 0, 0);
	before = topic_seen();
	check_reset();
	after = topic_seen();
	rule("a reset that did not complete says nothing about the next one: that begins with a soft "
	     "reset");
	check_equal(after.hard_resets - before.hard_resets, 0, "GPU_CMD_HARD_RESET in GPU_CMD");
	rule("a reset after one that did not complete opens the mask of each vector that is served and "
	     "not suspended");
	check_mask(GPU, FAULTS);
	check_mask(JOB, 0);
	check_mask(MMU, mmu);
	topic(TOPIC_RESUME, JOB, 0);
	check_mask(JOB, jobs);
}

/* The driver's own topics have enabled job and MMU, and the probe the GPU's vector. */
static void check_resets(uint32_t jobs, uint32_t mmu)
{
	uint32_t softs;

	rule("after a reset the mask of each vector that is served is open again");
	check_reset();
	check_mask(GPU, FAULTS);
	check_mask(JOB, jobs);
	check_mask(MMU, mmu);

	rule("after a soft reset that sticks and a hard one that completes, the mask of each vector "
	     "that is served is open again");
	topic(TOPIC_STICK, 0, 1);
	softs = topic_seen().soft_resets;
	check_reset();
	topic(TOPIC_STICK, 0, 0);
	rule("a hard reset is what is tried next when a soft one has stuck");
	check_equal(topic_seen().soft_resets - softs, 1, "GPU_CMD_SOFT_RESET in GPU_CMD");
	rule("after a hard reset the mask of each vector that is served is open again");
	check_mask(GPU, FAULTS);
	check_mask(JOB, jobs);
	check_mask(MMU, mmu);

	rule("a reset leaves the mask of a suspended vector closed, and opens the others");
	topic(TOPIC_SUSPEND, JOB, 0);
	check_mask(JOB, 0);
	check_reset();
	check_mask(JOB, 0);
	check_mask(GPU, FAULTS);
	check_mask(MMU, mmu);
	rule("agate_irq_resume() opens the mask of the vector again");
	topic(TOPIC_RESUME, JOB, 0);
	check_mask(JOB, jobs);
}

static void check_suspended(uint32_t bits, uint32_t later)
{
	rule("the mask of a suspended vector stays closed, whatever happens, until "
	     "agate_irq_resume()");
	topic(TOPIC_SUSPEND, GPU, 0);
	check_mask(GPU, 0);
	topic(TOPIC_SET_MASK, GPU, later);
	check_mask(GPU, 0);
	check_reset();
	check_mask(GPU, 0);
	rule("agate_irq_resume() opens the bits that were set last");
	topic(TOPIC_RESUME, GPU, 0);
	check_mask(GPU, later);
	rule("suspends are not counted: after two of them one agate_irq_resume() opens the mask");
	topic(TOPIC_SUSPEND, GPU, 0);
	topic(TOPIC_SUSPEND, GPU, 0);
	topic(TOPIC_RESUME, GPU, 0);
	check_mask(GPU, later);
	topic(TOPIC_SET_MASK, GPU, bits);
	check_mask(GPU, bits);
}

static void check_enabled_anew(uint32_t bits)
{
	rule("a vector is not suspended any more after agate_irq_enable() with a serve()");
	topic(TOPIC_SUSPEND, GPU, 0);
	check_mask(GPU, 0);
	topic(TOPIC_ENABLE, GPU, bits);
	check_mask(GPU, bits);
}

/* No event is raised here, so that no handler is needed. */
void test_masks(void **state)
{
	uint32_t bits = (uint32_t)param("bits") << 9 | GPU_IRQ_FAULT;
	uint32_t jobs, mmu;

	(void)state;
	driver_load();
	driver_take();
	rule("after the probe the mask of agate-gpu has all of GPU_FAULTS open, and the masks "
	     "of job and MMU what their topics asked for");
	check_mask(GPU, FAULTS);
	jobs = topic_read(JOB_INT_MASK);
	mmu = topic_read(MMU_INT_MASK);
	check_true(jobs && mmu, "JOB_INT_MASK and MMU_INT_MASK are open", "one is closed");

	topic(TOPIC_WATCH, 0, 0);
	check_resets(jobs, mmu);
	check_failed_reset(jobs, mmu);
	rule("agate_irq_enable() opens the bits that it is given, and no others");
	topic(TOPIC_ENABLE, GPU, bits);
	check_mask(GPU, bits);
	check_suspended(bits, bits ^ GPU_IRQ_POWER_CHANGED_ALL);
	check_enabled_anew(bits);

	rule("the mask of a vector that nobody serves stays closed, whatever happens");
	topic(TOPIC_DISABLE, GPU, 0);
	check_mask(GPU, 0);
	check_reset();
	check_mask(GPU, 0);
	rule("agate_irq_enable() opens the mask, also after an agate_irq_enable() without serve()");
	topic(TOPIC_ENABLE, GPU, bits);
	check_mask(GPU, bits);
	rule("the mask of a vector that nobody serves stays closed, whatever happens");
	topic(TOPIC_DISABLE, GPU, 0);
	topic(TOPIC_SUSPEND, GPU, 0);
	topic(TOPIC_RESUME, GPU, 0);
	check_mask(GPU, 0);

	check_calls_in_reset();
	walk_masks((uint32_t)param("seed"));
	rule("irq->lock orders changes of MASK: whoever opens one holds it");
	check_equal(topic_seen().opened_unlocked, 0, "masks that were opened without the lock");
}
