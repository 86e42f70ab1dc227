// SPDX-License-Identifier: MIT
/* BOs whose memory is another driver's: udmabuf's, which this process sees as well. */
#include "prime.h"

#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../kmod/piece.h"

#define RW		(PROT_READ | PROT_WRITE)
#define PARAMETER	"/sys/module/agate/parameters/contiguous_imports"

static int numbered_memory(void **memory)
{
	int dmabuf = dmabuf_of_memory(SIZE, memory);

	number_pages(*memory);
	return dmabuf;
}

/* Tables that a file gets wrong which takes all entries for alike, or counts the wrong ones. */
static void import_entries(int fd, enum foreign_kind kind, const char *what)
{
	int dmabuf = foreign_dmabuf(kind, 0);
	uint32_t handle;
	struct bo bo;

	rule(kind == FOREIGN_MERGED ?
	     "a table has nents entries that are mapped for DMA; orig_nents, which may be more, counts "
	     "those with pages" : "each entry of a table has a length of its own");
	check_errno(dmabuf_try_import(fd, dmabuf, &handle), 0, what);
	bo = import_bo(fd, dmabuf);
	for (uint32_t n = 0; n < PAGES; n++)
		gpu_writes(&bo, n * PAGE + 8, 0x600d0000 + n);
	close(dmabuf);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
}

void test_import(void **state)
{
	int fd = prime_open(), dmabuf, timeline;
	struct bo jobs = guest_bo(fd, PAGE, 0), bo;
	struct foreign_look look;
	void *memory = NULL;

	(void)state;
	import_entries(fd, FOREIGN_UNEQUAL, "FD_TO_HANDLE of entries of 1, 2 and 1 pages");
	import_entries(fd, FOREIGN_MERGED, "FD_TO_HANDLE, nents is 2 and orig_nents is 4");
	dmabuf = numbered_memory(&memory);
	bo = import_bo(fd, dmabuf);
	rule("the BO's reservation is the exporter's: the dma-buf is busy during a job on the BO");
	check_true(is_idle(dmabuf), "an idle dma-buf before the first job", "a busy one");
	look = foreign_look();
	rule("backing.bounced is the import's table only if agate_sgt_needs_sync() says so, and else "
	     "NULL: where CPUs and GPU see the same memory, jobs pay nothing for it");
	check_true(look.bounced == look.needs_sync,
		   look.needs_sync ? "backing.bounced: the table" : "backing.bounced: NULL",
		   look.needs_sync ? "NULL" : "the table");
	rule("the BO's reservation is the exporter's: the dma-buf is busy during a job on the BO");
	timeline = gated_write(&bo, &jobs, 5);
	check_true(!is_idle(dmabuf), "a busy dma-buf", "an idle one");
	guest_timeline_advance(timeline);
	close(timeline);
	check_errno(guest_wait(fd, bo.handle, FOREVER), 0, "WAIT_BO");
	guest_destroy(&jobs);
	rule("the GPU writes to each page of an imported BO where the other driver has it");
	for (uint32_t n = 0; n < PAGES; n++)
		gpu_writes(&bo, n * PAGE + 8, 0x600d0000 + n);
	for (uint32_t n = 0; n < PAGES; n++)
		check_equal((int64_t)((volatile uint64_t *)memory)[n * PAGE / 8 + 1],
			    0x600d0000 + n, "the word in the other driver's memory");
	check_numbers(memory, "beside the word");
	close(dmabuf);
	gpu_writes(&bo, 16, 7);
	rule("an imported BO outlives the other driver's file");
	check_equal((int64_t)((volatile uint64_t *)memory)[2], 7, "the word after close()");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	close(fd);
	munmap(memory, SIZE);
	check_gone();
}

void test_names(void **state)
{
	int fd = prime_open(), other = guest_open(), dmabuf, again;
	struct bo bo, second, third;
	void *memory = NULL;

	(void)state;
	dmabuf = numbered_memory(&memory);
	bo = import_bo(fd, dmabuf);
	second = import_bo(fd, dmabuf);
	third = import_bo(other, dmabuf);
	rule("a dma-buf of another driver has one handle in each file");
	check_equal(second.handle, bo.handle, "the handle of the second import");
	check_more("handles", 2, "handles after two imports in one file, and one in another");
	again = export_bo(&third);
	rule("an imported BO is exported as the dma-buf that it was");
	check_true(dmabuf_same(again, dmabuf), "the other driver's dma-buf", "another one");
	close(again);
	close(dmabuf);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	rule("one GEM_CLOSE closes a handle that two imports gave");
	check_errno(guest_close_handle(fd, bo.handle), EINVAL, "the second GEM_CLOSE");
	close(fd);
	close(other);
	munmap(memory, SIZE);
	check_gone();
}

static void *run_close(void *arg)
{
	const struct bo *bo = arg;

	guest_close_handle(bo->fd, bo->handle);
	return NULL;
}

/* The BO is dead, and all of its import is undone, except that the dma-buf is not put yet. */
static void check_dead_import(int fd)
{
	int dmabuf = foreign_dmabuf(FOREIGN_SCATTERED, 0);
	struct bo bo = import_bo(fd, dmabuf);
	struct foreign_look look;
	pthread_t thread;

	close(dmabuf);
	inject_within("agate_backing_release");
	inject_hold_entry("dma_buf_put", 1, INJECT_BOUND_MS);
	assert_int_equal(pthread_create(&thread, NULL, run_close, &bo), 0);
	rule("the release of an import puts the dma-buf");
	check_true(inject_await_held("dma_buf_put", INJECT_BOUND_MS), "a call of dma_buf_put()",
		   "none");
	look = foreign_look();
	if (!inject_let_go("dma_buf_put"))
		could_not_look("the BO's end was not held until now");
	pthread_join(thread, NULL);
	inject_clear();
	rule("the exporter's reservation goes with the dma-buf: base.resv is base._resv again "
	     "before dma_buf_put()");
	check_true(look.dying && look.own_resv, "the BO's own reservation", "the exporter's");
	rule("dma_buf_put() comes last: before it a BO that is dead leaves the device's list");
	check_true(!look.listed, "an empty list", "a list with a BO");
	check_undone(1);
}

/* Nobody else takes prime.lock meanwhile. */
static void check_list(int fd)
{
	int dmabuf = foreign_dmabuf(FOREIGN_SCATTERED, 0);
	struct bo bo;

	watch_imports(true);
	bo = import_bo(fd, dmabuf);
	rule("prime.lock protects prime.imports: a BO joins the list while its import holds it");
	check_equal(foreign_look().unlocked, 0, "changes of the list without prime.lock");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	close(dmabuf);
	check_gone();
	rule("prime.lock protects prime.imports: a BO leaves the list while its release holds it");
	check_equal(foreign_look().unlocked, 0, "changes of the list without prime.lock");
	watch_imports(false);
	check_undone(1);
}

void test_returned(void **state)
{
	int fd = prime_open(), dmabuf;
	struct foreign_seen seen;
	struct bo bo;

	(void)state;
	check_list(fd);
	dmabuf = foreign_dmabuf(FOREIGN_SCATTERED, 0);
	bo = import_bo(fd, dmabuf);
	close(dmabuf);
	gpu_writes(&bo, 16, 7);
	rule("an imported BO is on the device's list");
	check_true(foreign_look().listed, "a list with a BO", "an empty list");
	seen = foreign_seen();
	rule("an imported BO stays mapped for DMA until it dies, and keeps the dma-buf");
	check_equal(seen.mapped - seen.unmapped, 1, "mappings while the BO lives");
	check_equal(seen.attached - seen.detached, 1, "attached devices while the BO lives");
	check_equal(seen.alive, 1, "the exporter's dma-buf while the BO lives");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	check_gone();
	check_undone(1);
	check_dead_import(fd);
	close(fd);
}

static void refused_memory(int fd, enum foreign_kind kind, int err, const char *what)
{
	int dmabuf = foreign_dmabuf(kind, 0);
	uint32_t handle;

	rule("memory is refused if it is not whole pages, or not as much as the dma-buf's size, or "
	     "more than a BO has; and the exporter's error is handed on");
	check_errno(dmabuf_try_import(fd, dmabuf, &handle), err, what);
	check_gone();
	close(dmabuf);
	check_core_undone(kind != FOREIGN_REFUSES);
}

static void more_memory(int fd, enum foreign_kind kind, const char *what)
{
	int dmabuf = foreign_dmabuf(kind, 0);
	uint32_t handle;

	rule("memory may be more than the dma-buf's size, which is the BO's");
	check_errno(dmabuf_try_import(fd, dmabuf, &handle), 0, what);
	rule("the BO's size is the dma-buf's, also if the table has more memory");
	check_equal((int64_t)foreign_look().size, (int64_t)dmabuf_size(dmabuf), "bytes of the BO");
	check_errno(guest_close_handle(fd, handle), 0, "GEM_CLOSE");
	close(dmabuf);
	check_undone(1);
}

void test_bad_memory(void **state)
{
	int fd = prime_open(), dmabuf;
	uint32_t handle;
	struct bo bo;

	(void)state;
	refused_memory(fd, FOREIGN_ODD_START, EINVAL,
		       "FD_TO_HANDLE, an entry begins inside a page");
	refused_memory(fd, FOREIGN_ODD_END, EINVAL, "FD_TO_HANDLE, an entry ends inside a page");
	refused_memory(fd, FOREIGN_LONG_ODD, EINVAL,
		       "FD_TO_HANDLE, an entry ends inside a page, and lies behind the dma-buf's end");
	refused_memory(fd, FOREIGN_SHORT, EINVAL, "FD_TO_HANDLE, a page is missing");
	refused_memory(fd, FOREIGN_SHORT_END, EINVAL,
		       "FD_TO_HANDLE, a page is missing at the end of the last entry");
	refused_memory(fd, FOREIGN_HUGE, EINVAL, "FD_TO_HANDLE of more than AGATE_BO_MAX_SIZE");
	refused_memory(fd, FOREIGN_REFUSES, EXDEV, "FD_TO_HANDLE, the exporter refuses");
	more_memory(fd, FOREIGN_LONG, "FD_TO_HANDLE, a page too many");
	more_memory(fd, FOREIGN_VAST, "FD_TO_HANDLE, entries of 1 GiB, four of them");
	dmabuf = foreign_dmabuf(FOREIGN_SCATTERED, 0);
	rule("when the BO cannot be made, the import fails with that error and keeps nothing");
	inject_fail("agate_gem_create", 1, ENFILE);
	check_errno(dmabuf_try_import(fd, dmabuf, &handle), ENFILE,
		    "FD_TO_HANDLE when agate_gem_create() gives ENFILE");
	inject_clear();
	check_gone();
	bo = import_bo(fd, dmabuf);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	close(dmabuf);
	check_gone();
	check_undone(2);
	close(fd);
}

/* A dma-buf that gives no right to write becomes a BO that nobody writes. */
static void read_only(int fd, int dmabuf)
{
	struct bo jobs = guest_bo(fd, PAGE, 0), bo = import_bo(fd, dmabuf);
	void *cpu = NULL;

	rule("a dma-buf without DRM_RDWR becomes a BO that no CPU may write");
	check_errno(try_map_bo(&bo, RW, &cpu), EACCES, "mmap() to read and write");
	rule("a dma-buf without DRM_RDWR becomes a BO that the GPU may not write");
	check_errno(job_end(&jobs, &bo, 0, 7), EINVAL, "the fence of a job that writes");
	guest_destroy(&jobs);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
}

/* The flags of the only BO, as the driver shows them. */
static void check_flag(const char *flag, bool expected, const char *why)
{
	char has[96], has_not[96];

	snprintf(has, sizeof(has), "the flag \"%s\": %s", flag, why);
	snprintf(has_not, sizeof(has_not), "no flag \"%s\": %s", flag, why);
	check_true(guest_debugfs_says("bos", flag) == expected, expected ? has : has_not,
		   expected ? "no such flag" : "that flag");
}

/* What the flags say of memory that lies in one of these ways. */
static void check_run(int fd, enum foreign_kind kind, bool contiguous, const char *why)
{
	int dmabuf = foreign_dmabuf(kind, 0);
	struct bo bo = import_bo(fd, dmabuf);

	rule("an imported BO is NOEXEC, and CONTIGUOUS if its memory is one run");
	check_flag("noexec", true, "the BO was imported");
	check_flag("readonly", false, "the dma-buf has DRM_RDWR");
	check_flag("contiguous", contiguous, why);
	/* These addresses lead nowhere. */
	if (kind != FOREIGN_HIGH)
		gpu_writes(&bo, PAGE, 1);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	close(dmabuf);
	check_undone(1);
}

void test_rights(void **state)
{
	int fd = prime_open(), dmabuf;

	(void)state;
	dmabuf = foreign_dmabuf(FOREIGN_SCATTERED, FOREIGN_READ);
	read_only(fd, dmabuf);
	close(dmabuf);
	check_undone(1);
	check_run(fd, FOREIGN_SCATTERED, false, "there are gaps between the entries");
	check_run(fd, FOREIGN_IN_ENTRIES, true, "each entry begins where another one ends");
	check_run(fd, FOREIGN_UNEQUAL, true,
		  "entries of 1, 2 and 1 pages, and each begins where another one ends");
	check_run(fd, FOREIGN_MERGED, false, "there is a gap between the two entries");
	check_run(fd, FOREIGN_PAIR, false,
		  "there is a gap behind the first entry, and none between the others");
	check_run(fd, FOREIGN_LONG_GAP, false,
		  "there is a gap before the last entry, which the dma-buf does not need");
	check_run(fd, FOREIGN_REVERSED, false,
		  "the pages are consecutive, their DMA addresses are not");
	check_run(fd, FOREIGN_HIGH, true,
		  "each entry begins where another one ends, below 4 GiB and above");
	close(fd);
	check_gone();
}

static struct piece_call runs_of(uint64_t offset, uint64_t size)
{
	struct piece_call call = { .op = PIECE_RUNS, .offset = offset, .size = size };
	int file = inject_open("/sys/kernel/debug/agate_piece", O_RDWR);

	if (file < 0 || ioctl(file, PIECE_CALL, &call))
		fail_msg("agate_piece: %s", strerror(errno));
	close(file);
	return call;
}

/* Where page n of the BO lies: the last page of FOREIGN_MERGED has a gap before it. */
static uint64_t place_of(enum foreign_kind kind, uint64_t n)
{
	return (n + (kind == FOREIGN_MERGED && n == PAGES - 1)) * PAGE;
}

static void check_parts(int fd, enum foreign_kind kind)
{
	static const uint64_t outside[][2] = {
		{ SIZE, PAGE }, { SIZE - PAGE, 2 * PAGE }, { 0, SIZE + PAGE },
		{ PAGE, UINT64_MAX - PAGE + 1 }, { UINT64_MAX - PAGE + 1, 2 * PAGE },
	};
	int dmabuf = foreign_dmabuf(kind, 0);
	struct bo bo = import_bo(fd, dmabuf);
	const uint64_t base = runs_of(0, SIZE).addr;
	struct piece_call call;

	for (uint64_t first = 0; first < PAGES; first++)
		for (uint64_t n = 1; n <= PAGES - first; n++) {
			call = runs_of(first * PAGE, n * PAGE);
			rule("populate gives the runs of the part that was asked for, and no more");
			check_errno(-call.result, 0, "populate");
			check_equal((int64_t)(call.addr - base), (int64_t)place_of(kind, first),
				    "bytes from the BO's start to the first run");
			check_equal((int64_t)call.bytes, (int64_t)(n * PAGE), "bytes in all runs");
			check_equal(call.gaps, kind == FOREIGN_MERGED && first < PAGES - 1 &&
				    first + n == PAGES, "gaps between the runs");
		}
	rule("populate answers -EINVAL for what is no part of the BO");
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
		check_errno(-runs_of(outside[i][0], outside[i][1]).result, EINVAL, "populate");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	close(dmabuf);
	check_undone(1);
}

/* The BO has a page less than the table: behind its end is memory that nobody has given to it. */
static void check_long_table(int fd)
{
	static const uint64_t outside[][2] = {
		{ SIZE - PAGE, PAGE }, { SIZE - 2 * PAGE, 2 * PAGE }, { 0, SIZE },
	};
	int dmabuf = foreign_dmabuf(FOREIGN_LONG, 0);
	struct bo bo = import_bo(fd, dmabuf);
	struct piece_call call = runs_of(0, SIZE - PAGE);

	rule("populate gives the runs of the part that was asked for, and no more");
	check_errno(-call.result, 0, "populate of the whole BO");
	check_equal((int64_t)call.bytes, SIZE - PAGE, "bytes in all runs");
	rule("populate answers -EINVAL for what is no part of the BO, also if the table has more "
	     "memory");
	for (size_t i = 0; i < sizeof(outside) / sizeof(outside[0]); i++)
		check_errno(-runs_of(outside[i][0], outside[i][1]).result, EINVAL, "populate");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	close(dmabuf);
	check_undone(1);
}

void test_parts(void **state)
{
	int fd = prime_open();

	(void)state;
	check_parts(fd, FOREIGN_IN_ENTRIES);
	check_parts(fd, FOREIGN_UNEQUAL);
	check_parts(fd, FOREIGN_MERGED);
	check_long_table(fd);
	close(fd);
	check_gone();
}

void test_one_piece(void **state)
{
	int fd = prime_open(), dmabuf;
	struct stat sb;
	uint32_t handle;

	(void)state;
	close(fd);
	check_errno(module_unload(), 0, "unloading the module");
	check_errno(module_load("contiguous_imports=1"), 0, "loading it with contiguous_imports=1");
	/* A parameter with mode 0 has no file. */
	rule("nobody changes contiguous_imports later: the mode of the parameter has no right to write");
	check_true(stat(PARAMETER, &sb) || !(sb.st_mode & 0222), "a file that is only read, or none",
		   PARAMETER " can be written");
	fd = guest_open();
	dmabuf = foreign_dmabuf(FOREIGN_SCATTERED, 0);
	rule("with the parameter contiguous_imports, memory of more than one run is refused");
	check_errno(dmabuf_try_import(fd, dmabuf, &handle), EINVAL, "FD_TO_HANDLE of four runs");
	close(dmabuf);
	check_core_undone(1);
	dmabuf = foreign_dmabuf(FOREIGN_IN_ENTRIES, 0);
	rule("one run of memory may be several entries, when each begins where the one before it "
	     "ends: contiguous_imports does not refuse it");
	check_errno(dmabuf_try_import(fd, dmabuf, &handle), 0,
		    "FD_TO_HANDLE of one run in four entries");
	check_errno(guest_close_handle(fd, handle), 0, "GEM_CLOSE");
	close(dmabuf);
	check_undone(1);
	close(fd);
	check_errno(module_unload(), 0, "unloading the module");
	check_errno(module_load(""), 0, "loading it without a parameter");
}

/* All DMA is bounced here: what one side writes, the other sees when the driver syncs the table. */
void test_bounced(void **state)
{
	int fd = prime_open(), dmabuf = foreign_dmabuf(FOREIGN_SCATTERED, 0);
	struct bo bo = import_bo(fd, dmabuf);
	void *theirs = NULL;

	(void)state;
	if (!dma_is_bounced())
		fail_msg("this guest does not bounce");
	check_errno(try_map(dmabuf, RW, MAP_SHARED, &theirs), 0, "mmap() of the dma-buf");
	number_pages(theirs);
	gpu_writes(&bo, PAGE + 8, 0xb0b0);
	rule("where CPUs and GPU see different memory, backing.bounced is the import's table");
	check_equal((int64_t)((volatile uint64_t *)theirs)[PAGE / 8 + 1], 0xb0b0,
		    "the word that the GPU wrote");
	check_numbers(theirs, "which a CPU wrote before the job");
	munmap(theirs, SIZE);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	close(dmabuf);
	check_undone(1);
	close(fd);
	check_gone();
}
