// SPDX-License-Identifier: MIT
/*
 * The launcher's part of the cache, ${XDG_CACHE_HOME:-~/.cache}/agate/vm/:
 * snapshots, and whether KVM works on this machine.
 *
 * A name is a hash of everything the content depends on, so nothing ever has to be
 * invalidated; a run that makes a new snapshot removes the files that no run has
 * used for two weeks.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include <xxhash.h>

#include "vm_priv.h"

#define UNUSED_SECONDS	(14 * 24 * 3600)
#define LOCK_POLL_MS	50
#define PART		"unfinished"

/* It does not withstand an adversary, but the cache is the user's own. */
static uint64_t hash(uint64_t h, const void *data, size_t len)
{
	return XXH3_64bits_withSeed(data, len, h);
}

static uint64_t hash_text(uint64_t h, const char *text)
{
	return hash(h, text, strlen(text));
}

static bool hash_file(uint64_t *h, const char *path)
{
	struct stat sb;
	void *map;
	int fd;

	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	map = MAP_FAILED;
	if (!fstat(fd, &sb) && sb.st_size > 0)
		map = mmap(NULL, (size_t)sb.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return false;
	*h = hash(*h, map, (size_t)sb.st_size);
	munmap(map, (size_t)sb.st_size);
	return true;
}

/* Stands for QEMU's version without running it. */
static uint64_t hash_qemu(uint64_t h)
{
	const char *path = getenv("PATH");
	char file[4096];
	struct stat sb;
	size_t len;

	for (; path && *path; path += len + (path[len] == ':')) {
		len = strcspn(path, ":");
		snprintf(file, sizeof(file), "%.*s/%s", (int)len, path, vm_arch.qemu);
		if (stat(file, &sb))
			continue;
		h = hash(h, &sb.st_size, sizeof(sb.st_size));
		return hash(h, &sb.st_mtim, sizeof(sb.st_mtim));
	}
	return h;
}

/* The guest calibrates its clock by this processor. */
static uint64_t hash_host(uint64_t h)
{
	char line[256];
	FILE *f = fopen("/proc/cpuinfo", "re");

	while (f && fgets(line, sizeof(line), f)) {
		if (!strncmp(line, vm_arch.cpuinfo, strlen(vm_arch.cpuinfo))) {
			h = hash_text(h, line);
			break;
		}
	}
	if (f)
		fclose(f);
	return h;
}

/* Opens the directory, making it first; -1 with errno. */
int vm_cache_open(void)
{
	const char *base = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	char path[4096];
	int n;

	if (base && base[0] == '/') {
		n = snprintf(path, sizeof(path), "%s/agate/vm", base);
	} else if (home && home[0]) {
		n = snprintf(path, sizeof(path), "%s/.cache/agate/vm", home);
	} else {
		errno = ENOENT;
		return -1;
	}
	if (n < 0 || (size_t)n >= sizeof(path)) {
		errno = ENAMETOOLONG;
		return -1;
	}
	for (char *p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		mkdir(path, 0777);
		*p = '/';
	}
	mkdir(path, 0700);
	return open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static void snapshot_name(char name[VM_CACHE_NAME], uint64_t h)
{
	snprintf(name, VM_CACHE_NAME, "snapshot-%016llx", (unsigned long long)h);
}

enum vm_status vm_cache_boot_name(struct vm *vm, char name[VM_CACHE_NAME])
{
	char kernel[4096];
	uint64_t h = 0;

	snprintf(kernel, sizeof(kernel), "%s/%s", vm->cfg.kernel_dir, vm_arch.kernel);
	h = hash_text(h, VM_SNAPSHOT_MAGIC);
	h = hash_text(hash_text(h, vm_arch.machine), vm_arch.global);
	h = hash_text(h, vm_arch.cpu);
	h = hash_text(hash_text(h, vm_arch.serial), vm_arch.cmdline);
	h = hash_text(h, vm->kvm ? "kvm" : "tcg");
	h = hash_text(h, vm->cfg.append ? vm->cfg.append : "");
	h = hash(h, &vm->ram_mib, sizeof(vm->ram_mib));
	h = hash_host(hash_qemu(h));
	if (!hash_file(&h, kernel))
		return vm_fail(vm, VM_HOST, "%s: %s", kernel, strerror(errno));
	if (!hash_file(&h, vm->cfg.initramfs))
		return vm_fail(vm, VM_HOST, "%s: %s", vm->cfg.initramfs, strerror(errno));
	snapshot_name(name, h);
	return VM_OK;
}

/* What the boot's snapshot is, its header says, with the sums: another boot ends otherwise. */
enum vm_status vm_cache_prepared_name(struct vm *vm, int boot, char name[VM_CACHE_NAME])
{
	const struct vm_prepare *prepare = vm->cfg.prepare;
	char header[VM_PAGE];
	uint64_t h;

	if (pread(boot, header, sizeof(header), 0) != sizeof(header))
		return vm_fail(vm, VM_HOST, "the boot's snapshot: %s", strerror(errno));
	h = hash(0, header, sizeof(header));
	for (size_t i = 0; i < prepare->file_count; i++) {
		const struct vm_file *file = &prepare->files[i];

		h = hash(hash_text(h, file->guest_path), &file->mode, sizeof(file->mode));
		if (!hash_file(&h, file->host_path))
			return vm_fail(vm, VM_HOST, "%s: %s", file->host_path, strerror(errno));
	}
	for (size_t i = 0; i < prepare->program_count; i++) {
		const struct vm_program *program = &prepare->programs[i];

		h = hash(h, &program->kept, sizeof(program->kept));
		for (const char *const *arg = program->argv; *arg; arg++)
			h = hash_text(h, *arg);
	}
	snapshot_name(name, h);
	return VM_OK;
}

/* Whether KVM works depends on the host's kernel, its processor, and QEMU. */
void vm_cache_accel_name(char *name, size_t size)
{
	struct utsname u;
	uint64_t h = 0;

	if (!uname(&u))
		h = hash_text(hash_text(h, u.release), u.version);
	h = hash_host(hash_qemu(h));
	snprintf(name, size, "accel-%016llx", (unsigned long long)h);
}

/* One run at a time adds to the cache; the kernel drops the lock when its holder ends. */
enum vm_status vm_cache_lock(struct vm *vm, int dir_fd)
{
	struct pollfd interrupt = { .fd = vm->cfg.interrupt_fd, .events = POLLIN };

	while (flock(dir_fd, LOCK_EX | LOCK_NB)) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return vm_fail(vm, VM_HOST, "cache: %s", strerror(errno));
		if (poll(&interrupt, 1, LOCK_POLL_MS) > 0)
			return vm_fail(vm, VM_INTERRUPTED, "interrupted");
	}
	return VM_OK;
}

void vm_cache_unlock(int dir_fd)
{
	flock(dir_fd, LOCK_UN);
}

/*
 * Creates a file that vm_cache_publish() will name; the caller holds the lock.  The
 * file has no name, so nothing stays behind when the launcher is killed.  If the
 * file system cannot do that (overlayfs under older kernels), all runs use the same
 * name in turn.
 */
int vm_cache_create(int dir_fd)
{
	int file = openat(dir_fd, ".", O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (file < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL))
		file = openat(dir_fd, PART, O_CREAT | O_TRUNC | O_RDWR | O_CLOEXEC, 0600);
	return file;
}

/* The name comes after the content, also on a host that loses power in between. */
bool vm_cache_publish(int file, int dir_fd, const char *name)
{
	struct stat sb;
	char self[64];

	if (fsync(file))
		return false;
	if (!fstat(file, &sb) && sb.st_nlink)
		return !renameat(dir_fd, PART, dir_fd, name);
	snprintf(self, sizeof(self), "/proc/self/fd/%d", file);
	return !linkat(AT_FDCWD, self, dir_fd, name, AT_SYMLINK_FOLLOW);
}

void vm_cache_prune(int dir_fd)
{
	time_t oldest = time(NULL) - UNUSED_SECONDS;
	struct dirent *de;
	struct stat sb;
	DIR *dir;
	int fd;

	fd = openat(dir_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		vm_close(&fd);
		return;
	}
	while ((de = readdir(dir))) {
		if (strncmp(de->d_name, "snapshot-", 9) && strncmp(de->d_name, "accel-", 6))
			continue;
		if (!fstatat(dir_fd, de->d_name, &sb, AT_SYMLINK_NOFOLLOW) &&
		    sb.st_mtime < oldest)
			unlinkat(dir_fd, de->d_name, 0);
	}
	closedir(dir);
}
