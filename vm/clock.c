// SPDX-License-Identifier: MIT
/*
 * The guest's clock: it stands still while the guest waits for a processor.
 *
 * Time limits for a guest count by this clock, so a guest among many on a busy host has as
 * much time as a guest that is alone.  The kernel counts for each thread how long it ran,
 * and how long it was ready to run but did not (/proc/PID/task/TID/schedstat).  The clock
 * subtracts the sum of the waits of QEMU's and the GPUs' threads, because a thread often
 * waits for another one that waits for a processor.  When two threads waited at the same
 * time that sum is too large; so the clock advances at least by the time of the thread
 * that ran longest.  The kernel counts a wait only when it is over, and it may be longer
 * than the time since the clock was last read: the clock then owes the rest and stands
 * still for it later.  Where the kernel does not count, this is CLOCK_MONOTONIC.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "vm_priv.h"

/* Time that was counted twice must not stop the clock of a guest that has its processors. */
#define OWED_MAX	2000000000u

/* The counts of this thread at the last reading; zero for a new thread. */
static struct vm_clock_thread *known(struct vm_clock *clock, int tid)
{
	for (size_t i = 0; i < clock->count; i++)
		if (clock->threads[i].tid == tid)
			return &clock->threads[i];
	if (clock->count == VM_CLOCK_THREADS)
		return NULL;
	clock->threads[clock->count] = (struct vm_clock_thread){ .tid = tid };
	return &clock->threads[clock->count++];
}

/* What the threads did since the last reading, in ns. */
struct since {
	uint64_t waited;	/* all of them together */
	uint64_t ran;		/* the one that ran longest */
};

static void add_thread(struct vm_clock *clock, int dir, const char *tid, struct since *since)
{
	struct vm_clock_thread *last;
	char name[32], text[96];
	uint64_t ran, waited;
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), "%.15s/schedstat", tid);
	fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	last = known(clock, atoi(tid));
	if (!last || sscanf(text, "%" SCNu64 " %" SCNu64, &ran, &waited) != 2 ||
	    ran < last->ran || waited < last->waited)
		return;
	since->waited += waited - last->waited;
	if (ran - last->ran > since->ran)
		since->ran = ran - last->ran;
	last->waited = waited;
	last->ran = ran;
}

static void add_process(struct vm_clock *clock, const struct vm_proc *proc, struct since *since)
{
	struct dirent *de;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)proc->pid);
	dir = proc->pid ? opendir(path) : NULL;
	while (dir && (de = readdir(dir)))
		if (de->d_name[0] != '.')
			add_thread(clock, dirfd(dir), de->d_name, since);
	if (dir)
		closedir(dir);
}

uint64_t vm_time(struct vm *vm)
{
	struct vm_clock *clock = &vm->clock;
	uint64_t now = vm_now(), passed = now - clock->looked, stand;
	struct since since = { .waited = 0 };

	add_process(clock, &vm->qemu, &since);
	for (unsigned int n = 0; n < vm->gpus; n++)
		add_process(clock, &vm->gpu[n].proc, &since);
	clock->owed += since.waited;
	/* The clock never goes back, and advances while any thread runs. */
	stand = passed > since.ran ? passed - since.ran : 0;
	if (stand > clock->owed)
		stand = clock->owed;
	clock->owed -= stand;
	if (clock->owed > OWED_MAX)
		clock->owed = OWED_MAX;
	clock->looked = now;
	clock->stood += stand;
	return now - clock->stood;
}

bool vm_past(struct vm *vm, uint64_t until)
{
	/* The clock can only be slower than this estimate, so most calls need not read /proc. */
	return vm_now() - vm->clock.stood >= until && vm_time(vm) >= until;
}

bool vm_out_of_time(struct vm *vm)
{
	return vm->deadline && vm_past(vm, vm->deadline);
}

uint64_t vm_clock_left(const struct vm *vm, uint64_t until)
{
	uint64_t now = vm_now() - vm->clock.stood;

	return now < until ? until - now : 0;
}

uint64_t vm_answer_until(struct vm *vm, unsigned int usual_ms)
{
	uint64_t ms = vm->cfg.answer_ms ? vm->cfg.answer_ms : usual_ms;

	return vm->cfg.gdb ? 0 : vm_time(vm) + ms * 1000000;
}
