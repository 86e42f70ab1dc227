// SPDX-License-Identifier: MIT
/* The graded tests of lab 06; what they share is at the beginning. */
#include "prime.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define FOREIGN_FILE	"/sys/kernel/debug/agate_foreign"
#define SHRINKS		30
#define JOB_TRIES	5

/* What was there when the test began: one test's leak is not the next one's failure. */
static struct {
	const char *name;
	long value;
} begun[] = { { "bos", -1 }, { "handles", -1 } };
static int32_t begun_refs = -1;

int prime_open(void)
{
	struct drm_agate_get_param arg = { .param = DRM_AGATE_PARAM_FEATURES };
	int fd = guest_open();

	rule("the driver has the topic prime: agate_prime_topic_init() returns 0");
	check_errno(guest_ioctl(fd, DRM_IOCTL_AGATE_GET_PARAM, &arg), 0, "GET_PARAM of FEATURES");
	check_true(arg.value & AGATE_FEATURE_PRIME, "the bit AGATE_FEATURE_PRIME",
		   "the topic is absent");
	for (size_t i = 0; i < sizeof(begun) / sizeof(begun[0]); i++)
		if (begun[i].value < 0)
			begun[i].value = guest_counter(begun[i].name);
	if (begun_refs < 0)
		begun_refs = foreign_look().device_refs;
	return fd;
}

void number_pages(void *cpu)
{
	for (int n = 0; n < PAGES; n++)
		memset((char *)cpu + n * PAGE, 0x10 + n, PAGE);
}

struct bo numbered_bo(int fd, uint32_t flags)
{
	struct bo bo = guest_bo(fd, SIZE, flags);

	number_pages(bo.cpu);
	return bo;
}

void check_numbers(const void *cpu, const char *what)
{
	char text[96];

	for (int n = 0; n < PAGES; n++) {
		snprintf(text, sizeof(text), "page %d of the BO, %s", n, what);
		check_equal(((const volatile uint8_t *)cpu)[n * PAGE + 123], 0x10 + n, text);
	}
}

int export_bo(const struct bo *bo)
{
	int dmabuf;

	rule("a BO that is EXPORTABLE has a dma-buf");
	check_errno(dmabuf_try_export(bo->fd, bo->handle, DRM_RDWR, &dmabuf), 0, "HANDLE_TO_FD");
	return dmabuf;
}

struct bo import_bo(int fd, int dmabuf)
{
	struct bo bo = { .fd = fd, .size = dmabuf_size(dmabuf) };
	struct drm_agate_get_bo_offset arg = { 0 };

	rule("FD_TO_HANDLE makes a dma-buf a BO, with a handle and an address");
	check_errno(dmabuf_try_import(fd, dmabuf, &bo.handle), 0, "FD_TO_HANDLE");
	arg.handle = bo.handle;
	check_errno(guest_ioctl(fd, DRM_IOCTL_AGATE_GET_BO_OFFSET, &arg), 0, "GET_BO_OFFSET");
	bo.va = arg.offset;
	return bo;
}

int try_map(int dmabuf, int prot, int flags, void **cpu)
{
	void *at = mmap(NULL, SIZE, prot, flags, dmabuf, 0);

	if (at == MAP_FAILED)
		return errno;
	if (cpu)
		*cpu = at;
	else
		munmap(at, SIZE);
	return 0;
}

int job_end(const struct bo *jobs, const struct bo *bo, uint32_t offset, uint64_t value)
{
	const uint32_t handles[] = { jobs->handle, bo->handle };
	const uint32_t sync = guest_syncobj(bo->fd);
	struct bo copy = *jobs;
	int status;

	for (int i = 0; i < JOB_TRIES; i++) {
		guest_job_write64(&copy, 0, 0, bo->va + offset, value);
		check_errno(guest_submit(bo->fd, jobs->va, 0, handles, 2, sync), 0,
			    "SUBMIT of a job that writes");
		status = guest_fence_end(guest_sync_file(bo->fd, sync));
		if (status != -ETIME)
			return status < 0 ? -status : 0;
	}
	could_not_look("the driver stopped each of %d jobs for its time limit", JOB_TRIES);
}

void gpu_writes(const struct bo *bo, uint32_t offset, uint64_t value)
{
	struct bo job = guest_bo(bo->fd, PAGE, 0);

	check_errno(job_end(&job, bo, offset, value), 0, "the fence of a job that writes");
	check_errno(guest_wait(bo->fd, bo->handle, FOREVER), 0, "WAIT_BO");
	guest_destroy(&job);
}

void check_more(const char *counter, long expected, const char *what)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	long before = 0;

	for (size_t i = 0; i < sizeof(begun) / sizeof(begun[0]); i++)
		if (!strcmp(begun[i].name, counter))
			before = begun[i].value;
	for (int i = 0; i < 500 && guest_counter(counter) - before != expected; i++)
		nanosleep(&pause, NULL);
	check_equal(guest_counter(counter) - before, expected, what);
}

void check_gone(void)
{
	rule("when all is closed and unmapped, nothing is left");
	check_more("handles", 0, "handles that are left");
	check_more("bos", 0, "BOs that are left");
	for (int i = 0; i < 500 && foreign_look().device_refs > begun_refs; i++)
		usleep(2000);
	rule("whoever takes a reference to the device puts it: else a device that is taken away "
	     "is never freed, and keeps its name");
	check_true(foreign_look().device_refs <= begun_refs,
		   "as many references to the device as before", "references that nobody puts");
}

void watch_device_end(void)
{
	inject_anybody(true);
	inject_count("drm_managed_release");
	inject_anybody(false);
}

void check_device_ended(void)
{
	for (int i = 0; i < 500 && !inject_hits("drm_managed_release"); i++)
		usleep(2000);
	rule("when a device was taken away and all is closed, nobody has a reference to it: the "
	     "core frees it, and its name");
	check_equal(inject_hits("drm_managed_release"), 1, "devices that the core has freed");
	inject_clear();
}

/* ---- Another driver ------------------------------------------------------ */

static int foreign_result(unsigned long request, void *arg)
{
	static int file = -1;
	int result = -1;

	if (file < 0)
		file = inject_open(FOREIGN_FILE, O_RDWR);
	if (file >= 0)
		result = ioctl(file, request, arg);
	if (result < 0)
		fail_msg(FOREIGN_FILE ": %s", strerror(errno));
	return result;
}

static void foreign_call(unsigned long request, void *arg)
{
	foreign_result(request, arg);
}

int foreign_dmabuf(enum foreign_kind kind, uint32_t flags)
{
	struct foreign_make make = { .kind = kind, .flags = flags };

	foreign_call(FOREIGN_MAKE, &make);
	return make.fd;
}

int foreign_mapper(int dmabuf)
{
	return foreign_result(FOREIGN_MAPPER, (void *)(uintptr_t)dmabuf);
}

struct foreign_seen foreign_seen(void)
{
	struct foreign_seen seen;

	foreign_call(FOREIGN_SEEN, &seen);
	return seen;
}

struct foreign_import foreign_try_import(int dmabuf)
{
	struct foreign_import import = { .fd = dmabuf };

	foreign_call(FOREIGN_IMPORT, &import);
	return import;
}

struct foreign_import foreign_import(int dmabuf)
{
	struct foreign_import import = foreign_try_import(dmabuf);

	rule("another driver can attach to a dma-buf of this one");
	check_errno(-import.attach, 0, "dma_buf_attach()");
	return import;
}

struct foreign_look foreign_look(void)
{
	struct foreign_look look;

	foreign_call(FOREIGN_LOOK, &look);
	return look;
}

void make_private(bool private)
{
	foreign_call(FOREIGN_PRIVATE, (void *)(uintptr_t)private);
}

static void check_undone_by(const char *once, uint32_t mapped)
{
	struct foreign_seen seen;

	for (int i = 0; i < 500 && foreign_seen().alive; i++)
		usleep(2000);
	seen = foreign_seen();
	rule("%s", once);
	check_equal(seen.mapped, mapped, "times that the exporter mapped its memory");
	check_equal(seen.unmapped, mapped, "times that it unmapped the memory");
	check_equal(seen.wrong, 0, "unmaps of another table, or in another direction");
	check_equal(seen.detached, seen.attached, "detached devices, of those that attached");
	rule("dma_buf_put() comes last: after it nothing of the exporter is used");
	check_equal(seen.late, 0, "calls of the exporter after dma_buf_put()");
	rule("an importer puts the dma-buf when it is done with it");
	check_equal(seen.alive, 0, "dma-bufs that are left, closed by all");
}

void check_undone(uint32_t mapped)
{
	check_undone_by("an import is undone once: unmapped as it was mapped, and detached", mapped);
}

void check_core_undone(uint32_t mapped)
{
	check_undone_by("when agate_prime_import_sg_table() returns an error, the core undoes the "
			"import, and nobody else does", mapped);
}

int try_map_bo(const struct bo *bo, int prot, void **cpu)
{
	struct drm_agate_mmap_bo arg = { .handle = bo->handle };
	void *at;

	check_errno(guest_ioctl(bo->fd, DRM_IOCTL_AGATE_MMAP_BO, &arg), 0, "MMAP_BO");
	at = mmap(NULL, SIZE, prot, MAP_SHARED, bo->fd, (off_t)arg.offset);
	if (at == MAP_FAILED)
		return errno;
	*cpu = at;
	return 0;
}

void watch_imports(bool on)
{
	foreign_call(FOREIGN_WATCH, (void *)(uintptr_t)on);
}

/* ---- Jobs ---------------------------------------------------------------- */

int gated_write(const struct bo *bo, const struct bo *jobs, uint64_t value)
{
	const uint32_t handles[] = { jobs->handle, bo->handle };
	const uint32_t flags[] = {
		AGATE_SUBMIT_BO_READ | AGATE_SUBMIT_BO_WRITE, AGATE_SUBMIT_BO_WRITE,
	};
	struct bo copy = *jobs;
	int timeline = guest_timeline();

	guest_job_write64(&copy, 0, 0, bo->va + 8, value);
	check_errno(guest_submit_bos(bo->fd, jobs->va, 0, handles, flags, 2,
				     guest_timeline_syncobj(bo->fd, timeline)), 0,
		    "SUBMIT of a job that waits for a timeline");
	return timeline;
}

bool is_idle(int dmabuf)
{
	struct pollfd pollfd = { .fd = dmabuf, .events = POLLOUT };

	return poll(&pollfd, 1, 0) == 1;
}

void shrink(void)
{
	int fd = open("/proc/sys/vm/drop_caches", O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	for (int i = 0; i < SHRINKS; i++)
		assert_int_equal(write(fd, "2", 1), 1);
	close(fd);
}

static const struct graded_test tests[] = {
	{ "one-each", test_one_each, NULL },
	{ "self", test_self, NULL },
	{ "refused", test_refused, NULL },
	{ "outlives", test_outlives, NULL },
	{ "maps", test_maps, NULL },
	{ "read-only", test_read_only, NULL },
	{ "advice", test_advice, NULL },
	{ "jobs", test_jobs, NULL },
	{ "importer", test_importer, NULL },
	{ "process", test_process, NULL },
	{ "module", test_module, NULL },
	{ "import", test_import, NULL },
	{ "names", test_names, NULL },
	{ "returned", test_returned, NULL },
	{ "bad-memory", test_bad_memory, NULL },
	{ "rights", test_rights, NULL },
	{ "parts", test_parts, NULL },
	{ "one-piece", test_one_piece, NULL },
	{ "bounced", test_bounced, NULL },
	{ "other-device", test_other_device, NULL },
	{ "cpu", test_cpu, NULL },
	{ "kernel-map", test_kernel_map, NULL },
	{ "unplug", test_unplug, NULL },
	{ "removal", test_removal, NULL },
	{ "two-ends", test_two_ends, NULL },
	{ "lock-order", test_lock_order, NULL },
	{ "allocations", test_allocations, NULL },
};

GRADED_MAIN(tests)
