// SPDX-License-Identifier: MIT
/*
 * What the guest's kernel prints: all of it goes to the caller, and the tail is kept.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "vm_priv.h"

void vm_console_append(struct vm *vm, const char *text, size_t len)
{
	struct vm_console *console = &vm->console;
	size_t over;

	console->total += len;
	if (vm->cfg.console)
		vm->cfg.console(vm->cfg.arg, text, len);
	if (console->len + len > VM_CONSOLE_KEEP) {
		over = console->len + len - VM_CONSOLE_KEEP;
		console->len -= over;
		console->mark_from -= console->mark_from < over ? console->mark_from : over;
		memmove(console->text, console->text + over, console->len);
	}
	memcpy(console->text + console->len, text, len);
	console->len += len;
	console->text[console->len] = '\0';
}

static enum vm_status input(void *data, short revents)
{
	char chunk[4096];
	struct vm *vm = data;
	ssize_t n;

	(void)revents;
	n = read(vm->console.watch.fd, chunk, sizeof(chunk));
	if (n > 0)
		vm_console_append(vm, chunk, (size_t)n);
	else if (n == 0 || (errno != EAGAIN && errno != EINTR))
		vm_close(&vm->console.watch.fd);
	return VM_OK;
}

bool vm_console_open(struct vm *vm)
{
	return vm_loop_connect(vm, &vm->console.watch, &vm->console.qemu_fd, input);
}

const char *vm_console(const struct vm *vm)
{
	return vm->console.text;
}
