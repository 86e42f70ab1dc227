// SPDX-License-Identifier: MIT
/* Lab 08: what a creation asks the kernel for, and what it refuses. */
#include "bo.h"

#include <stdio.h>

#define MANY		300
#define DELAY		AGATE_ALLOC_DELAY_MMAP

/* ---- What reaches the kernel ------------------------------------------------ */

static struct drm_agate_create_bo asked;

static void note_create(unsigned long request, enum call_when when, void *arg)
{
	if (request == DRM_IOCTL_AGATE_CREATE_BO && when == CALL_BEFORE)
		asked = *(struct drm_agate_create_bo *)arg;
}

void test_sizes(void **state)
{
	const uint64_t some = (uint64_t)param("BYTES");
	const struct {
		uint64_t asked, got;
	} cases[] = {
		{ 1, PAGE }, { 4095, PAGE }, { 4096, PAGE }, { 4097, 2 * PAGE }, { 12288, 12288 },
		{ some, (some + PAGE - 1) / PAGE * PAGE }, { (1 << 20) + 1, (1 << 20) + PAGE },
		{ AGATE_BO_MAX_SIZE - 1, AGATE_BO_MAX_SIZE },
		{ AGATE_BO_MAX_SIZE, AGATE_BO_MAX_SIZE },
	};
	struct agate_device *dev = lib_open();

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct agate_bo *bo;

		calls_hook(note_create);
		rule(cases[i].asked == AGATE_BO_MAX_SIZE ?
		     "a BO may have AGATE_BO_MAX_SIZE bytes: only more is refused" :
		     "a size is rounded up to whole pages, also for the kernel");
		bo = lib_bo(dev, cases[i].asked, DELAY);
		calls_hook(NULL);
		check_equal((int64_t)asked.size, (int64_t)cases[i].got, "the size in CREATE_BO");
		lib_check_bo(bo, cases[i].got);
	}
	rule("agate_bo_create() asks the kernel for one BO");
	check_equal(calls_made(DRM_IOCTL_AGATE_CREATE_BO), (int64_t)(sizeof(cases) / sizeof(cases[0])),
		    "calls of CREATE_BO");
}

void test_arguments(void **state)
{
	const uint32_t heap = AGATE_ALLOC_GROWABLE | AGATE_ALLOC_INVISIBLE;
	const struct {
		uint64_t size;
		uint32_t flags;
		const char *label, *what;
	} cases[] = {
		{ 0, DELAY, NULL, "of size 0" },
		{ AGATE_BO_MAX_SIZE + 1, DELAY, NULL, "above AGATE_BO_MAX_SIZE" },
		{ UINT64_MAX, DELAY, NULL, "of 2^64 - 1 bytes" },
		{ UINT64_MAX - PAGE, DELAY, NULL, "of 2^64 - 4097 bytes" },
		{ 1ull << 32, DELAY, NULL, "of 2^32 bytes" },
		{ PAGE, DELAY | 1u << 10, NULL, "with flag 1 << 10, which is unknown" },
		{ PAGE, DELAY | 1u << 31, NULL, "with flag 1 << 31, which is unknown" },
		{ PAGE, DELAY | AGATE_ALLOC_SPILL, NULL, "with SPILL without VRAM" },
		{ PAGE, AGATE_ALLOC_VRAM | AGATE_ALLOC_SHARED, NULL, "with VRAM and SHARED" },
		{ PAGE, AGATE_ALLOC_VRAM | AGATE_ALLOC_CONTIGUOUS, NULL, "with VRAM and CONTIGUOUS" },
		{ PAGE, AGATE_ALLOC_VRAM | heap, NULL, "with VRAM and GROWABLE" },
		{ PAGE, AGATE_ALLOC_GROWABLE, NULL, "with GROWABLE without INVISIBLE" },
		{ PAGE, AGATE_ALLOC_GROWABLE | DELAY, NULL, "with GROWABLE and DELAY_MMAP alone" },
		{ PAGE, heap | AGATE_ALLOC_EXECUTE, NULL, "with GROWABLE and EXECUTE" },
		{ PAGE, heap | AGATE_ALLOC_CONTIGUOUS, NULL, "with GROWABLE and CONTIGUOUS" },
		{ PAGE, DELAY, "new\nline", "with a label that has a line end in it" },
		{ PAGE, DELAY, "\x1b[31m", "with a label that has an escape in it" },
		{ PAGE, DELAY, "del\x7f", "with a label that has 0x7f in it" },
	};
	char longer[AGATE_LABEL_MAX + 2], what[128];
	struct agate_device *dev = lib_open();
	struct agate_bo *const untouched = (void *)&cases, *bo = untouched;
	struct agate_bo *good;

	(void)state;
	rule("with nothing wrong a BO is made");
	good = lib_bo(dev, PAGE, DELAY);
	calls_begin(agate_device_fd(dev));
	rule("what a caller must not ask for gives EINVAL");
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(what, sizeof(what), "agate_bo_create() %s", cases[i].what);
		check_lib(agate_bo_create(dev, cases[i].size, cases[i].flags, cases[i].label, &bo),
			  -EINVAL, what);
	}
	memset(longer, 'x', sizeof(longer));
	longer[AGATE_LABEL_MAX + 1] = '\0';
	check_lib(agate_bo_create(dev, PAGE, DELAY, longer, &bo), -EINVAL,
		  "agate_bo_create() with a label of AGATE_LABEL_MAX + 1 bytes");
	check_lib(agate_bo_set_label(good, longer), -EINVAL,
		  "agate_bo_set_label() with AGATE_LABEL_MAX + 1 bytes");
	check_lib(agate_bo_set_label(good, "tab\there"), -EINVAL,
		  "agate_bo_set_label() with a tabulator");

	rule("a creation with a bad argument does not reach the kernel");
	check_equal(calls_made(DRM_IOCTL_AGATE_CREATE_BO), 0, "calls of CREATE_BO, for bad arguments");
	/* A driver of that version would take the flag for an unknown one, or not see it. */
	rule("what the driver's version does not know gives EOPNOTSUPP, and does not reach the kernel");
	dev->minor = 1;
	check_lib(agate_bo_create(dev, PAGE, DELAY | AGATE_ALLOC_CONTIGUOUS, NULL, &bo), -EOPNOTSUPP,
		  "CONTIGUOUS with a driver of minor version 1");
	check_equal(calls_made(DRM_IOCTL_AGATE_CREATE_BO), 0,
		    "calls of CREATE_BO, for CONTIGUOUS with minor version 1");
	dev->minor = 3;
	check_lib(agate_bo_create(dev, PAGE, DELAY | AGATE_ALLOC_VRAM, NULL, &bo), -EOPNOTSUPP,
		  "VRAM with a driver of minor version 3");
	check_equal(calls_made(DRM_IOCTL_AGATE_CREATE_BO), 0,
		    "calls of CREATE_BO, for VRAM with minor version 3");

	rule("a call that fails writes nothing through its out-parameters");
	check_true(bo == untouched, "*bo as it was", "it changed");
}

static const struct lib_bit kernel_names[] = {
	{ AGATE_BO_NOEXEC, "NOEXEC" }, { AGATE_BO_HEAP, "HEAP" },
	{ AGATE_BO_CPU_READONLY, "CPU_READONLY" }, { AGATE_BO_GPU_READONLY, "GPU_READONLY" },
	{ AGATE_BO_CONTIGUOUS, "CONTIGUOUS" }, { AGATE_BO_CPU_VISIBLE, "CPU_VISIBLE" }, { 0, NULL },
};

/* Memory of a kind that a driver knows, from this minor version on. */
static void older_drivers(struct agate_device *dev)
{
	static const struct {
		int minor;
		uint32_t flag;
		const char *name;
	} cases[] = {
		{ 2, AGATE_ALLOC_CONTIGUOUS, "CONTIGUOUS" },
		{ 3, AGATE_ALLOC_CONTIGUOUS, "CONTIGUOUS" },
		{ 4, AGATE_ALLOC_VRAM, "VRAM" },
	};
	char what[128];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct agate_bo *bo = NULL;
		const unsigned int before = calls_made(DRM_IOCTL_AGATE_CREATE_BO);

		dev->minor = cases[i].minor;
		/* This GPU may have no such memory: that is for the kernel to say. */
		agate_bo_create(dev, PAGE, cases[i].flag | DELAY, NULL, &bo);
		dev->minor = AGATE_DRM_MINOR;
		rule("memory that the driver's version knows is for the kernel to give or to refuse");
		snprintf(what, sizeof(what), "calls of CREATE_BO, for %s with minor version %d",
			 cases[i].name, cases[i].minor);
		check_equal(calls_made(DRM_IOCTL_AGATE_CREATE_BO) - before, 1, what);
	}
}

void test_kernel_flags(void **state)
{
	const uint32_t vram = 1u << DRM_AGATE_REGION_VRAM, both = vram | 1u << DRM_AGATE_REGION_SYSTEM;
	const struct {
		uint32_t flags, kernel, placement, caching;
		const char *what;
	} cases[] = {
		{ 0, AGATE_BO_NOEXEC, 0, 0, "nothing else" },
		{ AGATE_ALLOC_EXECUTE, 0, 0, 0, "EXECUTE" },
		{ AGATE_ALLOC_INVISIBLE, AGATE_BO_NOEXEC, 0, 0, "INVISIBLE" },
		{ AGATE_ALLOC_GROWABLE | AGATE_ALLOC_INVISIBLE, AGATE_BO_NOEXEC | AGATE_BO_HEAP, 0, 0,
		  "GROWABLE and INVISIBLE" },
		{ AGATE_ALLOC_CPU_READONLY, AGATE_BO_NOEXEC | AGATE_BO_CPU_READONLY, 0, 0,
		  "CPU_READONLY" },
		{ AGATE_ALLOC_GPU_READONLY | AGATE_ALLOC_EXECUTE, AGATE_BO_GPU_READONLY, 0, 0,
		  "GPU_READONLY and EXECUTE" },
		{ AGATE_ALLOC_SHARED, AGATE_BO_NOEXEC, 0, 0, "SHARED" },
		{ AGATE_ALLOC_CONTIGUOUS, AGATE_BO_NOEXEC | AGATE_BO_CONTIGUOUS, 0, 0, "CONTIGUOUS" },
		{ AGATE_ALLOC_VRAM, AGATE_BO_NOEXEC | AGATE_BO_CPU_VISIBLE, vram, AGATE_CACHING_WC,
		  "VRAM" },
		{ AGATE_ALLOC_VRAM | AGATE_ALLOC_INVISIBLE, AGATE_BO_NOEXEC, vram, AGATE_CACHING_WC,
		  "VRAM and INVISIBLE" },
		{ AGATE_ALLOC_VRAM | AGATE_ALLOC_SPILL, AGATE_BO_NOEXEC | AGATE_BO_CPU_VISIBLE, both,
		  AGATE_CACHING_WC, "VRAM and SPILL" },
	};
	struct agate_device *dev = lib_open();
	char what[128];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct agate_bo *bo = NULL;
		int err;

		calls_hook(note_create);
		asked.flags = UINT32_MAX;
		/* This GPU has no memory of its own, and perhaps no contiguous memory left. */
		err = agate_bo_create(dev, PAGE, cases[i].flags | DELAY, NULL, &bo);
		calls_hook(NULL);
		rule("the library's flags become those of the kernel");
		if (!(cases[i].flags & (AGATE_ALLOC_VRAM | AGATE_ALLOC_CONTIGUOUS)))
			check_lib(err, 0, cases[i].what);
		snprintf(what, sizeof(what), "flags of CREATE_BO, for DELAY_MMAP and %s",
			 cases[i].what);
		check_bits(asked.flags, cases[i].kernel, kernel_names, what);
		snprintf(what, sizeof(what), "placement in CREATE_BO, for DELAY_MMAP and %s",
			 cases[i].what);
		check_equal(asked.placement, cases[i].placement, what);
		snprintf(what, sizeof(what), "caching in CREATE_BO, for DELAY_MMAP and %s",
			 cases[i].what);
		check_equal(asked.caching, cases[i].caching, what);
		rule("a BO keeps the flags of its creation, and gets no other");
		if (!err)
			lib_check_flags(bo, cases[i].flags | DELAY);
	}
	older_drivers(dev);
}

/* ---- Slots ------------------------------------------------------------------ */

void test_slots(void **state)
{
	static struct agate_bo *bo[MANY];
	struct agate_device *dev = lib_open();

	(void)state;
	rule("each handle has a BO of its own, in the slot with that index");
	for (size_t i = 0; i < MANY; i++)
		bo[i] = lib_bo(dev, (1 + i % 3) * PAGE, DELAY);
	for (size_t i = 0; i < MANY; i++) {
		lib_check_bo(bo[i], (1 + i % 3) * PAGE);
		check_equal(agate_bo_handle(bo[i]), (int64_t)i + 1, "agate_bo_handle()");
		check_true(agate_sparse_array_get(&dev->bo_map, i + 1) == bo[i],
			   "the slot of the handle in dev->bo_map", "another place");
	}
	rule("a BO belongs to the device that made it");
	check_true(agate_bo_device(bo[0]) == dev, "the device", "another one");
	rule("agate_bo_create() returns a BO with one reference");
	check_equal(bo[0]->refcnt, 1, "refcnt");
	rule("a new BO has no work that nobody has waited for");
	check_equal((int64_t)bo[0]->pending, 0, "pending");
}

void test_labels(void **state)
{
	char text[64], longest[AGATE_LABEL_MAX + 1], line[AGATE_LABEL_MAX + 16];
	struct agate_device *dev = lib_open();
	struct agate_bo *bo = NULL;

	(void)state;
	snprintf(text, sizeof(text), "depth %lld", (long long)param("NUMBER"));
	snprintf(line, sizeof(line), "label=\"%s\"", text);
	rule("the kernel knows a BO by the label of its creation");
	check_lib(agate_bo_create(dev, PAGE, DELAY, text, &bo), 0, "agate_bo_create() with a label");
	check_true(lib_listed(line), "the label in debugfs", "it is not there");

	rule("agate_bo_set_label() replaces the label");
	memset(longest, 'y', sizeof(longest));
	longest[AGATE_LABEL_MAX] = '\0';
	snprintf(line, sizeof(line), "label=\"%s\"", longest);
	check_lib(agate_bo_set_label(bo, longest), 0, "a label of AGATE_LABEL_MAX bytes");
	check_true(lib_listed(line), "the label in debugfs", "it is not there");
	check_lib(agate_bo_set_label(bo, "Achat \xc3\xa4"), 0, "a label with bytes above 0x7f");
	check_true(lib_listed("label=\"Achat "), "the label in debugfs", "it is not there");

	rule("a label that is refused leaves the old one");
	check_lib(agate_bo_set_label(bo, "tab\there"), -EINVAL, "a label with a tabulator");
	check_true(lib_listed("label=\"Achat "), "the label in debugfs", "it is not there");

	rule("NULL or an empty text removes the label");
	check_lib(agate_bo_set_label(bo, NULL), 0, "agate_bo_set_label(NULL)");
	check_true(!lib_listed("Achat"), "no label in debugfs", "the old one is there");
	check_lib(agate_bo_set_label(bo, "once more"), 0, "a label");
	check_lib(agate_bo_set_label(bo, ""), 0, "agate_bo_set_label(\"\")");
	check_true(!lib_listed("once more"), "no label in debugfs", "the old one is there");

	rule("what the kernel says of a label reaches the caller");
	calls_fail(DRM_IOCTL_AGATE_SET_LABEL, 1, ENOMEM);
	check_lib(agate_bo_set_label(bo, "text"), -ENOMEM, "SET_LABEL without memory");
}
