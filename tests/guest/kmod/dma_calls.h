/* SPDX-License-Identifier: GPL-2.0-only */
/* What one task asks of the DMA layer when it maps a table, and when it syncs it. */
#ifndef AGATE_TESTS_DMA_CALLS_H
#define AGATE_TESTS_DMA_CALLS_H

struct seq_file;
struct task_struct;

/* Begin with all counts at 0: 0; -EBUSY for a second watcher; the error of a probe. */
int dma_calls_begin(void);
void dma_calls_end(void);
/* The calls of this task count from here on; NULL: nobody's. */
void dma_calls_of(struct task_struct *task);
void dma_calls_show(struct seq_file *seq);

#endif /* AGATE_TESTS_DMA_CALLS_H */
