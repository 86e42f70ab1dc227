// SPDX-License-Identifier: MIT
/* Lab 04, graded: the tests by the names that labs/04-shmem/lab.json has. */
#include "shmem.h"

static const struct graded_test tests[] = {
	{ "lazy", test_lazy, NULL },
	{ "touch", test_touch, NULL },
	{ "neighbours", test_neighbours, NULL },
	{ "given-back", test_given_back, NULL },
	{ "kept", test_kept, NULL },
	{ "no-page", test_no_page, NULL },
	{ "pin", test_pin, NULL },
	{ "sg-table", test_sg_table, NULL },
	{ "vmap", test_vmap, NULL },
	{ "uses", test_uses, NULL },
	{ "half", test_half, NULL },
	{ "gpu", test_gpu, NULL },
	{ "parts", test_parts, NULL },
	{ "once", test_once, NULL },
	{ "dma-failure", test_dma_failure, NULL },
	{ "unplugged", test_unplugged, NULL },
	{ "purge", test_purge, NULL },
	{ "fault-purge", test_fault_purge, NULL },
	{ "bounced", test_bounced, NULL },
	{ "lives", test_lives, NULL },
	{ "allocations", test_allocations, NULL },
};

GRADED_MAIN(tests)
