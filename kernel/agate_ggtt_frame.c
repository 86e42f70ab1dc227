// SPDX-License-Identifier: GPL-2.0-only
/*
 * The frame's services for the global table: see agate_ggtt_frame.h.
 */
#include <linux/io.h>
#include <linux/slab.h>

#include "agate_device.h"
#include "agate_ggtt.h"
#include "agate_ggtt_frame.h"
#include "agate_kmem.h"
#include "agate_lock_order.h"

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

/*
 * The table is there from agate_ggtt_frame_init() to agate_ggtt_frame_fini(), unless the GPU is
 * lost.  Removal itself takes the last addresses away, when it has unplugged the device and waited
 * for all others: so this does not ask drm_dev_enter().
 */
static bool frame_enter(struct agate_ggtt *g, int *idx)
{
	return !agate_bus_lost(adev_of(g));
}

static void frame_exit(struct agate_ggtt *g, int idx)
{
}

/*
 * Only the system's sleep takes the card's power, and it comes back for nobody.  Entries that are
 * written meanwhile are written again at resume, like all others.
 */
static void frame_get(struct agate_ggtt *g)
{
	down_read(&adev_of(g)->card.awake_lock);
}

static void frame_put(struct agate_ggtt *g)
{
	up_read(&adev_of(g)->card.awake_lock);
}

static bool frame_get_if_awake(struct agate_ggtt *g)
{
	frame_get(g);
	if (!adev_of(g)->card.asleep)
		return true;
	frame_put(g);
	return false;
}

/* The card is awake. */
static void remove_all(struct list_head *removed)
{
	struct agate_ggtt_node *node, *next;

	list_for_each_entry_safe(node, next, removed, link)
		agate_ggtt_node_remove_queued(node);
}

/* It may have woken up since frame_get_if_awake(). */
static void frame_queue(struct agate_ggtt *g, struct agate_ggtt_node *node)
{
	struct agate_card *card = &adev_of(g)->card;
	LIST_HEAD(due);

	spin_lock(&card->removed_lock);
	list_add_tail(&node->link, card->asleep ? &card->removed : &due);
	spin_unlock(&card->removed_lock);
	remove_all(&due);
}

static void set_asleep(struct agate_card *card, bool asleep, struct list_head *due)
{
	down_write(&card->awake_lock);
	spin_lock(&card->removed_lock);
	card->asleep = asleep;
	list_splice_tail_init(&card->removed, due);
	spin_unlock(&card->removed_lock);
	up_write(&card->awake_lock);
}

void agate_ggtt_frame_sleep(struct agate_device *adev)
{
	LIST_HEAD(none);

	set_asleep(&adev->card, true, &none);
}

void agate_ggtt_frame_wake(struct agate_device *adev)
{
	LIST_HEAD(due);

	set_asleep(&adev->card, false, &due);
	remove_all(&due);
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
	int ret;

	adev->ggtt.ops = &frame_ggtt_ops;
	ret = agate_ggtt_init_early(&adev->ggtt);
	if (!ret)
		agate_lock_class(&adev->ggtt.lock, AGATE_LOCK_GGTT);
	return ret;
}

void agate_ggtt_frame_fini(struct agate_device *adev)
{
	WARN_ON(agate_ggtt_fini(&adev->ggtt));
}
