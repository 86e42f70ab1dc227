// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lab 06: another driver that imports dma-bufs, for a device that takes a page in each entry; see
 * foreign.h.
 */
#include "foreign.h"
#include "foreign_parts.h"
#include "probes.h"

#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/iosys-map.h>
#include <linux/module.h>
#include <linux/platform_device.h>

static struct platform_device *importer;
static struct device_dma_parameters importer_limits = { .max_segment_size = PAGE_SIZE };
static unsigned int mapped_in;		/* the direction in which the BO was mapped last */

static void look_at_table(struct foreign_import *import, struct sg_table *sgt)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_sg(sgt, sg, i) {
		import->entries++;
		import->other_device += sg->length > importer_limits.max_segment_size;
	}
}

static void map_none(struct dma_buf_attachment *attach, struct foreign_import *import)
{
	struct sg_table *sgt = dma_buf_map_attachment(attach, DMA_NONE);

	import->none = PTR_ERR_OR_ZERO(sgt);
	if (!IS_ERR(sgt))
		dma_buf_unmap_attachment(attach, sgt, DMA_NONE);
}

static int __kprobes on_map(struct kprobe *kp, struct pt_regs *regs)
{
	if (regs->di == (unsigned long)&importer->dev)
		mapped_in = regs->dx;
	return 0;
}

static struct sg_table *map_watched(struct dma_buf_attachment *attach,
				    struct foreign_import *import)
{
	struct kprobe mapping = { .symbol_name = "dma_map_sgtable", .pre_handler = on_map };
	struct sg_table *sgt;
	bool watched;

	mapped_in = DMA_NONE;
	watched = !probe_arm(&mapping);
	sgt = dma_buf_map_attachment(attach, DMA_FROM_DEVICE);
	if (watched)
		probe_disarm(&mapping);
	import->turned = mapped_in != DMA_NONE && mapped_in != DMA_FROM_DEVICE;
	return sgt;
}

static void map_twice(struct dma_buf_attachment *attach, struct foreign_import *import)
{
	struct sg_table *first = map_watched(attach, import), *second;

	import->result = PTR_ERR_OR_ZERO(first);
	if (import->result)
		return;
	look_at_table(import, first);
	second = dma_buf_map_attachment(attach, DMA_FROM_DEVICE);
	import->same = first == second;
	if (!IS_ERR(second))
		dma_buf_unmap_attachment(attach, second, DMA_FROM_DEVICE);
	dma_buf_unmap_attachment(attach, first, DMA_FROM_DEVICE);
}

static void map_for_kernel(struct dma_buf *dmabuf, struct foreign_import *import)
{
	struct iosys_map map;

	import->vmap = dma_buf_vmap(dmabuf, &map);
	if (import->vmap)
		return;
	iosys_map_memcpy_from(&import->word, &map, 0, sizeof(import->word));
	dma_buf_vunmap(dmabuf, &map);
}

long importer_import(struct foreign_import *import)
{
	struct dma_buf *dmabuf = dma_buf_get(import->fd);
	struct dma_buf_attachment *attach;

	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	attach = dma_buf_attach(dmabuf, &importer->dev);
	import->attach = PTR_ERR_OR_ZERO(attach);
	if (!IS_ERR(attach)) {
		dma_resv_lock(dmabuf->resv, NULL);
		map_none(attach, import);
		map_twice(attach, import);
		map_for_kernel(dmabuf, import);
		dma_resv_unlock(dmabuf->resv);
		dma_buf_detach(dmabuf, attach);
	}
	dma_buf_put(dmabuf);
	return 0;
}

int importer_init(void)
{
	importer = platform_device_register_simple("agate_importer", -1, NULL, 0);
	if (IS_ERR(importer))
		return PTR_ERR(importer);
	importer->dev.dma_parms = &importer_limits;
	return dma_coerce_mask_and_coherent(&importer->dev, DMA_BIT_MASK(64));
}

void importer_exit(void)
{
	if (!IS_ERR(importer))
		platform_device_unregister(importer);
}
