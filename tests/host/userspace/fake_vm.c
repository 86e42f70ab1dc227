// SPDX-License-Identifier: MIT
/*
 * An address space of the fake is a flat table: a pointer for each page.
 */
#include "fake_vm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "fake_calls.h"

#define MAX_VMS		4
#define MAX_MAPS	4096
#define PAGE		4096ull
#define START		0x2000000ull
#define END		(START + (1ull << 30))
#define PAGES		((END - START) / PAGE)

struct page {
	char *memory;
	bool read_only;
};

struct map {
	void *memory;
	size_t size;
};

/* What was mapped for a binding stays until the address space goes. */
static struct vm {
	uint32_t flags;
	struct page *page;
	struct map map[MAX_MAPS];
	unsigned int maps;
} vms[MAX_VMS];

/* Names begin with 1. */
static struct vm *vm_of(uint32_t id)
{
	return id && id <= MAX_VMS && vms[id - 1].page ? &vms[id - 1] : NULL;
}

bool fake_vm_exists(uint32_t id)
{
	return vm_of(id) != NULL;
}

uint32_t fake_vm_flags(uint32_t id)
{
	return vm_of(id)->flags;
}

unsigned int fake_live_vms(void)
{
	unsigned int i, live = 0;

	for (i = 0; i < MAX_VMS; i++)
		live += vms[i].page != NULL;
	return live;
}

int fake_vm_create(struct drm_agate_vm_create *args)
{
	unsigned int i = 0;

	if (args->flags & ~(AGATE_VM_LONG_RUNNING | AGATE_VM_FAULT_MODE))
		return EINVAL;
	while (i < MAX_VMS && vms[i].page)
		i++;
	if (i == MAX_VMS)
		return ENOMEM;
	vms[i].page = calloc(PAGES, sizeof(*vms[i].page));
	if (!vms[i].page)
		abort();
	vms[i].flags = args->flags;
	args->vm_id = i + 1;
	args->va_start = START;
	args->va_end = END;
	return 0;
}

static void vm_free(struct vm *vm)
{
	while (vm->maps--)
		__real_munmap(vm->map[vm->maps].memory, vm->map[vm->maps].size);
	free(vm->page);
	memset(vm, 0, sizeof(*vm));
}

int fake_vm_destroy(const struct drm_agate_vm_destroy *args)
{
	struct vm *vm = vm_of(args->vm_id);

	if (args->pad)
		return EINVAL;
	if (!vm)
		return ENOENT;
	vm_free(vm);
	return 0;
}

void fake_vms_reset(void)
{
	unsigned int i;

	for (i = 0; i < MAX_VMS; i++) {
		if (vms[i].page)
			vm_free(&vms[i]);
	}
}

static char *map_bo(struct vm *vm, const struct drm_agate_vm_bind *args, int memfd)
{
	struct map *map = &vm->map[vm->maps++];

	if (vm->maps == MAX_MAPS)
		abort();
	map->size = args->range;
	map->memory = __real_mmap(NULL, map->size, PROT_READ | PROT_WRITE, MAP_SHARED, memfd,
				  (off_t)args->offset);
	if (map->memory == MAP_FAILED)
		abort();
	return map->memory;
}

int fake_vm_bind(const struct drm_agate_vm_bind *args, int memfd)
{
	struct vm *vm = vm_of(args->vm_id);
	char *memory = NULL;
	uint64_t i;

	if (!vm)
		return ENOENT;
	if (!args->range || (args->addr | args->range | args->offset) % PAGE ||
	    args->addr < START || args->addr >= END || args->range > END - args->addr)
		return EINVAL;
	if (memfd >= 0)
		memory = map_bo(vm, args, memfd);
	else if (args->flags & AGATE_VM_BIND_USERPTR)
		memory = (char *)(uintptr_t)args->offset;
	for (i = 0; i < args->range / PAGE; i++) {
		vm->page[(args->addr - START) / PAGE + i] = (struct page){
			.memory = memory ? memory + i * PAGE : NULL,
			.read_only = args->flags & AGATE_VM_BIND_READONLY,
		};
	}
	return 0;
}

void *fake_vm_memory(uint32_t id, uint64_t va, size_t len, bool write)
{
	const struct vm *vm = vm_of(id);
	uint64_t first = (va - START) / PAGE, last = (va + len - 1 - START) / PAGE, i;

	if (!vm || va < START || va >= END || len > END - va)
		return NULL;
	for (i = first; i <= last; i++) {
		const struct page *page = &vm->page[i];

		if (!page->memory || (write && page->read_only))
			return NULL;
		if (page->memory != vm->page[first].memory + (i - first) * PAGE)
			return NULL;
	}
	return vm->page[first].memory + va % PAGE;
}
