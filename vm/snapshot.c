// SPDX-License-Identifier: MIT
/*
 * The snapshot file: a header page, the guest's RAM with holes where it is zero,
 * and then QEMU's device state, which QEMU writes and reads itself at the
 * file's position.  The launcher names the file only when it is complete.
 *
 * The header has checksums of both parts: a guest restored from damaged memory may run
 * for a while before it fails, and the program in it would get the blame.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>

#include "vm_priv.h"

#define PAGE		4096u
#define RUN_MAX		(1u << 20)

struct header {
	char magic[8];
	uint64_t ram_size;
	uint64_t file_size;
	uint64_t ram_sum;
	uint64_t state_sum;
};

/* This detects damage, not adversaries. */
static uint64_t sum(uint64_t seed, const char *data, size_t len)
{
	return XXH3_64bits_withSeed(data, len, seed);
}

/*
 * Creates a file without a name yet, positioned where QEMU has to write the state; -1
 * with errno.
 */
int vm_snapshot_create(struct vm *vm, int dir_fd)
{
	off_t state = PAGE + ((off_t)vm->ram_mib << 20);
	int file;

	file = vm_cache_create(dir_fd);
	if (file < 0)
		return -1;
	if (ftruncate(file, state) || lseek(file, state, SEEK_SET) != state) {
		close(file);
		return -1;
	}
	return file;
}

static bool pwrite_all(int fd, const char *p, size_t len, off_t at)
{
	while (len) {
		ssize_t n = pwrite(fd, p, len, at);

		if (n <= 0)
			return false;
		p += n;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

static bool is_zero(const char *page)
{
	return !page[0] && !memcmp(page, page + 1, PAGE - 1);
}

/* The sum of RAM covers the pages that are not zero, because a file system may fill in holes. */
static uint64_t sum_page(const char *page, size_t at)
{
	return is_zero(page) ? 0 : sum(at + 1, page, PAGE);
}

/* Writes the pages that are not zero, a run at a time. */
static bool save_ram(int file, const char *ram, size_t size, uint64_t *total)
{
	size_t run = 0;

	*total = 0;
	for (size_t at = 0; at <= size; at += PAGE) {
		bool data = at < size && !is_zero(ram + at);

		if (run && (!data || run >= RUN_MAX)) {
			if (!pwrite_all(file, ram + at - run, run, (off_t)(PAGE + at - run)))
				return false;
			run = 0;
		}
		if (data) {
			run += PAGE;
			*total += sum_page(ram + at, at);
		}
	}
	return true;
}

/* The sum of QEMU's part, from @from to the file's end. */
static bool sum_state(int file, size_t from, size_t file_size, uint64_t *total)
{
	char *map;

	if (file_size <= from)
		return false;
	map = mmap(NULL, file_size - from, PROT_READ, MAP_PRIVATE, file, (off_t)from);
	if (map == MAP_FAILED)
		return false;
	*total = sum(0, map, file_size - from);
	munmap(map, file_size - from);
	return true;
}

/* Adds RAM and names the file, after QEMU has stopped the guest and written the state. */
enum vm_status vm_snapshot_finish(struct vm *vm, int file, int dir_fd, const char *name)
{
	struct header hdr = { .magic = VM_SNAPSHOT_MAGIC,
			      .ram_size = (uint64_t)vm->ram_mib << 20 };
	struct stat sb;
	char *ram;
	bool ok;

	if (fstat(file, &sb))
		return vm_fail(vm, VM_HOST, "snapshot: %s", strerror(errno));
	hdr.file_size = (uint64_t)sb.st_size;
	ram = mmap(NULL, hdr.ram_size, PROT_READ, MAP_SHARED, vm->ram_fd, 0);
	if (ram == MAP_FAILED)
		return vm_fail(vm, VM_HOST, "snapshot: %s", strerror(errno));
	ok = save_ram(file, ram, hdr.ram_size, &hdr.ram_sum) &&
	     sum_state(file, PAGE + hdr.ram_size, hdr.file_size, &hdr.state_sum) &&
	     pwrite_all(file, (char *)&hdr, sizeof(hdr), 0) &&
	     vm_cache_publish(file, dir_fd, name);
	munmap(ram, hdr.ram_size);
	if (!ok)
		return vm_fail(vm, VM_HOST, "snapshot: %s", strerror(errno));
	return VM_OK;
}

/* Copies a part of the file that is not a hole, and adds it to the sum. */
static bool load_run(int ram_fd, const char *from, size_t len, size_t at, uint64_t *total)
{
	for (size_t done = 0; done < len; done += PAGE)
		*total += sum_page(from + done, at + done);
	return pwrite_all(ram_fd, from, len, (off_t)at);
}

/* Copies the parts of the file that are not holes; the memfd starts out zero. */
static bool load_ram(int file, int ram_fd, size_t size, uint64_t *total)
{
	off_t at = PAGE, end = (off_t)(PAGE + size), hole;
	char *map;
	bool ok = true;

	*total = 0;
	map = mmap(NULL, PAGE + size, PROT_READ, MAP_PRIVATE, file, 0);
	if (map == MAP_FAILED)
		return false;
	while (ok && at < end) {
		at = lseek(file, at, SEEK_DATA);
		if (at < 0)	/* ENXIO: only a hole from here on */
			ok = errno == ENXIO;
		if (at < 0 || at >= end)
			break;
		hole = lseek(file, at, SEEK_HOLE);
		if (hole < 0) {
			ok = false;
			break;
		}
		/* The file system's blocks may be smaller than a page. */
		at -= at % PAGE;
		hole += (PAGE - hole % PAGE) % PAGE;
		if (hole > end)
			hole = end;
		ok = load_run(ram_fd, map + at, (size_t)(hole - at), (size_t)at - PAGE, total);
		at = hole;
	}
	munmap(map, PAGE + size);
	return ok;
}

static bool read_header(const struct vm *vm, int file, struct header *hdr)
{
	struct stat sb;

	return pread(file, hdr, sizeof(*hdr), 0) == sizeof(*hdr) && !fstat(file, &sb) &&
	       !memcmp(hdr->magic, VM_SNAPSHOT_MAGIC, sizeof(hdr->magic)) &&
	       hdr->ram_size == (uint64_t)vm->ram_mib << 20 &&
	       hdr->file_size == (uint64_t)sb.st_size;
}

bool vm_snapshot_whole(const struct vm *vm, int file)
{
	struct header hdr;

	return read_header(vm, file, &hdr);
}

/* Fills RAM and leaves @file positioned where QEMU has to read the state. */
enum vm_status vm_snapshot_load(struct vm *vm, int file)
{
	size_t size = (size_t)vm->ram_mib << 20;
	uint64_t ram_sum, state_sum;
	struct header hdr;

	if (!load_ram(file, vm->ram_fd, size, &ram_sum))
		return vm_fail(vm, VM_HOST, "loading the snapshot: %s", strerror(errno));
	if (!read_header(vm, file, &hdr) || ram_sum != hdr.ram_sum ||
	    !sum_state(file, PAGE + size, hdr.file_size, &state_sum) ||
	    state_sum != hdr.state_sum) {
		vm->snapshot_bad = true;
		return vm_fail(vm, VM_HOST, "the snapshot in the cache is damaged");
	}
	if (lseek(file, (off_t)(PAGE + size), SEEK_SET) < 0)
		return vm_fail(vm, VM_HOST, "loading the snapshot: %s", strerror(errno));
	return VM_OK;
}
