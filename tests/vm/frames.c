// SPDX-License-Identifier: MIT
/*
 * Frames of a hostile guest on the control channel: the launcher rejects all of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "vm_priv.h"

#define NONCE	0x1122334455667788u

/* The launcher's side of a guest of which only the other end of a socket exists. */
struct guest {
	struct vm *vm;
	int fd;
	size_t got;
};

static void take(struct vm *vm, uint32_t type, const void *data, size_t len)
{
	size_t *got = vm->cfg.arg;

	(void)type;
	(void)data;
	*got += len;
}

static int setup(void **state)
{
	static struct guest guest;
	struct vm_config cfg = { .interrupt_fd = -1, .arg = &guest.got };

	guest.got = 0;
	guest.vm = vm_new(&cfg);
	if (!guest.vm || !vm_ctl_open(guest.vm))
		return -1;
	guest.fd = guest.vm->ctl.qemu_fd;
	guest.vm->ctl.qemu_fd = -1;
	guest.vm->ctl.nonce = NONCE;
	vm_ctl_begin(guest.vm, take);
	*state = &guest;
	return 0;
}

static int teardown(void **state)
{
	struct guest *guest = *state;

	close(guest->fd);
	vm_stop(guest->vm);
	return 0;
}

static void send_frame(struct guest *guest, struct ctl_header hdr, const void *data)
{
	assert_int_equal(write(guest->fd, &hdr, sizeof(hdr)), sizeof(hdr));
	if (data)
		assert_int_equal(write(guest->fd, data, hdr.len), hdr.len);
}

static struct ctl_header header(struct guest *guest, uint32_t type, uint32_t len)
{
	return (struct ctl_header){ .type = type, .len = len, .nonce = NONCE,
				    .id = guest->vm->ctl.req.id };
}

static void test_answer_is_taken(void **state)
{
	struct guest *guest = *state;
	const int32_t zero = 0;

	send_frame(guest, header(guest, CTL_STDOUT, 4), "text");
	send_frame(guest, header(guest, CTL_ACK, 4), &zero);
	assert_int_equal(vm_ctl_wait(guest->vm), VM_OK);
	assert_int_equal(guest->got, 4);
}

static void test_wrong_nonce(void **state)
{
	struct guest *guest = *state;
	struct ctl_header hdr = header(guest, CTL_ACK, 4);
	const int32_t zero = 0;

	hdr.nonce++;
	send_frame(guest, hdr, &zero);
	assert_int_equal(vm_ctl_wait(guest->vm), VM_HOST);
	assert_non_null(strstr(vm_error(guest->vm), "wrong nonce"));
	/* From then on the launcher neither accepts nor sends a frame. */
	assert_int_equal(guest->vm->ctl.watch.fd, -1);
	assert_int_equal(vm_ctl_wait(guest->vm), VM_HOST);
	assert_int_equal(vm_ctl_request(guest->vm, CTL_RESCAN, NULL, 0), VM_HOST);
	assert_non_null(strstr(vm_error(guest->vm), "wrong nonce"));
}

static void test_no_nonce(void **state)
{
	struct guest *guest = *state;
	struct ctl_header hdr = header(guest, CTL_EXIT, sizeof(struct ctl_exit));
	const struct ctl_exit fine = { .how = CTL_EXITED };

	hdr.nonce = 0;
	send_frame(guest, hdr, &fine);
	assert_int_equal(vm_ctl_wait(guest->vm), VM_HOST);
}

static void test_too_long(void **state)
{
	struct guest *guest = *state;

	send_frame(guest, header(guest, CTL_STDOUT, CTL_PAYLOAD_MAX + 1), NULL);
	assert_int_equal(vm_ctl_wait(guest->vm), VM_HOST);
	assert_int_equal(guest->got, 0);
}

/* The launcher ignores an answer to another request, or of another length. */
static void test_not_the_answer(void **state)
{
	struct guest *guest = *state;
	struct ctl_header other = header(guest, CTL_ACK, 4);
	const int32_t zero = 0;

	other.id++;
	send_frame(guest, other, &zero);
	send_frame(guest, header(guest, CTL_ACK, 2), &zero);
	guest->vm->ctl.req.until = vm_now() + 50000000;
	assert_int_equal(vm_ctl_wait(guest->vm), VM_TIMEOUT);
}

static void test_impossible_status(void **state)
{
	struct guest *guest = *state;
	const struct ctl_exit bogus = { .how = CTL_EXITED, .value = 0xffffff07 };

	send_frame(guest, header(guest, CTL_EXIT, sizeof(bogus)), &bogus);
	assert_int_equal(vm_ctl_wait(guest->vm), VM_OK);
	assert_int_equal(guest->vm->ctl.req.exit.value, 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_answer_is_taken, setup, teardown),
		cmocka_unit_test_setup_teardown(test_wrong_nonce, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_nonce, setup, teardown),
		cmocka_unit_test_setup_teardown(test_too_long, setup, teardown),
		cmocka_unit_test_setup_teardown(test_not_the_answer, setup, teardown),
		cmocka_unit_test_setup_teardown(test_impossible_status, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
