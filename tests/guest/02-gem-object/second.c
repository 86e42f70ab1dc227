// SPDX-License-Identifier: MIT
/*
 * Lab 02: a BO with more than one handle.
 *
 * The render node has no call that makes a second one; the core's primary node has
 * two: GEM_FLINK gives a BO a name for the whole device, and GEM_OPEN makes a handle from
 * this name, in whichever file asks for it.
 */
#include "gem.h"

#include <drm.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define CARDS		16
#define SHARED_PAGES	111
#define PURGED_PAGES	121
#define SHRINKS		50

static bool is_agate_card(int fd)
{
	char name[16] = "";
	struct drm_version version = { .name = name, .name_len = sizeof(name) - 1 };

	return !guest_ioctl(fd, DRM_IOCTL_VERSION, &version) && !strcmp(name, "agate");
}

static int open_card(void)
{
	for (int minor = 0; minor < CARDS; minor++) {
		char path[32];
		int fd;

		snprintf(path, sizeof(path), "/dev/dri/card%d", minor);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd >= 0 && is_agate_card(fd))
			return fd;
		if (fd >= 0)
			close(fd);
	}
	fail_msg("no primary node of the agate driver");
	return -1;
}

/* One more handle, in the file @fd, for the BO with this name. */
static uint32_t open_name(int fd, uint32_t name)
{
	struct drm_gem_open arg = { .name = name };

	check_errno(guest_ioctl(fd, DRM_IOCTL_GEM_OPEN, &arg), 0, "GEM_OPEN");
	return arg.handle;
}

static void check_handles(const struct live *before, long handles, long va_nodes)
{
	struct live now = live_now();

	check_equal(now.handles - before->handles, handles, "handles that are counted");
	check_equal(now.va_nodes - before->va_nodes, va_nodes, "address ranges");
}

static void close_one(int fd, uint32_t handle)
{
	check_errno(guest_close_handle(fd, handle), 0, "GEM_CLOSE");
}

/*
 * Two handles in one file and one in another: open and close are called for each of them.
 * A file has one range for a BO, and each range has one reference.
 */
void check_more_handles(void)
{
	int fd = open_card(), other = open_card();
	struct live before = live_now();
	struct drm_gem_flink flink;
	uint32_t second, third;
	struct bo bo;

	rule("CREATE_BO makes a BO and returns 0");
	bo = make_bo(fd, SHARED_PAGES * PAGE, 0);
	flink = (struct drm_gem_flink){ .handle = bo.handle };
	check_errno(guest_ioctl(fd, DRM_IOCTL_GEM_FLINK, &flink), 0, "GEM_FLINK");

	rule("gem_open() runs for each handle, whoever asked for it: a second handle is counted");
	second = open_name(fd, flink.name);
	check_handles(&before, 2, 1);
	third = open_name(other, flink.name);
	check_handles(&before, 3, 2);
	rule("all handles of a BO together hold one reference, and each address range holds one");
	check_equal(look_for(bo.size).bo.handles, 3, "handles of the BO");
	check_equal(look_for(bo.size).bo.refs, 3, "references of a BO with handles in two files");

	rule("gem_close() runs for each handle, the last one or not: it is counted down");
	close_one(fd, bo.handle);
	check_handles(&before, 2, 2);
	close_one(fd, second);
	check_handles(&before, 1, 1);
	check_true(look_for(bo.size).found, "the BO is on gem.bos as long as it has a handle",
		   "it is not listed any more");
	check_equal(look_for(bo.size).bo.refs, 2, "references of a BO with one handle");
	close_one(other, third);
	check_handles(&before, 0, 0);
	close(other);
	close(fd);
}

static void same_bo(const struct listed *seen, const struct listed *before, const char *when)
{
	if (strcmp(seen->madv, before->madv) || strcmp(seen->flags, before->flags) ||
	    strcmp(seen->label, before->label) || seen->size != before->size)
		broken("the same size, flags, advice and label as before",
		       "size=%llu flags=%s madv=%s label=\"%s\" instead of size=%llu flags=%s madv=%s label=\"%s\", %s",
		       (unsigned long long)seen->size, seen->flags, seen->madv, seen->label,
		       (unsigned long long)before->size, before->flags, before->madv,
		       before->label, when);
}

/* The BOs of this file, two of them, in the order of their sizes. */
static void check_order(int fd, const char *when)
{
	struct listed found[2];

	rule("gem.bos begins with the oldest BO, whoever opens and closes handles");
	check_equal(list_bos(fd, found, 2), 2, "BOs that debugfs lists for this file");
	if (found[0].size > found[1].size)
		broken("the older BO first", "the newer one first, %s", when);
}

/* One more handle to this BO, and its end. */
static void open_and_close(const struct bo *bo)
{
	struct drm_gem_flink flink = { .handle = bo->handle };
	struct listed before = listed(bo), seen;
	uint32_t second;

	check_errno(guest_ioctl(bo->fd, DRM_IOCTL_GEM_FLINK, &flink), 0, "GEM_FLINK");
	second = open_name(bo->fd, flink.name);
	seen = listed(bo);
	rule("gem_open() reserves an address and counts a handle: it sets no field of the BO");
	same_bo(&seen, &before, "after GEM_OPEN");
	check_order(bo->fd, "after GEM_OPEN of the older one");
	close_one(bo->fd, second);
	seen = listed(bo);
	rule("gem_close() ends a name only: it sets no field of the BO");
	same_bo(&seen, &before, "after GEM_CLOSE of the second handle");
	check_order(bo->fd, "after GEM_CLOSE of a handle of the older one");
}

void check_handles_change_nothing(void)
{
	int fd = open_card();
	struct bo old, new;

	rule("CREATE_BO makes a BO and returns 0");
	old = guest_bo(fd, SHARED_PAGES * PAGE, AGATE_BO_NOEXEC);
	new = make_bo(fd, (SHARED_PAGES + 1) * PAGE, 0);
	memset(old.cpu, 1, PAGE);
	munmap(old.cpu, old.size);
	open_and_close(&old);
	advise(&old, AGATE_MADV_DONTNEED);
	open_and_close(&old);
	shrink();
	open_and_close(&old);
	close_one(fd, new.handle);
	close_one(fd, old.handle);
	close(fd);
}

/* One of its two handles is closed: the advice, and the place among the purgeable, stay. */
void check_still_purgeable(void)
{
	struct drm_gem_flink flink;
	int fd = open_card();
	uint32_t second;
	struct bo bo;

	rule("CREATE_BO makes a BO and returns 0");
	bo = guest_bo(fd, PURGED_PAGES * PAGE, 0);
	memset(bo.cpu, 1, PAGE);
	flink = (struct drm_gem_flink){ .handle = bo.handle };
	check_errno(guest_ioctl(fd, DRM_IOCTL_GEM_FLINK, &flink), 0, "GEM_FLINK");
	second = open_name(fd, flink.name);
	advise(&bo, AGATE_MADV_DONTNEED);
	close_one(fd, bo.handle);
	rule("gem_close() ends a name only: a purgeable BO that has another one can be purged");
	/* The shrinker passes over a BO whose locks it does not get at once. */
	for (int i = 0; i < SHRINKS && strcmp(look_for(bo.size).bo.madv, "purged"); i++)
		shrink();
	if (strcmp(look_for(bo.size).bo.madv, "purged"))
		broken("madv=purged after the shrinker has run", "madv=%s",
		       look_for(bo.size).bo.madv);
	close_one(fd, second);
	munmap(bo.cpu, bo.size);
	close(fd);
}
