// SPDX-License-Identifier: GPL-2.0-only
/*
 * The pages of a placed BO, one step after the other: tt_steps.h.
 *
 * No BO has these pages, so nobody else takes a step, except for agate_tt_unbind_all().
 */
#include "tt_steps.h"
#include "watch.h"

#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include <linux/string.h>
#include <linux/uaccess.h>
#include <drm/drm_drv.h>

#include "agate_device.h"
#include "agate_tt.h"
#include "agate_ttm.h"

#define WORDS		(PAGE_SIZE / sizeof(u64))
/* No test binds so many. */
#define BOUND_MOST	10000

static struct dentry *tt_file;

/* The driver's functions. */
static struct {
	struct agate_tt *(*create)(struct agate_device *adev, u64 size, u8 caching);
	int (*populate)(struct agate_tt *tt, struct agate_ttm_ctx *ctx);
	void (*unpopulate)(struct agate_tt *tt);
	int (*bind)(struct agate_tt *tt);
	void (*unbind)(struct agate_tt *tt);
	long (*swapout)(struct agate_tt *tt);
	void (*park)(struct agate_tt *tt, struct dma_fence *fence);
} driver;

static bool find_driver(void)
{
	driver.create = (void *)watch_symbol("agate_tt_create");
	driver.populate = (void *)watch_symbol("agate_tt_populate");
	driver.unpopulate = (void *)watch_symbol("agate_tt_unpopulate");
	driver.bind = (void *)watch_symbol("agate_tt_bind");
	driver.unbind = (void *)watch_symbol("agate_tt_unbind");
	driver.swapout = (void *)watch_symbol("agate_tt_swapout");
	driver.park = (void *)watch_symbol("agate_tt_park");
	return driver.create && driver.populate && driver.unpopulate && driver.bind &&
	       driver.unbind && driver.swapout && driver.park;
}

/* ---- Contents ---------------------------------------------------------- */

/* A page that is there twice has the later one's contents. */
static u64 word_of(unsigned long page)
{
	return 0x9a6e000000000000 + page;
}

static long fill(struct agate_tt *tt)
{
	unsigned long i;

	if (!agate_tt_has_pages(tt))
		return -EINVAL;
	for (i = 0; i < tt->count; i++)
		memset64(page_address(tt->pages[i]), word_of(i), WORDS);
	return 0;
}

static bool is_filled(struct page *page, u64 word)
{
	const u64 *words = page_address(page);
	unsigned int i;

	for (i = 0; i < WORDS && words[i] == word; i++)
		;
	return i == WORDS;
}

static void look_at_pages(struct agate_tt *tt, struct tt_step *step)
{
	u64 *blank = &step->blank, *filled = &step->filled;

	while (*blank < tt->count && !memchr_inv(page_address(tt->pages[*blank]), 0, PAGE_SIZE))
		(*blank)++;
	while (*filled < tt->count && is_filled(tt->pages[*filled], word_of(*filled)))
		(*filled)++;
}

/* ---- Addresses --------------------------------------------------------- */

/* The guest has no IOMMU, and a page that the machine would copy for the device is not bound. */
static u64 address_of(struct page *page)
{
	return page_to_phys(page);
}

static void look_at_table(struct agate_tt *tt, struct tt_step *step)
{
	struct sg_dma_page_iter at;
	struct sg_page_iter of;
	u64 n = 0;

	for_each_sgtable_page(&tt->sgt, &of, 0) {
		if (n < tt->count && sg_page_iter_page(&of) != tt->pages[n])
			break;
		if (n++ == tt->count)
			break;
	}
	step->sgt_pages = n;
	n = 0;
	for_each_sgtable_dma_page(&tt->sgt, &at, 0) {
		if (n < tt->count && sg_page_iter_dma_address(&at) != address_of(tt->pages[n]))
			break;
		if (n++ == tt->count)
			break;
	}
	step->sgt_addresses = n;
}

static void look_at_entries(struct agate_tt *tt, struct tt_step *step)
{
	u64 n, is, should_be;

	for (n = 0; n < tt->count; n++) {
		const __le64 *list = tt->lists[n / AGATE_TT_LIST_PAGES];

		is = list ? le64_to_cpu(list[n % AGATE_TT_LIST_PAGES]) : 0;
		should_be = address_of(tt->pages[n]);
		if (is != should_be) {
			step->entry_is = is;
			step->entry_should_be = should_be;
			break;
		}
	}
	step->entries = n;
}

static void look_at_list_addrs(struct agate_tt *tt, struct tt_step *step)
{
	u64 lists = DIV_ROUND_UP(tt->count, AGATE_TT_LIST_PAGES), i;

	for (i = 0; i < lists && tt->lists[i]; i++)
		if (tt->list_addrs[i] != address_of(virt_to_page(tt->lists[i])))
			break;
	step->list_addrs = i;
}

/* ---- Look -------------------------------------------------------------- */

static u32 times_bound(struct agate_tt *tt)
{
	struct agate_ttm *ttm = &tt->adev->ttm;
	u32 times;

	mutex_lock(&ttm->bound_lock);
	times = bos_times_listed(&ttm->bound, &tt->bound, BOUND_MOST);
	mutex_unlock(&ttm->bound_lock);
	return times;
}

static u32 has(const struct agate_tt *tt)
{
	return (tt->pages ? TT_HAS_PAGES : 0) | (tt->sgt.sgl ? TT_HAS_TABLE : 0) |
	       (tt->lists ? TT_HAS_LISTS : 0) | (tt->list_addrs ? TT_HAS_LIST_ADDRS : 0) |
	       (tt->swap ? TT_HAS_SWAP : 0);
}

/* A pointer that the state has no use for may lead to what is freed. */
static void look_at(struct agate_tt *tt, struct tt_step *step)
{
	step->state = tt->state;
	step->count = tt->count;
	step->has = has(tt);
	step->bound = times_bound(tt);
	if (!agate_tt_has_pages(tt) || !tt->pages)
		return;
	look_at_pages(tt, step);
	if (tt->state != AGATE_TT_BOUND)
		return;
	if (tt->sgt.sgl)
		look_at_table(tt, step);
	if (!tt->lists)
		return;
	look_at_entries(tt, step);
	if (tt->list_addrs)
		look_at_list_addrs(tt, step);
}

/* ---- Steps ------------------------------------------------------------- */

static struct agate_tt *make(const struct tt_make *make)
{
	struct agate_device *adev = watch_device();
	struct agate_tt *tt;

	if (!adev || !find_driver())
		return ERR_PTR(-ENODEV);
	tt = driver.create(adev, make->size, make->caching);
	if (!tt)
		return ERR_PTR(-ENOMEM);
	drm_dev_get(&adev->drm);
	return tt;
}

static long take(struct agate_tt *tt, u32 op)
{
	struct agate_ttm_ctx ctx = { .interruptible = true };

	switch (op) {
	case TT_POPULATE:
		return driver.populate(tt, &ctx);
	case TT_UNPOPULATE:
		driver.unpopulate(tt);
		return 0;
	case TT_BIND:
		return driver.bind(tt);
	case TT_UNBIND:
		driver.unbind(tt);
		return 0;
	case TT_SWAPOUT:
		return driver.swapout(tt);
	case TT_FILL:
		return fill(tt);
	default:
		return 0;	/* just a look */
	}
}

/*
 * A driver with a bug shall fail a test, and not bring the guest down: nothing that is freed is in
 * a list, and what is to be taken from a list is in one.  False: there is no way.
 */
static bool mend(struct agate_tt *tt)
{
	const bool is_bound = tt->state == AGATE_TT_BOUND;
	const u32 times = times_bound(tt);

	if (times > 1)
		return false;
	if (is_bound && !times)
		INIT_LIST_HEAD(&tt->bound);
	else if (!is_bound && times)
		list_del(&tt->bound);
	return true;
}

static void park(struct agate_tt *tt)
{
	struct drm_device *drm;

	if (!tt)
		return;
	drm = &tt->adev->drm;
	if (mend(tt))
		driver.park(tt, NULL);
	drm_dev_put(drm);
}

/* ---- The file ---------------------------------------------------------- */

static long on_make(struct file *file, const struct tt_make __user *user)
{
	struct tt_make wanted;
	struct agate_tt *tt;

	if (file->private_data)
		return -EBUSY;
	if (copy_from_user(&wanted, user, sizeof(wanted)))
		return -EFAULT;
	tt = make(&wanted);
	if (IS_ERR(tt))
		return PTR_ERR(tt);
	file->private_data = tt;
	return 0;
}

static long on_step(struct agate_tt *tt, struct tt_step __user *user)
{
	struct tt_step step = {};

	if (!tt)
		return -EINVAL;
	if (get_user(step.op, &user->op))
		return -EFAULT;
	step.result = take(tt, step.op);
	look_at(tt, &step);
	return copy_to_user(user, &step, sizeof(step)) ? -EFAULT : 0;
}

static long tt_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	switch (cmd) {
	case TT_MAKE:
		return on_make(file, (void __user *)arg);
	case TT_STEP:
		return on_step(file->private_data, (void __user *)arg);
	case TT_PARK:
		park(file->private_data);
		file->private_data = NULL;
		return 0;
	}
	return -ENOTTY;
}

static int tt_release(struct inode *inode, struct file *file)
{
	park(file->private_data);
	return 0;
}

static const struct file_operations tt_fops = {
	.owner = THIS_MODULE,
	.open = nonseekable_open,
	.release = tt_release,
	.unlocked_ioctl = tt_ioctl,
};

void tt_steps_init(void)
{
	tt_file = debugfs_create_file("agate_tt", 0600, NULL, NULL, &tt_fops);
}

void tt_steps_exit(void)
{
	debugfs_remove(tt_file);
}
