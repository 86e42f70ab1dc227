// SPDX-License-Identifier: MIT
/*
 * A client of QEMU's machine protocol: one command is in flight at a time, and
 * events are noted as they arrive.  QMP sends one JSON object per line.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "vm_priv.h"

/* Far above any reply to our commands; after a longer one the launcher no longer trusts QEMU. */
#define QMP_LINE_MAX	(1u << 20)

#define WAKE_ID		"wake"

/*
 * Nobody else can wake a guest.  Another command may be in flight, so the reply has a name of its
 * own; when QEMU is gone there is nobody to wake.
 */
static void wake(struct vm *vm)
{
	static const char text[] = "{\"execute\": \"system_wakeup\", \"id\": \"" WAKE_ID "\"}";

	vm_send_fd(vm->qmp.watch.fd, text, sizeof(text) - 1, -1);
}

static bool is_wake_reply(const json_t *msg)
{
	const char *id = json_string_value(json_object_get(msg, "id"));

	return id && !strcmp(id, WAKE_ID);
}

static void take_event(struct vm *vm, const char *name, json_t *data)
{
	struct vm_qmp *qmp = &vm->qmp;
	const char *reason, *status;

	if (!strcmp(name, "SHUTDOWN")) {
		reason = json_string_value(json_object_get(data, "reason"));
		qmp->panicked_reset = reason && !strcmp(reason, "guest-reset");
		qmp->guest_shutdown = reason && !strcmp(reason, "guest-shutdown");
	} else if (!strcmp(name, "SUSPEND")) {
		wake(vm);
	} else if (!strcmp(name, "MIGRATION")) {
		status = json_string_value(json_object_get(data, "status"));
		snprintf(qmp->migration, sizeof(qmp->migration), "%s", status ? status : "");
	}
}

static void take_line(struct vm *vm, const char *line, size_t len)
{
	json_t *msg = json_loadb(line, len, 0, NULL);
	const char *event;

	event = json_string_value(json_object_get(msg, "event"));
	if (event) {
		take_event(vm, event, json_object_get(msg, "data"));
	} else if (json_object_get(msg, "QMP")) {
		vm->qmp.greeted = true;
	} else if (is_wake_reply(msg)) {
		/* Nobody waits for it. */
	} else if (json_object_get(msg, "return") || json_object_get(msg, "error")) {
		json_decref(vm->qmp.reply);
		vm->qmp.reply = json_incref(msg);
	}
	json_decref(msg);
}

/* Reads all available bytes; false at the end of the stream. */
static bool read_lines(struct vm *vm)
{
	struct vm_buf *in = &vm->qmp.in;
	char chunk[16384], *nl;
	ssize_t n;

	n = read(vm->qmp.watch.fd, chunk, sizeof(chunk));
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0 || in->len > QMP_LINE_MAX || !vm_buf_append(in, chunk, (size_t)n))
		return false;
	while (in->len && (nl = memchr(in->data, '\n', in->len))) {
		take_line(vm, in->data, (size_t)(nl - in->data));
		vm_buf_consume(in, (size_t)(nl - in->data) + 1);
	}
	return true;
}

static enum vm_status input(void *data, short revents)
{
	struct vm *vm = data;

	(void)revents;
	if (!read_lines(vm))
		vm_close(&vm->qmp.watch.fd);
	return VM_OK;
}

bool vm_qmp_open(struct vm *vm)
{
	return vm_loop_connect(vm, &vm->qmp.watch, &vm->qmp.qemu_fd, input);
}

static enum vm_status not_sent(struct vm *vm, const char *name, int error)
{
	char text[128];

	snprintf(text, sizeof(text), "QMP %s: %s", name, strerror(error));
	return vm_channel_closed(vm, text);
}

/* Takes @args over; @fd goes along unless it is -1. */
static enum vm_status command(struct vm *vm, const char *name, json_t *args, int fd)
{
	uint64_t begun = vm_time(vm), ran = vm_qemu_ran(vm);
	uint64_t until = vm_answer_until(vm, VM_QMP_MS);
	struct vm_qmp *qmp = &vm->qmp;
	const char *desc;
	enum vm_status st = VM_OK;
	json_t *cmd;
	char *text;

	cmd = args ? json_pack("{s:s, s:o}", "execute", name, "arguments", args)
		   : json_pack("{s:s}", "execute", name);
	text = cmd ? json_dumps(cmd, JSON_COMPACT) : NULL;
	json_decref(cmd);
	if (!text)
		return vm_fail(vm, VM_HOST, "QMP %s: out of memory", name);
	json_decref(qmp->reply);
	qmp->reply = NULL;
	/* A command is far smaller than the socket's buffer, which QEMU empties. */
	if (!vm_send_fd(qmp->watch.fd, text, strlen(text), fd))
		st = not_sent(vm, name, errno);
	free(text);
	while (st == VM_OK && !qmp->reply)
		st = vm_pump(vm, until);
	/* QEMU answers whatever its guest does; if it does not, it was stopped or is stuck. */
	if (st == VM_TIMEOUT) {
		vm_qemu_stuck(vm, vm_time(vm) - begun, vm_qemu_ran(vm) - ran);
		return vm_fail(vm, VM_HOST, "QMP %s: QEMU does not answer", name);
	}
	if (st != VM_OK)
		return st;
	desc = json_string_value(json_object_get(json_object_get(qmp->reply, "error"), "desc"));
	return desc ? vm_fail(vm, VM_HOST, "QMP %s: %s", name, desc) : VM_OK;
}

/* Takes @args over.  Only the command's success matters, not its reply. */
enum vm_status vm_qmp_command(struct vm *vm, const char *name, json_t *args)
{
	return command(vm, name, args, -1);
}

/* Gives QEMU a descriptor, to be named in a later command. */
enum vm_status vm_qmp_getfd(struct vm *vm, const char *name, int fd)
{
	return command(vm, "getfd", json_pack("{s:s}", "fdname", name), fd);
}

/* Saves device state to a file, or loads it from there: "migrate", "migrate-incoming". */
enum vm_status vm_qmp_migrate(struct vm *vm, const char *name, int file)
{
	uint64_t until = vm_answer_until(vm, VM_ANSWER_MS);
	enum vm_status st;

	vm->qmp.migration[0] = '\0';
	/* QEMU only takes a descriptor to write to by a name given through QMP. */
	st = vm_qmp_getfd(vm, "state", file);
	if (st == VM_OK)
		st = vm_qmp_command(vm, name, json_pack("{s:s}", "uri", "fd:state"));
	while (st == VM_OK && strcmp(vm->qmp.migration, "completed")) {
		if (!strcmp(vm->qmp.migration, "failed"))
			return vm_fail(vm, VM_HOST, "QEMU could not save or load the snapshot");
		st = vm_pump(vm, until);
	}
	return st;
}

/* Gets QEMU to take commands, with migration as snapshots need it. */
enum vm_status vm_qmp_greet(struct vm *vm)
{
	uint64_t until = vm_answer_until(vm, VM_ANSWER_MS);
	enum vm_status st = VM_OK;
	json_t *caps;

	while (st == VM_OK && !vm->qmp.greeted)
		st = vm_pump(vm, until);
	if (st == VM_OK)
		st = vm_qmp_command(vm, "qmp_capabilities", NULL);
	if (st != VM_OK)
		return st;
	/* QEMU answers in its main loop, so the threads of the processors exist by now. */
	vm_policy_set(vm->qemu.pid, (struct vm_policy){ .sleeps = true,
							.realtime = vm->cfg.realtime });
	/* RAM is in a file of ours: QEMU need not copy it into the state. */
	caps = json_pack("{s:[{s:s, s:b}, {s:s, s:b}]}", "capabilities",
			 "capability", "x-ignore-shared", "state", 1,
			 "capability", "events", "state", 1);
	return vm_qmp_command(vm, "migrate-set-capabilities", caps);
}
