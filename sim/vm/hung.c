// SPDX-License-Identifier: MIT
/*
 * What a guest says on its console when it is asked: a mark, so that all before it
 * is known to have arrived, and where it hangs.
 */
#include <string.h>
#include <sys/random.h>

#include "vm_priv.h"

/* PID 1 has to answer in this time, or it hangs as well. */
#define ANSWER_MS	1500
/* From the NMI to the end of the panic: what two backtraces take to print. */
#define PANIC_MS	10000

static enum vm_status wait_for_text(struct vm *vm, const char *text, uint64_t until)
{
	enum vm_status st = VM_OK;

	while (st == VM_OK && !memmem(vm->console + vm->mark_from,
				      vm->console_len - vm->mark_from, text, strlen(text)))
		st = vm_pump(vm, until);
	return st;
}

/* A request after which @text appears on the console. */
static enum vm_status say(struct vm *vm, uint32_t type, const char *text, unsigned int timeout_ms)
{
	uint64_t until = vm_now() + timeout_ms * 1000000ull;
	enum vm_status st;

	vm->mark_from = vm->console_len;
	vm_ctl_begin(vm, NULL);
	vm->ctl.req.until = until;
	st = vm_ctl_send(vm, type, text, strlen(text), NULL, 0);
	if (st == VM_OK)
		st = vm_ctl_wait(vm);
	return st == VM_OK ? wait_for_text(vm, text, until) : st;
}

enum vm_status vm_mark(struct vm *vm, const char *text, unsigned int timeout_ms)
{
	return say(vm, CTL_MARK, text, timeout_ms);
}
