// SPDX-License-Identifier: MIT
/*
 * The GPU's process: starting it, and what follows when it ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vm_priv.h"

#define ARGS_MAX	64
#define STOP_TIMEOUT_MS	2000

static enum vm_status run(struct vm *vm, const int *fds, size_t nfds, int ready, int control)
{
	char bar2[16], doorbell[16], vectors[64], ram_fd[16], ram[64], ready_fd[16];
	char control_fd[16], seed[16];
	const char *argv[ARGS_MAX] = {
		vm->cfg.sim, "--bar2-fd", bar2, "--doorbell-fd", doorbell, "--vector-fds", vectors,
		"--ram-fd", ram_fd, "--ram", ram, "--ready-fd", ready_fd,
		"--control-fd", control_fd, "--seed", seed,
	};
	const struct vm_policy policy = { .sleeps = true, .realtime = vm->cfg.realtime };
	size_t n = 17;

	snprintf(bar2, sizeof(bar2), "%d", vm->bar2_fd);
	snprintf(doorbell, sizeof(doorbell), "%d", vm->doorbell);
	snprintf(vectors, sizeof(vectors), "%d,%d,%d,%d", vm->vectors[0], vm->vectors[1],
		 vm->vectors[2], vm->vectors[3]);
	snprintf(ram_fd, sizeof(ram_fd), "%d", vm->ram_fd);
	snprintf(ram, sizeof(ram), "%" PRIu64 ":%" PRIu64 ":0", vm_arch.ram_base,
		 (uint64_t)vm->ram_mib << 20);
	snprintf(ready_fd, sizeof(ready_fd), "%d", ready);
	snprintf(control_fd, sizeof(control_fd), "%d", control);
	snprintf(seed, sizeof(seed), "%" PRIu32, vm->cfg.seed);
	if (vm->cfg.sim_log) {
		argv[n++] = "--log";
		argv[n++] = vm->cfg.sim_log;
	}
	for (size_t i = 0; vm->cfg.sim_args && vm->cfg.sim_args[i]; i++) {
		if (n == ARGS_MAX - 1)
			return vm_fail(vm, VM_HOST, "too many arguments for the GPU's process");
		argv[n++] = vm->cfg.sim_args[i];
	}
	argv[n] = NULL;
	if (!vm_proc_start(&vm->sim, argv, fds, nfds, -1, policy))
		return vm_fail(vm, VM_HOST, "%s: %s", vm->cfg.sim, strerror(errno));
	return VM_OK;
}

/* Reads the byte by which the GPU's process says that it is ready. */
static enum vm_status ready_input(void *data, short revents)
{
	struct vm *vm = data;
	char c = 0;

	(void)revents;
	if (read(vm->sim_ready.fd, &c, 1) == 1 && c == 'R') {
		vm_memory_set_alive(vm, true);
		vm->times.sim_ready = vm_now() - vm->started;
	}
	vm_close(&vm->sim_ready.fd);
	return VM_OK;
}

/* Tell the guest that the GPU's process has ended; it goes on without a GPU. */
static enum vm_status lost(void *data, short revents)
{
	struct vm *vm = data;

	(void)revents;
	vm_proc_reap(&vm->sim);
	vm_memory_set_alive(vm, false);
	return VM_OK;
}

enum vm_status vm_sim_start(struct vm *vm)
{
	int ready[2], control;
	enum vm_status st;

	if (pipe2(ready, O_CLOEXEC))
		return vm_fail(vm, VM_HOST, "pipe: %s", strerror(errno));
	vm->sim_ready.fd = ready[0];
	if (!vm_socketpair(&vm->sim_control, &control)) {
		close(ready[1]);
		return vm_fail(vm, VM_HOST, "socketpair: %s", strerror(errno));
	}
	st = run(vm, (const int[]){ vm->bar2_fd, vm->ram_fd, vm->doorbell, vm->vectors[0],
				    vm->vectors[1], vm->vectors[2], vm->vectors[3],
				    ready[1], control }, 9, ready[1], control);
	close(ready[1]);
	close(control);
	if (st == VM_OK) {
		vm_loop_add(vm, &vm->sim_ready, ready_input, vm);
		vm_loop_add(vm, &vm->sim.exit, lost, vm);
	}
	return st;
}

/* The GPU is alive for the guest from here on. */
enum vm_status vm_sim_wait_ready(struct vm *vm)
{
	uint64_t until = vm_answer_until(vm, VM_ANSWER_MS);
	enum vm_status st = VM_OK;

	while (st == VM_OK && vm->sim_ready.fd >= 0 && !vm->sim.ended)
		st = vm_pump(vm, until);
	if (st == VM_OK && !vm->times.sim_ready)
		return vm_fail(vm, VM_HOST, "the GPU's process %s did not get ready", vm->cfg.sim);
	return st;
}

/* Ask the GPU's process to end, so that it writes out its log; kill it if it does not end. */
void vm_sim_stop(struct vm *vm)
{
	struct pollfd p = { .fd = vm->sim.exit.fd, .events = POLLIN };

	if (vm->sim.pid <= 0)
		return;
	kill(vm->sim.pid, SIGTERM);
	if (poll(&p, 1, STOP_TIMEOUT_MS) != 1)
		kill(vm->sim.pid, SIGKILL);
	vm_proc_reap(&vm->sim);
}

enum vm_status vm_kill_sim(struct vm *vm)
{
	if (vm->sim.pid <= 0)
		return vm_fail(vm, VM_HOST, "there is no GPU process to kill");
	vm->sim_killed = true;
	kill(vm->sim.pid, SIGKILL);
	return lost(vm, POLLIN);
}

bool vm_sim_failed(const struct vm *vm)
{
	return vm->sim.ended && !vm->sim_killed;
}

int vm_sim_status(const struct vm *vm)
{
	return vm->sim.status;
}

int vm_sim_control(const struct vm *vm)
{
	return vm->sim_control;
}
