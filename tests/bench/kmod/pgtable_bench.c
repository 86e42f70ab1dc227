// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures how fast the driver's page tables map and unmap, compared with the kernel's
 * io-pgtable; bench.sh runs it.
 *
 * Reading /sys/kernel/debug/agate_pgtable_bench runs the benchmark and gives one JSON
 * object per line, like the other benchmarks.  Both make the same calls on a new table,
 * in turns; nothing flushes a TLB.  The module checks that the mappings exist, and that
 * they are gone, outside the measured time. io-pgtable keeps empty page tables until the
 * whole is destroyed; the driver's unmap frees them, and the measured time includes that.
 */
#include <linux/debugfs.h>
#include <linux/dma-mapping.h>
#include <linux/err.h>
#include <linux/math64.h>
#include <linux/module.h>
#include <linux/platform_device.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include "pgtable_bench.h"

#define ROUNDS		41
#define FIRST_VA	0x10000000ull
#define FIRST_PA	0x80000000ull

/*
 * The mappings: a number of calls, each of a number of pages.  Multiplying by an odd
 * factor visits a power of two of calls in a scattered order.
 */
struct work {
	const char *name;
	size_t page;
	size_t count;
	unsigned int calls;
	unsigned int va_factor;
	unsigned int pa_factor;
};

static const struct work works[] = {
	{ "4k", SZ_4K, 256, 64, 1, 1 },
	{ "2m", SZ_2M, 8, 64, 1, 1 },
	{ "4k_scattered", SZ_4K, 1, 4096, 1597, 2531 },
};

static const char * const format_name[FORMATS] = { "lpae", "aarch64" };

enum side { AGATE, IOPGTABLE, SIDES };

static const struct maker * const makers[SIDES] = { &maker_agate, &maker_iopgtable };

/* Pages a second. */
struct samples {
	u64 map[SIDES][ROUNDS];
	u64 unmap[SIDES][ROUNDS];
};

static struct platform_device *pdev;

static u64 call_va(const struct work *w, unsigned int call)
{
	return FIRST_VA + call * w->va_factor % w->calls * w->count * w->page;
}

/* One page off the alignment that would allow larger leaves. */
static u64 call_pa(const struct work *w, unsigned int call)
{
	u64 shift = w->page == SZ_4K ? SZ_4K : 0;

	return FIRST_PA + shift + call * w->pa_factor % w->calls * w->count * w->page;
}

static u64 rate(const struct work *w, u64 start)
{
	return div64_u64((u64)w->calls * w->count * NSEC_PER_SEC, ktime_get_ns() - start);
}

/* Is the last page of every call mapped, and to the right place?  Or is none of them mapped? */
static int check(const struct work *w, const struct maker *maker, void *table, bool mapped)
{
	unsigned int i;

	for (i = 0; i < w->calls; i++) {
		u64 last = (w->count - 1) * w->page;
		u64 pa;

		if (maker->translate(table, call_va(w, i) + last, &pa) != mapped ||
		    (mapped && pa != call_pa(w, i) + last))
			return -EINVAL;
	}
	return 0;
}

static int measure(const struct work *w, const struct maker *maker, void *table,
		   u64 *map_rate, u64 *unmap_rate)
{
	unsigned int i;
	u64 start;
	int ret;

	start = ktime_get_ns();
	for (i = 0; i < w->calls; i++) {
		ret = maker->map(table, call_va(w, i), call_pa(w, i), w->page, w->count);
		if (ret)
			return ret;
	}
	*map_rate = rate(w, start);
	ret = check(w, maker, table, true);
	if (ret)
		return ret;

	start = ktime_get_ns();
	for (i = 0; i < w->calls; i++) {
		ret = maker->unmap(table, call_va(w, i), w->page, w->count);
		if (ret)
			return ret;
	}
	*unmap_rate = rate(w, start);
	return check(w, maker, table, false);
}

static void print(struct seq_file *m, enum format format, const struct work *w,
		  const char *what, u64 rates[SIDES][ROUNDS])
{
	static const char * const suffix[SIDES] = { "", "_io" };
	enum side side;
	unsigned int i;

	for (side = 0; side < SIDES; side++) {
		seq_printf(m, "{\"name\": \"%s_%s_%s%s\", \"unit\": \"pages/s\", ",
			   format_name[format], what, w->name, suffix[side]);
		if (side == AGATE)
			seq_printf(m, "\"against\": \"%s_%s_%s%s\", ", format_name[format],
				   what, w->name, suffix[IOPGTABLE]);
		seq_puts(m, "\"samples\": [");
		for (i = 0; i < ROUNDS; i++)
			seq_printf(m, "%s%llu", i ? ", " : "", rates[side][i]);
		seq_puts(m, "]}\n");
	}
}

static int bench(struct seq_file *m, enum format format, const struct work *w)
{
	struct samples *samples = kzalloc(sizeof(*samples), GFP_KERNEL);
	unsigned int i;
	int ret = 0;

	if (!samples)
		return -ENOMEM;
	for (i = 0; i < ROUNDS * SIDES && !ret; i++) {
		enum side side = i % SIDES;
		void *table = makers[side]->create(&pdev->dev, format);

		if (!table) {
			ret = -ENOMEM;
			break;
		}
		ret = measure(w, makers[side], table, &samples->map[side][i / SIDES],
			      &samples->unmap[side][i / SIDES]);
		makers[side]->destroy(table);
		cond_resched();
	}
	if (!ret) {
		print(m, format, w, "map", samples->map);
		print(m, format, w, "unmap", samples->unmap);
	}
	kfree(samples);
	return ret;
}

static int show(struct seq_file *m, void *unused)
{
	enum format format;
	unsigned int i;
	int ret;

	for (format = 0; format < FORMATS; format++) {
		for (i = 0; i < ARRAY_SIZE(works); i++) {
			ret = bench(m, format, &works[i]);
			if (ret)
				return ret;
		}
	}
	return 0;
}

/* The buffer holds all of it: if it did not, seq_file would run the benchmark again. */
static int open(struct inode *inode, struct file *filp)
{
	return single_open_size(filp, show, NULL, SZ_64K);
}

static const struct file_operations fops = {
	.owner = THIS_MODULE,
	.open = open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
};

static struct dentry *file;

static int __init agate_pgtable_bench_init(void)
{
	int ret;

	pdev = platform_device_register_simple("agate_pgtable_bench", PLATFORM_DEVID_NONE,
					       NULL, 0);
	if (IS_ERR(pdev))
		return PTR_ERR(pdev);
	ret = dma_coerce_mask_and_coherent(&pdev->dev, DMA_BIT_MASK(40));
	if (ret) {
		platform_device_unregister(pdev);
		return ret;
	}
	file = debugfs_create_file("agate_pgtable_bench", 0400, NULL, NULL,
				   &fops);
	return 0;
}

static void __exit agate_pgtable_bench_exit(void)
{
	debugfs_remove(file);
	platform_device_unregister(pdev);
}

module_init(agate_pgtable_bench_init);
module_exit(agate_pgtable_bench_exit);

MODULE_DESCRIPTION("Agate's page tables beside io-pgtable");
MODULE_LICENSE("GPL");
