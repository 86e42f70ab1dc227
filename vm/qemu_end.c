// SPDX-License-Identifier: MIT
/*
 * QEMU's end: noticing it, and finding out why it ended.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "vm_priv.h"

/* How long QEMU may take to exit after it has closed a channel. */
#define CLOSED_MS	5000u

/*
 * Why QEMU exited, in its own words: its first line that is not a warning.  The lines
 * after it report consequences ("load of migration failed").  False when there is none.
 */
static bool read_stderr(const struct vm *vm, char *text, size_t size)
{
	static const char warning[] = "warning: ";
	const size_t self = strlen(vm_arch.qemu);
	int fd = fcntl(vm->qemu_stderr, F_DUPFD_CLOEXEC, 3);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "r");
	char *line = NULL, *words = NULL;
	size_t room = 0;

	text[0] = '\0';
	if (f)
		rewind(f);
	while (f && !words && getline(&line, &room, f) > 0) {
		line[strcspn(line, "\n")] = '\0';
		words = line;
		if (!strncmp(words, vm_arch.qemu, self) && !strncmp(words + self, ": ", 2))
			words += self + 2;
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

/* The last that QEMU and its guest have said is still in the sockets. */
static enum vm_status ended(void *data, short revents)
{
	struct vm *vm = data;

	(void)revents;
	vm_proc_reap(&vm->qemu);
	vm_loop_drain(&vm->console.watch);
	vm_loop_drain(&vm->qmp.watch);
	vm_loop_drain(&vm->ctl.watch);
	return vm_qemu_gone(vm);
}

void vm_qemu_watch(struct vm *vm)
{
	vm_loop_add(vm, &vm->qemu.exit, ended, vm);
}

/*
 * A QEMU that ends closes its channels first: its exit, which this waits for, tells the
 * reason.  VM_HOST with @what when QEMU does not end.
 */
enum vm_status vm_channel_closed(struct vm *vm, const char *what)
{
	uint64_t until = vm_time(vm) + CLOSED_MS * 1000000ull;
	enum vm_status st = VM_OK;

	while (st == VM_OK)
		st = vm_pump(vm, until);
	return st == VM_TIMEOUT ? vm_fail(vm, VM_HOST, "%s", what) : st;
}
