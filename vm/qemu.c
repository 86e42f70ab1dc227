// SPDX-License-Identifier: MIT
/*
 * QEMU: its command line, its channels, and its start.
 *
 * The machine is the same whether it boots or is restored, because otherwise device state
 * could not be loaded; only the kernel is not given to one that is restored.  Two CPUs with
 * thread=multi, because with one CPU QEMU leaves out the fences on which the register queue relies.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "vm_priv.h"

#define ARGS_MAX	80

struct args {
	char *v[ARGS_MAX];
	size_t n;
	bool failed;
};

static void add(struct args *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void add(struct args *a, const char *fmt, ...)
{
	va_list ap;
	char *s;

	va_start(ap, fmt);
	if (a->n == ARGS_MAX - 1 || vasprintf(&s, fmt, ap) < 0)
		a->failed = true;
	else
		a->v[a->n++] = s;
	va_end(ap);
}

static void add_words(struct args *a, const char *const *words)
{
	for (; *words; words++)
		add(a, "%s", *words);
}

static void add_machine(struct args *a, const struct vm *vm)
{
	static const char *const fixed[] = {
		"-nodefaults", "-no-user-config", "-nic", "none", "-display", "none",
		"-no-reboot", "-smp", "2", "-sandbox",
		"on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny", NULL
	};

	add(a, "%s", vm_arch.qemu);
	add_words(a, fixed);
	add(a, "-M");
	add(a, "%s", vm_arch.machine);
	add(a, "-global");
	add(a, "%s", vm_arch.global);
	add(a, "-cpu");
	add(a, "%s", vm_arch.cpu);
	add(a, "-accel");
	add(a, "%s", vm->kvm ? "kvm" : "tcg,thread=multi");
	add(a, "-m");
	add(a, "%uM", vm->ram_mib);
	add(a, "-object");
	add(a, "memory-backend-file,id=ram,size=%uM,mem-path=/proc/self/fd/%d,share=on",
	    vm->ram_mib, vm->ram_fd);
}

static void add_kernel(struct args *a, const struct vm *vm)
{
	add(a, "-kernel");
	add(a, "%s/%s", vm->cfg.kernel_dir, vm_arch.kernel);
	add(a, "-initrd");
	add(a, "%s", vm->cfg.initramfs);
	add(a, "-append");
	add(a, "%s%s%s", vm_arch.cmdline, vm->cfg.append ? " " : "",
	    vm->cfg.append ? vm->cfg.append : "");
}

static void add_channels(struct args *a, const struct vm *vm)
{
	add(a, "-chardev");
	add(a, "socket,id=qmp,fd=%d", vm->qmp.qemu_fd);
	add(a, "-mon");
	add(a, "chardev=qmp,mode=control");
	add(a, "-chardev");
	add(a, "socket,id=console,fd=%d", vm->console.qemu_fd);
	add(a, "-serial");
	add(a, "chardev:console");
	add(a, "-chardev");
	add(a, "socket,id=ctl,fd=%d", vm->ctl.qemu_fd);
	add(a, "-device");
	add(a, "%s", vm_arch.serial);
	add(a, "-device");
	add(a, "virtserialport,bus=serial.0,nr=1,chardev=ctl,name=%s", CTL_PORT);
}

static void add_gpu(struct args *a, const struct vm_gpu *gpu)
{
	add(a, "-chardev");
	add(a, "socket,id=gpu%u,fd=%d", gpu->number, gpu->ivshmem_qemu_fd);
	add(a, "-device");
	add(a, "%s,id=gpu%u,chardev=gpu%u,vectors=%d", vm_arch.gpu, gpu->number, gpu->number,
	    VM_VECTORS);
}

static bool open_channels(struct vm *vm)
{
	vm->qemu_stderr = memfd_create("qemu-stderr", MFD_CLOEXEC);
	if (vm->qemu_stderr < 0 || !vm_console_open(vm) || !vm_qmp_open(vm) || !vm_ctl_open(vm))
		return false;
	for (unsigned int i = 0; i < vm->gpus; i++)
		if (!vm_socketpair(&vm->gpu[i].ivshmem_fd, &vm->gpu[i].ivshmem_qemu_fd))
			return false;
	return true;
}

/* Closes the descriptors that only QEMU holds from then on: they go when it exits. */
static void close_qemu_ends(struct vm *vm)
{
	vm_close(&vm->qmp.qemu_fd);
	vm_close(&vm->console.qemu_fd);
	vm_close(&vm->ctl.qemu_fd);
	for (unsigned int i = 0; i < vm->gpus; i++)
		vm_close(&vm->gpu[i].ivshmem_qemu_fd);
}

/* @incoming: wait for a state to load instead of booting */
enum vm_status vm_qemu_start(struct vm *vm, bool incoming)
{
	struct args a = { .n = 0 };
	enum vm_status st = VM_OK;
	int fds[4 + VM_GPUS_MAX];
	size_t n = 0;

	if (!open_channels(vm))
		return vm_fail(vm, VM_HOST, "sockets: %s", strerror(errno));
	for (unsigned int i = 0; st == VM_OK && i < vm->gpus; i++)
		st = vm_ivshmem_serve(&vm->gpu[i]);
	if (st != VM_OK)
		return st;
	add_machine(&a, vm);
	add_channels(&a, vm);
	/* A guest that is restored has its kernel in memory already. */
	if (incoming) {
		add(&a, "-incoming");
		add(&a, "defer");
	} else {
		add_kernel(&a, vm);
	}
	if (!incoming && vm->cfg.gdb_wait)
		add(&a, "-S");
	fds[n++] = vm->ram_fd;
	fds[n++] = vm->qmp.qemu_fd;
	fds[n++] = vm->console.qemu_fd;
	fds[n++] = vm->ctl.qemu_fd;
	for (unsigned int i = 0; i < vm->gpus; i++) {
		add_gpu(&a, &vm->gpu[i]);
		fds[n++] = vm->gpu[i].ivshmem_qemu_fd;
	}
	if (a.failed)
		st = vm_fail(vm, VM_HOST, "out of memory");
	else if (!vm_proc_start(&vm->qemu, (const char *const *)a.v, fds, n, vm->qemu_stderr,
				(struct vm_policy){ .realtime = vm->cfg.realtime }))
		st = vm_fail(vm, VM_HOST, "%s: %s", vm_arch.qemu, strerror(errno));
	else
		vm_qemu_watch(vm);
	while (a.n)
		free(a.v[--a.n]);
	close_qemu_ends(vm);
	return st;
}
