// SPDX-License-Identifier: MIT
/*
 * The memory that the guest, the GPUs' processes and the launcher share: the
 * guest's RAM and each GPU's BAR2, all sealed memfds, and the eventfds that carry
 * doorbells and interrupts.  The launcher keeps all of them open, so that it can
 * tell the guest when a GPU is gone.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "agate_bar2.h"
#include "vm_priv.h"

/* Sealed: no process can truncate it and so kill another process that maps it. */
static int sealed_memfd(const char *name, size_t size)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -1;
	if (ftruncate(fd, (off_t)size) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
		close(fd);
		return -1;
	}
	return fd;
}

static void write_header(void *bar2)
{
	const struct agate_bar2_header hdr = {
		.magic = AGATE_BAR2_MAGIC,
		.version = AGATE_BAR2_VERSION,
		.bar_size = AGATE_BAR2_SIZE,
		.sim_peer = VM_PEER_SIM,
		.ctrl_offset = AGATE_BAR2_CTRL,
		.queue_offset = AGATE_BAR2_QUEUE,
		.queue_len = AGATE_BAR2_QUEUE_LEN,
		.gsm_offset = AGATE_BAR2_GSM,
		.gsm_size = AGATE_BAR2_GSM_SIZE,
		.vram_offset = AGATE_BAR2_VRAM,
		.vram_size = AGATE_BAR2_VRAM_SIZE,
	};

	memcpy(bar2, &hdr, sizeof(hdr));
}

/* The GPU's process and QEMU share these; non-blocking, as QEMU makes them anyway. */
static bool make_eventfds(struct vm_gpu *gpu)
{
	gpu->doorbell = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (gpu->doorbell < 0)
		return false;
	for (int i = 0; i < VM_VECTORS; i++) {
		gpu->vectors[i] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (gpu->vectors[i] < 0)
			return false;
	}
	return true;
}

static enum vm_status init_gpu(struct vm_gpu *gpu)
{
	gpu->bar2_fd = sealed_memfd("agate-bar2", AGATE_BAR2_SIZE);
	if (gpu->bar2_fd < 0)
		return vm_fail(gpu->vm, VM_HOST, "BAR2: %s", strerror(errno));
	gpu->bar2 = mmap(NULL, AGATE_BAR2_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED,
			 gpu->bar2_fd, 0);
	if (gpu->bar2 == MAP_FAILED) {
		gpu->bar2 = NULL;
		return vm_fail(gpu->vm, VM_HOST, "BAR2: %s", strerror(errno));
	}
	write_header(gpu->bar2);
	if (!make_eventfds(gpu))
		return vm_fail(gpu->vm, VM_HOST, "eventfd: %s", strerror(errno));
	return VM_OK;
}

enum vm_status vm_memory_init(struct vm *vm)
{
	enum vm_status st = VM_OK;

	vm->ram_fd = sealed_memfd("agate-ram", (size_t)vm->ram_mib << 20);
	if (vm->ram_fd < 0)
		return vm_fail(vm, VM_HOST, "%u MiB of guest RAM: %s", vm->ram_mib,
			       strerror(errno));
	for (unsigned int n = 0; st == VM_OK && n < vm->gpus; n++)
		st = init_gpu(&vm->gpu[n]);
	return st;
}

void vm_search(const struct vm *vm, const void *begin, size_t len,
	       void (*found)(void *arg, const void *page), void *arg)
{
	size_t size = (size_t)vm->ram_mib << 20;
	off_t at = 0;
	char *ram = mmap(NULL, size, PROT_READ, MAP_SHARED, vm->ram_fd, 0);

	if (ram == MAP_FAILED)
		return;
	/* Pages that the guest has never used are holes. */
	while ((at = lseek(vm->ram_fd, at, SEEK_DATA)) >= 0) {
		off_t hole = lseek(vm->ram_fd, at, SEEK_HOLE);

		if (hole < 0)
			break;
		for (; at < hole; at += VM_PAGE)
			if (!memcmp(ram + at, begin, len))
				found(arg, ram + at);
	}
	munmap(ram, size);
}

/*
 * Tells the guest whether there is a GPU behind BAR2.  When the GPU is gone it
 * signals every vector, so that a driver that waits for an interrupt reads the
 * alive word.
 */
void vm_memory_set_alive(struct vm_gpu *gpu, bool alive)
{
	struct agate_bar2_ctrl *ctrl = (void *)((char *)gpu->bar2 + AGATE_BAR2_CTRL);

	__atomic_store_n(&ctrl->alive, alive ? 1u : 0u, __ATOMIC_SEQ_CST);
	for (int i = 0; i < VM_VECTORS && !alive; i++)
		eventfd_write(gpu->vectors[i], 1);
}

static void fini_gpu(struct vm_gpu *gpu)
{
	if (gpu->bar2)
		munmap(gpu->bar2, AGATE_BAR2_SIZE);
	gpu->bar2 = NULL;
	vm_close(&gpu->bar2_fd);
	vm_close(&gpu->doorbell);
	for (int i = 0; i < VM_VECTORS; i++)
		vm_close(&gpu->vectors[i]);
}

void vm_memory_fini(struct vm *vm)
{
	for (unsigned int n = 0; n < vm->gpus; n++)
		fini_gpu(&vm->gpu[n]);
	vm_close(&vm->ram_fd);
}
