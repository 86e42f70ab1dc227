// SPDX-License-Identifier: MIT
/* Lab 07, step 1: what MADVISE answers, what it refuses, and the label that it may bring. */
#include "purge.h"

#include <sys/mman.h>
#include <unistd.h>

#define LABEL	"a vertex buffer"

static bool bo_says(const char *text)
{
	return guest_debugfs_says("bos", text);
}

static void check_advice(uint32_t madv)
{
	bool dontneed = madv == AGATE_MADV_DONTNEED;

	check_true(bo_says(dontneed ? "madv=dontneed" : "madv=willneed"),
		   dontneed ? "AGATE_MADV_DONTNEED" : "AGATE_MADV_WILLNEED",
		   bo_says("madv=purged") ? "-1" : "another advice in bo->madv");
}

/* Advice comes and goes, and a BO dies with either. */
void test_advice(void **state)
{
	static const uint32_t turns[] = { 0, 1, 1, 0, 0, 1 };
	int fd = purge_open();
	struct bo bo = make_bo(fd, 3), more[4];

	(void)state;
	inject_load();
	for (size_t i = 0; i < sizeof(turns) / sizeof(turns[0]); i++) {
		rule("retained is 1 as long as the BO was not purged, whatever the advice");
		advised(&bo, turns[i], true, turns[i] ? "DONTNEED" : "WILLNEED");
		rule("the advice is what the client said last");
		check_advice(turns[i]);
		rule("DONTNEED puts a BO on the list, once, and WILLNEED takes it off");
		check_listed(turns[i], turns[i] ? "after DONTNEED" : "after WILLNEED");
	}
	rule("a BO dies as any other, also one that nobody needs");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	check_equal(guest_counter("bos"), 0, "counter bos after the last GEM_CLOSE");
	check_listed(0, "after the last BO was closed");
	for (int i = 0; i < 4; i++) {
		more[i] = make_bo(fd, 1);
		dontneed(&more[i]);
	}
	/* From the middle, from both ends, and the last one with its file. */
	check_errno(guest_close_handle(fd, more[1].handle), 0, "GEM_CLOSE");
	check_errno(guest_close_handle(fd, more[0].handle), 0, "GEM_CLOSE");
	willneed(&more[3]);
	check_errno(guest_close_handle(fd, more[3].handle), 0, "GEM_CLOSE");
	check_listed(1, "while one BO is not needed");
	close(fd);
	check_nothing_left();
	check_listed(0, "after the file was closed");
}

static void check_refused(const struct bo *bo, const struct drm_agate_madvise *call, int expected,
			  const char *what)
{
	struct drm_agate_madvise arg = *call;

	rule("MADVISE refuses what nobody has defined, and a number that is no handle");
	check_errno(guest_ioctl(bo->fd, DRM_IOCTL_AGATE_MADVISE, &arg), expected, what);
	rule("a call that fails changes neither the advice nor the label");
	check_true(bo_says(LABEL), "the label that the BO had", "another one, or none");
}

static void refuse_all(const struct bo *bo, uint32_t madv, uint32_t foreign)
{
	static const char text[] = "other";
	struct drm_agate_set_label label = {
		.handle = bo->handle, .len = sizeof(LABEL) - 1, .label = (uintptr_t)LABEL,
	};
	const struct {
		struct drm_agate_madvise call;
		int expected;
		const char *what;
	} bad[] = {
		{ { .handle = bo->handle, .madv = 2 }, EINVAL, "madv 2" },
		{ { .handle = bo->handle, .madv = 3 }, EINVAL, "madv 3" },
		{ { .handle = bo->handle, .madv = UINT32_MAX }, EINVAL, "madv 0xffffffff" },
		{ { .handle = bo->handle, .madv = 0x80000001 }, EINVAL, "madv 0x80000001" },
		{ { .handle = bo->handle, .madv = madv ^ 1, .pad = 1 }, EINVAL, "pad 1" },
		{ { .handle = bo->handle, .madv = madv ^ 1, .pad = 1u << 31 }, EINVAL, "pad 1 << 31" },
		{ { .handle = bo->handle, .madv = madv ^ 1, .pad2 = 1 }, EINVAL, "pad2 1" },
		{ { .handle = bo->handle, .madv = madv ^ 1, .len = 5 }, EINVAL,
		  "a length without a label" },
		{ { .handle = bo->handle, .madv = 2, .label = (uintptr_t)text, .len = 5 }, EINVAL,
		  "madv 2 with a label" },
		{ { .handle = 0, .madv = madv ^ 1 }, ENOENT, "handle 0" },
		{ { .handle = bo->handle + 1000, .madv = madv ^ 1 }, ENOENT, "an unknown handle" },
		{ { .handle = foreign, .madv = madv ^ 1 }, ENOENT, "another file's handle" },
	};

	check_errno(guest_ioctl(bo->fd, DRM_IOCTL_AGATE_SET_LABEL, &label), 0, "SET_LABEL");
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		check_refused(bo, &bad[i].call, bad[i].expected, bad[i].what);
		check_advice(madv);
	}
}

void test_bad_calls(void **state)
{
	int fd = purge_open(), other = guest_open();
	struct bo bo, theirs[3];

	(void)state;
	bo = make_bo(fd, 2);
	/* A handle that this file does not have, because it has fewer. */
	for (int i = 0; i < 3; i++)
		theirs[i] = make_bo(other, 1);
	rule("retained is 1 as long as the BO was not purged, whatever the advice");
	for (int i = 0; i < 3; i++)
		dontneed(&theirs[i]);
	dontneed(&bo);
	for (int i = 0; i < 3; i++)
		check_errno(guest_close_handle(other, theirs[i].handle), 0, "GEM_CLOSE");
	refuse_all(&bo, AGATE_MADV_DONTNEED, theirs[2].handle);
	willneed(&bo);
	refuse_all(&bo, AGATE_MADV_WILLNEED, theirs[2].handle);
	rule("every path gives back the reference that the look-up took");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	close(other);
	close(fd);
	check_nothing_left();
}

static int advise_label(const struct bo *bo, uint32_t madv, const void *text, uint32_t len)
{
	struct drm_agate_madvise arg = {
		.handle = bo->handle, .madv = madv, .label = (uintptr_t)text, .len = len,
	};

	return guest_ioctl(bo->fd, DRM_IOCTL_AGATE_MADVISE, &arg);
}

struct labelling {
	struct aside aside;
	struct bo bo;
	int err;
};

static void run_label(void *arg)
{
	struct labelling *labelling = arg;

	labelling->err = advise_label(&labelling->bo, AGATE_MADV_DONTNEED, LABEL,
				      sizeof(LABEL) - 1);
}

#define SET_LABEL	"agate_gem_set_label_ioctl"

/* Fetching the text may fault, and the fault may need the locks of the BO. */
static void label_without_locks(int fd)
{
	static const char *const locks[] = { "backing", "mappings", "purge" };
	struct labelling labelling = { .bo = make_bo(fd, 2) };
	const char *taken = NULL;
	int file = look_at(true);

	inject_hold_entry(SET_LABEL, 1, INJECT_BOUND_MS);
	aside_start(&labelling.aside, run_label, &labelling);
	rule("MADVISE calls agate_gem_set_label_ioctl() if the client gives a label");
	check_true(aside_is_held(&labelling.aside, SET_LABEL), "a call of that function",
		   "MADVISE ends without it");
	for (int i = 0; i < 3; i++)
		if (stays_locked(file, locks[i]))
			taken = locks[i];
	let_go(SET_LABEL);
	aside_join(&labelling.aside);
	inject_clear();
	rule("MADVISE holds no lock while it calls agate_gem_set_label_ioctl()");
	if (taken)
		broken("no lock", "%s%s", taken, strcmp(taken, "backing") ? "_lock or .lock" : ".lock");
	check_errno(labelling.err, 0, "MADVISE with a label");
	close(file);
	/* So the text may lie in a page of the BO that is not there yet. */
	labelling.bo.cpu = map_more(&labelling.bo, 2);
	check_true(can_read(word(labelling.bo.cpu, 1)), "a page", "SIGBUS");
	memcpy((char *)labelling.bo.cpu + PAGE, "inside", 6);
	munmap(labelling.bo.cpu, 2 * PAGE);
	labelling.bo.cpu = map_more(&labelling.bo, 2);
	check_errno(advise_label(&labelling.bo, AGATE_MADV_DONTNEED,
				 (char *)labelling.bo.cpu + PAGE, 6),
		    0, "MADVISE with a label in the BO itself");
	guest_destroy(&labelling.bo);
}

static void check_label_failure(const struct bo *bo, uint32_t madv, const void *text,
				uint32_t len, int expected, const char *what)
{
	rule("MADVISE with a label has the errors of SET_LABEL");
	check_errno(advise_label(bo, madv ^ 1, text, len), expected, what);
	rule("a call that fails changes neither the advice nor the label");
	check_advice(madv);
	check_true(bo_says(LABEL), "the label that the BO had", "another one, or none");
}

void test_label(void **state)
{
	static char too_long[AGATE_LABEL_MAX + 1];
	int fd = purge_open();
	struct bo bo = make_bo(fd, 1);

	(void)state;
	memset(too_long, 'x', sizeof(too_long));
	rule("a call with a label gives the BO this label, besides the advice");
	check_errno(advise_label(&bo, AGATE_MADV_DONTNEED, LABEL, sizeof(LABEL) - 1), 0, "MADVISE");
	check_true(bo_says(LABEL), "the new label", "none, or another one");
	check_advice(AGATE_MADV_DONTNEED);
	rule("a call without a label keeps the one that the BO has");
	willneed(&bo);
	check_true(bo_says(LABEL), "the label that the BO had", "another one, or none");
	for (uint32_t madv = 0; madv < 2; madv++) {
		advised(&bo, madv, true, madv ? "DONTNEED" : "WILLNEED");
		check_label_failure(&bo, madv, too_long, sizeof(too_long), EINVAL,
				    "a label that is too long");
		check_label_failure(&bo, madv, (void *)PAGE, 4, EFAULT, "a label that nobody can read");
	}
	rule("a label of length 0 removes the one that the BO has");
	check_errno(advise_label(&bo, AGATE_MADV_WILLNEED, LABEL, 0), 0, "MADVISE");
	check_true(!bo_says(LABEL), "no label", "the one that it had");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	label_without_locks(fd);
	close(fd);
	rule("every path gives back the reference that the look-up took");
	check_nothing_left();
}
