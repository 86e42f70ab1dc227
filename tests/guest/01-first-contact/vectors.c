// SPDX-License-Identifier: MIT
/* Four vectors: requested, named, and answered for what they are. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include "function.h"
#include "graded.h"
#include "hardware.h"
#include "tests.h"
#include "work.h"

#define MOST_VECTORS	16

/* Send a message, and see its handler run. */
static void kick(unsigned int vector)
{
	unsigned long before = handler_of(vector_names[vector]).count;

	hardware_kick(vector);
	if (!handler_runs(vector_names[vector], before))
		broken("a message of the vector reaches its handler",
		       "%s did not run for vector %u", vector_names[vector], vector);
}

void test_vectors(void **state)
{
	unsigned int irqs[MOST_VECTORS], count, first = (unsigned int)param("first");
	struct handler handler[4];

	(void)state;
	driver_load();
	driver_take("vector");

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
	rule("vector 0 is the GPU's, 1 the jobs', 2 the MMU's, 3 the display's");
	for (unsigned int i = 0; i < 4; i++)
		kick((first + i) % 4);
}

/* Nobody is served by a message that came for nothing, and nobody is hurt. */
void test_spurious(void **state)
{
	(void)state;
	driver_load();
	driver_take("handler");
	for (unsigned int v = 0; v < 4; v++) {
		unsigned int irq = handler_of(vector_names[v]).irq;

		rule("a message for nothing is survived");
		/* What a thread answers is counted at the message after it. */
		for (unsigned int i = 0; i < 3; i++)
			kick(v);
		rule("a handler that finds nothing says IRQ_NONE: that is how the kernel "
		     "finds an interrupt that nobody cares for");
		check_at_least((int64_t)handler_unhandled(irq), 1, "unhandled ones of three");
	}
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

/* A probe in a hail of messages: each vector has some waiting when it is unmasked. */
void test_early(void **state)
{
	pthread_t thread;
	int fd, err;

	(void)state;
	driver_load();
	hardware_kick(0);		/* maps the BARs */
	rule("an interrupt may come as soon as it is requested, before its block is "
	     "served: a handler finds all that it looks at");
	atomic_store(&hammering, true);
	check_equal(pthread_create(&thread, NULL, hammer, NULL), 0, "pthread_create");
	err = driver_bind();
	atomic_store(&hammering, false);
	pthread_join(thread, NULL);
	check_errno(err, 0, "the probe");
	fd = guest_open();
	check_jobs(fd, 1, "after early messages");
	close(fd);
}

/* ---- Interrupts of the GPU -------------------------------------------------------- */

void test_served(void **state)
{
	unsigned long jobs, faults;
	int fd;

	(void)state;
	driver_load();
	driver_take("job");
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
}

/* Whether the log, from where fd stands, has a line with this number in it. */
static bool log_tells(int fd, uint64_t number)
{
	char line[1024], digits[24];
	unsigned int look = 0;

	snprintf(digits, sizeof(digits), "%llx", (unsigned long long)number);
	while (look < PATIENCE_LOOKS) {
		ssize_t n = read(fd, line, sizeof(line) - 1);

		if (n > 0) {
			line[n] = '\0';
			if (strcasestr(line, digits))
				return true;
		} else {
			look++;
			patience_pause();
		}
	}
	return false;
}

static int open_log(void)
{
	int fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0 || lseek(fd, 0, SEEK_END) < 0)
		fail_msg("/dev/kmsg: %s", strerror(errno));
	return fd;
}

/* The grader makes the GPU take one, with an address that it chose. */
void test_gpu_fault(void **state)
{
	int fd, log = open_log();

	(void)state;
	driver_load();
	driver_take("fault");
	rule("a GPU fault is let through by the mask of agate-gpu");
	check_true(handler_runs("agate-gpu", 0), "an interrupt of the GPU", "none");
	rule("a GPU fault that nobody can see helps nobody: GPU_FAULT_ADDRESS is in the log");
	check_true(log_tells(log, (uint64_t)param("address")),
		   "a line of the log with the address, in hexadecimal", "none");
	close(log);

	fd = guest_open();
	check_jobs(fd, 5, "after a GPU fault");
	rule("a fault that was served is cleared: else its line is up for ever");
	see("gpu-interrupts", (int64_t)handler_of("agate-gpu").count);
	close(fd);
}
