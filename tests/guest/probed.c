// SPDX-License-Identifier: MIT
/*
 * The test kit's own probes: one CPU calls a function all the time while another puts a probe
 * into it and takes the probe out again.
 *
 * Each time the first CPU translates the function anew (QEMU without KVM).  It must neither
 * miss a probe that is there nor meet one that is gone: then the guest hangs.
 */
#include "graded.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#define HOT	"_raw_spin_lock_irqsave"
#define ROUNDS	300

static atomic_bool over;
static atomic_uint calls;

static void stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	assert_int_equal(sched_setaffinity(0, sizeof(set), &set), 0);
}

/* A pipe's write wakes readers, under a lock. */
static void *call(void *arg)
{
	int *ends = arg;
	char byte = 0;

	stay_on(1);
	while (!atomic_load(&over)) {
		if (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1)
			break;
		atomic_fetch_add(&calls, 1);
	}
	return NULL;
}

/* Until a call that begins now has ended. */
static void await_call(void)
{
	unsigned int before = atomic_load(&calls);

	while (atomic_load(&calls) - before < 2)
		sched_yield();
}

static void every_probe_is_met_and_none_stays(void **state)
{
	pthread_t caller;
	int ends[2], i;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(pthread_create(&caller, NULL, call, ends), 0);
	stay_on(0);
	for (i = 0; i < ROUNDS; i++) {
		inject_anybody(true);
		inject_count(HOT);
		await_call();
		assert_true(inject_hits(HOT) > 0);
		inject_clear();
		await_call();
	}
	atomic_store(&over, true);
	assert_int_equal(pthread_join(caller, NULL), 0);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_probe_is_met_and_none_stays),
	};

	return cmocka_run_group_tests_name("probed", tests, NULL, NULL);
}
