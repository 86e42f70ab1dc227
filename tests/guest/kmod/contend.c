// SPDX-License-Identifier: GPL-2.0-only
/*
 * A message that comes, or a thread that ends, while a task on another CPU holds irq->lock
 * (watch.h): as long as that task has its lock, the hard handler cannot look, and must not give
 * up, and the thread changes nothing.
 */
#include <linux/cpumask.h>
#include <linux/irq.h>
#include <linux/irqdesc.h>
#include <linux/pci.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

#include "agate_device.h"
#include "probes.h"
#include "watch.h"

#define INT_MASK	0x8
/* A busy host may let the message come late; the test then has looked at nothing. */
#define ARRIVES_NS	NSEC_PER_SEC
/* Long enough for a handler to begin once its message is counted. */
#define BEGINS_NS	(50 * NSEC_PER_MSEC)

struct contention {
	struct agate_device *adev;
	unsigned int vector;
	u32 mask;
	struct irq_data *data;
	unsigned int cpu;		/* that takes the messages */
	bool meddled;
	const struct contend_ops *ops;
	bool (*let_go)(void);
};

/*
 * The lock, once somebody waits for it.  The lock itself does not tell: in a virtual machine
 * the kernel's waiters spin until it is free, and leave no mark in it.
 */
static struct {
	const void *lock;
	bool waited_for;
} watched;

static int __kprobes on_wait(struct kprobe *kp, struct pt_regs *regs)
{
	if ((const void *)regs->di == watched.lock)
		WRITE_ONCE(watched.waited_for, true);
	return 0;
}

static unsigned int messages(const struct contention *c)
{
	return irq_desc_kstat_cpu(irq_data_to_desc(c->data), c->cpu);
}

/* State that the handler may change, and how many messages there had been. */
struct before {
	unsigned int messages;
	u32 closed;
	bool serving;
};

/*
 * True when the handler has ended, and closed a mask or changed irq->serving.  One that has no
 * hard half changes nothing, and one that closes the mask before it waits for the lock runs on.
 */
static bool handler_meddles(const struct contention *c, const struct before *before)
{
	struct agate_irq *irq = &c->adev->irq[c->vector];
	u64 begin = ktime_get_mono_fast_ns(), now = begin, came = 0;

	while (now - begin < ARRIVES_NS) {
		bool changed = access_closed_by_irq() != before->closed ||
			       READ_ONCE(irq->serving) != before->serving;

		if (changed && !irqd_irq_inprogress(c->data))
			return true;
		now = ktime_get_mono_fast_ns();
		if (!came && messages(c) != before->messages)
			came = now;
		/* It waits for the lock, or has ended: else its CPU is slow, and this one waits. */
		if (came && (READ_ONCE(watched.waited_for) ||
			     (!irqd_irq_inprogress(c->data) && now - came > BEGINS_NS)))
			break;
		cpu_relax();
	}
	return false;
}

/* As a function of the driver that changes MASK, and is slow between its look and its write. */
static long hold_lock(void *data)
{
	struct contention *c = data;
	struct agate_irq *irq = &c->adev->irq[c->vector];
	struct before before;
	int ret;

	spin_lock_irq(&irq->lock);
	before = (struct before){ messages(c), access_closed_by_irq(), irq->serving };
	ret = c->ops->raise(c->adev);
	c->meddled = handler_meddles(c, &before);
	if (c->mask)
		c->ops->write(c->adev, irq->base + INT_MASK, c->mask);
	spin_unlock_irq(&irq->lock);
	return ret;
}

/*
 * The thread has nothing to wait for but the lock.  Until it waits, or for as long as a message may
 * take, nothing must change: a thread that tries again and again does not wait in a way that shows.
 */
static long hold_at_end(void *data)
{
	struct contention *c = data;
	struct agate_irq *irq = &c->adev->irq[c->vector];
	bool waited, was;
	u64 begin;

	spin_lock_irq(&irq->lock);
	was = irq->serving;
	waited = c->let_go();
	begin = ktime_get_mono_fast_ns();
	while (waited && READ_ONCE(irq->serving) == was && !READ_ONCE(watched.waited_for) &&
	       ktime_get_mono_fast_ns() - begin < ARRIVES_NS)
		cpu_relax();
	c->meddled = was && !READ_ONCE(irq->serving);
	spin_unlock_irq(&irq->lock);
	return waited ? 0 : -ETIMEDOUT;
}

/* Calls @hold where the vector's handler and thread do not run, and sees who waits for the lock. */
static int contend(struct contention *c, long (*hold)(void *c))
{
	struct kprobe waits = { .symbol_name = "queued_spin_lock_slowpath",
				.pre_handler = on_wait };
	unsigned int cpu;
	int ret;

	c->data = irq_get_irq_data(pci_irq_vector(c->adev->pdev, c->vector));
	if (!c->data)
		return -ENODEV;
	c->cpu = cpumask_first(irq_data_get_effective_affinity_mask(c->data));
	cpu = cpumask_any_but(cpu_online_mask, c->cpu);
	if (cpu >= nr_cpu_ids)
		return -ENXIO;
	watched.lock = &c->adev->irq[c->vector].lock;
	watched.waited_for = false;
	ret = probe_arm(&waits);
	if (ret)
		return ret;
	ret = work_on_cpu(cpu, hold, c);
	probe_disarm(&waits);
	return ret;
}

int contend_message(struct agate_device *adev, unsigned int vector, u32 *mask,
		    const struct contend_ops *ops)
{
	struct contention c = { .adev = adev, .vector = vector, .mask = *mask, .ops = ops };
	int ret = contend(&c, hold_lock);

	*mask = c.meddled;
	return ret;
}

int contend_end(struct agate_device *adev, unsigned int vector, u32 *meddled, bool (*let_go)(void))
{
	struct contention c = { .adev = adev, .vector = vector, .let_go = let_go };
	int ret = contend(&c, hold_at_end);

	*meddled = c.meddled;
	return ret;
}
