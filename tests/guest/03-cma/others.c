// SPDX-License-Identifier: MIT
/* Lab 03, step 4: a BO in one piece, for other drivers and for the kernel. */
#include "cma.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define TABLES		12000
#define KERNEL_MAPS	40
#define TABLES_KB	96	/* half of what a struct sg_table takes, TABLES times */

static void check_table(struct bo *bo, uint64_t most, uint64_t base)
{
	const uint64_t entries = (bo->size + most - 1) / most;
	struct piece_call call = ask(PIECE_TABLE, 0, most, 0);
	char what[96];

	snprintf(what, sizeof(what), "get_sg_table() with entries of %#llx bytes",
		 (unsigned long long)most);
	rule("get_sg_table() gives the pages of a BO");
	check_errno(call.result, 0, what);
	rule("no entry is longer than max_segment");
	if (call.longest > most)
		broken("no longer entry", "%s: one of %#llx bytes", what,
		       (unsigned long long)call.longest);
	rule("the entries together are the BO, in order, each page once");
	check_equal((int64_t)call.bytes, (int64_t)bo->size, "bytes in all entries");
	check_equal(call.gaps, 0, "entries that do not begin where the one before ends");
	check_equal((int64_t)(call.addr - base), 0, "bytes from the GPU's address to the first entry");
	check_equal(call.strays, 0,
		    "pages, as for_each_sgtable_page() finds them, that are not the BO's next one");
	rule("a BO in one piece has one entry, if max_segment allows that, and never more than needed");
	check_equal(call.count, (int64_t)entries, "entries");
}

/* As importers find it: attached, mapped for their device, and read. */
static void check_imported(struct bo *bo, uint64_t word)
{
	char text[64] = "";
	ssize_t n;
	int file;

	*(volatile uint64_t *)bo->cpu = word;
	rule("another driver that imports the BO finds its bytes");
	file = inject_open("/sys/kernel/debug/agate_import", O_RDONLY);
	if (file < 0)
		broken("a BO that another driver can attach to", "errno %d", errno);
	n = read(file, text, sizeof(text) - 1);
	close(file);
	if (n <= 0 || strtoull(text, NULL, 10) != word || !strstr(text, " 0\n"))
		broken("its first word, and no error", "\"%s\"", text);
}

void test_table(void **state)
{
	const uint64_t size = (uint64_t)param("PAGES") * PAGE;
	const uint64_t most = (uint64_t)param("MOST") * PAGE;
	int fd = cma_open();
	struct bo bo = map_piece(fd, size);
	const uint64_t base = ask(PIECE_RUNS, 0, size, 0).addr;

	(void)state;
	check_table(&bo, UINT32_MAX / PAGE * PAGE, base);
	check_table(&bo, size, base);
	check_table(&bo, size - PAGE, base);
	check_table(&bo, size / 2 / PAGE * PAGE, base);
	check_table(&bo, most, base);
	check_table(&bo, 64 << 10, base);
	check_table(&bo, PAGE, base);
	check_imported(&bo, (uint64_t)param("WORD"));
	guest_destroy(&bo);
	close(fd);
	check_nothing_left();
}

static void table_without(const char *symbol)
{
	struct piece_call call;
	unsigned int hits;
	char what[96];

	inject_fail(symbol, 1, ENOMEM);
	call = ask(PIECE_TABLE, 0, PAGE, 0);
	hits = inject_hits(symbol);
	inject_clear();
	snprintf(what, sizeof(what), "get_sg_table() when %s() fails", symbol);
	rule("get_sg_table() without memory gives -ENOMEM");
	if (hits || call.result)
		check_errno(call.result, ENOMEM, what);
}

/* Each time with everything that a failure leaves; no counter knows of it, but the slabs do. */
static void many_tables(const char *what)
{
	long slab = 0;

	for (unsigned int i = 0; i < TABLES + 100; i++) {
		if (i == 100)
			slab = guest_slab_kb();
		ask(PIECE_TABLE, 0, 8 * PAGE, 0);
	}
	rule("nothing is left of a table: neither of one that fails, nor of one that was freed");
	for (int i = 0; i < 100 && guest_slab_kb() - slab > TABLES_KB; i++)
		usleep(10000);
	if (guest_slab_kb() - slab > TABLES_KB)
		broken("no growth of the kernel's memory", "%ld KiB more after %u tables %s",
		       guest_slab_kb() - slab, TABLES, what);
}

void test_table_memory(void **state)
{
	int fd = cma_open();
	struct bo bo = make_piece(fd, 16 * PAGE);

	(void)state;
	rule("get_sg_table() gives the pages of a BO");
	check_errno(ask(PIECE_TABLE, 0, PAGE, 0).result, 0, "get_sg_table()");
	table_without("sg_alloc_table");
	many_tables("that were freed");
	inject_fail("sg_alloc_table", 0, ENOMEM);
	many_tables("that failed");
	inject_clear();
	guest_destroy(&bo);
	close(fd);
	check_nothing_left();
}

/* Mappings of pages in the kernel's address space. */
static int kernel_maps(void)
{
	FILE *file = fopen("/proc/vmallocinfo", "re");
	char line[512];
	int count = 0;

	assert_non_null(file);
	while (fgets(line, sizeof(line), file))
		count += !!strstr(line, " vmap");
	fclose(file);
	return count;
}

/* Other parts of the kernel may make a few meanwhile. */
static void none_stays(void)
{
	const int before = kernel_maps();

	for (int i = 0; i < KERNEL_MAPS; i++)
		ask(PIECE_READ, 0, 0, 0);
	rule("vunmap() undoes one vmap(): no mapping of the kernel stays");
	check_true(kernel_maps() - before < KERNEL_MAPS / 2, "as many mappings as before",
		   "mappings that stayed");
}

void test_kernel_map(void **state)
{
	const uint64_t words = LARGE / 8, at = (uint64_t)param("AT");
	const uint64_t places[] = { 0, 1, at, PAGE / 8, words / 2 + 1, words - 1 };
	int fd = cma_open();
	struct bo bo = map_piece(fd, LARGE);
	volatile uint64_t *cpu = bo.cpu;

	(void)state;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		struct piece_call call;

		cpu[places[i]] = 0x77000 + i;
		rule("the kernel's mapping of a BO is the memory that processes map, until it is undone");
		call = ask(PIECE_READ, places[i] * 8, 0, 0);
		check_errno(call.result, 0, "vmap()");
		check_equal((int64_t)call.word, (int64_t)(0x77000 + i), "a word that a process wrote");
		check_equal(call.iomem, 0, "is_iomem of the map, which is for a device's registers");
		call = ask(PIECE_WRITE, places[i] * 8, 0, 0x99000 + i);
		check_errno(call.result, 0, "vmap()");
		check_equal((int64_t)cpu[places[i]], (int64_t)(0x99000 + i),
			    "a word that the kernel wrote");
	}
	none_stays();
	guest_destroy(&bo);
	close(fd);
	check_nothing_left();
}
