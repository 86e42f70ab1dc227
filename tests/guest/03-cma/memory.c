// SPDX-License-Identifier: MIT
/* Lab 03, step 1: a BO's memory, from CREATE_BO to its end, and when there is none. */
#include "cma.h"

#include <stdio.h>
#include <unistd.h>

#include "clients.h"

#define MOST_LARGE	64
#define REFUSALS	100
#define MOST_KEPT	64
#define LIVES		6000
#define LIVES_KB	100	/* half of what a table of one entry takes, LIVES times */

/* Bind without a device for the memory: is the topic there?  The errno of the probe. */
static int bind_without(int err, bool *present)
{
	struct drm_agate_get_param arg = { .param = DRM_AGATE_PARAM_FEATURES };
	int fd, probe;

	*present = false;
	assert_int_equal(device_unbind(), 0);
	inject_fail("agate_mem_dev_init", 0, err);
	probe = device_bind();
	inject_clear();
	if (!probe) {
		fd = guest_open();
		*present = !guest_ioctl(fd, DRM_IOCTL_AGATE_GET_PARAM, &arg) &&
			   (arg.value & AGATE_FEATURE_CMA);
		close(fd);
		assert_int_equal(device_unbind(), 0);
	}
	assert_int_equal(device_bind(), 0);
	return probe;
}

static void results_of_topic(void)
{
	bool present;
	int err = bind_without(EOPNOTSUPP, &present);

	rule("the result of agate_mem_dev_init() is that of agate_cma_topic_init()");
	check_errno(err, 0, "a probe where the GPU is behind an IOMMU");
	check_true(!present, "no topic cma where the GPU is behind an IOMMU", "the topic is there");
	err = bind_without(ENOMEM, &present);
	check_errno(err, ENOMEM, "a probe without memory for mem_dev");
}

void test_topic(void **state)
{
	int fd = cma_open();
	struct bo bo;

	(void)state;
	bo = make_piece(fd, PAGE);
	guest_destroy(&bo);
	close(fd);
	results_of_topic();
}

void test_created(void **state)
{
	const long pages = (long)param("PAGES");
	int fd = cma_open();
	const long before = area_used();
	char text[96];
	struct bo bo;

	(void)state;
	bo = make_piece(fd, (uint64_t)pages * PAGE - (uint64_t)param("SHORT"));
	rule("a BO has all of its memory when CREATE_BO returns, and no more than its pages");
	check_area(before + pages, "after a CREATE_BO");
	rule("a BO in one piece is listed with its size, which is resident");
	snprintf(text, sizeof(text), "size=%ld resident=%ld ", pages * (long)PAGE,
		 pages * (long)PAGE);
	check_true(guest_debugfs_says("bos", text), text, "no such line in debugfs' list");
	guest_destroy(&bo);

	rule("every size from a page on can be had in one piece");
	for (uint64_t size = 1; size <= LARGE; size *= 4) {
		bo = make_piece(fd, size);
		guest_destroy(&bo);
	}
	close(fd);
}

static void make_and_wait(void *arg)
{
	int fd = guest_open();

	(void)arg;
	make_piece(fd, LARGE);
	make_piece(fd, PAGE);
}

/* No counter knows of a table, but the slabs do. */
static void many_lives(int fd)
{
	struct bo bo;
	long slab = 0;

	for (unsigned int i = 0; i < LIVES + 100; i++) {
		if (i == 100)
			slab = guest_slab_kb();
		bo = make_piece(fd, PAGE);
		guest_destroy(&bo);
	}
	rule("a BO that dies leaves no memory behind, neither its piece nor anything beside it");
	for (int i = 0; i < 100 && guest_slab_kb() - slab > LIVES_KB; i++)
		usleep(10000);
	if (guest_slab_kb() - slab > LIVES_KB)
		broken("no growth of the kernel's memory", "%ld KiB more after %u BOs",
		       guest_slab_kb() - slab, LIVES);
}

void test_released(void **state)
{
	const uint64_t size = (uint64_t)param("PAGES") * PAGE;
	int fd = cma_open();
	const long before = area_used();
	struct bo bo;

	(void)state;
	for (int i = 0; i < 20; i++) {
		bo = make_piece(fd, size);
		check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
		rule("a BO's memory goes back to the area when the BO dies");
		check_area(before, "after GEM_CLOSE of the only BO");
	}
	for (int killed = 0; killed < 2; killed++) {
		clients_end(make_and_wait, NULL, killed);
		rule("a BO's memory goes back to the area when the BO dies");
		check_area(before, "after the end of a process that had BOs");
	}
	many_lives(fd);
	close(fd);
	check_nothing_left();
}

/* Make large BOs until there is no piece left; their number. */
static long take_all(int fd)
{
	struct bo bo;
	long count = 0;
	int err;

	rule("without a piece of that size CREATE_BO gives ENOMEM");
	while (count < MOST_LARGE && !(err = guest_create(fd, LARGE, AGATE_BO_CONTIGUOUS, &bo)))
		count++;
	check_errno(err, ENOMEM, "CREATE_BO of 8 MiB with the area full");
	check_at_least(count, 2, "BOs of 8 MiB that fit");
	return count;
}

static void refused_for_nothing(int fd)
{
	const long full = area_used();
	struct bo bo;

	for (unsigned int i = 0; i < REFUSALS; i++) {
		rule("without a piece of that size CREATE_BO gives ENOMEM");
		check_errno(guest_create(fd, LARGE, AGATE_BO_CONTIGUOUS, &bo), ENOMEM,
			    "CREATE_BO of 8 MiB with the area full");
	}
	rule("a CREATE_BO that fails takes nothing");
	check_area(full, "after CREATE_BOs that failed");
	rule("with the area full, others still get memory");
	bo = guest_bo(fd, LARGE, 0);
	guest_destroy(&bo);
	/* From the page allocator. */
	bo = make_piece(fd, 4 * PAGE);
	guest_destroy(&bo);
}

void test_exhausted(void **state)
{
	int fd = cma_open();
	const long before = area_used();
	long count, taken;

	(void)state;
	close(fd);
	for (int turn = 0; turn < 3; turn++) {
		fd = guest_open();
		count = take_all(fd);
		rule("a BO has all of its memory when CREATE_BO returns, and no more than its pages");
		taken = area_used() - before;
		check_equal(taken, count * (long)(LARGE / PAGE), "pages of the area that BOs took");
		refused_for_nothing(fd);
		close(fd);
		rule("a BO's memory goes back to the area when the BO dies");
		check_area(before, "after the last close");
	}
	check_nothing_left();
}

/*
 * The page allocator finds nothing, for this memory alone.  out_of_memory() would kill somebody,
 * so it is not entered; neither is what prints a stack for a warning.  A driver may have kept
 * some memory for later, which goes first.
 */
static void no_page(int fd)
{
	unsigned int tried, killers, warnings, kept = 0;
	struct bo bo;
	int err;

	inject_within("warn_alloc");
	inject_fail_null("dump_stack", 0);
	inject_within("dma_alloc_attrs");
	inject_fail_null("get_page_from_freelist", 0);
	inject_fail_null("out_of_memory", 0);
	do {
		err = guest_create(fd, PAGE, AGATE_BO_CONTIGUOUS, &bo);
		tried = inject_hits("get_page_from_freelist");
	} while (!err && !tried && ++kept < MOST_KEPT);
	killers = inject_hits("out_of_memory");
	warnings = inject_hits("dump_stack");
	inject_clear();
	rule("a client that asks for too much gets -ENOMEM: the OOM killer does not run");
	check_at_least(tried, 1, "attempts of the DMA API to get a page");
	check_true(err, "an error", "a BO without memory");
	check_equal(killers, 0, "calls of the OOM killer");
	rule("a client that asks for too much gets -ENOMEM: no warning appears in the log");
	check_equal(warnings, 0, "warnings of the page allocator");
}

void test_quiet(void **state)
{
	static const uint64_t sizes[] = { AGATE_BO_MAX_SIZE, 128u << 20, 65u << 20 };
	int fd = cma_open();
	struct bo bo;

	(void)state;
	bo = make_piece(fd, PAGE);
	guest_destroy(&bo);
	no_page(fd);
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		const char *warning;

		log_watch();
		rule("a client that asks for too much gets -ENOMEM: no warning appears in the log");
		check_errno(guest_create(fd, sizes[i], AGATE_BO_CONTIGUOUS, &bo), ENOMEM,
			    "CREATE_BO of more than the area has");
		warning = log_warning();
		if (warning)
			broken("nothing in the log", "\"%s\"", warning);
	}
	close(fd);
}

/* One call of a function that CREATE_BO may need fails. */
static void create_without(int fd, const char *symbol, bool null)
{
	const long before = area_used();
	char what[96];
	struct bo bo;
	int err;

	if (null)
		inject_fail_null(symbol, 1);
	else
		inject_fail(symbol, 1, ENOMEM);
	err = guest_create(fd, LARGE, AGATE_BO_CONTIGUOUS, &bo);
	snprintf(what, sizeof(what), "CREATE_BO when %s() fails", symbol);
	rule("when something that CREATE_BO needs fails, CREATE_BO gives ENOMEM");
	if (inject_hits(symbol) || err)
		check_errno(err, ENOMEM, what);
	inject_clear();
	if (!err)
		guest_destroy(&bo);
	rule("a CREATE_BO that fails takes nothing");
	check_area(before, "after CREATE_BOs that failed");
	bo = make_piece(fd, LARGE);
	guest_destroy(&bo);
}

void test_no_memory(void **state)
{
	int fd = cma_open();
	struct bo bo = make_piece(fd, PAGE);

	(void)state;
	guest_destroy(&bo);
	create_without(fd, "dma_alloc_attrs", true);
	create_without(fd, "dma_get_sgtable_attrs", false);
	create_without(fd, "sg_alloc_table", false);
	create_without(fd, "drm_gem_handle_create", false);
	close(fd);
}
