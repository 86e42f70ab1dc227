// SPDX-License-Identifier: MIT
/* The VMAs as no process sees them, and ranges that no MMAP_BO made: ../kmod/mapped.h. */
#include "maps.h"

#include "../kmod/foreign.h"

#include <fcntl.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

static int open_file(const char *name)
{
	char path[64];
	int file;

	snprintf(path, sizeof(path), "/sys/kernel/debug/%s", name);
	file = inject_open(path, O_RDWR);
	assert_true(file >= 0);
	return file;
}

uint64_t range_of_newest(void)
{
	int file = open_file("agate_mapped");
	uint64_t offset = 0;

	assert_int_equal(guest_ioctl(file, MAPPED_RANGE, &offset), 0);
	close(file);
	return offset;
}

static struct mapped_vma look_at(int file, const void *cpu)
{
	struct mapped_vma vma = { .address = (uintptr_t)cpu };

	assert_int_equal(guest_ioctl(file, MAPPED_LOOK, &vma), 0);
	return vma;
}

void check_plain(const void *cpu)
{
	int file = open_file("agate_mapped");
	struct mapped_vma vma = look_at(file, cpu);

	close(file);
	rule("vm_page_prot is vm_get_page_prot(vm_flags), with no other caching");
	check_true(!vma.own_caching, "vm_page_prot with the caching of vm_get_page_prot()",
		   "vm_page_prot with other caching");
}

int watch_filling(enum mapped_by by)
{
	int file = open_file("agate_mapped");

	assert_int_equal(ioctl(file, MAPPED_WATCH, by), 0);
	return file;
}

void check_filled(int file, const void *cpu, bool foreign)
{
	struct mapped_vma vma = look_at(file, cpu);
	char wanted[96];

	close(file);
	rule("the mmap() of a backing is called once for each mapping");
	check_equal(vma.filled, 1, "calls of the backing's mmap(), for one mapping");
	rule("vm_page_prot is vm_get_page_prot(vm_flags) before the backing maps anything");
	check_true(!vma.wrong, "vm_page_prot is vm_get_page_prot(vm_flags) in the backing's mmap()",
		   "another vm_page_prot");
	rule("whether a FOREIGN mapping has VM_PFNMAP (pf) is the other driver's business");
	check_true(!foreign || !vma.pfnmap, "a VMA without VM_PFNMAP (pf) in the other driver's mmap()",
		   "one that had it");
	rule("what the backing's mmap() has set in the VMA stays: vm_page_prot comes before it");
	snprintf(wanted, sizeof(wanted), "the vm_page_prot that %s has set in mmap()",
		 foreign ? "the other driver" : "the backing");
	check_true(vma.own_caching, wanted, "a vm_page_prot that was set afterwards");
}

int own_backing(void)
{
	return open_file("agate_backing");
}

void check_called(int file)
{
	unsigned int counts[6];
	char text[128] = "";

	assert_true(pread(file, text, sizeof(text) - 1, 0) > 0);
	assert_int_equal(sscanf(text, "%u %u %u %u %u %u", &counts[0], &counts[1], &counts[2],
				&counts[3], &counts[4], &counts[5]), 6);
	rule("whoever calls a backing's mmap() holds no lock from backing.lock on");
	check_equal(counts[4], 0, "calls of mmap() with backing.lock taken");
	rule("the flags of a VMA and its vm_page_prot are set before the backing's mmap() is called");
	check_equal(counts[5], 0, "calls of mmap() for a VMA that was not ready");
}

int read_only_dmabuf(void)
{
	struct foreign_make make = { .kind = FOREIGN_SCATTERED, .flags = FOREIGN_READ };
	int file = open_file("agate_foreign");

	assert_int_equal(guest_ioctl(file, FOREIGN_MAKE, &make), 0);
	close(file);
	return make.fd;
}
