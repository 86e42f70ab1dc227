// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the card has, and its memory as the CPUs see it: see agate_card_device.h.
 */
#include <linux/dma-mapping.h>
#include <linux/io.h>
#include <linux/pci.h>
#include <linux/sizes.h>

#include "agate_card.h"
#include "agate_card_device.h"
#include "agate_device.h"
#include "agate_fw.h"
#include "agate_ggtt_frame.h"
#include "agate_kmem.h"
#include "agate_lock_order.h"
#include "agate_mover.h"
#include "agate_placed.h"
#include "agate_scan.h"

/* The header is the launcher's: take no more than the card has. */
static int map_vram(struct agate_device *adev)
{
	struct agate_card *card = &adev->card;

	card->visible = min(adev->bus.vram.size, card->vram_size);
	card->vram = ioremap_wc(adev->bus.vram.start, card->visible);
	return card->vram ? 0 : -ENOMEM;
}

static void unmap_all(struct agate_card *card)
{
	if (card->gsm)
		iounmap(card->gsm);
	iounmap(card->vram);
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
	iounmap(card->vram);
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
		unmap_all(card);
		return ret;
	}
	dev_info(&adev->pdev->dev, "card %u.%u, %llu MiB of VRAM, %llu of them visible\n",
		 id >> 16, id & 0xffff, card->vram_size >> 20, card->visible >> 20);
	return 0;
}

void agate_card_topic_fini(struct agate_device *adev)
{
	agate_placed_fini(adev);
	unmap_all(&adev->card);
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
