// SPDX-License-Identifier: MIT
/*
 * Measures the driver's speed inside the guest; bench.sh runs it.
 *
 * Prints one JSON object per line: {"name", "unit", "samples"}, and "against" to compare
 * it with another one.  If vgem can do the same (make a BO and close it, touch fresh
 * pages, share a BO), the program measures it in turns with agate, so that a noisy machine
 * affects both equally.
 */
#include <drm.h>
#include <drm_mode.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "agate_drm.h"
#include "agate_job.h"
#include "agate_regs.h"
#include "bench.h"

#define ROUNDS		9
#define PAGE		4096u
#define BO_SIZE		(64u * 1024)
#define BOS		400
#define TOUCH_SIZE	(4u << 20)
#define JOBS		200
#define SHARES		200

static int open_driver(const char *name, const char *node, int first)
{
	for (int minor = first; minor < first + 64; minor++) {
		char path[32], found[16] = "";
		struct drm_version version = { .name = found, .name_len = sizeof(found) - 1 };
		int fd;

		snprintf(path, sizeof(path), "/dev/dri/%s%d", node, minor);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd < 0)
			continue;
		if (!ioctl(fd, DRM_IOCTL_VERSION, &version) && !strcmp(found, name))
			return fd;
		close(fd);
	}
	errno = ENODEV;
	bench_die(name);
	return -1;
}

static void close_handle(int fd, uint32_t handle)
{
	struct drm_gem_close arg = { .handle = handle };

	bench_call(fd, DRM_IOCTL_GEM_CLOSE, &arg, "GEM_CLOSE");
}

static uint32_t agate_create(int fd, uint64_t size, uint64_t *va)
{
	struct drm_agate_create_bo arg = { .size = size };

	bench_call(fd, DRM_IOCTL_AGATE_CREATE_BO, &arg, "CREATE_BO");
	if (va)
		*va = arg.offset;
	return arg.handle;
}

static uint32_t contiguous_create(int fd, uint64_t size, uint64_t *va)
{
	struct drm_agate_create_bo arg = { .size = size, .flags = AGATE_BO_CONTIGUOUS };

	(void)va;
	bench_call(fd, DRM_IOCTL_AGATE_CREATE_BO, &arg, "CREATE_BO");
	return arg.handle;
}

static uint32_t vgem_create(int fd, uint64_t size, uint64_t *va)
{
	struct drm_mode_create_dumb arg = {
		.width = PAGE / 4, .height = (uint32_t)(size / PAGE), .bpp = 32,
	};

	(void)va;
	bench_call(fd, DRM_IOCTL_MODE_CREATE_DUMB, &arg, "CREATE_DUMB");
	return arg.handle;
}

static uint64_t agate_offset(int fd, uint32_t handle)
{
	struct drm_agate_mmap_bo arg = { .handle = handle };

	bench_call(fd, DRM_IOCTL_AGATE_MMAP_BO, &arg, "MMAP_BO");
	return arg.offset;
}

static uint64_t vgem_offset(int fd, uint32_t handle)
{
	struct drm_mode_map_dumb arg = { .handle = handle };

	bench_call(fd, DRM_IOCTL_MODE_MAP_DUMB, &arg, "MAP_DUMB");
	return arg.offset;
}

/* A driver that makes BOs: agate, or vgem to compare it with. */
struct maker {
	int fd;
	uint32_t (*create)(int fd, uint64_t size, uint64_t *va);
	uint64_t (*offset)(int fd, uint32_t handle);
};

static double create_close(const struct maker *m)
{
	double start = bench_now();

	for (int i = 0; i < BOS; i++)
		close_handle(m->fd, m->create(m->fd, BO_SIZE, NULL));
	return (bench_now() - start) / BOS;
}

static double touch(const struct maker *m, uint32_t handle, void **map)
{
	off_t offset = (off_t)m->offset(m->fd, handle);
	double start = bench_now();
	volatile char *cpu = mmap(NULL, TOUCH_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd,
				  offset);

	if (cpu == MAP_FAILED)
		bench_die("mmap");
	for (uint32_t i = 0; i < TOUCH_SIZE; i += PAGE)
		cpu[i] = 1;
	*map = (void *)cpu;
	return (bench_now() - start) / (TOUCH_SIZE / PAGE);
}

/*
 * A page of a new BO, and the same page in another mapping of the BO.  Both times count
 * from mmap() on: vgem takes all pages there, and our driver each page when it is touched.
 */
static void touch_twice(const struct maker *m, double *first, double *second)
{
	uint32_t handle = m->create(m->fd, TOUCH_SIZE, NULL);
	void *map[2];

	*first = touch(m, handle, &map[0]);
	*second = touch(m, handle, &map[1]);
	munmap(map[0], TOUCH_SIZE);
	munmap(map[1], TOUCH_SIZE);
	close_handle(m->fd, handle);
}

static void bench_bos(int agate, int vgem)
{
	const struct maker ours = { agate, agate_create, agate_offset };
	const struct maker theirs = { vgem, vgem_create, vgem_offset };
	const struct maker contiguous = { agate, contiguous_create, agate_offset };
	double create[3][ROUNDS], first[2][ROUNDS], second[2][ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		create[0][i] = create_close(&ours);
		create[1][i] = create_close(&theirs);
		create[2][i] = create_close(&contiguous);
		touch_twice(&ours, &first[0][i], &second[0][i]);
		touch_twice(&theirs, &first[1][i], &second[1][i]);
	}
	bench_report("bo_create_close", "ns", create[0], ROUNDS, "bo_create_close_vgem");
	bench_report("bo_create_close_vgem", "ns", create[1], ROUNDS, NULL);
	bench_report("contiguous_create_close", "ns", create[2], ROUNDS, "bo_create_close_vgem");
	bench_report("first_touch_page", "ns", first[0], ROUNDS, "first_touch_page_vgem");
	bench_report("first_touch_page_vgem", "ns", first[1], ROUNDS, NULL);
	bench_report("present_page", "ns", second[0], ROUNDS, "present_page_vgem");
	bench_report("present_page_vgem", "ns", second[1], ROUNDS, NULL);
}

/*
 * A BO that has pages becomes one of another file; the dma-buf between them is new each time.
 */
static double share(const struct maker *from, int to)
{
	uint32_t handle = from->create(from->fd, TOUCH_SIZE, NULL);
	double start;
	void *map;

	touch(from, handle, &map);
	start = bench_now();
	for (int i = 0; i < SHARES; i++) {
		struct drm_prime_handle arg = { .handle = handle, .flags = DRM_CLOEXEC | DRM_RDWR };
		int dmabuf;

		bench_call(from->fd, DRM_IOCTL_PRIME_HANDLE_TO_FD, &arg, "PRIME_HANDLE_TO_FD");
		dmabuf = arg.fd;
		bench_call(to, DRM_IOCTL_PRIME_FD_TO_HANDLE, &arg, "PRIME_FD_TO_HANDLE");
		close_handle(to, arg.handle);
		close(dmabuf);
	}
	start = (bench_now() - start) / SHARES;
	munmap(map, TOUCH_SIZE);
	close_handle(from->fd, handle);
	return start;
}

/* Within a driver, and between the two: each imports what the other one exports. */
static void bench_prime(int agate, int vgem)
{
	const struct maker ours = { agate, agate_create, agate_offset };
	const struct maker theirs = { vgem, vgem_create, vgem_offset };
	int our_other = open_driver("agate", "renderD", 128);
	int their_other = open_driver("vgem", "card", 0);
	double within[2][ROUNDS], between[2][ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		within[0][i] = share(&ours, our_other);
		within[1][i] = share(&theirs, their_other);
		between[0][i] = share(&theirs, agate);
		between[1][i] = share(&ours, vgem);
	}
	bench_report("prime_to_another_file", "ns", within[0], ROUNDS, "prime_to_another_file_vgem");
	bench_report("prime_to_another_file_vgem", "ns", within[1], ROUNDS, NULL);
	bench_report("prime_import_of_vgem", "ns", between[0], ROUNDS, "prime_import_by_vgem");
	bench_report("prime_import_by_vgem", "ns", between[1], ROUNDS, NULL);
	close(their_other);
	close(our_other);
}

/* To show the GPU's counters, debugfs reads two registers for each. */
static void bench_register_reads(int agate)
{
	double samples[ROUNDS];
	char path[64], text[4096];
	struct stat st;

	if (fstat(agate, &st))
		bench_die("fstat");
	snprintf(path, sizeof(path), "/sys/kernel/debug/dri/%u/gpu_counters", minor(st.st_rdev));
	for (int i = 0; i < ROUNDS; i++) {
		const int repeat = 20;
		double start = bench_now();

		for (int j = 0; j < repeat; j++) {
			int fd = open(path, O_RDONLY | O_CLOEXEC);

			if (fd < 0 || read(fd, text, sizeof(text)) <= 0)
				bench_die(path);
			close(fd);
		}
		samples[i] = (bench_now() - start) / (repeat * 2 * AGATE_CNT_COUNT);
	}
	bench_report("register_read", "ns", samples, ROUNDS, NULL);
}

static void submit(int fd, uint64_t jc, uint32_t handle)
{
	struct drm_agate_submit arg = {
		.jc = jc, .bo_handles = (uintptr_t)&handle, .bo_handle_count = 1,
	};

	bench_call(fd, DRM_IOCTL_AGATE_SUBMIT, &arg, "SUBMIT");
}

static void wait_bo(int fd, uint32_t handle)
{
	struct drm_agate_wait_bo arg = { .handle = handle, .timeout_ns = INT64_MAX };

	bench_call(fd, DRM_IOCTL_AGATE_WAIT_BO, &arg, "WAIT_BO");
}

static void bench_jobs(int fd)
{
	double trip[ROUNDS], queued[ROUNDS];
	struct agate_write_value_payload *payload;
	struct agate_job_header *job;
	uint64_t va;
	uint32_t handle = agate_create(fd, PAGE, &va);

	job = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
		   (off_t)agate_offset(fd, handle));
	if (job == MAP_FAILED)
		bench_die("mmap");
	job->control = AGATE_JOB_64BIT | AGATE_JOB_TYPE(AGATE_JOB_WRITE_VALUE) | AGATE_JOB_INDEX(1);
	payload = (void *)(job + 1);
	payload->address = va + 2048;
	payload->type = AGATE_WRITE_IMMEDIATE_64;
	payload->immediate = 1;

	for (int i = 0; i < ROUNDS; i++) {
		double start = bench_now();

		for (int j = 0; j < JOBS; j++) {
			submit(fd, va, handle);
			wait_bo(fd, handle);
		}
		trip[i] = JOBS * 1e9 / (bench_now() - start);
		start = bench_now();
		for (int j = 0; j < JOBS; j++)
			submit(fd, va, handle);
		wait_bo(fd, handle);
		queued[i] = JOBS * 1e9 / (bench_now() - start);
	}
	bench_report("jobs_one_by_one", "jobs/s", trip, ROUNDS, NULL);
	bench_report("jobs_queued", "jobs/s", queued, ROUNDS, NULL);
	munmap(job, PAGE);
	close_handle(fd, handle);
}

int main(void)
{
	int agate = open_driver("agate", "renderD", 128);
	int vgem = open_driver("vgem", "card", 0);

	bench_register_reads(agate);
	bench_bos(agate, vgem);
	bench_prime(agate, vgem);
	bench_jobs(agate);
	return 0;
}
