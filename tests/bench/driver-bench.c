// SPDX-License-Identifier: MIT
/*
 * Measures one of two drivers on the same GPU: ours, or upstream's Panfrost.
 *
 * usage: driver-bench agate|panfrost [jobs]
 *
 * Prints one sample of each measurement in the form that bench_report.c reads.  bench.sh loads
 * the drivers in turns and runs this program after each, so that a noisy machine affects
 * both equally.  With the word jobs it only measures what takes a whole trip to the GPU and
 * back, and fewer of those: beside busy processes they are slow.
 */
#include <drm.h>
#include <errno.h>
#include <fcntl.h>
#include <glob.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "agate_drm.h"
#include "agate_job.h"
#include "agate_regs.h"
#include "bench.h"
#include "panfrost_drm.h"

#define PAGE		4096u
#define BO_SIZE		(64u * 1024)
#define BOS		200
#define MAPPED_SIZE	(2u << 20)
#define MAPPED_BOS	20
#define JOBS		200
#define JOBS_SLOW	40
#define CONTEXTS	16		/* twice as many as there are address spaces */
#define SWITCHES	5
#define CHUNK		(2u << 20)
#define CHUNKS		16
#define WAKES		5

/* These two calls are the same for both drivers. */
_Static_assert(DRM_IOCTL_AGATE_MMAP_BO == DRM_IOCTL_PANFROST_MMAP_BO, "MMAP_BO differs");
_Static_assert(DRM_IOCTL_AGATE_WAIT_BO == DRM_IOCTL_PANFROST_WAIT_BO, "WAIT_BO differs");

struct bo {
	int fd;
	uint32_t handle;
	uint32_t size;
	uint64_t va;
	char *cpu;
};

struct driver {
	const char *name;
	const char *other;
	const char *status;	/* pattern of the file that says if the GPU has its power */
	uint32_t heap;		/* flags of a heap */
	struct bo (*create)(int fd, uint32_t size, uint32_t flags);
	void (*submit)(int fd, uint64_t jc, const uint32_t *handles, uint32_t n);
};

/* ---- The two drivers ----------------------------------------------------- */

static struct bo agate_create(int fd, uint32_t size, uint32_t flags)
{
	struct drm_agate_create_bo arg = { .size = size, .flags = flags };

	bench_call(fd, DRM_IOCTL_AGATE_CREATE_BO, &arg, "CREATE_BO");
	return (struct bo){ .fd = fd, .handle = arg.handle, .size = size, .va = arg.offset };
}

static void agate_submit(int fd, uint64_t jc, const uint32_t *handles, uint32_t n)
{
	struct drm_agate_submit arg = {
		.jc = jc, .bo_handles = (uintptr_t)handles, .bo_handle_count = n,
	};

	bench_call(fd, DRM_IOCTL_AGATE_SUBMIT, &arg, "SUBMIT");
}

static struct bo panfrost_create(int fd, uint32_t size, uint32_t flags)
{
	struct drm_panfrost_create_bo arg = { .size = size, .flags = flags };

	bench_call(fd, DRM_IOCTL_PANFROST_CREATE_BO, &arg, "CREATE_BO");
	return (struct bo){ .fd = fd, .handle = arg.handle, .size = size, .va = arg.offset };
}

static void panfrost_submit(int fd, uint64_t jc, const uint32_t *handles, uint32_t n)
{
	struct drm_panfrost_submit arg = {
		.jc = jc, .bo_handles = (uintptr_t)handles, .bo_handle_count = n,
	};

	bench_call(fd, DRM_IOCTL_PANFROST_SUBMIT, &arg, "SUBMIT");
}

static const struct driver drivers[] = {
	{ "agate", "panfrost", "/sys/bus/pci/drivers/agate/*:*/power/runtime_status",
	  AGATE_BO_HEAP | AGATE_BO_NOEXEC, agate_create, agate_submit },
	{ "panfrost", NULL, "/sys/bus/platform/devices/agate-panfrost/power/runtime_status",
	  PANFROST_BO_HEAP | PANFROST_BO_NOEXEC, panfrost_create,
	  panfrost_submit },
};

static int open_driver(const struct driver *driver)
{
	char found[16] = "";
	struct drm_version version = { .name = found, .name_len = sizeof(found) - 1 };
	int fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);

	if (fd < 0)
		bench_die("/dev/dri/renderD128");
	bench_call(fd, DRM_IOCTL_VERSION, &version, "VERSION");
	if (strcmp(found, driver->name)) {
		errno = ENODEV;
		bench_die(driver->name);
	}
	return fd;
}

static void map(struct bo *bo)
{
	struct drm_agate_mmap_bo arg = { .handle = bo->handle };

	bench_call(bo->fd, DRM_IOCTL_AGATE_MMAP_BO, &arg, "MMAP_BO");
	bo->cpu = mmap(NULL, bo->size, PROT_READ | PROT_WRITE, MAP_SHARED, bo->fd,
		       (off_t)arg.offset);
	if (bo->cpu == MAP_FAILED)
		bench_die("mmap");
}

static void destroy(struct bo *bo)
{
	struct drm_gem_close arg = { .handle = bo->handle };

	if (bo->cpu)
		munmap(bo->cpu, bo->size);
	bench_call(bo->fd, DRM_IOCTL_GEM_CLOSE, &arg, "GEM_CLOSE");
}

static void wait_bo(const struct bo *bo)
{
	struct drm_agate_wait_bo arg = { .handle = bo->handle, .timeout_ns = INT64_MAX };

	bench_call(bo->fd, DRM_IOCTL_AGATE_WAIT_BO, &arg, "WAIT_BO");
}

/* Write a job at an offset of a BO that stores one word at va. */
static void put_job(const struct bo *bo, uint32_t offset, uint64_t next, uint64_t va)
{
	struct agate_job_header *job = (void *)(bo->cpu + offset);

	*job = (struct agate_job_header){
		.control = AGATE_JOB_64BIT | AGATE_JOB_TYPE(AGATE_JOB_WRITE_VALUE) |
			   AGATE_JOB_INDEX(1),
		.next = next,
	};
	*(struct agate_write_value_payload *)(job + 1) = (struct agate_write_value_payload){
		.address = va, .type = AGATE_WRITE_IMMEDIATE_64, .immediate = 1,
	};
}

/* A mapped BO of one page with one job, which writes into the same page. */
static struct bo job_bo(const struct driver *driver, int fd)
{
	struct bo bo = driver->create(fd, PAGE, 0);

	map(&bo);
	put_job(&bo, 0, 0, bo.va + PAGE / 2);
	return bo;
}

/* A job that failed has measured nothing. */
static void check_job(const struct bo *bo, uint32_t offset)
{
	uint32_t status = *(volatile uint32_t *)(bo->cpu + offset);

	if (status == AGATE_EXC_DONE)
		return;
	fprintf(stderr, "driver-bench: a job ended with status 0x%x\n", status);
	exit(1);
}

static void report(const struct driver *driver, const char *what, const char *unit, double sample)
{
	char row[64], other[64];

	snprintf(row, sizeof(row), "%s_%s", driver->name, what);
	snprintf(other, sizeof(other), "%s_%s", driver->other ? driver->other : "", what);
	bench_report(row, unit, &sample, 1, driver->other ? other : NULL);
}

/* ---- Measurements -------------------------------------------------------- */

static void bench_bos(const struct driver *driver, int fd)
{
	double start = bench_now();

	for (int i = 0; i < BOS; i++) {
		struct bo bo = driver->create(fd, BO_SIZE, 0);

		destroy(&bo);
	}
	report(driver, "bo_create_close", "ns", (bench_now() - start) / BOS);
}

/* A BO that the GPU uses once: both ends are mapped when the job runs, and unmapped after. */
static void bench_mapping(const struct driver *driver, int fd)
{
	struct bo job = job_bo(driver, fd);
	double start = bench_now();

	for (int i = 0; i < MAPPED_BOS; i++) {
		struct bo bo = driver->create(fd, MAPPED_SIZE, 0);
		const uint32_t both[] = { job.handle, bo.handle };

		put_job(&job, 0, job.va + 128, bo.va);
		put_job(&job, 128, 0, bo.va + MAPPED_SIZE - 8);
		driver->submit(fd, job.va, both, 2);
		wait_bo(&job);
		check_job(&job, 128);
		destroy(&bo);
	}
	report(driver, "bo_2m_map_unmap", "ns", (bench_now() - start) / MAPPED_BOS);
	destroy(&job);
}

static void bench_jobs(const struct driver *driver, int fd, int jobs)
{
	struct bo job = job_bo(driver, fd);
	double start = bench_now();

	for (int i = 0; i < jobs; i++) {
		driver->submit(fd, job.va, &job.handle, 1);
		wait_bo(&job);
	}
	report(driver, "jobs_one_by_one", "jobs/s", jobs * 1e9 / (bench_now() - start));
	start = bench_now();
	for (int i = 0; i < jobs; i++)
		driver->submit(fd, job.va, &job.handle, 1);
	wait_bo(&job);
	check_job(&job, 0);
	report(driver, "jobs_queued", "jobs/s", jobs * 1e9 / (bench_now() - start));
	destroy(&job);
}

/* Each job of another file than the last: the GPU has fewer address spaces than files. */
static void bench_contexts(const struct driver *driver)
{
	struct bo job[CONTEXTS];
	double start;

	for (int i = 0; i < CONTEXTS; i++)
		job[i] = job_bo(driver, open_driver(driver));
	start = bench_now();
	for (int i = 0; i < SWITCHES * CONTEXTS; i++) {
		struct bo *next = &job[i % CONTEXTS];

		driver->submit(next->fd, next->va, &next->handle, 1);
		wait_bo(next);
	}
	report(driver, "jobs_16_files", "jobs/s", SWITCHES * CONTEXTS * 1e9 / (bench_now() - start));
	for (int i = 0; i < CONTEXTS; i++) {
		check_job(&job[i], 0);
		destroy(&job[i]);
		close(job[i].fd);
	}
}

/* One chain that touches a new chunk of a heap with each job. */
static void bench_heap(const struct driver *driver, int fd)
{
	struct bo job = job_bo(driver, fd), heap = driver->create(fd, CHUNKS * CHUNK, driver->heap);
	const uint32_t both[] = { job.handle, heap.handle };
	double start;

	for (uint32_t i = 0; i < CHUNKS; i++)
		put_job(&job, i * 128, i + 1 < CHUNKS ? job.va + (i + 1) * 128 : 0,
			heap.va + i * CHUNK);
	start = bench_now();
	driver->submit(fd, job.va, both, 2);
	wait_bo(&job);
	check_job(&job, (CHUNKS - 1) * 128);
	report(driver, "heap_chunk", "ns", (bench_now() - start) / CHUNKS);
	destroy(&heap);
	destroy(&job);
}

static void wait_suspended(const struct driver *driver)
{
	char status[16] = "";
	glob_t found;

	if (glob(driver->status, 0, NULL, &found))
		bench_die(driver->status);
	while (strcmp(status, "suspended")) {
		FILE *file = fopen(found.gl_pathv[0], "re");

		if (!file || fscanf(file, "%15s", status) != 1)
			bench_die(found.gl_pathv[0]);
		fclose(file);
		usleep(1000);
	}
	globfree(&found);
}

/* From the submit of a job that finds the GPU without power to the job's end. */
static void bench_wake(const struct driver *driver, int fd)
{
	struct bo job = job_bo(driver, fd);
	double ns = 0;

	for (int i = 0; i < WAKES; i++) {
		double start;

		wait_suspended(driver);
		start = bench_now();
		driver->submit(fd, job.va, &job.handle, 1);
		wait_bo(&job);
		ns += bench_now() - start;
	}
	check_job(&job, 0);
	report(driver, "resume_to_first_job", "ns", ns / WAKES);
	destroy(&job);
}

int main(int argc, char **argv)
{
	const struct driver *driver = NULL;
	bool only_jobs = argc == 3 && !strcmp(argv[2], "jobs");
	int fd;

	for (size_t i = 0; argc == 2 + only_jobs && i < sizeof(drivers) / sizeof(drivers[0]); i++)
		if (!strcmp(argv[1], drivers[i].name))
			driver = &drivers[i];
	if (!driver) {
		fprintf(stderr, "usage: driver-bench agate|panfrost [jobs]\n");
		return 2;
	}
	fd = open_driver(driver);
	if (only_jobs) {
		bench_jobs(driver, fd, JOBS_SLOW);
		return 0;
	}
	bench_bos(driver, fd);
	bench_mapping(driver, fd);
	bench_jobs(driver, fd, JOBS);
	bench_contexts(driver);
	bench_heap(driver, fd);
	bench_wake(driver, fd);
	close(fd);
	return 0;
}
