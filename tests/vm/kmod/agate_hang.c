// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ways in which a driver can hang a kernel; the launcher has to find out where.  Each has
 * a function of its own, whose name has to appear in the launcher's report.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/smp.h>
#include <linux/wait.h>
#include <asm/nmi.h>

static char *how = "";
module_param(how, charp, 0);

static noinline void agate_hang_spin(void)
{
	local_irq_disable();
	for (;;)
		cpu_relax();
}

static bool other_spins;

static noinline int agate_hang_other(void *unused)
{
	WRITE_ONCE(other_spins, true);
	agate_hang_spin();
	return 0;
}

/* PID 1 can run on the other CPU. */
static noinline void agate_hang_one_cpu(void)
{
	agate_hang_spin();
}

static noinline void agate_hang_both_cpus(void)
{
	struct task_struct *other;
	unsigned int cpu;

	/*
	 * Spin without sleeping: code that stops all CPUs for a moment would find the
	 * other one dead, and this one would hang in that code.
	 */
	migrate_disable();
	cpu = cpumask_any_but(cpu_online_mask, smp_processor_id());
	other = kthread_create(agate_hang_other, NULL, "agate_hang");
	if (!IS_ERR(other)) {
		kthread_bind(other, cpu);
		wake_up_process(other);
		while (!READ_ONCE(other_spins))
			cpu_relax();
	}
	agate_hang_spin();
}

static noinline void agate_hang_mutex(void)
{
	static DEFINE_MUTEX(lock);

	mutex_lock(&lock);
	mutex_lock_nested(&lock, SINGLE_DEPTH_NESTING);
}

/* The kernel's report of blocked tasks omits waits that a signal can end. */
static noinline void agate_hang_asleep(void)
{
	static DECLARE_WAIT_QUEUE_HEAD(never);

	wait_event_interruptible(never, false);
}

static noinline int agate_hang_nmi(unsigned int type, struct pt_regs *regs)
{
	for (;;)
		cpu_relax();
	return NMI_HANDLED;
}

/* Not even an NMI gets through. */
static noinline void agate_hang_for_good(void)
{
	register_nmi_handler(NMI_LOCAL, agate_hang_nmi, 0, "agate_hang");
	agate_hang_both_cpus();
}

static int __init agate_hang_init(void)
{
	if (!strcmp(how, "one-cpu"))
		agate_hang_one_cpu();
	else if (!strcmp(how, "both-cpus"))
		agate_hang_both_cpus();
	else if (!strcmp(how, "mutex"))
		agate_hang_mutex();
	else if (!strcmp(how, "asleep"))
		agate_hang_asleep();
	else if (!strcmp(how, "for-good"))
		agate_hang_for_good();
	return -EINVAL;
}
module_init(agate_hang_init);

MODULE_DESCRIPTION("Hangs, to be found");
MODULE_LICENSE("GPL");
