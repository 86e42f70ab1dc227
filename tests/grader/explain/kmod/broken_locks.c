// SPDX-License-Identifier: GPL-2.0-only
/*
 * Locks, contexts, waiting.
 */
#include <linux/completion.h>
#include <linux/interrupt.h>
#include <linux/irq_work.h>
#include <linux/kernel.h>
#include <linux/mutex.h>
#include <linux/rcupdate.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/delay.h>

#include "agate_broken.h"

static DEFINE_MUTEX(first_mutex);
static DEFINE_MUTEX(second_mutex);
static DEFINE_SPINLOCK(first_lock);
static DEFINE_SPINLOCK(second_lock);
static DEFINE_SPINLOCK(irq_lock);
static int *rcu_pointer;
static int sink;

static void mutex_twice(void)
{
	mutex_lock(&first_mutex);
	mutex_lock(&first_mutex);
}

static void spin_twice(void)
{
	spin_lock(&first_lock);
	spin_lock(&first_lock);
}

static noinline void take_both(struct mutex *a, struct mutex *b)
{
	mutex_lock(a);
	mutex_lock(b);
	mutex_unlock(b);
	mutex_unlock(a);
}

static void both_orders(void)
{
	take_both(&first_mutex, &second_mutex);
	take_both(&second_mutex, &first_mutex);
}

static void irq_taken(struct irq_work *work)
{
	spin_lock(&irq_lock);
	spin_unlock(&irq_lock);
}

static DEFINE_IRQ_WORK(irq_taker, irq_taken);

static void take_in_irq(void)
{
	irq_work_queue(&irq_taker);
	irq_work_sync(&irq_taker);
}

static void irq_unsafe(void)
{
	take_in_irq();
	spin_lock(&irq_lock);
	spin_unlock(&irq_lock);
}

static void irq_order(void)
{
	unsigned long flags;

	take_in_irq();
	spin_lock(&second_lock);
	spin_unlock(&second_lock);
	spin_lock_irqsave(&irq_lock, flags);
	spin_lock(&second_lock);
	spin_unlock(&second_lock);
	spin_unlock_irqrestore(&irq_lock, flags);
}

static void unlock_unheld(void)
{
	mutex_unlock(&first_mutex);
}

static void spin_unlock_unheld(void)
{
	spin_unlock(&first_lock);
}

static void freed_locked(void)
{
	struct mutex *m = kzalloc(sizeof(*m), GFP_KERNEL);

	if (!m)
		return;
	mutex_init(m);
	mutex_lock(m);
	kfree(m);
}

static void left_locked(void)
{
	mutex_lock(&first_mutex);
}

static void left_spinning(void)
{
	spin_lock(&first_lock);
}

static void no_init(void)
{
	static struct {
		spinlock_t lock;
	} *box;

	box = kzalloc(sizeof(*box), GFP_KERNEL);
	if (!box)
		return;
	spin_lock(&box->lock);
	spin_unlock(&box->lock);
}

static void rcu_unprotected(void)
{
	sink = !!rcu_dereference(*(int __rcu **)&rcu_pointer);
}

static void sleep_in_spin(void)
{
	spin_lock(&first_lock);
	mutex_lock(&first_mutex);
	mutex_unlock(&first_mutex);
	spin_unlock(&first_lock);
}

static void alloc_in_spin(void)
{
	void *p;

	spin_lock(&first_lock);
	p = kmalloc(100, GFP_KERNEL);
	spin_unlock(&first_lock);
	kfree(p);
}

static void irq_sleeper(struct irq_work *work)
{
	mutex_lock(&second_mutex);
	mutex_unlock(&second_mutex);
}

static DEFINE_IRQ_WORK(sleep_taker, irq_sleeper);

static void sleep_in_irq(void)
{
	irq_work_queue(&sleep_taker);
	irq_work_sync(&sleep_taker);
}

static void schedule_atomic(void)
{
	spin_lock(&first_lock);
	schedule_timeout_uninterruptible(1);
	spin_unlock(&first_lock);
}

static void wrong_cpu_id(void)
{
	sink = smp_processor_id();
}

static DECLARE_COMPLETION(never);

static void wait_forever(void)
{
	wait_for_completion(&never);
}

static noinline void spin_here(void)
{
	for (;;)
		cpu_relax();
}

static void loop_forever(void)
{
	spin_here();
}

static void loop_locked(void)
{
	spin_lock(&first_lock);
	spin_here();
}

static void loop_irqs_off(void)
{
	local_irq_disable();
	spin_here();
}

static void irq_looper(struct irq_work *work)
{
	spin_here();
}

static DEFINE_IRQ_WORK(loop_taker, irq_looper);

static void loop_in_irq(void)
{
	irq_work_queue(&loop_taker);
	irq_work_sync(&loop_taker);
}

const struct broken broken_locks[] = {
	{ "mutex-twice", mutex_twice },
	{ "spin-twice", spin_twice },
	{ "both-orders", both_orders },
	{ "irq-unsafe", irq_unsafe },
	{ "irq-order", irq_order },
	{ "unlock-unheld", unlock_unheld },
	{ "spin-unlock-unheld", spin_unlock_unheld },
	{ "freed-locked", freed_locked },
	{ "left-locked", left_locked },
	{ "left-spinning", left_spinning },
	{ "no-init", no_init },
	{ "rcu-unprotected", rcu_unprotected },
	{ "sleep-in-spin", sleep_in_spin },
	{ "alloc-in-spin", alloc_in_spin },
	{ "sleep-in-irq", sleep_in_irq },
	{ "schedule-atomic", schedule_atomic },
	{ "wrong-cpu-id", wrong_cpu_id },
	{ "wait-forever", wait_forever },
	{ "loop-forever", loop_forever },
	{ "loop-locked", loop_locked },
	{ "loop-irqs-off", loop_irqs_off },
	{ "loop-in-irq", loop_in_irq },
	{ }
};
