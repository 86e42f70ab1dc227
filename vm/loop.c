// SPDX-License-Identifier: MIT
/*
 * The one place where the launcher waits: for QEMU, the GPU's process, the
 * guest, the caller's interrupt, and the clock.
 */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "vm_priv.h"

/* How long QEMU may take to exit after it has closed a channel. */
#define CLOSED_MS	5000u

enum slot {
	SLOT_QEMU, SLOT_SIM, SLOT_SIM_READY, SLOT_QMP, SLOT_CTL, SLOT_CONSOLE, SLOT_INTERRUPT,
	SLOT_INPUT, SLOTS,
};

/* Keeps the tail of the guest kernel's output, and passes all of it on. */
void vm_console_append(struct vm *vm, const char *text, size_t len)
{
	size_t over;

	vm->console_total += len;
	if (vm->cfg.console)
		vm->cfg.console(vm->cfg.arg, text, len);
	if (vm->console_len + len > VM_CONSOLE_KEEP) {
		over = vm->console_len + len - VM_CONSOLE_KEEP;
		vm->console_len -= over;
		vm->mark_from -= vm->mark_from < over ? vm->mark_from : over;
		memmove(vm->console, vm->console + over, vm->console_len);
	}
	memcpy(vm->console + vm->console_len, text, len);
	vm->console_len += len;
	vm->console[vm->console_len] = '\0';
}

static bool console_input(struct vm *vm)
{
	char chunk[4096];
	ssize_t n;

	n = read(vm->console_fd, chunk, sizeof(chunk));
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0)
		return false;
	vm_console_append(vm, chunk, (size_t)n);
	return true;
}

/* Reads a stream whose other end is closed, until it is empty. */
static void drain(struct vm *vm, int *fd, bool (*input)(struct vm *))
{
	struct pollfd p = { .fd = *fd, .events = POLLIN };

	while (*fd >= 0 && poll(&p, 1, 0) > 0 && input(vm))
		;
	vm_close(fd);
}

/* The kernel's last output is still in the socket when QEMU is killed. */
void vm_drain_console(struct vm *vm)
{
	drain(vm, &vm->console_fd, console_input);
}

static enum vm_status qemu_ended(struct vm *vm)
{
	vm_proc_reap(&vm->qemu);
	drain(vm, &vm->console_fd, console_input);
	drain(vm, &vm->qmp.fd, vm_qmp_input);
	drain(vm, &vm->ctl.fd, vm_ctl_input);
	return vm_qemu_gone(vm);
}

/* The run's deadline, or the caller's @until (0: none). */
static bool is_past(struct vm *vm, uint64_t until)
{
	return (vm->deadline && vm_now() >= vm->deadline) || (until && vm_past(vm, until));
}

/* The next time to wake up, in poll()'s terms; 0 when one of them is past. */
static int timeout_ms(struct vm *vm, uint64_t until)
{
	uint64_t now = vm_now(), left = UINT64_MAX, ms;

	if (is_past(vm, until))
		return 0;
	if (until)
		left = vm_clock_left(vm, until);
	if (vm->deadline && vm->deadline - now < left)
		left = vm->deadline - now;
	ms = left / 1000000u + 1;
	return left == UINT64_MAX ? -1 : ms < INT_MAX ? (int)ms : INT_MAX;
}

/* Do not read typed input while the guest takes none. */
static int wanted_input(const struct vm *vm)
{
	return vm->input_ready || vm->ctl.out.len > VM_QUEUE_MAX ? -1 : vm->input_fd;
}

static void fill(struct vm *vm, struct pollfd *p)
{
	const int fds[SLOTS] = {
		[SLOT_QEMU] = vm->qemu.pidfd,
		[SLOT_SIM] = vm->sim.pidfd,
		[SLOT_SIM_READY] = vm->sim_ready,
		[SLOT_QMP] = vm->qmp.fd,
		[SLOT_CTL] = vm->ctl.fd,
		[SLOT_CONSOLE] = vm->console_fd,
		[SLOT_INTERRUPT] = vm->cfg.interrupt_fd,
		[SLOT_INPUT] = wanted_input(vm),
	};

	for (int i = 0; i < SLOTS; i++)
		p[i] = (struct pollfd){ .fd = fds[i], .events = POLLIN };
	if (vm->ctl.out.len)
		p[SLOT_CTL].events |= POLLOUT;
}

static void dispatch(struct vm *vm, const struct pollfd *p)
{
	if (p[SLOT_CONSOLE].revents && !console_input(vm))
		vm_close(&vm->console_fd);
	if (p[SLOT_QMP].revents && !vm_qmp_input(vm))
		vm_close(&vm->qmp.fd);
	if ((p[SLOT_CTL].revents & POLLOUT) && !vm_ctl_output(vm))
		vm_close(&vm->ctl.fd);
	if ((p[SLOT_CTL].revents & (POLLIN | POLLHUP)) && vm->ctl.fd >= 0 && !vm_ctl_input(vm))
		vm_close(&vm->ctl.fd);
	if (p[SLOT_INPUT].revents)
		vm->input_ready = true;
	if (p[SLOT_SIM_READY].revents)
		vm_sim_ready_input(vm);
	if (p[SLOT_SIM].revents)
		vm_sim_lost(vm);
}

/*
 * Waits for one round of events and handles it; VM_TIMEOUT when @until (0: never;
 * by vm_time()) or the run's deadline has passed.  Callers loop on it until the event that
 * they wait for has happened.
 */
enum vm_status vm_pump(struct vm *vm, uint64_t until)
{
	struct pollfd p[SLOTS];
	int n;

	if (vm->qemu.ended)
		return vm_qemu_gone(vm);
	fill(vm, p);
	n = poll(p, SLOTS, timeout_ms(vm, until));
	if (n < 0 && errno != EINTR)
		return vm_fail(vm, VM_HOST, "poll: %s", strerror(errno));
	if (n <= 0)
		return is_past(vm, until) ?
			vm_fail(vm, VM_TIMEOUT, "the time is up") : VM_OK;
	if (p[SLOT_INTERRUPT].revents)
		return vm_fail(vm, VM_INTERRUPTED, "interrupted");
	dispatch(vm, p);
	if (p[SLOT_QEMU].revents)
		return qemu_ended(vm);
	/* The deadline also holds for a guest that never stops sending. */
	if (is_past(vm, until))
		return vm_fail(vm, VM_TIMEOUT, "the time is up");
	return VM_OK;
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
