// SPDX-License-Identifier: GPL-2.0-only
/*
 * Placed BOs as the kernel itself sees them: by a mapping of the kind that fits the place.
 *
 * The contract is agate_kmap.h.
 */
#include <linux/io.h>
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include "agate_device.h"
#include "agate_kmap.h"
#include "agate_pages.h"
#include "agate_placement.h"
#include "agate_tt.h"
#include "agate_ttm.h"

static struct agate_stats *stats_of(const struct agate_resource *res)
{
	return &res->man->adev->stats;
}

/* A second mapping of the same bytes has to be of the caching that the first one has. */
static int map_vram(const struct agate_io *io, u64 offset, u64 size, struct agate_kmap *map)
{
	void __iomem *at;

	if (io->vaddr) {
		map->kind = AGATE_KMAP_PREMAPPED;
		iosys_map_set_vaddr_iomem(&map->at, io->vaddr + offset);
		return 0;
	}
	if (io->caching == AGATE_CACHING_WC)
		at = ioremap_wc(io->base + offset, size);
	else
		at = ioremap(io->base + offset, size);
	if (!at)
		return -ENOMEM;
	map->kind = AGATE_KMAP_IOMEM;
	iosys_map_set_vaddr_iomem(&map->at, at);
	return 0;
}

/* A page is never high memory here, so its address is what kmap() would return. */
static int map_pages(struct page **pages, unsigned long n, u8 caching, struct agate_kmap *map)
{
	void *at;

	if (n == 1 && caching == AGATE_CACHING_WB) {
		map->kind = AGATE_KMAP_PAGE;
		iosys_map_set_vaddr(&map->at, page_address(*pages));
		return 0;
	}
	at = vmap(pages, n, VM_MAP, agate_caching_prot(caching, PAGE_KERNEL));
	if (!at)
		return -ENOMEM;
	map->kind = AGATE_KMAP_VMAP;
	iosys_map_set_vaddr(&map->at, at);
	return 0;
}

int agate_kmap(struct agate_ttm_bo *bo, unsigned long first, unsigned long n,
	       struct agate_kmap *map)
{
	const unsigned long count = bo->size >> PAGE_SHIFT;
	struct agate_resource *res = bo->res;
	int ret;

	*map = (struct agate_kmap){ .kind = AGATE_KMAP_NONE };
	if (!res || !n || first >= count || n > count - first)
		return -EINVAL;
	ret = agate_io_reserve(res);
	if (ret)
		return ret;
	if (res->io.iomem)
		ret = map_vram(&res->io, (u64)first << PAGE_SHIFT, (u64)n << PAGE_SHIFT, map);
	else
		ret = map_pages(bo->tt->pages + first, n, bo->caching, map);
	if (ret) {
		agate_io_free(res);
		return ret;
	}
	map->res = res;
	agate_stat_inc(stats_of(res), AGATE_STAT_KMAPS);
	return 0;
}

void agate_kunmap(struct agate_kmap *map)
{
	switch (map->kind) {
	case AGATE_KMAP_NONE:
		return;
	case AGATE_KMAP_VMAP:
		vunmap(map->at.vaddr);
		break;
	case AGATE_KMAP_IOMEM:
		iounmap(map->at.vaddr_iomem);
		break;
	default:
		break;	/* it was there before */
	}
	agate_stat_dec(stats_of(map->res), AGATE_STAT_KMAPS);
	agate_io_free(map->res);
	*map = (struct agate_kmap){ .kind = AGATE_KMAP_NONE };
}
