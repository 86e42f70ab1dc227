// SPDX-License-Identifier: MIT
/* Lab 04, step 3: the sg table, and what the GPU sees of a BO. */
#include "shmem.h"

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAKES		"drm_prime_pages_to_sg"
#define FULL_PAGES	1024u		/* 4 MiB */
#define FULL_MOST	64u

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

struct first_use {
	struct aside aside;
	int file;
	int err;
};

static void run_first_use(void *arg)
{
	struct first_use *use = arg;

	use->err = tell(use->file, "populate 0 4096");
}

/* Two threads need the table at the same time; the first one is held where it makes it. */
static void two_first_uses(const char *gate)
{
	struct first_use first, second;
	int fd = shmem_open();
	long before = guest_counter("sg_tables");
	struct bo bo = make_bo(fd, 4);

	first.file = look_at_newest();
	second.file = look_at_newest();
	inject_hold_entry(gate, 1, INJECT_BOUND_MS);
	aside_start(&first.aside, run_first_use, &first);
	if (!aside_is_held(&first.aside, gate)) {
		/* It makes tables in another way. */
		inject_clear();
		aside_join(&first.aside);
		goto out;
	}
	aside_start(&second.aside, run_first_use, &second);
	aside_grace(&second.aside);
	let_go(gate);
	aside_join(&first.aside);
	aside_join(&second.aside);
	inject_clear();
	rule("two threads that use a BO first get the one sg table that it has");
	check_errno(second.err, 0, "the second populate");
out:
	rule("populate makes the sg table");
	check_errno(first.err, 0, "the first populate");
	rule("two threads that use a BO first get the one sg table that it has");
	check_equal(guest_counter("sg_tables"), before + 1, "counter sg_tables");
	check_present(first.file, 4, "after two first uses");
	close(first.file);
	close(second.file);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	close(fd);
	check_nothing_left();
}

void test_once(void **state)
{
	(void)state;
	two_first_uses(MAKES);
	two_first_uses("dma_map_sgtable");
	two_first_uses("shmem_read_mapping_page_gfp");
}

/* One of the calls that make a table fails: the job is refused, and nothing is left. */
static void table_without(const char *symbol, int err)
{
	const unsigned int pages = 5;
	int fd = shmem_open(), file, seen;
	long tables = guest_counter("sg_tables");
	struct bo bo = make_bo(fd, pages);
	char what[96];
	unsigned int hits;

	file = look_at_newest();
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
		rule("a table that could not be made leaves no use of the pages");
		check_present(file, 0, "after a SUBMIT that failed");
		check_equal(look(file, "sgt"), 0, "backing.sgt is set");
		check_equal(guest_counter("sg_tables"), tables, "counter sg_tables");
	}
	rule("after a failure the next call works");
	check_errno(tell(file, "populate 0 4096"), 0, "populate");
	check_equal(look(file, "sgt_wrong"), 0, "pages that the table has elsewhere");
	check_present(file, pages, "after populate");
	close(file);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	close(fd);
	check_nothing_left();
}

void test_dma_failure(void **state)
{
	(void)state;
	table_without("shmem_read_mapping_page_gfp", ENOMEM);
	table_without("sg_alloc_table_from_pages_segment", ENOMEM);
	table_without("dma_map_sgtable", ENOMEM);
	table_without("dma_map_sgtable", EIO);
	table_without("dma_map_sg_attrs", 0);
}

/* The device goes while the file is open, and a process has mapped the BO. */
void test_unplugged(void **state)
{
	const unsigned int pages = 4;
	int fd = shmem_open(), file, never;
	struct bo jobs, bo;
	unsigned int undone;

	(void)state;
	rule("a job finds all pages of its BOs, whoever has touched them");
	jobs = guest_bo(fd, PAGE, 0);
	make_bo(fd, pages);
	never = look_at_newest();
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
	rule("what the CPUs see of a BO outlasts the device");
	check_filled(bo.cpu, pages, 60, "after the device has gone");
	rule("a device that is unplugged gets no DMA mapping any more: ENODEV");
	check_errno(tell(never, "populate 0 4096"), ENODEV, "populate");
	check_present(never, 0, "after a populate that failed");
	rule("with the last use all pages go back to the file");
	munmap(bo.cpu, bo.size);
	check_present(file, 0, "after the last munmap(), without a device");
	rule("a BO that outlasts the device dies as any other");
	close(file);
	close(never);
	munmap(jobs.cpu, jobs.size);
	close(fd);
	check_errno(device_bind(), 0, "binding the device");
	fd = shmem_open();
	close(fd);
	check_nothing_left();
}

/* ---- Profile swiotlb: the CPUs and the GPU have different memory --------------- */

static void turns(void)
{
	int fd = shmem_open(), file;
	struct bo jobs, bo;

	rule("a job finds all pages of its BOs, whoever has touched them");
	jobs = guest_bo(fd, PAGE, 0);
	bo = make_bo(fd, 3);
	file = look_at_newest();
	bo.cpu = map_more(&bo, 3);
	for (unsigned int i = 0; i < 6; i++) {
		*word(bo.cpu, 0) = 100 + i;
		check_errno(gpu_copy(&jobs, &bo, 2 * PAGE, 0), 0, "a job");
		rule("where the GPU has other memory than the CPUs, backing.bounced leads to the table");
		check_equal(look(file, "bounced"), 1, "backing.bounced is the table");
		rule("where all DMA bounces, each side sees what the other wrote");
		check_equal((int64_t)*word(bo.cpu, 2), 100 + i, "what the GPU has copied");
	}
	fill(&bo, 900);
	rule("undoing the mapping writes nothing to the pages: what a CPU wrote after the last job stays");
	check_errno(device_unbind(), 0, "unbinding the device");
	check_filled(bo.cpu, 3, 900, "after its DMA mapping was undone");
	check_equal(look(file, "bounced"), 0, "backing.bounced is set");
	munmap(bo.cpu, bo.size);
	munmap(jobs.cpu, jobs.size);
	close(file);
	close(fd);
	check_errno(device_bind(), 0, "binding the device");
}

/* The memory for bouncing is finite. */
static void bounced_full(void)
{
	struct bo bo[FULL_MOST];
	int fd = shmem_open(), err = 0;
	unsigned int n = 0;

	while (n < FULL_MOST && !err) {
		bo[n] = make_bo(fd, FULL_PAGES);
		err = guest_submit(fd, bo[n].va, 0, &bo[n].handle, 1, 0);
		n++;
	}
	rule("when memory is short, the memory for bouncing too, SUBMIT gives ENOMEM");
	if (err)
		check_errno(err, ENOMEM, "SUBMIT with more BOs than can bounce");
	close(fd);
	rule("BOs that could not be mapped leave nothing behind");
	check_nothing_left();
}

void test_bounced(void **state)
{
	(void)state;
	turns();
	bounced_full();
}
