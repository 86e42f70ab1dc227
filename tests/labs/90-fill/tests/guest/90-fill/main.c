// SPDX-License-Identifier: MIT
/* Lab 90: the tests of agate_fill(). */
#include "library.h"

#include <errno.h>
#include <stdio.h>

#include "agate_fill.h"

#define PAGE	4096u

static struct agate_bo *unmapped(struct agate_device *dev)
{
	return lib_bo(dev, 2 * PAGE, AGATE_ALLOC_DELAY_MMAP);
}

static void test_ranges(void **state)
{
	static const uint64_t bad[][2] = {
		{ 1, 4 }, { 0, 6 }, { 2 * PAGE, 4 }, { 4, 2 * PAGE },
		{ 8, UINT64_MAX - 7 }, { UINT64_MAX - 3, 4 },
	};
	struct agate_device *dev = lib_open();
	struct agate_bo *bo = unmapped(dev);
	char what[96];

	(void)state;
	rule("a size of 0 inside the BO, or at its end, is allowed, and maps nothing");
	check_lib(agate_fill(bo, PAGE, 0, 1), 0, "agate_fill(offset 4096, size 0)");
	check_lib(agate_fill(bo, 2 * PAGE, 0, 1), 0, "agate_fill(offset 8192, size 0)");
	check_equal(calls_maps(), 0, "maps of the BO");
	rule("-EINVAL: offset or size is not in whole words, or the part is not inside the BO");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(what, sizeof(what), "agate_fill(offset %#llx, size %#llx) of 8192 bytes",
			 (unsigned long long)bad[i][0], (unsigned long long)bad[i][1]);
		check_lib(agate_fill(bo, bad[i][0], bad[i][1], 1), -EINVAL, what);
	}
	check_equal(calls_maps(), 0, "maps of the BO");
	agate_bo_unreference(bo);
	lib_close(dev);
}

static void test_words(void **state)
{
	const uint32_t word = (uint32_t)param("word");
	const uint64_t first = (uint64_t)param("first"), count = (uint64_t)param("count");
	struct agate_device *dev = lib_open();
	struct agate_bo *bo = unmapped(dev);
	void *cpu = NULL;

	(void)state;
	rule("every word of the part has the value, and no other word has changed");
	check_lib(agate_fill(bo, 4 * first, 4 * count, word), 0, "agate_fill()");
	check_lib(agate_bo_mmap(bo, &cpu), 0, "agate_bo_mmap()");
	for (uint64_t i = 0; i < 2 * PAGE / 4; i++) {
		const bool inside = i >= first && i - first < count;

		check_equal(((const uint32_t *)cpu)[i], inside ? word : 0,
			    inside ? "a word of the part" : "a word beside the part");
	}
	agate_bo_unreference(bo);
	lib_close(dev);
}

static void test_map_fails(void **state)
{
	struct agate_device *dev = lib_open();
	struct agate_bo *bo = unmapped(dev);

	(void)state;
	rule("the error of agate_bo_mmap() is the caller's");
	calls_fail(CALL_MMAP, 1, ENOMEM);
	check_lib(agate_fill(bo, 0, 4, 1), -ENOMEM, "agate_fill() when mmap() fails");
	check_lib(agate_fill(bo, 0, 4, 1), 0, "agate_fill() after that");
	agate_bo_unreference(bo);
	lib_close(dev);
}

static const struct graded_test tests[] = {
	{ "ranges", test_ranges, NULL },
	{ "words", test_words, NULL },
	{ "map-fails", test_map_fails, NULL },
};

GRADED_MAIN(tests)
