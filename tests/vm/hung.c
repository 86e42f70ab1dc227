// SPDX-License-Identifier: MIT
/*
 * Guests that hang, each in another way: the launcher has to find out where, and to pass
 * that to the caller's console.
 *
 * Needs the fast kernel, the initramfs and the module in tests/vm/kmod.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vm.h"

#define LOG_MAX	(1u << 20)

struct hang {
	struct vm *vm;
	struct vm_exec exec;
	enum vm_status st;
	char log[LOG_MAX + 1];
	size_t len;
};

static struct hang hang;

static void console(void *arg, const char *text, size_t len)
{
	struct hang *h = arg;

	if (len > LOG_MAX - h->len)
		len = LOG_MAX - h->len;
	memcpy(h->log + h->len, text, len);
	h->len += len;
	h->log[h->len] = '\0';
}

static int start_guest(void **state, unsigned int panic_ms)
{
	const char *build = getenv("BUILD") ? getenv("BUILD") : "build";
	static char kernel[4096], initramfs[4096], module[4096];
	struct vm_config cfg = {
		.kernel_dir = kernel, .initramfs = initramfs, .timeout_ms = 300000,
		.panic_ms = panic_ms,
		.interrupt_fd = -1, .console = console, .arg = &hang,
	};

	memset(&hang, 0, sizeof(hang));
	*state = &hang;
	snprintf(kernel, sizeof(kernel), "%s/guest/kernel-fast", build);
	snprintf(initramfs, sizeof(initramfs), "%s/guest/initramfs.cpio.gz", build);
	snprintf(module, sizeof(module), "%s/tests/vm/kmod/agate_hang.ko", build);
	if (vm_start(&cfg, &hang.vm) != VM_OK ||
	    vm_put(hang.vm, module, "/tmp/agate_hang.ko", 0600) != VM_OK) {
		print_error("%s\n", hang.vm ? vm_error(hang.vm) : "out of memory");
		return -1;
	}
	return 0;
}

static int start(void **state)
{
	return start_guest(state, 0);
}

/* For a kernel that begins no panic. */
static int start_hopeless(void **state)
{
	return start_guest(state, 3000);
}

static int stop(void **state)
{
	struct hang *h = *state;

	vm_stop(h->vm);
	return 0;
}

static void load(struct hang *h, const char *how)
{
	const char *const argv[] = { "/bin/busybox", "insmod", "/tmp/agate_hang.ko", how, NULL };

	h->exec = (struct vm_exec){
		.argv = argv, .timeout_ms = 2000, .grace_ms = 1000, .ask_where = true,
	};
	h->st = vm_exec(h->vm, &h->exec);
	assert_true(h->exec.timed_out);
}

static void assert_said(const struct hang *h, const char *text)
{
	if (strstr(h->log, text))
		return;
	fprintf(stderr, "%s\n", h->log);
	fail_msg("nothing of %s on the console (status %d)", text, h->st);
}

/* PID 1 can run on the other CPU, unless the port's interrupt goes to this one. */
static void test_one_cpu(void **state)
{
	struct hang *h = *state;

	load(h, "how=one-cpu");
	assert_true(h->st == VM_TIMEOUT || h->st == VM_CRASHED);
	assert_said(h, "agate_hang_one_cpu+");
}

static void test_both_cpus(void **state)
{
	struct hang *h = *state;

	load(h, "how=both-cpus");
	assert_int_equal(h->st, VM_CRASHED);
	assert_said(h, "agate_hang_both_cpus+");
	assert_said(h, "agate_hang_other+");
}

static void test_mutex(void **state)
{
	struct hang *h = *state;

	load(h, "how=mutex");
	assert_int_equal(h->st, VM_TIMEOUT);
	assert_said(h, "agate_hang_mutex+");
	assert_said(h, "where: that is all");
}

static void test_asleep(void **state)
{
	struct hang *h = *state;

	load(h, "how=asleep");
	assert_int_equal(h->st, VM_OK);
	assert_true(h->exec.signaled);
	assert_said(h, "agate_hang_asleep+");
	/* The launcher can ask again, and the answer is up to date. */
	h->len = 0;
	assert_int_equal(vm_where_hung(h->vm), VM_OK);
	assert_null(strstr(h->log, "agate_hang_asleep+"));
}

static void test_for_good(void **state)
{
	struct hang *h = *state;

	load(h, "how=for-good");
	assert_int_equal(h->st, VM_TIMEOUT);
	assert_said(h, "CPU#0");
	assert_said(h, "CPU#1");
	assert_said(h, "RIP=");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_one_cpu, start, stop),
		cmocka_unit_test_setup_teardown(test_both_cpus, start, stop),
		cmocka_unit_test_setup_teardown(test_mutex, start, stop),
		cmocka_unit_test_setup_teardown(test_asleep, start, stop),
		cmocka_unit_test_setup_teardown(test_for_good, start_hopeless, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
