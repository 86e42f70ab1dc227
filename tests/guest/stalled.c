// SPDX-License-Identifier: MIT
/*
 * Memory of a process that does not come: a handler of userfaultfd() keeps it, as a FUSE daemon
 * could.  Only the one who needs the memory waits for it.
 */
#include "graded.h"

#include <errno.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "clients.h"
#include "endless.h"
#include "system_sleep.h"
#include "user_memory.h"

/* A page that the handler keeps, and whoever needs it. */
struct kept {
	uint64_t *at;
	int handler;
};

/* A call that needs it, in a thread of its own. */
struct call {
	pthread_t thread;
	struct space *space;
	struct kept page;
	bool binds;
	int err;
};

/* The page was bound at AREA, and is not there any more. */
static struct kept keep_bound(struct space *space)
{
	struct kept page = { .at = memory(PAGE) };

	page.at[0] = 1;
	user_map(space, page.at, AREA, PAGE);
	assert_int_equal(madvise(page.at, PAGE, MADV_DONTNEED), 0);
	page.handler = clients_stall(page.at, PAGE);
	return page;
}

static struct kept keep(void)
{
	struct kept page = { .at = memory(PAGE) };

	page.handler = clients_stall(page.at, PAGE);
	return page;
}

/* Somebody waits for the page by now. */
static void wait_needed(const struct kept *page)
{
	struct pollfd fd = { .fd = page->handler, .events = POLLIN };
	struct uffd_msg msg;

	if (poll(&fd, 1, 20000) != 1 || read(page->handler, &msg, sizeof(msg)) != sizeof(msg))
		fail_msg("nobody needs the page");
	assert_int_equal(msg.event, UFFD_EVENT_PAGEFAULT);
}

/* It is none of the process's memory any more, and nothing else comes there. */
static void lose(const struct kept *page)
{
	assert_ptr_equal(mmap(page->at, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
			      -1, 0), page->at);
	close(page->handler);
}

/* A chain has come to a page that the handler keeps. */
static struct kept stall_chain(struct space *space)
{
	struct kept page = keep_bound(space);

	endless_start(space, AREA);
	wait_needed(&page);
	return page;
}

static void give(const struct kept *page, uint64_t value)
{
	uint64_t *from = memory(PAGE);
	struct uffdio_copy copy = {
		.dst = (uintptr_t)page->at, .src = (uintptr_t)from, .len = PAGE,
	};

	from[0] = value;
	if (ioctl(page->handler, UFFDIO_COPY, &copy))
		fail_msg("UFFDIO_COPY: %s", strerror(errno));
	munmap(from, PAGE);
}

/* It stays where it is: somebody may still wait for it, who must not touch the next one there. */
static void let_go(const struct kept *page)
{
	close(page->handler);
}

static void *make_call(void *arg)
{
	struct call *call = arg;

	if (call->binds)
		call->err = space_bind(call->space, user_part(call->page.at, AREA + MIB, PAGE, 0),
				       0, 0);
	else
		space_submit(call->space, &(struct agate_compute_payload){
			.op = AGATE_COMPUTE_COPY, .dst = SEEN_VA, .src = AREA, .size = 8,
		}, 0, &call->err);
	return NULL;
}

static void start(struct call *call)
{
	assert_int_equal(pthread_create(&call->thread, NULL, make_call, call), 0);
	wait_needed(&call->page);
}

static int end_call(struct call *call)
{
	assert_int_equal(pthread_join(call->thread, NULL), 0);
	return call->err;
}

/* ---- It comes late ----------------------------------------------------------------- */

static void chain_goes_on(void **state)
{
	struct space spaces[] = { endless_faulting_on(guest_open()), endless_on(guest_open()) };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct kept page = stall_chain(&spaces[i]);

		give(&page, 77 + i);
		endless_copies(&spaces[i], 77 + i);
		space_close(&spaces[i]);
		let_go(&page);
	}
	guest_assert_nothing_left();
}

/*
 * It is bound no more: nobody waits for it, and what becomes of it does not matter.  Then another
 * page comes late.
 */
static void another_instead(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct space space = i ? endless_on(guest_open()) : endless_faulting_on(guest_open());
		struct kept page = stall_chain(&space), next;
		struct bo bo;

		bo = endless_memory(&space, BLOCK, 40 + i);
		endless_copies(&space, 40 + i);
		lose(&page);
		next = keep_bound(&space);
		/* It may have come back before the handler was there. */
		assert_int_equal(madvise(next.at, PAGE, MADV_DONTNEED), 0);
		wait_needed(&next);
		give(&next, 50 + i);
		endless_copies(&space, 50 + i);
		guest_destroy(&bo);
		space_close(&space);
		let_go(&next);
	}
	guest_assert_nothing_left();
}

/* SUBMIT holds nothing that another call for the same address space needs. */
static void others_bind(void **state)
{
	struct space space = space_on(guest_open());
	struct call submit = { .space = &space, .page = keep_bound(&space) };
	struct call bind = { .space = &space, .page = keep(), .binds = true };
	struct bo bo = space_bo(&space, BLOCK, VRAM);

	(void)state;
	start(&submit);
	start(&bind);
	space_map(&space, &bo, AREA + 2 * MIB);
	give(&bind.page, 5);
	assert_int_equal(end_call(&bind), 0);
	give(&submit.page, 6);
	assert_int_equal(end_call(&submit), 0);
	guest_destroy(&bo);
	space_close_last(&space);
	let_go(&submit.page);
	let_go(&bind.page);
}

/* ---- It does not come -------------------------------------------------------------- */

/* Another chain gets the slot.  run.sh has the driver wait for a second, and not for ten. */
static void others_run(void **state)
{
	struct space space = endless_faulting_on(guest_open()), other = endless_on(guest_open());
	struct kept page = stall_chain(&space);

	(void)state;
	endless_start(&other, SEEN_VA);
	endless_goes_on(&other);
	endless_wait_banned(&space);
	space_close(&space);
	let_go(&page);
	space_close_last(&other);
}

/* A file whose jobs wait for it is closed. */
static void closed(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct space space = i ? endless_on(guest_open()) : endless_faulting_on(guest_open());
		struct kept page = stall_chain(&space);

		space_let_go(&space);
		close(space.fd);
		guest_assert_nothing_left();
		let_go(&page);
	}
}

static void *close_file(void *arg)
{
	close(*(int *)arg);
	return NULL;
}

/* The file is closed just when a worker has found that the page is missing. */
static void closed_meanwhile(void **state)
{
	struct space space = endless_faulting_on(guest_open());
	struct kept page = keep_bound(&space);
	const int64_t deadline = guest_deadline(10000);
	struct timespec until;
	pthread_t closer;
	int late;

	(void)state;
	inject_anybody(true);
	inject_hold_return("agate_userptr_collect_one", 1, INJECT_BOUND_MS);
	inject_count("agate_fault_vm_drop");
	inject_anybody(false);
	endless_start(&space, AREA);
	assert_true(inject_await_held("agate_userptr_collect_one", 10000));
	space_let_go(&space);
	assert_int_equal(pthread_create(&closer, NULL, close_file, &space.fd), 0);
	while (!inject_hits("agate_fault_vm_drop"))
		assert_true(guest_deadline(0) < deadline);
	assert_true(inject_let_go("agate_userptr_collect_one"));
	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 10;
	late = pthread_timedjoin_np(closer, NULL, &until);
	if (late) {
		give(&page, 0);
		pthread_join(closer, NULL);
	}
	inject_clear();
	let_go(&page);
	assert_int_equal(late, 0);
	guest_assert_nothing_left();
}

/* The handler gives up, and the page is none of the process's by then. */
static void lost(void **state)
{
	struct space spaces[] = { endless_faulting_on(guest_open()), endless_on(guest_open()) };

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		struct kept page = stall_chain(&spaces[i]);

		munmap(page.at, PAGE);
		close(page.handler);
		endless_wait_banned(&spaces[i]);
		space_close(&spaces[i]);
	}
	guest_assert_nothing_left();
}

/* A file has so many waits, and no more; those of others go on. */
static void too_many(void **state)
{
	enum { MOST = 64 };
	static struct space spaces[MOST + 1];
	static struct kept pages[MOST];
	struct space other = endless_on(guest_open());
	struct kept page = keep_bound(&other), one_more;
	int fd = guest_open();

	(void)state;
	for (unsigned int i = 0; i < MOST; i++) {
		spaces[i] = endless_on(fd);
		pages[i] = stall_chain(&spaces[i]);
	}
	spaces[MOST] = endless_on(fd);
	one_more = keep_bound(&spaces[MOST]);
	endless_start(&spaces[MOST], AREA);
	endless_wait_banned(&spaces[MOST]);
	endless_start(&other, AREA);
	wait_needed(&page);
	give(&page, 3);
	endless_copies(&other, 3);
	for (unsigned int i = 0; i <= MOST; i++)
		space_end(&spaces[i]);
	close(fd);
	space_close(&other);
	for (unsigned int i = 0; i < MOST; i++)
		let_go(&pages[i]);
	let_go(&one_more);
	let_go(&page);
	guest_assert_nothing_left();
}

static void need_and_wait(void *arg)
{
	struct space space = space_on(guest_open());
	struct call submit = { .space = &space, .page = keep_bound(&space) };

	(void)arg;
	start(&submit);
}

static void killed(void **state)
{
	(void)state;
	clients_end(need_and_wait, NULL, true);
	guest_assert_nothing_left();
}

/* ---- The device ends, or sleeps ---------------------------------------------------- */

static void unbound(void **state)
{
	struct space spaces[] = { endless_faulting_on(guest_open()), endless_on(guest_open()) };
	struct space space = space_on(guest_open());
	struct call submit = { .space = &space, .page = keep_bound(&space) };
	struct call bind = { .space = &space, .page = keep(), .binds = true };
	struct kept pages[2];

	(void)state;
	for (unsigned int i = 0; i < 2; i++)
		pages[i] = keep_bound(&spaces[i]);
	/* While one stands still on the slot, another one's turn does not come. */
	endless_start(&spaces[1], AREA);
	wait_needed(&pages[1]);
	endless_start(&spaces[0], AREA);
	wait_needed(&pages[0]);
	start(&submit);
	start(&bind);
	assert_int_equal(device_unbind(), 0);
	give(&submit.page, 1);
	assert_int_equal(end_call(&submit), ENODEV);
	give(&bind.page, 1);
	assert_int_equal(end_call(&bind), ENODEV);
	close(space.fd);
	let_go(&submit.page);
	let_go(&bind.page);
	for (unsigned int i = 0; i < 2; i++) {
		assert_int_equal(endless_submit(&spaces[i], JOBS_VA), ENODEV);
		close(spaces[i].fd);
		let_go(&pages[i]);
	}
	assert_int_equal(device_bind(), 0);
	space = endless_on(guest_open());
	endless_start(&space, SEEN_VA);
	endless_goes_on(&space);
	space_close_last(&space);
}

static void sleeps(void **state)
{
	struct space spaces[] = { endless_on(guest_open()), endless_faulting_on(guest_open()) };
	struct kept pages[2];

	(void)state;
	for (unsigned int i = 0; i < 2; i++) {
		pages[i] = stall_chain(&spaces[i]);
	}
	assert_int_equal(sleep_devices(), 0);
	for (unsigned int i = 0; i < 2; i++)
		give(&pages[i], 5 + i);
	for (unsigned int i = 0; i < 2; i++)
		endless_copies(&spaces[i], 5 + i);
	for (unsigned int i = 0; i < 2; i++) {
		space_close(&spaces[i]);
		let_go(&pages[i]);
	}
	guest_assert_nothing_left();
}

int main(int argc, char *argv[])
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(chain_goes_on, guest_teardown),
		cmocka_unit_test_teardown(another_instead, guest_teardown),
		cmocka_unit_test_teardown(others_bind, guest_teardown),
		cmocka_unit_test_teardown(others_run, guest_teardown),
		cmocka_unit_test_teardown(closed, guest_teardown),
		cmocka_unit_test_teardown(closed_meanwhile, guest_teardown),
		cmocka_unit_test_teardown(too_many, guest_teardown),
		cmocka_unit_test_teardown(lost, guest_teardown),
		cmocka_unit_test_teardown(killed, guest_teardown),
		cmocka_unit_test_teardown(sleeps, guest_teardown),
		cmocka_unit_test_teardown(unbound, guest_teardown),
	};

	if (argc > 1)
		cmocka_set_test_filter(argv[1]);
	return cmocka_run_group_tests_name("stalled", tests, NULL, NULL);
}
