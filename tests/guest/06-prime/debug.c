// SPDX-License-Identifier: MIT
/* What the debug kernel sees of lab 06: the order of locks, and allocations that fail. */
#include "prime.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fail_nth.h"

#define RW		(PROT_READ | PROT_WRITE)

/* Both locks are taken by imports and by the end of the device, which have to agree. */
void test_lock_order(void **state)
{
	int fd = prime_open(), dmabuf = foreign_dmabuf(FOREIGN_SCATTERED, 0);
	struct bo bo;

	(void)state;
	bo = import_bo(fd, dmabuf);
	check_errno(guest_close_handle(fd, bo.handle), 0, "GEM_CLOSE");
	import_bo(fd, dmabuf);
	rule("the locks are object_name_lock first, and then prime.lock, and then a reservation");
	check_errno(device_unbind(), 0, "unbinding the device");
	come_again(fd, dmabuf, 2);
}

static struct {
	int fd, dmabuf, next;
	void *cpu;
	struct bo bo;
} nth;

static void export_before(void)
{
	nth.fd = prime_open();
	nth.bo = numbered_bo(nth.fd, 0);
	nth.dmabuf = -1;
	nth.cpu = NULL;
	nth.next = dup(nth.fd);	/* the lowest free number */
	close(nth.next);
}

static int export_call(void)
{
	int err = dmabuf_try_export(nth.fd, nth.bo.handle, DRM_RDWR, &nth.dmabuf);

	/* The core installs the file, and then the copy of its number fails. */
	if (err == EFAULT)
		close(nth.next);
	if (!err)
		err = try_map(nth.dmabuf, RW, MAP_SHARED, &nth.cpu);
	return err;
}

static void export_after(void)
{
	if (nth.cpu)
		munmap(nth.cpu, SIZE);
	if (nth.dmabuf >= 0)
		close(nth.dmabuf);
	guest_destroy(&nth.bo);
	close(nth.fd);
	check_gone();
}

static void import_before(void)
{
	nth.fd = prime_open();
	nth.dmabuf = foreign_dmabuf(FOREIGN_SCATTERED, 0);
}

static int import_call(void)
{
	uint32_t handle;

	return dmabuf_try_import(nth.fd, nth.dmabuf, &handle);
}

static void import_after(void)
{
	struct foreign_seen seen;

	close(nth.fd);
	check_gone();
	close(nth.dmabuf);
	seen = foreign_seen();
	check_undone(seen.mapped);
}

void test_allocations(void **state)
{
	const struct fail_nth_call out = {
		"HANDLE_TO_FD and mmap()", export_before, export_call, export_after,
	};
	const struct fail_nth_call in = {
		"FD_TO_HANDLE", import_before, import_call, import_after,
	};

	(void)state;
	close(prime_open());
	rule("when an allocation fails, the call fails and leaves nothing");
	fail_nth_each(&out);
	rule("when an allocation fails, the call fails and leaves nothing");
	fail_nth_each(&in);
}
