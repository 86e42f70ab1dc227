// SPDX-License-Identifier: GPL-2.0-only
/*
 * First contact, with a pair of handlers for each vector.
 *
 * What differs between the vectors is in their handlers, so nothing asks whether a
 * vector has registers: the display's has none, and answers IRQ_NONE by itself.  The
 * hard handlers remember what they read, masks change with interrupts saved, and the
 * reset has a loop of its own, bounded as gpu_poll() is.
 */
#include <linux/bitops.h>
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/pci.h>
#include <linux/ratelimit.h>

#include "agate_device.h"
#include "agate_pci.h"

#define FAULT_BITS	(GPU_IRQ_FAULT | GPU_IRQ_MULTIPLE_FAULT)

/* ---- Masks ---------------------------------------------------------------- */

static u32 mask_now(const struct agate_irq *irq)
{
	if (!irq->serve || irq->suspended || irq->serving)
		return 0;
	return irq->mask;
}

static void mask_write(struct agate_irq *irq)
{
	struct agate_device *adev = irq->adev;

	if (irq == &adev->irq[AGATE_VECTOR_GPU])
		gpu_write(adev, GPU_INT_MASK, mask_now(irq));
	else if (irq == &adev->irq[AGATE_VECTOR_JOB])
		gpu_write(adev, JOB_INT_MASK, mask_now(irq));
	else if (irq == &adev->irq[AGATE_VECTOR_MMU])
		gpu_write(adev, MMU_INT_MASK, mask_now(irq));
}

enum change { SUSPEND, RESUME, FORGET };

static void mask_change(struct agate_irq *irq, enum change change)
{
	unsigned long flags;

	spin_lock_irqsave(&irq->lock, flags);
	if (change == FORGET)
		irq->serve = NULL;
	else
		irq->suspended = change == SUSPEND;
	mask_write(irq);
	spin_unlock_irqrestore(&irq->lock, flags);
}

void agate_irq_set_mask(struct agate_device *adev, unsigned int vector, u32 mask)
{
	struct agate_irq *irq = &adev->irq[vector];
	unsigned long flags;

	spin_lock_irqsave(&irq->lock, flags);
	irq->mask = mask;
	mask_write(irq);
	spin_unlock_irqrestore(&irq->lock, flags);
}

void agate_irq_suspend(struct agate_device *adev, unsigned int vector)
{
	struct agate_irq *irq = &adev->irq[vector];

	mask_change(irq, SUSPEND);
	if (irq->irq)
		synchronize_irq(irq->irq);
}

void agate_irq_resume(struct agate_device *adev, unsigned int vector)
{
	mask_change(&adev->irq[vector], RESUME);
}

void agate_irq_enable(struct agate_device *adev, unsigned int vector, u32 mask,
		      void (*serve)(struct agate_device *adev))
{
	struct agate_irq *irq = &adev->irq[vector];
	unsigned long flags;

	/* Nothing of the old one runs when the new one is set. */
	agate_irq_suspend(adev, vector);
	mask_change(irq, FORGET);
	spin_lock_irqsave(&irq->lock, flags);
	irq->serve = serve;
	irq->mask = serve ? mask : 0;
	irq->suspended = false;
	mask_write(irq);
	spin_unlock_irqrestore(&irq->lock, flags);
}

/* ---- Handlers --------------------------------------------------------------- */

static irqreturn_t hard_half(struct agate_irq *irq, u32 stat_register)
{
	unsigned long flags;
	u32 stat;

	spin_lock_irqsave(&irq->lock, flags);
	stat = mask_now(irq) ? gpu_read(irq->adev, stat_register) : 0;
	if (agate_bus_lost(irq->adev))
		stat = 0;
	if (stat) {
		irq->serving = true;
		mask_write(irq);
	}
	spin_unlock_irqrestore(&irq->lock, flags);
	return stat ? IRQ_WAKE_THREAD : IRQ_NONE;
}

static irqreturn_t gpu_hard(int number, void *data)
{
	return hard_half(data, GPU_INT_STAT);
}

static irqreturn_t job_hard(int number, void *data)
{
	return hard_half(data, JOB_INT_STAT);
}

static irqreturn_t mmu_hard(int number, void *data)
{
	return hard_half(data, MMU_INT_STAT);
}

static irqreturn_t display_hard(int number, void *data)
{
	return IRQ_NONE;
}

static irqreturn_t serve_thread(int number, void *data)
{
	struct agate_irq *irq = data;
	void (*serve)(struct agate_device *adev) = READ_ONCE(irq->serve);
	unsigned long flags;

	if (serve)
		serve(irq->adev);
	spin_lock_irqsave(&irq->lock, flags);
	irq->serving = false;
	mask_write(irq);
	spin_unlock_irqrestore(&irq->lock, flags);
	return IRQ_HANDLED;
}

static void serve_faults(struct agate_device *adev)
{
	static DEFINE_RATELIMIT_STATE(told, 10 * HZ, 4);
	u32 kind, faults = gpu_read(adev, GPU_INT_RAWSTAT) & FAULT_BITS;
	u64 address;

	kind = gpu_read(adev, GPU_FAULT_STATUS);
	address = gpu_read64(adev, GPU_FAULT_ADDRESS_LO);
	if (agate_bus_lost(adev) || !faults)
		return;
	if (__ratelimit(&told))
		dev_err(&adev->pdev->dev, "fault of kind %u at %010llx\n", kind & 0xff, address);
	gpu_write(adev, GPU_INT_CLEAR, faults);
}

static const struct {
	const char *name;
	irq_handler_t hard;
} handlers[AGATE_NUM_VECTORS] = {
	{ "agate-gpu", gpu_hard },
	{ "agate-job", job_hard },
	{ "agate-mmu", mmu_hard },
	{ "agate-display", display_hard },
};

static void vectors_put(struct agate_device *adev)
{
	unsigned int i;

	for (i = 0; i < AGATE_NUM_VECTORS; i++) {
		if (adev->irq[i].irq)
			free_irq(adev->irq[i].irq, &adev->irq[i]);
		adev->irq[i].irq = 0;
	}
	pci_free_irq_vectors(adev->pdev);
}

static int vectors_get(struct agate_device *adev)
{
	unsigned int i;
	int n;

	n = pci_alloc_irq_vectors(adev->pdev, 1, AGATE_NUM_VECTORS, PCI_IRQ_MSIX);
	if (n < 0)
		return n;
	for (i = 0; n == AGATE_NUM_VECTORS && i < AGATE_NUM_VECTORS; i++) {
		int irq = pci_irq_vector(adev->pdev, i);
		int ret = request_threaded_irq(irq, handlers[i].hard, serve_thread, 0,
					       handlers[i].name, &adev->irq[i]);

		if (ret) {
			vectors_put(adev);
			return ret;
		}
		adev->irq[i].irq = irq;
	}
	if (n == AGATE_NUM_VECTORS)
		return 0;
	vectors_put(adev);
	return -ENOSPC;
}

/* ---- Reset and identity ------------------------------------------------------- */

static int reset_by(struct agate_device *adev, u32 command)
{
	unsigned int reads;
	u32 done = 0;

	gpu_write(adev, GPU_CMD, command);
	for (reads = 0; !done && reads < AGATE_POLL_READS; reads++) {
		done = gpu_read(adev, GPU_INT_RAWSTAT) & GPU_IRQ_RESET_COMPLETED;
		if (agate_bus_lost(adev))
			return -ENODEV;
	}
	return done ? 0 : -ETIMEDOUT;
}

int agate_gpu_soft_reset(struct agate_device *adev)
{
	unsigned long flags;
	unsigned int i;
	int ret;

	ret = reset_by(adev, GPU_CMD_SOFT_RESET);
	if (ret == -ETIMEDOUT)
		ret = reset_by(adev, GPU_CMD_HARD_RESET);
	if (ret)
		return ret;
	for (i = 0; i < AGATE_NUM_VECTORS; i++) {
		spin_lock_irqsave(&adev->irq[i].lock, flags);
		mask_write(&adev->irq[i]);
		spin_unlock_irqrestore(&adev->irq[i].lock, flags);
	}
	return 0;
}

static bool identify(struct agate_device *adev, struct agate_identity *id)
{
	u32 n = ARRAY_SIZE(id->js_features);

	while (n--)
		id->js_features[n] = gpu_read(adev, GPU_JS_FEATURES(n));
	id->l2_present = gpu_read64(adev, GPU_L2_PRESENT_LO);
	id->tiler_present = gpu_read64(adev, GPU_TILER_PRESENT_LO);
	id->shader_present = gpu_read64(adev, GPU_SHADER_PRESENT_LO);
	id->js_present = gpu_read(adev, GPU_JS_PRESENT);
	id->as_present = gpu_read(adev, GPU_AS_PRESENT);
	id->coherency_features = gpu_read(adev, GPU_COHERENCY_FEATURES);
	id->max_barrier_size = gpu_read(adev, GPU_THREAD_MAX_BARRIER_SIZE);
	id->max_workgroup_size = gpu_read(adev, GPU_THREAD_MAX_WORKGROUP_SIZE);
	id->max_threads = gpu_read(adev, GPU_THREAD_MAX_THREADS);
	id->thread_features = gpu_read(adev, GPU_THREAD_FEATURES);
	id->mmu_features = gpu_read(adev, GPU_MMU_FEATURES);
	id->mem_features = gpu_read(adev, GPU_MEM_FEATURES);
	id->tiler_features = gpu_read(adev, GPU_TILER_FEATURES);
	id->core_features = gpu_read(adev, GPU_CORE_FEATURES);
	id->l2_features = gpu_read(adev, GPU_L2_FEATURES);
	id->gpu_id = gpu_read(adev, GPU_ID);
	return !agate_bus_lost(adev);
}

/* ---- Up and down ----------------------------------------------------------------- */

static int function_up(struct pci_dev *pdev)
{
	int ret;

	ret = pci_enable_device(pdev);
	if (ret)
		return ret;
	ret = pci_request_region(pdev, 0, "agate");
	if (ret)
		goto err_enabled;
	ret = pci_request_region(pdev, 2, "agate");
	if (ret)
		goto err_region;
	ret = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(AGATE_PHYS_BITS));
	if (ret)
		goto err_regions;
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	pci_set_master(pdev);
	return 0;

err_regions:
	pci_release_region(pdev, 2);
err_region:
	pci_release_region(pdev, 0);
err_enabled:
	pci_disable_device(pdev);
	return ret;
}

static void function_down(struct pci_dev *pdev)
{
	pci_clear_master(pdev);
	pci_release_region(pdev, 2);
	pci_release_region(pdev, 0);
	pci_disable_device(pdev);
}

int agate_pci_init(struct agate_device *adev)
{
	struct agate_irq *irq;
	int ret;

	for (irq = adev->irq; irq < adev->irq + AGATE_NUM_VECTORS; irq++) {
		irq->adev = adev;
		spin_lock_init(&irq->lock);
	}
	ret = function_up(adev->pdev);
	if (ret)
		return ret;
	ret = agate_bus_attach(adev);
	if (ret)
		goto err_function;
	ret = agate_gpu_soft_reset(adev);
	if (!ret && !identify(adev, &adev->id))
		ret = -ENODEV;
	if (!ret)
		ret = vectors_get(adev);
	if (ret)
		goto err_bus;
	agate_irq_enable(adev, AGATE_VECTOR_GPU, FAULT_BITS, serve_faults);
	return 0;

err_bus:
	agate_bus_detach(adev);
err_function:
	function_down(adev->pdev);
	return ret;
}

void agate_pci_fini(struct agate_device *adev)
{
	/* Forgotten first, so that the reset opens no mask again. */
	agate_irq_enable(adev, AGATE_VECTOR_GPU, 0, NULL);
	vectors_put(adev);
	if (!agate_bus_lost(adev))
		agate_gpu_soft_reset(adev);
	agate_bus_detach(adev);
	function_down(adev->pdev);
}
