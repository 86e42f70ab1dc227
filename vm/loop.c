// SPDX-License-Identifier: MIT
/*
 * The one place where the launcher waits: for the descriptors that its parts have
 * registered, and for the clock.
 *
 * Callbacks run in the order of registration.  So the caller's interrupt comes first, and
 * QEMU's end after everything that QEMU has said.
 */
#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>

#include "vm_priv.h"

/*
 * From now on the loop polls this descriptor, for input at first.  Its owner may close it,
 * put another in its place, or wait for other events.
 */
void vm_loop_add(struct vm *vm, struct vm_watch *watch, vm_callback_fn *callback, void *data)
{
	struct vm_loop *loop = &vm->loop;

	watch->events = POLLIN;
	watch->callback = callback;
	watch->data = data;
	for (size_t i = 0; i < loop->count; i++)
		if (loop->watches[i] == watch)
			return;
	assert(loop->count < VM_WATCHES_MAX);
	loop->watches[loop->count++] = watch;
}

/* Makes a channel to QEMU: our end, whose callback gets @vm, and @qemu_fd, QEMU's. */
bool vm_loop_connect(struct vm *vm, struct vm_watch *watch, int *qemu_fd,
		     vm_callback_fn *callback)
{
	if (!vm_socketpair(&watch->fd, qemu_fd))
		return false;
	vm_loop_add(vm, watch, callback, vm);
	return true;
}

/* Reads a stream whose other end is closed, until it is empty. */
void vm_loop_drain(struct vm_watch *watch)
{
	struct pollfd p = { .fd = watch->fd, .events = POLLIN };

	while (watch->fd >= 0 && poll(&p, 1, 0) > 0)
		watch->callback(watch->data, POLLIN);
	vm_close(&watch->fd);
}

/* What comes first, the run's deadline or the caller's @until; 0: neither is set. */
static uint64_t earliest(const struct vm *vm, uint64_t until)
{
	return vm->deadline && (!until || vm->deadline < until) ? vm->deadline : until;
}

/* How long until @until, in poll()'s terms; 0 when it is past. */
static int timeout_ms(struct vm *vm, uint64_t until)
{
	uint64_t ms;

	if (!until)
		return -1;
	if (vm_past(vm, until))
		return 0;
	ms = vm_clock_left(vm, until) / 1000000u + 1;
	return ms < INT_MAX ? (int)ms : INT_MAX;
}

/* A callback may close the descriptors of those after it. */
static enum vm_status dispatch(struct vm_watch *const *watches, const struct pollfd *p, size_t count)
{
	enum vm_status st = VM_OK;

	for (size_t i = 0; st == VM_OK && i < count; i++)
		if (p[i].revents && watches[i]->fd == p[i].fd)
			st = watches[i]->callback(watches[i]->data, p[i].revents);
	return st;
}

/*
 * Waits for one round of events and handles it; VM_TIMEOUT when @until (0: never;
 * by vm_time()) or the run's deadline has passed.  Callers loop on it until the event that
 * they wait for has happened.
 */
enum vm_status vm_pump(struct vm *vm, uint64_t until)
{
	const struct vm_loop *loop = &vm->loop;
	const size_t count = loop->count;
	struct pollfd p[VM_WATCHES_MAX];
	enum vm_status st = VM_OK;
	int n;

	if (vm->qemu.ended)
		return vm_qemu_gone(vm);
	for (size_t i = 0; i < count; i++)
		p[i] = (struct pollfd){ .fd = loop->watches[i]->fd,
					.events = loop->watches[i]->events };
	until = earliest(vm, until);
	n = poll(p, count, timeout_ms(vm, until));
	if (n < 0 && errno != EINTR)
		return vm_fail(vm, VM_HOST, "poll: %s", strerror(errno));
	if (n > 0)
		st = dispatch(loop->watches, p, count);
	/* The deadline also holds for a guest that never stops sending. */
	if (st == VM_OK && until && vm_past(vm, until))
		return vm_fail(vm, VM_TIMEOUT, "the time is up");
	return st;
}
