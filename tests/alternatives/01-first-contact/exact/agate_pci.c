// SPDX-License-Identifier: GPL-2.0-only
/*
 * First contact, with pci_enable_msix_exact() and a rate limit of its own.
 *
 * The identity is a table, read from its end into a copy.  A thread that a suspend has
 * overtaken does not serve: what it found waits in RAWSTAT for the resume.  A
 * call that stops a vector disables its interrupt for a moment, which waits, too.
 */
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/jiffies.h>
#include <linux/pci.h>
#include <linux/stddef.h>

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
	void (*serve)(struct agate_device *adev);
	bool stopped;

	spin_lock_irq(&irq->lock);
	serve = irq->serve;
	stopped = irq->suspended;
	spin_unlock_irq(&irq->lock);
	/* What a suspend finds not begun waits in RAWSTAT: resume writes MASK. */
	if (serve && !stopped)
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
	if (irq->irq) {
		disable_irq(irq->irq);
		enable_irq(irq->irq);
	}
}

void agate_irq_enable(struct agate_device *adev, unsigned int vector, u32 mask,
		      void (*serve)(struct agate_device *adev))
{
	struct agate_irq *irq = &adev->irq[vector];

	if (!serve) {
		spin_lock_irq(&irq->lock);
		irq->suspended = true;
		irq_write_mask(irq);
		spin_unlock_irq(&irq->lock);
		irq_wait(irq);
	}
	spin_lock_irq(&irq->lock);
	irq->serve = serve;
	irq->mask = mask;
	irq->suspended = false;
	irq_write_mask(irq);
	spin_unlock_irq(&irq->lock);
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
/* One line a second; only the thread of agate-gpu comes here. */
static bool may_tell(void)
{
	static unsigned long told_at;
	static bool told;

	if (told && time_before(jiffies, told_at + HZ))
		return false;
	told = true;
	told_at = jiffies;
	return true;
}

static void serve_gpu(struct agate_device *adev)
{
	u32 raw, status, lo, hi;

	raw = gpu_read(adev, GPU_INT_RAWSTAT);
	if (!(raw & GPU_FAULTS))
		return;
	hi = gpu_read(adev, GPU_FAULT_ADDRESS_HI);
	lo = gpu_read(adev, GPU_FAULT_ADDRESS_LO);
	status = gpu_read(adev, GPU_FAULT_STATUS);
	if (agate_bus_lost(adev))
		return;
	gpu_write(adev, GPU_INT_CLEAR, raw & GPU_FAULTS);
	if (may_tell())
		dev_warn(&adev->pdev->dev, "GPU fault, address 0x%llx, status 0x%x\n",
			 (u64)hi << 32 | lo, status);
}

static void irqs_free(struct agate_device *adev, unsigned int count)
{
	unsigned int i;

	for (i = 0; i < count; i++) {
		free_irq(adev->irq[i].irq, &adev->irq[i]);
		adev->irq[i].irq = 0;
	}
	pci_disable_msix(adev->pdev);
}

static int irqs_request(struct agate_device *adev)
{
	struct msix_entry entries[AGATE_NUM_VECTORS];
	unsigned int i;
	int ret;

	for (i = 0; i < AGATE_NUM_VECTORS; i++)
		entries[i].entry = i;
	ret = pci_enable_msix_exact(adev->pdev, entries, AGATE_NUM_VECTORS);
	if (ret)
		return ret;
	for (i = 0; i < AGATE_NUM_VECTORS; i++) {
		ret = request_threaded_irq(entries[i].vector, agate_irq_hard, agate_irq_thread, 0,
					   vectors[i].name, &adev->irq[i]);
		if (ret) {
			irqs_free(adev, i);
			return ret;
		}
		adev->irq[i].irq = entries[i].vector;
	}
	return 0;
}

static int gpu_reset_with(struct agate_device *adev, u32 command)
{
	gpu_write(adev, GPU_INT_MASK, 0);
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

#define WORD(field, reg) { offsetof(struct agate_identity, field), reg, false }
#define PAIR(field, reg) { offsetof(struct agate_identity, field), reg, true }
static const struct {
	size_t offset;
	u32 reg;
	bool wide;
} id_regs[] = {
	PAIR(l2_present, GPU_L2_PRESENT_LO), PAIR(tiler_present, GPU_TILER_PRESENT_LO),
	PAIR(shader_present, GPU_SHADER_PRESENT_LO), WORD(js_present, GPU_JS_PRESENT),
	WORD(as_present, GPU_AS_PRESENT), WORD(coherency_features, GPU_COHERENCY_FEATURES),
	WORD(max_barrier_size, GPU_THREAD_MAX_BARRIER_SIZE),
	WORD(max_workgroup_size, GPU_THREAD_MAX_WORKGROUP_SIZE),
	WORD(max_threads, GPU_THREAD_MAX_THREADS), WORD(thread_features, GPU_THREAD_FEATURES),
	WORD(mmu_features, GPU_MMU_FEATURES), WORD(mem_features, GPU_MEM_FEATURES),
	WORD(tiler_features, GPU_TILER_FEATURES), WORD(core_features, GPU_CORE_FEATURES),
	WORD(l2_features, GPU_L2_FEATURES), WORD(gpu_id, GPU_ID),
};

static int read_identity(struct agate_device *adev)
{
	struct agate_identity id = { };
	int i;

	for (i = 15; i >= 0; i--)
		id.js_features[i] = gpu_read(adev, GPU_JS_FEATURES(i));
	for (i = 0; i < ARRAY_SIZE(id_regs); i++) {
		void *field = (u8 *)&id + id_regs[i].offset;

		if (id_regs[i].wide) {
			u64 hi = gpu_read(adev, id_regs[i].reg + 4);

			*(u64 *)field = hi << 32 | gpu_read(adev, id_regs[i].reg);
		} else {
			*(u32 *)field = gpu_read(adev, id_regs[i].reg);
		}
	}
	if (agate_bus_lost(adev))
		return -ENODEV;
	adev->id = id;
	return 0;
}

/* The GPU masters the bus: it may reach all the memory it can address. */
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
	struct pci_dev *pdev = adev->pdev;

	pci_clear_master(pdev);
	pci_release_regions(pdev);
	pci_disable_device(pdev);
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
	agate_gpu_soft_reset(adev);
	irqs_free(adev, AGATE_NUM_VECTORS);
	agate_bus_detach(adev);
	disable_function(adev);
}
