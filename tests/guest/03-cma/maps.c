// SPDX-License-Identifier: MIT
/* Lab 03, step 3: a process's map of a BO in one piece. */
#include "cma.h"

#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "clients.h"
#include "dmabuf.h"

#define RW	(PROT_READ | PROT_WRITE)

/* VM_FAULT_* of include/linux/mm_types.h. */
#define FAULT_SIGBUS	0x2
#define FAULT_NOPAGE	0x100

/* In a child, which shares the map. */
static void count_up(void *arg)
{
	volatile uint64_t *words = arg;

	for (uint64_t i = 0; i < 16; i++)
		words[i * PAGE / 8]++;
}

static void number(struct bo *bo, uint64_t size)
{
	volatile uint64_t *words = bo->cpu;

	for (uint64_t i = 0; i < size / PAGE; i++)
		words[i * PAGE / 8] = i + 1;
}

/* The page that a map shows is the one of the memory that everybody else uses. */
static void check_pages(struct bo *bo, uint64_t size)
{
	static const uint64_t pages[] = { 0, 1, 17, 1024 };
	volatile uint64_t *words = bo->cpu;

	for (size_t i = 0; i < sizeof(pages) / sizeof(pages[0]) && pages[i] < size / PAGE; i++) {
		const uint64_t at = bo->va + pages[i] * PAGE;

		gpu_copies(bo, bo, at + 64, at);
		rule("each page of the map is that page of the BO");
		check_equal((int64_t)words[(pages[i] * PAGE + 64) / 8], (int64_t)(pages[i] + 1),
			    "what the CPU sees of a page that the GPU wrote");
	}
}

static void complete(struct bo *bo)
{
	const long before = minor_faults();

	rule("the page table is complete when mmap() returns: no page fault follows");
	number(bo, bo->size);
	if (minor_faults() - before > 8)
		broken("8 page faults at most, which are the program's own",
		       "%ld for %lu pages", minor_faults() - before,
		       (unsigned long)(bo->size / PAGE));
}

static void shorter(int fd, uint64_t size)
{
	struct bo bo = make_piece(fd, size);
	volatile uint64_t *words;

	rule("a process can map a BO, or a part from its start on");
	check_errno(try_map(&bo, size - 3 * PAGE, RW), 0, "mmap() of all but three pages");
	number(&bo, size - 3 * PAGE);
	check_pages(&bo, size - 3 * PAGE);
	words = bo.cpu;
	/* A piece in the middle goes, and the two others stay. */
	assert_int_equal(munmap((char *)bo.cpu + 4 * PAGE, PAGE), 0);
	rule("each page of the map is that page of the BO");
	check_equal((int64_t)words[3 * PAGE / 8], 4, "a page below one that was unmapped");
	check_equal((int64_t)words[5 * PAGE / 8], 6, "a page above one that was unmapped");
	munmap(bo.cpu, size - 3 * PAGE);
	bo.cpu = NULL;
	rule("a map longer than the BO is refused");
	check_errno(try_map(&bo, size + PAGE, RW), EINVAL, "mmap() of a page more");
	guest_destroy(&bo);
}

/* A driver that fills in the table with another function sees no failure. */
static void without_table(int fd)
{
	struct bo bo = make_piece(fd, PAGE);
	unsigned int hits;
	int err;

	inject_fail("dma_mmap_attrs", 1, ENXIO);
	err = try_map(&bo, PAGE, RW);
	hits = inject_hits("dma_mmap_attrs");
	inject_clear();
	rule("when the page table cannot be filled in, that error is the error of mmap()");
	if (hits)
		check_errno(err, ENXIO, "mmap() when dma_mmap_attrs() fails");
	guest_destroy(&bo);
}

/* A map of a dma-buf may begin anywhere in it. */
static void inside(int fd)
{
	struct bo bo = map_piece(fd, 8 * PAGE);
	int dmabuf = dmabuf_export(&bo);
	volatile uint64_t *words;
	void *at;

	number(&bo, bo.size);
	rule("a map that begins inside the BO, as one of its dma-buf may, shows the pages from there on");
	at = mmap(NULL, 5 * PAGE, RW, MAP_SHARED, dmabuf, 2 * PAGE);
	check_errno(at == MAP_FAILED ? errno : 0, 0, "mmap() of a dma-buf from its third page on");
	words = at;
	for (uint64_t i = 0; i < 5; i++)
		check_equal((int64_t)words[i * PAGE / 8], (int64_t)i + 3, "the number on a page");
	munmap(at, 5 * PAGE);
	close(dmabuf);
	guest_destroy(&bo);
}

/* In a child: write a word; the signal that this gives, or 0. */
static int write_in_child(volatile uint64_t *word)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		signal(SIGBUS, SIG_DFL);
		signal(SIGSEGV, SIG_DFL);
		*word = 1;
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* A BO of one page, mapped to read only. */
static struct bo map_to_read(int fd)
{
	struct bo bo = make_piece(fd, PAGE);

	rule("a process can map a BO, or a part from its start on");
	check_errno(try_map(&bo, PAGE, PROT_READ), 0, "mmap() to read");
	return bo;
}

static void check_not_written(const struct bo *bo, const char *when)
{
	volatile uint64_t *words = bo->cpu;
	int sig;

	rule("a process that maps a BO to read cannot write to it: vma->vm_page_prot says so");
	check_equal((int64_t)words[0], 0, "a word of a BO that nobody wrote to");
	sig = write_in_child(words);
	if (sig != SIGSEGV)
		broken("a write that ends in SIGSEGV", "%s, %s",
		       sig ? strsignal(sig) : "a write that succeeds", when);
}

void test_mapped(void **state)
{
	const uint64_t size = (uint64_t)param("PAGES") * PAGE;
	int fd = cma_open();
	struct bo first = make_piece(fd, PAGE), bo = map_piece(fd, size);
	volatile uint64_t *words = bo.cpu;

	(void)state;
	complete(&bo);
	check_pages(&bo, size);
	number(&bo, size);
	clients_end(count_up, bo.cpu, false);
	rule("a child sees the same pages");
	for (uint64_t i = 0; i < 16; i++)
		check_equal((int64_t)words[i * PAGE / 8], (int64_t)i + 2, "a number that a child counted up");
	guest_destroy(&bo);
	shorter(fd, size);
	inside(fd);
	without_table(fd);
	bo = map_to_read(fd);
	check_not_written(&bo, "after mmap()");
	guest_destroy(&bo);
	guest_destroy(&first);
	close(fd);
	check_nothing_left();
}

/* Leaves a mark on every page of some BOs, of the sizes that a driver may keep for later. */
static void mark(void *arg)
{
	int fd = guest_open();

	for (uint64_t size = PAGE; size <= LARGE; size *= 8) {
		struct bo bo = map_piece(fd, size);

		memset(bo.cpu, 0x5a, size);
		munmap(bo.cpu, size);
	}
	(void)arg;
}

void test_zeroed(void **state)
{
	int fd = cma_open();

	(void)state;
	for (int killed = 0; killed < 2; killed++) {
		clients_end(mark, NULL, killed);
		for (uint64_t size = PAGE; size <= LARGE; size *= 8) {
			struct bo bo = map_piece(fd, size);
			const uint64_t *words = bo.cpu;
			uint64_t i = 0;

			while (i < size / 8 && !words[i])
				i++;
			rule("a new BO is zero: nobody finds what another process has left");
			if (i < size / 8)
				broken("zero", "%#llx at byte %llu of a BO of %llu",
				       (unsigned long long)words[i], (unsigned long long)i * 8,
				       (unsigned long long)size);
			guest_destroy(&bo);
		}
	}
	close(fd);
	check_nothing_left();
}

/* A fault that is refused ends the process that reads: that is a child. */
static void read_in_child(const struct bo *bo, uint64_t pages, const char *map)
{
	volatile uint64_t *words = bo->cpu;
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (!pid) {
		signal(SIGBUS, SIG_DFL);
		signal(SIGSEGV, SIG_DFL);
		for (uint64_t i = 0; i < pages; i++)
			if (words[i * PAGE / 8] != i + 1)
				_exit(1);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		broken("every page can be read", "%s in %s", strsignal(WTERMSIG(status)), map);
	check_true(!WEXITSTATUS(status), "on each page the number from before", "another number");
}

static void check_pgoff(const void *at, int64_t pages, const char *what)
{
	const struct piece_call call = ask(PIECE_PGOFF, 0, 0, (uintptr_t)at);

	assert_int_equal(call.result, 0);
	rule("vma->vm_pgoff after mmap() is what it was before");
	check_equal((int64_t)call.addr, pages, what);
}

static void offset_kept(int fd)
{
	struct bo bo = map_piece(fd, 8 * PAGE);
	int dmabuf = dmabuf_export(&bo);
	void *at = mmap(NULL, 5 * PAGE, RW, MAP_SHARED, dmabuf, 2 * PAGE);

	check_pgoff(bo.cpu, 0, "pages from drm_vma_node_start() to vm_pgoff of a map of the BO");
	rule("a map that begins inside the BO, as one of its dma-buf may, shows the pages from there on");
	check_errno(at == MAP_FAILED ? errno : 0, 0, "mmap() of a dma-buf from its third page on");
	check_pgoff(at, 2, "pages from drm_vma_node_start() to vm_pgoff of a map from the third page on");
	munmap(at, 5 * PAGE);
	close(dmabuf);
	guest_destroy(&bo);
}

static const char *fault_name(uint32_t fault)
{
	switch (fault) {
	case 0:
		return "0";
	case FAULT_SIGBUS:
		return "VM_FAULT_SIGBUS";
	case FAULT_NOPAGE:
		return "VM_FAULT_NOPAGE";
	}
	return "another VM_FAULT_*";
}

/* fault() for the first page of a map of this BO, which is the newest one. */
static void check_fault(const struct bo *bo, uint64_t index, uint32_t expected)
{
	const struct piece_call call = ask(PIECE_FAULT, index, 0, (uintptr_t)bo->cpu);

	assert_int_equal(call.result, 0);
	if (call.fault != expected)
		broken(fault_name(expected), "%s from fault() with index %#llx, in a BO of %#llx pages",
		       fault_name(call.fault), (unsigned long long)index,
		       (unsigned long long)(bo->size / PAGE));
}

/* No process can cause the first three: the core looks at the map's size. */
static void asked_again(int fd)
{
	struct bo bo = map_piece(fd, 8 * PAGE);

	rule("an index behind the BO's end is VM_FAULT_SIGBUS");
	check_fault(&bo, 8, FAULT_SIGBUS);
	check_fault(&bo, 9, FAULT_SIGBUS);
	check_fault(&bo, 1ull << 40, FAULT_SIGBUS);
	rule("two threads may touch a page at once: the second fault() finds the page there");
	check_fault(&bo, 0, FAULT_NOPAGE);
	guest_destroy(&bo);
}

#define INSERTS		"vmf_insert_pfn|vmf_insert_pfn_prot"
/* An injection returns an errno below zero: -4095 has VM_FAULT_OOM, and not VM_FAULT_NOPAGE. */
#define LIKE_OOM	4095

/* The kernel has no memory for the process's page table: one page, so that it asks once. */
static void no_page_table(int fd)
{
	struct bo bo = map_piece(fd, PAGE);
	struct piece_call call;
	unsigned int hits;

	inject_fail(INSERTS, 1, LIKE_OOM);
	call = ask(PIECE_FAULT, 0, 0, (uintptr_t)bo.cpu);
	hits = inject_hits(INSERTS);
	inject_clear();
	assert_int_equal(call.result, 0);
	rule("fault() returns what vmf_insert_pfn() returns: VM_FAULT_OOM without a page table");
	/* Without a hit fault() has inserted nothing, and the rules that follow say so. */
	if (hits && (!call.fault || call.fault & FAULT_NOPAGE))
		broken("VM_FAULT_OOM: the kernel frees memory, and the fault comes again",
		       "%s when vmf_insert_pfn() returned VM_FAULT_OOM", fault_name(call.fault));
	guest_destroy(&bo);
}

void test_unplugged(void **state)
{
	int fd = cma_open();
	struct bo first, bo, part, shorter, to_read;
	volatile uint64_t *words;
	long faults;

	(void)state;
	/* Its offset in the file is not the first one. */
	first = map_piece(fd, PAGE);
	bo = map_piece(fd, 64 * PAGE);
	part = map_piece(fd, 8 * PAGE);
	number(&part, part.size);
	assert_int_equal(munmap(part.cpu, 3 * PAGE), 0);
	shorter = make_piece(fd, 8 * PAGE);
	check_errno(try_map(&shorter, 5 * PAGE, RW), 0, "mmap() of all but three pages");
	number(&shorter, 5 * PAGE);
	offset_kept(fd);
	asked_again(fd);
	no_page_table(fd);
	to_read = map_to_read(fd);
	words = bo.cpu;
	number(&bo, bo.size);
	assert_int_equal(device_unbind(), 0);
	rule("a map keeps its pages when the device is unplugged: each comes back by a page fault");
	read_in_child(&bo, bo.size / PAGE, "a map of the whole BO");
	rule("fault() inserts the page that was touched, and none behind the end of the VMA");
	read_in_child(&shorter, 5, "a map of the BO's first pages");
	rule("a map keeps its pages when the device is unplugged: each comes back by a page fault");
	faults = minor_faults();
	check_equal((int64_t)words[0], 1, "the first page, after the device was unplugged");
	faults = minor_faults() - faults;
	if (!faults)
		broken("a page fault, because the page table is empty", "none");
	rule("a map keeps its pages when the device is unplugged: each comes back by a page fault");
	for (uint64_t i = 0; i < bo.size / PAGE; i++)
		check_equal((int64_t)words[i * PAGE / 8], (int64_t)i + 1, "the number on a page");
	rule("index is the page's number in the BO, wherever the map begins");
	for (uint64_t i = 3; i < 8; i++)
		check_equal((int64_t)((volatile uint64_t *)part.cpu)[i * PAGE / 8], (int64_t)i + 1,
			    "the number on a page of a map whose front was unmapped");
	munmap((char *)part.cpu + 3 * PAGE, 5 * PAGE);
	munmap(shorter.cpu, 5 * PAGE);
	words[5] = 7;
	check_equal((int64_t)words[5], 7, "a word that was written after the unplug");
	check_not_written(&to_read, "after the device was unplugged");
	munmap(to_read.cpu, to_read.size);
	munmap(bo.cpu, bo.size);
	munmap(first.cpu, first.size);
	close(fd);
	assert_int_equal(device_bind(), 0);
}
