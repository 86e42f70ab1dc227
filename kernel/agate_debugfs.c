// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs: counters of living objects, buffer objects, address spaces, the GPU's own
 * counters, how busy it is, its clock, the pages of placed BOs, its coherency, and which of
 * its parts have power.
 *
 * Each file is a snapshot.  gem.lock keeps every BO in the list alive during a
 * walk, because a dying BO takes it first; filelist_mutex does the same for open
 * files.
 */
#include <linux/debugfs.h>
#include <linux/seq_file.h>
#include <drm/drm_debugfs.h>
#include <drm/drm_drv.h>
#include <drm/drm_file.h>

#include "agate_coherency.h"
#include "agate_device.h"
#include "agate_limit.h"
#include "agate_regs.h"
#include "agate_residency.h"
#include "agate_sleep.h"

static const char * const stat_names[AGATE_STAT_COUNT] = {
	[AGATE_STAT_BOS] = "bos",
	[AGATE_STAT_HANDLES] = "handles",
	[AGATE_STAT_CPU_MAPS] = "cpu_maps",
	[AGATE_STAT_KMAPS] = "kmaps",
	[AGATE_STAT_PAGES] = "pages",
	[AGATE_STAT_SG_TABLES] = "sg_tables",
	[AGATE_STAT_VMS] = "vms",
	[AGATE_STAT_VA_NODES] = "va_nodes",
	[AGATE_STAT_PT_PAGES] = "pt_pages",
	[AGATE_STAT_AS_REFS] = "as_refs",
	[AGATE_STAT_JOBS] = "jobs",
	[AGATE_STAT_FENCES] = "fences",
	[AGATE_STAT_SLOT_BUSY] = "slot_busy",
	[AGATE_STAT_FILES] = "files",
};

const char *agate_stat_name(enum agate_stat which)
{
	return stat_names[which];
}

static struct agate_device *adev_of(struct seq_file *m)
{
	struct drm_info_node *node = m->private;

	return to_agate_device(node->minor->dev);
}

static int show_counters(struct seq_file *m, void *unused)
{
	struct agate_device *adev = adev_of(m);
	unsigned int i;

	for (i = 0; i < AGATE_STAT_COUNT; i++)
		seq_printf(m, "%s %lld\n", stat_names[i],
			   (s64)atomic64_read(&adev->stats.v[i]));
	return 0;
}

static void show_flags(struct seq_file *m, u32 flags)
{
	static const struct {
		u32 flag;
		const char *name;
	} names[] = {
		{ AGATE_BO_NOEXEC, "noexec" },
		{ AGATE_BO_HEAP, "heap" },
		{ AGATE_BO_CPU_READONLY, "cpu_readonly" },
		{ AGATE_BO_GPU_READONLY, "gpu_readonly" },
		{ AGATE_BO_CONTIGUOUS, "contiguous" },
		{ AGATE_BO_IMPORTED, "imported" },
	};
	const char *separator = " flags=";
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		if (!(flags & names[i].flag))
			continue;
		seq_printf(m, "%s%s", separator, names[i].name);
		separator = ",";
	}
}

static const char *madv_name(int madv)
{
	if (madv < 0)
		return "purged";
	return madv == AGATE_MADV_DONTNEED ? "dontneed" : "willneed";
}

static void show_mappings(struct seq_file *m, const struct agate_vm_bo *vm_bo)
{
	const struct agate_mapping *mapping;

	list_for_each_entry(mapping, &vm_bo->mappings, link)
		seq_printf(m, "  client=%llu va=%#llx handles=%u %s\n", vm_bo->vm->id,
			   agate_mapping_va(mapping), vm_bo->handles,
			   mapping->active ? "mapped" : "reserved");
}

static void show_bo(struct seq_file *m, struct agate_bo *bo)
{
	char label[AGATE_LABEL_MAX + 1];
	struct agate_vm_bo *vm_bo;

	agate_gem_get_label(bo, label);
	seq_printf(m, "size=%zu resident=%zu handles=%u refs=%u madv=%s", agate_bo_size(bo),
		   agate_residency_bytes(bo), READ_ONCE(bo->base.handle_count),
		   kref_read(&bo->base.refcount), madv_name(READ_ONCE(bo->madv)));
	show_flags(m, bo->flags);
	if (bo->flags & AGATE_BO_PLACED)
		agate_residency_show(m, bo);
	seq_printf(m, " label=\"%s\"\n", label);

	mutex_lock(&bo->mappings_lock);
	list_for_each_entry(vm_bo, &bo->vm_bos, link)
		show_mappings(m, vm_bo);
	mutex_unlock(&bo->mappings_lock);
}

static int show_bos(struct seq_file *m, void *unused)
{
	struct agate_device *adev = adev_of(m);
	struct agate_bo *bo;

	if (!agate_topic_present(adev, AGATE_FEATURE_GEM))
		return 0;
	mutex_lock(&adev->gem.lock);
	list_for_each_entry(bo, &adev->gem.bos, link)
		show_bo(m, bo);
	mutex_unlock(&adev->gem.lock);
	return 0;
}

static void show_place(struct seq_file *m, struct agate_vm *vm)
{
	struct agate_mmu *mmu = &vm->adev->mmu;
	unsigned int users;
	int number;

	if (!agate_topic_present(vm->adev, AGATE_FEATURE_MMU))
		return;
	spin_lock(&mmu->lock);
	number = vm->as.number;
	users = vm->as.users;
	spin_unlock(&mmu->lock);
	seq_printf(m, " as=%d users=%u", number, users);
}

static void show_vm(struct seq_file *m, struct agate_vm *vm)
{
	struct drm_mm_node *node;

	seq_printf(m, "client=%llu", vm->id);
	show_place(m, vm);
	seq_putc(m, '\n');

	down_read(&vm->lock);
	drm_mm_for_each_node(node, &vm->mm)
		seq_printf(m, "  %#llx-%#llx\n", node->start << PAGE_SHIFT,
			   (node->start + node->size) << PAGE_SHIFT);
	up_read(&vm->lock);
}

static int show_vms(struct seq_file *m, void *unused)
{
	struct agate_device *adev = adev_of(m);
	struct drm_file *file;

	mutex_lock(&adev->drm.filelist_mutex);
	list_for_each_entry(file, &adev->drm.filelist, lhead)
		show_vm(m, to_agate_file(file)->vm);
	mutex_unlock(&adev->drm.filelist_mutex);
	return 0;
}

static const char * const gpu_counter_names[AGATE_CNT_COUNT] = {
	[AGATE_CNT_WALKS] = "walks",
	[AGATE_CNT_TLB_HITS] = "tlb_hits",
	[AGATE_CNT_TLB_MISSES] = "tlb_misses",
	[AGATE_CNT_STALE_USED] = "stale_used",
	[AGATE_CNT_DIRTY_LOST] = "dirty_lost",
	[AGATE_CNT_FAULTS] = "faults",
	[AGATE_CNT_JOBS] = "jobs",
	[AGATE_CNT_JOBS_FAILED] = "jobs_failed",
	[AGATE_CNT_BYTES_COPIED] = "bytes_copied",
	[AGATE_CNT_IRQS] = "irqs",
	[AGATE_CNT_AS_CMD_DROPPED] = "as_cmd_dropped",
	[AGATE_CNT_HINTS] = "hints",
	[AGATE_CNT_TRIANGLES] = "triangles",
	[AGATE_CNT_PIXELS] = "pixels",
	[AGATE_CNT_STALE_LINES] = "stale_lines",
	[AGATE_CNT_UNLISTED] = "unlisted",
	[AGATE_CNT_LISTS_DROPPED] = "lists_dropped",
	[AGATE_CNT_BUSY] = "busy",
	[AGATE_CNT_GGTT_STALE] = "ggtt_stale",
	[AGATE_CNT_GGTT_DROPPED] = "ggtt_dropped",
	[AGATE_CNT_MOVER_COMMANDS] = "mover_commands",
	[AGATE_CNT_MOVER_BYTES] = "mover_bytes",
	[AGATE_CNT_MOVER_FAULTS] = "mover_faults",
	[AGATE_CNT_FRAMES] = "frames",
	[AGATE_CNT_POWERED_IDLE] = "powered_idle",
};

/*
 * Exactly two reads for each counter: the benchmark times this file to learn the
 * cost of a read.
 */
static int show_gpu_counters(struct seq_file *m, void *unused)
{
	struct agate_device *adev = adev_of(m);
	int ret = 0, idx;
	unsigned int i;

	if (!drm_dev_enter(&adev->drm, &idx))
		return -ENODEV;
	agate_pm_keep(adev);
	for (i = 0; i < AGATE_CNT_COUNT; i++)
		seq_printf(m, "%s %llu\n", gpu_counter_names[i],
			   gpu_read64(adev, AGATE_COUNTER_LO(i)));
	agate_pm_put(adev);
	if (agate_bus_lost(adev))
		ret = -ENODEV;
	drm_dev_exit(idx);
	return ret;
}

static int show_busy(struct seq_file *m, void *unused)
{
	u64 busy_ns, idle_ns;

	agate_busy_read(adev_of(m), &busy_ns, &idle_ns);
	seq_printf(m, "busy %llu ns\nidle %llu ns\n", busy_ns, idle_ns);
	return 0;
}

/* No register is read: the GPU may have no power. */
static int show_clock(struct seq_file *m, void *unused)
{
	struct agate_device *adev = adev_of(m);
	const struct agate_devfreq *df = &adev->devfreq;
	struct devfreq_dev_status window;
	struct agate_busy busy;
	struct agate_point now;
	u64 failed;

	if (!agate_topic_present(adev, AGATE_FEATURE_DVFS))
		return 0;
	spin_lock(&adev->slots.lock);
	now = (struct agate_point){ df->table[df->point].mhz, df->mv };
	busy = adev->busy;
	window = df->window;
	failed = df->failed;
	spin_unlock(&adev->slots.lock);
	seq_printf(m, "mhz %u\nmillivolts %u\n", now.mhz, now.mv);
	seq_printf(m, "busy %llu cycles\nidle %llu cycles\n", busy.busy_cycles, busy.idle_cycles);
	seq_printf(m, "window busy %lu of %lu cycles at %lu Hz\n", window.busy_time,
		   window.total_time, window.current_frequency);
	seq_printf(m, "refused %llu\n", failed);
	return 0;
}

static int show_pages(struct seq_file *m, void *unused)
{
	struct agate_device *adev = adev_of(m);

	if (!agate_topic_present(adev, AGATE_FEATURE_CARD))
		return 0;
	agate_limit_show(m);
	seq_printf(m, "pool %lu\n", agate_pool_count(&adev->pages.pool));
	return 0;
}

static int show_coherency(struct seq_file *m, void *unused)
{
	struct agate_device *adev = adev_of(m);
	const char *protocol = "none";

	if (agate_topic_present(adev, AGATE_FEATURE_COHERENCY))
		protocol = agate_coherency_name(agate_coherency_protocol(adev));
	seq_printf(m, "%s\n", protocol);
	return 0;
}

static int get_protected(void *data, u64 *value)
{
	struct agate_device *adev = data;

	*value = adev->coherency.protected;
	return 0;
}

static int set_protected(void *data, u64 value)
{
	return value > 1 ? -EINVAL : agate_sleep_protect(data, value);
}

DEFINE_DEBUGFS_ATTRIBUTE(protected_fops, get_protected, set_protected, "%llu\n");

/* Without the topic it is empty. */
static int show_power(struct seq_file *m, void *unused)
{
	struct agate_device *adev = adev_of(m);

	if (agate_topic_present(adev, AGATE_FEATURE_PM))
		agate_pm_show(m, adev);
	return 0;
}

static const struct drm_info_list agate_debugfs_files[] = {
	{ "counters", show_counters, 0, NULL },
	{ "bos", show_bos, 0, NULL },
	{ "vms", show_vms, 0, NULL },
	{ "gpu_counters", show_gpu_counters, 0, NULL },
	{ "busy", show_busy, 0, NULL },
	{ "clock", show_clock, 0, NULL },
	{ "pages", show_pages, 0, NULL },
	{ "coherency", show_coherency, 0, NULL },
	{ "power", show_power, 0, NULL },
};

void agate_debugfs_init(struct drm_minor *minor)
{
	drm_debugfs_create_files(agate_debugfs_files, ARRAY_SIZE(agate_debugfs_files),
				 minor->debugfs_root, minor);
	agate_card_debugfs_init(minor);
	debugfs_create_file_unsafe("protected", 0600, minor->debugfs_root,
				   to_agate_device(minor->dev), &protected_fops);
}
