// SPDX-License-Identifier: GPL-2.0-only
/* Lab 05: the VMAs of a test, and a range for a BO that should have none (mapped.h). */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/uaccess.h>
#include <drm/drm_gem.h>
#include <drm/drm_vma_manager.h>

#include "agate_gem.h"
#include "mapped.h"
#include "probes.h"
#include "watch.h"

static struct dentry *mapped_file;
static struct kretprobe filling;
static bool watching;
static pid_t watched;		/* the process whose VMAs these are */
static struct mapped_vma seen;

bool mapped_as_flags_say(const struct vm_area_struct *vma)
{
	return pgprot_val(vma->vm_page_prot) == pgprot_val(vm_get_page_prot(vma->vm_flags));
}

static bool has_own_caching(const struct vm_area_struct *vma)
{
	pgprotval_t bits = pgprot_val(vma->vm_page_prot) ^
			   pgprot_val(vm_get_page_prot(vma->vm_flags));

	return bits & _PAGE_CACHE_MASK;
}

/* Both functions have the VMA as their second parameter. */
static int __kprobes on_fill(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct vm_area_struct *vma = (void *)regs_get_kernel_argument(regs, 1);

	if (current->tgid != watched)
		return 1;
	*(struct vm_area_struct **)ri->data = vma;
	if (!mapped_as_flags_say(vma))
		seen.wrong++;
	if (vma->vm_flags & VM_PFNMAP)
		seen.pfnmap++;
	return 0;
}

/* The table is complete: what is in vm_page_prot now is for faults to come, and there are none. */
static int __kprobes on_filled(struct kretprobe_instance *ri, struct pt_regs *regs)
{
	struct vm_area_struct *vma = *(struct vm_area_struct **)ri->data;

	if (regs_return_value(regs))
		return 0;
	seen.filled++;
	vma->vm_page_prot = pgprot_writecombine(vma->vm_page_prot);
	return 0;
}

static void unwatch(void)
{
	if (watching)
		return_probe_disarm(&filling);
	watching = false;
}

static long watch(unsigned long by)
{
	static const char *const symbols[] = {
		[MAPPED_BY_DMA] = "dma_mmap_attrs",
		[MAPPED_BY_DMABUF] = "dma_buf_mmap",
	};
	long ret;

	if (by >= ARRAY_SIZE(symbols))
		return -EINVAL;
	unwatch();
	memset(&seen, 0, sizeof(seen));
	watched = current->tgid;
	filling = (struct kretprobe){
		.kp.symbol_name = symbols[by], .entry_handler = on_fill, .handler = on_filled,
		.data_size = sizeof(struct vm_area_struct *),
	};
	ret = return_probe_arm(&filling);
	watching = !ret;
	return ret;
}

static long look(struct mapped_vma *mapped)
{
	struct vm_area_struct *vma;
	long ret = -EFAULT;

	mapped->filled = seen.filled;
	mapped->wrong = seen.wrong;
	mapped->pfnmap = seen.pfnmap;
	mmap_read_lock(current->mm);
	vma = find_vma(current->mm, mapped->address);
	if (vma && mapped->address >= vma->vm_start) {
		mapped->own_caching = has_own_caching(vma);
		ret = 0;
	}
	mmap_read_unlock(current->mm);
	return ret;
}

static long make_range(u64 *offset)
{
	struct agate_bo *bo = bos_newest();
	long ret;

	if (!bo)
		return -ENOENT;
	ret = drm_gem_create_mmap_offset(&bo->base);
	if (!ret)
		*offset = drm_vma_node_offset_addr(&bo->base.vma_node);
	agate_bo_put(bo);
	return ret;
}

static long mapped_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;
	struct mapped_vma mapped;
	u64 offset;
	long ret;

	switch (cmd) {
	case MAPPED_RANGE:
		ret = make_range(&offset);
		return ret ? ret : copy_to_user(user, &offset, sizeof(offset)) ? -EFAULT : 0;
	case MAPPED_LOOK:
		if (copy_from_user(&mapped, user, sizeof(mapped)))
			return -EFAULT;
		ret = look(&mapped);
		return ret ? ret : copy_to_user(user, &mapped, sizeof(mapped)) ? -EFAULT : 0;
	case MAPPED_WATCH:
		return watch(arg);
	}
	return -ENOTTY;
}

static int mapped_close(struct inode *inode, struct file *file)
{
	unwatch();
	return 0;
}

static const struct file_operations mapped_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.release = mapped_close,
	.unlocked_ioctl = mapped_ioctl,
};

void mapped_init(void)
{
	mapped_file = debugfs_create_file("agate_mapped", 0600, NULL, NULL, &mapped_fops);
}

void mapped_exit(void)
{
	debugfs_remove(mapped_file);
}
