/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Two makers of the same page tables, measured side by side.
 */
#ifndef AGATE_PGTABLE_BENCH_H
#define AGATE_PGTABLE_BENCH_H

#include <linux/types.h>

struct device;

enum format {
	FORMAT_LPAE,
	FORMAT_AARCH64,
	FORMATS,
};

/**
 * struct maker - an implementation of page tables
 * @create: an empty table, or NULL; the device walks it coherently
 * @map: @count pages of @page bytes each, from @va and from @pa on
 * @unmap: the same range; may free table pages that are no longer needed
 * @translate: the address to which @va is mapped; false when it is not mapped
 * @destroy: a table that no longer maps anything
 */
struct maker {
	void *(*create)(struct device *dev, enum format format);
	int (*map)(void *table, u64 va, u64 pa, size_t page, size_t count);
	int (*unmap)(void *table, u64 va, size_t page, size_t count);
	bool (*translate)(void *table, u64 va, u64 *pa);
	void (*destroy)(void *table);
};

extern const struct maker maker_agate;
extern const struct maker maker_iopgtable;

#endif /* AGATE_PGTABLE_BENCH_H */
