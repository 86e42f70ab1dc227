// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lab 04: the pages of a BO, as the kernel sees them, and the users that no client can be.
 *
 * /sys/kernel/debug/agate_shmem is about what was the newest BO when the file was opened.
 * Reading it gives names and numbers; writing a command makes the test a user of the BO: pin,
 * unpin, vmap, vunmap, peek PAGE, poke PAGE WORD, table BYTES (the largest entry) and populate
 * OFFSET SIZE.  "vmap-unreserved" is a vmap by somebody who has not got the BO's reservation, as
 * agate_backing_vmap() allows.  "watch" begins to look at what populate asks of the DMA layer, and
 * "free" fails while anybody has backing.lock.  A command that fails gives its errno.
 */
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/dma-resv.h>
#include <linux/fs.h>
#include <linux/iosys-map.h>
#include <linux/mm.h>
#include <linux/pagemap.h>
#include <linux/scatterlist.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/swap.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <drm/drm_drv.h>

#include "agate_device.h"
#include "agate_gem.h"
#include "dma_calls.h"
#include "watch.h"

#define VMAPS_MAX	8
/* Far longer than any shrinker has a lock. */
#define LOCK_TRIES	200
#define LOCK_PAUSE_MS	5

struct look {
	struct agate_bo *bo;
	struct mutex lock;		/* all below: one command at a time */
	unsigned int pins;
	unsigned int vmaps;
	struct iosys_map maps[VMAPS_MAX];
	u64 peeked;
	long wrong;			/* pages that the last table has elsewhere */
	bool watching;			/* this file watches the DMA layer */
	bool left;			/* the last vunmap has left the mapping */
	int populated;			/* errno of the last populate, -1 before the first */
};

static struct dentry *shmem_file;

static unsigned long count_of(const struct agate_bo *bo)
{
	return agate_bo_size(bo) >> PAGE_SHIFT;
}

/* The page of the BO's file with that index, with a reference; or NULL: there may be no file. */
static struct page *page_of(const struct agate_bo *bo, unsigned long index)
{
	return !bo->base.filp ? NULL : find_get_page(bo->base.filp->f_mapping, index);
}

/* The pages that do not lie where the table says: each entry has to be whole pages. */
static long wrong_in_table(const struct agate_bo *bo, struct sg_table *sgt, unsigned long most)
{
	unsigned long i = 0, n;
	struct scatterlist *sg;
	unsigned int entry;
	struct page *page;
	long wrong = 0;

	for_each_sgtable_sg(sgt, sg, entry) {
		if (sg->offset || !PAGE_ALIGNED(sg->length) || sg->length > most)
			wrong++;
		for (n = 0; n < sg->length >> PAGE_SHIFT; n++, i++) {
			page = page_of(bo, i);
			wrong += !page || nth_page(sg_page(sg), n) != page;
			if (page)
				put_page(page);
		}
	}
	return i == count_of(bo) ? wrong : wrong + 1000;
}

/* Did this vmap() give its caller an address? */
static bool map_is_set(const struct iosys_map *map)
{
	return !map->is_iomem && is_vmalloc_addr(map->vaddr);
}

/* The maps without an address, and those whose address is not that of the first one. */
static void odd_maps(const struct look *look, unsigned int *unset, unsigned int *apart)
{
	unsigned int i;

	*unset = 0;
	*apart = 0;
	for (i = 0; i < look->vmaps; i++) {
		if (!map_is_set(&look->maps[i]))
			(*unset)++;
		else if (look->maps[i].vaddr != look->maps[0].vaddr)
			(*apart)++;
	}
}

/* The pages that a mapping of the kernel shows elsewhere. */
static long wrong_in_map(const struct agate_bo *bo, const struct iosys_map *map)
{
	unsigned long i;
	struct page *page;
	long wrong = 0;

	for (i = 0; i < count_of(bo); i++) {
		page = page_of(bo, i);
		wrong += !page || vmalloc_to_page(map->vaddr + i * PAGE_SIZE) != page;
		if (page)
			put_page(page);
	}
	return wrong;
}

/* Is the first page of the BO where it was? */
static bool shows(const struct agate_bo *bo, const struct iosys_map *map)
{
	struct page *page = page_of(bo, 0);
	bool same = page && vmalloc_to_page(map->vaddr) == page;

	if (page)
		put_page(page);
	return same;
}

static long wrong_in_maps(const struct look *look)
{
	unsigned int i;
	long wrong = 0;

	for (i = 0; i < look->vmaps; i++)
		if (map_is_set(&look->maps[i]))
			wrong += wrong_in_map(look->bo, &look->maps[i]);
	return wrong;
}

/* ---- Reading ------------------------------------------------------------------ */

/* References that the kernel's own lists have for a moment would count as somebody's. */
static void drain(void)
{
	typeof(lru_add_drain) *all = (void *)watch_symbol("lru_add_drain_all");

	if (all)
		all();
}

static void show_pages(struct seq_file *seq, const struct agate_bo *bo)
{
	unsigned long cached = 0, held = 0, clean = 0, unused = 0, evictable = 0, i;
	struct page *page;

	drain();
	for (i = 0; i < count_of(bo); i++) {
		page = page_of(bo, i);
		if (!page)
			continue;
		cached++;
		/* The file has one reference, and so have we. */
		held += page_count(page) > 2;
		clean += !PageDirty(page);
		unused += !folio_test_referenced(page_folio(page)) &&
			  !folio_test_active(page_folio(page));
		evictable += !folio_test_unevictable(page_folio(page));
		put_page(page);
	}
	seq_printf(seq, "cached %lu\nheld %lu\nclean %lu\nunaccessed %lu\n", cached, held, clean,
		   unused);
	seq_printf(seq, "file %d\n", !!bo->base.filp);
	seq_printf(seq, "unevictable %d\nevictable %lu\n",
		   bo->base.filp && mapping_unevictable(bo->base.filp->f_mapping), evictable);
}

/* The shrinker tries the lock now and then; somebody who keeps it for longer has forgotten it. */
static bool lock_soon(struct agate_bo *bo)
{
	unsigned int i;

	for (i = 0; i < LOCK_TRIES; i++) {
		if (mutex_trylock(&bo->backing.lock))
			return true;
		msleep(LOCK_PAUSE_MS);
	}
	return false;
}

/* NULL, too, where the driver's two pointers differ: one of them may lead to freed memory. */
static struct sg_table *table_of(const struct agate_bo *bo)
{
	return bo->backing.sgt == bo->shmem.sgt ? bo->backing.sgt : NULL;
}

/* Is backing.bounced not the table, where syncs are needed, or set where they are not? */
static bool bounced_wrong(struct agate_bo *bo)
{
	struct sg_table *sgt = table_of(bo);
	struct scatterlist *sg;
	unsigned int entry;

	if (!sgt)
		return bo->backing.bounced;
	for_each_sgtable_dma_sg(sgt, sg, entry)
		if (dma_need_sync(bo->base.dev->dev, sg_dma_address(sg)))
			return bo->backing.bounced != sgt;
	return bo->backing.bounced;
}

static void show_table(struct seq_file *seq, struct agate_bo *bo)
{
	long wrong;
	int bounced;
	bool got = lock_soon(bo);

	seq_printf(seq, "locked %d\n", !got);
	if (!got)
		return;
	wrong = table_of(bo) ? wrong_in_table(bo, table_of(bo), ULONG_MAX) :
			       -(bo->backing.sgt != bo->shmem.sgt);
	bounced = bo->backing.bounced ? 1 + (bo->backing.bounced != bo->backing.sgt) : 0;
	seq_printf(seq, "sgt %d\nbounced %d\nbounced_wrong %d\nsgt_wrong %ld\n",
		   !!bo->backing.sgt, bounced, bounced_wrong(bo), wrong);
	mutex_unlock(&bo->backing.lock);
}

static void show_maps(struct seq_file *seq, const struct look *look)
{
	unsigned int unset, apart;

	odd_maps(look, &unset, &apart);
	seq_printf(seq, "vmap_unset %u\nvmap_apart %u\nvmap_wrong %ld\nvmap_left %d\n", unset,
		   apart, wrong_in_maps(look), look->left);
}

/* The count of the BO's own device, which debugfs does not show any more once that has gone. */
static long tables_of(const struct agate_bo *bo)
{
	return atomic64_read(&to_agate_device(bo->base.dev)->stats.v[AGATE_STAT_SG_TABLES]);
}

static int shmem_show(struct seq_file *seq, void *unused)
{
	struct look *look = seq->private;
	struct agate_bo *bo = look->bo;

	mutex_lock(&look->lock);
	show_table(seq, bo);
	show_pages(seq, bo);
	seq_printf(seq, "resident %lu\npins %u\nuses %u\ntables %ld\n",
		   READ_ONCE(bo->backing.nr_pages), bo->backing.pins, bo->shmem.pages_use,
		   tables_of(bo));
	show_maps(seq, look);
	seq_printf(seq, "table_wrong %ld\npeeked %llu\npopulated %d\n", look->wrong, look->peeked,
		   look->populated);
	dma_calls_show(seq);
	mutex_unlock(&look->lock);
	return 0;
}

/* ---- Commands ----------------------------------------------------------------- */

static int do_vmap(struct look *look, bool reserved)
{
	struct agate_bo *bo = look->bo;
	int ret;

	if (look->vmaps == VMAPS_MAX)
		return -E2BIG;
	/* Callers have this on their stacks: what vmap() does not write is what was there. */
	look->maps[look->vmaps] = (struct iosys_map){ .is_iomem = true };
	if (reserved)
		dma_resv_lock(bo->base.resv, NULL);
	ret = bo->base.funcs->vmap(&bo->base, &look->maps[look->vmaps]);
	if (reserved)
		dma_resv_unlock(bo->base.resv);
	look->vmaps += !ret;
	return ret;
}

static int do_vunmap(struct look *look)
{
	struct agate_bo *bo = look->bo;
	struct iosys_map map;

	if (!look->vmaps)
		return -ENOENT;
	look->vmaps--;
	map = look->maps[look->vmaps];
	dma_resv_lock(bo->base.resv, NULL);
	bo->base.funcs->vunmap(&bo->base, &look->maps[look->vmaps]);
	dma_resv_unlock(bo->base.resv);
	look->left = !look->vmaps && map_is_set(&map) && shows(bo, &map);
	return 0;
}

static int do_pin(struct look *look)
{
	struct agate_bo *bo = look->bo;
	int ret;

	dma_resv_lock(bo->base.resv, NULL);
	ret = bo->base.funcs->pin(&bo->base);
	dma_resv_unlock(bo->base.resv);
	look->pins += !ret;
	return ret;
}

static int do_unpin(struct look *look)
{
	struct agate_bo *bo = look->bo;

	if (!look->pins)
		return -ENOENT;
	look->pins--;
	dma_resv_lock(bo->base.resv, NULL);
	bo->base.funcs->unpin(&bo->base);
	dma_resv_unlock(bo->base.resv);
	return 0;
}

/* In a table that is not mapped for DMA no entry has an address of the bus. */
static int do_table(struct look *look, unsigned int most)
{
	struct sg_table *sgt = look->bo->backing.ops->get_sg_table(look->bo, most);

	if (IS_ERR(sgt))
		return PTR_ERR(sgt);
	look->wrong = wrong_in_table(look->bo, sgt, most);
	if (sg_dma_address(sgt->sgl))
		look->wrong += 2000;
	/* The caller frees it: its own table is another one. */
	if (sgt == look->bo->backing.sgt)
		return -EEXIST;
	sg_free_table(sgt);
	kfree(sgt);
	return 0;
}

/* As a job does, but also where the device is unplugged. */
static int do_populate(struct look *look, u64 offset, u64 size)
{
	struct agate_runs runs = { 0 };
	int ret;

	atomic_inc(&look->bo->gpu_users);
	dma_calls_of(current);
	ret = look->bo->backing.ops->populate(look->bo, offset, size, &runs);
	dma_calls_of(NULL);
	atomic_dec(&look->bo->gpu_users);
	look->populated = -ret;
	return ret;
}

static u64 *word_of(struct look *look, u64 page)
{
	if (!look->vmaps || !map_is_set(&look->maps[0]) || page >= count_of(look->bo))
		return NULL;
	return look->maps[0].vaddr + page * PAGE_SIZE;
}

static int do_word(struct look *look, u64 page, const u64 *new)
{
	u64 *word = word_of(look, page);

	if (!word)
		return -EINVAL;
	if (new)
		WRITE_ONCE(*word, *new);
	look->peeked = READ_ONCE(*word);
	return 0;
}

static int do_watch(struct look *look)
{
	int ret = look->watching ? 0 : dma_calls_begin();

	look->watching |= !ret;
	return ret;
}

static int do_command(struct look *look, const char *text)
{
	char word[16];
	u64 a, b;
	int n = sscanf(text, "%15s %llu %llu", word, &a, &b);

	if (n == 1 && !strcmp(word, "vmap"))
		return do_vmap(look, true);
	if (n == 1 && !strcmp(word, "vmap-unreserved"))
		return do_vmap(look, false);
	if (n == 1 && !strcmp(word, "vunmap"))
		return do_vunmap(look);
	if (n == 1 && !strcmp(word, "pin"))
		return do_pin(look);
	if (n == 1 && !strcmp(word, "unpin"))
		return do_unpin(look);
	if (n == 1 && !strcmp(word, "free"))
		return mutex_is_locked(&look->bo->backing.lock) ? -EBUSY : 0;
	if (n == 1 && !strcmp(word, "watch"))
		return do_watch(look);
	if (n == 2 && !strcmp(word, "table"))
		return do_table(look, a);
	if (n == 2 && !strcmp(word, "peek"))
		return do_word(look, a, NULL);
	if (n == 3 && !strcmp(word, "poke"))
		return do_word(look, a, &b);
	if (n == 3 && !strcmp(word, "populate"))
		return do_populate(look, a, b);
	return -EINVAL;
}

static ssize_t shmem_write(struct file *file, const char __user *from, size_t size, loff_t *at)
{
	struct look *look = ((struct seq_file *)file->private_data)->private;
	char text[64];
	int ret;

	if (size >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, size))
		return -EFAULT;
	text[size] = '\0';
	mutex_lock(&look->lock);
	ret = do_command(look, text);
	mutex_unlock(&look->lock);
	return ret ? ret : size;
}

static int shmem_open(struct inode *inode, struct file *file)
{
	struct look *look;
	int ret;

	look = kzalloc(sizeof(*look), GFP_KERNEL);
	if (!look)
		return -ENOMEM;
	mutex_init(&look->lock);
	look->populated = -1;
	look->bo = bos_newest();
	ret = look->bo ? single_open(file, shmem_show, look) : -ENOENT;
	if (ret) {
		if (look->bo)
			agate_bo_put(look->bo);
		kfree(look);
	}
	return ret;
}

static int shmem_release(struct inode *inode, struct file *file)
{
	struct look *look = ((struct seq_file *)file->private_data)->private;

	while (!do_vunmap(look))
		;
	while (!do_unpin(look))
		;
	if (look->watching)
		dma_calls_end();
	agate_bo_put(look->bo);
	kfree(look);
	return single_release(inode, file);
}

static const struct file_operations shmem_fops = {
	.owner = THIS_MODULE,
	.open = shmem_open,
	.read = seq_read,
	.write = shmem_write,
	.llseek = seq_lseek,
	.release = shmem_release,
};

int shmem_init(void)
{
	shmem_file = debugfs_create_file("agate_shmem", 0600, NULL, NULL, &shmem_fops);
	return PTR_ERR_OR_ZERO(shmem_file);
}

void shmem_exit(void)
{
	debugfs_remove(shmem_file);
}
