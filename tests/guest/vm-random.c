// SPDX-License-Identifier: MIT
/*
 * Random changes of many address spaces, checked against a flat model and by the GPU itself.
 *
 * usage: vm-random [SPACES [SEED]]
 *
 * SPACES address spaces (20), as many of them at the same time as the guest has memory for, with
 * 1,000 changes each, in turns.  Some changes bind memory of this process, some are for reading
 * only, and some wait for a sync object.  The model is an array: for each page what the GPU has to
 * read there, and whether it may write.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "user_memory.h"

#define SPACES		1000u
#define CHANGES		1000u
#define PAGES		2048u		/* of an area: it crosses several tables */
#define BO_PAGES	512u
#define OWN_SIZE	BLOCK
#define JOB_STEP	0x100u
#define HELD		100u		/* so many wait at a time: a file has 1,024 jobs */

/* What a change binds: the first three are everybody's, and OWN the address space's. */
enum what { IN_SYSTEM, IN_VRAM, MEMORY, OWN, NOTHING, WHATS };

#define READONLY	(1u << 31)	/* in the model */

/* One address space; its jobs, and what they bring back, lie in BOs that all of them have. */
struct area {
	struct space space;
	struct bo own;
	uint32_t page[PAGES];		/* 0: nothing is bound */
};

static struct area areas[SPACES];
static struct bo shared[MEMORY], all_jobs, all_seen;
static uint64_t *memory_here;
static double took[CHANGES];		/* microseconds of VM_BIND, the mean of all address spaces */
static uint64_t seed = 1;
static unsigned int total = 20, most;

/* xorshift64* */
static uint32_t below(uint32_t limit)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return (uint32_t)((seed * 0x2545f4914f6cdd1dull) >> 32) % limit;
}

/* What it is, of which address space (0: everybody's), and which page: never 0. */
static uint32_t value_of(unsigned int owner, enum what what, uint32_t page)
{
	return owner << 16 | (what + 1) << 12 | page;
}

static void fill(void *cpu, uint64_t size, unsigned int owner, enum what what)
{
	for (uint32_t page = 0; page < size / PAGE; page++)
		*(volatile uint64_t *)((char *)cpu + page * (uint64_t)PAGE) =
			value_of(owner, what, page);
}

/* Private with a @vm; filled by the CPU, unless it is for jobs. */
static struct bo bo_of(int fd, uint32_t vm, uint64_t size, uint32_t placement)
{
	uint32_t flags = (placement == VRAM ? AGATE_BO_CPU_VISIBLE : 0) | (vm ? 0 : AGATE_BO_NO_VA);
	struct bo bo;

	assert_int_equal(space_create(fd, vm, size, flags, placement, &bo), 0);
	guest_map(&bo);
	return bo;
}

static struct bo filled(int fd, uint32_t vm, uint64_t size, uint32_t placement, unsigned int owner,
			enum what what)
{
	struct bo bo = bo_of(fd, vm, size, placement);

	fill(bo.cpu, size, owner, what);
	return bo;
}

/* Mostly a few pages, and seldom as many as there are. */
static uint32_t random_length(uint32_t limit)
{
	uint32_t length = 1 + below(below(8) ? 8 : BO_PAGES);

	return length < limit ? length : limit;
}

static struct drm_agate_vm_bind binding(const struct area *area, enum what what, uint64_t addr,
					uint64_t range, uint64_t offset, uint32_t flags)
{
	switch (what) {
	case NOTHING:
		return space_gap(addr, range);
	case MEMORY:
		return user_part((char *)memory_here + offset, addr, range, flags);
	case OWN:
		return space_part(&area->own, addr, range, offset, flags);
	default:
		return space_part(&shared[what], addr, range, offset, flags);
	}
}

/* One change, behind a sync object (0: none). */
static void change(struct area *area, unsigned int owner, uint32_t in)
{
	const enum what what = below(WHATS);
	const uint32_t pages = what == OWN ? OWN_SIZE / PAGE : BO_PAGES;
	const bool readonly = what != NOTHING && !below(4);
	const uint32_t first = what == NOTHING ? 0 : below(pages);
	const uint32_t length = random_length(pages - first), at = below(PAGES - length + 1);
	const struct drm_agate_vm_bind arg =
		binding(area, what, AREA + (uint64_t)at * PAGE, (uint64_t)length * PAGE,
			(uint64_t)first * PAGE, readonly ? AGATE_VM_BIND_READONLY : 0);

	assert_int_equal(space_bind(&area->space, arg, in, 0), 0);
	for (uint32_t i = 0; i < length; i++)
		area->page[at + i] = what == NOTHING ? 0 :
			value_of(what == OWN ? owner : 0, what, first + i) | (readonly ? READONLY : 0);
}

/*
 * A fence has to signal in a finite time: memory that is to leave VRAM waits for it, and a call
 * may wait for that.
 */
struct held {
	sem_t queued;
	int timeline;
};

static void *let_go(void *arg)
{
	struct held *held = arg;
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 2;
	while (sem_timedwait(&held->queued, &until) && errno == EINTR)
		;
	guest_timeline_advance(held->timeline);
	return NULL;
}

/*
 * Some address spaces have a change that waits, and others behind it.  The changes count in the
 * order of the calls.
 */
static void changes_wait(int fd, unsigned int count)
{
	const unsigned int first = below(count), held = count < HELD ? count : HELD;
	struct held hold = { .timeline = guest_timeline() };
	struct drm_syncobj_destroy in = { .handle = guest_timeline_syncobj(fd, hold.timeline) };
	pthread_t thread;

	sem_init(&hold.queued, 0, 0);
	assert_int_equal(pthread_create(&thread, NULL, let_go, &hold), 0);

	for (unsigned int turn = 0; turn < 3; turn++) {
		for (unsigned int i = 0; i < held; i++) {
			unsigned int s = (first + i) % count;

			change(&areas[s], s + 1, turn ? 0 : in.handle);
		}
	}
	sem_post(&hold.queued);
	pthread_join(thread, NULL);
	sem_destroy(&hold.queued);
	close(hold.timeline);
	guest_ioctl(fd, DRM_IOCTL_SYNCOBJ_DESTROY, &in);
}

/* ---- What the GPU sees ----------------------------------------------------- */

/* One job for each run of pages that are bound: it brings the first word of each. */
static uint32_t write_jobs(struct area *area, uint32_t *page)
{
	struct agate_job_header *job = NULL;
	uint32_t offset = 0;

	while (*page < PAGES && offset + JOB_STEP <= area->space.jobs.size) {
		struct agate_compute_payload copy = {
			.op = AGATE_COMPUTE_COPY_2D, .size = 8,
			.src = AREA + (uint64_t)*page * PAGE, .src_stride = PAGE,
			.dst = SEEN_VA + (uint64_t)*page * 8, .dst_stride = 8,
		};

		while (*page < PAGES && area->page[*page]) {
			copy.rows++;
			++*page;
		}
		if (!copy.rows) {
			++*page;
			continue;
		}
		if (job)
			job->next = area->space.jobs.va + offset;
		job = guest_job(&area->space.jobs, offset, AGATE_JOB_COMPUTE, 0, &copy, sizeof(copy));
		offset += JOB_STEP;
	}
	return offset;
}

static void run_jobs(struct area *area)
{
	struct drm_agate_sync out = { .handle = guest_syncobj(area->space.fd) };
	struct drm_agate_submit arg = {
		.jc = area->space.jobs.va, .vm_id = area->space.vm,
		.out_syncs = (uintptr_t)&out, .out_sync_count = 1,
	};
	struct drm_syncobj_destroy gone = { .handle = out.handle };

	assert_int_equal(guest_ioctl(area->space.fd, DRM_IOCTL_AGATE_SUBMIT, &arg), 0);
	assert_int_equal(guest_fence_end(guest_sync_file(area->space.fd, out.handle)), 1);
	guest_ioctl(area->space.fd, DRM_IOCTL_SYNCOBJ_DESTROY, &gone);
}

/* The GPU writes what is there already, to one page, or may not. */
static void check_write(struct area *area)
{
	uint32_t at = below(PAGES), i;

	for (i = 0; i < PAGES && !area->page[at]; i++)
		at = (at + 1) % PAGES;
	if (!area->page[at])
		return;
	assert_int_equal(space_fill(&area->space, AREA + (uint64_t)at * PAGE, 8,
				    area->page[at] & READONLY ? 0 : area->page[at]),
			 area->page[at] & READONLY ? -EINVAL : 1);
	space_holds(&area->space, AREA + (uint64_t)at * PAGE, area->page[at] & ~READONLY);
}

static void check(struct area *area)
{
	const volatile uint64_t *seen = area->space.seen.cpu;
	uint32_t page = 0, hole = below(PAGES);

	memset(area->space.seen.cpu, 0, PAGES * 8);
	while (page < PAGES) {
		if (write_jobs(area, &page))
			run_jobs(area);
	}
	for (page = 0; page < PAGES; page++) {
		if (seen[page] != (area->page[page] & ~READONLY))
			fail_msg("page %u holds %#llx, not %#x", page, (unsigned long long)seen[page],
				 area->page[page] & ~READONLY);
	}
	check_write(area);
	/* A fault ends a chain, so there is a look at one page alone that is not bound. */
	for (page = 0; page < PAGES && area->page[hole]; page++)
		hole = (hole + 1) % PAGES;
	if (!area->page[hole])
		space_is_hole(&area->space, AREA + (uint64_t)hole * PAGE);
}

/* ---- Tests ------------------------------------------------------------------- */

/* Page tables, and pages of BOs, cannot come from the area that is kept for BOs in one piece. */
static uint64_t memory_left(void)
{
	FILE *f = fopen("/proc/meminfo", "re");
	unsigned long kib = 0, cma = 0;
	char line[128];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		sscanf(line, "MemAvailable: %lu", &kib);
		sscanf(line, "CmaFree: %lu", &cma);
	}
	fclose(f);
	return kib > cma ? (uint64_t)(kib - cma) << 10 : 0;
}

/* Its bindings and tables come later, and what is in VRAM may have to leave. */
static bool room_for(unsigned int count)
{
	return memory_left() > 48 * MIB + count * 2 * OWN_SIZE;
}

static void begin_one(int fd, unsigned int s)
{
	struct drm_agate_vm_create arg = { 0 };
	struct area *area = &areas[s];

	memset(area->page, 0, sizeof(area->page));
	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_VM_CREATE, &arg), 0);
	area->space = (struct space){ .fd = fd, .vm = arg.vm_id, .jobs = all_jobs, .seen = all_seen };
	space_map(&area->space, &all_jobs, JOBS_VA);
	space_map(&area->space, &all_seen, SEEN_VA);
	area->own = filled(fd, arg.vm_id, OWN_SIZE, s % 4 ? SYSTEM : VRAM, s + 1, OWN);
}

/* As many as there is room for: their number. */
static unsigned int begin(int fd, unsigned int wanted)
{
	unsigned int count = 0;

	while (count < wanted && (count < 20 || room_for(count)))
		begin_one(fd, count++);
	most = count > most ? count : most;
	return count;
}

static void end(unsigned int count)
{
	for (unsigned int s = 0; s < count; s++) {
		guest_destroy(&areas[s].own);
		assert_int_equal(space_destroy(&areas[s].space), 0);
	}
}

/* All that was in VRAM has to leave, and the next job of each address space binds it again. */
static void evict(int fd)
{
	struct bo others[8];

	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(space_create(fd, 0, VRAM_SIZE / 8, AGATE_BO_POPULATE | AGATE_BO_NO_VA,
					      VRAM, &others[i]), 0);
	for (unsigned int i = 0; i < 8; i++)
		assert_int_equal(guest_close_handle(fd, others[i].handle), 0);
}

static unsigned int one_group(int fd, unsigned int wanted)
{
	const unsigned int count = begin(fd, wanted);

	for (unsigned int i = 0; i < CHANGES; i++) {
		const int64_t start = guest_deadline(0);

		for (unsigned int s = 0; s < count; s++)
			change(&areas[s], s + 1, 0);
		took[i] += (double)(guest_deadline(0) - start) / 1e3 / total;
		if (i % 20 == 10)
			changes_wait(fd, count);
		if (i % 250 == 249) {
			if (i == 499)
				evict(fd);
			for (unsigned int s = 0; s < count; s++)
				check(&areas[s]);
			printf("# %u address spaces after %u changes\n", count, i + 1);
			fflush(stdout);
		}
	}
	end(count);
	return count;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static double median_from(unsigned int first, unsigned int count)
{
	qsort(took + first, count, sizeof(took[0]), by_value);
	return took[first + count / 2];
}

/*
 * The last changes find many more bindings than the first ones: how long both take is told, and
 * vm-bench compares them where nothing else runs.
 */
static void random_changes(void **state)
{
	int fd = guest_open();
	unsigned int done = 0;
	double early, late;

	(void)state;
	printf("# seed %llu\n", (unsigned long long)seed);
	shared[IN_SYSTEM] = filled(fd, 0, BO_PAGES * PAGE, SYSTEM, 0, IN_SYSTEM);
	shared[IN_VRAM] = filled(fd, 0, BO_PAGES * PAGE, VRAM, 0, IN_VRAM);
	memory_here = memory(BO_PAGES * PAGE);
	fill(memory_here, BO_PAGES * PAGE, 0, MEMORY);
	all_jobs = bo_of(fd, 0, BLOCK, SYSTEM);
	all_jobs.va = JOBS_VA;
	all_seen = bo_of(fd, 0, BLOCK, SYSTEM);
	while (done < total)
		done += one_group(fd, total - done < SPACES ? total - done : SPACES);
	guest_destroy(&shared[IN_SYSTEM]);
	guest_destroy(&shared[IN_VRAM]);
	guest_destroy(&all_jobs);
	guest_destroy(&all_seen);
	close(fd);
	munmap(memory_here, BO_PAGES * PAGE);
	guest_assert_nothing_left();
	printf("# %u address spaces, %u of them at the same time\n", total, most);
	early = median_from(100, 200);
	late = median_from(800, 200);
	printf("# VM_BIND took %.0f us with few bindings, and %.0f us with many\n", early, late);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_changes),
	};

	if (argc > 1)
		total = (unsigned int)strtoul(argv[1], NULL, 0);
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0);
	return cmocka_run_group_tests_name("vm-random", tests, NULL, NULL);
}
