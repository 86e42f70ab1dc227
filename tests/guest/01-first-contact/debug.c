// SPDX-License-Identifier: MIT
/* What only the debug kernel sees: contexts, lifetimes, allocations that fail. */
#include <unistd.h>

#include "function.h"
#include "graded.h"
#include "hardware.h"
#include "tests.h"
#include "topic.h"
#include "work.h"

/* Each call that changes MASK, on a vector whose handler has taken the lock already. */
static void check_locks(void)
{
	topic(TOPIC_ENABLE, AGATE_VECTOR_GPU, TOPIC_EVENT);
	check_errno(-topic(TOPIC_RAISE, 0, 0), 0, "a cache command, and its end");
	check_serves(1);
	topic(TOPIC_SUSPEND, AGATE_VECTOR_GPU, 0);
	topic(TOPIC_SET_MASK, AGATE_VECTOR_GPU, TOPIC_EVENT);
	topic(TOPIC_RESUME, AGATE_VECTOR_GPU, 0);
	topic(TOPIC_DISABLE, AGATE_VECTOR_GPU, 0);
	check_errno(-topic(TOPIC_RESET, 0, 0), 0, "agate_gpu_soft_reset()");
}

/* All that takes a lock or sleeps, once: the checkers say what was wrong with it. */
void test_contexts(void **state)
{
	struct bo big;
	int fd;

	(void)state;
	driver_load();
	driver_take();
	check_true(handler_runs("agate-gpu", 0), "an interrupt of the GPU", "none");
	for (unsigned int v = 0; v < 4; v++)
		hardware_kick(v);
	fd = guest_open();
	check_jobs(fd, 3, "on the debug kernel");
	rule("a page fault is told by agate-mmu, and ends the job");
	check_errno(work_fault(fd), 0, "a job that touches what is not mapped");

	/* Pages that lie side by side become one long segment for the DMA API. */
	big = guest_bo(fd, 1u << 20, 0);
	guest_job_write64(&big, 0, 0, big.va + PAGE, 1);
	check_errno(guest_submit(fd, big.va, 0, &big.handle, 1, 0), 0, "SUBMIT");
	check_errno(work_wait(fd, big.handle), 0, "WAIT_BO");
	guest_destroy(&big);
	close(fd);
	check_locks();
	rule("the driver lets the GPU go");
	check_errno(driver_unbind(), 0, "unbinding");
}

/*
 * The vector's thread has been woken, and is about to call serve(): there it is held
 * while what serves the vector is taken away.
 */
static void check_about_to_serve(void)
{
	struct waiting *waiting;

	rule("what serves a vector can be taken away while its thread is about to call it");
	topic(TOPIC_ENABLE, AGATE_VECTOR_GPU, TOPIC_EVENT);
	inject_anybody(true);
	inject_hold_entry("irq_thread_fn", 1, INJECT_BOUND_MS);
	inject_anybody(false);
	check_errno(-topic(TOPIC_RAISE, 0, 0), 0, "a cache command, and its end");
	if (!inject_await_held("irq_thread_fn", INJECT_BOUND_MS / 4)) {
		inject_clear();
		check_serves(1);	/* by whatever means: not by a thread of the kernel's */
		return;
	}
	waiting = topic_start(TOPIC_DISABLE, AGATE_VECTOR_GPU, 0);
	if (topic_returned(waiting)) {
		inject_clear();
		broken("agate_irq_enable() without serve() waits for the vector's thread",
		       "it returned before the thread was done");
	}
	if (!inject_let_go("irq_thread_fn"))
		could_not_look("the vector's thread went on before the test had looked");
	topic_join(waiting);
	inject_clear();
	topic(TOPIC_SYNC, AGATE_VECTOR_GPU, 0);
}

/* The driver goes while serve() is at work: it ends first, and all it uses is there. */
static void check_gone_while_serving(void)
{
	struct waiting *waiting;
	bool early;

	rule("the driver goes when its handlers are done, and not before");
	topic(TOPIC_ENABLE, AGATE_VECTOR_GPU, TOPIC_EVENT);
	topic(TOPIC_HOLD, 0, 0);
	check_errno(-topic(TOPIC_RAISE, 0, 0), 0, "a cache command, and its end");
	check_held();
	waiting = unbind_start();
	early = topic_returned(waiting);
	if (topic(TOPIC_LET_GO, 0, 0))
		could_not_look("serve() went on before the test had looked");
	topic_join(waiting);
	check_true(!early, "unbinding waits for serve()", "it ended while serve() was at work");
	check_left_clean("unbound with a handler at work");
}

void test_in_flight(void **state)
{
	(void)state;
	driver_load();
	driver_take();
	check_about_to_serve();
	check_gone_while_serving();
}

/*
 * The first allocation of a step fails: the kernel passes that on, as it does not
 * with every later one (it does without a file in /proc, for one).  What the probe
 * then undoes, it undoes under every checker there is.
 */
void test_allocations(void **state)
{
	int err;

	(void)state;
	driver_load();
	topic(TOPIC_WATCH, 0, 0);
	inject_within("__pci_enable_msix_range");
	inject_fail("should_failslab", 1, ENOMEM);
	rule("a probe without the memory for its vectors fails with that error");
	err = driver_bind();
	check_errno(err, vectors_error(ENOMEM), "the probe");
	inject_clear();
	topic_end();
	inject_fail("request_threaded_irq", 4, ENOMEM);
	rule("a probe without the memory for its last handler fails with that error");
	check_errno(driver_bind(), ENOMEM, "the probe");
	check_left_clean("a probe without memory");
}
