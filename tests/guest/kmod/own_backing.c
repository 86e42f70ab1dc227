// SPDX-License-Identifier: GPL-2.0-only
/*
 * A kind of backing that is not the driver's: the BOs that a process makes while it has
 * /sys/kernel/debug/agate_backing open.
 *
 * A BO has at most four pages, which are consecutive, so the GPU gets one run.  They are
 * neither from a file nor purgeable.  In the file: how many BOs there are with memory, how
 * many of them are mapped for DMA, how many VMAs and mappings of the kernel they have; and, since
 * the file was opened, how many calls of mmap() came with backing.lock taken, and how many before
 * the VMA was ready.  "hidden", written to the file: no CPU may see the BOs that come.
 *
 * agate_runs is about the newest BO, of whatever kind: how many pages it has, how many runs
 * its whole has, and how many pages of all its parts are not where they are in the whole.
 */
#include <linux/debugfs.h>
#include <linux/dma-mapping.h>
#include <linux/fs.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/xarray.h>
#include <drm/drm_drv.h>

#include "agate_device.h"
#include "agate_gem.h"
#include "probes.h"
#include "watch.h"

#define SIZE_MAX_BYTES	(4 * PAGE_SIZE)

/* One BO's memory, and its DMA address while it is mapped for DMA. */
struct memory {
	void *bytes;
	dma_addr_t dma;
	bool mapped;
};

static DEFINE_XARRAY(memories);	/* struct memory, by the address of its BO */
static atomic_t with_memory, mapped, cpu_maps, kernel_maps, locked_mmaps, early_mmaps;
static bool hidden;
static pid_t owner;		/* who makes such BOs, or 0 */
static struct dentry *backing_file, *runs_file;

static struct device *device_of(const struct agate_bo *bo)
{
	return bo->base.dev->dev;
}

static struct memory *memory_of(const struct agate_bo *bo)
{
	return xa_load(&memories, (unsigned long)bo);
}

static void account(struct agate_bo *bo, long n)
{
	WRITE_ONCE(bo->backing.nr_pages, bo->backing.nr_pages + n);
	agate_stat_add(&to_agate_device(bo->base.dev)->stats, AGATE_STAT_PAGES, n);
}

/* ---- Memory ------------------------------------------------------------------ */

static struct memory *memory_new(struct agate_bo *bo)
{
	struct memory *memory = kzalloc(sizeof(*memory), GFP_KERNEL);

	if (!memory)
		return NULL;
	memory->bytes = alloc_pages_exact(agate_bo_size(bo), GFP_KERNEL | __GFP_ZERO);
	if (!memory->bytes || xa_is_err(xa_store(&memories, (unsigned long)bo, memory,
						 GFP_KERNEL))) {
		if (memory->bytes)
			free_pages_exact(memory->bytes, agate_bo_size(bo));
		kfree(memory);
		return NULL;
	}
	atomic_inc(&with_memory);
	account(bo, agate_bo_size(bo) >> PAGE_SHIFT);
	return memory;
}

/* It comes at the first use, whoever that is. */
static struct memory *memory_get(struct agate_bo *bo)
{
	struct memory *memory = memory_of(bo);

	lockdep_assert_held(&bo->backing.lock);
	if (!memory && agate_bo_size(bo) <= SIZE_MAX_BYTES)
		memory = memory_new(bo);
	return memory;
}

/* The same for a caller without the lock: what it gets stays until the BO is released. */
static struct memory *memory_fetch(struct agate_bo *bo)
{
	struct memory *memory;

	mutex_lock(&bo->backing.lock);
	memory = memory_get(bo);
	mutex_unlock(&bo->backing.lock);
	return memory;
}

static int memory_map(struct agate_bo *bo, struct memory *memory)
{
	if (memory->mapped)
		return 0;
	memory->dma = dma_map_single(device_of(bo), memory->bytes, agate_bo_size(bo),
				     DMA_BIDIRECTIONAL);
	if (dma_mapping_error(device_of(bo), memory->dma))
		return -ENOMEM;
	memory->mapped = true;
	atomic_inc(&mapped);
	return 0;
}

static void memory_unmap(struct agate_bo *bo, struct memory *memory)
{
	if (!memory->mapped)
		return;
	dma_unmap_single(device_of(bo), memory->dma, agate_bo_size(bo), DMA_BIDIRECTIONAL);
	memory->mapped = false;
	atomic_dec(&mapped);
}

/* ---- Operations -------------------------------------------------------------- */

static int populate(struct agate_bo *bo, u64 offset, u64 size, struct agate_runs *runs)
{
	struct memory *memory;
	int ret = -ENOMEM;

	if (offset >= agate_bo_size(bo) || size > agate_bo_size(bo) - offset)
		return -EINVAL;
	mutex_lock(&bo->backing.lock);
	memory = memory_get(bo);
	if (memory)
		ret = memory_map(bo, memory);
	if (!ret)
		*runs = (struct agate_runs){ .addr = memory->dma + offset, .left = size };
	mutex_unlock(&bo->backing.lock);
	return ret;
}

static void open(struct agate_bo *bo)
{
	atomic_inc(&cpu_maps);
}

static void close(struct agate_bo *bo)
{
	atomic_dec(&cpu_maps);
}

static vm_fault_t fault(struct agate_bo *bo, struct vm_fault *vmf, unsigned long index)
{
	struct memory *memory = memory_fetch(bo);

	if (!memory || index >= agate_bo_size(bo) >> PAGE_SHIFT)
		return VM_FAULT_SIGBUS;
	return vmf_insert_pfn(vmf->vma, vmf->address,
			      page_to_pfn(virt_to_page(memory->bytes)) + index);
}

/* It leaves the table to the faults. */
static int mmap_empty(struct agate_bo *bo, struct vm_area_struct *vma)
{
	const unsigned long flags = VM_DONTEXPAND | VM_DONTDUMP | VM_PFNMAP;

	if (mutex_is_locked(&bo->backing.lock))
		atomic_inc(&locked_mmaps);
	if ((vma->vm_flags & flags) != flags || !mapped_as_flags_say(vma))
		atomic_inc(&early_mmaps);
	return 0;
}

static int access(struct agate_bo *bo, u64 offset, void *buf, int len, bool write)
{
	struct memory *memory = memory_fetch(bo);
	char *bytes;

	if (!memory || offset >= agate_bo_size(bo))
		return -EIO;
	bytes = (char *)memory->bytes + offset;
	len = min_t(u64, len, agate_bo_size(bo) - offset);
	if (write)
		memcpy(bytes, buf, len);
	else
		memcpy(buf, bytes, len);
	return len;
}

static int vmap_bytes(struct agate_bo *bo, struct iosys_map *map)
{
	struct memory *memory = memory_fetch(bo);

	if (!memory)
		return -ENOMEM;
	iosys_map_set_vaddr(map, memory->bytes);
	atomic_inc(&kernel_maps);
	return 0;
}

static void vunmap_bytes(struct agate_bo *bo, struct iosys_map *map)
{
	atomic_dec(&kernel_maps);
}

static void detach(struct agate_bo *bo)
{
	struct memory *memory;

	mutex_lock(&bo->backing.lock);
	memory = memory_of(bo);
	if (memory)
		memory_unmap(bo, memory);
	mutex_unlock(&bo->backing.lock);
}

static void release(struct agate_bo *bo)
{
	struct memory *memory;

	mutex_lock(&bo->backing.lock);
	memory = xa_erase(&memories, (unsigned long)bo);
	if (memory) {
		memory_unmap(bo, memory);
		free_pages_exact(memory->bytes, agate_bo_size(bo));
		kfree(memory);
		account(bo, -(long)bo->backing.nr_pages);
		atomic_dec(&with_memory);
	}
	mutex_unlock(&bo->backing.lock);
}

static const struct agate_backing_ops backing_ops = {
	.flags = AGATE_BACKING_CPU_VISIBLE,
	.populate = populate,
	.open = open,
	.close = close,
	.fault = fault,
	.access = access,
	.mmap = mmap_empty,
	.vmap = vmap_bytes,
	.vunmap = vunmap_bytes,
	.detach = detach,
	.release = release,
};

/* As memory of a card that its CPUs do not see. */
static const struct agate_backing_ops hidden_ops = {
	.populate = populate,
	.detach = detach,
	.release = release,
};

/* ---- Runs --------------------------------------------------------------------- */

#define RUNS_PAGES	32	/* at most, of a BO whose parts are looked at */

/* The driver's agate_runs_next(). */
static bool (*runs_next)(struct agate_runs *runs, struct agate_run *run);

/* The address of each page of a part; the number of runs, or an errno. */
static int look_at_part(struct agate_bo *bo, unsigned int first, unsigned int count, u64 *pages)
{
	struct agate_runs runs;
	struct agate_run run;
	unsigned int n = 0;
	int ret, number = 0;

	ret = bo->backing.ops->populate(bo, (u64)first << PAGE_SHIFT, (u64)count << PAGE_SHIFT,
					&runs);
	if (ret)
		return ret;
	for (; runs_next(&runs, &run); number++) {
		for (; run.size && n < count; run.size -= PAGE_SIZE, run.addr += PAGE_SIZE)
			pages[n++] = run.addr;
		if (run.size)
			return -EOVERFLOW;
	}
	return n == count ? number : -ENODATA;
}

/* How many pages of all parts are not where they are in the whole, or an errno. */
static int look_at_parts(struct agate_bo *bo, unsigned int count, const u64 *whole)
{
	u64 part[RUNS_PAGES];
	unsigned int first, size, i;
	int ret, wrong = 0;

	for (first = 0; first < count; first++) {
		for (size = 1; size <= count - first; size++) {
			ret = look_at_part(bo, first, size, part);
			if (ret < 0)
				return ret;
			for (i = 0; i < size; i++)
				wrong += part[i] != whole[first + i];
		}
	}
	return wrong;
}

static int runs_show(struct seq_file *seq, void *unused)
{
	struct agate_bo *bo = bos_newest();
	u64 whole[RUNS_PAGES];
	unsigned int count;
	int runs, wrong = 0, idx;

	if (!bo)
		return -ENOENT;
	count = agate_bo_size(bo) >> PAGE_SHIFT;
	runs = -ENODEV;
	runs_next = (void *)watch_symbol("agate_runs_next");
	/* As a job does. */
	atomic_inc(&bo->gpu_users);
	if (runs_next && count <= RUNS_PAGES && drm_dev_enter(bo->base.dev, &idx)) {
		runs = look_at_part(bo, 0, count, whole);
		if (runs > 0)
			wrong = look_at_parts(bo, count, whole);
		drm_dev_exit(idx);
	}
	atomic_dec(&bo->gpu_users);
	agate_bo_put(bo);
	seq_printf(seq, "%u %d %d\n", count, runs, wrong);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(runs);

/* ---- The choice -------------------------------------------------------------- */

static int __kprobes on_choose(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return current->tgid != READ_ONCE(owner);
}

static int __kprobes on_chosen(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	const struct agate_backing_ops *ops = READ_ONCE(hidden) ? &hidden_ops : &backing_ops;

	regs_set_return_value(regs, (unsigned long)ops);
	return 0;
}

static struct kretprobe choosing;

static int backing_show(struct seq_file *seq, void *unused)
{
	seq_printf(seq, "%d %d %d %d %d %d\n", atomic_read(&with_memory), atomic_read(&mapped),
		   atomic_read(&cpu_maps), atomic_read(&kernel_maps), atomic_read(&locked_mmaps),
		   atomic_read(&early_mmaps));
	return 0;
}

static int backing_open(struct inode *inode, struct file *file)
{
	int ret;

	if (cmpxchg(&owner, 0, current->tgid))
		return -EBUSY;
	WRITE_ONCE(hidden, false);
	atomic_set(&locked_mmaps, 0);
	atomic_set(&early_mmaps, 0);
	choosing = (struct kretprobe){
		.kp.symbol_name = "agate_backing_choose", .entry_handler = on_choose,
		.handler = on_chosen,
	};
	ret = return_probe_arm(&choosing);
	if (!ret) {
		ret = single_open(file, backing_show, NULL);
		if (ret)
			return_probe_disarm(&choosing);
	}
	if (ret)
		WRITE_ONCE(owner, 0);
	return ret;
}

static ssize_t backing_write(struct file *file, const char __user *text, size_t len, loff_t *pos)
{
	char word[16];

	if (len >= sizeof(word))
		return -EINVAL;
	if (copy_from_user(word, text, len))
		return -EFAULT;
	word[len] = '\0';
	if (strcmp(word, "hidden"))
		return -EINVAL;
	WRITE_ONCE(hidden, true);
	return len;
}

static int backing_release(struct inode *inode, struct file *file)
{
	return_probe_disarm(&choosing);
	WRITE_ONCE(owner, 0);
	return single_release(inode, file);
}

static const struct file_operations backing_fops = {
	.owner = THIS_MODULE,
	.open = backing_open,
	.read = seq_read,
	.write = backing_write,
	.llseek = seq_lseek,
	.release = backing_release,
};

int backing_init(void)
{
	backing_file = debugfs_create_file("agate_backing", 0600, NULL, NULL, &backing_fops);
	runs_file = debugfs_create_file("agate_runs", 0400, NULL, NULL, &runs_fops);
	return PTR_ERR_OR_ZERO(backing_file);
}

void backing_exit(void)
{
	debugfs_remove(runs_file);
	debugfs_remove(backing_file);
}
