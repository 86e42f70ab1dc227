// SPDX-License-Identifier: MIT
/* When a block's mask is open, when it is closed, and what serve() may rely on. */
#include <stdio.h>

#include "function.h"
#include "graded.h"
#include "hardware.h"
#include "tests.h"
#include "topic.h"

#define GPU	AGATE_VECTOR_GPU
#define JOB	AGATE_VECTOR_JOB
#define MMU	AGATE_VECTOR_MMU
#define FAULTS	(GPU_IRQ_FAULT | GPU_IRQ_MULTIPLE_FAULT)

static const uint32_t mask_of[] = { GPU_INT_MASK, JOB_INT_MASK, MMU_INT_MASK };
static const char *const mask_names[] = { "GPU_INT_MASK", "JOB_INT_MASK", "MMU_INT_MASK" };

static void check_mask(unsigned int vector, uint32_t expected)
{
	uint32_t seen = topic_read(mask_of[vector]);
	char text[64];

	if (seen == expected)
		return;
	snprintf(text, sizeof(text), "%s: %#x", mask_names[vector], expected);
	broken(text, "%s: %#x", mask_names[vector], seen);
}

static void check_reset(void)
{
	check_errno(-topic(TOPIC_RESET, 0, 0), 0, "agate_gpu_soft_reset()");
}

/* The driver's own topics have enabled job and MMU, and the probe the GPU's vector. */
static void check_resets(uint32_t jobs, uint32_t mmu)
{
	rule("after a reset the mask of each vector that is served is open again");
	check_reset();
	check_mask(GPU, FAULTS);
	check_mask(JOB, jobs);
	check_mask(MMU, mmu);

	rule("and so it is when a soft reset has stuck and a hard one has completed");
	topic(TOPIC_STICK, 0, 1);
	check_reset();
	topic(TOPIC_STICK, 0, 0);
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
	topic(TOPIC_SET_MASK, GPU, bits);
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
	rule("agate_irq_enable() opens the bits that it is given, and no others");
	topic(TOPIC_ENABLE, GPU, bits);
	check_mask(GPU, bits);
	check_suspended(bits, bits ^ GPU_IRQ_POWER_CHANGED_ALL);

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

	rule("irq->lock orders changes of MASK: whoever opens one holds it");
	check_equal(topic_seen().opened_unlocked, 0, "masks that were opened without the lock");
}

/* ---- While serve() is at work ----------------------------------------------------- */

static void raise_event(void)
{
	check_errno(-topic(TOPIC_RAISE, 0, 0), 0, "a cache command, and its end");
}

static void check_served_again(void)
{
	struct topic_seen seen;

	rule("an event that comes while serve() is at work is served when it is done");
	topic(TOPIC_AGAIN, 0, 0);
	raise_event();
	check_serves(2);
	seen = topic_seen();
	rule("serve() runs in the vector's thread, where it may sleep");
	check_equal(seen.not_a_task, 0, "calls from an interrupt");
	rule("while serve() is at work the mask is closed, and so STAT is 0");
	if (seen.open_in_serve)
		broken("GPU_INT_STAT, read by serve(): 0",
		       "GPU_INT_STAT, read by serve(): %#x", seen.open_in_serve);
	topic(TOPIC_SYNC, GPU, 0);
	rule("when serve() is done the mask is opened again");
	check_mask(GPU, TOPIC_EVENT);
}

/*
 * serve() is held in the middle while another thread makes a call that has to wait for
 * it.  When it is let go it leaves another event behind.
 */
static void check_waits(enum topic_op op, const char *call)
{
	unsigned int serves = topic_seen().serves;
	struct waiting *waiting;
	uint32_t opened;

	rule("%s waits until serve() has returned", call);
	topic(TOPIC_HOLD, 0, 0);
	topic(TOPIC_AGAIN, 0, 0);
	raise_event();
	check_held();
	waiting = topic_start(op, GPU);
	if (topic_returned(waiting)) {
		topic(TOPIC_LET_GO, 0, 0);
		broken("it returns after serve()", "it returned while serve() was at work");
	}
	opened = topic_seen().opened;
	if (topic(TOPIC_LET_GO, 0, 0))
		could_not_look("serve() went on before the test had looked");
	topic_join(waiting);
	topic(TOPIC_SYNC, GPU, 0);

	rule("%s closes the mask first, and then waits: nothing opens it meanwhile", call);
	check_equal(topic_seen().opened - opened, 0, "how often a mask was opened meanwhile");
	check_mask(GPU, 0);
	rule("when %s has returned, nothing of serve() runs, and nothing will", call);
	check_message(GPU);
	topic(TOPIC_SYNC, GPU, 0);
	check_equal(topic_seen().serves, serves + 1, "calls of serve()");
}

void test_at_work(void **state)
{
	(void)state;
	driver_load();
	driver_take();
	topic(TOPIC_WATCH, 0, 0);
	rule("a topic's serve() takes the place of the one before it");
	topic(TOPIC_ENABLE, GPU, TOPIC_EVENT);
	check_served_again();

	check_waits(TOPIC_SUSPEND, "agate_irq_suspend()");
	rule("agate_irq_resume() has messages that were lost meanwhile sent anew");
	topic(TOPIC_RESUME, GPU, 0);
	check_serves(4);
	topic(TOPIC_SYNC, GPU, 0);

	check_waits(TOPIC_DISABLE, "agate_irq_enable() without serve()");
	rule("irq->lock orders changes of MASK: whoever opens one holds it");
	check_equal(topic_seen().opened_unlocked, 0, "masks that were opened without the lock");
}
