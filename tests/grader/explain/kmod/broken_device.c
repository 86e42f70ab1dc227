// SPDX-License-Identifier: GPL-2.0-only
/*
 * DMA mappings, interrupts, address ranges.
 */
#include <linux/dma-mapping.h>
#include <linux/interrupt.h>
#include <linux/kernel.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>
#include <drm/drm_mm.h>

#include "agate_broken.h"

static noinline dma_addr_t map_one(void *p, size_t size)
{
	return dma_map_single(&broken_pdev->dev, p, size, DMA_TO_DEVICE);
}

static void dma_wrong_size(void)
{
	void *p = kmalloc(4096, GFP_KERNEL);
	dma_addr_t dma = map_one(p, 4096);

	dma_unmap_single(&broken_pdev->dev, dma, 2048, DMA_TO_DEVICE);
}

static void dma_wrong_direction(void)
{
	void *p = kmalloc(4096, GFP_KERNEL);
	dma_addr_t dma = map_one(p, 4096);

	if (dma_mapping_error(&broken_pdev->dev, dma))
		return;
	dma_unmap_single(&broken_pdev->dev, dma, 4096, DMA_FROM_DEVICE);
}

static void dma_unchecked(void)
{
	void *p = kmalloc(4096, GFP_KERNEL);
	dma_addr_t dma = map_one(p, 4096);

	dma_unmap_single(&broken_pdev->dev, dma, 4096, DMA_TO_DEVICE);
}

static void dma_twice(void)
{
	void *p = kmalloc(4096, GFP_KERNEL);
	dma_addr_t dma = map_one(p, 4096);

	if (dma_mapping_error(&broken_pdev->dev, dma))
		return;
	dma_unmap_single(&broken_pdev->dev, dma, 4096, DMA_TO_DEVICE);
	dma_unmap_single(&broken_pdev->dev, dma, 4096, DMA_TO_DEVICE);
}

static void dma_from_stack(void)
{
	char buf[64] = { 0 };

	map_one(buf, sizeof(buf));
}

static void dma_from_vmalloc(void)
{
	map_one(vmalloc(4096), 4096);
}

/* The kernel reports it when the module is unloaded. */
static void dma_left(void)
{
	void *p = kmalloc(4096, GFP_KERNEL);
	dma_addr_t dma = map_one(p, 4096);

	WARN_ON(dma_mapping_error(&broken_pdev->dev, dma));
}

static irqreturn_t nobody(int irq, void *data)
{
	return IRQ_NONE;
}

static void irq_not_freed(void)
{
	if (pci_alloc_irq_vectors(broken_pdev, 1, 4, PCI_IRQ_MSIX) < 1)
		return;
	if (request_irq(pci_irq_vector(broken_pdev, 0), nobody, 0, "agate-gpu", &broken_pdev))
		return;
	pci_free_irq_vectors(broken_pdev);
}

static void irq_freed_twice(void)
{
	int irq;

	if (pci_alloc_irq_vectors(broken_pdev, 1, 4, PCI_IRQ_MSIX) < 1)
		return;
	irq = pci_irq_vector(broken_pdev, 0);
	if (request_irq(irq, nobody, 0, "agate-gpu", &broken_pdev))
		return;
	free_irq(irq, &broken_pdev);
	free_irq(irq, &broken_pdev);
}

static noinline int insert_node(struct drm_mm *mm, struct drm_mm_node *node)
{
	return drm_mm_insert_node(mm, node, 0x1000);
}

static void range_left(void)
{
	struct drm_mm_node node = { };
	struct drm_mm mm;

	drm_mm_init(&mm, 0x1000, 0x100000);
	if (!insert_node(&mm, &node))
		drm_mm_takedown(&mm);
}

const struct broken broken_device[] = {
	{ "dma-wrong-size", dma_wrong_size },
	{ "dma-wrong-direction", dma_wrong_direction },
	{ "dma-unchecked", dma_unchecked },
	{ "dma-twice", dma_twice },
	{ "dma-from-stack", dma_from_stack },
	{ "dma-from-vmalloc", dma_from_vmalloc },
	{ "dma-left", dma_left },
	{ "irq-not-freed", irq_not_freed },
	{ "irq-freed-twice", irq_freed_twice },
	{ "range-left", range_left },
	{ }
};
