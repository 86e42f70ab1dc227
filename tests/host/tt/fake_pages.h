/* SPDX-License-Identifier: MIT */
/*
 * What the pages of a placed BO see of the kernel and of the driver: memory, files, DMA, the pool
 * and the limit.  All that they give out is counted, and each call that may fail can be made to.
 *
 * The compiler reads this before the file.  The headers of the driver that matter here are its own
 * (agate_tt.h, agate_ttm.h, agate_pool.h, agate_park.h, agate_limit.h); those of the kernel that
 * are not in the shim are empty (module.mk).
 */
#ifndef FAKE_PAGES_H
#define FAKE_PAGES_H

#include <stdlib.h>

#include <asm/byteorder.h>
#include <linux/container_of.h>
#include <linux/compiler.h>
#include <linux/errno.h>
#include <linux/list.h>
#include <linux/lockdep.h>
#include <linux/minmax.h>
#include <linux/mutex.h>
#include <linux/spinlock.h>
#include <linux/types.h>

#include "fake_atomic.h"

#define AGATE_DEVICE_H
#define AGATE_SHIM_MM_TYPES_H

#define PAGE_SHIFT	12
#define PAGE_SIZE	4096ul
#define GFP_KERNEL_ACCOUNT	0
#define DMA_ATTR_NO_WARN	0
#define DIV_ROUND_UP(n, d)	(((n) + (d) - 1) / (d))

#define IS_ERR(p)	((unsigned long)(p) >= (unsigned long)-4095)
#define PTR_ERR(p)	((long)(p))
#define ERR_PTR(e)	((void *)(long)(e))

/* Types that the driver's headers name. */
typedef u64 dma_addr_t;
typedef u64 phys_addr_t;
struct delayed_work { int unused; };
struct dma_fence { int unused; };
struct dma_fence_cb { int unused; };
struct iosys_map { int unused; };
struct llist_head { void *first; };
struct llist_node { void *next; };
struct lock_class_key;
struct workqueue_struct;
enum dma_data_direction { DMA_BIDIRECTIONAL, DMA_TO_DEVICE };

bool fake_warn(bool wrong);
#define WARN_ON(x)	fake_warn(x)

/* Memory. */
void *kzalloc(size_t size, int gfp);
void *kvcalloc(size_t n, size_t size, int gfp);
void kfree(const void *memory);
void kvfree(const void *memory);
unsigned long get_zeroed_page(int gfp);
void free_page(unsigned long page);

/**
 * struct page - what the tests look at of a page
 * @private: see set_page_private()
 * @contents: what a CPU has written, instead of 4 KiB
 * @stored: in a file: the contents that last, once nobody holds the page
 * @dirty: in a file: the contents are to last
 * @refs: in a file: of shmem_read_mapping_page_gfp()
 * @dma: where the device finds it
 * @kind: the first of a block: from which list of the pool it is
 */
struct page {
	unsigned long private;
	u64 contents, stored;
	bool dirty;
	int refs;
	dma_addr_t dma;
	unsigned int kind;
};

#define page_private(page)		((page)->private)
#define set_page_private(page, value)	((page)->private = (value))
void copy_highpage(struct page *to, struct page *from);
void set_page_dirty(struct page *page);
void mark_page_accessed(struct page *page);
void put_page(struct page *page);

/* Files. */
#define __GFP_RETRY_MAYFAIL	1u
#define __GFP_NOWARN		2u
#define mapping_gfp_mask(mapping)	(((void)(mapping), 4u))

struct address_space {
	struct page *pages;
	unsigned long count;
};

struct file {
	struct address_space *f_mapping;
	struct address_space mapping;
};

struct file *shmem_file_setup(const char *name, s64 size, unsigned long flags);
struct page *shmem_read_mapping_page_gfp(struct address_space *mapping, unsigned long index,
					 unsigned int gfp);
void fput(struct file *file);

/* DMA. */
struct device { int unused; };

struct sg_table {
	struct page **pages;
	unsigned long count;
	bool mapped;
};

struct sg_dma_page_iter {
	const struct sg_table *sgt;
	unsigned long at;
};

int sg_alloc_table_from_pages_segment(struct sg_table *sgt, struct page **pages,
				      unsigned int count, unsigned int offset, unsigned long size,
				      unsigned int segment, int gfp);
void sg_free_table(struct sg_table *sgt);
int dma_map_sgtable(struct device *dev, struct sg_table *sgt, enum dma_data_direction dir,
		    unsigned long attrs);
void dma_unmap_sgtable(struct device *dev, struct sg_table *sgt, enum dma_data_direction dir,
		       unsigned long attrs);
dma_addr_t dma_map_single(struct device *dev, void *at, size_t size, enum dma_data_direction dir);
void dma_unmap_single(struct device *dev, dma_addr_t addr, size_t size,
		      enum dma_data_direction dir);
int dma_mapping_error(struct device *dev, dma_addr_t addr);

static inline unsigned int dma_get_max_seg_size(const struct device *dev)
{
	(void)dev;
	return 1u << 16;
}

static inline dma_addr_t sg_page_iter_dma_address(const struct sg_dma_page_iter *iter)
{
	return iter->sgt->pages[iter->at]->dma;
}

#define for_each_sgtable_dma_page(table, iter, offset)				\
	for ((iter)->sgt = (table), (iter)->at = (offset);			\
	     (iter)->sgt->mapped && (iter)->at < (iter)->sgt->count; (iter)->at++)

/* The driver. */
struct drm_device {
	bool unplugged;
	int inside;
};

struct pci_dev {
	struct device dev;
};

bool drm_dev_enter(struct drm_device *drm, int *idx);
void drm_dev_exit(int idx);

#include "agate_pool.h"
#include "agate_stats.h"
#include "agate_ttm.h"

struct agate_device {
	struct drm_device drm;
	struct pci_dev *pdev;
	struct { u32 features; } card;
	struct agate_ttm ttm;
	struct {
		struct agate_pool pool;
		struct list_head parked;
	} pages;
	struct agate_stats stats;
};

/**
 * struct fake - what a test sets, and what is given out
 * @fail_at: so many calls that may fail succeed, then one fails; -1: none does
 * @map_error: of dma_map_sgtable()
 * @bounces: the CPUs and the device see different memory
 * @largest: order of the largest blocks that the pool has
 */
struct fake {
	int fail_at;
	int map_error;
	bool bounces;
	unsigned int largest;
	/* Given out. */
	int memory, list_pages, files, page_refs, tables, maps, lists;
	long pages, charged[2];
	int warnings;
	int told;	/* agate_limit_parked() calls */
};

extern struct fake fake;
extern struct agate_device fake_device;

/* A device with nothing given out. */
void fake_init(void);

/* The device's view of the list that is mapped there; NULL: none is. */
const __le64 *fake_list(dma_addr_t addr);

/* The fences of all that is parked have signalled: release it. */
void fake_signal(void);

#endif /* FAKE_PAGES_H */
