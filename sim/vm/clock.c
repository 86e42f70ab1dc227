// SPDX-License-Identifier: MIT
/*
 * The guest's clock: it stands still while the guest waits for a processor.
 *
 * Limits to what a guest may take are told by it, so that one of many on a busy host
 * has as long as one that is alone.  The kernel counts for each thread how long it was
 * ready to run and did not (/proc/PID/task/TID/schedstat, the second number); of QEMU's
 * and the GPU's threads the one that waited longest counts, for the others may have
 * waited at the same time.  Where the kernel does not count, this is CLOCK_MONOTONIC.
 */
#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "vm_priv.h"

/* What this thread had waited when it was last asked about; a new one, nothing. */
static uint64_t *known(struct vm_clock *clock, int tid)
{
	for (size_t i = 0; i < clock->count; i++)
		if (clock->threads[i].tid == tid)
			return &clock->threads[i].waited;
	if (clock->count == VM_CLOCK_THREADS)
		return NULL;
	clock->threads[clock->count] = (struct vm_clock_thread){ .tid = tid };
	return &clock->threads[clock->count++].waited;
}

/* How long a thread has waited since it was last asked about. */
static uint64_t waited(struct vm_clock *clock, int dir, const char *tid)
{
	char name[32], text[96];
	uint64_t total, *last;
	ssize_t n;
	int fd;

	snprintf(name, sizeof(name), "%.15s/schedstat", tid);
	fd = openat(dir, name, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	last = known(clock, atoi(tid));
	if (!last || sscanf(text, "%*u %" SCNu64, &total) != 1 || total < *last)
		return 0;
	total -= *last;
	*last += total;
	return total;
}

static uint64_t longest_wait(struct vm_clock *clock, const struct vm_proc *proc)
{
	uint64_t longest = 0, one;
	struct dirent *de;
	char path[64];
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", (int)proc->pid);
	dir = proc->pid ? opendir(path) : NULL;
	while (dir && (de = readdir(dir))) {
		if (de->d_name[0] == '.')
			continue;
		one = waited(clock, dirfd(dir), de->d_name);
		longest = one > longest ? one : longest;
	}
	if (dir)
		closedir(dir);
	return longest;
}

uint64_t vm_time(struct vm *vm)
{
	struct vm_clock *clock = &vm->clock;
	uint64_t now = vm_now(), qemu, sim, wait;

	qemu = longest_wait(clock, &vm->qemu);
	sim = longest_wait(clock, &vm->sim);
	wait = qemu > sim ? qemu : sim;
	/* It never goes back: a wait may be older than the last look at the clock. */
	if (wait > now - clock->looked)
		wait = now - clock->looked;
	clock->looked = now;
	clock->stood += wait;
	return now - clock->stood;
}

bool vm_past(struct vm *vm, uint64_t until)
{
	/* It only ever stands longer, so most of the time one need not look. */
	return vm_now() - vm->clock.stood >= until && vm_time(vm) >= until;
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
