// SPDX-License-Identifier: MIT
/*
 * agate-hold: makes BOs, gives each a label, runs a job on the first, and holds them
 * until it is killed, so that there is something to look at in debugfs.
 *
 * usage: agate-hold [--export] [COUNT]
 *
 * It speaks to the driver itself, and goes on as far as it can, for a driver in the
 * making lacks calls.  It prints the name and the error of each call that fails.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include <xf86drm.h>

#include "agate_drm.h"
#include "agate_job.h"

#define COUNT_MAX	1000
#define PAGE		4096u
#define VALUE		0xa6a7eull
#define VALUE_AT	2048	/* in the first BO, behind the job */
#define WAIT_NS		2000000000ll

/* One call: false, having told, when it fails. */
static bool call(int fd, unsigned long request, void *arg, const char *name)
{
	if (!drmIoctl(fd, request, arg))
		return true;
	fprintf(stderr, "%s: %s\n", name, strerrorname_np(errno) ?: strerror(errno));
	return false;
}

static bool create(int fd, unsigned int i, struct drm_agate_create_bo *bo)
{
	*bo = (struct drm_agate_create_bo){ .size = (uint64_t)PAGE * (i + 1) };
	return call(fd, DRM_IOCTL_AGATE_CREATE_BO, bo, "CREATE_BO");
}

/* False when it makes no sense to try it on more BOs. */
static bool set_label(int fd, unsigned int i, const struct drm_agate_create_bo *bo)
{
	char text[32];
	struct drm_agate_set_label label = {
		.handle = bo->handle,
		.len = (uint32_t)snprintf(text, sizeof(text), "hold %u", i + 1),
		.label = (uintptr_t)text,
	};

	return call(fd, DRM_IOCTL_AGATE_SET_LABEL, &label, "SET_LABEL");
}

static void *map(int fd, const struct drm_agate_create_bo *bo)
{
	struct drm_agate_mmap_bo arg = { .handle = bo->handle };
	void *cpu;

	if (!call(fd, DRM_IOCTL_AGATE_MMAP_BO, &arg, "MMAP_BO"))
		return NULL;
	cpu = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)arg.offset);
	if (cpu != MAP_FAILED)
		return cpu;
	perror("mmap");
	return NULL;
}

/* The GPU writes a number into the BO that holds the job. */
static void run_job(int fd, const struct drm_agate_create_bo *bo)
{
	struct agate_write_value_payload payload = {
		.address = bo->offset + VALUE_AT,
		.type = AGATE_WRITE_IMMEDIATE_64,
		.immediate = VALUE,
	};
	struct drm_agate_submit submit = {
		.jc = bo->offset,
		.bo_handles = (uintptr_t)&bo->handle,
		.bo_handle_count = 1,
	};
	struct drm_agate_wait_bo wait = { .handle = bo->handle };
	struct agate_job_header *job = map(fd, bo);
	struct timespec now;

	if (!job)
		return;
	*job = (struct agate_job_header){
		.control = AGATE_JOB_64BIT | AGATE_JOB_TYPE(AGATE_JOB_WRITE_VALUE) |
			   AGATE_JOB_INDEX(1),
	};
	memcpy(job + 1, &payload, sizeof(payload));
	clock_gettime(CLOCK_MONOTONIC, &now);
	wait.timeout_ns = now.tv_sec * 1000000000ll + now.tv_nsec + WAIT_NS;
	if (!call(fd, DRM_IOCTL_AGATE_SUBMIT, &submit, "SUBMIT") ||
	    !call(fd, DRM_IOCTL_AGATE_WAIT_BO, &wait, "WAIT_BO"))
		return;
	if (*(volatile uint64_t *)((char *)job + VALUE_AT) == VALUE)
		puts("the job ran");
	else
		puts("the job ended, but what it should have written is not there");
}

/* The descriptor stays open, and with it the dma-buf. */
static bool export(int fd, const struct drm_agate_create_bo *bo)
{
	struct drm_prime_handle arg = { .handle = bo->handle, .flags = DRM_CLOEXEC | DRM_RDWR };

	if (!call(fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &arg, "PRIME_HANDLE_TO_FD"))
		return false;
	printf("handle %" PRIu32 ": exported as descriptor %d\n", bo->handle, arg.fd);
	return true;
}

/* Makes them all, as far as that works; how many there are. */
static unsigned int make_bos(int fd, unsigned int count, bool exports)
{
	struct drm_agate_create_bo bo, first = { 0 };
	bool labels = true;
	unsigned int i;

	for (i = 0; i < count && create(fd, i, &bo); i++) {
		if (!i)
			first = bo;
		labels = labels && set_label(fd, i, &bo);
		printf("handle %" PRIu32 ": %" PRIu64 " bytes at GPU address %#" PRIx64 "\n",
		       bo.handle, (uint64_t)bo.size, (uint64_t)bo.offset);
		exports = exports && export(fd, &bo);
	}
	if (i)
		run_job(fd, &first);
	return i;
}

static int usage(void)
{
	fprintf(stderr, "usage: agate-hold [--export] [COUNT]     (1 to %d BOs)\n", COUNT_MAX);
	return 2;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {
		{ "export", no_argument, NULL, 'x' },
		{ NULL, 0, NULL, 0 }
	};
	unsigned long count = 1;
	bool exports = false;
	char *end;
	int fd, option;

	opterr = 0;
	while ((option = getopt_long(argc, argv, "", options, NULL)) != -1) {
		if (option != 'x')
			return usage();
		exports = true;
	}
	if (optind < argc) {
		count = strtoul(argv[optind], &end, 10);
		if (optind + 1 < argc || end == argv[optind] || *end || !count || count > COUNT_MAX)
			return usage();
	}
	fd = drmOpenWithType("agate", NULL, DRM_NODE_RENDER);
	if (fd < 0) {
		fputs("agate-hold: no agate driver has a render node\n", stderr);
		return 1;
	}
	if (!make_bos(fd, (unsigned int)count, exports))
		return 1;
	printf("held until this process (%d) ends\n", (int)getpid());
	fflush(stdout);
	pause();
	return 0;
}
