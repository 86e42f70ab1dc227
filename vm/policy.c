// SPDX-License-Identifier: MIT
/*
 * How QEMU and the GPU's process get processors on a busy host.
 *
 * A register access takes turns between the guest and the GPU, so one that waits for a
 * processor holds up the other.  The virtual processors spin meanwhile.  The GPU's process
 * and QEMU's main thread, which delivers interrupts, mostly sleep: as soon as they wake up,
 * they should take the place of a thread that spins.  With a single processor they take
 * turns instead, because a GPU that computes without end must not stop its guest.
 */
#include <linux/sched.h>
#include <linux/sched/types.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "vm_priv.h"

/* From Linux 6.12 on, a thread that asks for short slices begins them earlier. */
#define SHORT_SLICE_NS	100000u

enum { RT_SPINS = 1, RT_SLEEPS = 2 };

static bool set(pid_t tid, struct sched_attr attr)
{
	return !syscall(SYS_sched_setattr, tid, &attr, 0);
}

/* May this process use more than one processor? */
static bool has_several_processors(void)
{
	unsigned long mask[128] = { 0 };
	int count = 0;

	if (syscall(SYS_sched_getaffinity, 0, sizeof(mask), mask) < 0)
		return true;
	for (size_t i = 0; i < sizeof(mask) / sizeof(mask[0]); i++)
		count += __builtin_popcountl(mask[i]);
	return count > 1;
}

/* Leaves a thread as it is where the host does not know or permit something better. */
void vm_policy_set(pid_t tid, struct vm_policy policy)
{
	struct sched_attr attr, realtime = {
		.size = sizeof(realtime), .sched_policy = SCHED_RR,
		.sched_priority = policy.sleeps && has_several_processors() ? RT_SLEEPS : RT_SPINS,
	};

	if (policy.realtime && set(tid, realtime))
		return;
	if (!policy.sleeps || syscall(SYS_sched_getattr, tid, &attr, sizeof(attr), 0))
		return;
	attr.sched_runtime = SHORT_SLICE_NS;
	set(tid, attr);
}

/* Says so when the caller wants what the host does not permit. */
void vm_policy_tell(const struct vm *vm)
{
	struct sched_attr attr;

	if (vm->cfg.realtime && !syscall(SYS_sched_getattr, vm->qemu.pid, &attr, sizeof(attr), 0) &&
	    attr.sched_policy != SCHED_RR)
		vm_progress(vm, "SCHED_RR is not permitted here: going on without it");
}
