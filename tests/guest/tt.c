// SPDX-License-Identifier: MIT
/*
 * The states of the pages of a placed BO, step by step: after each step the pages have all that
 * their state has by kernel/agate_tt.h, and nothing of another state.
 */
#include "graded.h"

#include <fcntl.h>
#include <unistd.h>

#include "gpus.h"
#include "kmod/tt_steps.h"

#define TT		"/sys/kernel/debug/agate_tt"
#define LIST		512u			/* AGATE_TT_LIST_PAGES */
#define PAGES		(2 * LIST + 5)		/* three lists, and blocks of several sizes */

/* As kernel/agate_tt.h has them, and one that is UNPOPULATED there, too. */
enum place { UNPOPULATED, UNBOUND, BOUND, SWAPPED, PLACES };

static const struct {
	const char *name;
	uint32_t state;		/* enum agate_tt_state */
	uint32_t has;
} places[PLACES] = {
	[UNPOPULATED] = { "UNPOPULATED", UNPOPULATED, 0 },
	[UNBOUND] = { "UNBOUND", UNBOUND, TT_HAS_PAGES },
	[BOUND] = { "BOUND", BOUND,
		    TT_HAS_PAGES | TT_HAS_TABLE | TT_HAS_LISTS | TT_HAS_LIST_ADDRS },
	[SWAPPED] = { "UNPOPULATED, with a swap file,", UNPOPULATED, TT_HAS_SWAP },
};

static const char * const ops[] = {
	[TT_POPULATE] = "populate", [TT_UNPOPULATE] = "unpopulate", [TT_BIND] = "bind",
	[TT_UNBIND] = "unbind", [TT_SWAPOUT] = "swapout", [TT_FILL] = "write",
	[TT_LOOK] = "look",
};

/* The contract: where each step leads.  A refused one changes nothing. */
static const struct {
	enum place to;
	bool refused;
} contract[PLACES][TT_OPS] = {
	[UNPOPULATED] = {
		[TT_POPULATE] = { UNBOUND, false },
		[TT_UNPOPULATE] = { UNPOPULATED, true },
		[TT_BIND] = { UNPOPULATED, true },
		[TT_UNBIND] = { UNPOPULATED, true },
		[TT_SWAPOUT] = { UNPOPULATED, true },
	},
	[UNBOUND] = {
		[TT_POPULATE] = { UNBOUND, false },
		[TT_UNPOPULATE] = { UNPOPULATED, false },
		[TT_BIND] = { BOUND, false },
		[TT_UNBIND] = { UNBOUND, true },
		[TT_SWAPOUT] = { SWAPPED, false },
	},
	[BOUND] = {
		[TT_POPULATE] = { BOUND, false },
		[TT_UNPOPULATE] = { BOUND, true },
		[TT_BIND] = { BOUND, false },
		[TT_UNBIND] = { UNBOUND, false },
		[TT_SWAPOUT] = { BOUND, true },
	},
	[SWAPPED] = {
		[TT_POPULATE] = { UNBOUND, false },
		[TT_UNPOPULATE] = { SWAPPED, true },
		[TT_BIND] = { SWAPPED, true },
		[TT_UNBIND] = { SWAPPED, true },
		[TT_SWAPOUT] = { SWAPPED, true },
	},
};

/* Some pages, and where they have to be. */
struct pages {
	uint64_t count;
	enum place place;
	bool written;		/* the contents are not zero */
	char path[480];		/* the steps until now */
};

/* ---- What is said ---------------------------------------------------------------- */

#define says(pages, fmt, ...) \
	fail_msg("%s: " fmt "; see kernel/agate_tt.h", (pages)->path, ##__VA_ARGS__)

static void check_state(const struct pages *pages, const struct tt_step *seen)
{
	if (seen->state != places[pages->place].state)
		says(pages, "the state is %s, not %s",
		     seen->state < SWAPPED ? places[seen->state].name : "unknown",
		     places[pages->place].name);
	if (seen->count != pages->count)
		says(pages, "count is %llu, not %llu", seen->count,
		     (unsigned long long)pages->count);
}

static void check_members(const struct pages *pages, const struct tt_step *seen)
{
	static const struct {
		uint32_t bit;
		const char *name, *who;
	} members[] = {
		{ TT_HAS_PAGES, "pages", "in memory" },
		{ TT_HAS_TABLE, "sgt", "mapped for DMA" },
		{ TT_HAS_LISTS, "lists", "mapped for DMA" },
		{ TT_HAS_LIST_ADDRS, "list_addrs", "mapped for DMA" },
		{ TT_HAS_SWAP, "swap", "swapped out" },
	};

	for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
		bool is = seen->has & members[i].bit;

		if (is == !!(places[pages->place].has & members[i].bit))
			continue;
		if (is)
			says(pages, "%s is not NULL: only pages that are %s have it",
			     members[i].name, members[i].who);
		says(pages, "%s is NULL: pages that are %s have it", members[i].name,
		     members[i].who);
	}
}

static void check_list_of_device(const struct pages *pages, const struct tt_step *seen)
{
	if (seen->bound == (pages->place == BOUND))
		return;
	if (pages->place == BOUND)
		says(pages, "it is in ttm.bound %u times: when the device goes, all that is BOUND has to be found there, once",
		     seen->bound);
	says(pages, "it is still in ttm.bound, %u times: who walks that list may meet freed memory",
	     seen->bound);
}

static void check_contents(const struct pages *pages, const struct tt_step *seen)
{
	uint64_t right = pages->written ? seen->filled : seen->blank;

	if (!(places[pages->place].has & TT_HAS_PAGES) || right == pages->count)
		return;
	if (pages->written)
		says(pages, "page %llu has not what was written to it: only unpopulate loses contents",
		     (unsigned long long)right);
	says(pages, "page %llu has something in it: new pages are zero", (unsigned long long)right);
}

static void check_addresses(const struct pages *pages, const struct tt_step *seen)
{
	uint64_t lists = (pages->count + LIST - 1) / LIST;

	if (pages->place != BOUND)
		return;
	if (seen->sgt_pages != pages->count)
		says(pages, "sgt does not have page %llu as pages has it", seen->sgt_pages);
	if (seen->sgt_addresses != pages->count)
		says(pages, "sgt is not mapped for DMA from page %llu on", seen->sgt_addresses);
	if (seen->entries != pages->count)
		says(pages, "lists[%llu][%llu] is 0x%llx, and page %llu is at 0x%llx: the mover would use other memory",
		     seen->entries / LIST, seen->entries % LIST, seen->entry_is, seen->entries,
		     seen->entry_should_be);
	if (seen->list_addrs != lists)
		says(pages, "list_addrs[%llu] does not lead to lists[%llu]: the mover would find no list",
		     seen->list_addrs, seen->list_addrs);
}

/* ---- Steps ------------------------------------------------------------------------ */

/* What a test that fails leaves open, or -1. */
static int gpu = -1, file = -1;

static void close_one(int *fd)
{
	if (*fd >= 0)
		close(*fd);
	*fd = -1;
}

static struct pages pages_open(uint64_t count, uint32_t caching)
{
	struct pages pages = { .count = count, .place = UNPOPULATED, .path = "create" };
	struct tt_make make = { .size = count * PAGE, .caching = caching };

	file = open(TT, O_RDWR | O_CLOEXEC);
	assert_true(file >= 0);
	assert_int_equal(guest_ioctl(file, TT_MAKE, &make), 0);
	return pages;
}

/* Pages may be given back in any state. */
static void pages_close(void)
{
	assert_int_equal(guest_ioctl(file, TT_PARK, NULL), 0);
	close_one(&file);
}

static void add_to_path(struct pages *pages, const char *before, const char *what)
{
	size_t len = strlen(pages->path);

	snprintf(pages->path + len, sizeof(pages->path) - len, "%s%s", before, what);
}

static struct tt_step take(struct pages *pages, uint32_t op)
{
	struct tt_step step = { .op = op };

	add_to_path(pages, ", ", ops[op]);
	assert_int_equal(guest_ioctl(file, TT_STEP, &step), 0);
	return step;
}

static void check(const struct pages *pages, const struct tt_step *seen)
{
	check_state(pages, seen);
	check_members(pages, seen);
	check_list_of_device(pages, seen);
	check_contents(pages, seen);
	check_addresses(pages, seen);
}

/* A function that returns nothing cannot say that it refuses. */
static void check_refused(const struct pages *pages, const struct tt_step *seen)
{
	bool returns = seen->op == TT_BIND || seen->op == TT_SWAPOUT;

	if (returns && seen->result >= 0)
		says(pages, "it returns %lld, although pages that are %s cannot do that",
		     seen->result, places[pages->place].name);
}

static void check_accepted(const struct pages *pages, const struct tt_step *seen,
			   unsigned int warnings)
{
	int64_t result = seen->op == TT_SWAPOUT ? (int64_t)pages->count : 0;

	if (seen->result != result)
		says(pages, "it returns %lld, not %lld", seen->result, (long long)result);
	if (warnings)
		says(pages, "it warns, and this is no wrong order");
}

/* One that the contract refuses may warn; the kernel's log does not see it (hide_warnings()). */
static void step(struct pages *pages, enum tt_op op)
{
	unsigned int warnings = inject_hits("__warn");
	struct tt_step seen = take(pages, op);

	if (contract[pages->place][op].refused) {
		check_refused(pages, &seen);
	} else {
		check_accepted(pages, &seen, inject_hits("__warn") - warnings);
		pages->written &= op != TT_UNPOPULATE;
		pages->place = contract[pages->place][op].to;
	}
	check(pages, &seen);
}

static void write_all(struct pages *pages)
{
	struct tt_step seen = take(pages, TT_FILL);

	assert_int_equal(seen.result, 0);
	pages->written = true;
	check(pages, &seen);
}

/* They are counted; in the log only the line before each of them is left. */
static int hide_warnings(void **state)
{
	(void)state;
	inject_fail_null("__warn", 0);
	return 0;
}

static int show_warnings(void **state)
{
	(void)state;
	inject_clear();
	close_one(&file);
	close_one(&gpu);
	return 0;
}

static int teardown(void **state)
{
	show_warnings(state);
	return guest_teardown(state);
}

/* ---- Tests ------------------------------------------------------------------------- */

static void live(uint64_t count, uint32_t caching)
{
	static const enum tt_op once_more[] = {
		TT_BIND, TT_UNBIND, TT_POPULATE, TT_BIND, TT_UNBIND, TT_SWAPOUT, TT_POPULATE,
		TT_BIND, TT_UNBIND, TT_UNPOPULATE, TT_POPULATE,
	};
	struct pages pages = pages_open(count, caching);

	step(&pages, TT_POPULATE);
	write_all(&pages);
	for (size_t i = 0; i < sizeof(once_more) / sizeof(once_more[0]); i++)
		step(&pages, once_more[i]);
	pages_close();
}

static void a_life(void **state)
{
	(void)state;
	gpu = gpus_open(0);
	live(PAGES, AGATE_CACHING_WB);
	live(LIST, AGATE_CACHING_WC);
	live(1, AGATE_CACHING_UC);
	close_one(&gpu);
	guest_assert_nothing_left();
}

/* New pages, led there. */
static struct pages pages_at(enum place place)
{
	struct pages pages = pages_open(PAGES, AGATE_CACHING_WB);

	if (place == UNPOPULATED)
		return pages;
	step(&pages, TT_POPULATE);
	write_all(&pages);
	if (place == BOUND)
		step(&pages, TT_BIND);
	else if (place == SWAPPED)
		step(&pages, TT_SWAPOUT);
	return pages;
}

/* Every step from everywhere; afterwards the pages are still good for all the others. */
static void any_order(void **state)
{
	(void)state;
	gpu = gpus_open(0);
	for (enum place place = 0; place < PLACES; place++) {
		for (enum tt_op op = 0; op < TT_OPS; op++) {
			struct pages pages = pages_at(place);

			step(&pages, op);
			step(&pages, TT_POPULATE);
			step(&pages, TT_BIND);
			step(&pages, TT_UNBIND);
			pages_close();
		}
	}
	close_one(&gpu);
	guest_assert_nothing_left();
}

static void bind_in_vain(struct pages *pages, const char *function, unsigned int nth, int err)
{
	struct tt_step seen;

	inject_within("agate_tt_bind");
	if (err)
		inject_fail(function, nth, err);
	else
		inject_fail_null(function, nth);
	seen = take(pages, TT_BIND);
	add_to_path(pages, " without ", function);
	assert_int_equal(inject_hits(function), nth);
	inject_clear();
	if (seen.result != -ENOMEM)
		says(pages, "it returns %lld, not -ENOMEM", seen.result);
	check(pages, &seen);
}

/* Half of it is worse than nothing: whatever fails, the pages are UNBOUND as they were. */
static void bind_fails(void **state)
{
	struct pages pages;

	gpu = gpus_open(0);
	pages = pages_at(UNBOUND);
	/* Here none may be hidden. */
	inject_clear();
	bind_in_vain(&pages, "sg_alloc_table_from_pages_segment", 1, ENOMEM);
	/* The memory for bouncing is full. */
	bind_in_vain(&pages, "dma_map_sgtable", 1, EIO);
	for (unsigned int list = 1; list <= (PAGES + LIST - 1) / LIST; list++) {
		bind_in_vain(&pages, "get_zeroed_page", list, 0);
		/* DMA_MAPPING_ERROR is -1. */
		bind_in_vain(&pages, "dma_map_page_attrs", list, EPERM);
	}
	hide_warnings(state);
	step(&pages, TT_BIND);
	pages_close();
	close_one(&gpu);
	guest_assert_nothing_left();
}

/* No page stays mapped for a device that has gone, and none is mapped again; the bytes stay. */
static void device_goes(void **state)
{
	char name[GPUS_NAME];
	struct tt_step seen;
	struct pages pages;

	(void)state;
	gpu = gpus_open_named(0, name);
	pages = pages_at(BOUND);
	assert_int_equal(device_unbind_one(name), 0);
	pages.place = UNBOUND;
	add_to_path(&pages, ", ", "the device goes");
	seen = take(&pages, TT_LOOK);
	check(&pages, &seen);
	seen = take(&pages, TT_BIND);
	if (seen.result != -ENODEV)
		says(&pages, "it returns %lld, not -ENODEV", seen.result);
	check(&pages, &seen);
	pages_close();
	close_one(&gpu);
	assert_int_equal(device_bind_one(name), 0);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_life, hide_warnings, teardown),
		cmocka_unit_test_setup_teardown(any_order, hide_warnings, teardown),
		cmocka_unit_test_setup_teardown(bind_fails, hide_warnings, teardown),
		cmocka_unit_test_setup_teardown(device_goes, hide_warnings, show_warnings),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("tt", tests, NULL, NULL);
}
