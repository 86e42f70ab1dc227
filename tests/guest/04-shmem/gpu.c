// SPDX-License-Identifier: MIT
/* Lab 04, step 3: the sg table, and what the GPU sees of a BO. */
#include "shmem.h"

#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define TIMES	64u
#define UNBIND_MS	5000

static void count_tables(void)
{
	inject_count("sg_alloc_table_from_pages_segment");
	inject_count("sg_alloc_table");
	inject_count("sg_free_table");
	inject_count("sg_free_append_table");
	inject_count("__sg_free_table");
}

static unsigned int tables_made(void)
{
	return inject_hits("sg_alloc_table_from_pages_segment") + inject_hits("sg_alloc_table");
}

/* How often a table's entries were freed: these call one another, unless they were inlined. */
static unsigned int tables_freed(void)
{
	return inject_hits("sg_free_table") + inject_hits("sg_free_append_table") +
	       inject_hits("__sg_free_table");
}

/* BO after BO with a table, which goes with it: both pieces of its memory. */
static void many_tables(void)
{
	int fd = shmem_open(), account = account_open();
	unsigned int freed, kept;

	count_tables();
	for (unsigned int i = 0; i < TIMES; i++) {
		struct bo bo = make_bo(fd, 2);
		int file = look_at_newest();

		check_errno(tell(file, "populate 0 4096"), 0, "populate");
		check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
		close(file);
	}
	freed = tables_freed();
	inject_clear();
	kept = account_kept(account);
	close(account);
	rule("a table that goes is freed: sg_free_table(), then kfree()");
	check_at_least(freed, TIMES, "calls that free the entries of tables");
	if (kept >= TIMES)
		broken("no memory that stays", "%u pieces are left of %u tables", kept, TIMES);
	close(fd);
}

static void run_close(void *arg)
{
	const struct bo *bo = arg;

	guest_close_handle(bo->fd, bo->handle);
}

/* A device that still has the mapping may write to pages that are somebody else's by then. */
static void mapping_first(void)
{
	int fd = shmem_open(), file;
	struct bo bo = make_bo(fd, 3);
	struct aside dying;

	file = look_at_newest();
	check_errno(tell(file, "populate 0 4096"), 0, "populate");
	close(file);
	inject_count("dma_unmap_sg_attrs");
	inject_hold_entry("drm_gem_put_pages", 1, INJECT_BOUND_MS);
	aside_start(&dying, run_close, &bo);
	rule("the pages go back when their DMA mapping is undone, and not before");
	/* A driver that puts its pages in another way is not held, and not looked at. */
	if (aside_is_held(&dying, "drm_gem_put_pages")) {
		check_at_least(inject_hits("dma_unmap_sg_attrs"), 1,
			       "DMA mappings that are undone when the pages go back");
		let_go("drm_gem_put_pages");
	}
	aside_join(&dying);
	inject_clear();
	close(fd);
	check_nothing_left();
}

void test_gpu(void **state)
{
	const unsigned int pages = 6;
	int fd = shmem_open(), file;
	struct bo jobs, bo;
	long tables;

	(void)state;
	rule("a job finds all pages of its BOs, whoever has touched them");
	jobs = guest_bo(fd, PAGE, 0);
	bo = make_bo(fd, pages);
	file = look_at_newest();
	bo.cpu = map_more(&bo, pages);
	*word(bo.cpu, 0) = 4000;
	check_errno(gpu_copy(&jobs, &bo, 3 * PAGE, 0), 0, "a job");
	tables = guest_counter("sg_tables");
	check_present(file, pages, "after a job");
	rule("the sg table has each page of the BO in its place");
	check_equal(look(file, "sgt"), 1, "backing.sgt is set");
	check_equal(look(file, "sgt_wrong"), 0, "pages that the table has elsewhere");
	rule("backing.bounced leads to the table where agate_sgt_needs_sync(), and is NULL elsewhere");
	check_equal(look(file, "bounced_wrong"), 0, "backing.bounced is not what it should be here");
	rule("the GPU and the CPUs see the same page at the same place of the BO");
	check_equal((int64_t)*word(bo.cpu, 3), 4000, "what the GPU has copied to page 3");
	fill(&bo, 7000);
	for (unsigned int i = 0; i < pages; i++) {
		check_errno(gpu_copy(&jobs, &bo, i * PAGE + 64, (pages - 1 - i) * PAGE), 0, "a job");
		check_equal((int64_t)word(bo.cpu, i)[8], 7000 + pages - 1 - i,
			    "what the GPU has copied from another page");
	}
	rule("a BO has one sg table, made once, which stays until the BO dies");
	check_equal(guest_counter("sg_tables"), tables, "counter sg_tables after more jobs");
	check_at_least(tables, 2, "counter sg_tables with two BOs of a job");
	munmap(bo.cpu, bo.size);
	check_present(file, pages, "after the last munmap() of a BO that the GPU has used");
	check_equal(guest_counter("sg_tables"), tables, "counter sg_tables after munmap()");
	close(file);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	rule("the sg table goes with the BO");
	guest_wait_counter("sg_tables", tables - 1);
	guest_destroy(&jobs);
	close(fd);
	check_nothing_left();
	mapping_first();
	many_tables();
	used_unneeded("populate 0 4096", NULL);
}

/* Every part of a BO; and what is no part. */
void test_parts(void **state)
{
	const unsigned int pages = 24;
	int fd = shmem_open(), file, runs, wrong;
	struct bo bo = make_bo(fd, pages);
	unsigned int seen;
	FILE *all;

	(void)state;
	file = look_at_newest();
	rule("populate refuses what is no part of the BO, and takes no page then");
	check_errno(tell(file, "populate %llu 4096", (unsigned long long)bo.size), EINVAL,
		    "populate from the BO's end");
	check_equal(look(file, "cached"), 0, "pages in the file after a populate that was refused");
	check_present(file, 0, "after a populate that was refused");
	bo.cpu = map_more(&bo, pages);
	/* From the end: so the pages are not consecutive. */
	for (unsigned int i = pages; i-- > 0;)
		check_true(can_read(word(bo.cpu, i), &(uint64_t){ 0 }), "a page", "SIGBUS");
	rule("populate refuses what is no part of the BO, and takes no page then");
	check_errno(tell(file, "populate %llu 4096", (unsigned long long)bo.size), EINVAL,
		    "populate from the BO's end");
	check_errno(tell(file, "populate 4096 %llu", (unsigned long long)bo.size), EINVAL,
		    "populate beyond the BO's end");
	check_errno(tell(file, "populate 8192 18446744073709547520"), EINVAL,
		    "populate of a size that wraps around");
	check_errno(tell(file, "populate 18446744073709547520 8192"), EINVAL,
		    "populate from an offset that wraps around");
	check_errno(tell(file, "populate 17592186044416 4096"), EINVAL,
		    "populate from 16 TiB on: offset has 64 bits");
	check_errno(tell(file, "populate 0 17592186048512"), EINVAL,
		    "populate of 16 TiB and a page: size has 64 bits");
	check_equal(look(file, "sgt"), 0, "backing.sgt is set");
	rule("populate makes the whole BO present, whatever part it is asked for");
	check_errno(tell(file, "populate 4096 4096"), 0, "populate of one page");
	check_present(file, pages, "after populate of one page");
	rule("each part of a BO has the addresses that the whole has there");
	all = fopen("/sys/kernel/debug/agate_runs", "re");
	if (!all || fscanf(all, "%u %d %d", &seen, &runs, &wrong) != 3)
		fail_msg("agate_runs makes no sense");
	fclose(all);
	check_at_least(runs, 1, "runs of the whole BO");
	check_equal(wrong, 0, "pages that a part has elsewhere");
	close(file);
	guest_destroy(&bo);
	close(fd);
	check_nothing_left();
}

/* One of the calls that make a table fails: the job is refused, and nothing is left. */
static void table_without(const char *symbol, int err, bool pinned)
{
	const unsigned int pages = 5;
	int fd = shmem_open(), file, seen;
	long tables = guest_counter("sg_tables");
	struct bo bo = make_bo(fd, pages);
	char what[96];
	unsigned int hits;

	file = look_at_newest();
	if (pinned)
		told(file, "pin");
	if (err)
		inject_fail(symbol, 1, err);
	else
		inject_fail_null(symbol, 1);
	seen = guest_submit(fd, bo.va, 0, &bo.handle, 1, 0);
	hits = inject_hits(symbol);
	inject_clear();
	if (hits) {
		rule("when memory is short, the memory for bouncing too, SUBMIT gives ENOMEM");
		snprintf(what, sizeof(what), "SUBMIT when %s() fails with errno %d", symbol, err);
		check_errno(seen, ENOMEM, what);
		rule("a table that could not be made is stored nowhere");
		check_equal(look(file, "sgt"), 0, "backing.sgt is set");
		check_equal(look(file, "bounced"), 0, "backing.bounced is set");
		if (pinned)
			rule("a table that could not be made leaves the pages of others in their places");
		else
			rule("a table that could not be made leaves no use of the pages");
		check_present(file, pinned ? pages : 0, "after a SUBMIT that failed");
		check_equal(guest_counter("sg_tables"), tables, "counter sg_tables");
	}
	rule("after a failure the next call works");
	check_errno(tell(file, "populate 0 4096"), 0, "populate");
	check_equal(look(file, "sgt_wrong"), 0, "pages that the table has elsewhere");
	check_present(file, pages, "after populate");
	done_with(fd, file, &bo);
}

/* The mapping fails, again and again: the table's memory goes, and the device may go, too. */
static void mapping_without(const char *symbol, bool null)
{
	int fd = shmem_open(), file, account;
	unsigned int hits, freed, kept;
	struct bo bo = make_bo(fd, 4);
	int64_t held;

	file = look_at_newest();
	told(file, "pin");
	account = account_open();
	if (null)
		inject_fail_null(symbol, 0);
	else
		inject_fail(symbol, 0, ENOMEM);
	count_tables();
	count_device();
	for (unsigned int i = 0; i < TIMES; i++)
		tell(file, "populate 0 4096");
	hits = inject_hits(symbol);
	freed = tables_freed();
	held = device_held();
	inject_clear();
	kept = account_kept(account);
	close(account);
	if (hits >= TIMES) {
		rule("a table that could not be mapped is freed: sg_free_table(), then kfree()");
		check_at_least(freed, TIMES, "calls that free the entries of tables");
		if (kept >= TIMES)
			broken("no memory that stays", "%u pieces are left of %u tables", kept,
			       TIMES);
		rule("a mapping that failed holds the device no longer: each drm_dev_enter() has its drm_dev_exit()");
		check_equal(held, 0, "calls of drm_dev_enter() without their drm_dev_exit()");
	}
	rule("a table that could not be made leaves no use of the pages");
	told(file, "unpin");
	if (hits >= TIMES)
		check_present(file, 0, "after the last unpin");
	done_with(fd, file, &bo);
}

void test_dma_failure(void **state)
{
	(void)state;
	table_without(INJECT_READS, ENOMEM, false);
	for (unsigned int pinned = 0; pinned < 2; pinned++) {
		table_without("sg_alloc_table_from_pages_segment", ENOMEM, pinned);
		table_without("dma_map_sgtable", ENOMEM, pinned);
		table_without("dma_map_sgtable", EIO, pinned);
		table_without("dma_map_sg_attrs", 0, pinned);
	}
	mapping_without("dma_map_sgtable", false);
	mapping_without("dma_map_sg_attrs", true);
}

/*
 * The device goes while a BO dies: detach meets one that was released and is still on the list.
 */
static void detached_late(void)
{
	int fd = shmem_open();
	struct bo bo = make_bo(fd, 4);
	struct aside dying;
	int file = look_at_newest();
	bool held;

	rule("populate makes the whole BO present, whatever part it is asked for");
	check_errno(tell(file, "populate 0 4096"), 0, "populate");
	close(file);
	inject_hold_return("agate_backing_release", 1, INJECT_BOUND_MS);
	aside_start(&dying, run_close, &bo);
	held = aside_is_held(&dying, "agate_backing_release");
	rule("detach may come after release, and finds nothing more to undo");
	inject_count("dma_unmap_sg_attrs");
	if (held) {
		check_errno(device_unbind(), 0, "unbinding the device");
		check_equal(inject_hits("dma_unmap_sg_attrs"), 0, "DMA mappings undone a second time");
		let_go("agate_backing_release");
	}
	aside_join(&dying);
	inject_clear();
	close(fd);
	if (held)
		check_errno(device_bind(), 0, "binding the device");
	done_with_device();
}

/* The device goes, and others use the BO: the pages stay in their places until the last of them. */
static void detached_in_use(const char *command, const char *undo)
{
	const unsigned int pages = 4;
	int fd = shmem_open(), file;

	make_bo(fd, pages);
	file = look_at_newest();
	told(file, command);
	for (unsigned int i = 0; i < 3; i++)
		check_errno(tell(file, "populate 0 4096"), 0, "populate");
	check_errno(device_unbind(), 0, "unbinding the device");
	rule("detach undoes DMA mappings alone: pages with other users stay where they are");
	check_present(file, pages, "after the device has gone");
	check_maps(file);
	rule("the sg table is one user, however often populate was called");
	told(file, undo);
	check_present(file, 0, "after the last use, without a device");
	check_dirty(file, "after the last use, without a device");
	close(file);
	close(fd);
	check_errno(device_bind(), 0, "binding the device");
}

/* Its page tables went with the device, so a CPU comes by the fault handler again. */
void check_touched(void *cpu)
{
	uint64_t seen;

	rule("a CPU that touches a page finds it there, also when the device has gone: fault needs no device");
	check_true(can_read(word(cpu, 0), &seen), "a page", "SIGBUS");
}

static void run_vmap(void *arg)
{
	const int *file = arg;

	tell(*file, "vmap");
}

static void run_unbind(void *arg)
{
	int *err = arg;

	*err = device_unbind();
}

/* The device goes while somebody has the lock of a BO, here a vmap. */
static void detached_locked(void)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	struct aside mapping, unbinding;
	int fd = shmem_open(), mapped, file, err = 0;
	bool held, locked = false;

	make_bo(fd, 4);
	mapped = look_at_newest();
	file = look_at_newest();
	rule("populate makes the whole BO present, whatever part it is asked for");
	check_errno(tell(file, "populate 0 4096"), 0, "populate");
	inject_count("agate_backing_detach_all");
	/* The injection module itself calls vmap(). */
	inject_within("agate_backing_vmap");
	inject_hold_entry("vmap", 1, INJECT_BOUND_MS);
	aside_start(&mapping, run_vmap, &mapped);
	held = aside_is_held(&mapping, "vmap");
	if (held) {
		locked = tell(file, "free") == EBUSY;
		aside_start(&unbinding, run_unbind, &err);
		for (int i = 0; i < UNBIND_MS && !inject_hits("agate_backing_detach_all"); i++)
			nanosleep(&pause, NULL);
		aside_grace(&unbinding);
		let_go("vmap");
		aside_join(&unbinding);
	}
	aside_join(&mapping);
	inject_clear();
	check_errno(err, 0, "unbinding the device");
	rule("no DMA mapping of a BO outlasts the device: detach waits for backing.lock");
	if (locked)
		check_equal(look(file, "sgt"), 0,
			    "backing.sgt is set, after a detach of a BO whose lock another thread had");
	close(mapped);
	close(file);
	close(fd);
	if (held)
		check_errno(device_bind(), 0, "binding the device");
	done_with_device();
}

/* The device goes while the file is open, and a process has mapped the BO. */
void test_unplugged(void **state)
{
	const unsigned int pages = 4;
	int fd = shmem_open(), file, never, alone;
	struct bo jobs, bo;
	unsigned int made, undone;

	(void)state;
	rule("a job finds all pages of its BOs, whoever has touched them");
	jobs = guest_bo(fd, PAGE, 0);
	make_bo(fd, pages);
	never = look_at_newest();
	make_bo(fd, pages);
	alone = look_at_newest();
	check_errno(tell(alone, "populate 0 4096"), 0, "populate");
	bo = make_bo(fd, pages);
	file = look_at_newest();
	bo.cpu = map_more(&bo, pages);
	fill(&bo, 60);
	check_errno(gpu_copy(&jobs, &bo, 64, PAGE), 0, "a job");
	inject_count("dma_unmap_sg_attrs");
	check_errno(device_unbind(), 0, "unbinding the device");
	undone = inject_hits("dma_unmap_sg_attrs");
	inject_clear();
	rule("no DMA mapping of a BO outlasts the device: detach undoes it");
	check_at_least(undone, 2, "DMA mappings that are undone when the device goes");
	check_equal(look(file, "sgt"), 0, "backing.sgt is set");
	check_equal(look(file, "bounced"), 0, "backing.bounced is set");
	rule("the count of tables goes down with each of them, also when the device takes it along");
	check_equal(look(file, "tables"), 0, "counter sg_tables, after the device has gone");
	rule("a BO that nobody but the GPU used holds no page when the device has gone");
	check_present(alone, 0, "after the device has gone");
	check_dirty(alone, "after the device has gone");
	rule("what the CPUs see of a BO outlasts the device: pages with other users stay where they are");
	check_present(file, pages, "after the device has gone");
	check_touched(bo.cpu);
	rule("what the CPUs see of a BO outlasts the device: pages with other users stay where they are");
	check_filled(bo.cpu, pages, 60, "after the device has gone");
	rule("a device that is unplugged gets no DMA mapping any more: ENODEV");
	count_tables();
	check_errno(tell(never, "populate 0 4096"), ENODEV, "populate");
	made = tables_made();
	undone = tables_freed();
	inject_clear();
	check_present(never, 0, "after a populate that failed");
	rule("a table that could not be mapped is freed: sg_free_table(), then kfree()");
	check_at_least(undone, made, "calls that free the entries of tables, without a device");
	rule("a device that is unplugged gets no DMA mapping any more: ENODEV");
	check_errno(tell(file, "populate 0 4096"), ENODEV, "populate of a BO that had a table");
	rule("with the last use all pages go back to the file");
	munmap(bo.cpu, bo.size);
	check_present(file, 0, "after the last munmap(), without a device");
	rule("a BO that outlasts the device dies as any other");
	close(file);
	close(never);
	close(alone);
	munmap(jobs.cpu, jobs.size);
	close(fd);
	check_errno(device_bind(), 0, "binding the device");
	done_with_device();
	detached_in_use("pin", "unpin");
	detached_in_use("vmap", "vunmap");
	detached_locked();
	detached_late();
}
