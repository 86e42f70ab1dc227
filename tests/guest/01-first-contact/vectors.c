// SPDX-License-Identifier: MIT
/* Four vectors: requested, named, and answered for what they are. */
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "function.h"
#include "graded.h"
#include "hardware.h"
#include "tests.h"
#include "topic.h"
#include "work.h"

#define MOST_VECTORS	16
#define RELOADS		2
#define SETTLE_US	20000		/* for handlers to run, after each request */
#define ARRIVAL_US	50000		/* for a message to arrive at its CPU */

void test_vectors(void **state)
{
	unsigned int irqs[MOST_VECTORS], count, first = (unsigned int)param("first");
	struct handler handler[4];

	(void)state;
	driver_load();
	driver_take();

	rule("the function has exactly four vectors, by MSI-X");
	count = function_vectors(irqs, MOST_VECTORS);
	check_equal(count, 4, "vectors in msi_irqs");
	check_true(function_msix(), "MSI-X is enabled", "it is not");
	rule("each vector has one handler, with its own name in /proc/interrupts");
	for (unsigned int v = 0; v < 4; v++) {
		bool ours = false;

		handler[v] = handler_of(vector_names[v]);
		check_equal(handler[v].lines, 1, vector_names[v]);
		for (unsigned int i = 0; i < count; i++)
			ours |= irqs[i] == handler[v].irq;
		check_true(ours, "an interrupt of the function", "that of something else");
		for (unsigned int other = 0; other < v; other++)
			check_true(handler[v].irq != handler[other].irq,
				   "four interrupts", "two names on one");
	}
	rule("irq->irq is the number of the vector's interrupt: others wait for it");
	for (unsigned int v = 0; v < 4; v++) {
		char text[64];

		snprintf(text, sizeof(text), "adev->irq[%u].irq: %u", v, handler[v].irq);
		if (topic(TOPIC_NUMBER, v, 0))
			broken(text, "adev->irq[%u].irq: %u", v, topic_value(TOPIC_NUMBER, v, 0));
	}
	rule("vector 0 is the GPU's, 1 the jobs', 2 the MMU's, 3 the display's");
	for (unsigned int i = 0; i < 4; i++)
		check_message((first + i) % 4);
}

/* Messages, and no handler takes all of them for its own. */
static void check_unhandled(unsigned int vector)
{
	unsigned int irq = handler_of(vector_names[vector]).irq;
	struct unhandled before = handler_unhandled(irq), after;

	rule("%s: a message for nothing is survived", vector_names[vector]);
	/*
	 * The kernel counts a thread's answer at the next message.  A message that comes
	 * while the thread is at work may rightly be for nothing, so each waits for its end.
	 */
	for (unsigned int i = 0; i < 3; i++) {
		check_message(vector);
		topic(TOPIC_SYNC, vector, 0);
	}
	rule("%s: a handler that finds nothing says IRQ_NONE: that is how the kernel "
	     "finds an interrupt that nobody cares for", vector_names[vector]);
	after = handler_unhandled(irq);
	check_true(after.count != before.count || after.last_ms != before.last_ms,
		   "/proc/irq/N/spurious counts one of three messages, or all, as unhandled",
		   "it counts none");
}

/* The line of a vector is what counts, and neither the message nor RAWSTAT. */
void test_spurious(void **state)
{
	(void)state;
	driver_load();
	driver_take();
	for (unsigned int v = 0; v < 4; v++)
		check_unhandled(v);

	/* A bit that is set in RAWSTAT, and closed in MASK: somebody may be polling for it. */
	check_errno(-topic(TOPIC_RAISE, 0, 0), 0, "a cache command, and its end");
	check_unhandled(AGATE_VECTOR_GPU);
	rule("a bit that is not open in MASK is nobody's business: it stays in RAWSTAT");
	check_true(topic_read(GPU_INT_RAWSTAT) & TOPIC_EVENT,
		   "CLEAN_CACHES_COMPLETED is still set", "it was cleared");
	topic(TOPIC_DISABLE, AGATE_VECTOR_JOB, 0);
	check_unhandled(AGATE_VECTOR_JOB);
	topic(TOPIC_SUSPEND, AGATE_VECTOR_MMU, 0);
	check_unhandled(AGATE_VECTOR_MMU);

	rule("after messages for nothing, one for something is served");
	topic(TOPIC_ENABLE, AGATE_VECTOR_GPU, TOPIC_EVENT);
	check_serves(1);
	rule("messages for nothing leave the driver as it was");
	check_errno(driver_unbind(), 0, "unbinding");
	check_left_clean("after messages for nothing");
}

/* ---- Messages at any time ------------------------------------------------------- */

static atomic_bool hammering;

static void *hammer(void *arg)
{
	const struct timespec pause = { .tv_nsec = 20000 };

	while (atomic_load(&hammering)) {
		for (unsigned int v = 0; v < 4; v++)
			hardware_kick(v);
		nanosleep(&pause, NULL);
	}
	return arg;
}

/*
 * A probe in a hail of messages.  It goes on only some time after each vector was
 * requested, so that handlers run in between.
 */
static void check_hail(void)
{
	pthread_t thread;

	hardware_kick(0);		/* maps the BARs */
	rule("an interrupt may come as soon as it is requested, before its block is "
	     "served: a handler finds all that it looks at");
	inject_delay_return("request_threaded_irq", 0, SETTLE_US);
	atomic_store(&hammering, true);
	check_equal(pthread_create(&thread, NULL, hammer, NULL), 0, "pthread_create");
	driver_take();
	atomic_store(&hammering, false);
	pthread_join(thread, NULL);
	inject_clear();
	rule("each vector has one handler, with its own name in /proc/interrupts");
	for (unsigned int v = 0; v < 4; v++) {
		check_equal(handler_of(vector_names[v]).lines, 1, vector_names[v]);
		if (!handler_of(vector_names[v]).count)
			could_not_look("no message came to %s during the probe", vector_names[v]);
	}
}

/*
 * The event is there before the vector is enabled, so its message comes when the mask
 * opens.  That call is made on the CPU that takes the interrupt, and the write of
 * MASK is held up until the message has arrived there: the handler runs as soon as
 * interrupts are on.
 */
static void check_enable(void)
{
	rule("when the mask opens, serve() is there: nothing that waits for it is lost");
	topic(TOPIC_DISABLE, AGATE_VECTOR_GPU, 0);
	check_errno(-topic(TOPIC_RAISE, 0, 0), 0, "a cache command, and its end");
	inject_within("agate_irq_enable");
	inject_delay_return("gpu_write", 0, ARRIVAL_US);
	topic(TOPIC_ENABLE, AGATE_VECTOR_GPU, TOPIC_EVENT);
	inject_clear();
	check_serves(1);
}

void test_early(void **state)
{
	cpu_set_t all;
	int fd;

	(void)state;
	driver_load();
	check_hail();
	fd = guest_open();
	check_jobs(fd, 1, "after early messages");
	close(fd);

	if (sched_getaffinity(0, sizeof(all), &all))
		fail_msg("sched_getaffinity: %s", strerror(errno));
	stay_on_cpu_of("agate-gpu");
	check_enable();
	sched_setaffinity(0, sizeof(all), &all);
}

/* ---- Interrupts of the GPU -------------------------------------------------------- */

/*
 * Whatever bit is set in STAT, the line is up.  The registers of the block are the test's,
 * and it sends the messages.
 */
static void check_each_bit(unsigned int vector)
{
	const char *name = vector_names[vector];
	unsigned int serves = 0;

	topic(TOPIC_RAISE_BITS, vector, 0);
	topic(TOPIC_ENABLE, vector, UINT32_MAX);
	for (unsigned int bit = vector % 2; bit < 32; bit += 2) {
		topic(TOPIC_RAISE_BITS, vector, 1u << bit);
		hardware_kick(vector);
		rule("the line of %s is up when STAT is not 0, whichever bit it is: here bit %u",
		     name, bit);
		check_serves(++serves);
		topic(TOPIC_SYNC, vector, 0);
		check_serve_context(name);
		rule("%s: a message for one event serves it once", name);
		check_equal(topic_seen().serves, serves, "calls of serve()");
	}
}

static void check_bits(void)
{
	topic(TOPIC_WATCH, 0, 0);
	for (unsigned int v = 0; v < 3; v++)
		check_each_bit(v);
	topic_end();
}

static void check_reload(void)
{
	int fd;

	rule("the module loads, and takes the GPU, as often as one likes");
	bus_autoprobe(true);
	check_errno(module_load("timeout_ms=600000"), 0, "insmod agate.ko");
	check_true(driver_bound(), "the GPU is bound to the driver", "it is not");
	fd = guest_open();
	check_jobs(fd, 1, "loaded again");
	close(fd);
	check_nothing_left();
	rule("the module unloads when nobody uses the GPU");
	check_errno(module_unload(), 0, "rmmod agate");
	check_left_clean("unloaded");

	rule("the GPU is reset on leaving, and forgets the job's flushes");
	hardware_open();
	check_equal(hardware_read(GPU_LATEST_FLUSH_ID), 0, "GPU_LATEST_FLUSH_ID");
	hardware_close();
}

void test_served(void **state)
{
	unsigned long jobs, faults;
	int fd;

	(void)state;
	driver_load();
	hardware_end_reset();
	driver_take();
	fd = guest_open();
	jobs = handler_of("agate-job").count;
	faults = handler_of("agate-mmu").count;
	check_jobs(fd, (unsigned int)param("jobs"), "one job after another");
	rule("the end of a job is told by agate-job");
	check_at_least((int64_t)(handler_of("agate-job").count - jobs), 1, "its interrupts");

	for (unsigned int i = 0; i < 2; i++) {
		rule("a page fault is told by agate-mmu, and ends the job");
		check_errno(work_fault(fd), 0, "a job that touches what is not mapped");
	}
	check_at_least((int64_t)(handler_of("agate-mmu").count - faults), 1, "its interrupts");
	check_jobs(fd, 1, "after page faults");
	close(fd);
	check_bits();

	rule("the module unloads when nobody uses the GPU");
	check_errno(module_unload(), 0, "rmmod agate");
	for (unsigned int i = 0; i < RELOADS; i++)
		check_reload();
}
