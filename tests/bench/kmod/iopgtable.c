// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's own page tables for Arm's IOMMUs and Mali GPUs, as Panfrost has them.
 */
#include <linux/io-pgtable.h>
#include <linux/sizes.h>

#include "pgtable_bench.h"

static void flush_all(void *cookie)
{
}

static void flush_walk(unsigned long iova, size_t size, size_t granule, void *cookie)
{
}

static const struct iommu_flush_ops flush_ops = {
	.tlb_flush_all = flush_all,
	.tlb_flush_walk = flush_walk,
};

static void *create(struct device *dev, enum format format)
{
	struct io_pgtable_cfg cfg = {
		.pgsize_bitmap = SZ_4K | SZ_2M,
		.ias = 48,
		.oas = 40,
		.coherent_walk = true,
		.tlb = &flush_ops,
		.iommu_dev = dev,
	};

	return alloc_io_pgtable_ops(format == FORMAT_LPAE ? ARM_MALI_LPAE : ARM_64_LPAE_S1,
				    &cfg, NULL);
}

/* One call maps at most as much as one table holds. */
static int map(void *table, u64 va, u64 pa, size_t page, size_t count)
{
	struct io_pgtable_ops *ops = table;

	while (count) {
		size_t mapped = 0;
		int ret = ops->map_pages(ops, va, pa, page, count, IOMMU_READ | IOMMU_WRITE |
					 IOMMU_CACHE | IOMMU_NOEXEC, GFP_KERNEL, &mapped);

		if (ret)
			return ret;
		va += mapped;
		pa += mapped;
		count -= mapped / page;
	}
	return 0;
}

static int unmap(void *table, u64 va, size_t page, size_t count)
{
	struct io_pgtable_ops *ops = table;

	while (count) {
		size_t unmapped = ops->unmap_pages(ops, va, page, count, NULL);

		if (!unmapped)
			return -ENOENT;
		va += unmapped;
		count -= unmapped / page;
	}
	return 0;
}

static bool translate(void *table, u64 va, u64 *pa)
{
	struct io_pgtable_ops *ops = table;

	*pa = ops->iova_to_phys(ops, va);
	return *pa;
}

static void destroy(void *table)
{
	free_io_pgtable_ops(table);
}

const struct maker maker_iopgtable = {
	.create = create,
	.map = map,
	.unmap = unmap,
	.translate = translate,
	.destroy = destroy,
};
