// SPDX-License-Identifier: MIT
/*
 * The GPUs' processes: starting them, and what follows when one ends.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "vm_priv.h"

#define ARGS_MAX	64
#define STOP_TIMEOUT_MS	2000

/* Every descriptor closed, so that vm_stop() can follow at any time. */
void vm_gpus_init(struct vm *vm)
{
	if (vm->cfg.sim)
		vm->gpus = vm->cfg.gpus ? vm->cfg.gpus : 1;
	if (vm->gpus > VM_GPUS_MAX)
		vm->gpus = VM_GPUS_MAX;		/* vm_start() refuses it */
	for (unsigned int n = 0; n < vm->gpus; n++) {
		struct vm_gpu *gpu = &vm->gpu[n];

		gpu->vm = vm;
		gpu->number = n;
		gpu->bar2_fd = gpu->doorbell = -1;
		for (int i = 0; i < VM_VECTORS; i++)
			gpu->vectors[i] = -1;
		gpu->ivshmem_fd = gpu->ivshmem_qemu_fd = -1;
		gpu->proc.exit.fd = gpu->answer.fd = gpu->control = -1;
	}
}

/* A file of this GPU: the first one's has the @name that the caller chose. */
static void file_name(const struct vm_gpu *gpu, const char *name, char path[PATH_MAX])
{
	if (gpu->number)
		snprintf(path, PATH_MAX, "%s.%u", name, gpu->number);
	else
		snprintf(path, PATH_MAX, "%s", name);
}

static enum vm_status run(struct vm_gpu *gpu, const int *fds, size_t nfds, int ready, int control)
{
	char bar2[16], doorbell[16], vectors[64], ram_fd[16], ram[64], ready_fd[16];
	char control_fd[16], seed[16], number[16], log[PATH_MAX], trace[PATH_MAX];
	const struct vm_config *cfg = &gpu->vm->cfg;
	const char *argv[ARGS_MAX] = {
		cfg->sim, "--bar2-fd", bar2, "--doorbell-fd", doorbell, "--vector-fds", vectors,
		"--ram-fd", ram_fd, "--ram", ram, "--ready-fd", ready_fd,
		"--control-fd", control_fd, "--seed", seed, "--number", number,
	};
	const struct vm_policy policy = { .sleeps = true, .realtime = cfg->realtime };
	size_t n = 19;

	snprintf(bar2, sizeof(bar2), "%d", gpu->bar2_fd);
	snprintf(doorbell, sizeof(doorbell), "%d", gpu->doorbell);
	snprintf(vectors, sizeof(vectors), "%d,%d,%d,%d", gpu->vectors[0], gpu->vectors[1],
		 gpu->vectors[2], gpu->vectors[3]);
	snprintf(ram_fd, sizeof(ram_fd), "%d", gpu->vm->ram_fd);
	snprintf(ram, sizeof(ram), "%" PRIu64 ":%" PRIu64 ":0", vm_arch.ram_base,
		 (uint64_t)gpu->vm->ram_mib << 20);
	snprintf(ready_fd, sizeof(ready_fd), "%d", ready);
	snprintf(control_fd, sizeof(control_fd), "%d", control);
	snprintf(seed, sizeof(seed), "%" PRIu32, cfg->seed + gpu->number);
	snprintf(number, sizeof(number), "%u", gpu->number);
	if (cfg->sim_log) {
		file_name(gpu, cfg->sim_log, log);
		argv[n++] = "--log";
		argv[n++] = log;
	}
	if (cfg->sim_trace) {
		file_name(gpu, cfg->sim_trace, trace);
		argv[n++] = "--trace";
		argv[n++] = trace;
	}
	for (size_t i = 0; cfg->sim_args && cfg->sim_args[i]; i++) {
		if (n == ARGS_MAX - 1)
			return vm_fail(gpu->vm, VM_HOST,
				       "too many arguments for the GPU's process");
		argv[n++] = cfg->sim_args[i];
	}
	argv[n] = NULL;
	if (!vm_proc_start(&gpu->proc, argv, fds, nfds, -1, policy))
		return vm_fail(gpu->vm, VM_HOST, "%s: %s", cfg->sim, strerror(errno));
	return VM_OK;
}

/* Reads the byte by which the GPU's process says that it is ready. */
static enum vm_status take_answer(void *data, short revents)
{
	struct vm_gpu *gpu = data;
	char c = 0;

	(void)revents;
	if (read(gpu->answer.fd, &c, 1) == 1 && c == 'R') {
		gpu->ready = true;
		vm_memory_set_alive(gpu, true);
		gpu->vm->times.sim_ready = vm_now() - gpu->vm->started;
	}
	vm_close(&gpu->answer.fd);
	return VM_OK;
}

/* Tell the guest that the GPU's process has ended; it goes on without this GPU. */
static enum vm_status lost(void *data, short revents)
{
	struct vm_gpu *gpu = data;

	(void)revents;
	vm_proc_reap(&gpu->proc);
	vm_memory_set_alive(gpu, false);
	return VM_OK;
}

static enum vm_status start(struct vm_gpu *gpu)
{
	struct vm *vm = gpu->vm;
	int ready[2], control;
	enum vm_status st;

	if (pipe2(ready, O_CLOEXEC))
		return vm_fail(vm, VM_HOST, "pipe: %s", strerror(errno));
	gpu->answer.fd = ready[0];
	if (!vm_socketpair(&gpu->control, &control)) {
		close(ready[1]);
		return vm_fail(vm, VM_HOST, "socketpair: %s", strerror(errno));
	}
	st = run(gpu, (const int[]){ gpu->bar2_fd, vm->ram_fd, gpu->doorbell, gpu->vectors[0],
				     gpu->vectors[1], gpu->vectors[2], gpu->vectors[3],
				     ready[1], control }, 9, ready[1], control);
	close(ready[1]);
	close(control);
	if (st == VM_OK) {
		vm_loop_add(vm, &gpu->answer, take_answer, gpu);
		vm_loop_add(vm, &gpu->proc.exit, lost, gpu);
	}
	return st;
}

enum vm_status vm_sims_start(struct vm *vm)
{
	enum vm_status st = VM_OK;

	for (unsigned int n = 0; st == VM_OK && n < vm->gpus; n++)
		st = start(&vm->gpu[n]);
	return st;
}

/* The GPUs are alive for the guest from here on. */
enum vm_status vm_sims_wait_ready(struct vm *vm)
{
	uint64_t until = vm_answer_until(vm, VM_ANSWER_MS);
	enum vm_status st = VM_OK;

	for (unsigned int n = 0; n < vm->gpus; n++) {
		const struct vm_gpu *gpu = &vm->gpu[n];

		while (st == VM_OK && gpu->answer.fd >= 0 && !gpu->proc.ended)
			st = vm_pump(vm, until);
		if (st != VM_OK)
			return st;
		if (!gpu->ready)
			return vm_fail(vm, VM_HOST, "the GPU's process %s did not get ready",
				       vm->cfg.sim);
	}
	return VM_OK;
}

/* Ask the GPU's process to end, so that it writes out its log; kill it if it does not end. */
static void stop(struct vm_gpu *gpu)
{
	struct pollfd p = { .fd = gpu->proc.exit.fd, .events = POLLIN };

	if (gpu->proc.pid > 0) {
		kill(gpu->proc.pid, SIGTERM);
		if (poll(&p, 1, STOP_TIMEOUT_MS) != 1)
			kill(gpu->proc.pid, SIGKILL);
		vm_proc_reap(&gpu->proc);
	}
	vm_close(&gpu->ivshmem_fd);
	vm_close(&gpu->ivshmem_qemu_fd);
	vm_close(&gpu->answer.fd);
	vm_close(&gpu->control);
}

void vm_sims_stop(struct vm *vm)
{
	for (unsigned int n = 0; n < vm->gpus; n++)
		stop(&vm->gpu[n]);
}

enum vm_status vm_kill_sim(struct vm *vm, unsigned int gpu)
{
	if (gpu >= vm->gpus || vm->gpu[gpu].proc.pid <= 0)
		return vm_fail(vm, VM_HOST, "there is no process of GPU %u to kill", gpu);
	vm->gpu[gpu].killed = true;
	kill(vm->gpu[gpu].proc.pid, SIGKILL);
	return lost(&vm->gpu[gpu], POLLIN);
}

/* The first one whose process ended by itself, or NULL. */
static const struct vm_gpu *failed(const struct vm *vm)
{
	for (unsigned int n = 0; n < vm->gpus; n++)
		if (vm->gpu[n].proc.ended && !vm->gpu[n].killed)
			return &vm->gpu[n];
	return NULL;
}

bool vm_sim_failed(const struct vm *vm)
{
	return failed(vm);
}

int vm_sim_status(const struct vm *vm)
{
	const struct vm_gpu *gpu = failed(vm);

	return gpu ? gpu->proc.status : 0;
}

int vm_sim_control(const struct vm *vm, unsigned int gpu)
{
	return gpu < vm->gpus ? vm->gpu[gpu].control : -1;
}
