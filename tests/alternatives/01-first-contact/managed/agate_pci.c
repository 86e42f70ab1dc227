// SPDX-License-Identifier: GPL-2.0-only
/*
 * First contact, with managed resources: each thing that is taken is taken together
 * with how it is given back, and the driver core gives back, last one first, when the
 * probe has failed or the driver goes.  There is no ladder of labels to get wrong.
 *
 * Left to itself the core would do so only after agate_pci_fini() has returned, and
 * then nobody looks after the loss of the GPU any more: so all of it is a group, which
 * fini releases.  The reset on leaving has its place between the handlers and the bus,
 * so it is an action like the others.
 */
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/pci.h>

#include "agate_device.h"
#include "agate_pci.h"

#define FAULT_BITS	(GPU_IRQ_FAULT | GPU_IRQ_MULTIPLE_FAULT)

/* Offsets within a block. */
enum { RAWSTAT = 0x0, CLEAR = 0x4, MASK = 0x8, STAT = 0xc };

/* ---- Masks ---------------------------------------------------------------- */

static bool wants_messages(const struct agate_irq *irq)
{
	return irq->serve && !irq->suspended;
}

static void mask_update(struct agate_irq *irq)
{
	u32 mask = wants_messages(irq) && !irq->serving ? irq->mask : 0;

	if (irq->base)
		gpu_write(irq->adev, irq->base + MASK, mask);
}

static irqreturn_t look(int number, void *data)
{
	struct agate_irq *irq = data;
	irqreturn_t ret = IRQ_NONE;
	unsigned long flags;

	if (!irq->base)
		return IRQ_NONE;
	spin_lock_irqsave(&irq->lock, flags);
	if (wants_messages(irq) && gpu_read(irq->adev, irq->base + STAT) &&
	    !agate_bus_lost(irq->adev)) {
		gpu_write(irq->adev, irq->base + MASK, 0);
		irq->serving = true;
		ret = IRQ_WAKE_THREAD;
	}
	spin_unlock_irqrestore(&irq->lock, flags);
	return ret;
}

static irqreturn_t attend(int number, void *data)
{
	struct agate_irq *irq = data;
	void (*serve)(struct agate_device *adev);

	spin_lock_irq(&irq->lock);
	serve = irq->serve;
	spin_unlock_irq(&irq->lock);
	if (serve)
		serve(irq->adev);

	spin_lock_irq(&irq->lock);
	irq->serving = false;
	mask_update(irq);
	spin_unlock_irq(&irq->lock);
	return IRQ_HANDLED;
}

void agate_irq_set_mask(struct agate_device *adev, unsigned int vector, u32 mask)
{
	struct agate_irq *irq = &adev->irq[vector];
	unsigned long flags;

	spin_lock_irqsave(&irq->lock, flags);
	irq->mask = mask;
	mask_update(irq);
	spin_unlock_irqrestore(&irq->lock, flags);
}

/* Nothing of the old one runs once this has returned, so the new one may be anything. */
static void irq_set_server(struct agate_irq *irq, u32 mask,
			   void (*serve)(struct agate_device *adev))
{
	spin_lock_irq(&irq->lock);
	irq->serve = serve;
	irq->mask = mask;
	irq->suspended = false;
	mask_update(irq);
	spin_unlock_irq(&irq->lock);
	if (!serve && irq->irq)
		synchronize_irq(irq->irq);
}

void agate_irq_enable(struct agate_device *adev, unsigned int vector, u32 mask,
		      void (*serve)(struct agate_device *adev))
{
	irq_set_server(&adev->irq[vector], serve ? mask : 0, serve);
}

static void irq_set_suspended(struct agate_irq *irq, bool suspended)
{
	spin_lock_irq(&irq->lock);
	irq->suspended = suspended;
	mask_update(irq);
	spin_unlock_irq(&irq->lock);
}

void agate_irq_suspend(struct agate_device *adev, unsigned int vector)
{
	struct agate_irq *irq = &adev->irq[vector];

	irq_set_suspended(irq, true);
	if (irq->irq)
		synchronize_irq(irq->irq);
}

void agate_irq_resume(struct agate_device *adev, unsigned int vector)
{
	irq_set_suspended(&adev->irq[vector], false);
}

/* ---- Reset ------------------------------------------------------------------ */

int agate_gpu_soft_reset(struct agate_device *adev)
{
	static const u32 commands[] = { GPU_CMD_SOFT_RESET, GPU_CMD_HARD_RESET };
	unsigned int i;
	int ret = -ETIMEDOUT;

	for (i = 0; i < ARRAY_SIZE(commands) && ret == -ETIMEDOUT; i++) {
		gpu_write(adev, GPU_CMD, commands[i]);
		ret = gpu_poll(adev, GPU_INT_RAWSTAT, GPU_IRQ_RESET_COMPLETED,
			       GPU_IRQ_RESET_COMPLETED);
	}
	if (ret)
		return ret;
	gpu_write(adev, GPU_INT_CLEAR, GPU_IRQ_RESET_COMPLETED);
	for (i = 0; i < AGATE_NUM_VECTORS; i++) {
		spin_lock_irq(&adev->irq[i].lock);
		mask_update(&adev->irq[i]);
		spin_unlock_irq(&adev->irq[i].lock);
	}
	return 0;
}

/* ---- Identity --------------------------------------------------------------- */

#define WORD(field, reg)	{ offsetof(struct agate_identity, field), reg, false }
#define PAIR(field, reg)	{ offsetof(struct agate_identity, field), reg, true }

static const struct {
	size_t offset;
	u32 reg;
	bool wide;
} identity[] = {
	WORD(gpu_id, GPU_ID),
	WORD(l2_features, GPU_L2_FEATURES),
	WORD(core_features, GPU_CORE_FEATURES),
	WORD(tiler_features, GPU_TILER_FEATURES),
	WORD(mem_features, GPU_MEM_FEATURES),
	WORD(mmu_features, GPU_MMU_FEATURES),
	WORD(thread_features, GPU_THREAD_FEATURES),
	WORD(max_threads, GPU_THREAD_MAX_THREADS),
	WORD(max_workgroup_size, GPU_THREAD_MAX_WORKGROUP_SIZE),
	WORD(max_barrier_size, GPU_THREAD_MAX_BARRIER_SIZE),
	WORD(coherency_features, GPU_COHERENCY_FEATURES),
	WORD(as_present, GPU_AS_PRESENT),
	WORD(js_present, GPU_JS_PRESENT),
	PAIR(shader_present, GPU_SHADER_PRESENT_LO),
	PAIR(tiler_present, GPU_TILER_PRESENT_LO),
	PAIR(l2_present, GPU_L2_PRESENT_LO),
};

static int read_identity(struct agate_device *adev)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(identity); i++) {
		void *field = (u8 *)&adev->id + identity[i].offset;

		if (identity[i].wide)
			*(u64 *)field = gpu_read64(adev, identity[i].reg);
		else
			*(u32 *)field = gpu_read(adev, identity[i].reg);
	}
	for (i = 0; i < ARRAY_SIZE(adev->id.js_features); i++)
		adev->id.js_features[i] = gpu_read(adev, GPU_JS_FEATURES(i));
	return agate_bus_lost(adev) ? -ENODEV : 0;
}

/* ---- What is taken, with how it is given back -------------------------------- */

static void give_mastering(void *pdev)
{
	pci_clear_master(pdev);
}

static void give_bus(void *adev)
{
	agate_bus_detach(adev);
}

static void give_gpu(void *data)
{
	struct agate_device *adev = data;

	if (!agate_bus_lost(adev) && agate_gpu_soft_reset(adev))
		dev_warn(&adev->pdev->dev, "it could not be reset on leaving\n");
}

static void give_vectors(void *pdev)
{
	pci_free_irq_vectors(pdev);
}

static void give_handler(void *data)
{
	struct agate_irq *irq = data;

	free_irq(irq->irq, irq);
	irq->irq = 0;
}

static int take_function(struct agate_device *adev)
{
	struct pci_dev *pdev = adev->pdev;
	int ret;

	ret = pcim_enable_device(pdev);
	if (!ret)
		ret = pci_request_regions(pdev, KBUILD_MODNAME);
	if (!ret)
		ret = dma_set_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(AGATE_PHYS_BITS));
	if (ret)
		return ret;
	dma_set_max_seg_size(&pdev->dev, UINT_MAX);
	pci_set_master(pdev);
	return devm_add_action_or_reset(&pdev->dev, give_mastering, pdev);
}

static int take_bus(struct agate_device *adev)
{
	int ret = agate_bus_attach(adev);

	return ret ? ret : devm_add_action_or_reset(&adev->pdev->dev, give_bus, adev);
}

static int take_gpu(struct agate_device *adev)
{
	int ret = agate_gpu_soft_reset(adev);

	if (!ret)
		ret = read_identity(adev);
	return ret ? ret : devm_add_action_or_reset(&adev->pdev->dev, give_gpu, adev);
}

static int take_vectors(struct agate_device *adev)
{
	static const char *const names[AGATE_NUM_VECTORS] = {
		"agate-gpu", "agate-job", "agate-mmu", "agate-display",
	};
	struct pci_dev *pdev = adev->pdev;
	unsigned int i;
	int ret;

	ret = pci_alloc_irq_vectors(pdev, AGATE_NUM_VECTORS, AGATE_NUM_VECTORS, PCI_IRQ_MSIX);
	if (ret < 0)
		return ret;
	ret = devm_add_action_or_reset(&pdev->dev, give_vectors, pdev);
	for (i = 0; i < AGATE_NUM_VECTORS && !ret; i++) {
		struct agate_irq *irq = &adev->irq[i];

		ret = request_threaded_irq(pci_irq_vector(pdev, i), look, attend, 0, names[i],
					   irq);
		if (ret)
			break;
		irq->irq = pci_irq_vector(pdev, i);
		ret = devm_add_action_or_reset(&pdev->dev, give_handler, irq);
	}
	return ret;
}

/* ---- The GPU's own vector ------------------------------------------------------ */

static void tell_fault(struct agate_device *adev)
{
	u32 seen = gpu_read(adev, GPU_INT_RAWSTAT);
	u64 address = gpu_read64(adev, GPU_FAULT_ADDRESS_LO);
	u32 status = gpu_read(adev, GPU_FAULT_STATUS);

	if (agate_bus_lost(adev) || !(seen & FAULT_BITS))
		return;
	dev_err_ratelimited(&adev->pdev->dev, "no memory for the GPU at 0x%010llx (%#x)\n",
			    address, status);
	gpu_write(adev, GPU_INT_CLEAR, seen & FAULT_BITS);
}

int agate_pci_init(struct agate_device *adev)
{
	static const u32 bases[] = { GPU_INT_RAWSTAT, JOB_INT_RAWSTAT, MMU_INT_RAWSTAT };
	unsigned int i;
	int ret;

	for (i = 0; i < AGATE_NUM_VECTORS; i++) {
		spin_lock_init(&adev->irq[i].lock);
		adev->irq[i].adev = adev;
		adev->irq[i].base = i < ARRAY_SIZE(bases) ? bases[i] : 0;
	}
	if (!devres_open_group(&adev->pdev->dev, adev, GFP_KERNEL))
		return -ENOMEM;
	ret = take_function(adev);
	if (!ret)
		ret = take_bus(adev);
	if (!ret)
		ret = take_gpu(adev);
	if (!ret)
		ret = take_vectors(adev);
	if (ret) {
		devres_release_group(&adev->pdev->dev, adev);
		return ret;
	}
	devres_close_group(&adev->pdev->dev, adev);
	agate_irq_enable(adev, AGATE_VECTOR_GPU, FAULT_BITS, tell_fault);
	return 0;
}

void agate_pci_fini(struct agate_device *adev)
{
	agate_irq_enable(adev, AGATE_VECTOR_GPU, 0, NULL);
	devres_release_group(&adev->pdev->dev, adev);
}
