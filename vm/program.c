// SPDX-License-Identifier: MIT
/*
 * Programs in the guest: starting one, its input and output, and its limits.
 */
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "vm_priv.h"

/* How long a killed process may take to end before the guest counts as hung. */
#define KILL_GRACE_MS	10000u

/* Sends EXEC; the guest's argv is a run of strings, each with its NUL. */
enum vm_status vm_send_exec(struct vm *vm, const struct ctl_exec *req, const char *const *argv)
{
	struct vm_buf text = { .data = NULL };
	enum vm_status st = VM_OK;

	for (size_t i = 0; st == VM_OK && argv[i]; i++) {
		if (!vm_buf_append(&text, argv[i], strlen(argv[i]) + 1))
			st = vm_fail(vm, VM_HOST, "out of memory");
	}
	if (st == VM_OK)
		st = vm_ctl_send(vm, CTL_EXEC, req, sizeof(*req), text.data, text.len);
	free(text.data);
	return st;
}

/* The program's own request, also while a second request to PID 1 is in flight. */
static struct vm_request *request(struct vm *vm)
{
	return vm->ctl.outer.id ? &vm->ctl.outer : &vm->ctl.req;
}

/* Passes on output up to the limit; more output than that stops the wait for the program. */
static size_t within_limit(struct vm *vm, size_t len)
{
	struct vm_exec *exec = vm->exec;
	uint64_t left = exec->output_max - vm->exec_bytes;

	if (!exec->output_max || len <= left) {
		vm->exec_bytes += len;
		return len;
	}
	vm->exec_bytes = exec->output_max;
	if (!exec->flooded && !exec->timed_out) {
		exec->flooded = true;
		request(vm)->until = vm_time(vm);
	}
	return left;
}

static void exec_data(struct vm *vm, uint32_t type, const void *data, size_t len)
{
	struct vm_exec *exec = vm->exec;
	enum vm_stream stream;

	if (type == CTL_STDOUT)
		stream = VM_STDOUT;
	else if (type == CTL_STDERR)
		stream = VM_STDERR;
	else if (type == CTL_REPORT)
		stream = VM_REPORT;
	else
		return;
	len = within_limit(vm, len);
	if (exec->output && len)
		exec->output(exec->output_arg, stream, data, len);
}

static enum vm_status kill_group(struct vm *vm)
{
	const int32_t sigkill = SIGKILL;
	const uint64_t grace_ms = vm->exec->grace_ms ? vm->exec->grace_ms : KILL_GRACE_MS;
	enum vm_status st;

	st = vm_ctl_send(vm, CTL_KILL, &sigkill, sizeof(sigkill), NULL, 0);
	vm->ctl.req.until = vm_time(vm) + grace_ms * 1000000u;
	return st == VM_OK ? vm_ctl_wait(vm) : st;
}

/* VM_OK when the program is gone. */
static enum vm_status put_an_end(struct vm *vm)
{
	enum vm_status st = VM_OK;

	if (vm->exec->ask_where && vm->exec->timed_out)
		st = vm_where_hung(vm);
	return st == VM_OK ? kill_group(vm) : st;
}

/* The wait ended early: because of one of the program's limits, or the run's deadline? */
static bool over_limit(struct vm *vm)
{
	struct vm_exec *exec = vm->exec;

	if (vm_out_of_time(vm))
		return false;
	if (!exec->flooded)
		exec->timed_out = vm->ctl.req.until;
	return exec->flooded || exec->timed_out;
}

enum vm_status vm_exec(struct vm *vm, struct vm_exec *exec)
{
	const struct ctl_exec req = {
		.flags = (exec->report ? CTL_EXEC_REPORT : 0) |
			 (exec->ask_where ? CTL_EXEC_TRACED : 0) |
			 (exec->kept ? CTL_EXEC_KEPT : 0),
	};
	enum vm_status st;

	exec->signaled = false;
	exec->timed_out = false;
	exec->flooded = false;
	exec->value = 0;
	vm->exec = exec;
	vm->exec_bytes = 0;
	vm_ctl_begin(vm, exec_data);
	st = vm_send_exec(vm, &req, exec->argv);
	if (exec->timeout_ms)
		vm->ctl.req.until = vm_time(vm) + exec->timeout_ms * 1000000ull;
	if (st == VM_OK)
		st = vm_ctl_wait(vm);
	if (st == VM_TIMEOUT && over_limit(vm))
		st = put_an_end(vm);
	vm->exec = NULL;
	vm->ctl.req.data = NULL;
	if (st == VM_REFUSED)
		return vm_fail(vm, st, "%s: %s", exec->argv[0], strerror(vm->ctl.req.error));
	if (st == VM_OK) {
		exec->signaled = vm->ctl.req.exit.how == CTL_SIGNALED;
		exec->value = (int)vm->ctl.req.exit.value;
	}
	return st;
}

enum vm_status vm_input(struct vm *vm, const void *data, size_t len)
{
	if (!vm->exec || !vm->exec->report)
		return vm_fail(vm, VM_HOST, "no program takes input");
	return len ? vm_ctl_send_for(vm, request(vm), CTL_STDIN, data, len, NULL, 0) : VM_OK;
}

enum vm_status vm_close_input(struct vm *vm)
{
	if (!vm->exec || !vm->exec->report)
		return vm_fail(vm, VM_HOST, "no program takes input");
	return vm_ctl_send_for(vm, request(vm), CTL_STDIN, NULL, 0, NULL, 0);
}
