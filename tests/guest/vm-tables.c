// SPDX-License-Identifier: MIT
/*
 * Page tables of address spaces whose owner chooses the ranges: on a card they are in VRAM, as
 * memory of the driver, and not all of VRAM is theirs.
 *
 * Programs of suite suspend sleep here; "their_part" relies on 16 MiB of visible VRAM.
 */
#include "graded.h"
#include "kernel_memory.h"
#include "system_sleep.h"
#include "vm_client.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LEVELS		4u
#define VISIBLE		(16 * MIB)
#define PART		8u
#define MOST		((unsigned int)(VISIBLE / PART / PAGE))
#define STRIDE		(2 * MIB)	/* what a table of the last level covers */

static unsigned int others;	/* pages of the driver that are no tables */

/* Counts the driver's own single pages of VRAM; @at_end: those in the tables' part. */
static unsigned int driver_pages(unsigned int *at_end)
{
	unsigned long long start, size;
	char line[160];
	unsigned int count = 0;
	FILE *file;

	*at_end = 0;
	file = guest_debugfs_open("vram");
	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "start=%llx size=%llu", &start, &size) != 2 || size != PAGE ||
		    !strstr(line, " driver"))
			continue;
		count++;
		*at_end += start >= VISIBLE - VISIBLE / PART;
	}
	fclose(file);
	return count;
}

/* How many tables are in VRAM?  All of them are at visible VRAM's end. */
static unsigned int tables_in_vram(void)
{
	unsigned int at_end, count = driver_pages(&at_end);

	assert_int_equal(count, others + at_end);
	return at_end;
}

/* An address space is freed a little after its last job. */
static void wait_for_tables(unsigned int count)
{
	const int64_t limit = guest_deadline(10000);

	while (tables_in_vram() != count && guest_deadline(0) < limit)
		usleep(1000);
	assert_int_equal(tables_in_vram(), count);
}

/* The file's own address space, which changes in one step, has no table there. */
static struct space space_begin(void)
{
	int fd = guest_open();
	unsigned int at_end;

	others = driver_pages(&at_end);
	assert_int_equal(at_end, 0);
	return space_on(fd);
}

/* The root, and one at each level below: JOBS_VA and SEEN_VA differ in the last one. */
static void in_vram(void **state)
{
	struct space space = space_begin();
	struct bo bo;

	(void)state;
	bo = space_bo(&space, BLOCK, SYSTEM);
	assert_int_equal(tables_in_vram(), LEVELS + 1);
	/* AREA is in another gigabyte. */
	space_map(&space, &bo, AREA);
	assert_int_equal(tables_in_vram(), LEVELS + 3);
	assert_int_equal(space_fill(&space, AREA, bo.size, 5), 1);
	space_holds(&space, AREA, 5);
	space_unmap(&space, AREA, bo.size);
	/* Others get their place when the GPU has forgotten it. */
	wait_for_tables(LEVELS + 1);
	space_is_hole(&space, AREA);
	guest_destroy(&bo);
	space_end(&space);
	close(space.fd);
	wait_for_tables(0);
	guest_assert_nothing_left();
}

/* An address space beside, with its tables as they are; only its owner changes them. */
struct neighbour {
	struct space space;
	struct bo bo;
	char tables[KERNEL_MEMORY_SIZE];
};

/* It comes before all other address spaces. */
static void neighbour_begin(struct neighbour *beside)
{
	inject_load();
	beside->space = space_begin();
	beside->bo = space_bo(&beside->space, 2 * BLOCK, SYSTEM);
	space_map(&beside->space, &beside->bo, AREA);
	assert_int_equal(space_fill(&beside->space, AREA, BLOCK, 3), 1);
	kernel_tables(beside->tables);
}

static void neighbour_stays(struct neighbour *beside)
{
	assert_true(kernel_tables_stay(beside->tables));
	space_holds(&beside->space, AREA, 3);
}

static void neighbour_end(struct neighbour *beside)
{
	guest_destroy(&beside->bo);
	space_close_last(&beside->space);
}

/* A job that waits for a timeline. */
static uint32_t behind(struct space *space, int timeline, uint64_t value)
{
	int err;
	uint32_t job = space_submit(space, &(struct agate_compute_payload){
		.op = AGATE_COMPUTE_FILL, .dst = AREA, .size = BLOCK, .value = value,
	}, guest_timeline_syncobj(space->fd, timeline), &err);

	assert_int_equal(err, 0);
	return job;
}

/*
 * While a change waits nobody writes a table: a chain that uses the same ones comes and goes, and
 * sees nothing of it.  Those of another address space nobody writes afterwards, either.
 */
static void unwritten(void **state)
{
	static struct neighbour beside;
	static char before[KERNEL_MEMORY_SIZE];
	int jobs = guest_timeline(), changes = guest_timeline();
	uint32_t out, job;
	struct space space;
	struct bo bo;

	(void)state;
	neighbour_begin(&beside);
	space = space_on(guest_open());
	bo = space_bo(&space, 2 * BLOCK, SYSTEM);
	out = guest_syncobj(space.fd);
	space_map_part(&space, &bo, AREA, BLOCK, 0);
	/* From its end on its own change has been made. */
	assert_int_equal(space_fill(&space, AREA, BLOCK, 4), 1);
	job = behind(&space, jobs, 5);
	kernel_tables(before);
	assert_int_equal(space_bind(&space, space_part(&bo, AREA + BLOCK, BLOCK, BLOCK, 0),
				    guest_timeline_syncobj(space.fd, changes), out), 0);
	assert_true(kernel_tables_stay(before));
	guest_timeline_advance(jobs);
	assert_int_equal(guest_fence_end(guest_sync_file(space.fd, job)), 1);
	neighbour_stays(&beside);
	assert_false(space_signalled(space.fd, out));
	assert_true(kernel_tables_stay(before));
	guest_timeline_advance(changes);
	assert_int_equal(guest_fence_end(guest_sync_file(space.fd, out)), 1);
	assert_false(kernel_tables_stay(before));
	neighbour_stays(&beside);
	assert_int_equal(space_fill(&space, AREA + BLOCK, BLOCK, 6), 1);
	space_holds(&space, AREA, 5);
	close(jobs);
	close(changes);
	guest_destroy(&bo);
	space_close(&space);
	neighbour_end(&beside);
}

/* ---- Changes that fail --------------------------------------------------------- */

/* Both sides of it lie in blocks of 2 MiB, which a change has to split. */
#define CUT		(AREA + 2 * MIB - BLOCK)

/* What a change calls, in this order, and which call of that fails. */
static const struct step {
	const char *symbol;
	unsigned int nth;
	bool null;		/* the call returns NULL */
	bool map_only;
} steps[] = {
	{ "agate_vm_bo_obtain", 1, false, true },
	{ "agate_exec_lock", 1, false, false },
	{ "agate_backing_populate", 1, false, true },
	/* The copies of the tables from the root down, and a new one for each side. */
	{ "table_alloc_aside", 1, true, false },
	{ "table_alloc_aside", 2, true, false },
	{ "table_alloc_aside", 3, true, false },
	{ "table_alloc", 1, true, false },
	{ "table_alloc", 2, true, false },
	/* Here it is complete. */
	{ "agate_bind_plan_write", 1, false, false },
	{ "agate_mover_job_create", 1, false, false },
	{ "agate_exec_reserve", 1, false, false },
};

/* One step fails: no byte of any table is another one than before. */
static void fail_at(struct space *space, struct drm_agate_vm_bind arg, uint32_t in,
		    const struct step *step)
{
	static char before[KERNEL_MEMORY_SIZE], after[KERNEL_MEMORY_SIZE];

	kernel_tables(before);
	if (step->null)
		inject_fail_null(step->symbol, step->nth);
	else
		inject_fail(step->symbol, step->nth, ENOMEM);
	assert_int_equal(space_bind(space, arg, in, 0), ENOMEM);
	assert_in_range(inject_hits(step->symbol), step->nth, 2 * step->nth);
	inject_clear();
	kernel_tables(after);
	assert_string_equal(after, before);
}

/* A change that waits would be the mover's to write. */
static void failed(void **state)
{
	static struct neighbour beside;
	int timeline = guest_timeline();
	struct space space;
	struct bo bo, fresh;
	uint32_t in;

	(void)state;
	neighbour_begin(&beside);
	space = space_on(guest_open());
	bo = space_bo(&space, 4 * MIB, VRAM);
	fresh = space_bo(&space, 2 * BLOCK, VRAM);
	in = guest_timeline_syncobj(space.fd, timeline);
	space_map(&space, &bo, AREA);
	assert_int_equal(space_fill(&space, AREA, bo.size, 4), 1);
	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
		fail_at(&space, space_part(&fresh, CUT, fresh.size, 0, 0), in, &steps[i]);
		if (!steps[i].map_only)
			fail_at(&space, space_gap(CUT, fresh.size), in, &steps[i]);
		space_holds(&space, CUT, 4);
		space_holds(&space, CUT + fresh.size - 8, 4);
		neighbour_stays(&beside);
	}
	space_map(&space, &fresh, CUT);
	space_holds(&space, CUT, 0);
	space_holds(&space, CUT - 8, 4);
	space_holds(&space, CUT + fresh.size, 4);
	neighbour_stays(&beside);
	close(timeline);
	guest_destroy(&fresh);
	guest_destroy(&bo);
	space_close(&space);
	neighbour_end(&beside);
}

/* ---- Where they are, and for how long ------------------------------------------- */

/* No client takes all of VRAM by its tables: those that find no place are in system memory. */
static void their_part(void **state)
{
	struct space space = space_begin();
	struct bo bo = space_bo(&space, BLOCK, SYSTEM);
	const unsigned int count = MOST + 16;

	(void)state;
	for (unsigned int i = 0; i < count; i++)
		space_map_part(&space, &bo, AREA + i * STRIDE, PAGE, 0);
	assert_int_equal(tables_in_vram(), MOST);
	assert_true(guest_counter("pt_pages") > (long)count);
	assert_int_equal(space_fill(&space, AREA, PAGE, 6), 1);
	space_holds(&space, AREA + (count - 1) * STRIDE, 6);
	assert_int_equal(space_fill(&space, AREA + (count - 1) * STRIDE, PAGE, 7), 1);
	space_holds(&space, AREA, 7);
	space_unmap(&space, AREA, count * STRIDE);
	wait_for_tables(LEVELS + 1);
	/* There is room again. */
	space_map(&space, &bo, AREA);
	assert_int_equal(tables_in_vram(), LEVELS + 3);
	guest_destroy(&bo);
	space_end(&space);
	close(space.fd);
	guest_assert_nothing_left();
}

/* Ranges of VRAM are multiples of this. */
static uint64_t group_size(int fd)
{
	struct drm_agate_region regions[2] = { { 0 } };
	struct drm_agate_query_regions arg = {
		.regions = (uintptr_t)regions, .count = 2, .region_size = sizeof(regions[0]),
	};

	assert_int_equal(guest_ioctl(fd, DRM_IOCTL_AGATE_QUERY_REGIONS, &arg), 0);
	return regions[DRM_AGATE_REGION_VRAM].min_align;
}

/* Counts the BOs in visible VRAM; all of them are whole groups. */
static unsigned int grouped_bos(uint64_t group)
{
	unsigned long long start, size;
	unsigned int count = 0;
	char line[160];
	FILE *file = guest_debugfs_open("vram");

	assert_non_null(file);
	while (fgets(line, sizeof(line), file)) {
		if (sscanf(line, "start=%llx size=%llu", &start, &size) != 2 ||
		    !strstr(line, " bo id="))
			continue;
		assert_int_equal(start % group, 0);
		assert_int_equal(size % group, 0);
		count += start < VISIBLE;
	}
	fclose(file);
	return count;
}

/* Tables are single pages: BOs right below them are still whole groups of those. */
static void beside_groups(void **state)
{
	enum { LARGE = 6, COUNT = LARGE + 3 };
	struct space space = space_begin();
	struct bo bos[COUNT];

	(void)state;
	/* The large ones fill what is not visible. */
	for (unsigned int i = 0; i < COUNT; i++)
		assert_int_equal(space_create(space.fd, space.vm, i < LARGE ? 8 * MIB : BLOCK,
					      AGATE_BO_POPULATE, VRAM, &bos[i]), 0);
	assert_true(tables_in_vram() > 0);
	assert_true(grouped_bos(group_size(space.fd)) >= COUNT - LARGE);
	for (unsigned int i = 0; i < COUNT; i++)
		guest_destroy(&bos[i]);
	space_end(&space);
	close(space.fd);
	guest_assert_nothing_left();
}

/* The next flush by this function waits for inject_let_go(), whoever calls it. */
static void hold_flush(const char *flush)
{
	inject_anybody(true);
	inject_hold_entry(flush, 1, INJECT_BOUND_MS);
	inject_anybody(false);
}

/*
 * A binding goes, behind a sync object (0: none), and with it its tables.  The GPU may still walk
 * these before it is flushed: so nobody gets their place until then.
 */
static void goes_behind(struct space *space, const struct bo *bo, const char *flush,
			uint32_t in, int timeline)
{
	const uint32_t out = guest_syncobj(space->fd);

	space_map(space, bo, AREA);
	assert_int_equal(space_fill(space, AREA, BLOCK, 3), 1);
	assert_int_equal(tables_in_vram(), LEVELS + 3);
	hold_flush(flush);
	assert_int_equal(space_bind(space, space_gap(AREA, BLOCK), in, out), 0);
	if (in)
		guest_timeline_advance(timeline);
	assert_true(inject_await_held(flush, 10000));
	assert_int_equal(tables_in_vram(), LEVELS + 3);
	assert_true(inject_let_go(flush));
	assert_int_equal(guest_fence_end(guest_sync_file(space->fd, out)), 1);
	inject_clear();
	wait_for_tables(LEVELS + 1);
}

/* The CPU writes what waits for nothing, and the mover what waits for a fence. */
static void flushed_first(void **state)
{
	struct space space = space_begin();
	struct bo bo = space_bo(&space, BLOCK, SYSTEM);
	int timeline = guest_timeline();

	(void)state;
	goes_behind(&space, &bo, "agate_mmu_unlock_region", 0, -1);
	goes_behind(&space, &bo, "agate_mmu_flush", guest_timeline_syncobj(space.fd, timeline),
		    timeline);
	close(timeline);
	guest_destroy(&bo);
	space_end(&space);
	close(space.fd);
	guest_assert_nothing_left();
}

/* VRAM is lost while the system sleeps, and every table is afterwards where it was. */
static void asleep(void **state)
{
	struct space space = space_begin();
	struct bo ram = space_bo(&space, 4 * MIB, SYSTEM), vram = space_bo(&space, 4 * MIB, VRAM);
	int timeline = guest_timeline();
	unsigned int tables;

	(void)state;
	space_map(&space, &ram, AREA);
	space_map_part(&space, &vram, AREA + 8 * MIB, BLOCK, BLOCK);
	assert_int_equal(space_fill(&space, AREA, ram.size, 8), 1);
	assert_int_equal(space_fill(&space, AREA + 8 * MIB, BLOCK, 9), 1);
	/* A change that waits meanwhile is written by the mover afterwards. */
	assert_int_equal(space_bind(&space, space_part(&ram, AREA + 16 * MIB, BLOCK, 0, 0),
				    guest_timeline_syncobj(space.fd, timeline), 0), 0);
	tables = tables_in_vram();
	assert_int_equal(sleep_devices(), 0);
	assert_int_equal(tables_in_vram(), tables);
	guest_timeline_advance(timeline);
	space_holds(&space, AREA, 8);
	space_holds(&space, AREA + ram.size - 8, 8);
	space_holds(&space, AREA + 8 * MIB, 9);
	space_holds(&space, AREA + 16 * MIB, 8);
	space_unmap(&space, AREA, 4 * MIB);
	space_is_hole(&space, AREA);
	close(timeline);
	guest_destroy(&ram);
	guest_destroy(&vram);
	space_end(&space);
	close(space.fd);
	guest_assert_nothing_left();
}

/* Less than after what the driver gives the mover's job up. */
#define ON_THE_WAY_MS	1500

/*
 * The mover's job that writes a table begins on the way to sleep: programs are frozen then, so its
 * gate gives up by itself.  The driver waits for it, and only then saves the table.
 */
static void written_last(void **state)
{
	struct space space = space_begin();
	struct bo bo = space_bo(&space, 2 * BLOCK, SYSTEM);
	int timeline = guest_timeline();
	uint32_t out = guest_syncobj(space.fd);

	(void)state;
	space_map_part(&space, &bo, AREA, BLOCK, 0);
	assert_int_equal(space_fill(&space, AREA, BLOCK, 8), 1);
	assert_int_equal(space_bind(&space, space_part(&bo, AREA + BLOCK, BLOCK, 0, 0),
				    guest_timeline_syncobj(space.fd, timeline), out), 0);
	inject_anybody(true);
	inject_hold_entry("mover_run", 1, ON_THE_WAY_MS);
	inject_anybody(false);
	guest_timeline_advance(timeline);
	assert_true(inject_await_held("mover_run", 10000));
	assert_int_equal(sleep_devices(), 0);
	inject_clear();
	assert_int_equal(guest_fence_end(guest_sync_file(space.fd, out)), 1);
	space_holds(&space, AREA + BLOCK, 8);
	space_holds(&space, AREA, 8);
	close(timeline);
	guest_destroy(&bo);
	space_end(&space);
	close(space.fd);
	guest_assert_nothing_left();
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(in_vram, guest_teardown),
		cmocka_unit_test_teardown(unwritten, guest_teardown),
		cmocka_unit_test_teardown(beside_groups, guest_teardown),
		cmocka_unit_test_teardown(flushed_first, guest_teardown),
		cmocka_unit_test_teardown(failed, guest_teardown),
		cmocka_unit_test_teardown(their_part, guest_teardown),
		cmocka_unit_test_teardown(asleep, guest_teardown),
		cmocka_unit_test_teardown(written_last, guest_teardown),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("vm-tables", tests, NULL, NULL);
}
