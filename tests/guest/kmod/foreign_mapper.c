// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lab 06: another driver that maps dma-bufs into processes, as Panfrost does for a BO that it has
 * imported: the VMA is one of the driver's own file, which may be written; see foreign.h.
 */
#include "foreign.h"
#include "foreign_parts.h"

#include <linux/anon_inodes.h>
#include <linux/dma-buf.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/mm.h>
#include <linux/module.h>

static int mapper_mmap(struct file *file, struct vm_area_struct *vma)
{
	return dma_buf_mmap(file->private_data, vma, vma->vm_pgoff);
}

static int mapper_close(struct inode *inode, struct file *file)
{
	dma_buf_put(file->private_data);
	return 0;
}

static const struct file_operations mapper_fops = {
	.owner = THIS_MODULE,
	.mmap = mapper_mmap,
	.release = mapper_close,
};

long mapper_open(unsigned long fd)
{
	struct dma_buf *dmabuf = dma_buf_get(fd);
	int file;

	if (IS_ERR(dmabuf))
		return PTR_ERR(dmabuf);
	file = anon_inode_getfd("agate_mapper", &mapper_fops, dmabuf, O_RDWR | O_CLOEXEC);
	if (file < 0)
		dma_buf_put(dmabuf);
	return file;
}
