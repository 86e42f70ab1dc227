// SPDX-License-Identifier: GPL-2.0-only
/*
 * First contact: from a PCI function to a GPU that answers.
 *
 * Steps up, in an order in which each needs only those before it; steps down in
 * the reverse order, whether the whole device goes or a step failed half-way.
 * The contract is agate_pci.h.
 */
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/pci.h>

#include "agate_device.h"
#include "agate_pci.h"

/* Within a block: RAWSTAT, then these. */
#define INT_CLEAR	0x4
#define INT_MASK	0x8
#define INT_STAT	0xc

/* What of GPU_INT we listen to: all else is polled for. */
#define GPU_FAULTS	(GPU_IRQ_FAULT | GPU_IRQ_MULTIPLE_FAULT)

static const struct {
	const char *name;
	u32 base;
} vectors[AGATE_NUM_VECTORS] = {
	[AGATE_VECTOR_GPU] = { "agate-gpu", GPU_INT_RAWSTAT },
	[AGATE_VECTOR_JOB] = { "agate-job", JOB_INT_RAWSTAT },
	[AGATE_VECTOR_MMU] = { "agate-mmu", MMU_INT_RAWSTAT },
	[AGATE_VECTOR_DISPLAY] = { "agate-display", 0 },
};

/*
 * MASK is opened only here, so that the reasons to keep it closed add up.  A reset
 * closes it, too, and afterwards it is written anew.
 */
static void irq_write_mask(struct agate_irq *irq)
{
	lockdep_assert_held(&irq->lock);
	/*
	 * STEP 5: write irq->mask to the block's MASK register if the vector has a
	 * serve(), and neither a suspend nor a running thread keeps it closed; else 0.
	 * The display's vector has no registers yet: its base is 0.
	 */
}

/*
 * STEP 6: the hard handler looks whether the line is up (STAT), and if so closes the
 * mask until the thread, which it wakes, has called serve().  A message for nothing
 * is IRQ_NONE.  There may be no serve() yet, or any more.  STAT of a GPU that has gone
 * reads as all ones: ask agate_bus_lost() after the read.
 */
static irqreturn_t __maybe_unused agate_irq_hard(int number, void *data)
{
	return IRQ_NONE;
}

static irqreturn_t __maybe_unused agate_irq_thread(int number, void *data)
{
	return IRQ_NONE;
}

void agate_irq_set_mask(struct agate_device *adev, unsigned int vector, u32 mask)
{
	struct agate_irq *irq = &adev->irq[vector];
	unsigned long flags;

	spin_lock_irqsave(&irq->lock, flags);
	irq->mask = mask;
	irq_write_mask(irq);
	spin_unlock_irqrestore(&irq->lock, flags);
}

/*
 * STEP 5: each changes what irq_write_mask() looks at, with irq->lock held, and calls
 * it.  agate_irq_suspend() then waits for a handler that runs on another CPU, and so
 * does agate_irq_enable() when serve is NULL, before it forgets the old one.
 */
void agate_irq_enable(struct agate_device *adev, unsigned int vector, u32 mask,
		      void (*serve)(struct agate_device *adev))
{
}

void agate_irq_suspend(struct agate_device *adev, unsigned int vector)
{
}

void agate_irq_resume(struct agate_device *adev, unsigned int vector)
{
}

static void irqs_init(struct agate_device *adev)
{
	unsigned int i;

	for (i = 0; i < AGATE_NUM_VECTORS; i++) {
		adev->irq[i].adev = adev;
		adev->irq[i].base = vectors[i].base;
		spin_lock_init(&adev->irq[i].lock);
	}
}

/*
 * The GPU could not reach memory on its own account: it says where, we say so.  The
 * mask is closed meanwhile, so STAT is 0; and the other bits of RAWSTAT belong to
 * those who poll for them.
 */
static void serve_gpu(struct agate_device *adev)
{
	/*
	 * STEP 6: tell status and address in the log, at a bounded rate, and clear those
	 * of GPU_FAULTS that were seen.  Meanwhile the mask is closed: what is STAT?
	 */
}

/*
 * STEP 4: take exactly four MSI-X vectors, and request each with agate_irq_hard(),
 * agate_irq_thread(), its name, and its struct agate_irq; remember its number there.
 * A failure frees what was taken before it.  irqs_free() frees the first @count
 * handlers, then the vectors.
 */
static void __maybe_unused irqs_free(struct agate_device *adev, unsigned int count)
{
}

static int irqs_request(struct agate_device *adev)
{
	return 0;
}

/*
 * STEP 2: forget an old RESET_COMPLETED, command a soft reset, and wait for the new
 * one with gpu_poll().  If that times out, a hard one.  The reset has closed every
 * mask, so irq_write_mask() each of them again, with its lock held.
 */
int agate_gpu_soft_reset(struct agate_device *adev)
{
	return -EOPNOTSUPP;
}

static int read_identity(struct agate_device *adev)
{
	/*
	 * STEP 3: fill in adev->id from the registers of the same names.  A GPU that went
	 * meanwhile has read as all ones: -ENODEV.
	 */
	return -EOPNOTSUPP;
}

/* The GPU masters the bus: it may reach all the memory it can address. */
static int enable_function(struct agate_device *adev)
{
	/*
	 * STEP 1: enable the function, take its regions, set both DMA masks to what the
	 * GPU can address and the longest segment to UINT_MAX, then let it master the
	 * bus.  A failure undoes what was done before it and is returned as it is.
	 */
	return -EOPNOTSUPP;
}

static void disable_function(struct agate_device *adev)
{
	/* STEP 1: the way back, in the reverse order. */
}

int agate_pci_init(struct agate_device *adev)
{
	int ret;

	irqs_init(adev);
	ret = enable_function(adev);
	if (ret)
		return ret;
	ret = agate_bus_attach(adev);
	if (ret)
		goto err_disable;
	ret = agate_gpu_soft_reset(adev);
	if (ret)
		goto err_detach;
	ret = read_identity(adev);
	if (ret)
		goto err_detach;
	ret = irqs_request(adev);
	if (ret)
		goto err_detach;
	agate_irq_enable(adev, AGATE_VECTOR_GPU, GPU_FAULTS, serve_gpu);
	return 0;

err_detach:
	agate_bus_detach(adev);
err_disable:
	disable_function(adev);
	return ret;
}

/* The reset stops the GPU's accesses to memory before mastering is taken away. */
void agate_pci_fini(struct agate_device *adev)
{
	/*
	 * STEP 3: undo agate_pci_init(), last thing first.  The GPU is reset on the way,
	 * while it can still be reached; if it is gone, all the rest is done the same.
	 */
}
