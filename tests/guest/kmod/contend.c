// SPDX-License-Identifier: GPL-2.0-only
/*
 * A message that comes while a task on another CPU holds irq->lock (watch.h): as long as
 * that task has its lock, the hard handler cannot look, and must not give up.
 */
#include <linux/cpumask.h>
#include <linux/irq.h>
#include <linux/pci.h>
#include <linux/spinlock.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

#include "agate_device.h"
#include "watch.h"

#define INT_MASK	0x8
/* A busy host may let the message come late; the test then has looked at nothing. */
#define ARRIVES_NS	(20 * NSEC_PER_MSEC)
/* Long enough for a handler that does not wait for the lock. */
#define RETURNS_NS	(200 * NSEC_PER_USEC)

struct contention {
	struct agate_device *adev;
	unsigned int vector;
	u32 mask;
	struct irq_data *data;
	bool meddled;
	const struct contend_ops *ops;
};

/*
 * True when the handler has ended, and closed a mask or changed irq->serving.  One that has no
 * hard half changes nothing, and one that closes the mask before it waits for the lock runs on.
 */
static bool handler_meddles(const struct agate_irq *irq, struct irq_data *data, bool serving,
			    u32 closed)
{
	u64 begin = ktime_get_mono_fast_ns(), now = begin, came = 0;

	while (now - begin < ARRIVES_NS && !(came && now - came > RETURNS_NS)) {
		bool changed = access_closed_by_irq() != closed ||
			       READ_ONCE(irq->serving) != serving;
		bool runs = irqd_irq_inprogress(data);

		if (changed && !runs)
			return true;
		now = ktime_get_mono_fast_ns();
		if (runs && !came)
			came = now;
		cpu_relax();
	}
	return false;
}

/* As a function of the driver that changes MASK, and is slow between its look and its write. */
static long hold_lock(void *data)
{
	struct contention *c = data;
	struct agate_irq *irq = &c->adev->irq[c->vector];
	bool serving;
	u32 closed;
	int ret;

	spin_lock_irq(&irq->lock);
	serving = irq->serving;
	closed = access_closed_by_irq();
	ret = c->ops->raise(c->adev);
	c->meddled = handler_meddles(irq, c->data, serving, closed);
	if (c->mask)
		c->ops->write(c->adev, irq->base + INT_MASK, c->mask);
	spin_unlock_irq(&irq->lock);
	return ret;
}

int contend_message(struct agate_device *adev, unsigned int vector, u32 *mask,
		    const struct contend_ops *ops)
{
	struct irq_data *data = irq_get_irq_data(pci_irq_vector(adev->pdev, vector));
	struct contention c = { .adev = adev, .vector = vector, .mask = *mask, .ops = ops,
				.data = data };
	unsigned int cpu;
	int ret;

	if (!data)
		return -ENODEV;
	cpu = cpumask_any_but(cpu_online_mask,
			      cpumask_first(irq_data_get_effective_affinity_mask(data)));
	ret = cpu < nr_cpu_ids ? work_on_cpu(cpu, hold_lock, &c) : -ENXIO;
	*mask = c.meddled;
	return ret;
}
