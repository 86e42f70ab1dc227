// SPDX-License-Identifier: MIT
/* Lab 01's test program. */
#include "function.h"
#include "graded.h"
#include "log.h"
#include "tests.h"

/* Every test, and after it a look at the kernel's log. */
#define ALL_TESTS(T) \
	T("unwind-function", unwind_function) \
	T("unwind-bus", unwind_bus) \
	T("reset", reset) \
	T("quiet-leave", quiet_leave) \
	T("reset-waits", reset_waits) \
	T("reset-never-ends", reset_never_ends) \
	T("function", function) \
	T("identity", identity) \
	T("reset-falls-back", reset_falls_back) \
	T("lost", lost) \
	T("vectors", vectors) \
	T("unwind-vectors", unwind_vectors) \
	T("masks", masks) \
	T("served", served) \
	T("spurious", spurious) \
	T("at-work", at_work) \
	T("early", early) \
	T("gpu-fault", gpu_fault) \
	T("gone", gone) \
	T("allocations", allocations) \
	T("contexts", contexts) \
	T("in-flight", in_flight)

#define WATCH(name, function)				\
	static void watch_##function(void **state)	\
	{						\
		int log = log_open();			\
							\
		test_##function(state);			\
		check_log(log);				\
	}
ALL_TESTS(WATCH)

#define TEST(name, function)	{ name, watch_##function, driver_leave },

static const struct graded_test tests[] = { ALL_TESTS(TEST) };

GRADED_MAIN(tests)
