// SPDX-License-Identifier: MIT
/* Lab 02, graded: the tests by the names that labs/02-gem-object/lab.json has. */
#include "gem.h"

static const struct graded_test tests[] = {
	{ "topic", test_topic, NULL },
	{ "bad-sizes", test_bad_sizes, NULL },
	{ "bad-flags", test_bad_flags, NULL },
	{ "address", test_address, NULL },
	{ "handle", test_handle, NULL },
	{ "sizes", test_sizes, NULL },
	{ "flags", test_flags, NULL },
	{ "listed-complete", test_listed_complete, NULL },
	{ "lookup", test_lookup, NULL },
	{ "close", test_close, NULL },
	{ "other-file", test_other_file, NULL },
	{ "mapped", test_mapped, NULL },
	{ "file-close", test_file_close, NULL },
	{ "many", test_many, NULL },
	{ "label", test_label, NULL },
	{ "label-refused", test_label_refused, NULL },
	{ "label-lock", test_label_lock, NULL },
	{ "label-fetched-once", test_label_fetched_once, NULL },
	{ "label-stalled", test_label_stalled, NULL },
	{ "complete", test_complete, NULL },
	{ "closed-early", test_closed_early, NULL },
	{ "release-order", test_release_order, NULL },
	{ "list-lock", test_list_lock, NULL },
	{ "no-addresses", test_no_addresses, NULL },
	{ "no-memory", test_no_memory, NULL },
	{ "too-much", test_too_much, NULL },
	{ "destroyed", test_destroyed, NULL },
	{ "allocations", test_allocations, NULL },
	{ "label-closed", test_label_closed, NULL },
	{ "race", test_race, NULL },
	{ "locks", test_locks, NULL },
};

GRADED_MAIN(tests)
