// SPDX-License-Identifier: MIT
/* Lab 02, step 1 and 2: what CREATE_BO takes, what it refuses, what comes of it. */
#include "gem.h"

#include <stdio.h>
#include <unistd.h>

#define MOST_BOS	96
#define WARM_UP		100
#define REFUSALS	1000
/* Sizes that no other test uses: a BO is known by its size while it has no name. */
#define TOPIC_PAGES	11
#define HANDLE_PAGES	101	/* and up */
#define SIZES_PAGES	13
#define FLAGS_PAGES	17
#define FIRST_UNKNOWN	5	/* bit, of the flags */

void test_topic(void **state)
{
	int fd = gem_open();

	(void)state;
	rule("a device begins with an empty list of BOs, and debugfs can walk it");
	check_equal(list_bos(fd, NULL, 0), 0, "BOs listed for a file that has just been opened");
	check_bo_is_made(fd, TOPIC_PAGES * PAGE, 0);
	close(fd);
}

/* An ioctl that is not written yet has no better answer to a BO that it should not have got. */
static void check_refused(int err, const char *what)
{
	char expected[128];

	snprintf(expected, sizeof(expected), "%s: EINVAL", what);
	if (err == EOPNOTSUPP)
		broken(expected, "%s: not refused, for the call ended with EOPNOTSUPP, as the ioctl "
		       "does that is not written yet", what);
	check_errno(err, EINVAL, what);
}

static void refused(int fd, uint64_t size, uint32_t flags, const char *why)
{
	struct live before = live_now();
	struct bo bo;
	char what[96];

	snprintf(what, sizeof(what), "CREATE_BO, size %#llx, flags %#x (%s)",
		 (unsigned long long)size, flags, why);
	check_refused(gem_create(fd, size, flags, &bo), what);
	check_live(&before);
}

/* No counter knows of memory that was allocated before the check. */
static void refusals_leave_nothing(int fd, uint64_t size, uint32_t flags)
{
	struct bo bo;
	long slab = 0;

	for (unsigned int i = 0; i < WARM_UP + REFUSALS; i++) {
		if (i == WARM_UP)
			slab = guest_slab_kb();
		gem_create(fd, size, flags, &bo);
	}
	rule("a CREATE_BO that is refused leaves no memory behind");
	/* Half a kilobyte each: less than a struct agate_bo. */
	check_growth(slab, REFUSALS / 2);
}

/* One bit above the limit, alone and with a page beside it. */
static void every_high_bit_counts(int fd)
{
	struct live before = live_now();
	struct bo bo;
	char what[96];

	for (unsigned int bit = 31; bit < 64; bit++)
		for (uint64_t more = 0; more <= PAGE; more += PAGE) {
			snprintf(what, sizeof(what), "CREATE_BO, size %#llx",
				 (unsigned long long)((1ull << bit) + more));
			check_refused(gem_create(fd, (1ull << bit) + more, 0, &bo), what);
		}
	check_live(&before);
}

void test_bad_sizes(void **state)
{
	int fd = gem_open();

	(void)state;
	check_bo_is_made(fd, SIZES_PAGES * PAGE, AGATE_BO_NOEXEC);
	rule("a size of 0, or above AGATE_BO_MAX_SIZE, is refused, and nothing is left of it");
	refused(fd, 0, AGATE_BO_NOEXEC, "no bytes");
	refused(fd, AGATE_BO_MAX_SIZE + 1, AGATE_BO_NOEXEC, "one byte over the limit");
	refused(fd, (uint64_t)param("OVER"), AGATE_BO_NOEXEC, "over the limit");
	refused(fd, 1ull << 32, AGATE_BO_NOEXEC, "2^32: 0 in 32 bits");
	refused(fd, (1ull << 32) + PAGE, AGATE_BO_NOEXEC, "a page in 32 bits");
	refused(fd, (1ull << 63) + PAGE, AGATE_BO_NOEXEC, "negative when signed");
	refused(fd, UINT64_MAX - PAGE + 2, AGATE_BO_NOEXEC, "0 once it is rounded up");
	refused(fd, UINT64_MAX, AGATE_BO_NOEXEC, "all ones");
	every_high_bit_counts(fd);
	refusals_leave_nothing(fd, 0, AGATE_BO_NOEXEC);
	refusals_leave_nothing(fd, AGATE_BO_MAX_SIZE + 1, AGATE_BO_NOEXEC);
	close(fd);
}

void test_bad_flags(void **state)
{
	int fd = gem_open();
	uint32_t extra = (uint32_t)param("EXTRA");

	(void)state;
	check_bo_is_made(fd, FLAGS_PAGES * PAGE, AGATE_BO_NOEXEC | AGATE_BO_HEAP);
	rule("a flag that the uAPI does not list is refused, so that it can mean something later");
	for (unsigned int bit = FIRST_UNKNOWN; bit < 32; bit++)
		refused(fd, PAGE, 1u << bit, "an unknown flag");
	refused(fd, PAGE, AGATE_BO_NOEXEC | extra << FIRST_UNKNOWN, "known and unknown flags");

	rule("HEAP is refused without NOEXEC: what the GPU fills must not be run as code");
	refused(fd, PAGE, AGATE_BO_HEAP, "HEAP alone");
	refused(fd, PAGE, AGATE_BO_HEAP | AGATE_BO_CPU_READONLY, "HEAP without NOEXEC");
	refusals_leave_nothing(fd, PAGE, AGATE_BO_HEAP);
	refusals_leave_nothing(fd, PAGE, 1u << FIRST_UNKNOWN);
	close(fd);
}

static uint64_t ask(int fd, uint32_t which)
{
	struct drm_agate_get_param arg = { .param = which };

	check_errno(guest_ioctl(fd, DRM_IOCTL_AGATE_GET_PARAM, &arg), 0, "GET_PARAM");
	return arg.value;
}

/* The driver must not look at what the client left in the fields that are out. */
static void check_fields(int fd)
{
	struct drm_agate_create_bo arg = {
		.size = PAGE + 1, .flags = AGATE_BO_NOEXEC, .handle = UINT32_MAX,
		.offset = UINT64_MAX,
	};

	rule("handle and offset are out: what the client left in them does not matter");
	check_errno(guest_ioctl(fd, DRM_IOCTL_AGATE_CREATE_BO, &arg), 0,
		    "CREATE_BO with all ones in handle and offset");
	check_true(arg.handle != UINT32_MAX && arg.offset != UINT64_MAX,
		   "a handle and an offset from the driver", "what was there before");
	rule("size and flags are in: they come back as they were");
	check_equal((int64_t)arg.size, PAGE + 1, "size after CREATE_BO");
	check_equal(arg.flags, AGATE_BO_NOEXEC, "flags after CREATE_BO");
	check_errno(guest_close_handle(fd, arg.handle), 0, "GEM_CLOSE");
}

static bool apart(const struct bo *a, const struct bo *b)
{
	return a->va + a->size <= b->va || b->va + b->size <= a->va;
}

void test_address(void **state)
{
	static const uint64_t sizes[] = {
		PAGE, PAGE, 2 * PAGE, 3 * PAGE, 2u << 20, PAGE, (2u << 20) + PAGE, 7 * PAGE,
	};
	enum { N = sizeof(sizes) / sizeof(sizes[0]) };
	int fd = gem_open();
	uint64_t start = ask(fd, DRM_AGATE_PARAM_VA_START), end = ask(fd, DRM_AGATE_PARAM_VA_END);
	struct bo bo[N];

	(void)state;
	for (size_t i = 0; i < N; i++) {
		rule("CREATE_BO makes a BO and returns 0");
		bo[i] = make_bo(fd, sizes[i], AGATE_BO_NOEXEC);
		rule("the offset is the BO's address, in bytes, in the file's GPU address space");
		check_at_least((int64_t)bo[i].va, (int64_t)start, "the offset");
		check_at_least((int64_t)end, (int64_t)(bo[i].va + bo[i].size),
			       "the end of the address space, seen from the end of the BO");
		check_equal((int64_t)(bo[i].va % PAGE), 0, "the offset modulo the page size");
		rule("no two BOs of a file share a GPU address");
		for (size_t j = 0; j < i; j++)
			check_true(apart(&bo[i], &bo[j]), "ranges apart", "ranges that overlap");
	}
	check_fields(fd);
	close(fd);
}

static void check_counted(const struct live *before, long n)
{
	struct live now = live_now();

	rule("AGATE_STAT_HANDLES counts handles, and each BO of a file has one address range");
	check_equal(now.handles - before->handles, n, "handles that are counted");
	check_equal(now.va_nodes - before->va_nodes, n, "address ranges");
}

/* BOs that are not listed any more were freed; a driver that frees nothing yet lists them. */
static void close_all(int fd, const struct bo *bo, unsigned int n)
{
	struct look look;

	for (unsigned int i = 0; i < n; i++) {
		rule("a handle is closed once");
		check_errno(guest_close_handle(fd, bo[i].handle), 0, "GEM_CLOSE");
	}
	rule("with the last handle of an unused BO go all references to it");
	for (unsigned int i = 0; i < n; i++) {
		look = look_for(bo[i].size);
		if (look.found)
			check_equal(look.bo.refs, 0, "references");
	}
}

void test_handle(void **state)
{
	unsigned int n = (unsigned int)param("BOS");
	struct listed found[MOST_BOS];
	struct bo bo[MOST_BOS];
	int fd = gem_open();
	struct live before = live_now();

	(void)state;
	assert_in_range(n, 1, MOST_BOS);
	for (unsigned int i = 0; i < n; i++) {
		rule("CREATE_BO makes a BO and returns 0");
		bo[i] = make_bo(fd, (HANDLE_PAGES + i) * PAGE,
				AGATE_BO_NOEXEC | (i % 3 == 1 ? AGATE_BO_HEAP : 0));
		rule("a handle is never 0, and no other BO of the file has the same");
		check_true(bo[i].handle, "a handle that is not 0", "handle 0");
		for (unsigned int j = 0; j < i; j++)
			check_true(bo[i].handle != bo[j].handle, "a new number", "a number in use");
	}
	rule("the device lists every BO, and counts one handle for it");
	see("listed", list_bos(fd, found, MOST_BOS));
	check_equal(list_bos(fd, found, MOST_BOS), n, "BOs that debugfs lists for this file");
	for (unsigned int i = 0; i < n; i++)
		check_equal(found[i].handles, 1, "handles of a BO that was just made");
	check_counted(&before, n);
	rule("a BO has the size it was made with, in whole pages");
	for (unsigned int i = 0; i < n; i++)
		check_true(found[i].size >= HANDLE_PAGES * PAGE &&
			   found[i].size < (HANDLE_PAGES + n) * PAGE,
			   "a size that was asked for", "another size");
	rule("gem.bos begins with the oldest BO");
	for (unsigned int i = 0; i < n; i++)
		check_equal((int64_t)found[i].size, (int64_t)bo[i].size,
			    "size of a BO, in the order in which they were made");
	close_all(fd, bo, n);
	check_counted(&before, 0);
	check_more_handles();
	close(fd);
}

/* The size that debugfs shows for a BO made with @size; the BO is closed. */
static uint64_t rounded(int fd, uint64_t size)
{
	struct listed found;
	struct bo bo;

	rule("every size from 1 to AGATE_BO_MAX_SIZE is taken");
	bo = make_bo(fd, size, AGATE_BO_NOEXEC);
	found = listed(&bo);
	rule("a BO takes no page until it is used");
	check_equal((int64_t)found.resident, 0, "resident bytes of a BO that was just made");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	return found.size;
}

static void check_rounded(uint64_t size, uint64_t given)
{
	char what[64];

	rule("sizes from 1 to AGATE_BO_MAX_SIZE are rounded up to whole pages");
	snprintf(what, sizeof(what), "size of a BO made with %#llx bytes", (unsigned long long)size);
	check_equal((int64_t)given, (int64_t)((size + PAGE - 1) / PAGE * PAGE), what);
}

/* Each power of two and a byte around it, up to @most; the BOs are alive at the same time. */
static void every_magnitude(uint64_t most)
{
	uint64_t sizes[MOST_BOS];
	struct listed found[MOST_BOS];
	unsigned int n = 0;
	int fd = guest_open();

	rule("every size from 1 to AGATE_BO_MAX_SIZE is taken");
	for (uint64_t power = 1; power <= most; power *= 2)
		for (uint64_t size = power > 2 ? power - 1 : power; size <= power + 1; size++) {
			sizes[n++] = size;
			make_bo(fd, size, AGATE_BO_NOEXEC);
		}
	check_equal(list_bos(fd, found, MOST_BOS), n, "BOs that debugfs lists for this file");
	for (unsigned int i = 0; i < n; i++)
		check_rounded(sizes[i], found[i].size);
	close(fd);
}

void test_sizes(void **state)
{
	static const uint64_t largest[] = {
		AGATE_BO_MAX_SIZE / 2 - 1, AGATE_BO_MAX_SIZE / 2 + 1, AGATE_BO_MAX_SIZE - PAGE - 1,
		AGATE_BO_MAX_SIZE - PAGE, AGATE_BO_MAX_SIZE - PAGE + 1, AGATE_BO_MAX_SIZE - 1,
		AGATE_BO_MAX_SIZE,
	};
	uint64_t asked = (uint64_t)param("PAGES") * PAGE - (uint64_t)param("SHORT");
	int fd = gem_open();

	(void)state;
	every_magnitude(AGATE_BO_MAX_SIZE / 4);
	for (size_t i = 0; i < sizeof(largest) / sizeof(largest[0]); i++)
		check_rounded(largest[i], rounded(fd, largest[i]));
	see("pages", (int64_t)(rounded(fd, asked) / PAGE));
	close(fd);
}

static void flag_names(uint32_t flags, char *text, size_t size)
{
	static const char *const names[] = { "noexec", "heap", "cpu_readonly", "gpu_readonly" };
	size_t used = 0;

	text[0] = '\0';
	for (unsigned int bit = 0; bit < 4; bit++)
		if (flags & 1u << bit)
			used += (size_t)snprintf(text + used, size - used, "%s%s",
						 used ? "," : "", names[bit]);
}

/* Sizes are one thing, flags another. */
static void sizes_of_kind(int fd, uint32_t flags)
{
	static const uint64_t sizes[] = {
		1, PAGE + 1, 2u << 20, (2u << 20) + 1, AGATE_BO_MAX_SIZE - 1, AGATE_BO_MAX_SIZE,
	};
	char what[80];

	rule("sizes are rounded up to whole pages, and no further, whatever the flags");
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		struct bo bo = make_bo(fd, sizes[i], flags);

		snprintf(what, sizeof(what), "size of a BO made with %#llx bytes, flags %#x",
			 (unsigned long long)sizes[i], flags);
		check_equal((int64_t)listed(&bo).size, (int64_t)((sizes[i] + PAGE - 1) / PAGE * PAGE),
			    what);
		check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	}
}

void test_flags(void **state)
{
	int fd = gem_open();
	uint32_t flags[KINDS];
	unsigned int n = kinds(flags);

	(void)state;
	for (unsigned int i = 0; i < n; i++) {
		struct listed found;
		char names[64], expected[96];
		struct bo bo;

		rule("every set of known flags is taken, HEAP with NOEXEC only");
		bo = make_bo(fd, PAGE, flags[i]);
		rule("a BO keeps all flags it was made with");
		found = listed(&bo);
		flag_names(flags[i], names, sizeof(names));
		snprintf(expected, sizeof(expected), "flags %#x: \"%s\" in debugfs", flags[i], names);
		if (strcmp(found.flags, names))
			broken(expected, "\"%s\"", found.flags);
	}
	for (unsigned int i = 0; i < n; i++)
		sizes_of_kind(fd, flags[i]);
	close(fd);
}
