// SPDX-License-Identifier: MIT
/* Lab 02: what has to be undone when a step of CREATE_BO fails. */
#include "gem.h"

#include <stdio.h>
#include <unistd.h>

#include "fail_nth.h"

#define MOST_ALLOCATIONS	400
#define WARM_UP			100
#define FAILURES		1000
/* A size that no other test uses. */
#define MASK_PAGES		161

/* 4 GiB less 32 MiB of addresses, and a BO may have one: three fit. */
void test_no_addresses(void **state)
{
	struct bo bo[8];
	struct live before, full;
	int fd = gem_open(), n = 0, err = 0;

	(void)state;
	before = live_now();
	rule("CREATE_BO takes addresses until there are none, and then gives ENOSPC");
	while (n < 8 && !(err = gem_create(fd, AGATE_BO_MAX_SIZE, AGATE_BO_NOEXEC, &bo[n])))
		n++;
	check_errno(err, ENOSPC, "CREATE_BO of 1 GiB without room for it");
	check_at_least(n, 1, "BOs of 1 GiB that were made before");

	rule("a BO that gets no handle is not left behind");
	full = before;
	full.bos += n;
	full.handles += n;
	full.va_nodes += n;
	for (int i = 0; i < 4; i++) {
		check_live(&full);
		check_errno(gem_create(fd, AGATE_BO_MAX_SIZE, 0, &bo[7]), ENOSPC,
			    "CREATE_BO of 1 GiB without room for it");
	}
	check_live(&full);
	rule("addresses of a BO that is closed can be used again");
	check_errno(guest_close_handle(fd, bo[0].handle), 0, "GEM_CLOSE");
	bo[0] = make_bo(fd, AGATE_BO_MAX_SIZE, AGATE_BO_NOEXEC);
	check_live(&full);
	close(fd);
}

#define OBJECT_INIT	"agate_backing_object_init"

/*
 * The GEM object's initialisation fails: what it has set up remains.  A program that does without
 * this function makes the file of the BO itself.
 */
static void fail_object_init(unsigned int nth, int err)
{
	inject_fail_return(OBJECT_INIT, nth, err);
	inject_fail("shmem_file_setup", nth, err);
}

/*
 * A CREATE_BO after fail_object_init(); false when nothing failed, because the program calls
 * drm_gem_private_object_init() by itself: then its BO is closed again.
 */
static bool create_in_vain(int fd, int *err)
{
	struct bo bo;
	bool failed;

	*err = gem_create(fd, PAGE, 0, &bo);
	failed = inject_hits(OBJECT_INIT) || inject_hits("shmem_file_setup");
	if (!failed) {
		check_errno(*err, 0, "CREATE_BO");
		check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	}
	return failed;
}

/* What a CREATE_BO gave because @symbol failed with @err, and what it left. */
static void check_failure(int fd, int seen, const char *symbol, int err, const struct live *before)
{
	char what[96];
	struct bo bo;

	rule("when memory runs out CREATE_BO gives ENOMEM: ENOSPC is for GPU addresses");
	snprintf(what, sizeof(what), "CREATE_BO when %s() fails with errno %d", symbol, err);
	check_errno(seen, ENOMEM, what);
	rule("a CREATE_BO that fails leaves nothing behind, and the next one works");
	check_live(before);
	bo = make_bo(fd, PAGE, 0);
	check_equal(bo.handle, 1, "the first handle that is made");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	check_live(before);
}

/* One call of a function that CREATE_BO needs fails. */
static void create_without(int fd, const char *symbol, int err)
{
	struct live before = live_now();
	struct bo bo;
	int seen;

	rule("CREATE_BO undoes what it has done when %s() fails", symbol);
	inject_fail(symbol, 1, err);
	seen = gem_create(fd, PAGE, 0, &bo);
	inject_clear();
	check_failure(fd, seen, symbol, err, &before);
}

static void create_without_object(int fd, int err)
{
	struct live before = live_now();
	bool failed;
	int seen;

	fail_object_init(1, err);
	failed = create_in_vain(fd, &seen);
	inject_clear();
	if (failed)
		check_failure(fd, seen, OBJECT_INIT, err, &before);
}

/* What the GEM object's initialisation begins drm_gem_object_release() ends, also when it failed. */
static void init_is_undone(int fd)
{
	unsigned int begun, released;
	bool failed;
	int err;

	fail_object_init(1, ENOMEM);
	inject_count("drm_gem_private_object_init");
	inject_count("drm_gem_object_init");
	inject_count("drm_gem_object_release");
	failed = create_in_vain(fd, &err);
	/* The first may be part of the second. */
	begun = inject_hits("drm_gem_private_object_init") || inject_hits("drm_gem_object_init");
	released = inject_hits("drm_gem_object_release");
	inject_clear();
	if (!failed)
		return;
	check_errno(err, ENOMEM, "CREATE_BO when " OBJECT_INIT "() fails");
	rule("a GEM object whose initialisation was tried is released: drm_gem_object_release()");
	check_equal(released, begun, "calls of drm_gem_object_release()");
}

/* A BO that was begun goes as a whole: no counter knows of it, but the slabs do. */
static void nothing_grows(int fd)
{
	struct bo bo;
	long slab = 0;

	fail_object_init(0, ENOMEM);
	for (unsigned int i = 0; i < WARM_UP + FAILURES; i++) {
		if (i == WARM_UP)
			slab = guest_slab_kb();
		if (!gem_create(fd, PAGE, 0, &bo))
			guest_close_handle(fd, bo.handle);
	}
	inject_clear();
	rule("a CREATE_BO that fails frees what it had allocated");
	/* Half a kilobyte each: less than a struct agate_bo. */
	check_growth(slab, FAILURES / 2);
}

void test_no_memory(void **state)
{
	int fd = gem_open();
	FILE *watched = promises_watch();

	(void)state;
	create_without_object(fd, ENOMEM);
	create_without_object(fd, ENOSPC);
	create_without(fd, "drm_gem_handle_create", ENOMEM);
	create_without(fd, "drm_vma_node_allow", ENOMEM);
	create_without(fd, "agate_vm_open_bo", ENOMEM);
	init_is_undone(fd);
	promises_kept(watched, " backing free names ");
	nothing_grows(fd);
	close(fd);
}

/* All pages come later, when somebody wants them; the mask is set when the BO is made. */
static void check_masks(int fd)
{
	static const uint32_t flags[] = {
		0, AGATE_BO_NOEXEC, AGATE_BO_NOEXEC | AGATE_BO_HEAP, AGATE_BO_CPU_READONLY,
		AGATE_BO_GPU_READONLY,
	};

	for (size_t i = 0; i < sizeof(flags) / sizeof(flags[0]); i++) {
		const uint64_t size = (MASK_PAGES + i) * PAGE;
		char expected[96], seen[MASK_ROOM];
		int silent;

		rule("CREATE_BO makes a BO and returns 0");
		make_bo(fd, size, flags[i]);
		rule("every BO has the gfp mask of step 1, whatever the BO's flags");
		snprintf(expected, sizeof(expected),
			 "GFP_HIGHUSER | __GFP_RETRY_MAYFAIL | __GFP_NOWARN, flags %#x", flags[i]);
		silent = silent_mask(size, seen);
		check_true(silent == 1, expected, silent ? "no BO of its size is listed" : seen);
	}
}

/*
 * The page allocator finds nothing, for the file's pages alone.  out_of_memory() would
 * kill somebody, so it is not entered; neither is what prints a stack for a warning.
 */
void test_too_much(void **state)
{
	int fd = gem_open(), err;
	unsigned int tried, killers, warnings;
	struct bo bo;

	(void)state;
	rule("CREATE_BO makes a BO and returns 0");
	bo = make_bo(fd, PAGE, 0);
	inject_within("warn_alloc");
	inject_fail_null("dump_stack", 0);
	inject_within("shmem_read_mapping_page_gfp");
	inject_fail_null("get_page_from_freelist", 0);
	inject_fail_null("out_of_memory", 0);
	err = guest_submit(fd, bo.va, 0, &bo.handle, 1, 0);
	tried = inject_hits("get_page_from_freelist");
	killers = inject_hits("out_of_memory");
	warnings = inject_hits("dump_stack");
	inject_clear();
	rule("a client that asks for too much gets an error, not the OOM killer: the gfp mask");
	check_at_least(tried, 1, "attempts to get a page of the BO");
	check_errno(err, ENOMEM, "SUBMIT with a BO for which there is no page");
	check_equal(killers, 0, "calls of the OOM killer");
	rule("a client cannot fill the kernel's log by asking for too much: __GFP_NOWARN");
	check_equal(warnings, 0, "warnings of the page allocator");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	check_masks(fd);
	close(fd);
}

/* ---- For the debug kernel: every allocation, one after the other --------- */

enum step { CREATE, LABEL, STEPS };

static int one_step(enum step step, int fd, const struct bo *bo)
{
	struct bo fresh;

	if (step == LABEL)
		return set_label(fd, bo->handle, "label", 5);
	return gem_create(fd, 8 * PAGE, 0, &fresh);
}

/* The numbers count copies from and to user memory, too: those fail with EFAULT. */
static void every_allocation(int fail_nth, enum step step)
{
	static const char *const names[STEPS] = { "CREATE_BO", "SET_LABEL" };
	int idle = gem_open(), n, failures = 0;
	struct live before = live_now();
	bool hit = true;

	for (n = 1; hit && n < MOST_ALLOCATIONS; n++) {
		int fd = guest_open(), err;
		struct bo bo = make_bo(fd, PAGE, 0);
		char what[64];

		fail_nth_arm(fail_nth, n);
		err = one_step(step, fd, &bo);
		hit = fail_nth_fired(fail_nth);
		snprintf(what, sizeof(what), "%s, failure number %d", names[step], n);
		rule("whichever allocation fails, the call says ENOMEM");
		if (err && err != ENOMEM && err != EFAULT)
			broken("success, ENOMEM or EFAULT", "%s: errno %d", what, err);
		failures += err != 0;
		rule("whichever allocation fails, nothing is left");
		close(fd);
		check_live(&before);
	}
	rule("a call comes to its end once nothing fails any more");
	check_true(!hit, "success in the end", "failures without end");
	check_at_least(failures, 1, "failures that the call told of");
	close(idle);
}

void test_allocations(void **state)
{
	int fail_nth, fd = gem_open();

	(void)state;
	close(fd);
	fail_nth = fail_nth_open();
	every_allocation(fail_nth, CREATE);
	every_allocation(fail_nth, LABEL);
	close(fail_nth);
}
