// SPDX-License-Identifier: MIT
/*
 * What can be asked of a running guest: files in and out, programs, power.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "vm_priv.h"

/* Above this much unsent output, wait for the guest before queueing more. */
#define QUEUE_MAX	(1u << 20)
/* What a killed process may take to go before the guest counts as hung. */
#define KILL_GRACE_NS	10000000000u

/* A restored guest repeats its random numbers and its clock: give it new ones. */
enum vm_status vm_setup(struct vm *vm)
{
	struct ctl_setup req = { .seconds = 0 };
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	req.seconds = (uint64_t)now.tv_sec;
	req.nanoseconds = (uint32_t)now.tv_nsec;
	if (getrandom(req.seed, sizeof(req.seed), 0) != sizeof(req.seed))
		return vm_fail(vm, VM_HOST, "getrandom: %s", strerror(errno));
	return vm_ctl_request(vm, CTL_SETUP, &req, sizeof(req));
}

enum vm_status vm_put_bytes(struct vm *vm, const void *data, size_t len,
			    const char *guest_path, unsigned int mode)
{
	uint32_t m = mode;
	enum vm_status st;

	vm_ctl_begin(vm, NULL);
	st = vm_ctl_send(vm, CTL_PUT, &m, sizeof(m), guest_path, strlen(guest_path));
	for (size_t done = 0; st == VM_OK && done < len;) {
		size_t n = len - done < CTL_PAYLOAD_MAX ? len - done : CTL_PAYLOAD_MAX;

		st = vm_ctl_send(vm, CTL_PUT_DATA, (const char *)data + done, n, NULL, 0);
		done += n;
		while (st == VM_OK && vm->ctl.out.len > QUEUE_MAX)
			st = vm_pump(vm, 0);
	}
	if (st == VM_OK)
		st = vm_ctl_send(vm, CTL_PUT_END, NULL, 0, NULL, 0);
	if (st == VM_OK)
		st = vm_ctl_wait(vm, 0);
	if (st == VM_REFUSED)
		return vm_fail(vm, st, "%s: %s", guest_path, strerror(vm->ctl.error));
	return st;
}

enum vm_status vm_put(struct vm *vm, const char *host_path, const char *guest_path,
		      unsigned int mode)
{
	enum vm_status st;
	struct stat sb;
	void *map = NULL;
	int fd;

	fd = open(host_path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &sb)) {
		st = vm_fail(vm, VM_HOST, "%s: %s", host_path, strerror(errno));
		vm_close(&fd);
		return st;
	}
	if (sb.st_size)
		map = mmap(NULL, (size_t)sb.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return vm_fail(vm, VM_HOST, "%s: %s", host_path, strerror(errno));
	st = vm_put_bytes(vm, map, (size_t)sb.st_size, guest_path, mode);
	if (map)
		munmap(map, (size_t)sb.st_size);
	return st;
}

static void get_data(struct vm *vm, uint32_t type, const void *data, size_t len)
{
	if (type != CTL_DATA || vm->get_error)
		return;
	if (len > vm->get_left)
		vm->get_error = EFBIG;
	else if (!vm_write_all(vm->get_fd, data, len))
		vm->get_error = errno;
	else
		vm->get_left -= len;
}

enum vm_status vm_get(struct vm *vm, const char *guest_path, int fd, uint64_t max)
{
	enum vm_status st;

	vm->get_fd = fd;
	vm->get_left = max;
	vm->get_error = 0;
	vm_ctl_begin(vm, get_data);
	st = vm_ctl_send(vm, CTL_GET, guest_path, strlen(guest_path), NULL, 0);
	if (st == VM_OK)
		st = vm_ctl_wait(vm, 0);
	if (st == VM_REFUSED)
		return vm_fail(vm, st, "%s: %s", guest_path, strerror(vm->ctl.error));
	if (st == VM_OK && vm->get_error)
		return vm_fail(vm, vm->get_error == EFBIG ? VM_REFUSED : VM_HOST, "%s: %s",
			       guest_path, strerror(vm->get_error));
	return st;
}

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

static void exec_data(struct vm *vm, uint32_t type, const void *data, size_t len)
{
	if (vm->exec->output && (type == CTL_STDOUT || type == CTL_STDERR))
		vm->exec->output(vm->exec->output_arg,
				 type == CTL_STDOUT ? VM_STDOUT : VM_STDERR, data, len);
}

enum vm_status vm_exec(struct vm *vm, struct vm_exec *exec)
{
	const struct ctl_exec req = { .flags = 0 };
	const int32_t sigkill = SIGKILL;
	uint64_t until = 0;
	enum vm_status st;

	exec->signaled = false;
	exec->timed_out = false;
	exec->value = 0;
	vm->exec = exec;
	vm_ctl_begin(vm, exec_data);
	st = vm_send_exec(vm, &req, exec->argv);
	if (exec->timeout_ms)
		until = vm_now() + exec->timeout_ms * 1000000ull;
	if (st == VM_OK)
		st = vm_ctl_wait(vm, until);
	if (st == VM_TIMEOUT && until && (!vm->deadline || vm_now() < vm->deadline)) {
		exec->timed_out = true;
		st = vm_ctl_send(vm, CTL_KILL, &sigkill, sizeof(sigkill), NULL, 0);
		if (st == VM_OK)
			st = vm_ctl_wait(vm, vm_now() + KILL_GRACE_NS);
	}
	vm->exec = NULL;
	vm->ctl.data = NULL;
	if (st == VM_REFUSED)
		return vm_fail(vm, st, "%s: %s", exec->argv[0], strerror(vm->ctl.error));
	if (st == VM_OK) {
		exec->signaled = vm->ctl.exit.how == CTL_SIGNALED;
		exec->value = (int)vm->ctl.exit.value;
	}
	return st;
}

enum vm_status vm_poweroff(struct vm *vm)
{
	enum vm_status st;

	vm_ctl_begin(vm, NULL);
	st = vm_ctl_send(vm, CTL_POWEROFF, NULL, 0, NULL, 0);
	if (st == VM_OK)
		st = vm_ctl_wait(vm, 0);
	return st == VM_POWEROFF ? VM_OK : st;
}
