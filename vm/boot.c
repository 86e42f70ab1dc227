// SPDX-License-Identifier: MIT
/*
 * The launcher starts guests for itself: one that boots and one that is prepared, to make
 * snapshots of them, and one to find out whether KVM works here.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "vm_priv.h"

/* A working KVM boots in about a second; a broken one never does. */
#define PROBE_MS	10000

/* A guest like @vm's, without GPU; @answer_ms as in vm_config. */
static struct vm *like(const struct vm *vm, bool kvm, unsigned int answer_ms)
{
	struct vm_config cfg = vm->cfg;
	struct vm *guest;

	cfg.sim = NULL;
	cfg.gdb = NULL;
	cfg.gdb_wait = false;
	cfg.console = NULL;
	cfg.progress = NULL;
	cfg.timeout_ms = 0;
	cfg.answer_ms = answer_ms;
	guest = vm_new(&cfg);
	if (guest) {
		guest->ram_mib = vm->ram_mib;
		guest->kvm = kvm;
	}
	return guest;
}

static enum vm_status boot(struct vm *guest)
{
	enum vm_status st;

	st = vm_memory_init(guest);
	if (st == VM_OK)
		st = vm_qemu_start(guest, false);
	/* Before the guest can panic: QEMU tells that only to those who have greeted it. */
	if (st == VM_OK)
		st = vm_qmp_greet(guest);
	if (st == VM_OK)
		st = vm_ctl_ready(guest);
	return st;
}

static enum vm_status put_files(struct vm *vm, const struct vm_prepare *prepare)
{
	enum vm_status st = VM_OK;

	for (size_t i = 0; st == VM_OK && i < prepare->file_count; i++)
		st = vm_put(vm, prepare->files[i].host_path, prepare->files[i].guest_path,
			    prepare->files[i].mode);
	return st;
}

/* Keeps the beginning of what a program has against it. */
struct complaint {
	char text[160];
	size_t len;
};

static void keep_complaint(void *arg, enum vm_stream stream, const char *data, size_t len)
{
	struct complaint *c = arg;
	size_t n = sizeof(c->text) - 1 - c->len;

	if (stream != VM_STDERR)
		return;
	n = len < n ? len : n;
	memcpy(c->text + c->len, data, n);
	c->len += n;
}

static enum vm_status run_program(struct vm *vm, const struct vm_program *program)
{
	struct complaint said = { .len = 0 };
	struct vm_exec exec = { .argv = program->argv, .report = true, .kept = program->kept,
				.output = keep_complaint, .output_arg = &said,
				.timeout_ms = VM_ANSWER_MS };
	enum vm_status st = vm_exec(vm, &exec);
	const char *name = program->argv[0];
	int line = (int)strcspn(said.text, "\n");

	if (exec.timed_out && (st == VM_OK || st == VM_TIMEOUT))
		return vm_fail(vm, VM_HOST, "%s does not come to its end", name);
	if (st == VM_OK && exec.signaled)
		return vm_fail(vm, VM_HOST, "%s: signal %d", name, exec.value);
	if (st == VM_OK && exec.value)
		return vm_fail(vm, VM_HOST, "%s: exit status %d%s%.*s", name, exec.value,
			       line ? ": " : "", line, said.text);
	return st;
}

enum vm_status vm_prepare_guest(struct vm *vm)
{
	const struct vm_prepare *prepare = vm->cfg.prepare;
	enum vm_status st;

	if (!prepare)
		return VM_OK;
	st = put_files(vm, prepare);
	for (size_t i = 0; st == VM_OK && i < prepare->program_count; i++)
		st = run_program(vm, &prepare->programs[i]);
	return st;
}

static enum vm_status restore_and_prepare(struct vm *guest, int base)
{
	enum vm_status st = vm_memory_init(guest);

	if (st == VM_OK)
		st = vm_restore(guest, base, -1);
	return st == VM_OK ? vm_prepare_guest(guest) : st;
}

/* Others may change the files meanwhile: what the guest has got may not be what @name means. */
static enum vm_status check_name(struct vm *guest, int base, const char *name)
{
	char now[VM_CACHE_NAME];
	enum vm_status st;

	st = base < 0 ? vm_cache_boot_name(guest, now) : vm_cache_prepared_name(guest, base, now);
	if (st == VM_OK && strcmp(now, name))
		return vm_fail(guest, VM_HOST, "the files have changed meanwhile");
	return st;
}

static const char *what(int base)
{
	return base < 0 ? "booting the kernel" : "preparing a guest";
}

static enum vm_status save(struct vm *guest, int file, int base, int dir_fd, const char *name)
{
	enum vm_status st = vm_qmp_command(guest, "stop", NULL);

	if (st == VM_OK)
		st = vm_qmp_migrate(guest, "migrate", file);
	return st == VM_OK ? vm_snapshot_finish(guest, file, base, dir_fd, name) : st;
}

static enum vm_status make_snapshot(struct vm *vm, int base, int dir_fd, const char *name)
{
	struct vm *guest = like(vm, vm->kvm, 0);
	enum vm_status st;
	int file;

	if (!guest)
		return vm_fail(vm, VM_HOST, "out of memory");
	file = vm_snapshot_create(dir_fd);
	if (file < 0)
		st = vm_fail(guest, VM_HOST, "snapshot: %s", strerror(errno));
	else
		st = base < 0 ? boot(guest) : restore_and_prepare(guest, base);
	if (st == VM_OK)
		st = check_name(guest, base, name);
	if (st == VM_OK)
		st = save(guest, file, base, dir_fd, name);
	if (st != VM_OK) {
		vm_fail(vm, st, "%s for the snapshot: %s", what(base), guest->error);
		memcpy(vm->console.text, guest->console.text, sizeof(vm->console.text));
		vm->console.len = guest->console.len;
		vm->bad_snapshot = guest->bad_snapshot;
	}
	vm_close(&file);
	vm_stop(guest);
	return st;
}

enum vm_status vm_make_snapshot(struct vm *vm, int base, int dir_fd, const char *name)
{
	char text[sizeof(vm->error) + 16];
	enum vm_status st;

	snprintf(text, sizeof(text), "%s once, to keep a snapshot of it", what(base));
	vm_progress(vm, text);
	st = make_snapshot(vm, base, dir_fd, name);
	/* Nothing of the caller's runs in a guest that boots: the machine has failed it. */
	if (base < 0 && (st == VM_LOST || st == VM_CRASHED)) {
		snprintf(text, sizeof(text), "%s: once more", vm->error);
		vm_progress(vm, text);
		vm->console.len = 0;
		vm->console.text[0] = '\0';
		st = make_snapshot(vm, base, dir_fd, name);
	}
	vm_cache_prune(dir_fd);
	return st;
}

/*
 * Boots under KVM. The cache keeps the result only if it depends on KVM: a missing
 * file or a Ctrl-C says nothing about KVM.
 */
static enum vm_status probe(struct vm *vm, int dir_fd, const char *name)
{
	struct vm *guest;
	enum vm_status st;
	int file;

	vm_progress(vm, "finding out whether KVM works here, for ten seconds at most");
	guest = like(vm, true, PROBE_MS);
	if (!guest)
		return vm_fail(vm, VM_HOST, "out of memory");
	st = boot(guest);
	vm_stop(guest);
	if (st == VM_INTERRUPTED)
		return vm_fail(vm, st, "interrupted");
	vm->kvm = st == VM_OK;
	if (st == VM_HOST)
		return VM_OK;
	file = vm_cache_create(dir_fd);
	if (file < 0 || !vm_write_all(file, vm->kvm ? "kvm\n" : "tcg\n", 4) ||
	    !vm_cache_publish(file, dir_fd, name))
		st = vm_fail(vm, VM_HOST, "cache: %s", strerror(errno));
	else
		st = VM_OK;
	vm_close(&file);
	return st;
}

/* KVM's device may exist and a guest may hang all the same: only a boot proves that KVM works. */
enum vm_status vm_accel_choose(struct vm *vm, int dir_fd)
{
	char name[64], answer[4] = "";
	enum vm_status st = VM_OK;
	int fd;

	vm->kvm = vm->cfg.accel == VM_ACCEL_KVM;
	if (vm->cfg.accel != VM_ACCEL_AUTO || access("/dev/kvm", R_OK | W_OK))
		return VM_OK;
	vm_cache_accel_name(name, sizeof(name));
	fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0) {
		st = vm_cache_lock(vm, dir_fd);
		if (st != VM_OK)
			return st;
		/* Another run may have found out while we waited. */
		fd = openat(dir_fd, name, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			st = probe(vm, dir_fd, name);
		vm_cache_unlock(dir_fd);
	}
	if (fd >= 0) {
		if (read(fd, answer, 3) == 3)
			vm->kvm = !strcmp(answer, "kvm");
		futimens(fd, NULL);
		close(fd);
	}
	return st;
}
