// SPDX-License-Identifier: MIT
/* Lab 04, step 3: whoever uses a BO first makes its sg table, and others wait for that. */
#include "shmem.h"

#include <signal.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define GRACES		40	/* ms that a process has to end, if it does not wait */

#define FIRST_USE	"populate 0 4096"

/* Two threads need the table at the same time; the first one is held where it makes it. */
static void two_first_uses(const char *gate, bool maps)
{
	struct command first = { .text = FIRST_USE }, second = first;
	int64_t held, left;
	int fd = shmem_open();
	long before = guest_counter("sg_tables");
	struct bo bo = make_bo(fd, 4);

	first.file = look_at_newest();
	second.file = look_at_newest();
	inject_hold_entry(gate, 1, INJECT_BOUND_MS);
	count_device();
	aside_start(&first.aside, run_command, &first);
	if (!aside_is_held(&first.aside, gate)) {
		/* It makes tables in another way. */
		inject_clear();
		aside_join(&first.aside);
		goto out;
	}
	held = device_held();
	aside_start(&second.aside, run_command, &second);
	aside_signal(&second.aside);
	aside_grace(&second.aside);
	let_go(gate);
	aside_join(&first.aside);
	aside_join(&second.aside);
	left = device_held();
	inject_clear();
	rule("the mapping happens between drm_dev_enter() and drm_dev_exit(): the device stays for it");
	if (maps)
		check_at_least(held, 1, "calls of drm_dev_enter() without their drm_dev_exit() then");
	check_equal(left, 0, "calls of drm_dev_enter() without their drm_dev_exit() afterwards");
	rule("no operation ends early because of a signal: it waits for backing.lock");
	if (second.err == EINTR)
		check_errno(second.err, 0, "a populate that got a signal while it waited for the lock");
	rule("two threads that use a BO first get the one sg table that it has");
	check_errno(second.err, 0, "the second populate");
out:
	rule("populate makes the sg table");
	check_errno(first.err, 0, "the first populate");
	rule("two threads that use a BO first get the one sg table that it has");
	check_equal(guest_counter("sg_tables"), before + 1, "counter sg_tables");
	check_present(first.file, 4, "after two first uses");
	close(first.file);
	done_with(fd, second.file, &bo);
}

/* A process that is killed while it waits for the lock: it ends once its populate has. */
static void kill_it(int file, pid_t child)
{
	const struct timespec pause = { .tv_nsec = 1000000 };
	bool gone = false;

	await_asleep(child, NULL);
	kill(child, SIGKILL);
	for (int i = 0; i < GRACES && !gone; i++) {
		gone = waitpid(child, NULL, WNOHANG) == child;
		nanosleep(&pause, NULL);
	}
	let_go(INJECT_READS);
	if (!gone)
		waitpid(child, NULL, 0);
	if (look(file, "populated") < 0)
		could_not_look("the process was killed before it had come to populate");
}

static void killed_use(void)
{
	struct command first = { .text = FIRST_USE };
	int fd = shmem_open(), file;
	struct bo bo = make_bo(fd, 4);
	pid_t child;

	first.file = look_at_newest();
	file = look_at_newest();
	inject_hold_entry(INJECT_READS, 1, INJECT_BOUND_MS);
	aside_start(&first.aside, run_command, &first);
	if (aside_is_held(&first.aside, INJECT_READS)) {
		child = fork();
		if (!child)
			_exit(tell(file, FIRST_USE));
		kill_it(file, child);
		rule("no operation ends early because of a signal: it waits for backing.lock");
		check_errno((int)look(file, "populated"), 0,
			    "populate of a process that was killed while it waited for the lock");
	}
	aside_join(&first.aside);
	inject_clear();
	rule("populate makes the sg table");
	check_errno(first.err, 0, "the first populate");
	close(first.file);
	done_with(fd, file, &bo);
}

void test_once(void **state)
{
	(void)state;
	two_first_uses("sg_alloc_table_from_pages_segment", false);
	two_first_uses("dma_map_sgtable", true);
	two_first_uses("dma_map_sg_attrs", true);
	two_first_uses(INJECT_READS, false);
	killed_use();
}
