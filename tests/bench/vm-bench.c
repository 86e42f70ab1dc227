// SPDX-License-Identifier: MIT
/*
 * Measures address spaces of VM_CREATE inside a guest whose GPU has a card, and what its sleep
 * costs; bench.sh runs it.
 *
 * A binding is compared with the CPU's own: mmap() of a file whose pages are in memory, with all
 * entries made at once, and munmap().  Both sides are done when the processor may use the range.
 * Each row that is compared with another takes turns with it, so that a noisy machine affects
 * both equally.
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
#define MIB		(1ull << 20)
#define PIECE		(16 * MIB)	/* 1 GiB is more than there is: one piece of it again and again */
#define LARGE		(36 * MIB)	/* of 64 MiB: VRAM has room for one */
#define TIMES		32
#define JOBS_VA		0x4000000ull
#define AREA		0x40000000ull

#define SYSTEM		(1u << DRM_AGATE_REGION_SYSTEM)
#define VRAM		(1u << DRM_AGATE_REGION_VRAM)

static int fd;
static uint32_t vm, done;	/* the address space; the sync object of its last change */

static uint32_t create(uint64_t size, uint32_t placement, uint32_t vm_id, uint64_t *va)
{
	struct drm_agate_create_bo arg = {
		.size = size, .placement = placement, .vm_id = vm_id,
		.caching = placement & VRAM ? AGATE_CACHING_WC : AGATE_CACHING_WB,
	};

	bench_call(fd, DRM_IOCTL_AGATE_CREATE_BO, &arg, "CREATE_BO");
	if (va)
		*va = arg.offset;
	return arg.handle;
}

static void destroy(uint32_t handle)
{
	struct drm_gem_close arg = { .handle = handle };

	bench_call(fd, DRM_IOCTL_GEM_CLOSE, &arg, "GEM_CLOSE");
}

/* ---- Bindings ------------------------------------------------------------ */

static void change(uint32_t op, uint32_t handle, uint64_t addr, uint64_t size)
{
	struct drm_agate_sync out = { .handle = done };
	struct drm_agate_vm_bind arg = {
		.vm_id = vm, .op = op, .handle = handle, .addr = addr, .range = size,
		.out_syncs = (uintptr_t)&out, .out_sync_count = 1,
	};

	bench_call(fd, DRM_IOCTL_AGATE_VM_BIND, &arg, "VM_BIND");
}

static void wait_change(void)
{
	struct drm_syncobj_wait arg = {
		.handles = (uintptr_t)&done, .count_handles = 1, .timeout_nsec = INT64_MAX,
	};

	bench_call(fd, DRM_IOCTL_SYNCOBJ_WAIT, &arg, "SYNCOBJ_WAIT");
}

/* One size, in pieces of one BO or of one file. */
struct size {
	const char *name;
	uint64_t bytes, piece;
	uint32_t placement;
};

static const struct size sizes[] = {
	{ "4k", PAGE, PAGE, SYSTEM },
	{ "2m", 2 * MIB, 2 * MIB, VRAM },
	{ "2m_pages", 2 * MIB, 2 * MIB, SYSTEM },
	{ "1g", 1024 * MIB, PIECE, VRAM },
};

#define SIZES	(sizeof(sizes) / sizeof(sizes[0]))

/* Nanoseconds of binding and of unbinding. */
static void gpu_side(const struct size *size, uint32_t bo, double ns[2])
{
	double start = bench_now();

	for (uint64_t at = 0; at < size->bytes; at += size->piece)
		change(AGATE_VM_BIND_MAP, bo, AREA + at, size->piece);
	wait_change();
	ns[0] = bench_now() - start;
	start = bench_now();
	change(AGATE_VM_BIND_UNMAP, 0, AREA, size->bytes);
	wait_change();
	ns[1] = bench_now() - start;
}

static void cpu_side(const struct size *size, int file, double ns[2])
{
	char *area = mmap(NULL, size->bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	double start = bench_now();

	if (area == MAP_FAILED)
		bench_die("mmap");
	for (uint64_t at = 0; at < size->bytes; at += size->piece) {
		if (mmap(area + at, size->piece, PROT_READ | PROT_WRITE,
			 MAP_SHARED | MAP_POPULATE | MAP_FIXED, file, 0) == MAP_FAILED)
			bench_die("mmap");
	}
	ns[0] = bench_now() - start;
	start = bench_now();
	munmap(area, size->bytes);
	ns[1] = bench_now() - start;
}

static void report(const char *what, const char *size, const double *own, const char *other_what,
		   const double *other)
{
	char name[64], against[64];

	snprintf(name, sizeof(name), "%s_%s", what, size);
	snprintf(against, sizeof(against), "%s_%s", other_what, size);
	bench_report(name, "ns", own, ROUNDS, against);
	bench_report(against, "ns", other, ROUNDS, NULL);
}

static void bench_bind(const struct size *size)
{
	const int times = size->bytes > 2 * MIB ? 1 : TIMES;
	double bind[ROUNDS] = { 0 }, unbind[ROUNDS] = { 0 }, map[ROUNDS] = { 0 }, unmap[ROUNDS] = { 0 };
	uint32_t bo = create(size->piece, size->placement, vm, NULL);
	int file = memfd_create("bench", MFD_CLOEXEC);
	double ns[2];

	if (file < 0 || ftruncate(file, (off_t)size->piece))
		bench_die("memfd_create");
	/* The first time there is no memory yet, on neither side. */
	gpu_side(size, bo, ns);
	cpu_side(size, file, ns);
	for (int i = 0; i < ROUNDS; i++) {
		for (int k = 0; k < times; k++) {
			gpu_side(size, bo, ns);
			bind[i] += ns[0] / times;
			unbind[i] += ns[1] / times;
			cpu_side(size, file, ns);
			map[i] += ns[0] / times;
			unmap[i] += ns[1] / times;
		}
	}
	report("vm_bind", size->name, bind, "mmap", map);
	report("vm_unbind", size->name, unbind, "munmap", unmap);
	close(file);
	destroy(bo);
}

/* ---- What was evicted ---------------------------------------------------- */

struct chain {
	uint32_t handle;
	uint64_t va;
	uint32_t vm_id;
};

/* A chain of one job, which writes a word into its own page. */
static struct chain chain_in(uint32_t vm_id)
{
	struct chain chain = { .vm_id = vm_id, .va = JOBS_VA };
	struct drm_agate_mmap_bo arg = { 0 };
	struct agate_write_value_payload *payload;
	struct agate_job_header *job;
	uint64_t va;

	chain.handle = create(PAGE, SYSTEM, vm_id, &va);
	if (!vm_id)
		chain.va = va;
	arg.handle = chain.handle;
	bench_call(fd, DRM_IOCTL_AGATE_MMAP_BO, &arg, "MMAP_BO");
	job = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)arg.offset);
	if (job == MAP_FAILED)
		bench_die("mmap");
	payload = (void *)(job + 1);
	job->control = AGATE_JOB_64BIT | AGATE_JOB_TYPE(AGATE_JOB_WRITE_VALUE) | AGATE_JOB_INDEX(1);
	payload->address = chain.va + PAGE / 2;
	payload->type = AGATE_WRITE_IMMEDIATE_64;
	munmap(job, PAGE);
	if (vm_id) {
		change(AGATE_VM_BIND_MAP, chain.handle, chain.va, PAGE);
		wait_change();
	}
	return chain;
}

static void use(const struct chain *chain, uint32_t bo)
{
	const uint32_t handles[] = { chain->handle, bo };
	struct drm_agate_submit arg = {
		.jc = chain->va, .vm_id = chain->vm_id, .bo_handles = (uintptr_t)handles,
		.bo_handle_count = chain->vm_id ? 0 : 2,
	};
	struct drm_agate_wait_bo wait = { .handle = chain->handle, .timeout_ns = INT64_MAX };

	bench_call(fd, DRM_IOCTL_AGATE_SUBMIT, &arg, "SUBMIT");
	bench_call(fd, DRM_IOCTL_AGATE_WAIT_BO, &wait, "WAIT_BO");
}

/* Each of the two makes the other one leave: all bytes go out, and all come in. */
static double take_turns(const struct chain *chain, uint32_t bo, const struct chain *other,
			 uint32_t other_bo)
{
	double start = bench_now();

	use(other, other_bo);
	use(chain, bo);
	return 4.0 * (double)LARGE * 1e3 / (bench_now() - start);
}

/* The same pair, but that one of them is bound in @vm for the one side. */
static void bench_rebind(const struct chain *own, const struct chain *bound)
{
	uint32_t one = create(LARGE, VRAM, 0, NULL), other = create(LARGE, VRAM, 0, NULL);
	uint32_t rebound = create(LARGE, VRAM, vm, NULL);
	double samples[2][ROUNDS];

	change(AGATE_VM_BIND_MAP, rebound, AREA, LARGE);
	use(own, one);
	take_turns(own, one, own, other);
	take_turns(bound, rebound, own, other);
	for (int i = 0; i < ROUNDS; i++) {
		samples[0][i] = take_turns(bound, rebound, own, other);
		samples[1][i] = take_turns(own, one, own, other);
	}
	bench_report("evict_and_rebind", "MB/s", samples[0], ROUNDS, "evict_listed");
	bench_report("evict_listed", "MB/s", samples[1], ROUNDS, NULL);
	change(AGATE_VM_BIND_UNMAP, 0, AREA, LARGE);
	wait_change();
	destroy(one);
	destroy(other);
	destroy(rebound);
}

/* ---- Sleep --------------------------------------------------------------- */

static void write_file(const char *path, const char *text)
{
	int file = open(path, O_WRONLY | O_CLOEXEC);

	if (file < 0 || write(file, text, strlen(text)) != (ssize_t)strlen(text))
		bench_die(path);
	close(file);
}

/* All devices suspend and resume; in milliseconds. */
static double sleep_once(void)
{
	double start = bench_now();

	write_file("/sys/power/state", "mem");
	return (bench_now() - start) / 1e6;
}

/* VRAM is saved, and comes back at the latest when a job uses it. */
static double sleep_full(const struct chain *own, uint32_t bo)
{
	double ms = sleep_once(), start = bench_now();

	use(own, bo);
	return ms + (bench_now() - start) / 1e6;
}

static void bench_sleep(const struct chain *own)
{
	double samples[2][ROUNDS];

	write_file("/sys/module/suspend/parameters/pm_test_delay", "0");
	write_file("/sys/power/pm_test", "devices");
	for (int i = 0; i < ROUNDS; i++) {
		uint32_t bo, other;

		samples[1][i] = sleep_once();
		bo = create(LARGE, VRAM, 0, NULL);
		other = create(LARGE, VRAM, 0, NULL);
		/* It has contents when it comes for the second time. */
		use(own, bo);
		take_turns(own, bo, own, other);
		destroy(other);
		samples[0][i] = sleep_full(own, bo);
		destroy(bo);
	}
	bench_report("sleep_with_36_mib", "ms", samples[0], ROUNDS, "sleep_without");
	bench_report("sleep_without", "ms", samples[1], ROUNDS, NULL);
}

int main(void)
{
	struct drm_agate_vm_create space = { 0 };
	struct drm_syncobj_create sync = { 0 };
	struct chain own, bound;

	fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		bench_die("/dev/dri/renderD128");
	bench_call(fd, DRM_IOCTL_AGATE_VM_CREATE, &space, "VM_CREATE");
	bench_call(fd, DRM_IOCTL_SYNCOBJ_CREATE, &sync, "SYNCOBJ_CREATE");
	vm = space.vm_id;
	done = sync.handle;
	for (size_t i = 0; i < SIZES; i++)
		bench_bind(&sizes[i]);
	own = chain_in(0);
	bound = chain_in(vm);
	bench_rebind(&own, &bound);
	bench_sleep(&own);
	return 0;
}
