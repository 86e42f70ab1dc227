// SPDX-License-Identifier: MIT
/*
 * Measures BOs with a placement inside a guest whose GPU has a card; bench.sh runs it.
 *
 * VRAM has to be 64 MiB.  Each row that is compared with another takes turns with it, so that a
 * noisy machine affects both equally.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <drm.h>

#include "agate_drm.h"
#include "agate_job.h"
#include "agate_regs.h"
#include "bench.h"

#define ROUNDS		9
#define PAGE		4096u
#define BO_SIZE		(64u * 1024)
#define BOS		200
#define LARGE		(36u << 20)	/* of 64 MiB: VRAM has room for one */
#define PART		(12u << 20)	/* the guest has no room for two more of those */
#define LISTED		64
#define JOBS		50

#define SYSTEM		(1u << DRM_AGATE_REGION_SYSTEM)
#define VRAM		(1u << DRM_AGATE_REGION_VRAM)

struct bo {
	uint32_t handle;
	uint64_t va;
};

static int fd;

static struct bo create(uint64_t size, uint32_t flags, uint32_t placement)
{
	struct drm_agate_create_bo arg = {
		.size = size, .flags = flags, .placement = placement,
		.caching = placement & VRAM ? AGATE_CACHING_WC : AGATE_CACHING_WB,
	};

	bench_call(fd, DRM_IOCTL_AGATE_CREATE_BO, &arg, "CREATE_BO");
	return (struct bo){ arg.handle, arg.offset };
}

static void destroy(const struct bo *bo)
{
	struct drm_gem_close arg = { .handle = bo->handle };

	bench_call(fd, DRM_IOCTL_GEM_CLOSE, &arg, "GEM_CLOSE");
}

static void *map(const struct bo *bo, size_t size)
{
	struct drm_agate_mmap_bo arg = { .handle = bo->handle };
	void *at;

	bench_call(fd, DRM_IOCTL_AGATE_MMAP_BO, &arg, "MMAP_BO");
	at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)arg.offset);
	if (at == MAP_FAILED)
		bench_die("mmap");
	return at;
}

static void submit(uint64_t jc, const uint32_t *handles, uint32_t n)
{
	struct drm_agate_submit arg = {
		.jc = jc, .bo_handles = (uintptr_t)handles, .bo_handle_count = n,
	};

	bench_call(fd, DRM_IOCTL_AGATE_SUBMIT, &arg, "SUBMIT");
}

static void wait_bo(uint32_t handle)
{
	struct drm_agate_wait_bo arg = { .handle = handle, .timeout_ns = INT64_MAX };

	bench_call(fd, DRM_IOCTL_AGATE_WAIT_BO, &arg, "WAIT_BO");
}

/* A chain of one job, which writes a word into its own page. */
static struct bo job_bo(void)
{
	struct bo bo = create(PAGE, 0, 0);
	struct agate_job_header *job = map(&bo, PAGE);
	struct agate_write_value_payload *payload = (void *)(job + 1);

	job->control = AGATE_JOB_64BIT | AGATE_JOB_TYPE(AGATE_JOB_WRITE_VALUE) | AGATE_JOB_INDEX(1);
	payload->address = bo.va + PAGE / 2;
	payload->type = AGATE_WRITE_IMMEDIATE_64;
	munmap(job, PAGE);
	return bo;
}

/* ---- CREATE_BO ----------------------------------------------------------- */

static double create_close(uint32_t flags, uint32_t placement)
{
	double start = bench_now();

	for (int i = 0; i < BOS; i++) {
		struct bo bo = create(BO_SIZE, flags, placement);

		destroy(&bo);
	}
	return (bench_now() - start) / BOS;
}

/* Without memory, which comes with the first job, and with memory that is cleared at once. */
static void bench_create(void)
{
	double bare[2][ROUNDS], full[2][ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		bare[0][i] = create_close(0, VRAM);
		bare[1][i] = create_close(0, 0);
		full[0][i] = create_close(AGATE_BO_POPULATE, VRAM);
		full[1][i] = create_close(AGATE_BO_POPULATE, SYSTEM);
	}
	bench_report("vram_create_close", "ns", bare[0], ROUNDS, "shmem_create_close");
	bench_report("shmem_create_close", "ns", bare[1], ROUNDS, NULL);
	bench_report("vram_populated", "ns", full[0], ROUNDS, "system_populated");
	bench_report("system_populated", "ns", full[1], ROUNDS, NULL);
}

/* ---- Validate ------------------------------------------------------------ */

/* The time of SUBMIT itself for a job that lists BOs which are all where they should be. */
static double list(const struct bo *job, const struct bo *bos)
{
	uint32_t handles[LISTED + 1] = { job->handle };
	double ns = 0, start;

	for (int i = 0; i < LISTED; i++)
		handles[i + 1] = bos[i].handle;
	submit(job->va, handles, LISTED + 1);
	for (int i = 0; i < JOBS; i++) {
		wait_bo(job->handle);
		start = bench_now();
		submit(job->va, handles, LISTED + 1);
		ns += bench_now() - start;
	}
	wait_bo(job->handle);
	return ns / JOBS / LISTED;
}

static void bench_validate(const struct bo *job)
{
	struct bo placed[LISTED], paged[LISTED];
	double samples[2][ROUNDS];

	for (int i = 0; i < LISTED; i++) {
		placed[i] = create(BO_SIZE, 0, VRAM);
		paged[i] = create(BO_SIZE, 0, 0);
	}
	for (int i = 0; i < ROUNDS; i++) {
		samples[0][i] = list(job, placed);
		samples[1][i] = list(job, paged);
	}
	bench_report("validate_nothing", "ns", samples[0], ROUNDS, "list_shmem");
	bench_report("list_shmem", "ns", samples[1], ROUNDS, NULL);
	for (int i = 0; i < LISTED; i++) {
		destroy(&placed[i]);
		destroy(&paged[i]);
	}
}

/* ---- Eviction ------------------------------------------------------------ */

static void use(const struct bo *job, const struct bo *bo)
{
	const uint32_t handles[] = { job->handle, bo->handle };

	submit(job->va, handles, 2);
	wait_bo(job->handle);
}

/* Each of the two makes the other one leave: all bytes go out, and all come in. */
static double take_turns(const struct bo *job, const struct bo *one, const struct bo *other)
{
	double start = bench_now();

	use(job, other);
	use(job, one);
	return 4.0 * LARGE * 1e3 / (bench_now() - start);
}

/* As many bytes, in the guest. */
static double copy(char *to, const char *from)
{
	double start = bench_now();

	for (int i = 0; i < 4 * (int)(LARGE / PART); i++) {
		memcpy(to, from, PART);
		/* Without this the compiler would see that only the last one counts. */
		__asm__ volatile("" : : "r"(to) : "memory");
	}
	return 4.0 * LARGE * 1e3 / (bench_now() - start);
}

static void bench_evict(const struct bo *job)
{
	struct bo one = create(LARGE, 0, VRAM), other = create(LARGE, 0, VRAM);
	char *buffer = mmap(NULL, 2 * PART, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	double samples[2][ROUNDS];

	if (buffer == MAP_FAILED)
		bench_die("mmap");
	memset(buffer, 1, 2 * PART);
	/* The first time there is nothing to move. */
	use(job, &one);
	take_turns(job, &other, &one);
	for (int i = 0; i < ROUNDS; i++) {
		samples[0][i] = take_turns(job, &one, &other);
		samples[1][i] = copy(buffer, buffer + PART);
	}
	bench_report("evict", "MB/s", samples[0], ROUNDS, "memcpy_guest");
	bench_report("memcpy_guest", "MB/s", samples[1], ROUNDS, NULL);
	munmap(buffer, 2 * PART);
	destroy(&one);
	destroy(&other);
}

int main(void)
{
	struct bo job;

	fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		bench_die("/dev/dri/renderD128");
	job = job_bo();
	bench_create();
	bench_validate(&job);
	bench_evict(&job);
	return 0;
}
