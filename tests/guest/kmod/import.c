// SPDX-License-Identifier: GPL-2.0-only
/*
 * Another driver that imports a BO: while /sys/kernel/debug/agate_import is open, a device
 * is attached to the dma-buf of what was the newest BO at that moment.
 *
 * The file has the first 64 bits of the BO, as the importer finds them, and the errno of
 * mapping the BO.
 */
#include <linux/debugfs.h>
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/fs.h>
#include <linux/iosys-map.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <drm/drm_prime.h>

#include "agate_device.h"
#include "agate_gem.h"
#include "watch.h"

static struct dentry *import_file;

/*
 * As PRIME_HANDLE_TO_FD exports a BO: its object and the one who got the file descriptor have
 * a reference each.  The core puts the object's with the last handle.
 */
static struct dma_buf *export(struct agate_bo *bo)
{
	struct drm_device *drm = bo->base.dev;
	struct dma_buf *dmabuf = ERR_PTR(-ENOENT);

	mutex_lock(&drm->object_name_lock);
	if (bo->base.handle_count)
		dmabuf = drm_gem_prime_export(&bo->base, O_CLOEXEC | O_RDWR);
	if (!IS_ERR(dmabuf)) {
		bo->base.dma_buf = dmabuf;
		get_dma_buf(dmabuf);
	}
	mutex_unlock(&drm->object_name_lock);
	return dmabuf;
}

/* The GPU itself stands for the other device. */
static struct dma_buf_attachment *import_newest(void)
{
	struct dma_buf_attachment *attachment;
	struct agate_bo *bo = bos_newest();
	struct dma_buf *dmabuf;

	if (!bo)
		return ERR_PTR(-ENOENT);
	dmabuf = export(bo);
	if (IS_ERR(dmabuf)) {
		agate_bo_put(bo);
		return ERR_CAST(dmabuf);
	}
	attachment = dma_buf_attach(dmabuf, bo->base.dev->dev);
	if (IS_ERR(attachment))
		dma_buf_put(dmabuf);
	agate_bo_put(bo);
	return attachment;
}

/* Maps the BO for the device, reads it with a CPU, and undoes both. */
static int read_first(struct dma_buf_attachment *attachment, u64 *word)
{
	struct dma_buf *dmabuf = attachment->dmabuf;
	struct iosys_map map;
	struct sg_table *sgt;
	int ret;

	dma_resv_assert_held(dmabuf->resv);
	sgt = dma_buf_map_attachment(attachment, DMA_BIDIRECTIONAL);
	if (IS_ERR(sgt))
		return PTR_ERR(sgt);
	ret = dma_buf_vmap(dmabuf, &map);
	if (!ret) {
		iosys_map_memcpy_from(word, &map, 0, sizeof(*word));
		dma_buf_vunmap(dmabuf, &map);
	}
	dma_buf_unmap_attachment(attachment, sgt, DMA_BIDIRECTIONAL);
	return ret;
}

static int import_show(struct seq_file *seq, void *unused)
{
	struct dma_buf_attachment *attachment = seq->private;
	u64 word = 0;
	int ret;

	dma_resv_lock(attachment->dmabuf->resv, NULL);
	ret = read_first(attachment, &word);
	dma_resv_unlock(attachment->dmabuf->resv);
	seq_printf(seq, "%llu %d\n", word, -ret);
	return 0;
}

static void import_end(struct dma_buf_attachment *attachment)
{
	struct dma_buf *dmabuf = attachment->dmabuf;

	dma_buf_detach(dmabuf, attachment);
	dma_buf_put(dmabuf);
}

static int import_open(struct inode *inode, struct file *file)
{
	struct dma_buf_attachment *attachment = import_newest();
	int ret;

	if (IS_ERR(attachment))
		return PTR_ERR(attachment);
	ret = single_open(file, import_show, attachment);
	if (ret)
		import_end(attachment);
	return ret;
}

static int import_release(struct inode *inode, struct file *file)
{
	import_end(((struct seq_file *)file->private_data)->private);
	return single_release(inode, file);
}

static const struct file_operations import_fops = {
	.owner = THIS_MODULE,
	.open = import_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = import_release,
};

int import_init(void)
{
	import_file = debugfs_create_file("agate_import", 0400, NULL, NULL, &import_fops);
	return PTR_ERR_OR_ZERO(import_file);
}

void import_exit(void)
{
	debugfs_remove(import_file);
}

MODULE_IMPORT_NS(DMA_BUF);
