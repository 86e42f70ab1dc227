// SPDX-License-Identifier: GPL-2.0-only
/*
 * The card's firmware: see agate_fw.h.
 */
#include <linux/firmware.h>
#include <linux/io.h>
#include <linux/module.h>

#include "agate_card.h"
#include "agate_device.h"
#include "agate_fw.h"
#include "agate_ggtt.h"
#include "agate_kmem.h"
#include "agate_mover.h"

MODULE_FIRMWARE(AGATE_FW_FILE);

/* ---- Memory ------------------------------------------------------------ */

/* The engines reach it by the GGTT alone. */
static struct agate_kmem *mapped_kmem(struct agate_device *adev, u64 size, u32 flags)
{
	struct agate_kmem *kmem = agate_kmem_create(adev, size, flags);
	int ret;

	if (IS_ERR(kmem))
		return kmem;
	ret = agate_ggtt_insert(&adev->ggtt, kmem, 0, U64_MAX);
	if (!ret)
		return kmem;
	agate_kmem_destroy(kmem);
	return ERR_PTR(ret);
}

static void memory_free(struct agate_fw *fw)
{
	agate_kmem_destroy(fw->scratch);
	agate_kmem_destroy(fw->context);
	agate_kmem_destroy(fw->ring);
	agate_kmem_destroy(fw->ads);
	agate_kmem_destroy(fw->blob);
	*fw = (struct agate_fw){};
}

static int memory_take(struct agate_device *adev)
{
	struct agate_kmem **const all[] = {
		&adev->fw.blob, &adev->fw.ads, &adev->fw.ring, &adev->fw.context, &adev->fw.scratch,
	};
	const struct {
		u64 size;
		u32 flags;
	} wanted[] = {
		{ adev->fw.size, 0 },
		{ sizeof(struct agate_ads), AGATE_KMEM_NO_SAVE },
		{ AGATE_RING_COMMANDS * sizeof(struct agate_mover_cmd), 0 },
		{ sizeof(struct agate_mover_context), 0 },
		{ PAGE_SIZE, AGATE_KMEM_NO_SAVE },
	};
	unsigned int i;

	static_assert(ARRAY_SIZE(all) == ARRAY_SIZE(wanted));
	for (i = 0; i < ARRAY_SIZE(all); i++) {
		struct agate_kmem *kmem = mapped_kmem(adev, wanted[i].size, wanted[i].flags);

		if (IS_ERR(kmem)) {
			memory_free(&adev->fw);
			return PTR_ERR(kmem);
		}
		*all[i] = kmem;
	}
	return 0;
}

/* The card judges the rest, and says what is wrong. */
static int load(struct agate_device *adev, const struct firmware *file)
{
	int ret;

	if (file->size < sizeof(struct agate_fw_header) || file->size > adev->card.visible)
		return -EINVAL;
	adev->fw.size = file->size;
	ret = memory_take(adev);
	if (!ret)
		memcpy_toio(adev->fw.blob->vaddr, file->data, file->size);
	return ret;
}

/* A context that was never used: the mover checks that it is one. */
static void context_begin(struct agate_kmem *context)
{
	const struct agate_mover_context first = {
		.magic = AGATE_CONTEXT_MAGIC, .check = ~AGATE_CONTEXT_MAGIC,
	};

	memcpy_toio(context->vaddr, &first, sizeof(first));
}

/* ---- Starting ---------------------------------------------------------- */

static void ads_fill(struct agate_fw *fw)
{
	const struct agate_ads ads = {
		.magic = AGATE_ADS_MAGIC, .version = AGATE_ADS_VERSION,
		.ring = agate_ggtt_node_start(fw->ring->node), .ring_order = AGATE_RING_ORDER,
		.context = agate_ggtt_node_start(fw->context->node),
		.scratch = agate_ggtt_node_start(fw->scratch->node),
	};

	memcpy_toio(fw->ads->vaddr, &ads, sizeof(ads));
}

/* Each read lets the card's time pass, so it is bounded by reads and not by a clock. */
static int wait_until_checked(struct agate_device *adev)
{
	unsigned int looks = AGATE_POLL_READS;
	u32 status;

	do {
		status = gpu_read(adev, FW_STATUS);
		if (agate_bus_lost(adev))
			return -ENODEV;
		if (FW_STATUS_STATE(status) == FW_STATUS_RUNNING) {
			dev_info(&adev->pdev->dev, "firmware %u\n", FW_STATUS_VERSION(status));
			return 0;
		}
		if (FW_STATUS_STATE(status) == FW_STATUS_FAILED) {
			dev_err(&adev->pdev->dev, "the card refuses its firmware, reason %u\n",
				FW_STATUS_REASON(status));
			return -EIO;
		}
	} while (--looks);
	dev_err(&adev->pdev->dev, "the firmware does not start\n");
	return -ETIMEDOUT;
}

int agate_fw_start(struct agate_device *adev)
{
	struct agate_fw *fw = &adev->fw;

	ads_fill(fw);
	/* All of it leaves the CPU's write buffers before the card hears of it. */
	wmb();
	gpu_write(adev, FW_BASE, agate_ggtt_node_start(fw->blob->node));
	gpu_write(adev, FW_SIZE, fw->size);
	gpu_write(adev, FW_ADS, agate_ggtt_node_start(fw->ads->node));
	gpu_write(adev, FW_CMD, FW_CMD_START);
	return wait_until_checked(adev);
}

int agate_fw_stop(struct agate_device *adev)
{
	int ret;

	gpu_write(adev, FW_CMD, FW_CMD_STOP);
	ret = gpu_poll(adev, FW_STATUS, 0xff, FW_STATUS_OFF);
	return ret == -ENODEV ? 0 : ret;
}

int agate_fw_init(struct agate_device *adev)
{
	const struct firmware *file;
	int ret;

	ret = request_firmware(&file, AGATE_FW_FILE, &adev->pdev->dev);
	if (ret)
		return ret;
	ret = load(adev, file);
	release_firmware(file);
	if (ret)
		return ret;
	context_begin(adev->fw.context);
	ret = agate_fw_start(adev);
	if (ret) {
		agate_fw_stop(adev);
		memory_free(&adev->fw);
	}
	return ret;
}

void agate_fw_fini(struct agate_device *adev)
{
	agate_fw_stop(adev);
	memory_free(&adev->fw);
}
