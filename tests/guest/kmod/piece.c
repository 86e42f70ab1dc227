// SPDX-License-Identifier: GPL-2.0-only
/*
 * The backing of the newest BO, asked as the rest of the driver asks it: see piece.h.  The
 * answers to a client depend on other files as well; here they are the backing's own.
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/iosys-map.h>
#include <linux/scatterlist.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

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
	sg_free_table(sgt);
	kfree(sgt);
}

static void ask_map(struct agate_bo *bo, struct piece_call *call)
{
	struct iosys_map map = { 0 }, other = { 0 };

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

static void ask(struct agate_bo *bo, struct piece_call *call)
{
	if (call->op == PIECE_RUNS) {
		ask_runs(bo, call);
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
