// SPDX-License-Identifier: MIT
/* Helpers of lab 03's tests; see cma.h. */
#include "cma.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define PIECE_FILE	"/sys/kernel/debug/agate_piece"
#define ROUNDS		500	/* of waiting, not time */

int cma_open(void)
{
	struct drm_agate_get_param arg = { .param = DRM_AGATE_PARAM_FEATURES };
	int fd = guest_open();

	rule("the driver has the topic cma: agate_cma_topic_init() returns 0");
	check_errno(guest_ioctl(fd, DRM_IOCTL_AGATE_GET_PARAM, &arg), 0, "GET_PARAM of FEATURES");
	check_true(arg.value & AGATE_FEATURE_CMA, "the bit AGATE_FEATURE_CMA",
		   "the topic is absent");
	return fd;
}

/* ---- BOs --------------------------------------------------------------- */

struct bo make_piece(int fd, uint64_t size)
{
	struct bo bo;
	char what[80];

	rule("while there is memory, a BO in one piece can be made");
	snprintf(what, sizeof(what), "CREATE_BO of %llu bytes, CONTIGUOUS",
		 (unsigned long long)size);
	check_errno(guest_create(fd, size, AGATE_BO_CONTIGUOUS, &bo), 0, what);
	return bo;
}

int try_map(struct bo *bo, uint64_t size, int prot)
{
	struct drm_agate_mmap_bo arg = { .handle = bo->handle };

	check_errno(guest_ioctl(bo->fd, DRM_IOCTL_AGATE_MMAP_BO, &arg), 0, "MMAP_BO");
	bo->cpu = mmap(NULL, size, prot, MAP_SHARED, bo->fd, (off_t)arg.offset);
	if (bo->cpu != MAP_FAILED)
		return 0;
	bo->cpu = NULL;
	return errno;
}

struct bo map_piece(int fd, uint64_t size)
{
	struct bo bo = make_piece(fd, size);

	rule("a process can map a BO, or a part from its start on");
	check_errno(try_map(&bo, bo.size, PROT_READ | PROT_WRITE), 0, "mmap() of the whole BO");
	return bo;
}

/* ---- The area ---------------------------------------------------------- */

long area_used(void)
{
	DIR *dir = opendir("/sys/kernel/debug/cma");
	struct dirent *de;
	long sum = 0;

	assert_non_null(dir);
	while ((de = readdir(dir))) {
		char path[300];
		long used;
		FILE *file;

		snprintf(path, sizeof(path), "/sys/kernel/debug/cma/%s/used", de->d_name);
		file = de->d_name[0] == '.' ? NULL : fopen(path, "re");
		if (!file)
			continue;
		assert_int_equal(fscanf(file, "%ld", &used), 1);
		fclose(file);
		sum += used;
	}
	closedir(dir);
	return sum;
}

void check_area(long pages, const char *when)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	long used = area_used();
	char expected[64];

	for (int i = 0; i < ROUNDS && used != pages; i++) {
		nanosleep(&pause, NULL);
		used = area_used();
	}
	snprintf(expected, sizeof(expected), "%ld pages of the area are taken", pages);
	if (used != pages)
		broken(expected, "%ld pages are taken %s", used, when);
}

/* ---- The backing ------------------------------------------------------- */

struct piece_call ask(enum piece_op op, uint64_t offset, uint64_t size, uint64_t word)
{
	struct piece_call call = { .op = op, .offset = offset, .size = size, .word = word };
	static int file = -1;

	if (file < 0)
		file = inject_open(PIECE_FILE, O_RDWR);
	if (!ioctl(file, PIECE_CALL, &call))
		call.result = -call.result;
	else if (errno == EFAULT)
		call.result = EFAULT;	/* only where the kernel makes a copy fail */
	else
		fail_msg(PIECE_FILE ": %s", strerror(errno));
	return call;
}

void gpu_copies(const struct bo *bo, const struct bo *other, uint64_t dst, uint64_t src)
{
	struct bo jobs = guest_bo(bo->fd, PAGE, 0);
	const uint32_t handles[] = { jobs.handle, bo->handle, other->handle };
	const struct agate_compute_payload copy = {
		.op = AGATE_COMPUTE_COPY, .dst = dst, .src = src, .size = 8,
	};
	const uint32_t done = guest_syncobj(bo->fd);

	guest_job(&jobs, 0, AGATE_JOB_COMPUTE, 0, &copy, sizeof(copy));
	rule("the GPU reads and writes a BO in one piece");
	check_errno(guest_submit(bo->fd, jobs.va, 0, handles, bo == other ? 2 : 3, done), 0,
		    "SUBMIT of a job with the BO");
	check_equal(guest_fence_end(guest_sync_file(bo->fd, done)), 1,
		    "the state of the job's fence, 1 for success");
	guest_destroy(&jobs);
}

long minor_faults(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_minflt;
}

/* ---- The log ----------------------------------------------------------- */

static int kmsg = -1;

void log_watch(void)
{
	if (kmsg < 0)
		kmsg = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (kmsg < 0 || lseek(kmsg, 0, SEEK_END) < 0)
		fail_msg("/dev/kmsg: %s", strerror(errno));
}

/* Of warnings and what is worse; a record begins with its facility and level. */
const char *log_warning(void)
{
	static char record[1024];
	const char *text;
	ssize_t n;

	while ((n = read(kmsg, record, sizeof(record) - 1)) > 0 || (n < 0 && errno == EPIPE)) {
		if (n < 0)
			continue;
		record[n] = '\0';
		record[strcspn(record, "\n")] = '\0';
		text = strchr(record, ';');
		if (text && strtoul(record, NULL, 10) <= 4)
			return text + 1;
	}
	return NULL;
}
