// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver's page tables, with pages as kernel/agate_table.c gets them for a GPU that
 * walks coherently: it maps nothing for DMA, and only has to keep the order of writes.
 */
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "agate_pgtable.h"
#include "agate_regs.h"
#include "pgtable_bench.h"

static struct agate_pgtable_page *page_alloc(void *ctx, bool last)
{
	struct agate_pgtable_page *page = kzalloc(sizeof(*page), GFP_KERNEL);

	if (!page)
		return NULL;
	page->entries = (__le64 *)__get_free_pages(GFP_KERNEL | __GFP_ZERO, !last);
	if (!page->entries) {
		kfree(page);
		return NULL;
	}
	if (!last)
		page->child = (void *)(page->entries + AGATE_PT_ENTRIES);
	page->phys = virt_to_phys(page->entries);
	return page;
}

static void page_free(void *ctx, struct agate_pgtable_page *page)
{
	free_pages((unsigned long)page->entries, page->child ? 1 : 0);
	kfree(page);
}

static void page_sync(void *ctx, struct agate_pgtable_page *page, unsigned int first,
		      unsigned int count)
{
	dma_wmb();
}

static const struct agate_pgtable_mem mem = {
	.alloc = page_alloc,
	.free = page_free,
	.sync = page_sync,
};

static void *create(struct device *dev, enum format format)
{
	struct agate_pgtable *pgt = kzalloc(sizeof(*pgt), GFP_KERNEL);

	if (!pgt)
		return NULL;
	if (!agate_pgtable_init(pgt, format == FORMAT_LPAE ? &agate_pgtable_lpae :
				&agate_pgtable_aarch64, &mem, NULL))
		return pgt;
	kfree(pgt);
	return NULL;
}

static int map(void *table, u64 va, u64 pa, size_t page, size_t count)
{
	return agate_pgtable_map(table, va, pa, page * count,
				 AGATE_PROT_READ | AGATE_PROT_WRITE | AGATE_PROT_NOEXEC);
}

static int unmap(void *table, u64 va, size_t page, size_t count)
{
	LIST_HEAD(gone);
	int ret = agate_pgtable_unmap(table, va, page * count, &gone);

	agate_pgtable_free_list(table, &gone);
	return ret;
}

static bool translate(void *table, u64 va, u64 *pa)
{
	return !agate_pgtable_translate(table, va, pa, NULL);
}

static void destroy(void *table)
{
	agate_pgtable_fini(table);
	kfree(table);
}

const struct maker maker_agate = {
	.create = create,
	.map = map,
	.unmap = unmap,
	.translate = translate,
	.destroy = destroy,
};
