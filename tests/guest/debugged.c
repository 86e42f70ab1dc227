// SPDX-License-Identifier: MIT
/*
 * A debugger looks at the memory of a process that has mapped BOs with a placement, wherever these
 * are, and writes there.
 */
#include "graded.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dmabuf.h"
#include "kmap_client.h"

#define LIMIT		(16 * MIB)	/* of system memory, as run.sh loads the driver */
#define PAGES		4u

static void check_reads(const struct kmap_client *world, const struct bo *bo, uint64_t seed)
{
	kmap_debug_check(world, bo, 0, 1, seed);
	kmap_debug_check(world, bo, 5, 11, seed);
	kmap_debug_check(world, bo, PAGE - 3, 7, seed);
	kmap_debug_check(world, bo, 2 * PAGE - 1, 2, seed);
	kmap_debug_check(world, bo, PAGE + 77, 2 * PAGE + 1, seed);
	kmap_debug_check(world, bo, bo->size - PAGE - 1, PAGE + 1, seed);
	assert_int_equal(guest_counter("kmaps"), 0);
}

static ssize_t debug_write(const struct kmap_client *world, const struct bo *bo, uint64_t offset,
			   uint64_t len, uint64_t seed)
{
	unsigned char bytes[3 * PAGE];

	assert_in_range(len, 1, sizeof(bytes));
	for (uint64_t i = 0; i < len; i++)
		bytes[i] = (unsigned char)kmap_word_at(offset + i, seed);
	return pwrite(world->mem, bytes, len, (off_t)((uintptr_t)bo->cpu + offset));
}

/* All of it, in parts that begin and end inside of words and pages. */
static void debug_write_all(const struct kmap_client *world, const struct bo *bo, uint64_t seed)
{
	const uint64_t most = 2 * PAGE + 77;

	for (uint64_t offset = 0; offset < bo->size; offset += most) {
		uint64_t len = offset + most < bo->size ? most : bo->size - offset;

		assert_int_equal(debug_write(world, bo, offset, len, seed), len);
	}
	assert_int_equal(guest_counter("kmaps"), 0);
}

/* Where it is the debugger reads what CPU and GPU wrote, and they read what it writes. */
static void debug_both_ways(struct kmap_client *world, struct bo bo, uint64_t seed)
{
	check_reads(world, &bo, seed);
	debug_write_all(world, &bo, seed + 1);
	kmap_check(world, &bo, seed + 1);
	check_reads(world, &bo, seed + 1);
	guest_destroy(&bo);
}

static void debugged(void **state)
{
	struct kmap_client world = kmap_open();

	(void)state;
	for (uint32_t caching = 0; caching < 3; caching++)
		debug_both_ways(&world, kmap_system_bo(&world, PAGES * PAGE, caching, 10), 10);
	debug_both_ways(&world, kmap_vram_bo(&world, PAGES * 16 * PAGE, 20), 20);
	debug_both_ways(&world, kmap_vram_bo(&world, LARGE, 30), 30);
	kmap_close(&world);
}

/* Another process, by ptrace(): the child waits where it is while its parent looks. */
static void traced(void **state)
{
	struct kmap_client world = kmap_open();
	struct bo bo = kmap_vram_bo(&world, PAGES * 16 * PAGE, 40);
	char *cpu = bo.cpu;
	int status;
	pid_t child = fork();

	(void)state;
	assert_true(child >= 0);
	if (!child) {
		ptrace(PTRACE_TRACEME, 0, NULL, NULL);
		raise(SIGSTOP);
		_exit(*(volatile uint64_t *)(cpu + PAGE) == 41 ? 0 : 1);
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFSTOPPED(status));
	assert_int_equal((uint64_t)ptrace(PTRACE_PEEKDATA, child, cpu + PAGE - 3, NULL),
			 kmap_word_at(PAGE - 3, 40));
	assert_int_equal(ptrace(PTRACE_POKEDATA, child, cpu + PAGE, (void *)41), 0);
	assert_int_equal(ptrace(PTRACE_DETACH, child, NULL, NULL), 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_int_equal(status, 0);
	guest_destroy(&bo);
	kmap_close(&world);
}

/* Out of VRAM and back: every time what is there is what was written. */
static void follows(void **state)
{
	struct kmap_client world = kmap_open();
	struct bo bo = kmap_vram_bo(&world, LARGE, 50);

	(void)state;
	for (uint64_t round = 0; round < 2; round++) {
		debug_write_all(&world, &bo, 60 + round);
		kmap_check_part(&world, 1, 2, 3, BY_IOMEM, kmap_vram_caching(), 60 + round);
		kmap_push_out(&world);
		kmap_check_part(&world, 1, 2, 3, BY_VMAP, AGATE_CACHING_WC, 60 + round);
		check_reads(&world, &bo, 60 + round);
		debug_write_all(&world, &bo, 70 + round);
		kmap_check_part(&world, 1, 2, 3, BY_VMAP, AGATE_CACHING_WC, 70 + round);
		kmap_check(&world, &bo, 70 + round);
		kmap_check_part(&world, 1, 2, 3, BY_IOMEM, kmap_vram_caching(), 70 + round);
		check_reads(&world, &bo, 70 + round);
	}
	guest_destroy(&bo);
	kmap_close(&world);
}

/* A BO that nobody has used, and one that is in a swap file, get memory for a debugger. */
static void gets_memory(void **state)
{
	enum { COUNT = LIMIT / (4 * MIB) };
	struct kmap_client world = kmap_open();
	struct bo bos[COUNT + 1];
	long before = guest_number("pages", "swapped");
	uint64_t zero = 1;

	(void)state;
	for (unsigned int i = 0; i <= COUNT; i++)
		assert_int_equal(placed_create(world.client.fd, 4 * MIB, 0, SYSTEM, i % 3,
					       &bos[i]), 0);
	guest_map(&bos[0]);
	assert_int_equal(kmap_debug_read(&world, &bos[0], &zero, PAGE - 3, sizeof(zero)),
			 sizeof(zero));
	assert_int_equal(zero, 0);
	debug_write_all(&world, &bos[0], 80);
	for (unsigned int i = 1; i <= COUNT; i++)
		placed_fill(&world.client, &bos[i], i);
	/* The one that was used longest ago has gone. */
	assert_true(guest_number("pages", "swapped") >= before + (long)(4 * MIB / PAGE));
	check_reads(&world, &bos[0], 80);
	kmap_check(&world, &bos[0], 80);
	for (unsigned int i = 0; i <= COUNT; i++)
		guest_destroy(&bos[i]);
	kmap_close(&world);
}

/* mmap() of some pages of a dma-buf, which begin inside of it. */
static void *map_pages(int dmabuf, unsigned int first, unsigned int n, int prot)
{
	void *cpu = mmap(NULL, (size_t)n * PAGE, prot, MAP_SHARED, dmabuf, (off_t)first * PAGE);

	assert_ptr_not_equal(cpu, MAP_FAILED);
	return cpu;
}

/* Not behind the end of a VMA, and its first page need not be that of the BO. */
static void part_of_a_vma(void **state)
{
	struct kmap_client world = kmap_open();
	struct bo bo = kmap_system_bo(&world, PAGES * PAGE, AGATE_CACHING_WB, 90), part = bo;
	unsigned char bytes[2 * PAGE];
	int dmabuf = dmabuf_export(&bo);

	(void)state;
	part.cpu = map_pages(dmabuf, 1, 3, PROT_READ | PROT_WRITE);
	assert_int_equal(munmap((char *)part.cpu + 2 * PAGE, PAGE), 0);
	assert_int_equal(kmap_debug_read(&world, &part, bytes, 100, sizeof(bytes)),
			 sizeof(bytes) - 100);
	kmap_check_bytes(bytes, PAGE + 100, sizeof(bytes) - 100, 90);
	/* It begins where the other one began, and has a page less in front. */
	assert_int_equal(munmap(part.cpu, PAGE), 0);
	assert_int_equal(kmap_debug_read(&world, &part, bytes, PAGE + 7, 100), 100);
	kmap_check_bytes(bytes, 2 * PAGE + 7, 100, 90);
	assert_int_equal(kmap_debug_read(&world, &part, bytes, PAGE - 1, 2), -1);
	munmap((char *)part.cpu + PAGE, PAGE);
	close(dmabuf);
	guest_destroy(&bo);
	kmap_close(&world);
}

/* A debugger may no more than the process. */
static void read_only(void **state)
{
	struct kmap_client world = kmap_open();
	struct bo bo = kmap_system_bo(&world, PAGES * PAGE, AGATE_CACHING_WB, 100), ro = bo;
	int dmabuf = dmabuf_export(&bo);

	(void)state;
	ro.cpu = map_pages(dmabuf, 0, PAGES, PROT_READ);
	check_reads(&world, &ro, 100);
	assert_int_equal(debug_write(&world, &ro, PAGE - 1, 2, 101), -1);
	assert_int_equal(errno, EIO);
	kmap_check(&world, &bo, 100);
	munmap(ro.cpu, ro.size);
	close(dmabuf);
	guest_destroy(&bo);
	/* BOs of other kinds are no part of this. */
	bo = guest_bo(world.client.fd, PAGE, 0);
	assert_int_equal(debug_write(&world, &bo, 0, 1, 0), -1);
	assert_int_equal(errno, EIO);
	guest_destroy(&bo);
	kmap_close(&world);
}

static void fails_once(struct kmap_client *world, struct bo bo, const char *symbol, uint64_t seed)
{
	unsigned char byte;

	inject_within("agate_kmap");
	inject_fail_null(symbol, 1);
	assert_int_equal(kmap_debug_read(world, &bo, &byte, PAGE + 1, 1), -1);
	assert_int_equal(errno, EIO);
	assert_int_equal(inject_hits(symbol), 1);
	inject_clear();
	assert_int_equal(guest_counter("kmaps"), 0);
	/* Its place counts nobody who is not there. */
	assert_int_equal(kmap_look(world, 0, 1, 0).left, 0);
	check_reads(world, &bo, seed);
	kmap_push_out(world);
	check_reads(world, &bo, seed);
	guest_destroy(&bo);
}

static void no_memory(void **state)
{
	struct kmap_client world = kmap_open();

	(void)state;
	fails_once(&world, kmap_system_bo(&world, PAGES * PAGE, AGATE_CACHING_UC, 110), "vmap", 110);
	fails_once(&world, kmap_vram_bo(&world, LARGE, 111),
		   kmap_vram_caching() == AGATE_CACHING_WC ? "ioremap_wc" : "ioremap", 111);
	kmap_close(&world);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(debugged, guest_teardown),
		cmocka_unit_test_teardown(traced, guest_teardown),
		cmocka_unit_test_teardown(follows, guest_teardown),
		cmocka_unit_test_teardown(gets_memory, guest_teardown),
		cmocka_unit_test_teardown(part_of_a_vma, guest_teardown),
		cmocka_unit_test_teardown(read_only, guest_teardown),
		cmocka_unit_test_teardown(no_memory, guest_teardown),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("debugged", tests, NULL, NULL);
}
