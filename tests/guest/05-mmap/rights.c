// SPDX-License-Identifier: MIT
/* Which mappings are allowed, and what they may become. */
#include "maps.h"

#include "dmabuf.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#define RW	(PROT_READ | PROT_WRITE)
/* These tests need no page that comes by a fault. */
#define READ_ONLY	(AGATE_BO_CONTIGUOUS | AGATE_BO_CPU_READONLY)

/* The two-letter flags of the VMA at @cpu, as smaps shows them. */
static void read_flags(const void *cpu, char *flags, size_t size)
{
	FILE *file = fopen("/proc/self/smaps", "re");
	char line[512], begin[32];
	bool here = false;

	assert_non_null(file);
	flags[0] = '\0';
	snprintf(begin, sizeof(begin), "%llx-", (unsigned long long)(uintptr_t)cpu);
	while (!flags[0] && fgets(line, sizeof(line), file)) {
		here |= !strncmp(line, begin, strlen(begin));
		if (here && !strncmp(line, "VmFlags:", 8))
			snprintf(flags, size, "%.200s", line + 8);
	}
	fclose(file);
}

/* Whatever a mapping may do now, it never becomes executable, and no core dump has it. */
static void check_never(void *cpu, const char *what)
{
	char flags[256], text[96];

	rule("no mapping of a BO becomes executable later");
	snprintf(text, sizeof(text), "mprotect() to PROT_EXEC, %s", what);
	check_errno(mprotect(cpu, SIZE, PROT_READ | PROT_EXEC) ? errno : 0, EACCES, text);
	rule("a core dump leaves every mapping of a BO out");
	read_flags(cpu, flags, sizeof(flags));
	snprintf(text, sizeof(text), "the VMA's flag VM_DONTDUMP (dd), %s", what);
	check_true(strstr(flags, " dd"), text, flags);
}

/* The same BO comes to the driver by drm_gem_prime_mmap(), and the same is allowed. */
static void by_dmabuf(const struct bo *bo, const struct bo *readonly)
{
	int dmabuf = dmabuf_export(bo), theirs = dmabuf_export(readonly);
	void *cpu = NULL;

	rule("a map of the BO's dma-buf is a mapping like any other: what is refused, is refused here");
	check_errno(try_map(dmabuf, 0, SIZE, PROT_READ, MAP_PRIVATE, NULL), EINVAL,
		    "mmap() MAP_PRIVATE of a dma-buf");
	check_errno(try_map(dmabuf, 0, SIZE, PROT_READ | PROT_EXEC, MAP_SHARED, NULL), EPERM,
		    "mmap() with PROT_EXEC of a dma-buf");
	check_errno(try_map(theirs, 0, SIZE, RW, MAP_SHARED, NULL), EACCES,
		    "mmap() to write, of the dma-buf of a CPU_READONLY BO");
	check_errno(try_map(dmabuf, 0, SIZE, PROT_READ, MAP_SHARED, &cpu), 0,
		    "mmap() of a dma-buf, shared, to read");
	check_never(cpu, "in a map of a dma-buf");
	munmap(cpu, SIZE);
	close(dmabuf);
	close(theirs);
}

/* MMAP_BO refuses a heap; here the driver makes its range for another reason. */
static void not_visible(int fd)
{
	struct bo heap = make_bo(fd, 2u << 20, AGATE_BO_HEAP | AGATE_BO_NOEXEC);

	rule("agate_mmap_object() refuses a BO that is not CPU_VISIBLE, whoever made its offset");
	check_errno(try_map(fd, range_of_newest(), SIZE, RW, MAP_SHARED, NULL), EINVAL,
		    "mmap() of a heap, whose offset did not come from MMAP_BO");
	check_errno(guest_close_handle(fd, heap.handle), 0, "GEM_CLOSE");
}

/* A heap is not the only BO that no CPU may see. */
static void hidden(int fd)
{
	const int file = own_backing();
	uint64_t offset;
	struct bo bo;

	assert_int_equal(write(file, "hidden", 6), 6);
	bo = make_bo(fd, SIZE, 0);
	rule("MMAP_BO refuses every BO whose backing is not CPU_VISIBLE, not heaps only");
	check_errno(ask_offset(fd, bo.handle, 0, &offset), EINVAL,
		    "MMAP_BO of a BO that no CPU may see, and that is no heap");
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	close(file);
}

void test_refused(void **state)
{
	int fd = maps_open();
	struct bo bo = make_bo(fd, SIZE, AGATE_BO_CONTIGUOUS);
	struct bo paged = make_bo(fd, SIZE, 0), readonly = make_bo(fd, SIZE, READ_ONLY);
	uint64_t offset = offset_of(&bo), other = offset_of(&readonly);
	void *cpu = map_bo(&bo, RW);

	(void)state;
	rule("a private mapping is refused: its writes would go to copies");
	check_errno(try_map(fd, offset, SIZE, RW, MAP_PRIVATE, NULL), EINVAL,
		    "mmap() MAP_PRIVATE, to read and write");
	check_errno(try_map(fd, offset, SIZE, PROT_READ, MAP_PRIVATE, NULL), EINVAL,
		    "mmap() MAP_PRIVATE, to read");
	check_errno(try_map(fd, other, SIZE, PROT_READ, MAP_PRIVATE, NULL), EINVAL,
		    "mmap() MAP_PRIVATE, to read, of a CPU_READONLY BO");
	rule("nobody runs CPU code from a BO");
	check_errno(try_map(fd, offset, SIZE, PROT_READ | PROT_EXEC, MAP_SHARED, NULL), EPERM,
		    "mmap() with PROT_EXEC");
	check_never(cpu, "in a writable mapping");
	munmap(cpu, SIZE);
	cpu = map_bo(&bo, PROT_READ);
	check_never(cpu, "in a mapping that is only read");
	munmap(cpu, SIZE);
	by_dmabuf(&paged, &readonly);
	not_visible(fd);
	hidden(fd);
	close(fd);
}

/* The kernel takes VM_SHARED away from a shared mapping of a file that cannot write. */
static void shared_of_reader(int fd)
{
	char path[32];
	void *cpu = NULL;
	uint64_t offset;
	struct bo bo;
	int reader;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	reader = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(reader >= 0);
	bo = make_bo(reader, SIZE, 0);
	offset = offset_of(&bo);
	rule("a file that was opened to read only maps a BO shared, to read, and not private");
	check_errno(try_map(reader, offset, SIZE, PROT_READ, MAP_SHARED, &cpu), 0,
		    "mmap() MAP_SHARED of a file opened O_RDONLY");
	check_never(cpu, "of a file opened O_RDONLY");
	munmap(cpu, SIZE);
	rule("a private mapping is refused, also to read only, whoever opened the file");
	check_errno(try_map(reader, offset, SIZE, PROT_READ, MAP_PRIVATE, NULL), EINVAL,
		    "mmap() MAP_PRIVATE of a file opened O_RDONLY");
	close(reader);
}

void test_read_only(void **state)
{
	int fd = maps_open();
	struct bo bo = make_bo(fd, SIZE, READ_ONLY);
	struct bo plain = make_bo(fd, SIZE, AGATE_BO_CONTIGUOUS);
	void *cpu = map_bo(&bo, PROT_READ);

	uint64_t offset = offset_of(&bo);

	(void)state;
	rule("a CPU_READONLY BO is never mapped writable");
	check_errno(try_map(fd, offset, SIZE, RW, MAP_SHARED, NULL), EACCES,
		    "mmap() of a CPU_READONLY BO to read and write");
	rule("what mmap() refuses, mprotect() does not allow later");
	check_errno(mprotect(cpu, SIZE, RW) ? errno : 0, EACCES,
		    "mprotect() of a CPU_READONLY BO's mapping to read and write");
	munmap(cpu, SIZE);
	cpu = map_bo(&plain, PROT_READ);
	rule("a BO without the flag, or with no such flag, keeps its rights");
	check_errno(mprotect(cpu, SIZE, RW) ? errno : 0, 0,
		    "mprotect() to read and write, BO with no such flag");
	munmap(cpu, SIZE);
	shared_of_reader(fd);
	close(fd);
}

static long faults(void)
{
	struct rusage usage;

	assert_int_equal(getrusage(RUSAGE_SELF, &usage), 0);
	return usage.ru_minflt + usage.ru_majflt;
}

static void fills_once(const struct bo *bo)
{
	int file = watch_filling(MAPPED_BY_DMA);
	void *cpu = map_bo(bo, RW);

	check_filled(file, cpu, false);
	munmap(cpu, bo->size);
}

/* A backing that has a mmap(), and serves debuggers. */
static void with_own_backing(int fd)
{
	const int file = own_backing(), memory = open("/proc/self/mem", O_RDWR | O_CLOEXEC);
	struct bo bo = make_bo(fd, SIZE, 0);
	uint8_t *cpu = map_bo(&bo, RW), byte = 0x5a;
	const off_t at = (off_t)(uintptr_t)(cpu + PAGE + 5);

	assert_true(memory >= 0);
	check_called(file);
	rule("a debugger reads a BO where the backing has access(): agate_vm_ops leads to it");
	check_equal(pwrite(memory, &byte, 1, at), 1, "bytes that /proc/self/mem takes");
	byte = 0;
	check_equal(pread(memory, &byte, 1, at), 1, "bytes that /proc/self/mem gives");
	check_equal(byte, 0x5a, "the byte");
	munmap(cpu, SIZE);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	close(memory);
	close(file);
}

void test_whole(void **state)
{
	int fd = maps_open();
	struct bo bo = make_bo(fd, 64 * PAGE, AGATE_BO_CONTIGUOUS);
	uint64_t offset = offset_of(&bo);
	volatile uint8_t *cpu = map_bo(&bo, RW);
	const int errors[] = { ENOMEM, ENXIO };
	long before;
	void *again;

	(void)state;
	rule("the page table of a contiguous BO is complete after mmap()");
	faults();
	before = faults();
	for (int n = 0; n < 64; n++)
		cpu[n * PAGE] = (uint8_t)(0x10 + n);
	check_at_least(4, faults() - before, "faults at most, in 64 pages");
	again = map_bo(&bo, PROT_READ);
	rule("two mappings of a BO show the same pages");
	check_numbers((uint8_t *)again - 123, 0, 64, "through a second mapping");
	munmap(again, 64 * PAGE);
	munmap((void *)(uintptr_t)cpu, 64 * PAGE);
	rule("when the backing could not be mapped, mmap() gives its error");
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		inject_fail("dma_mmap_attrs", 1, errors[i]);
		check_errno(try_map(fd, offset, bo.size, RW, MAP_SHARED, NULL), errors[i],
			    "mmap() that the backing refuses");
		inject_clear();
	}
	fills_once(&bo);
	with_own_backing(fd);
	close(fd);
}

void test_grow(void **state)
{
	int fd = maps_open();
	struct bo bo = make_bo(fd, SIZE, 0);
	void *cpu = map_bo(&bo, RW), *grown;
	char flags[256];

	(void)state;
	rule("a mapping cannot grow beyond the BO");
	grown = mremap(cpu, SIZE, SIZE + PAGE, MREMAP_MAYMOVE);
	check_errno(grown == MAP_FAILED ? errno : 0, EFAULT, "mremap() to a page more");
	rule("a core dump leaves a mapping out, and the kernel treats its pages as foreign");
	read_flags(cpu, flags, sizeof(flags));
	check_true(strstr(flags, " dd"), "the VMA's flag VM_DONTDUMP (dd)", flags);
	check_true(strstr(flags, " pf"), "the VMA's flag VM_PFNMAP (pf)", flags);
	check_plain(cpu);
	munmap(cpu, SIZE);
	close(fd);
}

/* What holds for every mapping holds for this one, too; how its table is filled is not ours. */
static void foreign_rights(const struct bo *bo, void *cpu, int dmabuf)
{
	uint64_t offset = offset_of(bo);
	void *theirs = dmabuf_map(dmabuf);
	char flags[256], their_flags[256];

	rule("a private or executable mapping of a FOREIGN BO is refused as well");
	check_errno(try_map(bo->fd, offset, SIZE, RW, MAP_PRIVATE, NULL), EINVAL,
		    "mmap() MAP_PRIVATE");
	check_errno(try_map(bo->fd, offset, SIZE, PROT_READ | PROT_EXEC, MAP_SHARED, NULL), EPERM,
		    "mmap() with PROT_EXEC");
	check_errno(mprotect(cpu, SIZE, PROT_READ | PROT_EXEC) ? errno : 0, EACCES,
		    "mprotect() to PROT_EXEC");
	read_flags(cpu, flags, sizeof(flags));
	read_flags(theirs, their_flags, sizeof(their_flags));
	rule("a core dump leaves a mapping of a FOREIGN BO out");
	check_true(strstr(flags, " dd"), "the VMA's flag VM_DONTDUMP (dd)", flags);
	rule("whether a FOREIGN mapping has VM_PFNMAP (pf) is the other driver's business");
	check_true(strstr(flags, " pf") || !strstr(their_flags, " pf"),
		   "VM_PFNMAP (pf), which the other driver sets", flags);
	check_true(!strstr(flags, " pf") || strstr(their_flags, " pf"),
		   "no VM_PFNMAP (pf): the other driver sets none", flags);
	munmap(theirs, SIZE);
}

/* The core has a reference for the VMA, and puts it itself when mmap() fails. */
static void foreign_refuses(const struct bo *bo)
{
	const int errors[] = { ENOMEM, EACCES };
	uint64_t offset = offset_of(bo);

	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++) {
		rule("when the other driver refuses a mapping, mmap() gives its error");
		inject_fail("dma_buf_mmap", 1, errors[i]);
		check_errno(try_map(bo->fd, offset, SIZE, RW, MAP_SHARED, NULL), errors[i],
			    "mmap() that the other driver refuses");
		inject_clear();
		rule("a mapping that the other driver refuses leaves the BO as it was");
		check_more("bos", 1, "BOs, after mmap() that the other driver refused");
	}
}

/* The dma-buf says that nobody may write to it, so the BO is CPU_READONLY. */
static void foreign_read_only(int fd)
{
	int dmabuf = read_only_dmabuf();
	struct bo bo = dmabuf_import(fd, dmabuf);
	uint64_t offset = offset_of(&bo);
	void *cpu;

	rule("a BO of a dma-buf that may only be read is CPU_READONLY, and never mapped writable");
	check_errno(try_map(fd, offset, SIZE, RW, MAP_SHARED, NULL), EACCES,
		    "mmap() to write, of a FOREIGN BO that is CPU_READONLY");
	cpu = map_bo(&bo, PROT_READ);
	rule("what mmap() refuses, mprotect() does not allow later, of a FOREIGN BO either");
	check_errno(mprotect(cpu, SIZE, RW) ? errno : 0, EACCES,
		    "mprotect() to write, of a FOREIGN BO that is CPU_READONLY");
	munmap(cpu, SIZE);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	close(dmabuf);
}

static void foreign_filled(const struct bo *bo)
{
	int file = watch_filling(MAPPED_BY_DMABUF);
	void *cpu = map_bo(bo, RW);

	check_filled(file, cpu, true);
	munmap(cpu, SIZE);
}

/* A BO whose memory is another driver's: the VMA becomes that driver's. */
void test_foreign(void **state)
{
	int fd = maps_open(), dmabuf;
	void *memory = NULL;
	struct bo bo;
	char *cpu;

	(void)state;
	dmabuf = dmabuf_of_memory(SIZE, &memory);
	for (int n = 0; n < PAGES; n++)
		memset((char *)memory + n * PAGE, 0x10 + n, PAGE);
	bo = dmabuf_import(fd, dmabuf);
	cpu = map_bo(&bo, RW);
	rule("a mapping of a FOREIGN BO is the other driver's, and shows that driver's memory");
	check_more("cpu_maps", 0, "VMAs that this driver counts");
	check_numbers(cpu, 0, PAGES, "of another driver");
	cpu[PAGE] = 0x55;
	check_equal(((volatile char *)memory)[PAGE], 0x55, "the byte that was written");
	foreign_rights(&bo, cpu, dmabuf);
	munmap(cpu, SIZE);
	foreign_refuses(&bo);
	foreign_filled(&bo);
	foreign_read_only(fd);
	close(dmabuf);
	munmap(memory, SIZE);
	done_with(&bo);
}
