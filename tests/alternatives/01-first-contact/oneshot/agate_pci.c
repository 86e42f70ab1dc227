// SPDX-License-Identifier: GPL-2.0-only
/*
 * First contact, with a table of steps and one-shot interrupts.
 *
 * There is no hard handler to write, and no lock that one takes: the interrupt core
 * wakes the thread for each message, and once more for one that comes while the thread
 * runs.  So the thread does both halves' work: it looks at STAT, and closes the block's
 * MASK while serve() is at work.
 */
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/pci.h>

#include "agate_device.h"
#include "agate_pci.h"

#define FAULT_BITS	(GPU_IRQ_FAULT | GPU_IRQ_MULTIPLE_FAULT)

static const u32 block[AGATE_NUM_VECTORS] = {
	GPU_INT_RAWSTAT, JOB_INT_RAWSTAT, MMU_INT_RAWSTAT, 0,
};

/* ---- Interrupts --------------------------------------------------------------- */

/* Writing MASK makes the GPU send again for a line that is up: so nothing is missed. */
static void listen(struct agate_irq *irq)
{
	bool open = irq->serve && !irq->suspended && !irq->serving;

	lockdep_assert_held(&irq->lock);
	if (irq->base)
		gpu_write(irq->adev, irq->base + (GPU_INT_MASK - GPU_INT_RAWSTAT),
			  open ? irq->mask : 0);
}

static irqreturn_t vector_thread(int number, void *data)
{
	struct agate_irq *irq = data;
	void (*serve)(struct agate_device *adev) = NULL;

	if (!irq->base)
		return IRQ_NONE;
	spin_lock_irq(&irq->lock);
	if (!irq->suspended &&
	    gpu_read(irq->adev, irq->base + (GPU_INT_STAT - GPU_INT_RAWSTAT)) &&
	    !agate_bus_lost(irq->adev))
		serve = irq->serve;
	irq->serving = serve;
	listen(irq);
	spin_unlock_irq(&irq->lock);

	if (!serve)
		return IRQ_NONE;
	serve(irq->adev);

	spin_lock_irq(&irq->lock);
	irq->serving = false;
	listen(irq);
	spin_unlock_irq(&irq->lock);
	return IRQ_HANDLED;
}

void agate_irq_set_mask(struct agate_device *adev, unsigned int vector, u32 mask)
{
	struct agate_irq *irq = &adev->irq[vector];
	unsigned long flags;

	spin_lock_irqsave(&irq->lock, flags);
	irq->mask = mask;
	listen(irq);
	spin_unlock_irqrestore(&irq->lock, flags);
}

static void irq_suspend(struct agate_irq *irq, bool suspend)
{
	spin_lock_irq(&irq->lock);
	irq->suspended = suspend;
	listen(irq);
	spin_unlock_irq(&irq->lock);
	if (suspend && irq->irq)
		synchronize_irq(irq->irq);
}

void agate_irq_enable(struct agate_device *adev, unsigned int vector, u32 mask,
		      void (*serve)(struct agate_device *adev))
{
	struct agate_irq *irq = &adev->irq[vector];

	irq_suspend(irq, true);
	spin_lock_irq(&irq->lock);
	irq->serve = serve;
	irq->mask = mask;
	spin_unlock_irq(&irq->lock);
	irq_suspend(irq, false);
}

void agate_irq_suspend(struct agate_device *adev, unsigned int vector)
{
	irq_suspend(&adev->irq[vector], true);
}

void agate_irq_resume(struct agate_device *adev, unsigned int vector)
{
	irq_suspend(&adev->irq[vector], false);
}

static void serve_fault(struct agate_device *adev)
{
	u32 seen = gpu_read(adev, GPU_INT_RAWSTAT) & FAULT_BITS;
	u64 address = gpu_read64(adev, GPU_FAULT_ADDRESS_LO);
	u32 status = gpu_read(adev, GPU_FAULT_STATUS);

	if (agate_bus_lost(adev))
		return;
	dev_warn_ratelimited(&adev->pdev->dev, "GPU fault %#x at %#llx\n", status, address);
	gpu_write(adev, GPU_INT_CLEAR, seen);
}

/* ---- Reset ---------------------------------------------------------------------- */

static int reset_with(struct agate_device *adev, u32 command)
{
	gpu_write(adev, GPU_INT_CLEAR, GPU_IRQ_RESET_COMPLETED);
	gpu_write(adev, GPU_CMD, command);
	return gpu_poll(adev, GPU_INT_RAWSTAT, GPU_IRQ_RESET_COMPLETED, GPU_IRQ_RESET_COMPLETED);
}

int agate_gpu_soft_reset(struct agate_device *adev)
{
	unsigned int i;
	int ret;

	ret = reset_with(adev, GPU_CMD_SOFT_RESET);
	if (ret == -ETIMEDOUT)
		ret = reset_with(adev, GPU_CMD_HARD_RESET);
	for (i = 0; !ret && i < AGATE_NUM_VECTORS; i++)
		agate_irq_set_mask(adev, i, adev->irq[i].mask);
	return ret;
}

/* ---- The steps -------------------------------------------------------------------- */

static int enable(struct agate_device *adev)
{
	return pci_enable_device_mem(adev->pdev);
}

static void disable(struct agate_device *adev)
{
	pci_disable_device(adev->pdev);
}

static int request(struct agate_device *adev)
{
	return pci_request_selected_regions(adev->pdev, BIT(0) | BIT(1) | BIT(2), "agate");
}

static void release(struct agate_device *adev)
{
	pci_release_selected_regions(adev->pdev, BIT(0) | BIT(1) | BIT(2));
}

static int set_masks(struct agate_device *adev)
{
	struct device *dev = &adev->pdev->dev;
	u64 mask = DMA_BIT_MASK(AGATE_PHYS_BITS);
	int ret;

	dma_set_max_seg_size(dev, UINT_MAX);
	ret = dma_set_mask(dev, mask);
	return ret ? ret : dma_set_coherent_mask(dev, mask);
}

static int master(struct agate_device *adev)
{
	pci_set_master(adev->pdev);
	return 0;
}

static void unmaster(struct agate_device *adev)
{
	pci_clear_master(adev->pdev);
}

/* On the way down, what the GPU may still be doing ends before it loses its bus. */
static void quiet(struct agate_device *adev)
{
	if (!agate_bus_lost(adev))
		agate_gpu_soft_reset(adev);
}

static int identify(struct agate_device *adev)
{
	static const u32 words[] = {
		GPU_ID, GPU_L2_FEATURES, GPU_CORE_FEATURES, GPU_TILER_FEATURES,
		GPU_MEM_FEATURES, GPU_MMU_FEATURES, GPU_THREAD_FEATURES,
		GPU_THREAD_MAX_THREADS, GPU_THREAD_MAX_WORKGROUP_SIZE,
		GPU_THREAD_MAX_BARRIER_SIZE, GPU_COHERENCY_FEATURES, GPU_AS_PRESENT,
		GPU_JS_PRESENT,
	};
	struct agate_identity *id = &adev->id;
	u32 *const fields[ARRAY_SIZE(words)] = {
		&id->gpu_id, &id->l2_features, &id->core_features, &id->tiler_features,
		&id->mem_features, &id->mmu_features, &id->thread_features,
		&id->max_threads, &id->max_workgroup_size,
		&id->max_barrier_size, &id->coherency_features, &id->as_present,
		&id->js_present,
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(words); i++)
		*fields[i] = gpu_read(adev, words[i]);
	for (i = 0; i < ARRAY_SIZE(id->js_features); i++)
		id->js_features[i] = gpu_read(adev, GPU_JS_FEATURES(i));
	id->shader_present = gpu_read64(adev, GPU_SHADER_PRESENT_LO);
	id->tiler_present = gpu_read64(adev, GPU_TILER_PRESENT_LO);
	id->l2_present = gpu_read64(adev, GPU_L2_PRESENT_LO);
	return agate_bus_lost(adev) ? -ENODEV : 0;
}

static int allocate(struct agate_device *adev)
{
	int n = pci_alloc_irq_vectors(adev->pdev, AGATE_NUM_VECTORS, AGATE_NUM_VECTORS,
				      PCI_IRQ_MSIX);

	return n < 0 ? n : 0;
}

static void deallocate(struct agate_device *adev)
{
	pci_free_irq_vectors(adev->pdev);
}

/* Also after a failure: a vector that was not requested has no number. */
static void unhook(struct agate_device *adev)
{
	unsigned int i;

	for (i = 0; i < AGATE_NUM_VECTORS; i++) {
		if (adev->irq[i].irq)
			free_irq(adev->irq[i].irq, &adev->irq[i]);
		adev->irq[i].irq = 0;
	}
}

static int hook(struct agate_device *adev)
{
	static const char *const names[AGATE_NUM_VECTORS] = {
		"agate-gpu", "agate-job", "agate-mmu", "agate-display",
	};
	unsigned int i;
	int ret = 0;

	for (i = 0; i < AGATE_NUM_VECTORS && !ret; i++) {
		int number = pci_irq_vector(adev->pdev, i);

		ret = request_threaded_irq(number, NULL, vector_thread, IRQF_ONESHOT, names[i],
					   &adev->irq[i]);
		if (!ret)
			adev->irq[i].irq = number;
	}
	if (ret)
		unhook(adev);
	return ret;
}

static int hear(struct agate_device *adev)
{
	agate_irq_enable(adev, AGATE_VECTOR_GPU, FAULT_BITS, serve_fault);
	return 0;
}

static void unhear(struct agate_device *adev)
{
	agate_irq_enable(adev, AGATE_VECTOR_GPU, 0, NULL);
}

static const struct step {
	int (*up)(struct agate_device *adev);
	void (*down)(struct agate_device *adev);
} steps[] = {
	{ enable, disable },
	{ request, release },
	{ set_masks, NULL },
	{ master, unmaster },
	{ agate_bus_attach, agate_bus_detach },
	{ agate_gpu_soft_reset, quiet },
	{ identify, NULL },
	{ allocate, deallocate },
	{ hook, unhook },
	{ hear, unhear },
};

static void go_down(struct agate_device *adev, unsigned int from)
{
	while (from--)
		if (steps[from].down)
			steps[from].down(adev);
}

int agate_pci_init(struct agate_device *adev)
{
	unsigned int i;
	int ret;

	for (i = 0; i < AGATE_NUM_VECTORS; i++) {
		adev->irq[i].adev = adev;
		adev->irq[i].base = block[i];
		spin_lock_init(&adev->irq[i].lock);
	}
	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		ret = steps[i].up(adev);
		if (ret) {
			go_down(adev, i);
			return ret;
		}
	}
	return 0;
}

void agate_pci_fini(struct agate_device *adev)
{
	go_down(adev, ARRAY_SIZE(steps));
}
