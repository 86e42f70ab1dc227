// SPDX-License-Identifier: MIT
/*
 * Random changes of many address spaces, checked against a flat model and by the GPU itself.
 *
 * usage: vm-random [GROUPS [SEED]]
 *
 * A group is 20 address spaces that live at the same time, with 1,000 changes each, in turns.  The
 * model is an array: for each page what the GPU has to read there.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "vm_client.h"

#define SPACES		20u
#define CHANGES		1000u
#define PAGES		2048u		/* of an area: it crosses several tables */
#define BOS		3u
#define BO_PAGES	512u
#define JOB_STEP	0x100u

/* One address space; BO 2 is private, and the first two everybody's. */
struct area {
	struct space space;
	struct bo own;
	uint64_t page[PAGES];		/* 0: nothing is bound */
};

static struct area areas[SPACES];
static struct bo shared[BOS - 1];
static double took[CHANGES];		/* microseconds of VM_BIND, the mean of all address spaces */
static uint64_t seed = 1;
static unsigned int groups = 1;

/* xorshift64* */
static uint32_t below(uint32_t limit)
{
	seed ^= seed >> 12;
	seed ^= seed << 25;
	seed ^= seed >> 27;
	return (uint32_t)((seed * 0x2545f4914f6cdd1dull) >> 32) % limit;
}

/* Which BO of which address space it is, and which page: never 0. */
static uint64_t value_of(unsigned int owner, unsigned int bo, uint64_t page)
{
	return (uint64_t)owner << 40 | (uint64_t)(bo + 1) << 32 | page;
}

static struct bo filled(int fd, uint32_t vm, uint32_t placement, unsigned int owner, unsigned int n)
{
	uint32_t flags = (placement == VRAM ? AGATE_BO_CPU_VISIBLE : 0) | (vm ? 0 : AGATE_BO_NO_VA);
	const uint64_t pages = vm ? BLOCK / PAGE : BO_PAGES;
	struct bo bo;

	assert_int_equal(space_create(fd, vm, pages * PAGE, flags, placement, &bo), 0);
	guest_map(&bo);
	for (uint64_t page = 0; page < pages; page++)
		*(volatile uint64_t *)((char *)bo.cpu + page * PAGE) = value_of(owner, n, page);
	return bo;
}

/* Mostly a few pages, and seldom as many as there are. */
static uint32_t random_length(uint32_t most)
{
	uint32_t length = 1 + below(below(8) ? 8 : BO_PAGES);

	return length < most ? length : most;
}

static void change(struct area *area, unsigned int owner)
{
	const unsigned int n = below(BOS + 1);
	const struct bo *bo = n < BOS - 1 ? &shared[n] : &area->own;
	const uint32_t pages = (uint32_t)(bo->size / PAGE);
	uint32_t first = 0, length, at;

	if (n == BOS) {
		length = random_length(BO_PAGES);
	} else {
		first = below(pages);
		length = random_length(pages - first);
	}
	at = below(PAGES - length + 1);
	if (n == BOS)
		space_unmap(&area->space, AREA + (uint64_t)at * PAGE, (uint64_t)length * PAGE);
	else
		space_map_part(&area->space, bo, AREA + (uint64_t)at * PAGE,
			       (uint64_t)length * PAGE, (uint64_t)first * PAGE);
	for (uint32_t i = 0; i < length; i++)
		area->page[at + i] = n == BOS ? 0 : value_of(n < BOS - 1 ? 0 : owner, n, first + i);
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
		if (seen[page] != area->page[page])
			fail_msg("page %u holds %#llx, not %#llx", page, (unsigned long long)seen[page],
				 (unsigned long long)area->page[page]);
	}
	/* A fault ends a chain, so there is a look at one page alone that is not bound. */
	for (page = 0; page < PAGES && area->page[hole]; page++)
		hole = (hole + 1) % PAGES;
	if (!area->page[hole])
		space_is_hole(&area->space, AREA + (uint64_t)hole * PAGE);
}

/* ---- Tests ------------------------------------------------------------------- */

static void begin(int fd)
{
	for (unsigned int s = 0; s < SPACES; s++) {
		memset(areas[s].page, 0, sizeof(areas[s].page));
		areas[s].space = space_on(fd);
		areas[s].own = filled(fd, areas[s].space.vm, s % 2 ? SYSTEM : VRAM, s + 1, BOS - 1);
	}
}

static void end(void)
{
	for (unsigned int s = 0; s < SPACES; s++) {
		guest_destroy(&areas[s].own);
		space_end(&areas[s].space);
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

static void one_group(int fd)
{
	begin(fd);
	for (unsigned int i = 0; i < CHANGES; i++) {
		const int64_t start = guest_deadline(0);

		for (unsigned int s = 0; s < SPACES; s++)
			change(&areas[s], s + 1);
		took[i] += (double)(guest_deadline(0) - start) / 1e3 / SPACES / groups;
		if (i % 250 == 249) {
			if (i == 499)
				evict(fd);
			for (unsigned int s = 0; s < SPACES; s++)
				check(&areas[s]);
		}
	}
	end();
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

/* The last changes find many more bindings than the first ones: how long both take is told. */
static void random_changes(void **state)
{
	int fd = guest_open();
	double early, late;

	(void)state;
	printf("# seed %llu\n", (unsigned long long)seed);
	shared[0] = filled(fd, 0, SYSTEM, 0, 0);
	shared[1] = filled(fd, 0, VRAM, 0, 1);
	for (unsigned int g = 0; g < groups; g++)
		one_group(fd);
	guest_destroy(&shared[0]);
	guest_destroy(&shared[1]);
	close(fd);
	guest_assert_nothing_left();
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
		groups = (unsigned int)strtoul(argv[1], NULL, 0);
	if (argc > 2)
		seed = strtoull(argv[2], NULL, 0);
	return cmocka_run_group_tests_name("vm-random", tests, NULL, NULL);
}
