// SPDX-License-Identifier: GPL-2.0-only
/*
 * First contact, with reasons of its own: why a MASK is closed is a set of bits beside struct
 * agate_irq, whose two flags stay false.  The end of a thread tries for the lock, again and again.
 */
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/list.h>
#include <linux/pci.h>
#include <linux/slab.h>

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

enum reason {
	SUSPENDED = BIT(0),
	AT_WORK = BIT(1),
};

struct reasons {
	struct list_head node;
	struct agate_device *adev;
	unsigned int why[AGATE_NUM_VECTORS];	/* each under its vector's lock */
};

static LIST_HEAD(devices);
static DEFINE_SPINLOCK(devices_lock);

static struct reasons *reasons_of(struct agate_device *adev)
{
	struct reasons *found = NULL, *reasons;
	unsigned long flags;

	spin_lock_irqsave(&devices_lock, flags);
	list_for_each_entry(reasons, &devices, node)
		if (reasons->adev == adev)
			found = reasons;
	spin_unlock_irqrestore(&devices_lock, flags);
	return found;
}

static int reasons_init(struct agate_device *adev)
{
	struct reasons *reasons = kzalloc(sizeof(*reasons), GFP_KERNEL);

	if (!reasons)
		return -ENOMEM;
	reasons->adev = adev;
	spin_lock_irq(&devices_lock);
	list_add(&reasons->node, &devices);
	spin_unlock_irq(&devices_lock);
	return 0;
}

static void reasons_fini(struct agate_device *adev)
{
	struct reasons *reasons = reasons_of(adev);

	spin_lock_irq(&devices_lock);
	list_del(&reasons->node);
	spin_unlock_irq(&devices_lock);
	kfree(reasons);
}

static unsigned int *why_closed(struct agate_irq *irq)
{
	return &reasons_of(irq->adev)->why[irq - irq->adev->irq];
}

/* MASK is opened only here. */
static void irq_write_mask(struct agate_irq *irq)
{
	bool open = irq->serve && !*why_closed(irq);

	lockdep_assert_held(&irq->lock);
	if (irq->base)
		gpu_write(irq->adev, irq->base + INT_MASK, open ? irq->mask : 0);
}

static irqreturn_t agate_irq_hard(int number, void *data)
{
	struct agate_irq *irq = data;
	unsigned int *why = why_closed(irq);
	bool wake;

	spin_lock(&irq->lock);
	wake = irq->serve && !*why && gpu_read(irq->adev, irq->base + INT_STAT) &&
	       !agate_bus_lost(irq->adev);
	if (wake) {
		*why |= AT_WORK;
		irq_write_mask(irq);
	}
	spin_unlock(&irq->lock);
	return wake ? IRQ_WAKE_THREAD : IRQ_NONE;
}

static irqreturn_t agate_irq_thread(int number, void *data)
{
	struct agate_irq *irq = data;

	irq->serve(irq->adev);
	while (!spin_trylock_irq(&irq->lock))
		cpu_relax();
	*why_closed(irq) &= ~AT_WORK;
	irq_write_mask(irq);
	spin_unlock_irq(&irq->lock);
	return IRQ_HANDLED;
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

void agate_irq_suspend(struct agate_device *adev, unsigned int vector)
{
	struct agate_irq *irq = &adev->irq[vector];

	spin_lock_irq(&irq->lock);
	*why_closed(irq) |= SUSPENDED;
	irq_write_mask(irq);
	spin_unlock_irq(&irq->lock);
	if (irq->irq)
		synchronize_irq(irq->irq);
}

void agate_irq_resume(struct agate_device *adev, unsigned int vector)
{
	struct agate_irq *irq = &adev->irq[vector];

	spin_lock_irq(&irq->lock);
	*why_closed(irq) &= ~SUSPENDED;
	irq_write_mask(irq);
	spin_unlock_irq(&irq->lock);
}

void agate_irq_enable(struct agate_device *adev, unsigned int vector, u32 mask,
		      void (*serve)(struct agate_device *adev))
{
	struct agate_irq *irq = &adev->irq[vector];

	if (!serve)
		agate_irq_suspend(adev, vector);
	spin_lock_irq(&irq->lock);
	*why_closed(irq) &= ~SUSPENDED;
	irq->serve = serve;
	irq->mask = mask;
	irq_write_mask(irq);
	spin_unlock_irq(&irq->lock);
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

static void serve_gpu(struct agate_device *adev)
{
	u32 faults = gpu_read(adev, GPU_INT_RAWSTAT) & GPU_FAULTS;
	u32 status = gpu_read(adev, GPU_FAULT_STATUS);
	u64 address = gpu_read64(adev, GPU_FAULT_ADDRESS_LO);

	if (!faults || agate_bus_lost(adev))
		return;
	dev_err_ratelimited(&adev->pdev->dev, "GPU fault: status %#x at %#llx\n", status, address);
	gpu_write(adev, GPU_INT_CLEAR, faults);
}

static void irqs_free(struct agate_device *adev, unsigned int count)
{
	while (count--) {
		struct agate_irq *irq = &adev->irq[count];

		free_irq(irq->irq, irq);
		irq->irq = 0;
	}
	pci_free_irq_vectors(adev->pdev);
}

static int irqs_request(struct agate_device *adev)
{
	unsigned int i;
	int ret;

	ret = pci_alloc_irq_vectors(adev->pdev, AGATE_NUM_VECTORS, AGATE_NUM_VECTORS,
				    PCI_IRQ_MSIX);
	if (ret < 0)
		return ret;
	for (i = 0; i < AGATE_NUM_VECTORS; i++) {
		struct agate_irq *irq = &adev->irq[i];
		int number = pci_irq_vector(adev->pdev, i);

		ret = number;
		if (number >= 0)
			ret = request_threaded_irq(number, agate_irq_hard, agate_irq_thread, 0,
						   vectors[i].name, irq);
		if (ret) {
			irqs_free(adev, i);
			return ret;
		}
		irq->irq = number;
	}
	return 0;
}

static int reset_command(struct agate_device *adev, u32 command)
{
	gpu_write(adev, GPU_INT_CLEAR, GPU_IRQ_RESET_COMPLETED);
	gpu_write(adev, GPU_CMD, command);
	return gpu_poll(adev, GPU_INT_RAWSTAT, GPU_IRQ_RESET_COMPLETED, GPU_IRQ_RESET_COMPLETED);
}

int agate_gpu_soft_reset(struct agate_device *adev)
{
	unsigned int i;
	int ret;

	ret = reset_command(adev, GPU_CMD_SOFT_RESET);
	if (ret == -ETIMEDOUT)
		ret = reset_command(adev, GPU_CMD_HARD_RESET);
	if (ret)
		return ret;
	for (i = 0; i < AGATE_NUM_VECTORS; i++) {
		spin_lock_irq(&adev->irq[i].lock);
		irq_write_mask(&adev->irq[i]);
		spin_unlock_irq(&adev->irq[i].lock);
	}
	return 0;
}

static int read_identity(struct agate_device *adev)
{
	struct agate_identity *id = &adev->id;
	unsigned int i;

	id->gpu_id = gpu_read(adev, GPU_ID);
	id->l2_features = gpu_read(adev, GPU_L2_FEATURES);
	id->core_features = gpu_read(adev, GPU_CORE_FEATURES);
	id->tiler_features = gpu_read(adev, GPU_TILER_FEATURES);
	id->mem_features = gpu_read(adev, GPU_MEM_FEATURES);
	id->mmu_features = gpu_read(adev, GPU_MMU_FEATURES);
	id->as_present = gpu_read(adev, GPU_AS_PRESENT);
	id->js_present = gpu_read(adev, GPU_JS_PRESENT);
	id->max_threads = gpu_read(adev, GPU_THREAD_MAX_THREADS);
	id->max_workgroup_size = gpu_read(adev, GPU_THREAD_MAX_WORKGROUP_SIZE);
	id->max_barrier_size = gpu_read(adev, GPU_THREAD_MAX_BARRIER_SIZE);
	id->thread_features = gpu_read(adev, GPU_THREAD_FEATURES);
	for (i = 0; i < ARRAY_SIZE(id->js_features); i++)
		id->js_features[i] = gpu_read(adev, GPU_JS_FEATURES(i));
	id->shader_present = gpu_read64(adev, GPU_SHADER_PRESENT_LO);
	id->tiler_present = gpu_read64(adev, GPU_TILER_PRESENT_LO);
	id->l2_present = gpu_read64(adev, GPU_L2_PRESENT_LO);
	id->coherency_features = gpu_read(adev, GPU_COHERENCY_FEATURES);
	return agate_bus_lost(adev) ? -ENODEV : 0;
}

static int enable_function(struct agate_device *adev)
{
	struct pci_dev *pdev = adev->pdev;
	int ret;

	ret = pci_enable_device(pdev);
	if (ret)
		return ret;
	ret = pci_request_regions(pdev, "agate");
	if (ret)
		goto err_disable;
	ret = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(AGATE_PHYS_BITS));
	if (ret)
		goto err_regions;
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	pci_set_master(pdev);
	return 0;

err_regions:
	pci_release_regions(pdev);
err_disable:
	pci_disable_device(pdev);
	return ret;
}

static void disable_function(struct agate_device *adev)
{
	pci_clear_master(adev->pdev);
	pci_release_regions(adev->pdev);
	pci_disable_device(adev->pdev);
}

int agate_pci_init(struct agate_device *adev)
{
	int ret;

	irqs_init(adev);
	ret = reasons_init(adev);
	if (ret)
		return ret;
	ret = enable_function(adev);
	if (ret)
		goto err_reasons;
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
err_reasons:
	reasons_fini(adev);
	return ret;
}

/* The reset stops the GPU's accesses to memory before mastering is taken away. */
void agate_pci_fini(struct agate_device *adev)
{
	agate_irq_enable(adev, AGATE_VECTOR_GPU, 0, NULL);
	agate_gpu_soft_reset(adev);
	irqs_free(adev, AGATE_NUM_VECTORS);
	agate_bus_detach(adev);
	disable_function(adev);
	reasons_fini(adev);
}
