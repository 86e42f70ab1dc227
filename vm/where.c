// SPDX-License-Identifier: MIT
/*
 * Two things that the guest prints on request: a mark, which proves that all output
 * before it has arrived, and where the guest hangs.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "vm_priv.h"

/*
 * PID 1 has to answer in this time, or it hangs as well.  While something is being
 * printed, it is given more.  The kernel prints nothing of its panic before it
 * has waited for CPUs that do not stop: a million times a microsecond, which takes
 * two seconds on a quiet host.
 */
#define ANSWER_MS	2000
#define PANIC_MS	20000
#define PRINTING_MS	40000

static bool text_seen(const struct vm *vm, const char *text)
{
	return memmem(vm->console.text + vm->console.mark_from,
		      vm->console.len - vm->console.mark_from,
		      text, strlen(text));
}

static void console_text(struct vm *vm, const char *text)
{
	for (size_t len = strlen(text), n; len; len -= n, text += n) {
		n = len < VM_CONSOLE_KEEP ? len : VM_CONSOLE_KEEP;
		vm_console_append(vm, text, n);
	}
}

/* Makes PID 1 write @text to the console; the caller makes sure that @text is new. */
static enum vm_status request_text(struct vm *vm, uint32_t type, const char *text)
{
	vm->console.mark_from = vm->console.len;
	vm_ctl_begin(vm, NULL);
	return vm_ctl_send(vm, type, text, strlen(text), NULL, 0);
}

enum vm_status vm_mark(struct vm *vm, const char *text, unsigned int timeout_ms)
{
	uint64_t until = vm_time(vm) + timeout_ms * 1000000ull;
	enum vm_status st = request_text(vm, CTL_MARK, text);

	vm->ctl.req.until = until;
	if (st == VM_OK)
		st = vm_ctl_wait(vm);
	while (st == VM_OK && !text_seen(vm, text))
		st = vm_pump(vm, until);
	return st;
}

/* Waits until the request in flight is done, or the guest has been silent so long. */
static enum vm_status wait_while_printing(struct vm *vm, unsigned int silent_ms)
{
	const uint64_t end = vm_time(vm) + PRINTING_MS * 1000000ull;
	uint64_t printed = vm->console.total, until = vm_time(vm) + silent_ms * 1000000ull;
	enum vm_status st = VM_OK;

	while (st == VM_OK && !vm->ctl.req.done) {
		st = vm_pump(vm, until < end ? until : end);
		if (vm->console.total != printed) {
			printed = vm->console.total;
			until = vm_time(vm) + silent_ms * 1000000ull;
		}
	}
	return st;
}

/* A second request, because a program may be running; its output is still received meanwhile. */
static enum vm_status ask_init(struct vm *vm)
{
	enum vm_status st;
	uint64_t nonce, until;
	char text[64];

	if (getrandom(&nonce, sizeof(nonce), 0) != sizeof(nonce))
		return vm_fail(vm, VM_HOST, "getrandom failed");
	snprintf(text, sizeof(text), "where: that is all (%016" PRIx64 ")", nonce);
	vm_ctl_aside(vm);
	st = request_text(vm, CTL_WHERE, text);
	if (st == VM_OK)
		st = wait_while_printing(vm, ANSWER_MS);
	if (st == VM_OK && vm->ctl.req.error)
		st = vm_fail(vm, VM_REFUSED, "where: %s", strerror(vm->ctl.req.error));
	until = vm_time(vm) + ANSWER_MS * 1000000ull;
	while (st == VM_OK && !text_seen(vm, text))
		st = vm_pump(vm, until);
	vm_ctl_resume(vm);
	return st;
}

/* VM_CRASHED when the kernel took it. */
static enum vm_status send_nmi(struct vm *vm)
{
	enum vm_status st = vm_qmp_command(vm, "inject-nmi", NULL);

	vm_ctl_aside(vm);
	vm_ctl_begin(vm, NULL);		/* nothing is asked, and nothing answers */
	if (st == VM_OK)
		st = wait_while_printing(vm, vm->cfg.panic_ms ? vm->cfg.panic_ms : PANIC_MS);
	vm_ctl_resume(vm);
	return st;
}

static enum vm_status print_registers(struct vm *vm)
{
	const char *text;
	enum vm_status st;

	st = vm_qmp_command(vm, "human-monitor-command",
			    json_pack("{s:s}", "command-line", "info registers -a"));
	text = json_string_value(json_object_get(vm->qmp.reply, "return"));
	if (st != VM_OK || !text)
		return st == VM_OK ? VM_HOST : st;
	console_text(vm, "\nwhere: the kernel does not answer; its CPUs' registers:\n");
	console_text(vm, text);
	return vm_fail(vm, VM_TIMEOUT, "the guest's kernel does not answer");
}

/* A run that is out of time, or whose guest is gone, has nothing more to tell. */
static bool over(struct vm *vm, enum vm_status st)
{
	return st != VM_TIMEOUT || vm_out_of_time(vm);
}

enum vm_status vm_where_hung(struct vm *vm)
{
	enum vm_status st = ask_init(vm);

	if (!over(vm, st))
		st = send_nmi(vm);
	if (!over(vm, st))
		st = print_registers(vm);
	return st;
}
