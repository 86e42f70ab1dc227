// SPDX-License-Identifier: MIT
/*
 * The life of a guest: its configuration, its start by restore or cold boot up to
 * the point where it takes requests, and its end.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vm_priv.h"

#define RAM_DEFAULT_MIB	256

/* The caller wants the run to end. */
static enum vm_status interrupted(void *data, short revents)
{
	(void)revents;
	return vm_fail(data, VM_INTERRUPTED, "interrupted");
}

struct vm *vm_new(const struct vm_config *config)
{
	struct vm *vm = calloc(1, sizeof(*vm));

	if (!vm)
		return NULL;
	vm->cfg = *config;
	vm->started = vm_now();
	vm->bad_snapshot = -1;
	vm->ram_fd = vm->qemu.exit.fd = vm->qemu_stderr = -1;
	vm->qmp.watch.fd = vm->qmp.qemu_fd = -1;
	vm->ctl.watch.fd = vm->ctl.qemu_fd = -1;
	vm->console.watch.fd = vm->console.qemu_fd = vm->gdb_fd = -1;
	vm->get_fd = vm->input.fd = -1;
	vm->interrupt.fd = config->interrupt_fd;
	vm_loop_add(vm, &vm->interrupt, interrupted, vm);
	vm_gpus_init(vm);
	return vm;
}

void vm_stop(struct vm *vm)
{
	if (!vm)
		return;
	vm_proc_kill(&vm->qemu);
	/* The kernel's last output is still in the socket when QEMU is killed. */
	vm_loop_drain(&vm->console.watch);
	vm_sims_stop(vm);
	vm_memory_fini(vm);
	vm_gdb_close(vm);
	vm_close(&vm->qemu_stderr);
	vm_close(&vm->qmp.watch.fd);
	vm_close(&vm->qmp.qemu_fd);
	vm_close(&vm->ctl.watch.fd);
	vm_close(&vm->ctl.qemu_fd);
	vm_close(&vm->console.qemu_fd);
	json_decref(vm->qmp.reply);
	free(vm->qmp.in.data);
	free(vm->ctl.in.data);
	free(vm->ctl.out.data);
	free(vm);
}

/* The kernel's build says how much RAM it wants. */
static enum vm_status choose_ram(struct vm *vm)
{
	char path[4096];
	FILE *f;

	vm->ram_mib = vm->cfg.ram_mib;
	if (!vm->ram_mib) {
		vm->ram_mib = RAM_DEFAULT_MIB;
		snprintf(path, sizeof(path), "%s/ram", vm->cfg.kernel_dir);
		f = fopen(path, "re");
		if (f && fscanf(f, "%u", &vm->ram_mib) != 1)
			vm->ram_mib = 0;
		if (f)
			fclose(f);
	}
	if (!vm->ram_mib || vm->ram_mib > VM_RAM_MAX_MIB)
		return vm_fail(vm, VM_HOST, "RAM has to be 1 to %d MiB", VM_RAM_MAX_MIB);
	return VM_OK;
}

/* An incomplete snapshot is useless: remove it and make a new one. */
static int open_whole(const struct vm *vm, int dir_fd, const char *name)
{
	int file = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);

	if (file >= 0 && !vm_snapshot_whole(vm, file)) {
		vm_progress(vm, "the snapshot in the cache is damaged: making a new one");
		unlinkat(dir_fd, name, 0);
		vm_close(&file);
	}
	return file;
}

/*
 * Opens a snapshot by its name, and makes it first if there is none yet; one run makes it while
 * the others that want it wait.  @base as in vm_make_snapshot().
 */
static enum vm_status open_snapshot(struct vm *vm, int dir_fd, int base, struct vm_snapshot *s)
{
	enum vm_status st = VM_OK;

	s->file = open_whole(vm, dir_fd, s->name);
	if (s->file < 0) {
		st = vm_cache_lock(vm, dir_fd);
		if (st != VM_OK)
			return st;
		s->file = open_whole(vm, dir_fd, s->name);
		if (s->file < 0) {
			st = vm_make_snapshot(vm, base, dir_fd, s->name);
			s->file = openat(dir_fd, s->name, O_RDONLY | O_CLOEXEC);
			vm->times.snapshot_made = vm_now() - vm->started;
		}
		vm_cache_unlock(dir_fd);
	}
	if (st == VM_OK && s->file < 0)
		return vm_fail(vm, VM_HOST, "%s: %s", s->name, strerror(errno));
	if (s->file >= 0)
		futimens(s->file, NULL);
	return st;
}

static enum vm_status open_snapshots(struct vm *vm, int dir_fd, struct vm_snapshots *snapshots)
{
	struct vm_snapshot *boot = &snapshots->boot, *prepared = &snapshots->prepared;
	enum vm_status st;

	st = vm_cache_boot_name(vm, boot->name);
	if (st == VM_OK)
		st = open_snapshot(vm, dir_fd, -1, boot);
	if (st != VM_OK || !vm->cfg.prepare)
		return st;
	st = vm_cache_prepared_name(vm, boot->file, prepared->name);
	return st == VM_OK ? open_snapshot(vm, dir_fd, boot->file, prepared) : st;
}

/*
 * The snapshot has no GPU, because QEMU cannot migrate an ivshmem device.  But
 * loading the state leaves a GPU that is already plugged in as it came out of
 * reset, and the guest finds it when it rescans the bus.  So one snapshot serves guests
 * with any number of GPUs.  The launcher copies RAM while QEMU starts.
 */
enum vm_status vm_restore(struct vm *vm, int boot, int prepared)
{
	int state = prepared >= 0 ? prepared : boot;
	enum vm_status st;

	st = vm_qemu_start(vm, true);
	if (st == VM_OK)
		st = vm_snapshot_load(vm, boot);
	if (st == VM_OK && prepared >= 0)
		st = vm_snapshot_load(vm, prepared);
	if (st == VM_OK)
		st = vm_qmp_greet(vm);
	if (st == VM_OK) {
		st = vm_qmp_migrate(vm, "migrate-incoming", state);
		if (st == VM_HOST || st == VM_LOST)
			vm->bad_snapshot = state;
	}
	if (st == VM_OK)
		st = vm_sims_wait_ready(vm);
	if (st == VM_OK)
		st = vm_gdb_serve(vm);
	if (st == VM_OK && !vm->cfg.gdb_wait)
		st = vm_qmp_command(vm, "cont", NULL);
	vm->times.restored = vm_now() - vm->started;
	return st;
}

static enum vm_status cold_boot(struct vm *vm)
{
	enum vm_status st;

	st = vm_sims_wait_ready(vm);
	if (st == VM_OK)
		st = vm_qemu_start(vm, false);
	if (st == VM_OK)
		st = vm_qmp_greet(vm);
	if (st == VM_OK)
		st = vm_gdb_serve(vm);
	if (st == VM_OK)
		st = vm_ctl_ready(vm);
	if (st == VM_OK)
		st = vm_prepare_guest(vm);
	vm->times.restored = vm_now() - vm->started;
	return st;
}

/*
 * Finds out everything that has to be known before the guest can start; this may boot
 * other guests.
 */
static enum vm_status find_out(struct vm *vm, struct vm_snapshots *snapshots)
{
	enum vm_status st;
	int dir_fd;

	dir_fd = vm_cache_open();
	if (dir_fd < 0)
		return vm_fail(vm, VM_HOST, "cache: %s", strerror(errno));
	st = choose_ram(vm);
	if (st == VM_OK)
		st = vm_accel_choose(vm, dir_fd);
	if (st == VM_OK && !vm->cfg.cold)
		st = open_snapshots(vm, dir_fd, snapshots);
	close(dir_fd);
	vm->times.kvm = vm->kvm;
	/* The run's deadline does not include the time that making a snapshot takes. */
	if (vm->cfg.timeout_ms)
		vm->deadline = vm_time(vm) + vm->cfg.timeout_ms * 1000000ull;
	return st;
}

static enum vm_status start(struct vm *vm, struct vm_snapshots *snapshots)
{
	enum vm_status st;

	if (vm->cfg.gpus > VM_GPUS_MAX)
		return vm_fail(vm, VM_HOST, "a guest has at most %d GPUs", VM_GPUS_MAX);
	st = find_out(vm, snapshots);
	if (st == VM_OK)
		st = vm_memory_init(vm);
	if (st == VM_OK)
		st = vm_sims_start(vm);
	if (st == VM_OK)
		st = vm->cfg.cold ? cold_boot(vm) :
			vm_restore(vm, snapshots->boot.file, snapshots->prepared.file);
	if (st == VM_OK) {
		vm_policy_tell(vm);
		st = vm_setup(vm);
	}
	if (st == VM_OK && vm->gpus)
		st = vm_ctl_request(vm, CTL_RESCAN, NULL, 0);
	vm->times.plugged = vm_now() - vm->started;
	vm->times.ready = vm_now() - vm->started;
	return st;
}

/* Removes a snapshot that could not be restored, unless another run did so already. */
static void discard(struct vm *vm, const struct vm_snapshot *snapshot)
{
	int dir_fd = vm_cache_open();
	struct stat bad, named;

	if (dir_fd < 0)
		return;
	if (vm_cache_lock(vm, dir_fd) == VM_OK) {
		if (!fstat(snapshot->file, &bad) &&
		    !fstatat(dir_fd, snapshot->name, &named, AT_SYMLINK_NOFOLLOW) &&
		    bad.st_dev == named.st_dev && bad.st_ino == named.st_ino)
			unlinkat(dir_fd, snapshot->name, 0);
		vm_cache_unlock(dir_fd);
	}
	close(dir_fd);
}

static enum vm_status attempt(struct vm *vm)
{
	struct vm_snapshots snapshots = { .boot.file = -1, .prepared.file = -1 };
	char text[sizeof(vm->error) + 64];
	enum vm_status st;

	st = start(vm, &snapshots);
	if (vm->bad_snapshot >= 0) {
		snprintf(text, sizeof(text), "%s: removing the snapshot", vm->error);
		vm_progress(vm, text);
		discard(vm, vm->bad_snapshot == snapshots.prepared.file ? &snapshots.prepared :
			&snapshots.boot);
	}
	vm_close(&snapshots.boot.file);
	vm_close(&snapshots.prepared.file);
	return st;
}

enum vm_status vm_start(const struct vm_config *config, struct vm **out)
{
	const uint64_t started = vm_now();
	enum vm_status st = VM_HOST;

	*out = NULL;
	/* Either snapshot may be bad: if new ones fail as well, something else is wrong. */
	for (int i = 0; i < 3; i++) {
		struct vm *vm = vm_new(config);

		if (!vm)
			break;
		vm->started = started;
		vm_stop(*out);
		*out = vm;
		st = attempt(vm);
		if (vm->bad_snapshot < 0)
			break;
	}
	return st;
}

const char *vm_error(const struct vm *vm)
{
	return vm->error;
}

const struct vm_times *vm_start_times(const struct vm *vm)
{
	return &vm->times;
}
