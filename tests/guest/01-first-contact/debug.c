// SPDX-License-Identifier: MIT
/* What only the debug kernel sees: contexts, lifetimes, allocations that fail. */
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include "function.h"
#include "graded.h"
#include "hardware.h"
#include "tests.h"
#include "work.h"

/* All that takes a lock or sleeps, once: the checkers say what was wrong with it. */
void test_contexts(void **state)
{
	struct bo big;
	int fd;

	(void)state;
	driver_load();
	driver_take("context");
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
	rule("the driver lets the GPU go");
	check_errno(driver_unbind(), 0, "unbinding");
}

/* Handlers run on CPU 0, and the test somewhere else: neither waits for the other. */
static void part_cpus(void)
{
	cpu_set_t others;
	int fd = open("/proc/irq/default_smp_affinity", O_WRONLY | O_CLOEXEC);

	CPU_ZERO(&others);
	for (int cpu = 1; cpu < (int)sysconf(_SC_NPROCESSORS_ONLN); cpu++)
		CPU_SET(cpu, &others);
	if (fd < 0 || write(fd, "1", 1) != 1 || sched_setaffinity(0, sizeof(others), &others))
		fail_msg("interrupts and test cannot be parted: %s", strerror(errno));
	close(fd);
}

#define ROUNDS		3
#define ARRIVAL_US	10000		/* for the message to reach its handler */
#define THREAD_US	40000		/* what its thread then dawdles */

/*
 * The GPU takes a fault as soon as the mask is open, at the end of agate_pci_init().
 * Right after it the probe fails: agate_pci_fini() begins while the vector's thread,
 * if it has one, is about to call what serves it.
 */
void test_in_flight(void **state)
{
	bool hit = false;

	(void)state;
	part_cpus();
	driver_load();
	for (unsigned int i = 0; i < ROUNDS && !hit; i++) {
		int err;

		inject_delay_return("agate_pci_init", 1, ARRIVAL_US);
		inject_fail("agate_topics_init", 1, EIO);
		inject_anybody(true);
		inject_delay_entry("irq_thread_fn", 1, THREAD_US);
		inject_anybody(false);
		err = driver_bind();
		hit = inject_hits("irq_thread_fn");
		inject_clear();
		rule("the driver can go while a handler is at work");
		check_errno(err, EIO, "the probe");
	}
	check_left_clean("a probe that failed with an interrupt in flight");
}

/*
 * The first allocation of a step fails: the kernel passes that on, as it does not
 * with every later one (it does without a file in /proc, for one).  What the probe
 * then undoes, it undoes under every checker there is.
 */
void test_allocations(void **state)
{
	(void)state;
	driver_load();
	inject_within("__pci_enable_msix_range");
	inject_fail("should_failslab", 1, ENOMEM);
	rule("a probe without the memory for its vectors fails with that error");
	check_errno(driver_bind(), ENOMEM, "the probe");
	inject_clear();
	inject_fail("request_threaded_irq", 4, ENOMEM);
	rule("a probe without the memory for its last handler fails with that error");
	check_errno(driver_bind(), ENOMEM, "the probe");
	check_left_clean("a probe without memory");
}
