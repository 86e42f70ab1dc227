// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measures how fast the driver inserts memory into the card's global table and removes it, compared
 * with the kernel's drm_mm and a loop that writes the same entries; bench.sh runs it.
 *
 * Reading /sys/kernel/debug/agate_ggtt_bench runs the benchmark and gives one JSON object per
 * line.  The table is in memory of this module, so no card slows either side down.  As in
 * range_bench.c, nodes lie between holes of all sizes, and each step removes a random node and
 * inserts another one.
 */
#include <linux/debugfs.h>
#include <linux/math64.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/timekeeping.h>

#include <drm/drm_mm.h>

#include "agate_card.h"
#include "agate_ggtt.h"
#include "agate_kmem.h"

#define ROUNDS		31
#define STEPS		2048
#define MAX_PAGES	16
#define USABLE_START	0x00800000u
#define USABLE_END	0x0fe00000u

static const unsigned int counts[] = { 10, 100, 1000 };

enum side { AGATE, DRM, SIDES };

/**
 * struct table - one side, with the random numbers that choose its next call
 * @gsm: the entries
 * @kmems: of our side; those with a node are inserted
 * @nodes: of the other; NULL are removed
 */
struct table {
	enum side side;
	unsigned int count;
	u64 random;
	u64 *gsm;
	struct agate_ggtt ggtt;
	struct agate_kmem scratch;
	struct agate_kmem *kmems;
	struct mutex lock;	/* @mm and @gsm */
	struct drm_mm mm;
	struct drm_mm_node **nodes;
	u64 samples[ROUNDS];
};

/* ---- Our side ---------------------------------------------------------- */

static struct table *table_of(struct agate_ggtt *g)
{
	return container_of(g, struct table, ggtt);
}

static u32 read_reg(struct agate_ggtt *g, u32 reg)
{
	switch (reg) {
	case GGTT_ENTRIES:
		return AGATE_GGTT_NUM_ENTRIES;
	case GGTT_RESERVED_MAX:
		return USABLE_START;
	case GGTT_USABLE_END:
		return USABLE_END;
	default:
		return 0;
	}
}

static void write_reg(struct agate_ggtt *g, u32 reg, u32 value)
{
}

static void write_gsm(struct agate_ggtt *g, u32 index, u64 pte)
{
	WRITE_ONCE(table_of(g)->gsm[index], pte);
}

static void flush_gsm(struct agate_ggtt *g)
{
	/* As the driver does before the card reads the entries. */
	wmb();
}

static bool enter(struct agate_ggtt *g, int *idx)
{
	*idx = 0;
	return true;
}

static void leave(struct agate_ggtt *g, int idx)
{
}

static void stay_awake(struct agate_ggtt *g)
{
}

static bool stay_if_awake(struct agate_ggtt *g)
{
	return true;
}

static void queue(struct agate_ggtt *g, struct agate_ggtt_node *node)
{
	WARN_ON(1);
}

static struct agate_ggtt_node *node_alloc(struct agate_ggtt *g)
{
	return kzalloc(sizeof(struct agate_ggtt_node), GFP_KERNEL);
}

static void node_free(struct agate_ggtt *g, struct agate_ggtt_node *node)
{
	kfree(node);
}

static struct agate_kmem *scratch_create(struct agate_ggtt *g, bool vram)
{
	return &table_of(g)->scratch;
}

static void scratch_destroy(struct agate_ggtt *g, struct agate_kmem *scratch)
{
}

static const struct agate_ggtt_ops ops = {
	.read = read_reg,
	.write = write_reg,
	.write_gsm = write_gsm,
	.flush_gsm = flush_gsm,
	.enter = enter,
	.exit = leave,
	.get = stay_awake,
	.get_if_awake = stay_if_awake,
	.put = stay_awake,
	.queue = queue,
	.node_alloc = node_alloc,
	.node_free = node_free,
	.scratch_create = scratch_create,
	.scratch_destroy = scratch_destroy,
};

/* ---- The other one ----------------------------------------------------- */

static void write_entries(struct table *t, const struct drm_mm_node *node, u64 addr, u64 step)
{
	u64 i;

	for (i = 0; i < node->size; i++)
		WRITE_ONCE(t->gsm[node->start + i],
			   AGATE_GGTT_PRESENT | AGATE_GGTT_VRAM | (addr + i * step));
	/* As flush_gsm(). */
	wmb();
}

static int mm_insert(struct table *t, unsigned int i, u64 pages)
{
	struct drm_mm_node *node = kzalloc(sizeof(*node), GFP_KERNEL);
	int ret;

	if (!node)
		return -ENOMEM;
	mutex_lock(&t->lock);
	ret = drm_mm_insert_node_in_range(&t->mm, node, pages, 1, 0, 0, U64_MAX,
					  DRM_MM_INSERT_BEST);
	if (!ret)
		write_entries(t, node, (u64)i * MAX_PAGES * AGATE_GGTT_PAGE_SIZE,
			      AGATE_GGTT_PAGE_SIZE);
	mutex_unlock(&t->lock);
	if (ret)
		kfree(node);
	else
		t->nodes[i] = node;
	return ret;
}

static void mm_remove(struct table *t, unsigned int i)
{
	mutex_lock(&t->lock);
	write_entries(t, t->nodes[i], 0, 0);
	drm_mm_remove_node(t->nodes[i]);
	mutex_unlock(&t->lock);
	kfree(t->nodes[i]);
	t->nodes[i] = NULL;
}

/* ---- Both -------------------------------------------------------------- */

static u32 random_below(struct table *t, u32 limit)
{
	t->random ^= t->random << 13;
	t->random ^= t->random >> 7;
	t->random ^= t->random << 17;
	return mul_u32_u32(t->random >> 32, limit) >> 32;
}

static int insert(struct table *t, unsigned int i)
{
	u64 pages = 1 + random_below(t, MAX_PAGES);

	if (t->side == DRM)
		return mm_insert(t, i, pages);
	t->kmems[i].size = pages * AGATE_GGTT_PAGE_SIZE;
	return agate_ggtt_insert(&t->ggtt, &t->kmems[i], 0, U64_MAX);
}

static bool is_inserted(const struct table *t, unsigned int i)
{
	return t->side == DRM ? t->nodes && t->nodes[i] : t->kmems && t->kmems[i].node;
}

static void remove(struct table *t, unsigned int i)
{
	if (t->side == DRM)
		mm_remove(t, i);
	else
		agate_ggtt_node_remove(t->kmems[i].node, true);
}

static void table_fini(struct table *t)
{
	unsigned int i;

	for (i = 0; i < 2 * t->count; i++) {
		if (is_inserted(t, i))
			remove(t, i);
	}
	if (t->side == DRM)
		drm_mm_takedown(&t->mm);
	else
		WARN_ON(agate_ggtt_fini(&t->ggtt));
	kvfree(t->nodes);
	kvfree(t->kmems);
	kvfree(t->gsm);
}

static int begin(struct table *t)
{
	unsigned int i;
	int ret;

	if (t->side == DRM) {
		mutex_init(&t->lock);
		drm_mm_init(&t->mm, USABLE_START / AGATE_GGTT_PAGE_SIZE,
			    (USABLE_END - USABLE_START) / AGATE_GGTT_PAGE_SIZE);
		t->nodes = kvcalloc(2 * t->count, sizeof(*t->nodes), GFP_KERNEL);
		return t->gsm && t->nodes ? 0 : -ENOMEM;
	}
	t->ggtt.ops = &ops;
	ret = agate_ggtt_init_early(&t->ggtt);
	t->kmems = kvcalloc(2 * t->count, sizeof(*t->kmems), GFP_KERNEL);
	if (ret || !t->kmems || !t->gsm)
		return ret ? ret : -ENOMEM;
	for (i = 0; i < 2 * t->count; i++) {
		t->kmems[i].vram = true;
		t->kmems[i].addr = (u64)i * MAX_PAGES * AGATE_GGTT_PAGE_SIZE;
	}
	t->scratch.vram = true;
	return agate_ggtt_init(&t->ggtt);
}

/* Insert twice as many as there will be, and remove every other one. */
static int table_init(struct table *t, enum side which, unsigned int count)
{
	unsigned int i;
	int ret;

	*t = (struct table) { .side = which, .count = count, .random = 1 + count };
	t->gsm = kvcalloc(AGATE_GGTT_NUM_ENTRIES, sizeof(*t->gsm), GFP_KERNEL);
	ret = begin(t);
	for (i = 0; i < 2 * count && !ret; i++)
		ret = insert(t, i);
	for (i = 1; i < 2 * count && !ret; i += 2)
		remove(t, i);
	return ret;
}

static int measure(struct table *t, unsigned int round)
{
	u64 start = ktime_get_ns();
	unsigned int step;

	for (step = 0; step < STEPS; step++) {
		unsigned int i = 2 * random_below(t, t->count);
		int ret;

		remove(t, i);
		ret = insert(t, i);
		if (ret)
			return ret;
	}
	t->samples[round] = div64_u64((u64)STEPS * NSEC_PER_SEC, ktime_get_ns() - start);
	return 0;
}

static void print(struct seq_file *m, const struct table *t)
{
	static const char * const name[SIDES] = { "ggtt", "ggtt_drm_mm" };
	unsigned int i;

	seq_printf(m, "{\"name\": \"%s_%u\", \"unit\": \"pairs/s\", ", name[t->side], t->count);
	if (t->side == AGATE)
		seq_printf(m, "\"against\": \"%s_%u\", ", name[DRM], t->count);
	seq_puts(m, "\"samples\": [");
	for (i = 0; i < ROUNDS; i++)
		seq_printf(m, "%s%llu", i ? ", " : "", t->samples[i]);
	seq_puts(m, "]}\n");
}

static int bench(struct seq_file *m, struct table *tables, unsigned int count)
{
	enum side side;
	unsigned int i;
	int ret = 0;

	for (side = 0; side < SIDES; side++) {
		int err = table_init(&tables[side], side, count);

		ret = ret ? ret : err;
	}
	for (i = 0; i < ROUNDS * SIDES && !ret; i++) {
		ret = measure(&tables[i % SIDES], i / SIDES);
		cond_resched();
	}
	for (side = 0; side < SIDES; side++) {
		if (!ret)
			print(m, &tables[side]);
		table_fini(&tables[side]);
	}
	return ret;
}

static int show(struct seq_file *m, void *unused)
{
	struct table *tables = kcalloc(SIDES, sizeof(*tables), GFP_KERNEL);
	int ret = tables ? 0 : -ENOMEM;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(counts) && !ret; i++)
		ret = bench(m, tables, counts[i]);
	kfree(tables);
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

static int __init agate_ggtt_bench_init(void)
{
	file = debugfs_create_file("agate_ggtt_bench", 0400, NULL, NULL, &fops);
	return 0;
}

static void __exit agate_ggtt_bench_exit(void)
{
	debugfs_remove(file);
}

module_init(agate_ggtt_bench_init);
module_exit(agate_ggtt_bench_exit);

MODULE_DESCRIPTION("Agate's global table beside drm_mm");
MODULE_LICENSE("GPL");
