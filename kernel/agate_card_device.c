// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the card has, and its memory as the CPUs see it: see agate_card_device.h.
 */
#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/module.h>
#include <linux/pci.h>
#include <linux/sizes.h>

#include "agate_card.h"
#include "agate_card_device.h"
#include "agate_device.h"
#include "agate_drm.h"
#include "agate_fw.h"
#include "agate_ggtt_frame.h"
#include "agate_kmem.h"
#include "agate_lock_order.h"
#include "agate_mover.h"
#include "agate_placed.h"
#include "agate_scan.h"

static unsigned int vram_mapped;
module_param(vram_mapped, uint, 0444);
MODULE_PARM_DESC(vram_mapped, "MiB of VRAM that the kernel keeps mapped (default: all that the CPUs reach)");

static bool vram_uncached;
module_param(vram_uncached, bool, 0444);
MODULE_PARM_DESC(vram_uncached, "Map VRAM uncached, for machines that cannot combine writes to it");

static void __iomem *map_by_caching(const struct agate_card *card, phys_addr_t start)
{
	if (card->caching == AGATE_CACHING_WC)
		return ioremap_wc(start, card->mapped);
	return ioremap(start, card->mapped);
}

/*
 * Write combining is a property of the bytes, and not of a mapping: later mappings, those of
 * processes among them, get it where it is reserved, and else are uncached.
 */
static int map_vram(struct agate_device *adev)
{
	const phys_addr_t start = adev->bus.vram.start;
	struct agate_card *card = &adev->card;
	int ret = 0;

	/* The header is the launcher's: take no more than the card has. */
	card->visible = min(adev->bus.vram.size, card->vram_size);
	card->mapped = card->visible;
	if (vram_mapped)
		card->mapped = min(card->visible, (u64)vram_mapped << 20);
	card->caching = vram_uncached ? AGATE_CACHING_UC : AGATE_CACHING_WC;
	if (!vram_uncached)
		ret = arch_io_reserve_memtype_wc(start, card->visible);
	if (ret)
		return ret;
	card->vram = map_by_caching(card, start);
	if (card->vram)
		return 0;
	if (!vram_uncached)
		arch_io_free_memtype_wc(start, card->visible);
	return -ENOMEM;
}

static void unmap_vram(struct agate_device *adev)
{
	struct agate_card *card = &adev->card;

	iounmap(card->vram);
	if (card->caching == AGATE_CACHING_WC)
		arch_io_free_memtype_wc(adev->bus.vram.start, card->visible);
}

static void unmap_all(struct agate_device *adev)
{
	if (adev->card.gsm)
		iounmap(adev->card.gsm);
	unmap_vram(adev);
}

static int map_all(struct agate_device *adev)
{
	struct agate_card *card = &adev->card;
	int ret = map_vram(adev);

	if (ret || card->features & CARD_FEATURE_GGTT_PORT)
		return ret;
	card->gsm = ioremap_wc(adev->bus.gsm.start, adev->bus.gsm.size);
	if (card->gsm)
		return 0;
	unmap_vram(adev);
	return -ENOMEM;
}

int agate_card_topic_init(struct agate_device *adev)
{
	struct agate_card *card = &adev->card;
	u32 id = gpu_read(adev, CARD_ID);
	int ret;

	if (agate_bus_lost(adev))
		return -ENODEV;
	if (!id)
		return -EOPNOTSUPP;
	mutex_init(&card->kmem_lock);
	agate_lock_class(&card->kmem_lock, AGATE_LOCK_KMEM);
	INIT_LIST_HEAD(&card->kmems);
	INIT_LIST_HEAD(&card->removed);
	INIT_LIST_HEAD(&card->sleepers);
	init_rwsem(&card->awake_lock);
	spin_lock_init(&card->removed_lock);
	card->features = gpu_read(adev, CARD_FEATURES);
	card->vram_size = gpu_read64(adev, CARD_VRAM_SIZE_LO);
	card->losses = gpu_read(adev, CARD_LOSSES);
	card->min_align = card->features & CARD_FEATURE_GGTT_64K ? SZ_64K : SZ_4K;
	ret = dma_set_mask_and_coherent(&adev->pdev->dev,
					DMA_BIT_MASK(CARD_FEATURES_DMA_BITS(card->features)));
	if (!ret)
		ret = map_all(adev);
	if (ret)
		return ret;
	ret = agate_placed_init(adev);
	if (ret) {
		unmap_all(adev);
		return ret;
	}
	/* While runtime PM has the GPU off the card goes on, and needs the bridges above. */
	pci_d3cold_disable(adev->pdev);
	dev_info(&adev->pdev->dev, "card %u.%u, %llu MiB of VRAM, %llu of them visible\n",
		 id >> 16, id & 0xffff, card->vram_size >> 20, card->visible >> 20);
	return 0;
}

void agate_card_topic_fini(struct agate_device *adev)
{
	pci_d3cold_enable(adev->pdev);
	agate_placed_fini(adev);
	unmap_all(adev);
}

/* ---- Supply ------------------------------------------------------------ */

int agate_card_status(struct agate_device *adev)
{
	bool lost = !gpu_read(adev, CARD_ID) || gpu_read(adev, CARD_LOSSES) != adev->card.losses;

	if (agate_bus_lost(adev))
		return -ENODEV;
	return lost ? -EIO : 0;
}

void agate_card_power_off(struct agate_device *adev)
{
	gpu_write(adev, AGATE_CARD_POWER, 0);
}

int agate_card_power_on(struct agate_device *adev)
{
	gpu_write(adev, AGATE_CARD_POWER, 1);
	adev->card.losses = gpu_read(adev, CARD_LOSSES);
	return agate_card_status(adev);
}

/* ---- Engines ----------------------------------------------------------- */

void agate_card_serve(struct agate_device *adev)
{
	u32 seen = gpu_read(adev, CARD_INT_RAWSTAT);

	if (agate_bus_lost(adev))
		return;
	gpu_write(adev, CARD_INT_CLEAR, seen & ~AGATE_SCAN_INTS);
	agate_mover_serve(adev);
	if (seen & AGATE_SCAN_INTS)
		agate_scan_serve(adev);
}

static int engines_start(struct agate_device *adev)
{
	int ret = agate_fw_init(adev);

	if (ret)
		return ret;
	ret = agate_ggtt_init(&adev->ggtt);
	if (!ret)
		ret = agate_mover_init(adev, adev->fw.ring->vaddr);
	if (ret)
		agate_fw_fini(adev);
	return ret;
}

int agate_engines_topic_init(struct agate_device *adev)
{
	int ret = agate_ggtt_frame_init(adev);

	if (ret)
		return ret;
	ret = engines_start(adev);
	if (ret) {
		agate_ggtt_frame_fini(adev);
		return ret == -ENOENT ? -EOPNOTSUPP : ret;
	}
	agate_scan_init(adev);
	/* Only now: without a card, nobody may write to its registers. */
	adev->irq[AGATE_VECTOR_CARD].base = CARD_INT_RAWSTAT;
	agate_irq_enable(adev, AGATE_VECTOR_CARD,
			 CARD_INT_MOVER_DONE | CARD_INT_MOVER_FAULT | AGATE_SCAN_INTS,
			 agate_card_serve);
	return 0;
}

void agate_engines_topic_fini(struct agate_device *adev)
{
	agate_mover_fini(adev);
	agate_scan_fini(adev);
	agate_irq_enable(adev, AGATE_VECTOR_CARD, 0, NULL);
	adev->irq[AGATE_VECTOR_CARD].base = 0;
	agate_fw_fini(adev);
	agate_ggtt_frame_fini(adev);
}
