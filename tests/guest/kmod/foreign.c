// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lab 06: another driver that exports dma-bufs, and the file that foreign.h describes.
 *
 * It counts what importers do, and looks at each call: vgem and udmabuf take wrong ones
 * without a word, and their memory is never wrong.  One dma-buf at a time is the newest.
 */
#include "foreign.h"
#include "foreign_parts.h"
#include "gem_watch.h"
#include "watch.h"

#include <linux/debugfs.h>
#include <linux/dma-buf.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/fs.h>
#include <linux/iosys-map.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>

#include "agate_device.h"
#include "agate_gem.h"

#define ORDER		3			/* room for a page between any two */
/* Cut to 32 bits, the sum is the size of a BO. */
#define HUGE_ENTRY	(SZ_1G + PAGE_SIZE)
#define ODD		0x100

struct foreign {
	struct page *block;
	struct page *pages[FOREIGN_PAGES];
	u32 kind;
	u32 flags;
};

/* The mapping of an attachment, and the addresses of its pages, if the kind has other ones. */
struct mapped {
	struct sg_table *sgt;
	enum dma_data_direction dir;
	dma_addr_t addresses[FOREIGN_PAGES];
};

static struct foreign_seen seen;
static struct foreign *newest;
static DEFINE_MUTEX(seen_lock);
static struct dentry *foreign_file;

/* One more of what a member of seen counts, if it was done to the newest dma-buf. */
static void note(const struct foreign *foreign, u32 *what)
{
	mutex_lock(&seen_lock);
	*what += foreign == newest;
	mutex_unlock(&seen_lock);
}

/* ---- The exporter ------------------------------------------------------ */

/* An importer that still calls has a reference. */
static struct foreign *called(struct dma_buf *dmabuf)
{
	struct foreign *foreign = dmabuf->priv;

	if (!file_count(dmabuf->file))
		note(foreign, &seen.late);
	return foreign;
}

/* An import ends under prime.lock, unless it has failed: then the core undoes it without. */
static void check_guarded(struct foreign *foreign, struct dma_buf_attachment *attach)
{
	struct agate_device *adev = dev_get_drvdata(attach->dev);

	if (adev && !gem_has(&adev->prime.lock))
		note(foreign, &seen.unguarded);
}

static int foreign_attach(struct dma_buf *dmabuf, struct dma_buf_attachment *attach)
{
	struct foreign *foreign = called(dmabuf);
	struct mapped *mapped;

	if (foreign->kind == FOREIGN_REFUSES)
		return -EXDEV;
	mapped = kzalloc(sizeof(*mapped), GFP_KERNEL);
	if (!mapped)
		return -ENOMEM;
	attach->priv = mapped;
	note(foreign, &seen.attached);
	return 0;
}

static void foreign_detach(struct dma_buf *dmabuf, struct dma_buf_attachment *attach)
{
	struct foreign *foreign = called(dmabuf);
	struct mapped *mapped = attach->priv;

	check_guarded(foreign, attach);
	note(foreign, &seen.detached);
	if (mapped->sgt)
		note(foreign, &seen.wrong);
	kfree(mapped);
}

/* Makes the table wrong, or right again, as a driver with a bug would. */
static void spoil(struct foreign *foreign, struct sg_table *sgt, bool undo)
{
	struct scatterlist *sg, *last = NULL;
	unsigned int i;

	for_each_sgtable_dma_sg(sgt, sg, i) {
		if (foreign->kind == FOREIGN_HUGE)
			sg_dma_len(sg) = undo ? PAGE_SIZE : HUGE_ENTRY;
		if (foreign->kind == FOREIGN_VAST)
			sg_dma_len(sg) = undo ? PAGE_SIZE : SZ_1G;
		last = sg;
	}
	if (foreign->kind == FOREIGN_ODD_START)
		sg_dma_address(last) += undo ? -ODD : ODD;
	if (foreign->kind == FOREIGN_ODD_END || foreign->kind == FOREIGN_LONG_ODD)
		sg_dma_len(last) += undo ? -ODD : ODD;
}

/* As an IOMMU does: three pages have consecutive addresses, and the last one another. */
static void merge(const struct mapped *mapped, struct sg_table *sgt)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_sg(sgt, sg, i) {
		sg_dma_address(sg) = DMA_MAPPING_ERROR;
		sg_dma_len(sg) = 0;
	}
	sg = sgt->sgl;
	sg_dma_address(sg) = mapped->addresses[0];
	sg_dma_len(sg) = (FOREIGN_PAGES - 1) * PAGE_SIZE;
	sg = sg_next(sg);
	sg_dma_address(sg) = mapped->addresses[FOREIGN_PAGES - 1];
	sg_dma_len(sg) = PAGE_SIZE;
	sgt->nents = 2;
}

static void reverse(const struct mapped *mapped, struct sg_table *sgt)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_sg(sgt, sg, i)
		sg_dma_address(sg) = mapped->addresses[FOREIGN_PAGES - 1 - i];
}

/* Nobody uses these addresses: the test has no job on the BO. */
static void lift(struct sg_table *sgt)
{
	struct scatterlist *sg;
	unsigned int i;

	for_each_sgtable_sg(sgt, sg, i)
		sg_dma_address(sg) = SZ_4G + i * PAGE_SIZE - 2 * PAGE_SIZE;
}

static bool is_readdressed(u32 kind)
{
	return kind == FOREIGN_MERGED || kind == FOREIGN_REVERSED || kind == FOREIGN_HIGH;
}

/* The addresses that an IOMMU might have given, or those of the DMA layer again. */
static void readdress(u32 kind, struct mapped *mapped, struct sg_table *sgt)
{
	struct scatterlist *sg;
	unsigned int i;

	if (!is_readdressed(kind))
		return;
	for_each_sgtable_sg(sgt, sg, i)
		mapped->addresses[i] = sg_dma_address(sg);
	if (kind == FOREIGN_MERGED)
		merge(mapped, sgt);
	else if (kind == FOREIGN_HIGH)
		lift(sgt);
	else
		reverse(mapped, sgt);
}

static void readdress_back(u32 kind, const struct mapped *mapped, struct sg_table *sgt)
{
	struct scatterlist *sg;
	unsigned int i;

	if (!is_readdressed(kind))
		return;
	sgt->nents = sgt->orig_nents;
	for_each_sgtable_sg(sgt, sg, i) {
		sg_dma_address(sg) = mapped->addresses[i];
		sg_dma_len(sg) = PAGE_SIZE;
	}
}

/* The pages of each entry; no further entry has any. */
static const u8 *lengths_of(u32 kind)
{
	static const u8 pages[FOREIGN_PAGES] = { 1, 1, 1, 1 };
	static const u8 too_few[FOREIGN_PAGES] = { 1, 1, 1 };
	static const u8 unequal[FOREIGN_PAGES] = { 1, 2, 1 };
	static const u8 short_end[FOREIGN_PAGES] = { 2, 1 };

	switch (kind) {
	case FOREIGN_SHORT:
		return too_few;
	case FOREIGN_UNEQUAL:
		return unequal;
	case FOREIGN_SHORT_END:
		return short_end;
	default:
		return pages;
	}
}

static int fill(struct foreign *foreign, struct sg_table *sgt)
{
	const u8 *lengths = lengths_of(foreign->kind);
	unsigned int i, n = 0, page = 0;
	struct scatterlist *sg;
	int ret;

	while (n < FOREIGN_PAGES && lengths[n])
		n++;
	ret = sg_alloc_table(sgt, n, GFP_KERNEL);
	if (ret)
		return ret;
	for_each_sgtable_sg(sgt, sg, i) {
		sg_set_page(sg, foreign->pages[page], lengths[i] * PAGE_SIZE, 0);
		page += lengths[i];
	}
	return 0;
}

static struct sg_table *foreign_map(struct dma_buf_attachment *attach,
				    enum dma_data_direction dir)
{
	struct foreign *foreign = called(attach->dmabuf);
	struct sg_table *sgt = kzalloc(sizeof(*sgt), GFP_KERNEL);
	struct mapped *mapped = attach->priv;
	int ret;

	if (!sgt)
		return ERR_PTR(-ENOMEM);
	ret = fill(foreign, sgt);
	if (!ret)
		ret = dma_map_sgtable(attach->dev, sgt, dir, 0);
	if (ret) {
		sg_free_table(sgt);
		kfree(sgt);
		return ERR_PTR(ret);
	}
	spoil(foreign, sgt, false);
	readdress(foreign->kind, mapped, sgt);
	mapped->sgt = sgt;
	mapped->dir = dir;
	note(foreign, &seen.mapped);
	return sgt;
}

static void foreign_unmap(struct dma_buf_attachment *attach, struct sg_table *sgt,
			  enum dma_data_direction dir)
{
	struct foreign *foreign = called(attach->dmabuf);
	struct mapped *mapped = attach->priv;

	check_guarded(foreign, attach);
	note(foreign, &seen.unmapped);
	if (sgt != mapped->sgt || dir != mapped->dir)
		note(foreign, &seen.wrong);
	if (sgt != mapped->sgt)
		return;
	mapped->sgt = NULL;
	readdress_back(foreign->kind, mapped, sgt);
	spoil(foreign, sgt, true);
	dma_unmap_sgtable(attach->dev, sgt, mapped->dir, 0);
	sg_free_table(sgt);
	kfree(sgt);
}

static int foreign_mmap(struct dma_buf *dmabuf, struct vm_area_struct *vma)
{
	struct foreign *foreign = called(dmabuf);
	unsigned long i, n = vma_pages(vma);
	int ret = 0;

	/* A VMA without any has operations that are all NULL. */
	if ((vma->vm_ops && (vma->vm_ops->open || vma->vm_ops->close || vma->vm_ops->fault)) ||
	    vma->vm_private_data)
		note(foreign, &seen.vma_used);
	if (foreign->flags & FOREIGN_NO_MMAP)
		return -ENXIO;
	if (vma->vm_pgoff > FOREIGN_PAGES || n > FOREIGN_PAGES - vma->vm_pgoff)
		return -EINVAL;
	note(foreign, &seen.mmapped);
	for (i = 0; !ret && i < n; i++)
		ret = remap_pfn_range(vma, vma->vm_start + i * PAGE_SIZE,
				      page_to_pfn(foreign->pages[vma->vm_pgoff + i]), PAGE_SIZE,
				      vma->vm_page_prot);
	return ret;
}

static void check_locked(struct dma_buf *dmabuf)
{
	if (!dma_resv_is_locked(dmabuf->resv))
		note(dmabuf->priv, &seen.unlocked);
}

static int foreign_vmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
	struct foreign *foreign = called(dmabuf);
	void *addr;

	check_locked(dmabuf);
	addr = vmap(foreign->pages, FOREIGN_PAGES, VM_MAP, PAGE_KERNEL);
	if (!addr)
		return -ENOMEM;
	note(foreign, &seen.vmapped);
	iosys_map_set_vaddr(map, addr);
	return 0;
}

static void foreign_vunmap(struct dma_buf *dmabuf, struct iosys_map *map)
{
	struct foreign *foreign = called(dmabuf);

	check_locked(dmabuf);
	note(foreign, &seen.vunmapped);
	vunmap(map->vaddr);
}

static void foreign_free(struct foreign *foreign)
{
	if (foreign->block)
		__free_pages(foreign->block, ORDER);
	kfree(foreign);
}

static void foreign_release(struct dma_buf *dmabuf)
{
	struct foreign *foreign = dmabuf->priv;

	mutex_lock(&seen_lock);
	if (foreign == newest) {
		seen.alive = 0;
		newest = NULL;
	}
	mutex_unlock(&seen_lock);
	foreign_free(foreign);
}

#define FOREIGN_OPS			\
	.attach = foreign_attach,	\
	.detach = foreign_detach,	\
	.map_dma_buf = foreign_map,	\
	.unmap_dma_buf = foreign_unmap,	\
	.mmap = foreign_mmap,		\
	.release = foreign_release

static const struct dma_buf_ops no_vmap_ops = { FOREIGN_OPS };

static const struct dma_buf_ops foreign_ops = {
	FOREIGN_OPS,
	.vmap = foreign_vmap,
	.vunmap = foreign_vunmap,
};

/* Where in the block a page is. */
static unsigned int place_of(u32 kind, unsigned int page)
{
	switch (kind) {
	case FOREIGN_IN_ENTRIES:
	case FOREIGN_UNEQUAL:
	case FOREIGN_HIGH:
	case FOREIGN_SHORT_END:
	case FOREIGN_REVERSED:
		return page;
	case FOREIGN_PAIR:
		return page + !!page;
	case FOREIGN_MERGED:
	case FOREIGN_LONG_GAP:
		return page + (page == FOREIGN_PAGES - 1);
	default:
		return 2 * page;
	}
}

static struct foreign *foreign_create(const struct foreign_make *make)
{
	unsigned int i;
	struct foreign *foreign = kzalloc(sizeof(*foreign), GFP_KERNEL);

	if (!foreign)
		return NULL;
	foreign->kind = make->kind;
	foreign->flags = make->flags;
	foreign->block = alloc_pages(GFP_KERNEL | __GFP_ZERO, ORDER);
	if (!foreign->block) {
		foreign_free(foreign);
		return NULL;
	}
	for (i = 0; i < FOREIGN_PAGES; i++)
		foreign->pages[i] = foreign->block + place_of(make->kind, i);
	return foreign;
}

/* The table has a page more than the dma-buf. */
static bool is_long(u32 kind)
{
	return kind == FOREIGN_LONG || kind == FOREIGN_LONG_ODD || kind == FOREIGN_LONG_GAP;
}

static long foreign_make(struct foreign_make *make)
{
	DEFINE_DMA_BUF_EXPORT_INFO(info);
	struct foreign *foreign = foreign_create(make);
	struct dma_buf *dmabuf;

	if (!foreign)
		return -ENOMEM;
	info.ops = make->flags & FOREIGN_NO_VMAP ? &no_vmap_ops : &foreign_ops;
	info.size = FOREIGN_PAGES * (make->kind == FOREIGN_HUGE ? HUGE_ENTRY : PAGE_SIZE);
	if (is_long(make->kind))
		info.size -= PAGE_SIZE;
	info.flags = make->flags & FOREIGN_READ ? O_RDONLY : O_RDWR;
	info.priv = foreign;
	dmabuf = dma_buf_export(&info);
	if (IS_ERR(dmabuf)) {
		foreign_free(foreign);
		return PTR_ERR(dmabuf);
	}
	mutex_lock(&seen_lock);
	memset(&seen, 0, sizeof(seen));
	seen.alive = 1;
	newest = foreign;
	mutex_unlock(&seen_lock);
	make->fd = dma_buf_fd(dmabuf, O_CLOEXEC);
	if (make->fd < 0)
		dma_buf_put(dmabuf);
	return make->fd < 0 ? make->fd : 0;
}

/* ---- The file ---------------------------------------------------------- */

/* The newest BO looks as one of an address space, which few GPUs have, or not any more. */
static long foreign_private(unsigned long on)
{
	struct agate_bo *bo = bos_newest();

	if (!bo)
		return -ENOENT;
	bo->ttm.root = on ? &bo->base : NULL;
	agate_bo_put(bo);
	return 0;
}

static void look_at_bos(struct agate_device *adev, struct foreign_look *look)
{
	struct agate_bo *bo;

	mutex_lock(&adev->gem.lock);
	list_for_each_entry(bo, &adev->gem.bos, link) {
		look->dying = !kref_read(&bo->base.refcount);
		look->own_resv = bo->base.resv == &bo->base._resv;
		look->size = bo->base.size;
		if (!(bo->flags & AGATE_BO_IMPORTED))
			continue;
		look->tables += !!bo->import.sgt;
		look->attachments += !!bo->base.import_attach;
		look->tables_bounced += !!bo->backing.bounced;
		look->own_resvs += bo->base.resv == &bo->base._resv;
	}
	mutex_unlock(&adev->gem.lock);
}

static void look_at_sync(struct agate_device *adev, struct foreign_look *look)
{
	bool (*needs_sync)(struct agate_device *adev, struct sg_table *sgt);
	struct agate_bo *bo = bos_newest();

	if (!bo)
		return;
	needs_sync = (void *)watch_symbol("agate_sgt_needs_sync");
	if (needs_sync && (bo->flags & AGATE_BO_IMPORTED) && bo->import.sgt) {
		look->bounced = bo->backing.bounced == bo->import.sgt;
		look->needs_sync = needs_sync(adev, bo->import.sgt);
	}
	agate_bo_put(bo);
}

static long foreign_look(struct foreign_look *look)
{
	struct agate_device *adev = watch_device();

	if (!adev)
		return -ENODEV;
	look_at_bos(adev, look);
	look_at_sync(adev, look);
	look->listed = !list_empty_careful(&adev->prime.imports);
	look->device_refs = (int)kref_read(&adev->drm.ref) - atomic_read(&adev->drm.open_count);
	look->unlocked = imports_unlocked();
	return 0;
}

static long foreign_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;
	struct foreign_look look = { 0 };
	struct foreign_import import;
	struct foreign_make make;
	long ret;

	switch (cmd) {
	case FOREIGN_MAKE:
		if (copy_from_user(&make, user, sizeof(make)))
			return -EFAULT;
		ret = foreign_make(&make);
		return ret ? ret : copy_to_user(user, &make, sizeof(make)) ? -EFAULT : 0;
	case FOREIGN_SEEN:
		return copy_to_user(user, &seen, sizeof(seen)) ? -EFAULT : 0;
	case FOREIGN_IMPORT:
		if (copy_from_user(&import, user, sizeof(import)))
			return -EFAULT;
		ret = importer_import(&import);
		return ret ? ret : copy_to_user(user, &import, sizeof(import)) ? -EFAULT : 0;
	case FOREIGN_LOOK:
		ret = foreign_look(&look);
		return ret ? ret : copy_to_user(user, &look, sizeof(look)) ? -EFAULT : 0;
	case FOREIGN_PRIVATE:
		return foreign_private(arg);
	case FOREIGN_WATCH:
		return imports_watch(arg);
	case FOREIGN_MAPPER:
		return mapper_open(arg);
	}
	return -ENOTTY;
}

static int foreign_close(struct inode *inode, struct file *file)
{
	imports_watch(false);
	return 0;
}

static const struct file_operations foreign_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.release = foreign_close,
	.unlocked_ioctl = foreign_ioctl,
};

void foreign_init(void)
{
	if (!importer_init())
		foreign_file = debugfs_create_file("agate_foreign", 0600, NULL, NULL,
						   &foreign_fops);
}

void foreign_exit(void)
{
	debugfs_remove(foreign_file);
	importer_exit();
}

MODULE_IMPORT_NS(DMA_BUF);
