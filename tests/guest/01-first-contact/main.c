// SPDX-License-Identifier: MIT
/* Lab 01's test program. */
#include "function.h"
#include "graded.h"
#include "tests.h"

#define TEST(name, function)	{ name, function, driver_leave }

static const struct graded_test tests[] = {
	TEST("unwind-function", test_unwind_function),
	TEST("unwind-bus", test_unwind_bus),
	TEST("reset", test_reset),
	TEST("quiet-leave", test_quiet_leave),
	TEST("reset-waits", test_reset_waits),
	TEST("reset-never-ends", test_reset_never_ends),
	TEST("function", test_function),
	TEST("identity", test_identity),
	TEST("reset-falls-back", test_reset_falls_back),
	TEST("lost", test_lost),
	TEST("vectors", test_vectors),
	TEST("unwind-vectors", test_unwind_vectors),
	TEST("masks", test_masks),
	TEST("served", test_served),
	TEST("spurious", test_spurious),
	TEST("at-work", test_at_work),
	TEST("early", test_early),
	TEST("gpu-fault", test_gpu_fault),
	TEST("gone", test_gone),
	TEST("allocations", test_allocations),
	TEST("contexts", test_contexts),
	TEST("in-flight", test_in_flight),
};

GRADED_MAIN(tests)
