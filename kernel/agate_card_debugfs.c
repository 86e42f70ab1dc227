// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs of a card: its regions of memory, who has which part of VRAM, the global table, and
 * the last moves.
 *
 * Without a card the files are empty.
 */
#include <linux/seq_file.h>
#include <drm/drm_debugfs.h>
#include <drm/drm_file.h>
#include <drm/drm_print.h>

#include "agate_device.h"
#include "agate_drm.h"
#include "agate_ggtt.h"
#include "agate_kmem.h"
#include "agate_placement.h"
#include "agate_residency.h"
#include "agate_ttm.h"

static struct agate_device *adev_of(struct seq_file *m)
{
	struct drm_info_node *node = m->private;

	return to_agate_device(node->minor->dev);
}

static int show_regions(struct seq_file *m, void *unused)
{
	static const char * const names[] = {
		[DRM_AGATE_REGION_SYSTEM] = "system",
		[DRM_AGATE_REGION_VRAM] = "vram",
	};
	struct drm_agate_region regions[AGATE_MAX_REGIONS] = {};
	struct agate_device *adev = adev_of(m);
	unsigned int count, i;

	if (!agate_topic_present(adev, AGATE_FEATURE_CARD))
		return 0;
	count = agate_regions_fill(adev, regions);
	for (i = 0; i < count; i++)
		seq_printf(m, "%s size=%llu used=%llu visible=%llu visible_used=%llu\n",
			   names[regions[i].type], (u64)regions[i].size, (u64)regions[i].used,
			   (u64)regions[i].cpu_visible, (u64)regions[i].cpu_visible_used);
	return 0;
}

/* lru_lock keeps the BO of a resource on the list alive. */
static void show_resource(struct seq_file *m, const struct agate_resource *res, const char *whose)
{
	const struct agate_ttm_bo *bo = res->bo;

	seq_printf(m, "start=%#llx size=%llu %s", res->start, res->size, whose);
	if (bo)
		seq_printf(m, " id=%llu why=%s pins=%u", bo->residency.id,
			   agate_cause_name(READ_ONCE(bo->residency.why)), READ_ONCE(bo->pins));
	seq_putc(m, '\n');
}

static void show_list(struct seq_file *m, const struct list_head *list, const char *whose)
{
	const struct agate_resource *res;

	list_for_each_entry(res, list, lru)
		show_resource(m, res, whose);
}

/*
 * BOs in the order in which they leave; then what nobody owns any more, and the driver's own; and
 * what the manager says of the rest.
 */
static int show_vram(struct seq_file *m, void *unused)
{
	struct agate_device *adev = adev_of(m);
	struct agate_ttm *ttm = &adev->ttm;
	struct agate_man *vram = &ttm->man[AGATE_MEM_VRAM];
	struct drm_printer p = drm_seq_file_printer(m);

	if (!agate_topic_present(adev, AGATE_FEATURE_CARD))
		return 0;
	spin_lock(&ttm->lru_lock);
	show_list(m, &vram->lru, "bo");
	show_list(m, &vram->parked, "parked");
	show_list(m, &vram->kernel, "driver");
	spin_unlock(&ttm->lru_lock);
	vram->ops->debug(vram, &p);
	return 0;
}

static void show_node(void *arg, const struct agate_ggtt_node *node)
{
	struct seq_file *m = arg;

	seq_printf(m, "start=%#llx size=%llu ", agate_ggtt_node_start(node),
		   agate_ggtt_node_size(node));
	if (node->kmem)
		seq_printf(m, "driver addr=%#llx in=%s", node->kmem->addr,
			   node->kmem->vram ? "vram" : "system");
	else
		seq_puts(m, "bo");
	seq_printf(m, " vf=%u\n", node->vf);
}

static void show_hole(void *arg, u64 start, u64 size)
{
	seq_printf(arg, "start=%#llx size=%llu free\n", start, size);
}

static int show_ggtt(struct seq_file *m, void *unused)
{
	struct agate_device *adev = adev_of(m);

	if (!agate_topic_present(adev, AGATE_FEATURE_ENGINES))
		return 0;
	agate_ggtt_dump(&adev->ggtt, show_node, m);
	agate_ggtt_holes(&adev->ggtt, AGATE_GGTT_PAGE_SIZE, show_hole, m);
	return 0;
}

/* The ring may turn meanwhile, so each move is copied under the lock. */
static bool next_move(struct agate_move_log *log, u64 *n, struct agate_moved *moved)
{
	bool found;

	spin_lock(&log->lock);
	if (log->count > AGATE_MOVES_KEPT)
		*n = max(*n, log->count - AGATE_MOVES_KEPT);
	found = *n < log->count;
	if (found)
		*moved = log->ring[*n % AGATE_MOVES_KEPT];
	spin_unlock(&log->lock);
	return found;
}

static int show_moves(struct seq_file *m, void *unused)
{
	struct agate_device *adev = adev_of(m);
	struct agate_moved moved;
	u64 n;

	if (!agate_topic_present(adev, AGATE_FEATURE_CARD))
		return 0;
	for (n = 0; next_move(&adev->ttm.log, &n, &moved); n++)
		seq_printf(m, "n=%llu time=%llu id=%llu size=%llu from=%s to=%s start=%#llx why=%s\n",
			   n, moved.time_ns, moved.id, moved.size, agate_where_name(moved.from),
			   agate_where_name(moved.to), moved.start, agate_cause_name(moved.why));
	return 0;
}

static const struct drm_info_list card_files[] = {
	{ "regions", show_regions, 0, NULL },
	{ "vram", show_vram, 0, NULL },
	{ "ggtt", show_ggtt, 0, NULL },
	{ "moves", show_moves, 0, NULL },
};

void agate_card_debugfs_init(struct drm_minor *minor)
{
	drm_debugfs_create_files(card_files, ARRAY_SIZE(card_files), minor->debugfs_root, minor);
}
