// SPDX-License-Identifier: GPL-2.0-only
/*
 * First contact, with vectors that are counted.
 *
 * The driver asks for up to four vectors, and chooses an error of its own when it got
 * fewer; nothing may move their interrupts.  It takes only the BARs that it uses.  A
 * vector's serve() is taken away together with its mask, before the wait: the thread reads
 * it once.  The reset on leaving comes when the vectors have been given back.
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
	if (!irq->base)
		return;
	if (irq->serve && !irq->suspended && !irq->serving)
		gpu_write(irq->adev, irq->base + INT_MASK, irq->mask);
	else
		gpu_write(irq->adev, irq->base + INT_MASK, 0);
}

static irqreturn_t agate_irq_hard(int number, void *data)
{
	struct agate_irq *irq = data;
	irqreturn_t ret = IRQ_NONE;
	u32 stat;

	if (!irq->base)
		return IRQ_NONE;
	spin_lock(&irq->lock);
	stat = gpu_read(irq->adev, irq->base + INT_STAT);
	if (!agate_bus_lost(irq->adev) && stat && irq->serve) {
		irq->serving = true;
		irq_write_mask(irq);
		ret = IRQ_WAKE_THREAD;
	}
	spin_unlock(&irq->lock);
	return ret;
}

static irqreturn_t agate_irq_thread(int number, void *data)
{
	struct agate_irq *irq = data;
	void (*serve)(struct agate_device *adev) = READ_ONCE(irq->serve);

	if (serve)
		serve(irq->adev);
	spin_lock_irq(&irq->lock);
	irq->serving = false;
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

static void irq_wait(struct agate_irq *irq)
{
	if (irq->irq)
		synchronize_irq(irq->irq);
}

void agate_irq_enable(struct agate_device *adev, unsigned int vector, u32 mask,
		      void (*serve)(struct agate_device *adev))
{
	struct agate_irq *irq = &adev->irq[vector];
	unsigned long flags;

	spin_lock_irqsave(&irq->lock, flags);
	WRITE_ONCE(irq->serve, serve);
	irq->mask = serve ? mask : 0;
	irq->suspended = false;
	irq_write_mask(irq);
	spin_unlock_irqrestore(&irq->lock, flags);
	if (!serve)
		irq_wait(irq);
}

void agate_irq_suspend(struct agate_device *adev, unsigned int vector)
{
	struct agate_irq *irq = &adev->irq[vector];

	spin_lock_irq(&irq->lock);
	irq->suspended = true;
	irq_write_mask(irq);
	spin_unlock_irq(&irq->lock);
	irq_wait(irq);
}

void agate_irq_resume(struct agate_device *adev, unsigned int vector)
{
	struct agate_irq *irq = &adev->irq[vector];

	spin_lock_irq(&irq->lock);
	irq->suspended = false;
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

/*
 * The GPU could not reach memory on its own account: it says where, we say so.  The
 * mask is closed meanwhile, so STAT is 0; and the other bits of RAWSTAT belong to
 * those who poll for them.
 */
static void serve_gpu(struct agate_device *adev)
{
	u32 seen = gpu_read(adev, GPU_INT_RAWSTAT) & GPU_FAULTS;
	u32 status = gpu_read(adev, GPU_FAULT_STATUS);
	u64 address = gpu_read64(adev, GPU_FAULT_ADDRESS_LO);

	if (agate_bus_lost(adev) || !seen)
		return;
	dev_err_ratelimited(&adev->pdev->dev, "GPU fault: status %#x, address %#llx\n",
			    status, address);
	gpu_write(adev, GPU_INT_CLEAR, seen);
}

static void irqs_free(struct agate_device *adev, unsigned int count)
{
	while (count--) {
		free_irq(adev->irq[count].irq, &adev->irq[count]);
		adev->irq[count].irq = 0;
	}
	pci_free_irq_vectors(adev->pdev);
}

static int irqs_request(struct agate_device *adev)
{
	unsigned int i;
	int ret;

	ret = pci_alloc_irq_vectors(adev->pdev, 1, AGATE_NUM_VECTORS,
				    PCI_IRQ_MSIX);
	if (ret < 0)
		return ret;
	if (ret < AGATE_NUM_VECTORS) {
		pci_free_irq_vectors(adev->pdev);
		return -ENODEV;
	}
	for (i = 0; i < AGATE_NUM_VECTORS; i++) {
		int number = pci_irq_vector(adev->pdev, i);

		if (number < 0) {
			ret = number;
			goto err;
		}
		ret = request_threaded_irq(number, agate_irq_hard, agate_irq_thread,
					   IRQF_NOBALANCING, vectors[i].name, &adev->irq[i]);
		if (ret)
			goto err;
		adev->irq[i].irq = number;
	}
	return 0;

err:
	irqs_free(adev, i);
	return ret;
}

static int gpu_reset_with(struct agate_device *adev, u32 command)
{
	gpu_write(adev, GPU_INT_CLEAR, GPU_IRQ_RESET_COMPLETED);
	gpu_write(adev, GPU_CMD, command);
	return gpu_poll(adev, GPU_INT_RAWSTAT, GPU_IRQ_RESET_COMPLETED,
			GPU_IRQ_RESET_COMPLETED);
}

int agate_gpu_soft_reset(struct agate_device *adev)
{
	unsigned int i;
	int ret;

	ret = gpu_reset_with(adev, GPU_CMD_SOFT_RESET);
	if (ret == -ETIMEDOUT)
		ret = gpu_reset_with(adev, GPU_CMD_HARD_RESET);
	if (ret)
		return ret;
	for (i = 0; i < AGATE_NUM_VECTORS; i++) {
		struct agate_irq *irq = &adev->irq[i];

		spin_lock_irq(&irq->lock);
		irq_write_mask(irq);
		spin_unlock_irq(&irq->lock);
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

/* The GPU masters the bus: it may reach all the memory it can address. */
static int enable_function(struct agate_device *adev)
{
	const int bars = BIT(0) | BIT(2);
	struct pci_dev *pdev = adev->pdev;
	int ret;

	ret = pci_enable_device_mem(pdev);
	if (ret)
		return ret;
	ret = pci_request_selected_regions(pdev, bars, "agate");
	if (!ret) {
		ret = dma_set_mask(&pdev->dev, DMA_BIT_MASK(AGATE_PHYS_BITS));
		if (!ret)
			ret = dma_set_coherent_mask(&pdev->dev, DMA_BIT_MASK(AGATE_PHYS_BITS));
		if (!ret) {
			dma_set_max_seg_size(&pdev->dev, UINT_MAX);
			pci_set_master(pdev);
			return 0;
		}
		pci_disable_device(pdev);
		pci_release_selected_regions(pdev, bars);
		return ret;
	}
	pci_disable_device(pdev);
	return ret;
}

static void disable_function(struct agate_device *adev)
{
	pci_clear_master(adev->pdev);
	pci_disable_device(adev->pdev);
	pci_release_selected_regions(adev->pdev, BIT(0) | BIT(2));
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
	agate_irq_enable(adev, AGATE_VECTOR_GPU, 0, NULL);
	irqs_free(adev, AGATE_NUM_VECTORS);
	agate_gpu_soft_reset(adev);
	agate_bus_detach(adev);
	disable_function(adev);
}
