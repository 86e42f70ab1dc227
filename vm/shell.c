// SPDX-License-Identifier: MIT
/*
 * Connects our terminal to one in the guest.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "vm_priv.h"

static void shell_data(struct vm *vm, uint32_t type, const void *data, size_t len)
{
	/* When our reader is gone, only the shell's further output is lost. */
	if (type == CTL_STDOUT && !vm_write_all(STDOUT_FILENO, data, len))
		vm_fail(vm, VM_HOST, "standard output: %s", strerror(errno));
}

static struct ctl_winsize window(void)
{
	struct ctl_winsize size = { .rows = 24, .cols = 80 };
	struct winsize ws;

	if (!ioctl(STDIN_FILENO, TIOCGWINSZ, &ws) && ws.ws_row && ws.ws_col) {
		size.rows = ws.ws_row;
		size.cols = ws.ws_col;
	}
	return size;
}

/* Passes on typed input; the end of a file ends the shell as ^D would. */
static enum vm_status forward_input(void *data, short revents)
{
	struct vm *vm = data;
	char chunk[4096];
	ssize_t n;

	(void)revents;
	n = read(vm->input.fd, chunk, sizeof(chunk));
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return VM_OK;
	if (n <= 0) {
		vm->input_ended = true;
		return vm_ctl_send(vm, CTL_STDIN, "\x04", 1, NULL, 0);
	}
	return vm_ctl_send(vm, CTL_STDIN, chunk, (size_t)n, NULL, 0);
}

/* Do not read typed input while the guest takes none. */
static bool takes_input(const struct vm *vm)
{
	return !vm->input_ended && vm->ctl.out.len <= VM_QUEUE_MAX;
}

static enum vm_status converse(struct vm *vm)
{
	struct ctl_winsize size = window(), now;
	enum vm_status st = VM_OK;

	while (st == VM_OK && !vm->ctl.req.done) {
		vm->input.fd = takes_input(vm) ? STDIN_FILENO : -1;
		st = vm->ctl.broken ? vm_fail(vm, VM_HOST, "%s", vm->ctl.broken) : vm_pump(vm, 0);
		/* SIGWINCH interrupts the wait; reading the size is cheap at any other time. */
		now = window();
		if (st == VM_OK && memcmp(&now, &size, sizeof(now))) {
			size = now;
			st = vm_ctl_send(vm, CTL_RESIZE, &size, sizeof(size), NULL, 0);
		}
	}
	vm->input.fd = -1;
	return st;
}

static void on_winch(int sig)
{
	(void)sig;
}

enum vm_status vm_shell(struct vm *vm, const char *const *argv, int *value)
{
	struct ctl_exec req = { .flags = CTL_EXEC_TTY, .size = window() };
	struct sigaction winch = { .sa_handler = on_winch }, old_winch;
	struct termios saved, raw;
	bool tty = !tcgetattr(STDIN_FILENO, &saved);
	enum vm_status st;

	vm_ctl_begin(vm, shell_data);
	st = vm_send_exec(vm, &req, argv);
	if (st != VM_OK)
		return st;
	sigaction(SIGWINCH, &winch, &old_winch);
	if (tty) {
		raw = saved;
		cfmakeraw(&raw);
		tcsetattr(STDIN_FILENO, TCSADRAIN, &raw);
	}
	vm->input_ended = false;
	vm_loop_add(vm, &vm->input, forward_input, vm);
	st = converse(vm);
	vm->ctl.req.data = NULL;
	if (tty)
		tcsetattr(STDIN_FILENO, TCSADRAIN, &saved);
	sigaction(SIGWINCH, &old_winch, NULL);
	if (st == VM_OK && vm->ctl.req.error)
		return vm_fail(vm, VM_REFUSED, "%s: %s", argv[0], strerror(vm->ctl.req.error));
	*value = (int)vm->ctl.req.exit.value + (vm->ctl.req.exit.how == CTL_SIGNALED ? 128 : 0);
	return st;
}
