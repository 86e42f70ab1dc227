// SPDX-License-Identifier: GPL-2.0-only
/*
 * The frame's services for the global table: see agate_ggtt_frame.h.
 */
#include <linux/io.h>
#include <linux/slab.h>
#include <drm/drm_drv.h>

#include "agate_device.h"
#include "agate_ggtt.h"
#include "agate_ggtt_frame.h"
#include "agate_kmem.h"

static struct agate_device *adev_of(struct agate_ggtt *g)
{
	return container_of(g, struct agate_device, ggtt);
}

static u32 frame_read(struct agate_ggtt *g, u32 reg)
{
	return gpu_read(adev_of(g), reg);
}

static void frame_write(struct agate_ggtt *g, u32 reg, u32 value)
{
	gpu_write(adev_of(g), reg, value);
}

/* GSM is mapped write-combining: entries reach it in any order, until flush_gsm(). */
static void frame_write_gsm(struct agate_ggtt *g, u32 index, u64 pte)
{
	writeq(pte, adev_of(g)->card.gsm + index * sizeof(pte));
}

static void frame_flush_gsm(struct agate_ggtt *g)
{
	/* The entries leave the CPU's write buffers before the card hears of them. */
	wmb();
}

static bool frame_enter(struct agate_ggtt *g, int *idx)
{
	return drm_dev_enter(&adev_of(g)->drm, idx);
}

static void frame_exit(struct agate_ggtt *g, int idx)
{
	drm_dev_exit(idx);
}

/* The card has power as long as its driver is bound. */
static void frame_get(struct agate_ggtt *g)
{
}

static bool frame_get_if_awake(struct agate_ggtt *g)
{
	return true;
}

static void frame_put(struct agate_ggtt *g)
{
}

static void frame_queue(struct agate_ggtt *g, struct agate_ggtt_node *node)
{
	/* Not reached: see frame_get_if_awake(). */
	WARN_ON_ONCE(1);
}

static struct agate_ggtt_node *frame_node_alloc(struct agate_ggtt *g)
{
	return kzalloc(sizeof(struct agate_ggtt_node), GFP_KERNEL_ACCOUNT);
}

static void frame_node_free(struct agate_ggtt *g, struct agate_ggtt_node *node)
{
	kfree(node);
}

static struct agate_kmem *frame_scratch_create(struct agate_ggtt *g, bool vram)
{
	struct agate_kmem *scratch;

	if (vram)
		scratch = agate_kmem_create(adev_of(g), PAGE_SIZE, AGATE_KMEM_NO_SAVE);
	else
		scratch = agate_kmem_create_page(adev_of(g));
	return IS_ERR(scratch) ? NULL : scratch;
}

static void frame_scratch_destroy(struct agate_ggtt *g, struct agate_kmem *scratch)
{
	agate_kmem_destroy(scratch);
}

static const struct agate_ggtt_ops frame_ggtt_ops = {
	.read = frame_read,
	.write = frame_write,
	.write_gsm = frame_write_gsm,
	.flush_gsm = frame_flush_gsm,
	.enter = frame_enter,
	.exit = frame_exit,
	.get = frame_get,
	.get_if_awake = frame_get_if_awake,
	.put = frame_put,
	.queue = frame_queue,
	.node_alloc = frame_node_alloc,
	.node_free = frame_node_free,
	.scratch_create = frame_scratch_create,
	.scratch_destroy = frame_scratch_destroy,
};

int agate_ggtt_frame_init(struct agate_device *adev)
{
	adev->ggtt.ops = &frame_ggtt_ops;
	return agate_ggtt_init_early(&adev->ggtt);
}

void agate_ggtt_frame_fini(struct agate_device *adev)
{
	WARN_ON(agate_ggtt_fini(&adev->ggtt));
}
