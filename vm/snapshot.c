// SPDX-License-Identifier: MIT
/*
 * The snapshot file: a header page, QEMU's device state, which QEMU writes and reads itself at
 * the file's position, pages of the guest's RAM, and the number of each of them.  The launcher
 * names the file only when it is complete.
 *
 * The snapshot of a boot has the pages that are not zero.  That of a guest that was prepared
 * afterwards has the pages that are not as in the boot's, and is loaded after it.
 *
 * The header has checksums of both parts: a guest restored from damaged memory may run
 * for a while before it fails, and the program in it would get the blame.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include "vm_priv.h"

#define RUN_MAX		256u	/* pages */

struct header {
	char magic[8];
	uint64_t ram_size;
	uint64_t state_end;
	uint64_t page_count;
	uint64_t ram_sum;
	uint64_t state_sum;
};

static uint64_t pages_at(const struct header *hdr)
{
	return (hdr->state_end + VM_PAGE - 1) / VM_PAGE * VM_PAGE;
}

static uint64_t numbers_at(const struct header *hdr)
{
	return pages_at(hdr) + hdr->page_count * VM_PAGE;
}

static uint64_t file_size(const struct header *hdr)
{
	return numbers_at(hdr) + hdr->page_count * sizeof(uint32_t);
}

/* This detects damage, not adversaries. */
static uint64_t sum(uint64_t seed, const char *data, size_t len)
{
	return XXH3_64bits_withSeed(data, len, seed);
}

/*
 * Creates a file without a name yet, positioned where QEMU has to write the state; -1
 * with errno.
 */
int vm_snapshot_create(int dir_fd)
{
	int file = vm_cache_create(dir_fd);

	if (file >= 0 && lseek(file, VM_PAGE, SEEK_SET) != VM_PAGE)
		vm_close(&file);
	return file;
}

static bool pwrite_all(int fd, const void *data, size_t len, uint64_t at)
{
	const char *p = data;

	while (len) {
		ssize_t n = pwrite(fd, p, len, (off_t)at);

		if (n <= 0)
			return false;
		p += n;
		at += (uint64_t)n;
		len -= (size_t)n;
	}
	return true;
}

/* Writes the pages of @ram that are not as in @old, and their numbers, and counts and sums them. */
static bool save_ram(int file, struct header *hdr, const char *ram, const char *const *old)
{
	static const char zeros[VM_PAGE];
	uint32_t *numbers = malloc(hdr->ram_size / VM_PAGE * sizeof(*numbers));
	bool ok = numbers;

	for (uint32_t i = 0; ok && i < hdr->ram_size / VM_PAGE; i++) {
		const char *page = ram + (size_t)i * VM_PAGE;

		if (!memcmp(page, old[i] ? old[i] : zeros, VM_PAGE))
			continue;
		ok = pwrite_all(file, page, VM_PAGE, numbers_at(hdr));
		hdr->ram_sum += sum(i + 1, page, VM_PAGE);
		numbers[hdr->page_count++] = i;
	}
	ok = ok && pwrite_all(file, numbers, hdr->page_count * sizeof(*numbers), numbers_at(hdr));
	free(numbers);
	return ok;
}

static bool sum_state(int file, const struct header *hdr, uint64_t *total)
{
	char *map = mmap(NULL, hdr->state_end, PROT_READ, MAP_PRIVATE, file, 0);

	if (map == MAP_FAILED)
		return false;
	*total = sum(0, map + VM_PAGE, hdr->state_end - VM_PAGE);
	munmap(map, hdr->state_end);
	return true;
}

static bool read_header(const struct vm *vm, int file, struct header *hdr)
{
	const uint64_t size = (uint64_t)vm->ram_mib << 20;
	struct stat sb;

	return pread(file, hdr, sizeof(*hdr), 0) == sizeof(*hdr) && !fstat(file, &sb) &&
	       !memcmp(hdr->magic, VM_SNAPSHOT_MAGIC, sizeof(hdr->magic)) &&
	       hdr->ram_size == size && hdr->page_count <= size / VM_PAGE &&
	       hdr->state_end > VM_PAGE && hdr->state_end <= (uint64_t)sb.st_size &&
	       file_size(hdr) == (uint64_t)sb.st_size;
}

bool vm_snapshot_whole(const struct vm *vm, int file)
{
	struct header hdr;

	return read_header(vm, file, &hdr);
}

static char *map_file(int file, const struct header *hdr)
{
	char *map = mmap(NULL, file_size(hdr), PROT_READ, MAP_PRIVATE, file, 0);

	return map == MAP_FAILED ? NULL : map;
}

static const uint32_t *numbers_in(const struct header *hdr, const char *map)
{
	return (const uint32_t *)(map + numbers_at(hdr));
}

/* How many pages from the first of @numbers on follow one another. */
static size_t run(const uint32_t *numbers, size_t count)
{
	size_t n = 1;

	while (n < count && n < RUN_MAX && numbers[n] == numbers[0] + n)
		n++;
	return n;
}

/* Writes the file's pages into RAM, a run at a time, and sums them. */
static bool load_ram(const struct header *hdr, const char *map, int ram_fd, uint64_t *total)
{
	const uint32_t *numbers = numbers_in(hdr, map);
	const char *pages = map + pages_at(hdr);
	bool ok = true;
	size_t n;

	*total = 0;
	for (size_t i = 0; ok && i < hdr->page_count; i += n) {
		n = run(numbers + i, hdr->page_count - i);
		if (numbers[i] + n > hdr->ram_size / VM_PAGE)
			break;
		for (size_t k = i; k < i + n; k++)
			*total += sum(numbers[k] + 1, pages + k * VM_PAGE, VM_PAGE);
		ok = pwrite_all(ram_fd, pages + i * VM_PAGE, n * VM_PAGE, (uint64_t)numbers[i] * VM_PAGE);
	}
	return ok;
}

static enum vm_status damaged(struct vm *vm, int file)
{
	vm->bad_snapshot = file;
	return vm_fail(vm, VM_HOST, "the snapshot in the cache is damaged");
}

/* Changes RAM as the snapshot has it, and leaves @file where QEMU has to read the state. */
enum vm_status vm_snapshot_load(struct vm *vm, int file)
{
	uint64_t ram_sum = 0, state_sum = 0;
	struct header hdr;
	char *map;
	bool ok;

	if (!read_header(vm, file, &hdr))
		return damaged(vm, file);
	map = map_file(file, &hdr);
	ok = map && load_ram(&hdr, map, vm->ram_fd, &ram_sum) &&
	     sum_state(file, &hdr, &state_sum) && lseek(file, VM_PAGE, SEEK_SET) == VM_PAGE;
	if (map)
		munmap(map, file_size(&hdr));
	if (!ok)
		return vm_fail(vm, VM_HOST, "loading the snapshot: %s", strerror(errno));
	if (ram_sum == hdr.ram_sum && state_sum == hdr.state_sum)
		return VM_OK;
	return damaged(vm, file);
}

/* Where the pages of @map are, by their numbers; false: it has numbers that do not exist. */
static bool find_pages(const struct header *hdr, const char *map, const char **pages)
{
	for (size_t i = 0; i < hdr->page_count; i++) {
		uint32_t number = numbers_in(hdr, map)[i];

		if (number >= hdr->ram_size / VM_PAGE)
			return false;
		pages[number] = map + pages_at(hdr) + i * VM_PAGE;
	}
	return true;
}

/* Saves the pages that are not as in the snapshot @base, from which this guest was restored. */
static enum vm_status save_changes(struct vm *vm, int file, struct header *hdr, const char *ram,
				   int base)
{
	const char **old = calloc(hdr->ram_size / VM_PAGE, sizeof(*old));
	struct header was = { .page_count = 0 };
	enum vm_status st = VM_OK;
	char *map = NULL;

	if (base >= 0 && !read_header(vm, base, &was))
		st = damaged(vm, base);
	else if (base >= 0)
		map = map_file(base, &was);
	if (st == VM_OK && old && map && !find_pages(&was, map, old))
		st = damaged(vm, base);
	if (st == VM_OK && (!old || (base >= 0 && !map) || !save_ram(file, hdr, ram, old)))
		st = vm_fail(vm, VM_HOST, "snapshot: %s", strerror(errno));
	if (map)
		munmap(map, file_size(&was));
	free(old);
	return st;
}

/*
 * Adds RAM, as it differs from the snapshot @base (-1: none), and names the file, after QEMU has
 * stopped the guest and written the state.
 */
enum vm_status vm_snapshot_finish(struct vm *vm, int file, int base, int dir_fd, const char *name)
{
	struct header hdr = { .magic = VM_SNAPSHOT_MAGIC,
			      .ram_size = (uint64_t)vm->ram_mib << 20 };
	enum vm_status st;
	struct stat sb;
	char *ram;

	if (fstat(file, &sb))
		return vm_fail(vm, VM_HOST, "snapshot: %s", strerror(errno));
	hdr.state_end = (uint64_t)sb.st_size;
	ram = mmap(NULL, hdr.ram_size, PROT_READ, MAP_SHARED, vm->ram_fd, 0);
	if (ram == MAP_FAILED)
		return vm_fail(vm, VM_HOST, "snapshot: %s", strerror(errno));
	st = save_changes(vm, file, &hdr, ram, base);
	if (st == VM_OK && (!sum_state(file, &hdr, &hdr.state_sum) ||
			    !pwrite_all(file, &hdr, sizeof(hdr), 0) ||
			    !vm_cache_publish(file, dir_fd, name)))
		st = vm_fail(vm, VM_HOST, "snapshot: %s", strerror(errno));
	munmap(ram, hdr.ram_size);
	return st;
}
