// SPDX-License-Identifier: GPL-2.0-only
/*
 * What one task asks of the DMA layer when it maps a table, and when it syncs it (dma_calls.h).
 *
 * Some of it has no effect that a test could see: a kernel may copy where it was told not to, and
 * limits how often it warns.  The calls tell.  x86-64 only, because the arguments are read from
 * registers.
 */
#include <linux/atomic.h>
#include <linux/dma-mapping.h>
#include <linux/kprobes.h>
#include <linux/sched.h>
#include <linux/seq_file.h>

#include "dma_calls.h"
#include "probes.h"

enum count { MAPS, COPIES, WARNS, SYNCS, SYNCS_CPU, WAYS, COUNTS };

static const char * const names[COUNTS] = {
	[MAPS] = "dma_maps",			/* tables that were mapped, or tried to be */
	[COPIES] = "dma_copies",		/* ... by a call that copies */
	[WARNS] = "dma_warns",			/* ... by a call that fills the log */
	[SYNCS] = "dma_syncs",			/* syncs of whole tables for the device */
	[SYNCS_CPU] = "dma_syncs_cpu",		/* syncs for the CPU */
	[WAYS] = "dma_ways",			/* calls with a wrong direction */
};

static atomic_t counts[COUNTS];
static struct task_struct *whose;
static bool watched;

static bool __kprobes ours(void)
{
	return READ_ONCE(whose) == current;
}

static void __kprobes count_map(unsigned long way, unsigned long attrs)
{
	if (!ours())
		return;
	atomic_inc(&counts[MAPS]);
	if (!(attrs & DMA_ATTR_SKIP_CPU_SYNC))
		atomic_inc(&counts[COPIES]);
	if (!(attrs & DMA_ATTR_NO_WARN))
		atomic_inc(&counts[WARNS]);
	if (way != DMA_BIDIRECTIONAL)
		atomic_inc(&counts[WAYS]);
}

static void __kprobes count_sync(enum count which, unsigned long way)
{
	if (!ours())
		return;
	atomic_inc(&counts[which]);
	if (way != DMA_BIDIRECTIONAL && way != DMA_TO_DEVICE)
		atomic_inc(&counts[WAYS]);
}

/* dma_map_sgtable(dev, sgt, dir, attrs) */
static int __kprobes on_map_table(struct kprobe *kp, struct pt_regs *regs)
{
	count_map((u32)regs->dx, regs->cx);
	return 0;
}

/* dma_map_sg_attrs(dev, sg, nents, dir, attrs) */
static int __kprobes on_map_list(struct kprobe *kp, struct pt_regs *regs)
{
	count_map((u32)regs->cx, regs->r8);
	return 0;
}

/* dma_sync_sg_for_device(dev, sg, nents, dir); those of one piece have as many arguments */
static int __kprobes on_sync(struct kprobe *kp, struct pt_regs *regs)
{
	count_sync(SYNCS, (u32)regs->cx);
	return 0;
}

static int __kprobes on_sync_cpu(struct kprobe *kp, struct pt_regs *regs)
{
	count_sync(SYNCS_CPU, DMA_BIDIRECTIONAL);
	return 0;
}

/* Its name, and the one since Linux 6.10 if it changed. */
static const struct {
	const char *old;
	const char *now;
	kprobe_pre_handler_t handler;
} calls[] = {
	{ "dma_map_sgtable", NULL, on_map_table },
	{ "dma_map_sg_attrs", NULL, on_map_list },
	{ "dma_sync_sg_for_device", "__dma_sync_sg_for_device", on_sync },
	{ "dma_sync_single_for_device", "__dma_sync_single_for_device", on_sync },
	{ "dma_sync_sg_for_cpu", "__dma_sync_sg_for_cpu", on_sync_cpu },
	{ "dma_sync_single_for_cpu", "__dma_sync_single_for_cpu", on_sync_cpu },
};

static struct kprobe probes[ARRAY_SIZE(calls)];

static int arm(struct kprobe *probe, const char *symbol, kprobe_pre_handler_t handler)
{
	*probe = (struct kprobe){ .symbol_name = symbol, .pre_handler = handler };
	return probe_arm(probe);
}

static void disarm(unsigned int number)
{
	struct kprobe *armed[ARRAY_SIZE(calls)];
	unsigned int i;

	for (i = 0; i < number; i++)
		armed[i] = &probes[i];
	probes_disarm(armed, number);
}

int dma_calls_begin(void)
{
	unsigned int i;
	int ret;

	if (watched)
		return -EBUSY;
	for (i = 0; i < COUNTS; i++)
		atomic_set(&counts[i], 0);
	for (i = 0; i < ARRAY_SIZE(calls); i++) {
		ret = arm(&probes[i], calls[i].old, calls[i].handler);
		if (ret && calls[i].now)
			ret = arm(&probes[i], calls[i].now, calls[i].handler);
		if (ret) {
			disarm(i);
			return ret;
		}
	}
	watched = true;
	return 0;
}

void dma_calls_end(void)
{
	if (!watched)
		return;
	disarm(ARRAY_SIZE(calls));
	watched = false;
}

void dma_calls_of(struct task_struct *task)
{
	WRITE_ONCE(whose, task);
}

void dma_calls_show(struct seq_file *seq)
{
	unsigned int i;

	for (i = 0; i < COUNTS; i++)
		seq_printf(seq, "%s %d\n", names[i], atomic_read(&counts[i]));
}
