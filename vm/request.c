// SPDX-License-Identifier: MIT
/*
 * Requests to a running guest: clock and random numbers, files in and out, power.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "vm_priv.h"

/*
 * A restored guest repeats its random numbers and its clock: give it new ones.
 * From here on every frame carries the nonce, in both directions.
 */
enum vm_status vm_setup(struct vm *vm)
{
	struct ctl_setup req = { .seconds = 0 };
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	req.seconds = (uint64_t)now.tv_sec;
	req.nanoseconds = (uint32_t)now.tv_nsec;
	if (getrandom(req.seed, sizeof(req.seed), 0) != sizeof(req.seed) ||
	    getrandom(&vm->ctl.nonce, sizeof(vm->ctl.nonce), 0) != sizeof(vm->ctl.nonce))
		return vm_fail(vm, VM_HOST, "getrandom: %s", strerror(errno));
	return vm_ctl_request(vm, CTL_SETUP, &req, sizeof(req));
}

/* Begins to move a file of at most that many bytes from or to PID 1. */
static void begin_file(struct vm *vm, uint64_t bytes,
		       void (*data)(struct vm *, uint32_t, const void *, size_t))
{
	vm_ctl_begin(vm, data);
	vm->ctl.req.until = vm_answer_until(vm, VM_ANSWER_MS + (unsigned int)(bytes >> 20) * 1000);
}

/* How the request ended: why PID 1 refused it, or that PID 1 did not answer in time. */
static enum vm_status end_file(struct vm *vm, enum vm_status st, const char *guest_path)
{
	if (st == VM_REFUSED)
		return vm_fail(vm, st, "%s: %s", guest_path, strerror(vm->ctl.req.error));
	if (st == VM_TIMEOUT)
		return vm_fail(vm, st, "%s: the guest's PID 1 does not answer", guest_path);
	return st;
}

enum vm_status vm_put_bytes(struct vm *vm, const void *data, size_t len,
			    const char *guest_path, unsigned int mode)
{
	uint32_t m = mode;
	enum vm_status st;

	begin_file(vm, len, NULL);
	st = vm_ctl_send(vm, CTL_PUT, &m, sizeof(m), guest_path, strlen(guest_path));
	for (size_t done = 0; st == VM_OK && done < len;) {
		size_t n = len - done < CTL_PAYLOAD_MAX ? len - done : CTL_PAYLOAD_MAX;

		st = vm_ctl_send(vm, CTL_PUT_DATA, (const char *)data + done, n, NULL, 0);
		done += n;
		while (st == VM_OK && vm->ctl.out.len > VM_QUEUE_MAX)
			st = vm_pump(vm, vm->ctl.req.until);
	}
	if (st == VM_OK)
		st = vm_ctl_send(vm, CTL_PUT_END, NULL, 0, NULL, 0);
	if (st == VM_OK)
		st = vm_ctl_wait(vm);
	return end_file(vm, st, guest_path);
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

/* A request that PID 1 answers with bytes for @fd; @what names them. */
static enum vm_status get(struct vm *vm, uint32_t type, const void *data, size_t len,
			  const char *what, int fd, uint64_t max)
{
	enum vm_status st;

	vm->get_fd = fd;
	vm->get_left = max;
	vm->get_error = 0;
	begin_file(vm, max, get_data);
	st = vm_ctl_send(vm, type, data, len, NULL, 0);
	if (st == VM_OK)
		st = vm_ctl_wait(vm);
	if (st == VM_OK && vm->get_error)
		return vm_fail(vm, vm->get_error == EFBIG ? VM_REFUSED : VM_HOST, "%s: %s",
			       what, strerror(vm->get_error));
	return end_file(vm, st, what);
}

enum vm_status vm_get(struct vm *vm, const char *guest_path, int fd, uint64_t max)
{
	return get(vm, CTL_GET, guest_path, strlen(guest_path), guest_path, fd, max);
}

enum vm_status vm_health(struct vm *vm, bool exact, int fd)
{
	const uint32_t flag = exact;

	return get(vm, CTL_HEALTH, &flag, sizeof(flag), "health", fd, VM_HEALTH_MAX);
}

enum vm_status vm_poweroff(struct vm *vm)
{
	enum vm_status st;

	vm_ctl_begin(vm, NULL);
	vm->ctl.req.until = vm_answer_until(vm, VM_ANSWER_MS);
	st = vm_ctl_send(vm, CTL_POWEROFF, NULL, 0, NULL, 0);
	if (st == VM_OK)
		st = vm_ctl_wait(vm);
	return st == VM_POWEROFF ? VM_OK : st;
}
