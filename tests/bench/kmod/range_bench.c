// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures how fast the driver's range allocator frees and allocates ranges, compared with
 * the kernel's drm_mm; bench.sh runs it.
 *
 * Reading /sys/kernel/debug/agate_range_bench runs the benchmark and gives one JSON object
 * per line, like the other benchmarks.  Both allocators get the same calls, in turns: a
 * number of nodes lies between holes of all sizes, and each step frees a random node and
 * allocates another size for it.
 */
#include <linux/debugfs.h>
#include <linux/kernel.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include <drm/drm_mm.h>

#include "agate_range.h"

#define ROUNDS		31
#define STEPS		4096
#define MAX_PAGES	16

/* Twice as many nodes as stay would be a quarter of the space, at the largest size. */
#define SPACE_START	SZ_1G
#define SPACE_BYTES(n)	((u64)(n) * 8 * MAX_PAGES * SZ_4K)

static const unsigned int counts[] = { 10, 100, 1000, 10000, 100000 };

enum side { AGATE, DRM, SIDES };

static const struct {
	const char *name;
	enum agate_range_mode agate;
	enum drm_mm_insert_mode drm;
} modes[] = {
	{ "best", AGATE_RANGE_BEST, DRM_MM_INSERT_BEST },
	{ "low", AGATE_RANGE_LOW, DRM_MM_INSERT_LOW },
	{ "high", AGATE_RANGE_HIGH, DRM_MM_INSERT_HIGH },
};

/* One allocator with its nodes, and the random numbers that choose its next call. */
struct space {
	enum side side;
	unsigned int mode;
	unsigned int count;
	u64 random;
	struct agate_range range;
	struct agate_range_node *nodes;
	struct drm_mm mm;
	struct drm_mm_node *mm_nodes;
	u64 samples[ROUNDS];
};

static u32 random_below(struct space *s, u32 limit)
{
	s->random ^= s->random << 13;
	s->random ^= s->random >> 7;
	s->random ^= s->random << 17;
	return mul_u32_u32(s->random >> 32, limit) >> 32;
}

static int insert(struct space *s, unsigned int i)
{
	u64 size = (u64)(1 + random_below(s, MAX_PAGES)) * SZ_4K;

	if (s->side == AGATE)
		return agate_range_insert(&s->range, &s->nodes[i], size, SZ_4K, 0, U64_MAX,
					  modes[s->mode].agate);
	return drm_mm_insert_node_in_range(&s->mm, &s->mm_nodes[i], size, SZ_4K, 0, 0, U64_MAX,
					   modes[s->mode].drm);
}

static void remove(struct space *s, unsigned int i)
{
	if (s->side == AGATE)
		agate_range_remove(&s->range, &s->nodes[i]);
	else
		drm_mm_remove_node(&s->mm_nodes[i]);
}

static bool allocated(const struct space *s, unsigned int i)
{
	return s->side == AGATE ? agate_range_node_allocated(&s->nodes[i]) :
				  drm_mm_node_allocated(&s->mm_nodes[i]);
}

static void space_fini(struct space *s)
{
	unsigned int i;

	for (i = 0; (s->nodes || s->mm_nodes) && i < 2 * s->count; i++) {
		if (allocated(s, i))
			remove(s, i);
		cond_resched();
	}
	kvfree(s->nodes);
	kvfree(s->mm_nodes);
	if (s->side == AGATE)
		WARN_ON(agate_range_fini(&s->range));
	else
		drm_mm_takedown(&s->mm);
}

/* Insert twice as many as there will be, and remove every other one. */
static int space_init(struct space *s, enum side which, unsigned int mode, unsigned int count)
{
	unsigned int i;
	int ret = 0;

	*s = (struct space) { .side = which, .mode = mode, .count = count, .random = 1 + count };
	if (which == AGATE) {
		agate_range_init(&s->range, SPACE_START, SPACE_BYTES(count));
		s->nodes = kvcalloc(2 * count, sizeof(*s->nodes), GFP_KERNEL);
	} else {
		drm_mm_init(&s->mm, SPACE_START, SPACE_BYTES(count));
		s->mm_nodes = kvcalloc(2 * count, sizeof(*s->mm_nodes), GFP_KERNEL);
	}
	if (!s->nodes && !s->mm_nodes)
		ret = -ENOMEM;
	for (i = 0; i < 2 * count && !ret; i++) {
		ret = insert(s, i);
		cond_resched();
	}
	for (i = 1; i < 2 * count && !ret; i += 2)
		remove(s, i);
	return ret;
}

static int measure(struct space *s, unsigned int round)
{
	u64 start = ktime_get_ns();
	unsigned int step;

	for (step = 0; step < STEPS; step++) {
		unsigned int i = 2 * random_below(s, s->count);
		int ret;

		remove(s, i);
		ret = insert(s, i);
		if (ret)
			return ret;
	}
	s->samples[round] = div64_u64((u64)STEPS * NSEC_PER_SEC, ktime_get_ns() - start);
	return 0;
}

static void print(struct seq_file *m, const struct space *s)
{
	static const char * const name[SIDES] = { "range", "drm_mm" };
	unsigned int i;

	seq_printf(m, "{\"name\": \"%s_%s_%u\", \"unit\": \"pairs/s\", ", name[s->side],
		   modes[s->mode].name, s->count);
	if (s->side == AGATE)
		seq_printf(m, "\"against\": \"%s_%s_%u\", ", name[DRM], modes[s->mode].name,
			   s->count);
	seq_puts(m, "\"samples\": [");
	for (i = 0; i < ROUNDS; i++)
		seq_printf(m, "%s%llu", i ? ", " : "", s->samples[i]);
	seq_puts(m, "]}\n");
}

static int bench(struct seq_file *m, struct space *spaces, unsigned int mode, unsigned int count)
{
	enum side side;
	unsigned int i;
	int ret = 0;

	for (side = 0; side < SIDES; side++) {
		int err = space_init(&spaces[side], side, mode, count);

		ret = ret ? ret : err;
	}
	for (i = 0; i < ROUNDS * SIDES && !ret; i++) {
		ret = measure(&spaces[i % SIDES], i / SIDES);
		cond_resched();
	}
	for (side = 0; side < SIDES; side++) {
		if (!ret)
			print(m, &spaces[side]);
		space_fini(&spaces[side]);
	}
	return ret;
}

static int show(struct seq_file *m, void *unused)
{
	struct space *spaces = kcalloc(SIDES, sizeof(*spaces), GFP_KERNEL);
	unsigned int mode;
	unsigned int i;
	int ret = spaces ? 0 : -ENOMEM;

	for (mode = 0; mode < ARRAY_SIZE(modes); mode++) {
		for (i = 0; i < ARRAY_SIZE(counts) && !ret; i++)
			ret = bench(m, spaces, mode, counts[i]);
	}
	kfree(spaces);
	return ret;
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

static int __init agate_range_bench_init(void)
{
	file = debugfs_create_file("agate_range_bench", 0400, NULL, NULL, &fops);
	return 0;
}

static void __exit agate_range_bench_exit(void)
{
	debugfs_remove(file);
}

module_init(agate_range_bench_init);
module_exit(agate_range_bench_exit);

MODULE_DESCRIPTION("Agate's range allocator beside drm_mm");
MODULE_LICENSE("GPL");
