// SPDX-License-Identifier: MIT
/* The kernel and the driver around a BO's pages; see fake_pages.h. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "agate_hand_over.h"
#include "agate_limit.h"
#include "agate_park.h"
#include "agate_tt.h"

#define LISTS		16
#define LIST_ADDR	0x7000000000ull
#define NO_ADDR		(~0ull)

struct fake fake;
struct agate_device fake_device;

static struct pci_dev pdev;
static struct agate_parked *parked[64];
static unsigned int parked_count;

/* The device sees of a list what was there when the CPU gave it away. */
static struct {
	const void *at;
	__le64 view[AGATE_TT_LIST_PAGES];
} lists[LISTS];

void fake_init(void)
{
	memset(&fake, 0, sizeof(fake));
	memset(&fake_device, 0, sizeof(fake_device));
	memset(lists, 0, sizeof(lists));
	parked_count = 0;
	fake.fail_at = -1;
	fake.map_error = -EIO;
	fake.largest = AGATE_POOL_ORDERS - 1;
	fake_device.pdev = &pdev;
	fake_device.card.features = 40 << 8;
	INIT_LIST_HEAD(&fake_device.ttm.bound);
	INIT_LIST_HEAD(&fake_device.pages.parked);
}

static bool fails(void)
{
	return fake.fail_at >= 0 && fake.fail_at-- == 0;
}

bool fake_warn(bool wrong)
{
	fake.warnings += wrong;
	return wrong;
}

/* ---- Memory ------------------------------------------------------------- */

void *kvcalloc(size_t n, size_t size, int gfp)
{
	(void)gfp;
	if (fails())
		return NULL;
	fake.memory++;
	return calloc(n, size);
}

void *kzalloc(size_t size, int gfp)
{
	return kvcalloc(1, size, gfp);
}

void kvfree(const void *memory)
{
	fake.memory -= memory != NULL;
	free((void *)memory);
}

void kfree(const void *memory)
{
	kvfree(memory);
}

unsigned long get_zeroed_page(int gfp)
{
	(void)gfp;
	if (fails())
		return 0;
	fake.list_pages++;
	return (unsigned long)calloc(1, PAGE_SIZE);
}

void free_page(unsigned long page)
{
	unsigned int i;

	for (i = 0; i < LISTS; i++) {
		if (lists[i].at == (void *)page)
			fail_msg("a page is freed that the device reads");
	}
	fake.list_pages--;
	free((void *)page);
}

void copy_highpage(struct page *to, struct page *from)
{
	to->contents = from->contents;
}

/* ---- The pool ------------------------------------------------------------ */

static unsigned int kind_of(struct agate_pool_key key)
{
	return (key.caching * 2 + key.dma32) * AGATE_POOL_ORDERS + key.order;
}

struct page *agate_pool_take(struct agate_pool *pool, struct agate_pool_key key)
{
	static u64 next = 1;
	struct page *block;
	unsigned int i;

	assert_ptr_equal(pool, &fake_device.pages.pool);
	assert_true(key.order < AGATE_POOL_ORDERS);
	if (key.order > fake.largest || fails())
		return NULL;
	block = calloc(1u << key.order, sizeof(*block));
	block->kind = 1 + kind_of(key);
	for (i = 0; i < 1u << key.order; i++)
		block[i].dma = next++ << PAGE_SHIFT;
	fake.pages += 1l << key.order;
	return block;
}

void agate_pool_give(struct agate_pool *pool, struct page *page, struct agate_pool_key key)
{
	assert_ptr_equal(pool, &fake_device.pages.pool);
	if (page->kind != 1 + kind_of(key))
		fail_msg("a block is given back as one of another kind");
	assert_int_equal(page->private, 0);
	fake.pages -= 1l << key.order;
	free(page);
}

/* ---- The limit ----------------------------------------------------------- */

int agate_limit_charge(struct agate_device *adev, unsigned long n, bool dma32,
		       struct agate_ttm_ctx *ctx)
{
	assert_ptr_equal(adev, &fake_device);
	assert_non_null(ctx);
	if (fails())
		return -ENOMEM;
	fake.charged[dma32] += n;
	return 0;
}

void agate_limit_uncharge(unsigned long n, bool dma32)
{
	fake.charged[dma32] -= n;
}

/* ---- Files ---------------------------------------------------------------- */

struct file *shmem_file_setup(const char *name, s64 size, unsigned long flags)
{
	struct file *file;

	(void)flags;
	assert_non_null(name);
	if (fails())
		return ERR_PTR(-ENOMEM);
	file = calloc(1, sizeof(*file));
	file->f_mapping = &file->mapping;
	file->mapping.count = size >> PAGE_SHIFT;
	file->mapping.pages = calloc(file->mapping.count, sizeof(struct page));
	fake.files++;
	return file;
}

/* Without that flag the kernel may kill somebody for one page. */
struct page *shmem_read_mapping_page_gfp(struct address_space *mapping, unsigned long index,
					 unsigned int gfp)
{
	assert_int_equal(gfp, mapping_gfp_mask(mapping) | __GFP_RETRY_MAYFAIL | __GFP_NOWARN);
	if (fails())
		return ERR_PTR(-EIO);
	assert_true(index < mapping->count);
	mapping->pages[index].refs++;
	fake.page_refs++;
	return &mapping->pages[index];
}

void set_page_dirty(struct page *page)
{
	assert_true(page->refs > 0);
	page->dirty = true;
}

void mark_page_accessed(struct page *page)
{
	assert_true(page->refs > 0);
}

/* A clean page may go at once, and come back as it was. */
void put_page(struct page *page)
{
	assert_true(page->refs > 0);
	fake.page_refs--;
	if (--page->refs)
		return;
	if (page->dirty)
		page->stored = page->contents;
	page->contents = page->stored;
	page->dirty = false;
}

void fput(struct file *file)
{
	fake.files--;
	free(file->mapping.pages);
	free(file);
}

/* ---- DMA ------------------------------------------------------------------- */

int sg_alloc_table_from_pages_segment(struct sg_table *sgt, struct page **pages,
				      unsigned int count, unsigned int offset, unsigned long size,
				      unsigned int segment, int gfp)
{
	(void)segment;
	(void)gfp;
	assert_int_equal(offset, 0);
	assert_int_equal(size, (unsigned long)count << PAGE_SHIFT);
	if (fails())
		return -ENOMEM;
	sgt->pages = calloc(count, sizeof(*pages));
	memcpy(sgt->pages, pages, count * sizeof(*pages));
	sgt->count = count;
	sgt->mapped = false;
	fake.tables++;
	return 0;
}

void sg_free_table(struct sg_table *sgt)
{
	if (sgt->mapped)
		fail_msg("a table is freed that is mapped");
	fake.tables--;
	free(sgt->pages);
	memset(sgt, 0, sizeof(*sgt));
}

int dma_map_sgtable(struct device *dev, struct sg_table *sgt, enum dma_data_direction dir,
		    unsigned long attrs)
{
	(void)attrs;
	assert_ptr_equal(dev, &pdev.dev);
	assert_int_equal(dir, DMA_BIDIRECTIONAL);
	if (fails())
		return fake.map_error;
	sgt->mapped = true;
	fake.maps++;
	return 0;
}

void dma_unmap_sgtable(struct device *dev, struct sg_table *sgt, enum dma_data_direction dir,
		       unsigned long attrs)
{
	(void)attrs;
	assert_ptr_equal(dev, &pdev.dev);
	assert_int_equal(dir, DMA_BIDIRECTIONAL);
	if (!sgt->mapped)
		fail_msg("a table is unmapped that is not mapped");
	sgt->mapped = false;
	fake.maps--;
}

dma_addr_t dma_map_single(struct device *dev, void *at, size_t size, enum dma_data_direction dir)
{
	unsigned int i;

	assert_ptr_equal(dev, &pdev.dev);
	assert_int_equal(size, PAGE_SIZE);
	assert_int_equal(dir, DMA_TO_DEVICE);
	if (fails())
		return NO_ADDR;
	for (i = 0; lists[i].at; i++)
		assert_true(i < LISTS - 1);
	lists[i].at = at;
	memcpy(lists[i].view, at, PAGE_SIZE);
	fake.lists++;
	return LIST_ADDR + i * PAGE_SIZE;
}

int dma_mapping_error(struct device *dev, dma_addr_t addr)
{
	assert_ptr_equal(dev, &pdev.dev);
	return addr == NO_ADDR ? -ENOMEM : 0;
}

void dma_unmap_single(struct device *dev, dma_addr_t addr, size_t size,
		      enum dma_data_direction dir)
{
	const u64 i = (addr - LIST_ADDR) / PAGE_SIZE;

	assert_ptr_equal(dev, &pdev.dev);
	assert_int_equal(size, PAGE_SIZE);
	assert_int_equal(dir, DMA_TO_DEVICE);
	if (i >= LISTS || !lists[i].at)
		fail_msg("a list is unmapped that is not mapped");
	lists[i].at = NULL;
	fake.lists--;
}

const __le64 *fake_list(dma_addr_t addr)
{
	const u64 i = (addr - LIST_ADDR) / PAGE_SIZE;

	return i < LISTS && lists[i].at ? lists[i].view : NULL;
}

bool agate_sgt_needs_sync(struct agate_device *adev, struct sg_table *sgt)
{
	assert_ptr_equal(adev, &fake_device);
	assert_true(sgt->mapped);
	return fake.bounces;
}

/* ---- The device ------------------------------------------------------------ */

bool drm_dev_enter(struct drm_device *drm, int *idx)
{
	*idx = 7;
	drm->inside += !drm->unplugged;
	return !drm->unplugged;
}

void drm_dev_exit(int idx)
{
	assert_int_equal(idx, 7);
	fake_device.drm.inside--;
}

void agate_park(struct agate_park *park, struct agate_parked *entry, struct dma_fence *fence,
		void (*release)(struct agate_parked *parked))
{
	assert_ptr_equal(park, &fake_device.ttm.park);
	assert_false(fake_device.ttm.lru_lock.locked);
	entry->fence = fence;
	entry->release = release;
	parked[parked_count++ % 64] = entry;
}

/* Somebody may look for the pages, and wait for the fence, at once. */
void agate_limit_parked(void)
{
	const struct agate_parked *last = parked[(parked_count - 1) % 64];
	const struct agate_tt *tt = container_of(last, struct agate_tt, parked);

	assert_true(parked_count > 0);
	assert_ptr_equal(fake_device.pages.parked.prev, &tt->link);
	fake.told++;
}

void fake_signal(void)
{
	unsigned int i;

	for (i = 0; i < parked_count; i++)
		parked[i]->release(parked[i]);
	parked_count = 0;
}
