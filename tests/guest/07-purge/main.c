// SPDX-License-Identifier: MIT
/* Lab 07, graded: the tests by the names that labs/07-purge/lab.json has. */
#include "purge.h"

static const struct graded_test tests[] = {
	{ "advice", test_advice, NULL },
	{ "bad-calls", test_bad_calls, NULL },
	{ "label", test_label, NULL },
	{ "count", test_count, NULL },
	{ "scan", test_scan, NULL },
	{ "order", test_order, NULL },
	{ "purged", test_purged, NULL },
	{ "mapped", test_mapped, NULL },
	{ "system", test_system, NULL },
	{ "tries", test_tries, NULL },
	{ "fault-race", test_fault_race, NULL },
	{ "advice-race", test_advice_race, NULL },
	{ "shared", test_shared, NULL },
	{ "busy", test_busy, NULL },
	{ "gpu", test_gpu, NULL },
	{ "submit-race", test_submit_race, NULL },
	{ "pressure", test_pressure, NULL },
	{ "lives", test_lives, NULL },
	{ "closing", test_closing, NULL },
	{ "allocations", test_allocations, NULL },
};

GRADED_MAIN(tests)
