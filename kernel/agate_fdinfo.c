// SPDX-License-Identifier: GPL-2.0-only
/*
 * One client's use of the GPU and of memory, in /proc/PID/fdinfo, with the keys of
 * drm-usage-stats.rst.
 *
 * A BO counts for every file that has a handle to it.  The key "shared" is the part
 * of the total that other handles or a dma-buf name, too.  The pages of an imported BO
 * are the exporter's.
 *
 * There are two regions: "memory", and on a card "vram".  A placed BO is in the total of VRAM if
 * it may ever be there, whichever place it has now; what is resident counts where it is.
 *
 * The driver's own key "agate-power" says if the GPU has its power, and
 * wakes it for no reader.
 */
#include <linux/idr.h>
#include <linux/seq_file.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>

#include "agate_device.h"
#include "agate_drm.h"
#include "agate_placement.h"
#include "agate_residency.h"

/* Bytes; each field has the name of its key. */
struct memory_use {
	u64 total;
	u64 shared;
	u64 resident;
	u64 purgeable;
	u64 active;
};

/* The placement never changes. */
static enum drm_agate_region_type home_of(const struct agate_bo *bo)
{
	return bo->ttm.placement & BIT(DRM_AGATE_REGION_VRAM) ? DRM_AGATE_REGION_VRAM :
							       DRM_AGATE_REGION_SYSTEM;
}

static enum drm_agate_region_type place_of(const struct agate_bo *bo)
{
	return agate_residency_where(bo) == AGATE_IN_VRAM ? DRM_AGATE_REGION_VRAM :
							    DRM_AGATE_REGION_SYSTEM;
}

static void add_bo(struct memory_use *use, struct agate_bo *bo)
{
	struct memory_use *home = &use[home_of(bo)];
	struct memory_use *here = &use[place_of(bo)];
	u64 size = agate_bo_size(bo);
	u64 resident = agate_residency_bytes(bo);
	bool active = atomic_read(&bo->gpu_users);

	home->total += size;
	here->resident += resident;
	if (READ_ONCE(bo->base.handle_count) > 1 || READ_ONCE(bo->base.dma_buf))
		home->shared += size;
	if (active)
		here->active += resident;
	else if (READ_ONCE(bo->madv) == AGATE_MADV_DONTNEED)
		here->purgeable += resident;
}

/* table_lock keeps every BO in the table alive.  It is a spinlock, so nothing may sleep here. */
static void sum_bos(struct drm_file *file, struct memory_use *use)
{
	struct drm_gem_object *obj;
	int handle;

	spin_lock(&file->table_lock);
	idr_for_each_entry(&file->object_idr, obj, handle)
		add_bo(use, to_agate_bo(obj));
	spin_unlock(&file->table_lock);
}

static void show_memory(struct seq_file *m, const char *region, const struct memory_use *use)
{
	const struct {
		const char *key;
		u64 bytes;
	} keys[] = {
		{ "memory", use->resident },
		{ "total", use->total },
		{ "shared", use->shared },
		{ "resident", use->resident },
		{ "purgeable", use->purgeable },
		{ "active", use->active },
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(keys); i++)
		seq_printf(m, "drm-%s-%s:\t%llu KiB\n", keys[i].key, region, keys[i].bytes / SZ_1K);
}

/*
 * Cycles count at any frequency, so they tell how much of what the GPU could do at its
 * fastest a client used.  "curfreq" is no key of all drivers; Panfrost has it.
 */
static void show_cycles(struct seq_file *m, struct agate_file *afile, unsigned int n,
			const char *name)
{
	u64 cycles = afile->entities ? atomic64_read(&afile->entities->cycles[n]) : 0;

	seq_printf(m, "drm-cycles-%s:\t%llu\n", name, cycles);
	seq_printf(m, "drm-maxfreq-%s:\t%lu Hz\n", name, agate_devfreq_max_hz(afile->adev));
	seq_printf(m, "drm-curfreq-%s:\t%lu Hz\n", name, agate_devfreq_now_hz(afile->adev));
}

static void show_engines(struct seq_file *m, struct agate_file *afile)
{
	static const char * const names[AGATE_MAX_SLOTS] = {
		"fragment", "vertex-tiler", "compute",
	};
	unsigned int i;

	for (i = 0; i < AGATE_MAX_SLOTS; i++) {
		u64 busy_ns = afile->entities ? atomic64_read(&afile->entities->busy_ns[i]) : 0;

		seq_printf(m, "drm-engine-%s:\t%llu ns\n", names[i], busy_ns);
		if (agate_topic_present(afile->adev, AGATE_FEATURE_DVFS))
			show_cycles(m, afile, i, names[i]);
	}
}

void agate_show_fdinfo(struct seq_file *m, struct file *f)
{
	struct drm_file *file = f->private_data;
	struct agate_file *afile = to_agate_file(file);
	struct agate_device *adev = afile->adev;
	struct memory_use use[AGATE_MAX_REGIONS] = { };

	seq_printf(m, "drm-driver:\t%s\n", adev->drm.driver->name);
	seq_printf(m, "drm-pdev:\t%s\n", pci_name(adev->pdev));
	seq_printf(m, "drm-client-id:\t%llu\n", afile->id);
	show_engines(m, afile);
	sum_bos(file, use);
	show_memory(m, "memory", &use[DRM_AGATE_REGION_SYSTEM]);
	if (agate_topic_present(adev, AGATE_FEATURE_CARD))
		show_memory(m, "vram", &use[DRM_AGATE_REGION_VRAM]);
	seq_printf(m, "agate-power:\t%s\n", READ_ONCE(adev->pm.off) ? "off" : "on");
}
