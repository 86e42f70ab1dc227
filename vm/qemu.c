// SPDX-License-Identifier: MIT
/*
 * QEMU: its command line, and why it exited.
 *
 * The machine is the same whether it boots or is restored; only then can device
 * state be loaded.  Two CPUs with thread=multi, because with one CPU QEMU leaves
 * out the fences on which the register queue relies; `pc`, because its root bus
 * takes hot-plug; a fixed CPU model, so that a snapshot means the same everywhere.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

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
		VM_QEMU, "-nodefaults", "-no-user-config", "-nic", "none", "-display", "none",
		"-no-reboot", "-M", VM_MACHINE, "-smp", "2", "-sandbox",
		"on,obsolete=deny,elevateprivileges=deny,spawn=deny,resourcecontrol=deny", NULL
	};

	add_words(a, fixed);
	add(a, "-cpu");
	add(a, "%s", VM_CPU);
	add(a, "-accel");
	add(a, "%s", vm->kvm ? "kvm" : "tcg,thread=multi");
	add(a, "-m");
	add(a, "%uM", vm->ram_mib);
	add(a, "-object");
	add(a, "memory-backend-file,id=ram,size=%uM,mem-path=/proc/self/fd/%d,share=on",
	    vm->ram_mib, vm->ram_fd);
	add(a, "-kernel");
	add(a, "%s/bzImage", vm->cfg.kernel_dir);
	add(a, "-initrd");
	add(a, "%s", vm->cfg.initramfs);
	add(a, "-append");
	add(a, "%s%s%s", VM_CMDLINE, vm->cfg.append ? " " : "",
	    vm->cfg.append ? vm->cfg.append : "");
}

static void add_channels(struct args *a, const struct vm *vm)
{
	add(a, "-chardev");
	add(a, "socket,id=qmp,fd=%d", vm->qmp.qemu_fd);
	add(a, "-mon");
	add(a, "chardev=qmp,mode=control");
	add(a, "-chardev");
	add(a, "socket,id=console,fd=%d", vm->console_qemu_fd);
	add(a, "-serial");
	add(a, "chardev:console");
	add(a, "-chardev");
	add(a, "socket,id=ctl,fd=%d", vm->ctl.qemu_fd);
	add(a, "-device");
	add(a, "virtio-serial-pci,id=serial,max_ports=4");
	add(a, "-device");
	add(a, "virtserialport,bus=serial.0,nr=1,chardev=ctl,name=%s", CTL_PORT);
	if (vm->ivshmem_qemu_fd >= 0) {
		add(a, "-chardev");
		add(a, "socket,id=gpu,fd=%d", vm->ivshmem_qemu_fd);
	}
}

static bool open_channels(struct vm *vm)
{
	vm->qemu_stderr = memfd_create("qemu-stderr", MFD_CLOEXEC);
	if (vm->qemu_stderr < 0 ||
	    !vm_socketpair(&vm->qmp.fd, &vm->qmp.qemu_fd) ||
	    !vm_socketpair(&vm->console_fd, &vm->console_qemu_fd) ||
	    !vm_socketpair(&vm->ctl.fd, &vm->ctl.qemu_fd))
		return false;
	return !vm->cfg.sim || vm_socketpair(&vm->ivshmem_fd, &vm->ivshmem_qemu_fd);
}

/*
 * @incoming: wait for a state to load instead of booting
 * @gpu: plug the GPU in from the start
 */
enum vm_status vm_qemu_start(struct vm *vm, bool incoming, bool gpu)
{
	struct args a = { .n = 0 };
	enum vm_status st = VM_OK;
	int fds[5];
	size_t n = 0;

	if (!open_channels(vm))
		return vm_fail(vm, VM_HOST, "sockets: %s", strerror(errno));
	if (vm->cfg.sim)
		st = vm_ivshmem_serve(vm);
	if (st != VM_OK)
		return st;
	add_machine(&a, vm);
	add_channels(&a, vm);
	if (incoming) {
		add(&a, "-incoming");
		add(&a, "defer");
	}
	if (!incoming && vm->cfg.gdb_wait)
		add(&a, "-S");
	if (gpu) {
		add(&a, "-device");
		add(&a, "ivshmem-doorbell,id=gpu,chardev=gpu,vectors=%d", VM_VECTORS);
	}
	fds[n++] = vm->ram_fd;
	fds[n++] = vm->qmp.qemu_fd;
	fds[n++] = vm->console_qemu_fd;
	fds[n++] = vm->ctl.qemu_fd;
	if (vm->ivshmem_qemu_fd >= 0)
		fds[n++] = vm->ivshmem_qemu_fd;
	if (a.failed)
		st = vm_fail(vm, VM_HOST, "out of memory");
	else if (!vm_proc_start(&vm->qemu, (const char *const *)a.v, fds, n, vm->qemu_stderr))
		st = vm_fail(vm, VM_HOST, "%s: %s", VM_QEMU, strerror(errno));
	while (a.n)
		free(a.v[--a.n]);
	/* The descriptors that only QEMU holds are closed when QEMU exits. */
	vm_close(&vm->qmp.qemu_fd);
	vm_close(&vm->console_qemu_fd);
	vm_close(&vm->ctl.qemu_fd);
	vm_close(&vm->ivshmem_qemu_fd);
	return st;
}

/*
 * Why QEMU exited, in its own words: its first line that is not a warning.  The lines
 * after it report consequences ("load of migration failed").  False when there is none.
 */
static bool read_stderr(const struct vm *vm, char *text, size_t size)
{
	static const char self[] = VM_QEMU ": ", warning[] = "warning: ";
	int fd = fcntl(vm->qemu_stderr, F_DUPFD_CLOEXEC, 3);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char *line = NULL, *words = NULL;
	size_t room = 0;

	text[0] = '\0';
	if (f)
		rewind(f);
	while (f && !words && getline(&line, &room, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		words = line + (strncmp(line, self, sizeof(self) - 1) ? 0 : sizeof(self) - 1);
		if (!*words || !strncmp(words, warning, sizeof(warning) - 1))
			words = NULL;
	}
	if (words)
		snprintf(text, size, "%s", words);
	free(line);
	if (f)
		fclose(f);
	else if (fd >= 0)
		close(fd);
	return words;
}

/* Did QEMU give up because the machine refused it something? */
static bool lacks_something(const char *words)
{
	static const char *const lacks[] = {
		"annot allocate", "failed to allocate", "ut of memory", "temporarily unavailable",
		"No space left", "Too many open files", "not permitted", "ermission denied",
	};

	for (size_t i = 0; i < sizeof(lacks) / sizeof(lacks[0]); i++)
		if (strstr(words, lacks[i]))
			return true;
	return false;
}

/*
 * An abort with words ("qemu: fatal: invalid tss" when it cannot run the guest's code any
 * further) or a fault of QEMU's own may be the work of code in the guest.
 */
static void note_guest_did(struct vm *vm, int status, const char *words)
{
	static const char fatal[] = "qemu: fatal: ";
	int sig = WIFSIGNALED(status) ? WTERMSIG(status) : 0;

	vm->guest_did[0] = '\0';
	if (sig == SIGABRT && !strncmp(words, fatal, sizeof(fatal) - 1))
		snprintf(vm->guest_did, sizeof(vm->guest_did),
			 "stopped the virtual processor: %.120s", words + sizeof(fatal) - 1);
	else if (sig == SIGABRT && *words && !lacks_something(words))
		snprintf(vm->guest_did, sizeof(vm->guest_did), "ended the VM: %.120s", words);
	else if (sig == SIGSEGV || sig == SIGILL || sig == SIGFPE)
		snprintf(vm->guest_did, sizeof(vm->guest_did), "ended the VM: QEMU got signal %d",
			 sig);
}

const char *vm_guest_did(const struct vm *vm)
{
	return vm->guest_did[0] ? vm->guest_did : NULL;
}

uint64_t vm_qemu_ran(const struct vm *vm)
{
	struct timespec ran;
	clockid_t clock;

	if (!vm->qemu.pid || clock_getcpuclockid(vm->qemu.pid, &clock) ||
	    clock_gettime(clock, &ran))
		return 0;
	return (uint64_t)ran.tv_sec * 1000000000u + (uint64_t)ran.tv_nsec;
}

void vm_qemu_stuck(struct vm *vm, uint64_t ns, uint64_t ran)
{
	/* A QEMU that was stopped, or waits for a disk, uses no processor. */
	if (ran > ns / 2)
		snprintf(vm->guest_did, sizeof(vm->guest_did),
			 "keeps the VM so busy that it does not answer any more");
}

/* Finds out why QEMU exited; its channels have been read to their end. */
enum vm_status vm_qemu_gone(struct vm *vm)
{
	int status = vm->qemu.status;
	char text[256];
	bool said;

	if (vm->qmp.panicked_reset)
		return vm_fail(vm, VM_CRASHED, "the guest's kernel panicked or reset");
	if (vm->qmp.guest_shutdown)
		return vm_fail(vm, VM_POWEROFF, "the guest powered off");
	said = read_stderr(vm, text, sizeof(text));
	note_guest_did(vm, status, text);
	if (WIFSIGNALED(status))
		return vm_fail(vm, VM_LOST, "QEMU was ended by signal %d%s%s", WTERMSIG(status),
			       said ? ": " : "", text);
	return vm_fail(vm, VM_LOST, "QEMU ended with status %d: %s", WEXITSTATUS(status),
		       said ? text : "it did not say why");
}
