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
#include <stdbool.h>
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
#define PIECE		(16 * MIB)	/* 1 GiB is more than there is: one piece at 64 addresses */
#define LARGE		(36 * MIB)	/* of 64 MiB: VRAM has room for one */
#define PART		(12 * MIB)	/* of what the CPU copies: the guest has no room for more */
#define TIMES		32
#define CHANGES		20
#define TURNS		10
#define FEW		10
#define MANY		1000
#define SPACES		200
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
	{ "1g_as_64_x_16m", 1024 * MIB, PIECE, VRAM },
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

/* ---- Among many ---------------------------------------------------------- */

/* Bind one page at so many addresses, each of which has its own entry, and nothing between. */
static void bind_at(uint32_t bo, int count)
{
	for (int i = 0; i < count; i++)
		change(AGATE_VM_BIND_MAP, bo, AREA + (2 * (uint64_t)i + 1) * PAGE, PAGE);
	wait_change();
}

/* Nanoseconds of a change: pages are bound and unbound where a hole is. */
static double changes_among(uint32_t bo, int count)
{
	double start = bench_now();

	for (int i = 0; i < CHANGES; i++) {
		const uint64_t hole = AREA + 2 * (uint64_t)(i * count / CHANGES) * PAGE;

		change(AGATE_VM_BIND_MAP, bo, hole, PAGE);
		change(AGATE_VM_BIND_UNMAP, 0, hole, PAGE);
	}
	wait_change();
	return (bench_now() - start) / CHANGES / 2;
}

static uint32_t create_space(uint32_t bo, int count)
{
	struct drm_agate_vm_create arg = { 0 };
	const uint32_t mine = vm;

	bench_call(fd, DRM_IOCTL_AGATE_VM_CREATE, &arg, "VM_CREATE");
	vm = arg.vm_id;
	if (count)
		bind_at(bo, count);
	vm = mine;
	return arg.vm_id;
}

static void destroy_space(uint32_t id)
{
	struct drm_agate_vm_destroy arg = { .vm_id = id };

	bench_call(fd, DRM_IOCTL_AGATE_VM_DESTROY, &arg, "VM_DESTROY");
}

static double changes_in(uint32_t id, uint32_t bo, int count)
{
	const uint32_t mine = vm;
	double ns;

	vm = id;
	ns = changes_among(bo, count);
	vm = mine;
	return ns;
}

/* The same address space beside many others. */
static double changes_beside(uint32_t id, uint32_t bo)
{
	uint32_t others[SPACES - 1];
	double ns = 0;

	for (unsigned int i = 0; i < SPACES - 1; i++)
		others[i] = create_space(bo, FEW);
	for (int k = 0; k < TURNS; k++)
		ns += changes_in(id, bo, FEW) / TURNS;
	for (unsigned int i = 0; i < SPACES - 1; i++)
		destroy_space(others[i]);
	return ns;
}

/* The page is everybody's, and bound in each of the address spaces. */
static void bench_many(void)
{
	uint32_t bo = create(PAGE, SYSTEM, 0, NULL);
	uint32_t small = create_space(bo, FEW), large = create_space(bo, MANY);
	double few[ROUNDS] = { 0 }, many[ROUNDS] = { 0 }, beside[ROUNDS];

	for (int i = 0; i < ROUNDS; i++) {
		for (int k = 0; k < TURNS; k++) {
			few[i] += changes_in(small, bo, FEW) / TURNS;
			many[i] += changes_in(large, bo, MANY) / TURNS;
		}
		beside[i] = changes_beside(small, bo);
	}
	bench_report("vm_bind_among_10", "ns", few, ROUNDS, NULL);
	bench_report("vm_bind_among_1000", "ns", many, ROUNDS, "vm_bind_among_10");
	bench_report("vm_bind_in_200_vms", "ns", beside, ROUNDS, "vm_bind_among_10");
	destroy_space(small);
	destroy_space(large);
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

/*
 * Each of the two makes the other one leave: all bytes go out, and all come in.  Milliseconds for
 * each MiB that goes out.
 */
static double take_turns(const struct chain *chain, uint32_t bo, const struct chain *other,
			 uint32_t other_bo)
{
	double start = bench_now();

	use(other, other_bo);
	use(chain, bo);
	return (bench_now() - start) / 1e6 / (2.0 * (double)(LARGE / MIB));
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
	bench_report("evict_and_rebind", "ms/MiB", samples[0], ROUNDS, "evict_listed");
	bench_report("evict_listed", "ms/MiB", samples[1], ROUNDS, NULL);
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

/* Milliseconds of all devices' suspend and resume. */
struct sleep {
	double suspend, resume;
};

/* What the kernel says: "PM: suspend of devices complete after 12.345 msecs". */
static bool said(const char *line, const char *what, double *ms)
{
	char text[64];
	const char *at;

	snprintf(text, sizeof(text), "PM: %s of devices complete after ", what);
	at = strstr(line, text);
	return at && sscanf(at + strlen(text), "%lf", ms) == 1;
}

static struct sleep sleep_once(void)
{
	struct sleep sleep = { 0 };
	int log = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	char line[2048];
	ssize_t len;

	if (log < 0 || lseek(log, 0, SEEK_END) < 0)
		bench_die("/dev/kmsg");
	write_file("/sys/power/state", "mem");
	while ((len = read(log, line, sizeof(line) - 1)) > 0) {
		line[len] = 0;
		if (!said(line, "suspend", &sleep.suspend))
			said(line, "resume", &sleep.resume);
	}
	close(log);
	if (!(sleep.suspend > 0 && sleep.resume > 0)) {
		fprintf(stderr, "vm-bench: the kernel did not say how long the devices took\n");
		exit(1);
	}
	return sleep;
}

/* What was saved comes back at the latest when a job uses it. */
static struct sleep sleep_and_use(const struct chain *own, uint32_t bo)
{
	struct sleep sleep = sleep_once();
	double start = bench_now();

	use(own, bo);
	sleep.resume += (bench_now() - start) / 1e6;
	return sleep;
}

/* The CPU of the same guest, in milliseconds for each MiB. */
static double copy(char *to, const char *from)
{
	double start = bench_now();

	for (uint64_t i = 0; i < LARGE / PART; i++) {
		memcpy(to, from, PART);
		/* Without this the compiler would see that only the last one counts. */
		__asm__ volatile("" : : "r"(to) : "memory");
	}
	return (bench_now() - start) / 1e6 / (double)(LARGE / MIB);
}

/* A BO that fills more than half of VRAM, and has contents. */
static uint32_t create_full(const struct chain *own)
{
	uint32_t bo = create(LARGE, VRAM, 0, NULL), other = create(LARGE, VRAM, 0, NULL);

	/* It has contents when it comes for the second time. */
	use(own, bo);
	take_turns(own, bo, own, other);
	destroy(other);
	return bo;
}

/* What the devices' sleep takes longer with contents in VRAM than without, for each MiB of them. */
static void bench_sleep(const struct chain *own)
{
	const double mib = (double)(LARGE / MIB);
	uint32_t page = create(PAGE, SYSTEM, 0, NULL);
	char *buffer = mmap(NULL, 2 * PART, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
	double suspend[ROUNDS], resume[ROUNDS], copied[ROUNDS];

	if (buffer == MAP_FAILED)
		bench_die("mmap");
	memset(buffer, 1, 2 * PART);
	write_file("/sys/module/suspend/parameters/pm_test_delay", "0");
	write_file("/sys/power/pm_test", "devices");
	write_file("/sys/power/pm_debug_messages", "1");
	for (int i = 0; i < ROUNDS; i++) {
		struct sleep empty = sleep_and_use(own, page), full;
		uint32_t bo = create_full(own);

		full = sleep_and_use(own, bo);
		destroy(bo);
		suspend[i] = (full.suspend - empty.suspend) / mib;
		resume[i] = (full.resume - empty.resume) / mib;
		copied[i] = copy(buffer, buffer + PART);
	}
	bench_report("suspend_vram", "ms/MiB", suspend, ROUNDS, "memcpy_vm");
	bench_report("resume_vram", "ms/MiB", resume, ROUNDS, "memcpy_vm");
	bench_report("memcpy_vm", "ms/MiB", copied, ROUNDS, NULL);
	munmap(buffer, 2 * PART);
	destroy(page);
}

int main(void)
{
	struct drm_syncobj_create sync = { 0 };
	struct chain own, bound;

	fd = open("/dev/dri/renderD128", O_RDWR | O_CLOEXEC);
	if (fd < 0)
		bench_die("/dev/dri/renderD128");
	bench_call(fd, DRM_IOCTL_SYNCOBJ_CREATE, &sync, "SYNCOBJ_CREATE");
	vm = create_space(0, 0);
	done = sync.handle;
	for (size_t i = 0; i < SIZES; i++)
		bench_bind(&sizes[i]);
	bench_many();
	own = chain_in(0);
	bound = chain_in(vm);
	bench_rebind(&own, &bound);
	bench_sleep(&own);
	return 0;
}
