// SPDX-License-Identifier: GPL-2.0-only
/*
 * Placed BOs as the kernel sees them: kmaps.h.
 */
#include "kmaps.h"
#include "watch.h"

#include <linux/debugfs.h>
#include <linux/dma-buf.h>
#include <linux/dma-resv.h>
#include <linux/fs.h>
#include <linux/iosys-map.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "agate_compat.h"
#include "agate_device.h"
#include "agate_gem.h"
#include "agate_kmap.h"

/* The same bits in entries of all sizes. */
#define CACHE_BITS	(_PAGE_PWT | _PAGE_PCD)

static struct dentry *kmaps_file;

/* A dma-buf that is mapped, twice. */
struct held {
	struct dma_buf *dmabuf;
	struct iosys_map map;
};

static u32 caching_of(const struct iosys_map *map)
{
	unsigned long at = map->is_iomem ? (unsigned long)map->vaddr_iomem :
					   (unsigned long)map->vaddr;
	unsigned int level;
	pte_t *pte = lookup_address(at, &level);
	unsigned long bits = pte ? pte_flags(*pte) & CACHE_BITS : 0;

	if (bits == (pgprot_val(pgprot_writecombine(PAGE_KERNEL)) & CACHE_BITS))
		return AGATE_CACHING_WC;
	if (bits == (pgprot_val(pgprot_noncached(PAGE_KERNEL)) & CACHE_BITS))
		return AGATE_CACHING_UC;
	return AGATE_CACHING_WB;
}

/* ---- Parts ------------------------------------------------------------- */

/* The driver's functions. */
static struct {
	int (*map)(struct agate_ttm_bo *bo, unsigned long first, unsigned long n,
		   struct agate_kmap *map);
	void (*unmap)(struct agate_kmap *map);
} part;

static void look_at(struct agate_bo *bo, struct kmaps_look *look)
{
	struct agate_kmap map;

	look->result = -ENXIO;
	part.map = (void *)watch_symbol("agate_kmap");
	part.unmap = (void *)watch_symbol("agate_kunmap");
	if (!part.map || !part.unmap)
		return;
	/* Nothing depends on what was there before. */
	memset(&map, 0xff, sizeof(map));
	dma_resv_lock(bo->base.resv, NULL);
	look->result = part.map(&bo->ttm, look->first, look->n, &map);
	look->kind = map.kind;
	if (!look->result) {
		iosys_map_memcpy_from(&look->word, &map.at, look->at, sizeof(look->word));
		look->caching = caching_of(&map.at);
	}
	part.unmap(&map);
	/* Once more does nothing. */
	part.unmap(&map);
	look->left = bo->ttm.res ? bo->ttm.res->io.users - bo->ttm.cpu_maps : 0;
	dma_resv_unlock(bo->base.resv);
}

static int look_at_newest(struct kmaps_look *look)
{
	struct agate_bo *bo = bos_newest();

	if (!bo)
		return -ENOENT;
	look_at(bo, look);
	agate_bo_put(bo);
	return 0;
}

/* ---- Dma-bufs ---------------------------------------------------------- */

static int map_dmabuf(struct dma_buf *dmabuf, struct iosys_map *map)
{
#ifdef HAVE_GEM_VMAP_LOCKED
	return dma_buf_vmap_unlocked(dmabuf, map);
#else
	return dma_buf_vmap(dmabuf, map);
#endif
}

static void unmap_dmabuf(struct dma_buf *dmabuf, struct iosys_map *map)
{
#ifdef HAVE_GEM_VMAP_LOCKED
	dma_buf_vunmap_unlocked(dmabuf, map);
#else
	dma_buf_vunmap(dmabuf, map);
#endif
}

/*
 * The core of dma-bufs counts the mappings of one, and asks its driver once: so the second mapping
 * here is by the BO, as that of a client in the kernel.
 */
static int map_object(struct held *held, struct iosys_map *again, bool map)
{
	struct drm_gem_object *obj = held->dmabuf->priv;
	int ret = 0;

#ifdef HAVE_GEM_VMAP_LOCKED
	dma_resv_lock(obj->resv, NULL);
#endif
	if (map)
		ret = obj->funcs->vmap(obj, again);
	else
		obj->funcs->vunmap(obj, again);
#ifdef HAVE_GEM_VMAP_LOCKED
	dma_resv_unlock(obj->resv);
#endif
	return ret;
}

static void let_go(struct held *held)
{
	if (!held->dmabuf)
		return;
	/* The first one that is undone is not the last one. */
	unmap_dmabuf(held->dmabuf, &held->map);
	map_object(held, &held->map, false);
	dma_buf_put(held->dmabuf);
	held->dmabuf = NULL;
}

static int hold(struct held *held, struct kmaps_hold *hold)
{
	struct iosys_map again;

	if (held->dmabuf)
		return -EBUSY;
	held->dmabuf = dma_buf_get(hold->fd);
	if (IS_ERR(held->dmabuf)) {
		hold->result = PTR_ERR(held->dmabuf);
		held->dmabuf = NULL;
		return hold->result;
	}
	hold->result = map_dmabuf(held->dmabuf, &held->map);
	if (!hold->result) {
		hold->result = map_object(held, &again, true);
		if (hold->result)
			unmap_dmabuf(held->dmabuf, &held->map);
	}
	if (hold->result) {
		dma_buf_put(held->dmabuf);
		held->dmabuf = NULL;
		return 0;
	}
	hold->same = iosys_map_is_equal(&held->map, &again);
	hold->caching = caching_of(&held->map);
	return 0;
}

/* ---- The file ---------------------------------------------------------- */

static long on_bytes(struct held *held, unsigned int cmd, struct kmaps_bytes __user *user)
{
	struct kmaps_bytes bytes;

	if (copy_from_user(&bytes, user, sizeof(bytes)))
		return -EFAULT;
	if (!held->dmabuf || bytes.at > held->dmabuf->size - sizeof(bytes.word))
		return -EINVAL;
	if (cmd == KMAPS_POKE) {
		iosys_map_memcpy_to(&held->map, bytes.at, &bytes.word, sizeof(bytes.word));
		return 0;
	}
	iosys_map_memcpy_from(&bytes.word, &held->map, bytes.at, sizeof(bytes.word));
	return copy_to_user(user, &bytes, sizeof(bytes)) ? -EFAULT : 0;
}

static long kmaps_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	void __user *user = (void __user *)arg;
	struct held *held = file->private_data;
	struct kmaps_look look;
	struct kmaps_hold wanted;
	long ret;

	switch (cmd) {
	case KMAPS_LOOK:
		if (copy_from_user(&look, user, sizeof(look)))
			return -EFAULT;
		ret = look_at_newest(&look);
		return ret ? ret : copy_to_user(user, &look, sizeof(look)) ? -EFAULT : 0;
	case KMAPS_HOLD:
		if (copy_from_user(&wanted, user, sizeof(wanted)))
			return -EFAULT;
		ret = hold(held, &wanted);
		return ret ? ret : copy_to_user(user, &wanted, sizeof(wanted)) ? -EFAULT : 0;
	case KMAPS_PEEK:
	case KMAPS_POKE:
		return on_bytes(held, cmd, user);
	case KMAPS_LET_GO:
		let_go(held);
		return 0;
	}
	return -ENOTTY;
}

static int kmaps_open(struct inode *inode, struct file *file)
{
	struct held *held = kzalloc(sizeof(*held), GFP_KERNEL);

	file->private_data = held;
	return held ? 0 : -ENOMEM;
}

static int kmaps_release(struct inode *inode, struct file *file)
{
	let_go(file->private_data);
	kfree(file->private_data);
	return 0;
}

static const struct file_operations kmaps_fops = {
	.owner = THIS_MODULE,
	.open = kmaps_open,
	.release = kmaps_release,
	.unlocked_ioctl = kmaps_ioctl,
};

void kmaps_init(void)
{
	kmaps_file = debugfs_create_file("agate_kmaps", 0600, NULL, NULL, &kmaps_fops);
}

void kmaps_exit(void)
{
	debugfs_remove(kmaps_file);
}

MODULE_IMPORT_NS(DMA_BUF);
