// SPDX-License-Identifier: MIT
/*
 * The launcher's end of the control channel to PID 1: frames out, frames in, one
 * request in flight.  The guest's kernel runs code under test, so the launcher
 * checks every length that it receives.
 */
#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "vm_priv.h"

/* Accept only a status with which a process can end. */
static void take_exit(struct vm_request *req)
{
	req->error = 0;
	if (req->exit.how == CTL_EXITED)
		req->exit.value &= 0xff;
	else if (req->exit.how == CTL_SIGNALED)
		req->exit.value &= 0x7f;
	else
		req->error = req->exit.value ? (int)req->exit.value : EPROTO;
	req->done = true;
}

static void take_frame(struct vm *vm, const struct ctl_header *hdr, const char *data)
{
	struct vm_ctl *ctl = &vm->ctl;
	struct vm_request *req = &ctl->req;
	uint32_t version;
	int32_t error;

	if (hdr->type == CTL_READY) {
		if (hdr->len == sizeof(version)) {
			memcpy(&version, data, sizeof(version));
			ctl->ready = version == CTL_VERSION;
		}
		return;
	}
	if (hdr->id != req->id)
		req = &ctl->outer;
	if (hdr->id != req->id || !req->id || req->done)
		return;		/* a late answer to a request that was given up */
	if (hdr->type == CTL_ACK && hdr->len == sizeof(error)) {
		memcpy(&error, data, sizeof(error));
		req->error = error;
		req->done = true;
	} else if (hdr->type == CTL_EXIT && hdr->len == sizeof(req->exit)) {
		memcpy(&req->exit, data, sizeof(req->exit));
		take_exit(req);
	} else if (req->data) {
		req->data(vm, hdr->type, data, hdr->len);
	}
}

/* Reads all available bytes; false at the end of the stream or when they are not frames. */
static bool read_frames(struct vm *vm)
{
	char chunk[CTL_PAYLOAD_MAX];
	struct vm_buf *in = &vm->ctl.in;
	struct ctl_header hdr;
	size_t used = 0;
	ssize_t n;

	n = read(vm->ctl.watch.fd, chunk, sizeof(chunk));
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n == 0 || !vm_buf_append(in, chunk, (size_t)n))
		return false;
	while (in->len - used >= sizeof(hdr)) {
		memcpy(&hdr, in->data + used, sizeof(hdr));
		if (hdr.nonce != vm->ctl.nonce)
			vm->ctl.broken = "wrong nonce on the control channel: not from PID 1";
		else if (hdr.len > CTL_PAYLOAD_MAX)
			vm->ctl.broken = "the guest broke the control protocol";
		if (vm->ctl.broken)
			return false;
		if (in->len - used < sizeof(hdr) + hdr.len)
			break;
		take_frame(vm, &hdr, in->data + used + sizeof(hdr));
		used += sizeof(hdr) + hdr.len;
	}
	vm_buf_consume(in, used);
	return true;
}

/* Writes as much as fits; false when the other end is gone. */
static bool write_frames(struct vm *vm)
{
	struct vm_buf *out = &vm->ctl.out;
	ssize_t n;

	n = write(vm->ctl.watch.fd, out->data, out->len);
	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	vm_buf_consume(out, (size_t)n);
	if (!out->len)
		vm->ctl.watch.events = POLLIN;
	return true;
}

static enum vm_status transfer(void *data, short revents)
{
	struct vm *vm = data;

	if (((revents & POLLOUT) && !write_frames(vm)) ||
	    ((revents & (POLLIN | POLLHUP)) && !read_frames(vm)))
		vm_close(&vm->ctl.watch.fd);
	return VM_OK;
}

bool vm_ctl_open(struct vm *vm)
{
	return vm_loop_connect(vm, &vm->ctl.watch, &vm->ctl.qemu_fd, transfer);
}

bool vm_broken(const struct vm *vm)
{
	return vm->ctl.broken;
}

static enum vm_status channel_closed(struct vm *vm)
{
	return vm->ctl.broken ? vm_fail(vm, VM_HOST, "%s", vm->ctl.broken) :
		vm_channel_closed(vm, "the control channel is closed");
}

/* Queues one frame made of two pieces, for that request. */
enum vm_status vm_ctl_send_for(struct vm *vm, const struct vm_request *req, uint32_t type,
			       const void *a, size_t alen, const void *b, size_t blen)
{
	struct ctl_header hdr = {
		.len = (uint32_t)(alen + blen), .type = type, .id = req->id,
		.nonce = vm->ctl.nonce,
	};

	if (vm->ctl.watch.fd < 0)
		return channel_closed(vm);
	if (alen + blen > CTL_PAYLOAD_MAX)
		return vm_fail(vm, VM_HOST, "request too long");
	if (!vm_buf_append(&vm->ctl.out, &hdr, sizeof(hdr)) ||
	    !vm_buf_append(&vm->ctl.out, a, alen) || !vm_buf_append(&vm->ctl.out, b, blen))
		return vm_fail(vm, VM_HOST, "out of memory");
	vm->ctl.watch.events = POLLIN | POLLOUT;
	return VM_OK;
}

enum vm_status vm_ctl_send(struct vm *vm, uint32_t type, const void *a, size_t alen,
			   const void *b, size_t blen)
{
	return vm_ctl_send_for(vm, &vm->ctl.req, type, a, alen, b, blen);
}

/* Begins a request: the frames that follow, in both directions, carry its id. */
void vm_ctl_begin(struct vm *vm, void (*data)(struct vm *, uint32_t, const void *, size_t))
{
	vm->ctl.req = (struct vm_request){ .id = ++vm->ctl.last_id, .data = data };
}

/* A second request may begin while the first is in flight; it ends before the first does. */
void vm_ctl_aside(struct vm *vm)
{
	vm->ctl.outer = vm->ctl.req;
}

void vm_ctl_resume(struct vm *vm)
{
	vm->ctl.req = vm->ctl.outer;
	vm->ctl.outer = (struct vm_request){ .id = 0 };
}

/*
 * Waits for the end of the request; PID 1's refusal becomes VM_REFUSED.  VM_TIMEOUT
 * when ctl.req.until passes first.
 */
enum vm_status vm_ctl_wait(struct vm *vm)
{
	enum vm_status st = VM_OK;

	while (st == VM_OK && !vm->ctl.req.done) {
		if (vm->ctl.broken)
			return vm_fail(vm, VM_HOST, "%s", vm->ctl.broken);
		st = vm_pump(vm, vm->ctl.req.until);
	}
	/* The answer may have come together with the guest's end. */
	if (vm->ctl.req.done && st != VM_INTERRUPTED)
		st = VM_OK;
	if (st == VM_OK && vm->ctl.req.error)
		return vm_fail(vm, VM_REFUSED, "%s", strerror(vm->ctl.req.error));
	return st;
}

/* A request of one frame that ends in an ACK. */
enum vm_status vm_ctl_request(struct vm *vm, uint32_t type, const void *data, size_t len)
{
	enum vm_status st;

	vm_ctl_begin(vm, NULL);
	vm->ctl.req.until = vm_answer_until(vm, VM_ANSWER_MS);
	st = vm_ctl_send(vm, type, data, len, NULL, 0);
	return st == VM_OK ? vm_ctl_wait(vm) : st;
}

enum vm_status vm_ctl_ready(struct vm *vm)
{
	uint64_t until = vm_answer_until(vm, VM_BOOT_MS);
	enum vm_status st = VM_OK;

	while (st == VM_OK && !vm->ctl.ready)
		st = vm_pump(vm, until);
	return st;
}
