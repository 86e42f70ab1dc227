// SPDX-License-Identifier: MIT
/*
 * QEMU's debugger, on a unix socket.
 *
 * QEMU serves it only when the guest is complete, running or stopped: a debugger
 * that connected while QEMU loads the state would start a guest that is half
 * restored.
 */
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "vm_priv.h"

/*
 * The socket has a name in the file system, because a debugger cannot connect
 * otherwise; vm_stop() removes it.  If an earlier run left the name there and
 * nobody listens any more, replace it.  To find out, connect a datagram socket,
 * which a listener refuses as the wrong type: a real connection would stop that
 * guest.
 */
static bool listen_there(struct vm *vm)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	int fd;

	if (strlen(vm->cfg.gdb) >= sizeof(addr.sun_path)) {
		errno = ENAMETOOLONG;
		return false;
	}
	strcpy(addr.sun_path, vm->cfg.gdb);
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	if (connect(fd, (struct sockaddr *)&addr, sizeof(addr)) && errno == ECONNREFUSED)
		unlink(vm->cfg.gdb);
	vm_close(&fd);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0 || bind(fd, (struct sockaddr *)&addr, sizeof(addr)) || listen(fd, 1)) {
		vm_close(&fd);
		return false;
	}
	vm->gdb_fd = fd;
	return true;
}

static enum vm_status hand_to_qemu(struct vm *vm)
{
	const char *said;
	enum vm_status st;

	st = vm_qmp_getfd(vm, "gdb", vm->gdb_fd);
	if (st == VM_OK)
		st = vm_qmp_command(vm, "chardev-add",
				    json_pack("{s:s, s:{s:s, s:{s:{s:s, s:{s:s}}, s:b, s:b}}}",
					      "id", "gdb", "backend", "type", "socket", "data",
					      "addr", "type", "fd", "data", "str", "gdb",
					      "server", 1, "wait", 0));
	if (st == VM_OK)
		st = vm_qmp_command(vm, "human-monitor-command",
				    json_pack("{s:s}", "command-line", "gdbserver chardev:gdb"));
	if (st != VM_OK)
		return st;
	said = json_string_value(json_object_get(vm->qmp.reply, "return"));
	if (!said || strncmp(said, "Waiting", 7))
		return vm_fail(vm, VM_HOST, "QEMU serves no debugger: %s", said ? said : "");
	return VM_OK;
}

/* Nothing to do unless the configuration asks for it. */
enum vm_status vm_gdb_serve(struct vm *vm)
{
	enum vm_status st;

	if (!vm->cfg.gdb)
		return VM_OK;
	if (!listen_there(vm))
		return vm_fail(vm, VM_HOST, "%s: %s", vm->cfg.gdb, strerror(errno));
	st = hand_to_qemu(vm);
	if (st == VM_OK && vm->cfg.gdb_wait)
		vm_progress(vm, "waiting for a debugger to let the guest go");
	return st;
}

void vm_gdb_close(struct vm *vm)
{
	if (vm->gdb_fd >= 0)
		unlink(vm->cfg.gdb);
	vm_close(&vm->gdb_fd);
}
