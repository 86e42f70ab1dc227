// SPDX-License-Identifier: MIT
/* Swap; see swap_space.h. */
#include "swap_space.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/swap.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "guest.h"

#define MODULES		"/run/agate"
#define DEVICE		"/dev/zram0"
#define SWAP_SIZE	(32u << 20)

/* The first page of a swap device; the rest of the header is zero. */
#define HEADER_AT	1024
#define MAGIC		"SWAPSPACE2"
#define MAGIC_AT	(PAGE - (sizeof(MAGIC) - 1))

/* The bit in /proc/self/pagemap of a page that is there. */
#define PAGE_PRESENT	(1ull << 63)

static void load(const char *module)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), MODULES "/%s.ko", module);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0);
	assert_int_equal(syscall(SYS_finit_module, fd, "", 0), 0);
	close(fd);
}

static void unload(const char *module)
{
	assert_int_equal(syscall(SYS_delete_module, module, O_NONBLOCK), 0);
}

static void tell(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static void write_header(void)
{
	const uint32_t header[] = { 1, SWAP_SIZE / PAGE - 1 };	/* version and last page */
	char page[PAGE] = "";
	int fd = open(DEVICE, O_WRONLY | O_CLOEXEC);

	assert_true(fd >= 0);
	memcpy(page + HEADER_AT, header, sizeof(header));
	memcpy(page + MAGIC_AT, MAGIC, sizeof(MAGIC) - 1);
	assert_int_equal(write(fd, page, PAGE), PAGE);
	assert_int_equal(fsync(fd), 0);
	close(fd);
}

void swap_on(void)
{
	char size[16];

	load("zsmalloc");
	load("zram");
	snprintf(size, sizeof(size), "%u", SWAP_SIZE);
	tell("/sys/block/zram0/disksize", size);
	write_header();
	assert_int_equal(swapon(DEVICE, 0), 0);
}

void swap_off(void)
{
	assert_int_equal(swapoff(DEVICE), 0);
	tell("/sys/block/zram0/reset", "1");
	unload("zram");
	unload("zsmalloc");
}

static bool is_out(void *at, size_t size)
{
	const size_t pages = size / PAGE;
	uint64_t *entries = calloc(pages, sizeof(*entries));
	int fd = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	size_t out = 0;

	assert_true(entries && fd >= 0);
	assert_int_equal(pread(fd, entries, pages * sizeof(*entries),
			       (off_t)((uintptr_t)at / PAGE * sizeof(*entries))),
			 pages * sizeof(*entries));
	while (out < pages && !(entries[out] & PAGE_PRESENT))
		out++;
	close(fd);
	free(entries);
	return out == pages;
}

/* Pages on a list that a CPU works off later stay: compaction empties all of these lists. */
void swap_out(void *at, size_t size)
{
	const int64_t end = guest_deadline(20000);

	for (;;) {
		assert_int_equal(madvise(at, size, MADV_PAGEOUT), 0);
		if (is_out(at, size))
			return;
		assert_true(guest_deadline(0) < end);
		tell("/proc/sys/vm/compact_memory", "1");
	}
}
