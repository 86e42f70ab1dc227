// SPDX-License-Identifier: MIT
/* Lab 09, graded: the tests by the names that labs/09-bo-cache/lab.json has. */
#include "cache.h"

static const struct graded_test tests[] = {
	{ "buckets", test_buckets, NULL },
	{ "calls-of-a-put", test_calls_of_a_put, NULL },
	{ "shared", test_shared, NULL },
	{ "put-refused", test_put_refused, NULL },
	{ "switch", test_switch, NULL },
	{ "calls-of-a-fetch", test_calls_of_a_fetch, NULL },
	{ "what-fits", test_what_fits, NULL },
	{ "oldest-that-fits", test_oldest_that_fits, NULL },
	{ "labels", test_labels, NULL },
	{ "purged", test_purged, NULL },
	{ "fetch-fails", test_fetch_fails, NULL },
	{ "busy-oldest", test_busy_oldest, NULL },
	{ "busy-with-a-reader", test_busy_with_a_reader, NULL },
	{ "no-memory-waits", test_no_memory_waits, NULL },
	{ "wait-holds-up-nobody", test_wait_holds_up_nobody, NULL },
	{ "stale-boundary", test_stale_boundary, NULL },
	{ "stale-next-put", test_stale_next_put, NULL },
	{ "stale-in-order", test_stale_in_order, NULL },
	{ "no-memory-evicts", test_no_memory_evicts, NULL },
	{ "close-empties", test_close_empties, NULL },
	{ "stats", test_stats, NULL },
	{ "crowd", test_crowd, NULL },
	{ "pressure", test_pressure, NULL },
};

GRADED_MAIN(tests)
