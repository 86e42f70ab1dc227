// SPDX-License-Identifier: MIT
/* Lab 03, graded: the tests by the names that labs/03-cma/lab.json has. */
#include "cma.h"

static const struct graded_test tests[] = {
	{ "topic", test_topic, NULL },
	{ "created", test_created, NULL },
	{ "released", test_released, NULL },
	{ "quiet", test_quiet, NULL },
	{ "exhausted", test_exhausted, NULL },
	{ "no-memory", test_no_memory, NULL },
	{ "runs", test_runs, NULL },
	{ "gpu", test_gpu, NULL },
	{ "mapped", test_mapped, NULL },
	{ "zeroed", test_zeroed, NULL },
	{ "unplugged", test_unplugged, NULL },
	{ "table", test_table, NULL },
	{ "table-memory", test_table_memory, NULL },
	{ "kernel-map", test_kernel_map, NULL },
	{ "allocations", test_allocations, NULL },
	{ "table-allocations", test_table_allocations, NULL },
	{ "outlives", test_outlives, NULL },
};

GRADED_MAIN(tests)
