// SPDX-License-Identifier: MIT
/* Lab 03, step 2: what the GPU gets of a BO in one piece. */
#include "cma.h"

#include <stdio.h>
#include <unistd.h>

/* A part of the newest BO, which begins at @base. */
static void check_part(uint64_t base, uint64_t offset, uint64_t size)
{
	struct piece_call call = ask(PIECE_RUNS, offset, size, 0);
	char what[96];

	snprintf(what, sizeof(what), "populate() of %#llx bytes at %#llx",
		 (unsigned long long)size, (unsigned long long)offset);
	rule("populate() gives a part of the BO");
	check_errno(call.result, 0, what);
	rule("populate() says that the part has no table: sg of *runs is NULL, whatever it was");
	check_equal(call.unset, 0, "fields of *runs that stayed as they were");
	rule("a part is one run, where the BO's bus address and the offset say, and no longer");
	check_equal(call.count, 1, "runs");
	check_equal((int64_t)call.bytes, (int64_t)size, "bytes in the runs of a part");
	check_equal((int64_t)(call.addr - base), (int64_t)offset,
		    "bytes from the BO's first address to the part's");
}

static void check_refused(uint64_t offset, uint64_t size)
{
	char what[96];

	rule("populate() gives -EINVAL for what is no part of the BO");
	snprintf(what, sizeof(what), "populate() of %#llx bytes at %#llx",
		 (unsigned long long)size, (unsigned long long)offset);
	check_errno(ask(PIECE_RUNS, offset, size, 0).result, EINVAL, what);
}

void test_runs(void **state)
{
	const uint64_t pages = (uint64_t)param("PAGES"), size = pages * PAGE;
	const uint64_t at = (uint64_t)param("AT") * PAGE;
	int fd = cma_open();
	struct bo bo = make_piece(fd, size);
	struct piece_call call = ask(PIECE_RUNS, 0, size, 0);

	(void)state;
	rule("populate() gives a part of the BO");
	check_errno(call.result, 0, "populate() of the whole BO");
	check_part(call.addr, 0, size);
	check_part(call.addr, 0, PAGE);
	check_part(call.addr, at, PAGE);
	check_part(call.addr, at, size - at);
	check_part(call.addr, size - PAGE, PAGE);
	rule("the run is the memory that other devices get as well");
	check_equal((int64_t)(ask(PIECE_RUNS, 0, PAGE, 0).addr), (int64_t)call.addr,
		    "the address of the first page, asked again");
	check_refused(size, PAGE);
	check_refused(0, size + PAGE);
	check_refused(at, size - at + PAGE);
	check_refused(size - PAGE, 2 * PAGE);
	check_refused(size + PAGE, PAGE);
	check_refused(at, (1ull << 32) + PAGE);
	check_refused((1ull << 32) + at * PAGE, PAGE);
	/* These are 0 for whoever counts pages in 32 bits. */
	check_refused(1ull << 44, PAGE);
	check_refused(at, (1ull << 44) + PAGE);
	/* The sum of these two wraps. */
	check_refused(at, UINT64_MAX - PAGE + 1);
	check_refused(UINT64_MAX - PAGE + 1, 2 * PAGE);
	guest_destroy(&bo);
	close(fd);
	check_nothing_left();
}

/* The CPU sees @plain only. */
void test_gpu(void **state)
{
	const uint64_t pages[] = { 0, 1, 255, 256, 511, 512, 1024, LARGE / PAGE - 1 };
	const size_t n = sizeof(pages) / sizeof(pages[0]);
	int fd = cma_open();
	struct bo bo = make_piece(fd, LARGE);
	struct bo plain = guest_bo(fd, 2 * PAGE, AGATE_BO_NOEXEC);
	volatile uint64_t *words = plain.cpu;

	(void)state;
	for (size_t i = 0; i < n; i++)
		words[i] = 0x1000 + i;
	for (size_t i = 0; i < n; i++)
		gpu_copies(&plain, &bo, bo.va + pages[i] * PAGE + 64, plain.va + i * 8);
	for (size_t i = 0; i < n; i++)
		gpu_copies(&plain, &bo, plain.va + PAGE + i * 8, bo.va + pages[i] * PAGE + 64);
	rule("each page of a BO keeps what the GPU wrote there");
	for (size_t i = 0; i < n; i++)
		check_equal((int64_t)words[PAGE / 8 + i], (int64_t)(0x1000 + i),
			    "what the GPU read of a page");
	guest_destroy(&plain);
	guest_destroy(&bo);
	close(fd);
	check_nothing_left();
}
