// SPDX-License-Identifier: GPL-2.0-only
/*
 * The backing of the newest BO, asked as the rest of the driver asks it: see piece.h.  The
 * answers to a client depend on other files as well; here they are the backing's own.
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/iosys-map.h>
#include <linux/mm.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <drm/drm_vma_manager.h>

#include "agate_backing.h"
#include "agate_device.h"
#include "agate_gem.h"
#include "piece.h"
#include "watch.h"

#define UNSET		0x5a
#define RUNS_MAX	100000		/* a walk without an end stops here */

static struct dentry *piece_file;

static void count(struct piece_call *call, u64 addr, u64 size)
{
	if (!call->count++)
		call->addr = addr;
	else if (addr != call->addr + call->bytes)
		call->gaps++;
	call->bytes += size;
	call->longest = max_t(u64, call->longest, size);
}

static void ask_runs(struct agate_bo *bo, struct piece_call *call)
{
	bool (*next)(struct agate_runs *runs, struct agate_run *run);
	struct agate_runs before, runs;
	struct agate_run run;

	/* The driver's callers have it on their stacks, where anything may be. */
	memset(&before, UNSET, sizeof(before));
	runs = before;

	next = (void *)watch_symbol("agate_runs_next");
	call->result = next ? bo->backing.ops->populate(bo, call->offset, call->size, &runs) :
			      -ENOENT;
	if (call->result)
		return;
	call->unset = runs.sg == before.sg;
	if (call->unset)
		runs.sg = NULL;
	while (call->count < RUNS_MAX && next(&runs, &run))
		count(call, run.addr, run.size);
}

/* As an importer finds them that wants each struct page: it asks for no entry's address. */
static void count_pages(struct sg_table *sgt, struct piece_call *call)
{
	struct sg_page_iter iter;
	u64 pages = 0;

	for_each_sgtable_page(sgt, &iter, 0) {
		if (page_to_phys(sg_page_iter_page(&iter)) != call->addr + pages * PAGE_SIZE)
			call->strays++;
		if (++pages == RUNS_MAX)
			break;
	}
}

/* The caller of get_sg_table() frees the table. */
static void ask_table(struct agate_bo *bo, struct piece_call *call)
{
	struct sg_table *sgt = bo->backing.ops->get_sg_table(bo, call->size);
	struct scatterlist *sg;
	unsigned int i;

	call->result = PTR_ERR_OR_ZERO(sgt);
	if (call->result)
		return;
	for_each_sgtable_sg(sgt, sg, i)
		count(call, sg_phys(sg), sg->length);
	count_pages(sgt, call);
	sg_free_table(sgt);
	kfree(sgt);
}

static void ask_map(struct agate_bo *bo, struct piece_call *call)
{
	struct iosys_map map, other;

	/* The kernel's callers have it on their stacks: it may well say that it is a device's. */
	memset(&map, 0, sizeof(map));
	map.is_iomem = true;
	other = map;
	call->result = bo->backing.ops->vmap(bo, &map);
	if (call->result)
		return;
	/* A second user comes and goes meanwhile. */
	call->result = bo->backing.ops->vmap(bo, &other);
	if (call->result) {
		bo->backing.ops->vunmap(bo, &map);
		return;
	}
	bo->backing.ops->vunmap(bo, &other);
	call->iomem = map.is_iomem;
	if (call->op == PIECE_READ)
		iosys_map_memcpy_from(&call->word, &map, call->offset, sizeof(call->word));
	else
		iosys_map_memcpy_to(&map, call->offset, &call->word, sizeof(call->word));
	bo->backing.ops->vunmap(bo, &map);
}

/*
 * A fault as two threads cause it who touch a page at once: the second finds it there.  Or, with
 * an index behind the BO's end, one as a wrong vm_pgoff would cause it.
 */
static void ask_fault(struct agate_bo *bo, struct vm_area_struct *vma, struct piece_call *call)
{
	struct vm_fault vmf = {
		.vma = vma,
		.gfp_mask = GFP_KERNEL,
		.pgoff = drm_vma_node_start(&bo->base.vma_node) + call->offset,
		.address = call->word & PAGE_MASK,
		.real_address = call->word,
		.flags = FAULT_FLAG_USER,
	};

	call->fault = (__force u32)bo->backing.ops->fault(bo, &vmf, call->offset);
}

static void ask_vma(struct agate_bo *bo, struct piece_call *call)
{
	struct vm_area_struct *vma;

	mmap_read_lock(current->mm);
	vma = find_vma(current->mm, call->word);
	if (!vma || call->word < vma->vm_start)
		call->result = -EFAULT;
	else if (call->op == PIECE_FAULT)
		ask_fault(bo, vma, call);
	else
		call->addr = vma->vm_pgoff - drm_vma_node_start(&bo->base.vma_node);
	mmap_read_unlock(current->mm);
}

static void ask(struct agate_bo *bo, struct piece_call *call)
{
	if (call->op == PIECE_RUNS) {
		ask_runs(bo, call);
		return;
	}
	if (call->op == PIECE_PGOFF || call->op == PIECE_FAULT) {
		ask_vma(bo, call);
		return;
	}
	call->result = bo->backing.ops->pin(bo);
	if (call->result)
		return;
	if (call->op == PIECE_TABLE)
		ask_table(bo, call);
	else
		ask_map(bo, call);
	bo->backing.ops->unpin(bo);
}

static long piece_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	struct piece_call call;
	struct agate_bo *bo;

	if (cmd != PIECE_CALL)
		return -ENOTTY;
	if (copy_from_user(&call, (void __user *)arg, sizeof(call)))
		return -EFAULT;
	bo = bos_newest();
	if (!bo)
		return -ENOENT;
	call.addr = 0;
	call.bytes = 0;
	call.longest = 0;
	call.count = 0;
	call.gaps = 0;
	call.unset = 0;
	call.iomem = 0;
	call.strays = 0;
	call.fault = 0;
	call.result = 0;
	ask(bo, &call);
	agate_bo_put(bo);
	return copy_to_user((void __user *)arg, &call, sizeof(call)) ? -EFAULT : 0;
}

static const struct file_operations piece_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.unlocked_ioctl = piece_ioctl,
};

void piece_init(void)
{
	piece_file = debugfs_create_file("agate_piece", 0600, NULL, NULL, &piece_fops);
}

void piece_exit(void)
{
	debugfs_remove(piece_file);
}
