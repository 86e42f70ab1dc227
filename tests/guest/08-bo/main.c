// SPDX-License-Identifier: MIT
/* Lab 08, graded: the tests by the names that labs/08-bo/lab.json has. */
#include "bo.h"

static const struct graded_test tests[] = {
	{ "array", test_array, NULL },
	{ "array-memory", test_array_memory, NULL },
	{ "array-threads", test_array_threads, NULL },
	{ "sizes", test_sizes, NULL },
	{ "arguments", test_arguments, NULL },
	{ "kernel-flags", test_kernel_flags, NULL },
	{ "slots", test_slots, NULL },
	{ "labels", test_labels, NULL },
	{ "mapped", test_mapped, NULL },
	{ "fails", test_fails, NULL },
	{ "references", test_references, NULL },
	{ "slot-again", test_slot_again, NULL },
	{ "closing", test_closing, NULL },
	{ "cached", test_cached, NULL },
	{ "threads", test_threads, NULL },
	{ "export", test_export, NULL },
	{ "import", test_import, NULL },
	{ "bad-imports", test_bad_imports, NULL },
	{ "import-races", test_import_races, NULL },
	{ "revived", test_revived, NULL },
	{ "nobody-waits", test_nobody_waits, NULL },
	{ "wait-asks", test_wait_asks, NULL },
	{ "wait-busy", test_wait_busy, NULL },
	{ "wait-submit", test_wait_submit, NULL },
	{ "allocations", test_allocations, NULL },
	{ "storm", test_storm, NULL },
};

GRADED_MAIN(tests)
