// SPDX-License-Identifier: GPL-2.0-only
/*
 * A kind of backing in the card's VRAM: the BOs that a process makes while it has
 * /sys/kernel/debug/agate_vram open.
 *
 * A number written to the file is the offset in VRAM of the next BO; later BOs follow it.
 * Nobody frees VRAM here, and nothing prevents that two BOs overlap: the test does that.
 * The file says how many bytes BAR2 shows, and how many BOs there are.
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/io.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/xarray.h>

#include "agate_device.h"
#include "agate_gem.h"
#include "watch.h"

static DEFINE_XARRAY(places);	/* a BO's first page of VRAM, by the BO's address */
static atomic_t bos;
static atomic64_t next_place;	/* bytes */
static pid_t owner;		/* who makes such BOs, or 0 */
static struct dentry *vram_file;
static void __iomem *combining;	/* holds the type of the pages that BAR2 shows */

static struct agate_device *device_of(const struct agate_bo *bo)
{
	return to_agate_device(bo->base.dev);
}

/* ---- Operations -------------------------------------------------------------- */

static int create(struct agate_bo *bo)
{
	u64 place = atomic64_fetch_add(agate_bo_size(bo), &next_place);
	int ret;

	ret = xa_err(xa_store(&places, (unsigned long)bo, xa_mk_value(place >> PAGE_SHIFT),
			      GFP_KERNEL));
	if (!ret)
		atomic_inc(&bos);
	return ret;
}

static u64 place_of(const struct agate_bo *bo)
{
	return (u64)xa_to_value(xa_load(&places, (unsigned long)bo)) << PAGE_SHIFT;
}

static int populate(struct agate_bo *bo, u64 offset, u64 size, struct agate_runs *runs)
{
	if (offset >= agate_bo_size(bo) || size > agate_bo_size(bo) - offset)
		return -EINVAL;
	*runs = (struct agate_runs){
		.addr = AGATE_PHYS_VRAM + place_of(bo) + offset, .left = size,
	};
	return 0;
}

static vm_fault_t fault(struct agate_bo *bo, struct vm_fault *vmf, unsigned long index)
{
	const struct agate_bar2_piece *vram = &device_of(bo)->bus.vram;
	u64 at = place_of(bo) + ((u64)index << PAGE_SHIFT);

	if (at >= vram->size)
		return VM_FAULT_SIGBUS;
	return vmf_insert_pfn(vmf->vma, vmf->address, (vram->start + at) >> PAGE_SHIFT);
}

static void detach(struct agate_bo *bo)
{
}

static void release(struct agate_bo *bo)
{
	if (xa_erase(&places, (unsigned long)bo))
		atomic_dec(&bos);
}

static const struct agate_backing_ops vram_ops = {
	.flags = AGATE_BACKING_CPU_VISIBLE | AGATE_BACKING_EARLY,
	.create = create,
	.populate = populate,
	.fault = fault,
	.detach = detach,
	.release = release,
};

/* ---- The choice -------------------------------------------------------------- */

static int __kprobes on_choose(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	return current->tgid != READ_ONCE(owner);
}

static int __kprobes on_chosen(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	regs_set_return_value(regs, (unsigned long)&vram_ops);
	return 0;
}

static struct kretprobe choosing;

static int vram_show(struct seq_file *seq, void *unused)
{
	seq_printf(seq, "%llu %d\n", watch_device()->bus.vram.size, atomic_read(&bos));
	return 0;
}

/* While this mapping lives, processes that map these pages get them write-combining, too. */
static int hold_type(void)
{
	const struct agate_bar2_piece *vram = &watch_device()->bus.vram;

	combining = ioremap_wc(vram->start, vram->size);
	return combining ? 0 : -ENOMEM;
}

static int begin(struct file *file)
{
	int ret;

	choosing = (struct kretprobe){
		.kp.symbol_name = "agate_backing_choose", .entry_handler = on_choose,
		.handler = on_chosen,
	};
	ret = hold_type();
	if (ret)
		return ret;
	ret = register_kretprobe(&choosing);
	if (ret)
		goto unmap;
	ret = single_open(file, vram_show, NULL);
	if (ret)
		goto unregister;
	return 0;

unregister:
	unregister_kretprobe(&choosing);
unmap:
	iounmap(combining);
	return ret;
}

static int vram_open(struct inode *inode, struct file *file)
{
	int ret;

	if (!watch_device())
		return -ENODEV;
	if (cmpxchg(&owner, 0, current->tgid))
		return -EBUSY;
	ret = begin(file);
	if (ret)
		WRITE_ONCE(owner, 0);
	return ret;
}

static ssize_t vram_write(struct file *file, const char __user *text, size_t len, loff_t *pos)
{
	u64 place;
	int ret;

	ret = kstrtou64_from_user(text, len, 0, &place);
	if (ret)
		return ret;
	if (!PAGE_ALIGNED(place))
		return -EINVAL;
	atomic64_set(&next_place, place);
	return len;
}

static int vram_release(struct inode *inode, struct file *file)
{
	unregister_kretprobe(&choosing);
	iounmap(combining);
	WRITE_ONCE(owner, 0);
	return single_release(inode, file);
}

static const struct file_operations vram_fops = {
	.owner = THIS_MODULE,
	.open = vram_open,
	.read = seq_read,
	.write = vram_write,
	.llseek = seq_lseek,
	.release = vram_release,
};

int vram_init(void)
{
	vram_file = debugfs_create_file("agate_vram", 0600, NULL, NULL, &vram_fops);
	return PTR_ERR_OR_ZERO(vram_file);
}

void vram_exit(void)
{
	debugfs_remove(vram_file);
}
