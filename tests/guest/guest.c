// SPDX-License-Identifier: MIT
/* Helpers of the guest tests; see guest.h. */
#include "guest.h"

#include <dirent.h>
#include <fcntl.h>
#include <linux/sync_file.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#define FIRST_RENDER_MINOR	128
#define LAST_RENDER_MINOR	191

static int render_minor = -1;
static unsigned int opens;

void (*guest_explain)(const char *expected, const char *seen);

void guest_broken(const char *expected, const char *seen_fmt, ...)
{
	char seen[512];
	va_list ap;

	va_start(ap, seen_fmt);
	vsnprintf(seen, sizeof(seen), seen_fmt, ap);
	va_end(ap);
	if (guest_explain)
		guest_explain(expected, seen);
	fail_msg("expected: %s; seen: %s", expected, seen);
	abort();
}

const char *guest_errno_name(int err, char *text, size_t size)
{
	const char *name = strerrorname_np(err);

	if (!err)
		return "success";
	if (name)
		return name;
	snprintf(text, size, "errno %d", err);
	return text;
}

/* Check a call in a test's preparation, which has to succeed. */
static void must(int err, const char *call)
{
	char name[32];

	if (err)
		guest_broken("success", "%s: %s", call, guest_errno_name(err, name, sizeof(name)));
}

#define IOCTL(request)	{ DRM_IOCTL_ ## request, #request }

/* "CREATE_BO", or "ioctl 0x1234" for one that no test makes. */
static const char *ioctl_name(unsigned long request, char *text, size_t size)
{
	static const struct {
		unsigned long request;
		const char *name;
	} known[] = {
		IOCTL(VERSION), IOCTL(GEM_CLOSE), IOCTL(GEM_FLINK), IOCTL(GEM_OPEN),
		IOCTL(PRIME_HANDLE_TO_FD), IOCTL(PRIME_FD_TO_HANDLE), IOCTL(SYNCOBJ_CREATE),
		IOCTL(SYNCOBJ_DESTROY), IOCTL(SYNCOBJ_HANDLE_TO_FD), IOCTL(SYNCOBJ_FD_TO_HANDLE),
		IOCTL(SYNCOBJ_WAIT), IOCTL(AGATE_SUBMIT), IOCTL(AGATE_WAIT_BO),
		IOCTL(AGATE_CREATE_BO), IOCTL(AGATE_MMAP_BO), IOCTL(AGATE_GET_PARAM),
		IOCTL(AGATE_GET_BO_OFFSET), IOCTL(AGATE_MADVISE), IOCTL(AGATE_SET_LABEL),
		IOCTL(AGATE_QUERY_REGIONS), IOCTL(AGATE_FLIP),
	};
	size_t i;

	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (known[i].request == request)
			return known[i].name + (strncmp(known[i].name, "AGATE_", 6) ? 0 : 6);
	snprintf(text, size, "ioctl %#lx", request);
	return text;
}

int guest_ioctl_once(int fd, unsigned long request, void *arg)
{
	int ret = ioctl(fd, request, arg);
	char name[32];

	if (ret > 0)
		guest_broken("0 for success, -1 with errno for failure",
			     "%s returned %d", ioctl_name(request, name, sizeof(name)), ret);
	return ret ? errno : 0;
}

int guest_ioctl(int fd, unsigned long request, void *arg)
{
	int err;

	do
		err = guest_ioctl_once(fd, request, arg);
	while (err == EINTR || err == EAGAIN);
	return err;
}

void guest_refuses_bad_pointers(const unsigned long *requests, size_t count)
{
	int fd = guest_open();

	for (size_t i = 0; i < count; i++) {
		assert_int_equal(guest_ioctl(fd, requests[i], NULL), EFAULT);
		assert_int_equal(guest_ioctl(fd, requests[i], (void *)8), EFAULT);
	}
	close(fd);
}

static bool is_agate(int fd)
{
	char name[16] = "";
	struct drm_version version = { .name = name, .name_len = sizeof(name) - 1 };

	return !guest_ioctl(fd, DRM_IOCTL_VERSION, &version) && !strcmp(name, "agate");
}

int guest_try_open(void)
{
	int err = ENOENT;

	for (int minor = FIRST_RENDER_MINOR; minor <= LAST_RENDER_MINOR; minor++) {
		char path[32];
		int fd;

		snprintf(path, sizeof(path), "/dev/dri/renderD%d", minor);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0) {
			if (errno != ENOENT)
				err = errno;
			continue;
		}
		if (is_agate(fd)) {
			render_minor = minor;
			opens++;
			return fd;
		}
		close(fd);
	}
	errno = err;
	return -1;
}

int guest_minor(void)
{
	return render_minor;
}

unsigned int guest_opens(void)
{
	return opens;
}

int guest_open(void)
{
	int fd = guest_try_open();

	if (fd < 0)
		guest_broken("a render node of the agate driver", "none: %s", strerror(errno));
	return fd;
}

void guest_look_at(int fd)
{
	struct stat sb;

	if (fstat(fd, &sb))
		guest_broken("an open node", "%s", strerror(errno));
	render_minor = (int)minor(sb.st_rdev);
}

int guest_create_with(int fd, struct drm_agate_create_bo *arg, struct bo *bo)
{
	const uint64_t size = arg->size;
	int err = guest_ioctl_once(fd, DRM_IOCTL_AGATE_CREATE_BO, arg);

	*bo = (struct bo){ .fd = fd };
	if (err)
		return err;
	bo->handle = arg->handle;
	bo->size = (size + PAGE - 1) & ~(uint64_t)(PAGE - 1);
	bo->va = arg->offset;
	return 0;
}

int guest_create(int fd, uint64_t size, uint32_t flags, struct bo *bo)
{
	struct drm_agate_create_bo arg;
	int err;

	do {
		arg = (struct drm_agate_create_bo){ .size = size, .flags = flags };
		err = guest_create_with(fd, &arg, bo);
	} while (err == EINTR || err == EAGAIN);
	return err;
}

int guest_close_handle(int fd, uint32_t handle)
{
	struct drm_gem_close arg = { .handle = handle };

	return guest_ioctl(fd, DRM_IOCTL_GEM_CLOSE, &arg);
}

/* No test accepts a wait that gives up before its deadline. */
static int wait_bo(int fd, struct drm_agate_wait_bo arg)
{
	int err = guest_ioctl(fd, DRM_IOCTL_AGATE_WAIT_BO, &arg);
	int64_t early = arg.timeout_ns - guest_deadline(0);

	if (err == ETIMEDOUT && early > 0)
		guest_broken("WAIT_BO ends with ETIMEDOUT at its deadline",
			     "it ended %lld ns before", (long long)early);
	return err;
}

int guest_wait(int fd, uint32_t handle, int64_t timeout_ns)
{
	return wait_bo(fd, (struct drm_agate_wait_bo){
		.handle = handle,
		.timeout_ns = timeout_ns,
	});
}

int guest_wait_writers(int fd, uint32_t handle, int64_t timeout_ns)
{
	return wait_bo(fd, (struct drm_agate_wait_bo){
		.handle = handle,
		.flags = AGATE_WAIT_BO_WRITERS,
		.timeout_ns = timeout_ns,
	});
}

void guest_map(struct bo *bo)
{
	struct drm_agate_mmap_bo arg = { .handle = bo->handle };

	must(guest_ioctl(bo->fd, DRM_IOCTL_AGATE_MMAP_BO, &arg), "MMAP_BO");
	bo->cpu = mmap(NULL, bo->size, PROT_READ | PROT_WRITE, MAP_SHARED, bo->fd,
		       (off_t)arg.offset);
	if (bo->cpu == MAP_FAILED) {
		bo->cpu = NULL;
		must(errno, "mmap of a BO");
	}
}

void guest_destroy(struct bo *bo)
{
	if (bo->cpu)
		munmap(bo->cpu, bo->size);
	if (bo->handle)
		must(guest_close_handle(bo->fd, bo->handle), "GEM_CLOSE");
	*bo = (struct bo){ 0 };
}

struct bo guest_bo(int fd, uint64_t size, uint32_t flags)
{
	struct bo bo;

	must(guest_create(fd, size, flags, &bo), "CREATE_BO");
	guest_map(&bo);
	return bo;
}

struct agate_job_header *guest_job(struct bo *bo, uint32_t offset, enum agate_job_type type,
				   uint64_t next, const void *payload, size_t size)
{
	struct agate_job_header *job = (void *)((char *)bo->cpu + offset);

	*job = (struct agate_job_header){
		.control = AGATE_JOB_64BIT | AGATE_JOB_TYPE(type) | AGATE_JOB_INDEX(1),
		.next = next,
	};
	if (size)
		memcpy(job + 1, payload, size);
	return job;
}

struct agate_job_header *guest_job_write64(struct bo *bo, uint32_t offset, uint64_t next,
					   uint64_t va, uint64_t value)
{
	struct agate_write_value_payload payload = {
		.address = va,
		.type = AGATE_WRITE_IMMEDIATE_64,
		.immediate = value,
	};

	return guest_job(bo, offset, AGATE_JOB_WRITE_VALUE, next, &payload, sizeof(payload));
}

int guest_submit(int fd, uint64_t jc, uint32_t requirements, const uint32_t *handles,
		 uint32_t n, uint32_t out_sync)
{
	struct drm_agate_sync sync = { .handle = out_sync };
	struct drm_agate_submit arg = {
		.jc = jc,
		.requirements = requirements,
		.bo_handles = (uintptr_t)handles,
		.bo_handle_count = n,
		.out_syncs = (uintptr_t)&sync,
		.out_sync_count = out_sync ? 1 : 0,
	};

	return guest_ioctl(fd, DRM_IOCTL_AGATE_SUBMIT, &arg);
}

int guest_submit_bos(int fd, uint64_t jc, uint32_t requirements, const uint32_t *handles,
		     const uint32_t *flags, uint32_t n, uint32_t in_sync)
{
	struct drm_agate_sync sync = { .handle = in_sync };
	struct drm_agate_submit arg = {
		.jc = jc,
		.requirements = requirements,
		.bo_handles = (uintptr_t)handles,
		.bo_flags = (uintptr_t)flags,
		.bo_handle_count = n,
		.in_syncs = (uintptr_t)&sync,
		.in_sync_count = in_sync ? 1 : 0,
	};

	return guest_ioctl(fd, DRM_IOCTL_AGATE_SUBMIT, &arg);
}

int guest_compute(struct bo *jobs, const struct agate_compute_payload *payload,
		  const uint32_t *handles, uint32_t n)
{
	uint32_t syncobj = guest_syncobj(jobs->fd);

	guest_job(jobs, 0, AGATE_JOB_COMPUTE, 0, payload, sizeof(*payload));
	assert_int_equal(guest_submit(jobs->fd, jobs->va, 0, handles, n, syncobj), 0);
	return guest_fence_end(guest_sync_file(jobs->fd, syncobj));
}

/* The kernel's fences for tests have no header for userspace. */
struct sw_sync_create_fence_data {
	uint32_t value;
	char name[32];
	int32_t fence;
};

#define SW_SYNC_CREATE_FENCE	_IOWR('W', 0, struct sw_sync_create_fence_data)
#define SW_SYNC_INC		_IOW('W', 1, uint32_t)

int guest_timeline(void)
{
	int timeline = open("/sys/kernel/debug/sync/sw_sync", O_RDWR | O_CLOEXEC);

	if (timeline < 0)
		guest_broken("the kernel's fences for tests", "%s", strerror(errno));
	return timeline;
}

uint32_t guest_timeline_syncobj(int fd, int timeline)
{
	struct sw_sync_create_fence_data data = { .value = 1, .name = "test" };
	struct drm_syncobj_handle import = {
		.handle = guest_syncobj(fd),
		.flags = DRM_SYNCOBJ_FD_TO_HANDLE_FLAGS_IMPORT_SYNC_FILE,
	};

	must(guest_ioctl(timeline, SW_SYNC_CREATE_FENCE, &data), "SW_SYNC_CREATE_FENCE");
	import.fd = data.fence;
	must(guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_FD_TO_HANDLE, &import), "SYNCOBJ_FD_TO_HANDLE");
	close(data.fence);
	return import.handle;
}

void guest_timeline_advance(int timeline)
{
	uint32_t one = 1;

	must(guest_ioctl(timeline, SW_SYNC_INC, &one), "SW_SYNC_INC");
}

uint32_t guest_syncobj(int fd)
{
	struct drm_syncobj_create create = { 0 };

	must(guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_CREATE, &create), "SYNCOBJ_CREATE");
	return create.handle;
}

int guest_sync_file(int fd, uint32_t syncobj)
{
	struct drm_syncobj_handle arg = {
		.handle = syncobj,
		.flags = DRM_SYNCOBJ_HANDLE_TO_FD_FLAGS_EXPORT_SYNC_FILE,
		.fd = -1,
	};

	must(guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_HANDLE_TO_FD, &arg), "SYNCOBJ_HANDLE_TO_FD");
	return arg.fd;
}

int guest_fence_status(int sync_file)
{
	struct sync_fence_info fence = { 0 };
	struct sync_file_info info = { .num_fences = 1, .sync_fence_info = (uintptr_t)&fence };
	struct pollfd pollfd = { .fd = sync_file, .events = POLLIN };

	assert_int_equal(poll(&pollfd, 1, -1), 1);
	assert_int_equal(guest_ioctl(sync_file, SYNC_IOC_FILE_INFO, &info), 0);
	assert_int_equal(info.num_fences, 1);
	assert_int_equal(info.status, fence.status);
	assert_true(fence.driver_name[0] && fence.obj_name[0]);
	return fence.status;
}

int guest_submit_fence(const struct bo *bo, uint32_t requirements)
{
	uint32_t sync = guest_syncobj(bo->fd);
	struct drm_syncobj_destroy destroy = { .handle = sync };
	int sync_file;

	assert_int_equal(guest_submit(bo->fd, bo->va, requirements, &bo->handle, 1, sync), 0);
	sync_file = guest_sync_file(bo->fd, sync);
	assert_int_equal(guest_ioctl(bo->fd, DRM_IOCTL_SYNCOBJ_DESTROY, &destroy), 0);
	return sync_file;
}

int guest_fence_end(int sync_file)
{
	int status = guest_fence_status(sync_file);

	close(sync_file);
	return status;
}

int64_t guest_deadline(int64_t ms)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000ll + now.tv_nsec + ms * 1000000ll;
}

void guest_choose(const char *pattern)
{
	if (*pattern == '-')
		cmocka_set_skip_filter(pattern + 1);
	else
		cmocka_set_test_filter(pattern);
}

int guest_teardown(void **state)
{
	(void)state;
	guest_assert_nothing_left();
	return 0;
}
