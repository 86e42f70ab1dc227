// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lab 06: the list of imports as it was when prime.lock was given back last.  When the lock is
 * wanted next, or the test looks, the list has to be the same.
 *
 * The test has one thread that imports and closes meanwhile.
 */
#include "foreign_parts.h"

#include <linux/kprobes.h>
#include <linux/mutex.h>

#include "agate_device.h"
#include "probes.h"
#include "watch.h"

static struct agate_prime *prime;	/* whose list it is, or NULL */
static struct list_head last;		/* its two pointers, when the lock was given back */
static u32 unlocked;

static void __kprobes remember(void)
{
	last.next = READ_ONCE(prime->imports.next);
	last.prev = READ_ONCE(prime->imports.prev);
}

static void __kprobes compare(void)
{
	if (last.next == READ_ONCE(prime->imports.next) &&
	    last.prev == READ_ONCE(prime->imports.prev))
		return;
	unlocked++;
	remember();
}

static int __kprobes on_lock(struct kprobe *kp, struct pt_regs *regs)
{
	if (regs->di == (unsigned long)&prime->lock)
		compare();
	return 0;
}

static int __kprobes on_unlock(struct kprobe *kp, struct pt_regs *regs)
{
	if (regs->di == (unsigned long)&prime->lock)
		remember();
	return 0;
}

static struct kprobe probes[] = {
#ifdef CONFIG_DEBUG_LOCK_ALLOC
	{ .symbol_name = "mutex_lock_nested", .pre_handler = on_lock },
#else
	{ .symbol_name = "mutex_lock", .pre_handler = on_lock },
#endif
	{ .symbol_name = "mutex_unlock", .pre_handler = on_unlock },
};

static struct kprobe *armed[] = { &probes[0], &probes[1] };

static void forget(void)
{
	if (!prime)
		return;
	probes_disarm(armed, ARRAY_SIZE(armed));
	prime = NULL;
}

int imports_watch(bool on)
{
	struct agate_device *adev = watch_device();
	unsigned int i;
	int ret;

	forget();
	if (!on)
		return 0;
	if (!adev)
		return -ENODEV;
	for (i = 0; i < ARRAY_SIZE(probes); i++) {
		probes[i].addr = NULL;
		probes[i].flags = 0;
	}
	prime = &adev->prime;
	unlocked = 0;
	remember();
	ret = probes_arm(armed, ARRAY_SIZE(armed));
	if (ret)
		prime = NULL;
	return ret;
}

u32 imports_unlocked(void)
{
	if (prime)
		compare();
	return unlocked;
}
